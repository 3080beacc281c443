//! Secret marks on the responses of plugins whose protocol has no secret values.

use std::sync::Arc;

use blueprint::Value;

/// Copies the secret marks of a map of inputs to the entries of a response that have the same
/// names.
///
/// An entry that is a map in both is marked entry by entry. Any other entry becomes secret as a
/// whole if the input contains a secret. If the map of inputs is itself secret, each entry of the
/// response becomes secret. A response or inputs that are no map leave the response as it is.
pub fn mark_like_inputs(response: Value, inputs: &Value) -> Value {
    if !inputs.has_secret() {
        return response;
    }
    let (bare_inputs, inputs_are_secret) = inputs.split_secret();
    let (Value::Map(returned), Value::Map(sent)) = (response.unmarked(), bare_inputs) else {
        return response;
    };
    let marked = returned.iter().map(|(key, value)| {
        let value = match sent.get(key) {
            _ if inputs_are_secret => value.clone().secret(),
            Some(input) if input.has_secret() => marked_entry(value, input),
            _ => value.clone(),
        };
        (key.clone(), value)
    });
    let was_secret = response.split_secret().1;
    Value::Map(Arc::new(marked.collect())).tainted(was_secret)
}

fn marked_entry(value: &Value, input: &Value) -> Value {
    match (value, input) {
        (Value::Map(_), Value::Map(_)) => mark_like_inputs(value.clone(), input),
        _ => value.clone().secret(),
    }
}

/// Marks every entry of a response as secret, for a response that cannot be compared with inputs by
/// name. A response that is no map stays as it is.
pub fn mark_every_entry(response: Value) -> Value {
    match &response {
        Value::Map(entries) => Value::Map(Arc::new(
            entries
                .iter()
                .map(|(key, value)| (key.clone(), value.clone().secret()))
                .collect(),
        )),
        _ => response,
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
            (
                "b",
                Value::map([("c", secret()), ("d", Value::from("open"))]),
            ),
            ("e", Value::list([secret()])),
            ("f", Value::map([("g", secret())])),
        ]);
        let answer = Value::map([
            ("a", Value::from("s")),
            (
                "b",
                Value::map([
                    ("c", Value::from("s")),
                    ("d", Value::from("open")),
                    ("new", Value::Null),
                ]),
            ),
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
        assert_eq!(
            mark_like_inputs(answer.clone(), &inputs),
            mark_every_entry(answer)
        );
    }
}
