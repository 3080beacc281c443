//! Compares values with Heat's recorded results.

use std::collections::BTreeMap;

use blueprint::Value;
use serde_json::{Map, Value as Json, json};

/// Converts a value to the JSON form of a recorded result. Null and unknown both become null.
pub(super) fn to_json(value: &Value) -> Json {
    match value.unmarked() {
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
            let entries: Map<String, Json> = entries
                .iter()
                .map(|(key, value)| (key.to_string(), to_json(value)))
                .collect();
            Json::Object(entries)
        }
        other => json!(other.to_string()),
    }
}

/// A recorded result with plain keys: the recorded key `__key_int__1` stands for the integer 1,
/// which is the text `1` in JSON.
pub(super) fn plain_keys(json: Json) -> Json {
    let plain = |key: String| match key
        .strip_prefix("__key_")
        .and_then(|rest| rest.split_once("__"))
    {
        Some(("bool", text)) => text.to_lowercase(),
        Some(("NoneType", _)) => "null".to_owned(),
        Some((_, text)) => text.to_owned(),
        None => key,
    };
    match json {
        Json::Object(entries) => entries
            .into_iter()
            .map(|(key, value)| (plain(key), plain_keys(value)))
            .collect(),
        Json::Array(items) => items.into_iter().map(plain_keys).collect(),
        other => other,
    }
}

/// The text that each placeholder has matched so far. The same placeholder must match the same
/// text.
#[derive(Default)]
pub(super) struct Placeholders {
    known: BTreeMap<String, String>,
    /// The resources were not created. A null on either side equals any value.
    pub(super) before_creation: bool,
}

/// Compares a value with Heat's. `Err` with the first difference and its path.
pub(super) fn same(
    ours: &Json,
    heats: &Json,
    path: &str,
    placeholders: &mut Placeholders,
) -> Result<(), String> {
    let differs = || Err(format!("{path}: {ours} where Heat has {heats}"));
    match (ours, heats) {
        (Json::Object(ours), Json::Object(heats)) if heats.keys().any(|key| is_member(key)) => {
            // Names of members are random. They are paired in the order of creation.
            if ours.len() != heats.len() {
                return differs();
            }
            let mut heats_keys: Vec<&String> = heats.keys().collect();
            heats_keys.sort();
            for ((key, ours), heats_key) in ours.iter().zip(heats_keys) {
                if !placeholders.text(key, heats_key) {
                    return differs();
                }
                same(
                    ours,
                    &heats[heats_key],
                    &format!("{path}.{key}"),
                    placeholders,
                )?;
            }
            Ok(())
        }
        (Json::Object(ours), Json::Object(heats)) => {
            // A property that is null may be missing.
            let missing = |key: &&String| {
                // Another comparison checks which resources exist.
                let compared_elsewhere =
                    key.as_str() == "condition" && path.starts_with("resources.");
                let null_property = path.contains("typed_properties") && heats[*key].is_null();
                // A condition that fails and is not used has no value.
                let failed = path == "conditions" && heats[*key].get("__error__").is_some();
                !(ours.contains_key(*key) || compared_elsewhere || null_property || failed)
            };
            if let Some(key) = heats.keys().find(missing) {
                return Err(format!("{path}.{key}: missing, Heat has {}", heats[key]));
            }
            for (key, ours) in ours {
                let Some(heats) = heats.get(key) else {
                    // A recorded result need not have every field of a resource.
                    if matches!(key.as_str(), "metadata" | "update_policy" | "external_id") {
                        continue;
                    }
                    // Our value is unknown, and Heat leaves out null.
                    if placeholders.before_creation
                        && ours.is_null()
                        && path.ends_with("typed_properties")
                    {
                        continue;
                    }
                    return Err(format!("{path}.{key}: {ours}, which Heat does not have"));
                };
                if path == "conditions" && heats.get("__error__").is_some() {
                    continue;
                }
                same(ours, heats, &format!("{path}.{key}"), placeholders)?;
            }
            Ok(())
        }
        (Json::Array(ours), Json::Array(heats)) => {
            if ours.len() != heats.len() {
                return differs();
            }
            for (at, (ours, heats)) in ours.iter().zip(heats).enumerate() {
                same(ours, heats, &format!("{path}[{at}]"), placeholders)?;
            }
            Ok(())
        }
        (Json::Number(ours), Json::Number(heats)) => {
            let loose = path.contains("typed_properties") && ours.as_f64() == heats.as_f64();
            if ours == heats || loose {
                Ok(())
            } else {
                differs()
            }
        }
        (Json::String(ours), Json::String(heats)) => {
            if placeholders.text(ours, heats) {
                Ok(())
            } else {
                differs()
            }
        }
        (ours, heats) if ours == heats => Ok(()),
        (_, Json::Null) | (Json::Null, _) if placeholders.before_creation => Ok(()),
        _ => differs(),
    }
}

/// The first 28 characters of a placeholder UUID. 8 digits follow; the same digits stand for the
/// same UUID.
const UUID_PREFIX: &str = "00000000-0000-4000-8000-00000000";
/// A placeholder for any 12 characters of `a-z0-9`, which may differ at each use.
const LETTERS: &str = "xxxxxxxxxxxx";

impl Placeholders {
    /// Whether a text matches one with placeholders.
    fn text(&mut self, ours: &str, heats: &str) -> bool {
        if ours == heats {
            return true;
        }
        if heats.starts_with("<random ") {
            return !ours.is_empty();
        }
        // Placeholders match from left to right. The texts between them must be equal.
        let (mut ours, mut heats) = (ours, heats);
        loop {
            let Some((at, length, kind)) = next_placeholder(heats) else {
                return ours == heats;
            };
            if !ours.is_char_boundary(at) || ours.get(..at) != heats.get(..at) {
                return false;
            }
            let (Some(found), Some(placeholder)) =
                (ours.get(at..at + length), heats.get(at..at + length))
            else {
                return false;
            };
            let fits = match kind {
                PlaceholderKind::Uuid => {
                    found.len() == 36
                        && found
                            .bytes()
                            .all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
                }
                PlaceholderKind::Letters => found
                    .bytes()
                    .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()),
            };
            if !fits {
                return false;
            }
            if !matches!(kind, PlaceholderKind::Letters) || placeholder != LETTERS {
                let known = self
                    .known
                    .entry(placeholder.to_owned())
                    .or_insert_with(|| found.to_owned());
                if known != found {
                    return false;
                }
            }
            ours = &ours[at + length..];
            heats = &heats[at + length..];
        }
    }
}

/// Whether a key is a placeholder for the name of a member of a scaling group.
fn is_member(key: &str) -> bool {
    key.strip_prefix("gen")
        .is_some_and(|digits| digits.len() == 9 && digits.bytes().all(|byte| byte.is_ascii_digit()))
}

enum PlaceholderKind {
    Uuid,
    Letters,
}

/// The first placeholder in a text: offset, length and kind.
fn next_placeholder(text: &str) -> Option<(usize, usize, PlaceholderKind)> {
    let uuid = text
        .find(UUID_PREFIX)
        .map(|at| (at, 36, PlaceholderKind::Uuid));
    let letters = text
        .find(LETTERS)
        .map(|at| (at, 12, PlaceholderKind::Letters));
    let member = text.find("gen").filter(|at| {
        text.get(at + 3..at + 12)
            .is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
    });
    let member = member.map(|at| (at, 12, PlaceholderKind::Letters));
    [uuid, letters, member]
        .into_iter()
        .flatten()
        .min_by_key(|(at, ..)| *at)
}
