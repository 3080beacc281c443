//! The data that the contract keeps of objects: the id, the fields, and the opaque data beside
//! them.
//!
//! A record keeps the envelope of its object ([`Object`]) beside the fields. A plan keeps the
//! envelopes of the prior and of the planned object, so that another process can carry it out.

use std::sync::Arc;

use blueprint::{Address, Name, Unknown, Value};
use provider::Applied;

use crate::{CallFailure, Client, Object, ProgramDigest};

/// The key, in the data of a plan, of the envelope of the object before the change.
const PRIOR: &str = "prior";
/// The key, in the data of a plan, of the envelope of the planned object.
const PLANNED: &str = "planned";
/// The key, in the data of a planned delete, of the envelope of the absent object.
const DELETED: &str = "deleted";

/// The number of digits of an id that is generated here.
const ID_DIGITS: usize = 32;

/// The opaque data of a record or of a plan.
#[derive(Clone, Debug)]
pub(crate) struct Private {
    /// The envelope of the recorded object.
    pub(crate) recorded: Value,
    /// The envelope of the planned object, in the data of a plan.
    pub(crate) planned: Option<Value>,
    /// The envelope of the absent object, in the data of the plan of a delete.
    pub(crate) deleted: Option<Value>,
}

impl Private {
    /// Reads the opaque data. `version` is the schema version of the record. The version in an
    /// envelope takes precedence, because the values beside it have been upgraded since they were
    /// recorded.
    pub(crate) fn of(value: &Value, version: u32) -> Private {
        let (planned, deleted) = (value.get(PLANNED).cloned(), value.get(DELETED).cloned());
        let recorded = match planned.is_some() || deleted.is_some() {
            true => value.get(PRIOR).unwrap_or(&Value::Null),
            false => value,
        };
        Private {
            recorded: crate::object::versioned(recorded, version.into()),
            planned,
            deleted,
        }
    }

    /// Returns the data of a plan. `recorded` is the envelope of the existing object.
    pub(crate) fn of_plan(recorded: Option<Value>, planned: Value) -> Value {
        Value::map(
            recorded
                .map(|recorded| (PRIOR, recorded))
                .into_iter()
                .chain([(PLANNED, planned)]),
        )
    }

    /// Returns the data of a planned delete.
    pub(crate) fn of_delete(recorded: Value, deleted: Value) -> Value {
        Value::map([(PRIOR, recorded), (DELETED, deleted)])
    }

    /// The planned private data of the replaced object.
    pub(crate) fn planned_bytes(&self) -> Vec<u8> {
        self.planned
            .as_ref()
            .map(|envelope| crate::object::EnvelopeParts::of(envelope).private)
            .unwrap_or_default()
    }
}

/// Returns the id of an object: its attribute `id` if that is a text, else its former id, else one
/// that is generated from the token of its create.
pub(crate) fn id_of(object: &Object, before: Option<&str>, token: &str) -> Name {
    let own = object
        .value
        .get("id")
        .and_then(Value::as_text)
        .filter(|id| !id.is_empty());
    if let Some(id) = own.or(before.filter(|id| !id.is_empty())) {
        return id.into();
    }
    let made = ProgramDigest::of(token.as_bytes()).to_hex();
    made.get(..ID_DIGITS).unwrap_or(&made).into()
}

/// Returns the form in which an object is recorded.
pub(crate) fn recorded(
    client: &Client,
    type_name: &str,
    object: &Object,
    id: Name,
) -> Result<Applied, CallFailure> {
    let private = client.envelope(type_name, object)?;
    Ok(Applied::ready(id, object.value.clone()).with_private(private))
}

