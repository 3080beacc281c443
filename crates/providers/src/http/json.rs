//! Bodies: values as JSON text, and JSON text as values.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use blueprint::{Asset, Value, format_float};

/// The bytes of a body and their media type. `Ok(None)` without a body.
///
/// # Errors
/// If a value cannot be sent.
pub(super) fn body(value: &Value) -> Result<Option<(Vec<u8>, &'static str)>, &'static str> {
    Ok(Some(match value.unmarked() {
        Value::Null => return Ok(None),
        Value::Text(text) => (text.as_bytes().to_vec(), "text/plain; charset=utf-8"),
        Value::Bytes(bytes) => (bytes.to_vec(), "application/octet-stream"),
        other => {
            let mut text = String::new();
            write(other, &mut text)?;
            (text.into_bytes(), "application/json")
        }
    }))
}

fn text(text: &str, out: &mut String) {
    out.push_str(&serde_json::Value::from(text).to_string());
}

fn write(value: &Value, out: &mut String) -> Result<(), &'static str> {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Int(value) => out.push_str(&value.to_string()),
        Value::Float(value) => out.push_str(&format_float(*value)),
        Value::Decimal(digits) => out.push_str(digits),
        Value::Text(content) => text(content, out),
        Value::Bytes(bytes) => text(&STANDARD.encode(bytes), out),
        Value::List(items) | Value::Set(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write(item, out)?;
            }
            out.push(']');
        }
        Value::Map(entries) => {
            out.push('{');
            for (at, (key, value)) in entries.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                text(key, out);
                out.push(':');
                write(value, out)?;
            }
            out.push('}');
        }
        Value::Asset(asset) => match asset.as_ref() {
            Asset::Text(content) => text(content, out),
            _ => return Err("holds a file or archive, which cannot be sent"),
        },
        Value::Secret(inner) => write(inner, out)?,
        Value::Resource(_) | Value::Function(_) | Value::Unknown(_) => {
            return Err("holds something that is no data");
        }
    }
    Ok(())
}

/// Parses a JSON text; null if the text is not JSON.
pub(super) fn parse(text: &str) -> Value {
    serde_json::from_str::<serde_json::Value>(text).map_or(Value::Null, value)
}

/// Converts a JSON value. Marks of the wire form have no meaning in an answer of a server.
fn value(json: serde_json::Value) -> Value {
    match json {
        serde_json::Value::Null => Value::Null,
        serde_json::Value::Bool(value) => value.into(),
        serde_json::Value::Number(number) => {
            match (number.as_i64(), number.is_f64(), number.as_f64()) {
                (Some(integer), _, _) => integer.into(),
                (None, true, Some(float)) => float.into(),
                _ => Value::Decimal(number.to_string().into()),
            }
        }
        serde_json::Value::String(text) => text.into(),
        serde_json::Value::Array(items) => Value::list(items.into_iter().map(value)),
        serde_json::Value::Object(entries) => {
            Value::map(entries.into_iter().map(|(key, item)| (key, value(item))))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_becomes_json_in_its_order() {
        let data = Value::map([
            ("b", Value::Int(1)),
            (
                "a",
                Value::list([Value::Float(2.0), Value::Null, Value::from("x\"").secret()]),
            ),
        ]);
        let (bytes, media) = body(&data).unwrap().unwrap();
        assert_eq!(
            String::from_utf8(bytes).unwrap(),
            r#"{"b":1,"a":[2.0,null,"x\""]}"#
        );
        assert_eq!(media, "application/json");
        assert_eq!(body(&"plain".into()).unwrap().unwrap().0, b"plain");
        assert_eq!(body(&Value::Null).unwrap(), None);
        assert!(body(&Value::list([Value::unknown(None, None)])).is_err());
    }

    #[test]
    fn json_marks_in_an_answer_are_plain_data() {
        assert_eq!(
            parse(r#"{"n":3,"f":3.0}"#),
            Value::map([("n", Value::Int(3)), ("f", Value::Float(3.0))])
        );
        assert_eq!(
            parse("18446744073709551615"),
            Value::Decimal("18446744073709551615".into())
        );
        assert_eq!(
            parse(r#"{"$secret":"x"}"#),
            Value::map([("$secret", Value::from("x"))])
        );
        assert_eq!(parse("<html>"), Value::Null);
        assert_eq!(parse(&"[".repeat(100_000)), Value::Null);
    }
}
