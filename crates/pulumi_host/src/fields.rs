//! The fields of a resource in the contract, and its outputs in the protocol.
//!
//! The fields are the outputs and `id`, the id of the resource. Some plugins also return an output
//! `id`. The private data keeps this output, and the plugin receives it back unchanged. Outputs of
//! the schema that a plugin leaves out are null in the fields, and are left out again when the
//! outputs are sent.

use std::sync::Arc;

use blueprint::{Map, Value};
use pulumi_wire::schema::ResourceFacts;

/// The field that holds the id of the resource.
const ID: &str = "id";
/// In private data: the plugin's own output `id`.
const OWN_ID: &str = "id";
/// In private data: whether the resource must be read before it is compared.
const READ_FIRST: &str = "readFirst";
/// In private data: the inputs that the plugin has read, if they differ from the sent inputs.
const READ_INPUTS: &str = "readInputs";

/// The private data in the record of a resource.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Private {
    /// The plugin's own output `id`, if there is one.
    pub(crate) own_id: Option<Value>,
    /// Whether the resource must be read before it is compared.
    pub(crate) read_first: bool,
    /// The inputs that the plugin has read, if they differ from the sent inputs.
    pub(crate) read_inputs: Option<Value>,
}

impl Private {
    pub(crate) fn of(value: &Value) -> Private {
        Private {
            own_id: value.get(OWN_ID).cloned(),
            read_first: value
                .get(READ_FIRST)
                .and_then(Value::as_bool)
                .unwrap_or_default(),
            read_inputs: value.get(READ_INPUTS).cloned(),
        }
    }

    /// Converts the private data to a value; null if there is nothing to keep.
    pub(crate) fn value(self) -> Value {
        let entries = [
            (OWN_ID, self.own_id),
            (READ_FIRST, self.read_first.then_some(Value::Bool(true))),
            (READ_INPUTS, self.read_inputs),
        ];
        let entries: Vec<(&str, Value)> = entries
            .into_iter()
            .filter_map(|(key, value)| Some((key, value?)))
            .collect();
        if entries.is_empty() {
            Value::Null
        } else {
            Value::map(entries)
        }
    }

    /// The outputs of the plugin, from fields of the contract.
    pub(crate) fn outputs(&self, facts: &ResourceFacts, fields: &Value) -> Value {
        let (Value::Map(entries), secret) = fields.split_secret() else {
            return fields.clone();
        };
        let mut outputs = Map::clone(entries);
        outputs.retain(|name, value| !value.is_null() || !facts.outputs.contains_key(name));
        match &self.own_id {
            Some(id) => {
                outputs.insert(ID.into(), id.clone());
            }
            None => {
                outputs.shift_remove(ID);
            }
        }
        Value::Map(Arc::new(outputs)).tainted(secret)
    }
}

/// The fields of an existing resource, with every output of the schema, and the private data of its
/// outputs.
pub(crate) fn complete_fields(
    facts: &ResourceFacts,
    outputs: Value,
    id: Value,
) -> (Value, Private) {
    let (fields, private) = fields_of(facts.mark_outputs(&outputs), id);
    let (bare, secret) = fields.split_secret();
    let mut all = bare.as_map().cloned().unwrap_or_default();
    for name in facts.outputs.keys() {
        all.get_or_insert_with(name.clone(), || Value::Null);
    }
    (Value::Map(Arc::new(all)).tainted(secret), private)
}

/// The fields of a resource with this id, and the private data of its outputs.
pub(crate) fn fields_of(outputs: Value, id: Value) -> (Value, Private) {
    let (bare, secret) = outputs.split_secret();
    let mut fields = bare.as_map().cloned().unwrap_or_default();
    let own_id = fields.insert(ID.into(), id);
    (
        Value::Map(Arc::new(fields)).tainted(secret),
        Private {
            own_id,
            ..Private::default()
        },
    )
}

#[cfg(test)]
mod tests {
    use blueprint::Type;

    use super::*;

    #[test]
    fn an_output_named_id_is_given_back_as_it_was() {
        for outputs in [
            Value::map([("id", Value::from("other")), ("a", Value::Int(1))]),
            Value::map([("a", Value::from("s").secret())]),
        ] {
            let facts = ResourceFacts {
                outputs: [("a".into(), Type::Int), ("b".into(), Type::Int)]
                    .into_iter()
                    .collect(),
                ..ResourceFacts::default()
            };
            let (fields, private) = complete_fields(&facts, outputs.clone(), "i-1".into());
            assert_eq!(fields.get("b"), Some(&Value::Null));
            assert_eq!(fields.get("id"), Some(&Value::from("i-1")));
            let kept = private.value();
            assert_eq!(Private::of(&kept).outputs(&facts, &fields), outputs);
            assert_eq!(kept.is_null(), outputs.get("id").is_none());
        }
    }

    #[test]
    fn private_data_reads_back() {
        let private = Private {
            own_id: None,
            read_first: true,
            read_inputs: Some(Value::map([("a", Value::Null)])),
        };
        assert_eq!(Private::of(&private.clone().value()), private);
        for odd in [
            Value::Null,
            Value::Int(3),
            Value::map([("readFirst", Value::from("yes"))]),
        ] {
            assert_eq!(Private::of(&odd), Private::default());
        }
    }
}
