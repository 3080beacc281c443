//! Values in the form of Heat's recorded answers, and their comparison.

use std::collections::BTreeMap;

use blueprint::Value;
use serde_json::{Map, Value as Json, json};

/// A value in the form of an answer.
pub(super) fn to_json(value: &Value) -> Json {
    match value.bare() {
        Value::Null | Value::Unknown(_) => Json::Null,
        Value::Bool(value) => json!(value),
        Value::Int(value) => json!(value),
        Value::Float(value) if value.is_finite() => json!(value),
        Value::Float(value) if value.is_nan() => json!({"__float__": "nan"}),
        Value::Float(value) => json!({"__float__": if *value > 0.0 { "inf" } else { "-inf" }}),
        Value::Decimal(text) => serde_json::from_str(text).unwrap_or_else(|_| json!(text.as_ref())),
        Value::Text(text) => json!(text.as_ref()),
        Value::List(items) | Value::Set(items) => Json::Array(items.iter().map(to_json).collect()),
        Value::Map(entries) => {
            let entries: Map<String, Json> =
                entries.iter().map(|(key, value)| (key.to_string(), to_json(value))).collect();
            Json::Object(entries)
        }
        other => json!(other.to_string()),
    }
}

/// An answer with plain keys: the recorded key `__key_int__1` stands for the integer 1, which is the text `1` in JSON.
pub(super) fn plain_keys(json: Json) -> Json {
    let plain = |key: String| match key.strip_prefix("__key_").and_then(|rest| rest.split_once("__")) {
        Some(("bool", text)) => text.to_lowercase(),
        Some(("NoneType", _)) => "null".to_owned(),
        Some((_, text)) => text.to_owned(),
        None => key,
    };
    match json {
        Json::Object(entries) => entries.into_iter().map(|(key, value)| (plain(key), plain_keys(value))).collect(),
        Json::Array(items) => items.into_iter().map(plain_keys).collect(),
        other => other,
    }
}

/// The values of the placeholders of an answer that were compared so far.
#[derive(Default)]
pub(super) struct Pairs {
    known: BTreeMap<String, String>,
    /// Nothing was created: Heat's null or name of a missing resource equals any value.
    pub(super) before_creation: bool,
}

/// Compares a value with Heat's. `Err` with the first difference and its path.
pub(super) fn same(
    ours: &Json,
    heats: &Json,
    path: &str,
    loose_numbers: bool,
    pairs: &mut Pairs,
) -> Result<(), String> {
    let differs = || Err(format!("{path}: {ours} where Heat has {heats}"));
    match (ours, heats) {
        (Json::Object(ours), Json::Object(theirs)) if theirs.keys().any(|key| is_member(key)) => {
            // Names of members are random. They are paired in the order of creation.
            if ours.len() != theirs.len() {
                return differs();
            }
            let mut wanted: Vec<&String> = theirs.keys().collect();
            wanted.sort();
            for ((key, mine), named) in ours.iter().zip(wanted) {
                if !pairs.text(key, named) {
                    return differs();
                }
                same(mine, &theirs[named], &format!("{path}.{key}"), loose_numbers, pairs)?;
            }
            Ok(())
        }
        (Json::Object(ours), Json::Object(theirs)) => {
            // A property that is null may be missing.
            let missing = |key: &&String| {
                // The presence of a resource is compared elsewhere.
                let stands_aside = key.as_str() == "condition" && path.starts_with("resources.");
                let nothing = path.contains("typed_properties") && theirs[*key].is_null();
                // A condition that fails and is not used has no value.
                let failed = path == "conditions" && theirs[*key].get("__error__").is_some();
                !(ours.contains_key(*key) || stands_aside || nothing || failed)
            };
            if let Some(key) = theirs.keys().find(missing) {
                return Err(format!("{path}.{key}: missing, Heat has {}", theirs[key]));
            }
            for (key, mine) in ours {
                let Some(wanted) = theirs.get(key) else {
                    // An answer need not have every field of a resource.
                    if matches!(key.as_str(), "metadata" | "update_policy" | "external_id") {
                        continue;
                    }
                    // An unknown value, where Heat leaves out null.
                    if pairs.before_creation && mine.is_null() && path.ends_with("typed_properties") {
                        continue;
                    }
                    return Err(format!("{path}.{key}: {mine}, which Heat does not have"));
                };
                if path == "conditions" && wanted.get("__error__").is_some() {
                    continue;
                }
                let loose = loose_numbers && path.contains("typed_properties") || key == "typed_properties";
                same(mine, wanted, &format!("{path}.{key}"), loose_numbers || loose, pairs)?;
            }
            Ok(())
        }
        (Json::Array(mine), Json::Array(theirs)) => {
            if mine.len() != theirs.len() {
                return differs();
            }
            for (at, (mine, wanted)) in mine.iter().zip(theirs).enumerate() {
                same(mine, wanted, &format!("{path}[{at}]"), loose_numbers, pairs)?;
            }
            Ok(())
        }
        (Json::Number(mine), Json::Number(wanted)) => {
            let loose = path.contains("typed_properties") && mine.as_f64() == wanted.as_f64();
            if mine == wanted || loose { Ok(()) } else { differs() }
        }
        (Json::String(mine), Json::String(wanted)) => {
            if pairs.text(mine, wanted) {
                Ok(())
            } else {
                differs()
            }
        }
        (mine, wanted) if mine == wanted => Ok(()),
        (_, Json::Null) | (Json::Null, _) if pairs.before_creation => Ok(()),
        _ => differs(),
    }
}

