//! Values in the notation of the pack of Pulumi YAML, and when two of them are the same.

use blueprint::Value;
use serde_json::{Map, Value as Json};

/// The key of special values in the protocol: here only of references to resources.
const SPECIAL: &str = "4dabf18193072939515e22adb298388d";

/// A value in the notation of the pack.
pub(super) fn marked(value: &Value) -> Json {
    match value {
        Value::Secret(inner) => serde_json::json!({"$secret": marked(inner)}),
        Value::Unknown(_) => serde_json::json!({"$unknown": true}),
        Value::List(items) | Value::Set(items) => items.iter().map(marked).collect(),
        Value::Map(entries) => {
            let is_reference = entries.contains_key(SPECIAL);
            let entries = entries
                .iter()
                .filter(|(key, _)| key.as_ref() != SPECIAL)
                .map(|(key, entry)| (key.to_string(), marked(entry)));
            let entries = Json::Object(entries.collect());
            match is_reference {
                true => serde_json::json!({"$ref": entries}),
                false => entries,
            }
        }
        Value::Asset(asset) => asset_json(asset),
        Value::Float(float) if float.is_nan() => serde_json::json!({"$float": "NaN"}),
        Value::Float(float) if float.is_infinite() => {
            let sign = if *float > 0.0 {
                "Infinity"
            } else {
                "-Infinity"
            };
            serde_json::json!({"$float": sign})
        }
        other => serde_json::to_value(other).unwrap_or(Json::Null),
    }
}

fn asset_json(asset: &blueprint::Asset) -> Json {
    use blueprint::Asset;
    match asset {
        Asset::Text(text) => serde_json::json!({"$asset": {"text": text.to_string()}}),
        Asset::File(path) => serde_json::json!({"$asset": {"path": path.to_string()}}),
        Asset::Remote(url) => serde_json::json!({"$asset": {"uri": url.to_string()}}),
        Asset::LocalArchive(path) => serde_json::json!({"$archive": {"path": path.to_string()}}),
        Asset::RemoteArchive(url) => serde_json::json!({"$archive": {"uri": url.to_string()}}),
        Asset::Sent(asset, _) => asset_json(asset),
        Asset::Archive(entries) => {
            let entries = entries
                .iter()
                .map(|(name, entry)| (name.to_string(), asset_json(entry)));
            let entries: Map<String, Json> = entries.collect();
            serde_json::json!({"$archive": {"assets": entries}})
        }
    }
}

/// Whether an answer is the recorded one: numbers are doubles, and a digest of an asset may be
/// missing. An unknown value may also be a list or map with an unknown part, and a secret list or
/// map one with secret parts.
pub(super) fn same(wanted: &Json, found: &Json) -> bool {
    if wanted["$any"] == true {
        return true;
    }
    match (wanted, found) {
        (Json::Number(wanted), Json::Number(found)) => wanted.as_f64() == found.as_f64(),
        (Json::Array(wanted), Json::Array(found)) => {
            wanted.len() == found.len()
                && wanted
                    .iter()
                    .zip(found)
                    .all(|(one, other)| same(one, other))
        }
        (Json::Object(marks), _) if marks.contains_key("$unknown") => has_unknown(found),
        (Json::Object(marks), _) if marks.contains_key("$secret") => {
            let is_secret = has_secret(found);
            is_secret && same(&revealed(&marks["$secret"]), &revealed(found))
        }
        (Json::Object(wanted), Json::Object(found)) => {
            let counted = |key: &&String| key.as_str() != "hash";
            wanted.keys().filter(counted).count() == found.keys().filter(counted).count()
                && wanted
                    .iter()
                    .filter(|(key, _)| counted(key))
                    .all(|(key, one)| found.get(key).is_some_and(|other| same(one, other)))
        }
        (wanted, found) => wanted == found,
    }
}

/// Whether a value has a part with this mark.
fn has_mark(json: &Json, mark: &str) -> bool {
    match json {
        Json::Array(items) => items.iter().any(|item| has_mark(item, mark)),
        Json::Object(entries) => {
            entries.contains_key(mark) || entries.values().any(|entry| has_mark(entry, mark))
        }
        _ => false,
    }
}

/// Whether a value has an unknown part.
pub(super) fn has_unknown(json: &Json) -> bool {
    has_mark(json, "$unknown")
}

fn has_secret(json: &Json) -> bool {
    has_mark(json, "$secret")
}

/// A value without its marks of secrets.
pub(super) fn revealed(json: &Json) -> Json {
    match json {
        Json::Array(items) => items.iter().map(revealed).collect(),
        Json::Object(entries) => match entries.get("$secret") {
            Some(inner) => revealed(inner),
            None => {
                let entries = entries
                    .iter()
                    .map(|(key, one)| (key.clone(), revealed(one)));
                Json::Object(entries.collect())
            }
        },
        other => other.clone(),
    }
}

/// Whether a value is null, also as a secret.
pub(super) fn is_null(value: &Json) -> bool {
    value.is_null() || value.get("$secret").is_some_and(Json::is_null)
}
