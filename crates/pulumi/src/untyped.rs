//! The meaning of texts whose type no entry declares (decisions/pulumi#configuration).

use blueprint::Value;

/// A number as configuration writes it: sign, digits, fraction, exponent.
pub(crate) fn number(text: &str) -> Option<Value> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let begins = unsigned.starts_with(|first: char| first.is_ascii_digit() || first == '.');
    let allowed =
        |letter: u8| letter.is_ascii_digit() || matches!(letter, b'.' | b'e' | b'E' | b'+' | b'-');
    if !begins || !unsigned.bytes().all(allowed) {
        return None;
    }
    if let Ok(value) = text.parse::<i64>() {
        return Some(Value::Int(value));
    }
    let value: f64 = text.parse().ok()?;
    value.is_finite().then_some(Value::Float(value))
}

/// The meaning of a text for an entry whose type is not known.
pub(crate) fn guess(text: &str) -> Value {
    let padded = text.len() > 1 && text.starts_with('0') && !text.starts_with("0.");
    if padded {
        return Value::text(text);
    }
    if let Some(value) = number(text) {
        return value;
    }
    match text {
        "true" | "True" | "TRUE" => return Value::Bool(true),
        "false" | "False" | "FALSE" => return Value::Bool(false),
        _ => {}
    }
    match serde_json::from_str::<serde_json::Value>(text) {
        Ok(value) => of_json(value),
        Err(_) => Value::text(text),
    }
}

/// A value of a stack for a key whose type is not known.
pub(crate) fn guessed(value: &Value) -> Value {
    match value {
        Value::Secret(inner) => guessed(inner).secret(),
        Value::Text(text) => guess(text),
        other => other.clone(),
    }
}

/// The value of parsed JSON.
pub(crate) fn of_json(value: serde_json::Value) -> Value {
    match value {
        serde_json::Value::Null => Value::Null,
        serde_json::Value::Bool(value) => Value::Bool(value),
        serde_json::Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(value), _) => Value::Int(value),
            (None, Some(value)) => Value::Float(value),
            (None, None) => Value::text(number.to_string()),
        },
        serde_json::Value::String(text) => Value::text(text),
        serde_json::Value::Array(items) => Value::list(items.into_iter().map(of_json)),
        serde_json::Value::Object(entries) => Value::map(
            entries
                .into_iter()
                .map(|(key, value)| (key, of_json(value))),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_without_a_type_is_guessed() {
        for (text, value) in [
            ("042", Value::text("042")),
            ("0.5", Value::Float(0.5)),
            ("42", Value::Int(42)),
            ("true", Value::Bool(true)),
            ("t", Value::text("t")),
            ("inf", Value::text("inf")),
            ("[1]", Value::list([Value::Int(1)])),
            ("plain", Value::text("plain")),
        ] {
            assert_eq!(guess(text), value, "{text}");
        }
    }
}