/// A UUID that stands for any UUID.
const MADE_UP: &str = "00000000-0000-4000-8000-00000000";
const LETTERS: &str = "xxxxxxxxxxxx";

impl Pairs {
    /// Whether a text matches one with placeholders.
    fn text(&mut self, mine: &str, wanted: &str) -> bool {
        if mine == wanted {
            return true;
        }
        if wanted.starts_with("<random ") {
            return !mine.is_empty();
        }
        // Placeholders match from left to right. The texts between them must be equal.
        let (mut mine, mut wanted) = (mine, wanted);
        loop {
            let Some((at, length, kind)) = next_placeholder(wanted) else { return mine == wanted };
            if !mine.is_char_boundary(at) || mine.get(..at) != wanted.get(..at) {
                return false;
            }
            let (Some(found), Some(named)) = (mine.get(at..at + length), wanted.get(at..at + length)) else {
                return false;
            };
            let fits = match kind {
                Kind::Uuid => found.len() == 36 && found.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-'),
                Kind::Letters => found.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()),
            };
            if !fits {
                return false;
            }
            if !matches!(kind, Kind::Letters) || named != LETTERS {
                let known = self.known.entry(named.to_owned()).or_insert_with(|| found.to_owned());
                if known != found {
                    return false;
                }
            }
            mine = &mine[at + length..];
            wanted = &wanted[at + length..];
        }
    }
}

/// Whether a key is a placeholder for the name of a member of a scaling group.
fn is_member(key: &str) -> bool {
    key.strip_prefix("gen").is_some_and(|digits| digits.len() == 9 && digits.bytes().all(|byte| byte.is_ascii_digit()))
}

enum Kind {
    Uuid,
    Letters,
}

/// The first placeholder in a text: offset, length and kind.
fn next_placeholder(text: &str) -> Option<(usize, usize, Kind)> {
    let uuid = text.find(MADE_UP).map(|at| (at, 36, Kind::Uuid));
    let letters = text.find(LETTERS).map(|at| (at, 12, Kind::Letters));
    let member = text
        .find("gen")
        .filter(|at| text.get(at + 3..at + 12).is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit())));
    let member = member.map(|at| (at, 12, Kind::Letters));
    [uuid, letters, member].into_iter().flatten().min_by_key(|(at, ..)| *at)
}
