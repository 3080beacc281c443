//! Conversion of property values (decisions/heat#types-of-properties), which is stricter than for
//! parameters.

use blueprint::Value;
use expr::codes::TYPE_MISMATCH;

use super::scalars::as_number;
use super::{ParameterKind, kind_of};
use crate::refusal::ValueRefusal;

/// Converts a value to a kind of property. Null becomes the default, or without one the kind's
/// empty value. The items of lists and maps are not checked.
pub fn property(
    kind: ParameterKind,
    value: &Value,
    default: Option<&Value>,
) -> Result<Value, ValueRefusal> {
    let (value, secret) = value.split_secret();
    if let Value::Unknown(_) = value {
        return Ok(value.clone().tainted(secret));
    }
    if let (Value::Null, kind) = (value, kind)
        && kind != ParameterKind::Any
    {
        return Ok(default
            .filter(|value| !value.is_null())
            .cloned()
            .unwrap_or_else(|| empty(kind))
            .tainted(secret));
    }
    let refused = |wanted: &str, words: String| {
        let message = format!("{wanted} is needed here, not {}", kind_of(value));
        ValueRefusal::new(&TYPE_MISMATCH, message).heat(words)
    };
    let taken = match (kind, value) {
        (ParameterKind::Any, _) | (ParameterKind::String, Value::Text(_)) => value.clone(),
        (ParameterKind::String, Value::Int(_) | Value::Decimal(_) | Value::Bool(_)) => {
            Value::from(pycompat::text(value))
        }
        (ParameterKind::String, _) => {
            return Err(refused(
                "text",
                format!("Value must be a string; got {}", pycompat::repr(value)),
            ));
        }
        (
            ParameterKind::Integer,
            Value::Int(_) | Value::Decimal(_) | Value::Float(_) | Value::Bool(_),
        ) => pycompat::integer(value).map_err(|words| refused("an integer", words))?,
        (ParameterKind::Integer, Value::Text(text)) => pycompat::integer_of_text(text)
            .ok_or_else(|| refused("an integer", format!("Value '{text}' is not an integer")))?,
        (ParameterKind::Integer, _) => {
            return Err(refused(
                "an integer",
                pycompat::integer(value).err().unwrap_or_default(),
            ));
        }
        (ParameterKind::Number, _) => {
            as_number(value).map_err(|words| refused("a number", words))?
        }
        (ParameterKind::Boolean, Value::Bool(_)) => value.clone(),
        (ParameterKind::Boolean, _) => {
            let text = pycompat::text(value);
            let lowered = if matches!(value, Value::Text(_)) {
                text.to_lowercase()
            } else {
                text
            };
            match (value, lowered.as_str()) {
                (Value::Text(_), "true") => Value::Bool(true),
                (Value::Text(_), "false") => Value::Bool(false),
                _ => {
                    return Err(refused(
                        "true or false",
                        format!("\"{lowered}\" is not a valid boolean"),
                    ));
                }
            }
        }
        (ParameterKind::List, Value::List(_)) | (ParameterKind::Map, Value::Map(_)) => {
            value.clone()
        }
        (ParameterKind::List, _) => {
            return Err(refused(
                "a list",
                format!("\"{}\" is not a list", pycompat::repr(value)),
            ));
        }
        (ParameterKind::Map, _) => {
            return Err(refused(
                "a map",
                format!("\"{}\" is not a map", pycompat::text(value)),
            ));
        }
    };
    Ok(taken.tainted(secret))
}

/// The value of null for a kind without a default.
fn empty(kind: ParameterKind) -> Value {
    match kind {
        ParameterKind::String => Value::from(""),
        ParameterKind::Number | ParameterKind::Integer => Value::Int(0),
        ParameterKind::Boolean => Value::Bool(false),
        ParameterKind::List => Value::list([]),
        ParameterKind::Map => Value::Map(std::sync::Arc::default()),
        ParameterKind::Any => Value::Null,
    }
}
