//! Values of properties (decision Heat 9.3): converted less freely than those of parameters.

use ::blueprint::Value;
use expr::codes::TYPE_MISMATCH;

use super::scalars::as_number;
use super::{Kind, kind_of};
use crate::hot::refusal::Refusal;

/// A value converted to a property of a kind. Null becomes the default, or without one the kind's empty value. The
/// items of lists and maps are not checked.
pub fn property(kind: Kind, value: &Value, default: Option<&Value>) -> Result<Value, Refusal> {
    let (value, secret) = value.exposed();
    if let Value::Unknown(_) = value {
        return Ok(value.clone().tainted(secret));
    }
    if let (Value::Null, kind) = (value, kind)
        && kind != Kind::Any
    {
        return Ok(default.filter(|value| !value.is_null()).cloned().unwrap_or_else(|| empty(kind)).tainted(secret));
    }
    let refused = |wanted: &str, words: String| {
        let message = format!("{wanted} is needed here, not {}", kind_of(value));
        Refusal::new(&TYPE_MISMATCH, message).heat(words)
    };
    let taken = match (kind, value) {
        (Kind::Any, _) | (Kind::String, Value::Text(_)) => value.clone(),
        (Kind::String, Value::Int(_) | Value::Decimal(_) | Value::Bool(_)) => Value::from(pycompat::text(value)),
        (Kind::String, _) => {
            return Err(refused("text", format!("Value must be a string; got {}", pycompat::repr(value))));
        }
        (Kind::Integer, Value::Int(_) | Value::Decimal(_) | Value::Float(_) | Value::Bool(_)) => {
            pycompat::integer(value).map_err(|words| refused("an integer", words))?
        }
        (Kind::Integer, Value::Text(text)) => pycompat::integer_of_text(text)
            .ok_or_else(|| refused("an integer", format!("Value '{text}' is not an integer")))?,
        (Kind::Integer, _) => return Err(refused("an integer", pycompat::integer(value).err().unwrap_or_default())),
        (Kind::Number, _) => as_number(value).map_err(|words| refused("a number", words))?,
        (Kind::Boolean, Value::Bool(_)) => value.clone(),
        (Kind::Boolean, _) => {
            let text = pycompat::text(value);
            let lowered = if matches!(value, Value::Text(_)) { text.to_lowercase() } else { text };
            match (value, lowered.as_str()) {
                (Value::Text(_), "true") => Value::Bool(true),
                (Value::Text(_), "false") => Value::Bool(false),
                _ => return Err(refused("true or false", format!("\"{lowered}\" is not a valid boolean"))),
            }
        }
        (Kind::List, Value::List(_)) | (Kind::Map, Value::Map(_)) => value.clone(),
        (Kind::List, _) => return Err(refused("a list", format!("\"{}\" is not a list", pycompat::repr(value)))),
        (Kind::Map, _) => return Err(refused("a map", format!("\"{}\" is not a map", pycompat::text(value)))),
    };
    Ok(taken.tainted(secret))
}

/// The value of null for a kind without a default.
fn empty(kind: Kind) -> Value {
    match kind {
        Kind::String => Value::from(""),
        Kind::Number | Kind::Integer => Value::Int(0),
        Kind::Boolean => Value::Bool(false),
        Kind::List => Value::list([]),
        Kind::Map => Value::Map(std::sync::Arc::default()),
        Kind::Any => Value::Null,
    }
}
