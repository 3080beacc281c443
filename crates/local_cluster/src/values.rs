//! The JSON of values that were read from JSON, number for number.

use blueprint::Value;
use serde_json::{Map, Number, Value as Json};

/// The JSON of a value that [`kubernetes::json::from_json`] made. Values that JSON does not have become null.
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
