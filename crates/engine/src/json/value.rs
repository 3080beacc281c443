//! Values as machine output.

use crate::phases::plan_file::hidden;
use blueprint::Value;
use serde_json::{Value as Json, json};

/// A value of a document or the state; secrets as `(secret)` unless they are to be revealed.
pub fn value(value: &Value, reveal: bool) -> Json {
    let shown = if reveal {
        value.revealed()
    } else {
        hidden(value)
    };
    plain(&shown)
}

/// A value as plain JSON: keys with `$` and large integers as they are, unlike the form in the
/// state (`blueprint::wire`), which is read back. Values that JSON does not have are in the form of
/// the state.
pub(super) fn plain(value: &Value) -> Json {
    match value {
        Value::Decimal(text) => number(text),
        Value::List(items) | Value::Set(items) => items.iter().map(plain).collect(),
        Value::Map(entries) => entries
            .iter()
            .map(|(key, entry)| (key.to_string(), plain(entry)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
        // A function cannot be serialised, but no export is a function.
        other => serde_json::to_value(other).unwrap_or(Json::Null),
    }
}

/// A number that no `i64` holds. One beyond 64 bits is text, because most readers of JSON would
/// round it.
fn number(text: &str) -> Json {
    match text.parse::<u64>() {
        Ok(number) => number.into(),
        Err(_) => text.into(),
    }
}

/// The value of an expression, and whether it is known before a deployment.
pub fn evaluated(evaluated: &Value, reveal: bool) -> Json {
    json!({"value": value(evaluated, reveal), "known": !evaluated.has_unknown()})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_with_a_dollar_and_large_integers_are_printed_as_they_are() {
        let inner = Value::map([("$schema", Value::text("s")), ("plain", Value::Int(1))]);
        let value = Value::map([
            ("$ref", Value::list([inner])),
            ("n", Value::Decimal("9223372036854775808".into())),
        ]);
        let expected = r#"{"$ref":[{"$schema":"s","plain":1}],"n":9223372036854775808}"#;
        assert_eq!(super::value(&value, false).to_string(), expected);
        assert_eq!(super::value(&value, true).to_string(), expected);
    }
}
