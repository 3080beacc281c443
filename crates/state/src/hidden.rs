//! Ids that contain a secret: a provider may derive the id of an object from a secret name or path.
//!
//! This module marks such an id as `{"$secret": ID}`. The sealer then seals the id like any other
//! secret.
//!
//! Not here: the secret marks on values. The engine adds them to the values that providers return.

use std::fmt;

use blueprint::{Name, Value};
use serde::Deserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde_json::{Map, Value as Json};

/// The text that is shown in place of such an id.
pub(crate) const SHOWN_ID: &str = "(secret)";

/// The minimum length in characters of a secret that is looked for inside ids. Shorter texts occur
/// in many ids by chance, so a shorter secret must be equal to the id.
const MIN_CONTAINED_SECRET: usize = 4;

/// The fields of records and intents that hold values of resources.
const VALUES: [&str; 4] = ["inputs", "outputs", "private", "metadata"];

const SECRET: &str = "$secret";

/// Whether an id is, or contains, a secret that occurs in one of these values.
pub fn hides_id<'a>(id: &str, values: impl IntoIterator<Item = &'a Value>) -> bool {
    !id.is_empty() && values.into_iter().any(|value| in_value(id, value, false))
}

fn in_value(id: &str, value: &Value, secret: bool) -> bool {
    match value {
        Value::Secret(inner) => in_value(id, inner, true),
        Value::List(items) | Value::Set(items) => {
            items.iter().any(|item| in_value(id, item, secret))
        }
        Value::Map(entries) => {
            let in_key = |key: &Name| secret && repeats(id, key);
            entries
                .iter()
                .any(|(key, value)| in_key(key) || in_value(id, value, secret))
        }
        Value::Text(text) if secret => repeats(id, text),
        Value::Int(_) | Value::Float(_) | Value::Decimal(_) if secret => {
            repeats(id, &value.to_string())
        }
        _ => false,
    }
}

fn repeats(id: &str, secret: &str) -> bool {
    id == secret || secret.chars().nth(MIN_CONTAINED_SECRET - 1).is_some() && id.contains(secret)
}

/// Marks the ids to seal in the JSON of a record or of an entry of the journal: the id of a record
/// (an object with `status`) that contains a secret of that record, and the id of an intent whose
/// `hides_id` is true. Values of resources are left alone: they may have any keys.
pub(crate) fn mark_ids(json: &mut Json) {
    match json {
        Json::Array(items) => items.iter_mut().for_each(mark_ids),
        Json::Object(map) if map.contains_key(SECRET) => {}
        Json::Object(map) => {
            let hides = match map.get("id") {
                Some(Json::String(id)) if !id.is_empty() => {
                    map.get("hides_id") == Some(&Json::Bool(true)) || of_record(id, map)
                }
                _ => false,
            };
            if hides && let Some(id) = map.get_mut("id") {
                let secret = std::mem::take(id);
                *id = Json::Object(Map::from_iter([(SECRET.to_owned(), secret)]));
            }
            map.iter_mut()
                .filter(|(key, _)| !VALUES.contains(&key.as_str()))
                .for_each(|(_, inner)| mark_ids(inner));
        }
        _ => {}
    }
}

fn of_record(id: &str, map: &Map<String, Json>) -> bool {
    let values = ["inputs", "outputs", "private"]
        .into_iter()
        .filter_map(|name| map.get(name));
    map.contains_key("status") && values.into_iter().any(|value| in_json(id, value, false))
}

fn in_json(id: &str, json: &Json, secret: bool) -> bool {
    match json {
        Json::Object(map) => match map.get(SECRET).filter(|_| map.len() == 1) {
            Some(inner) => in_json(id, inner, true),
            None => map
                .iter()
                .any(|(key, value)| secret && repeats(id, key) || in_json(id, value, secret)),
        },
        Json::Array(items) => items.iter().any(|item| in_json(id, item, secret)),
        Json::String(text) => secret && repeats(id, text),
        Json::Number(number) => secret && repeats(id, &number.to_string()),
        _ => false,
    }
}

/// Reads an id: a text, or a marked text.
pub(crate) fn deserialize_id<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Name, D::Error> {
    deserializer.deserialize_any(IdVisitor)
}

struct IdVisitor;

impl<'de> Visitor<'de> for IdVisitor {
    type Value = Name;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an id")
    }

    fn visit_str<E>(self, text: &str) -> Result<Name, E> {
        Ok(text.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Name, A::Error> {
        match map.next_entry::<String, String>()? {
            Some((key, id)) if key == SECRET => Ok(id.as_str().into()),
            _ => Err(A::Error::custom("an id is a text, or a secret text")),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Record;
    use crate::seal::{SealPlace, Sealer};

    use super::*;

    const PLACE: SealPlace<'_> = SealPlace {
        uid: "u-1",
        record: 7,
    };

    fn record(id: &str, path: Value) -> Record {
        let text = serde_json::json!({
            "type": "local/file", "status": {"op": "create", "word": "ready"}, "id": id,
            "inputs": Value::map([("path", path)]),
        });
        serde_json::from_value(text).unwrap()
    }

    #[test]
    fn id_that_repeats_a_secret_is_sealed_and_restored() {
        let hidden = record("/srv/planted.txt", Value::from("planted.txt").secret());
        assert!(hidden.hides_id() && hidden.shown_id() == "(secret)");
        let mut below = record("/srv/new", Value::from("new"));
        below.deposed = Some(Box::new(hidden.clone()));
        for record in [hidden, below] {
            let sealer = Sealer::with_key([1; 32]);
            let text = sealer.write(PLACE, &record, true, 0).unwrap();
            assert!(!text.contains("planted"), "{text}");
            assert_eq!(
                sealer.read::<Record>(PLACE, text.as_bytes(), true).unwrap(),
                record
            );
        }
    }

    #[test]
    fn values_of_resources_are_not_taken_for_records() {
        let like_records = ["hides_id", "status"].map(|key| {
            let inputs = Value::map([("p", Value::from("planted").secret())]);
            Value::map([
                ("id", Value::from("planted")),
                (key, Value::Bool(true)),
                ("inputs", inputs),
            ])
        });
        let record = record("x", Value::list(like_records));
        let sealer = Sealer::with_key([1; 32]);
        let text = sealer.write(PLACE, &record, true, 0).unwrap();
        assert_eq!(
            sealer.read::<Record>(PLACE, text.as_bytes(), true).unwrap(),
            record
        );
    }

    #[test]
    fn other_ids_stay_as_they_are() {
        for (id, path) in [
            ("/srv/a.txt", Value::from("a.txt")),
            ("/srv/b", Value::from("srv").secret()),
        ] {
            let record = record(id, path);
            assert!(!record.hides_id() && record.shown_id() == id);
            let text = Sealer::with_key([1; 32])
                .write(PLACE, &record, true, 0)
                .unwrap();
            assert!(text.contains(id), "{text}");
        }
        assert!(
            record("abc", Value::from("abc").secret()).hides_id(),
            "an id that is equal to a short secret"
        );
        assert!(record("x-918273", Value::Int(918_273).secret()).hides_id());
    }
}
