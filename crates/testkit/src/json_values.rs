//! Values as JSON with marks, such as `{"$secret": 1}`: the form of the conformance pack and of
//! scenarios.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use blueprint::{IndexMap, Name, Value};
use engine::Given;
use serde_json::{Value as Json, json};

/// A value as JSON.
pub(crate) fn to_json(value: &Value) -> Json {
    match value {
        Value::Null => json!({"$none": true}),
        Value::Bool(value) => json!(value),
        Value::Int(value) => json!(value),
        Value::Float(value) => json!(value),
        Value::Decimal(text) => json!({"$decimal": text.as_ref()}),
        Value::Text(text) => json!(text.as_ref()),
        Value::Bytes(bytes) => json!({"$binary": STANDARD.encode(bytes)}),
        Value::List(items) | Value::Set(items) => items.iter().map(to_json).collect(),
        Value::Map(entries) => Json::Object(
            entries
                .iter()
                .map(|(key, value)| (key.to_string(), to_json(value)))
                .collect(),
        ),
        Value::Unknown(_) => json!({"$unknown": true}),
        Value::Secret(inner) => json!({"$secret": to_json(inner)}),
        other => json!({"$other": other.to_string()}),
    }
}

/// The value of a JSON with marks.
pub(crate) fn from_json(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Bool(*value),
        Json::Number(number) => match number.as_i64() {
            Some(value) => Value::Int(value),
            None => Value::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Json::String(text) => Value::text(text.as_str()),
        Json::Array(items) => Value::list(items.iter().map(from_json)),
        Json::Object(entries) => {
            if let Some(inner) = entries.get("$secret").filter(|_| entries.len() == 1) {
                return from_json(inner).secret();
            }
            if entries.contains_key("$none") && entries.len() == 1 {
                return Value::Null;
            }
            if let Some(Json::String(text)) = entries.get("$binary").filter(|_| entries.len() == 1)
            {
                return Value::Bytes(Arc::from(STANDARD.decode(text).unwrap_or_default()));
            }
            Value::map(
                entries
                    .iter()
                    .map(|(key, value)| (Name::from(key.as_str()), from_json(value))),
            )
        }
    }
}

/// Whether two values are equal. With `exact`, the order of keys counts and an integer differs from
/// a float. A secret list or map equals one whose leaves are all secret.
pub(crate) fn equal(a: &Json, b: &Json, exact: bool) -> bool {
    let (a, b) = (spread(a, false), spread(b, false));
    equal_spread(&a, &b, exact)
}

fn spread(json: &Json, secret: bool) -> Json {
    match json {
        Json::Object(entries) if entries.len() == 1 && entries.contains_key("$secret") => {
            spread(&entries["$secret"], true)
        }
        Json::Object(entries)
            if !entries.is_empty() && !entries.keys().any(|key| key.starts_with('$')) =>
        {
            Json::Object(
                entries
                    .iter()
                    .map(|(key, value)| (key.clone(), spread(value, secret)))
                    .collect(),
            )
        }
        Json::Array(items) if !items.is_empty() => {
            items.iter().map(|item| spread(item, secret)).collect()
        }
        other if secret => json!({"$secret": other}),
        other => other.clone(),
    }
}

fn equal_spread(a: &Json, b: &Json, exact: bool) -> bool {
    match (a, b) {
        (Json::Number(x), Json::Number(y)) if exact => {
            x.is_i64() == y.is_i64() && x.as_f64() == y.as_f64()
        }
        (Json::Number(x), Json::Number(y)) => x.as_f64() == y.as_f64(),
        (Json::Array(x), Json::Array(y)) => {
            x.len() == y.len() && x.iter().zip(y).all(|(a, b)| equal_spread(a, b, exact))
        }
        (Json::Object(x), Json::Object(y)) => {
            x.len() == y.len()
                && (!exact || x.keys().eq(y.keys()))
                && x.iter()
                    .all(|(key, a)| y.get(key).is_some_and(|b| equal_spread(a, b, exact)))
        }
        (a, b) => a == b,
    }
}

/// The inputs of a case: typed values, and texts as on the command line.
pub(crate) fn given(typed: Option<&Json>, text: Option<&Json>) -> Given {
    let entries = |json: Option<&Json>| json.and_then(Json::as_object).cloned().unwrap_or_default();
    let typed: IndexMap<Name, Value> = entries(typed)
        .iter()
        .map(|(name, value)| (name.as_str().into(), from_json(value).revealed()))
        .collect();
    let text = entries(text).into_iter().map(|(name, value)| {
        let text = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        (Name::from(name), Name::from(text))
    });
    Given {
        typed,
        text: text.collect(),
    }
}
