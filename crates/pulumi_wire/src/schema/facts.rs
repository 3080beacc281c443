//! The facts about a type that calls need besides its fields.

use std::sync::Arc;

use blueprint::{Address, IndexMap, Map, Name, Type, Unknown, Value};

/// The facts about a resource type.
#[derive(Clone, Debug, Default)]
pub struct ResourceFacts {
    /// The token of the type in the protocol.
    pub token: Name,
    /// Inputs that are secret by the schema.
    pub secret_inputs: Vec<Name>,
    /// Outputs with their types.
    pub outputs: IndexMap<Name, Type>,
    /// Outputs that are secret by the schema.
    pub secret_outputs: Vec<Name>,
    /// Inputs with only one allowed value.
    pub constants: Vec<(Name, Value)>,
    /// Properties whose change replaces the resource, whatever the plugin decides.
    pub replace_on_changes: Vec<Name>,
    /// Whether the schema has a property `id` of its own besides the id of the resource.
    pub own_id: bool,
    /// Whether the type is a component, which only programs can construct.
    pub component: bool,
}

/// The facts about a function.
#[derive(Clone, Debug, Default)]
pub struct FunctionFacts {
    /// The token of the function in the protocol.
    pub token: Name,
    /// Arguments that are secret by the schema.
    pub secret_inputs: Vec<Name>,
    /// Whether the result is one value, which the protocol wraps in a map.
    pub single: bool,
}

impl FunctionFacts {
    /// The result as programs see it, from the map of the protocol.
    pub fn unwrapped(&self, result: Value) -> Value {
        let (bare, secret) = result.split_secret();
        let Some(entries) = bare.as_map().filter(|_| self.single) else {
            return result;
        };
        let named = entries.get("result");
        let only = || entries.values().next().filter(|_| entries.len() == 1);
        let value = named.or_else(only).cloned();
        value.unwrap_or_default().tainted(secret)
    }
}

impl ResourceFacts {
    /// Returns the inputs with the constants of the schema added and its secret inputs marked.
    pub fn complete_inputs(&self, inputs: &Value) -> Value {
        let (Value::Map(entries), secret) = inputs.split_secret() else {
            return inputs.clone();
        };
        if self.constants.is_empty() && self.secret_inputs.is_empty() {
            return inputs.clone();
        }
        let mut all = Map::clone(entries);
        for (name, value) in &self.constants {
            all.get_or_insert_with(name.clone(), || value.clone());
        }
        mark(&mut all, &self.secret_inputs);
        Value::Map(Arc::new(all)).tainted(secret)
    }

    /// Returns planned outputs with the secret outputs marked. Outputs of the schema that the
    /// plugin left out become unknown values that wait for the resource.
    pub fn complete_planned(&self, outputs: &Value, waits_for: Option<&Address>) -> Value {
        let (Value::Map(entries), secret) = outputs.split_secret() else {
            return outputs.clone();
        };
        let mut all = Map::clone(entries);
        for (name, ty) in &self.outputs {
            all.get_or_insert_with(name.clone(), || {
                let waits_for = waits_for.cloned().into_iter().collect();
                Value::Unknown(Arc::new(Unknown {
                    ty: Some(ty.clone()),
                    waits_for,
                }))
            });
        }
        mark(&mut all, &self.secret_outputs);
        Value::Map(Arc::new(all)).tainted(secret)
    }

    /// Returns the outputs with the secret outputs of the schema marked.
    pub fn mark_outputs(&self, outputs: &Value) -> Value {
        let (Value::Map(entries), secret) = outputs.split_secret() else {
            return outputs.clone();
        };
        if self.secret_outputs.is_empty() {
            return outputs.clone();
        }
        let mut all = Map::clone(entries);
        mark(&mut all, &self.secret_outputs);
        Value::Map(Arc::new(all)).tainted(secret)
    }
}

fn mark(entries: &mut Map, secrets: &[Name]) {
    for name in secrets {
        if let Some(value) = entries.get_mut(name) {
            *value = std::mem::take(value).secret();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_marks_and_unknown_outputs_are_added() {
        let facts = ResourceFacts {
            secret_inputs: vec!["password".into()],
            outputs: [("password".into(), Type::Text), ("size".into(), Type::Int)]
                .into_iter()
                .collect(),
            secret_outputs: vec!["password".into()],
            constants: vec![("kind".into(), Value::from("Pod"))],
            ..ResourceFacts::default()
        };
        let inputs = facts.complete_inputs(&Value::map([("password", Value::from("s"))]));
        assert_eq!(
            inputs.to_string(),
            r#"{"password": (secret), "kind": "Pod"}"#
        );
        let planned = facts.complete_planned(&Value::map([("password", Value::from("s"))]), None);
        assert_eq!(
            planned.to_string(),
            r#"{"password": (secret), "size": (known on deploy)}"#
        );
        let made = facts.mark_outputs(&Value::map([("password", Value::from("s"))]));
        assert_eq!(made.to_string(), r#"{"password": (secret)}"#);
    }
}