/// Replaces the dependencies of unknown parts of a planned value: by those of the configuration,
/// else by the resource itself.
pub(crate) fn with_dependencies(planned: &Value, config: &Value, address: &Address) -> Value {
    if !planned.has_unknown() {
        return planned.clone();
    }
    let (bare, secret) = planned.split_secret();
    let part = |key: &Name| config.get(key).cloned().unwrap_or_default();
    let waits = match bare {
        Value::Unknown(unknown) => {
            let mut waits_for = unknown.waits_for.clone();
            config.waits_for(&mut waits_for);
            if waits_for.is_empty() {
                waits_for.push(address.clone());
            }
            Value::Unknown(Arc::new(Unknown {
                ty: unknown.ty.clone(),
                waits_for,
            }))
        }
        Value::Map(entries) => Value::map(
            entries
                .iter()
                .map(|(key, value)| (key.clone(), with_dependencies(value, &part(key), address))),
        ),
        Value::List(items) => {
            let of = |at: usize| {
                config
                    .as_list()
                    .and_then(|items| items.get(at))
                    .unwrap_or(config)
            };
            Value::list(
                items
                    .iter()
                    .enumerate()
                    .map(|(at, item)| with_dependencies(item, of(at), address)),
            )
        }
        // Elements of sets cannot be matched with each other.
        Value::Set(items) => Value::Set(Arc::new(
            items
                .iter()
                .map(|item| with_dependencies(item, config, address))
                .collect(),
        )),
        other => other.clone(),
    };
    waits.tainted(secret)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_data_of_a_plan_holds_both_envelopes() {
        let envelope = |bytes: &[u8]| {
            let object = Object {
                private: bytes.to_vec(),
                ..Object::default()
            };
            object.envelope(2, 0)
        };
        let plan = Private::of_plan(Some(envelope(b"a")), envelope(b"b"));
        let read = Private::of(&plan, 1);
        assert_eq!(
            (read.recorded.clone(), read.planned_bytes()),
            (envelope(b"a"), b"b".to_vec())
        );
        let create = Private::of(&Private::of_plan(None, envelope(b"b")), 1);
        assert_eq!(create.recorded, Value::map([("version", Value::Int(1))]));
        assert_eq!(create.planned, Some(envelope(b"b")));
        let delete = Private::of(&Private::of_delete(envelope(b"a"), envelope(b"c")), 1);
        assert_eq!(
            (delete.recorded, delete.planned, delete.deleted),
            (envelope(b"a"), None, Some(envelope(b"c")))
        );
        // The data of a record contains no plan.
        let record = Private::of(&envelope(b"a"), 1);
        assert_eq!(
            (record.recorded.clone(), record.planned_bytes()),
            (envelope(b"a"), Vec::new())
        );
        assert_eq!(
            Private::of(&Value::Null, 3).recorded,
            Value::map([("version", Value::Int(3))])
        );
    }

    #[test]
    fn an_object_without_a_text_as_id_keeps_the_one_it_has() {
        let of = |id: Value| Object {
            value: Value::map([("id", id)]),
            ..Object::default()
        };
        assert_eq!(&*id_of(&of("i".into()), Some("j"), "t"), "i");
        assert_eq!(&*id_of(&of(Value::Int(3)), Some("j"), "t"), "j");
        let made = id_of(&of(Value::Null), None, "t");
        assert_eq!(
            (made.len(), made.clone()),
            (ID_DIGITS, id_of(&of(Value::from("")), Some(""), "t"))
        );
        assert_ne!(made, id_of(&of(Value::Null), None, "other"));
    }

    #[test]
    fn unknown_parts_wait_for_what_the_configuration_waits_for() {
        let (own, other) = (Address::root("own"), Address::root("other"));
        let open = || Value::unknown(None, None);
        let config = Value::map([
            ("a", Value::unknown(None, Some(other.clone()))),
            ("b", Value::Null),
        ]);
        let planned = Value::map([
            ("a", open()),
            ("b", Value::list([open().secret()])),
            ("c", Value::Int(1)),
        ]);
        let planned = with_dependencies(&planned, &config, &own);
        let waits = |key: &str| {
            let mut found = Vec::new();
            planned.get(key).unwrap().waits_for(&mut found);
            found
        };
        assert_eq!((waits("a"), waits("b")), (vec![other], vec![own]));
        assert!(planned.get("b").unwrap().has_secret());
    }
}
