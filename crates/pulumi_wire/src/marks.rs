//! Secret marks on answers of plugins that do not accept marks.

use std::sync::Arc;

use blueprint::Value;

/// Copies the secret marks of the inputs to the entries of an answer with the same names. Where both are maps, the
/// marks are copied entry by entry; otherwise the whole entry of the answer is secret if the input contains a secret.
pub fn mark_like_inputs(answer: Value, inputs: &Value) -> Value {
    if !inputs.has_secret() {
        return answer;
    }
    let (bare_inputs, all_secret) = inputs.exposed();
    let (Value::Map(answered), Value::Map(sent)) = (answer.bare(), bare_inputs) else { return answer };
    let marked = answered.iter().map(|(key, value)| {
        let value = match sent.get(key) {
            _ if all_secret => value.clone().secret(),
            Some(input) if input.has_secret() => marked_entry(value, input),
            _ => value.clone(),
        };
        (key.clone(), value)
    });
    let secret = answer.exposed().1;
    Value::Map(Arc::new(marked.collect())).tainted(secret)
}

fn marked_entry(value: &Value, input: &Value) -> Value {
    match (value, input) {
        (Value::Map(_), Value::Map(_)) => mark_like_inputs(value.clone(), input),
        _ => value.clone().secret(),
    }
}

/// Marks every entry of an answer as secret.
pub fn mark_every_entry(answer: Value) -> Value {
    match &answer {
        Value::Map(entries) => {
            Value::Map(Arc::new(entries.iter().map(|(key, value)| (key.clone(), value.clone().secret())).collect()))
        }
        _ => answer,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_return_by_name() {
        let secret = || Value::from("s").secret();
        let inputs = Value::map([
            ("a", secret()),
            ("b", Value::map([("c", secret()), ("d", Value::from("open"))])),
            ("e", Value::list([secret()])),
            ("f", Value::map([("g", secret())])),
        ]);
        let answer = Value::map([
            ("a", Value::from("s")),
            ("b", Value::map([("c", Value::from("s")), ("d", Value::from("open")), ("new", Value::Null)])),
            ("e", Value::list([Value::from("s")])),
            ("f", Value::from("s")),
            ("h", Value::from("s")),
        ]);
        let marked = mark_like_inputs(answer, &inputs);
        assert_eq!(
            marked.to_string(),
            r#"{"a": (secret), "b": {"c": (secret), "d": "open", "new": null}, "e": (secret), "f": (secret), "h": "s"}"#
        );
    }

    #[test]
    fn a_secret_map_of_inputs_marks_everything() {
        let inputs = Value::map([("a", Value::from("s"))]).secret();
        let answer = Value::map([("a", Value::from("s")), ("b", Value::from("t"))]);
        assert_eq!(mark_like_inputs(answer.clone(), &inputs), mark_every_entry(answer));
    }
}
