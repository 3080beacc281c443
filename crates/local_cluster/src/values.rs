//! JSON as values of `blueprint`, which structural schemas work on, and back.

use blueprint::{Name, Value};
use serde_json::{Map, Number, Value as Json};

/// The value of some JSON.
pub(crate) fn value_of(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(flag) => Value::Bool(*flag),
        Json::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => Value::Int(whole),
            (None, Some(float)) if number.is_f64() => Value::Float(float),
            _ => Value::Decimal(number.to_string().into()),
        },
        Json::String(text) => Value::text(text.as_str()),
        Json::Array(items) => Value::list(items.iter().map(value_of)),
        Json::Object(entries) => Value::map(
            entries
                .iter()
                .map(|(name, entry)| (Name::from(name.as_str()), value_of(entry))),
        ),
    }
}

/// The JSON of a value that [`value_of`] made. Values that JSON does not have become null.
pub(crate) fn json_of(value: &Value) -> Json {
    match value {
        Value::Bool(flag) => Json::Bool(*flag),
        Value::Int(number) => Json::Number((*number).into()),
        Value::Float(number) => Number::from_f64(*number).map_or(Json::Null, Json::Number),
        Value::Decimal(text) => {
            let number = serde_json::from_str::<Number>(text);
            number.map_or(Json::Null, Json::Number)
        }
        Value::Text(text) => Json::String(text.to_string()),
        Value::List(items) | Value::Set(items) => items.iter().map(json_of).collect(),
        Value::Map(entries) => {
            let entries = entries
                .iter()
                .map(|(name, entry)| (name.to_string(), json_of(entry)));
            Json::Object(entries.collect::<Map<_, _>>())
        }
        _ => Json::Null,
    }
}
