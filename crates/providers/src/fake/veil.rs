//! Secrets that were sent stay out of the file of a world, and so do computed values that repeat them: what stands
//! there in their place says only that there is one. Whoever asks for the thing brings what was sent, and the thing has
//! it again.
//!
//! Not here: computed values that the catalogue calls sensitive. They are made up, and nobody's secret.

use std::sync::Arc;

use blueprint::{Map, Name, Value};
use provider::Scrub;

/// What stands in a file in the place of a secret.
const VEIL: &str = "(secret)";

/// What is secret in a value that is sent.
#[derive(Debug, Default)]
pub(super) struct Secrets {
    sent: Vec<Name>,
    scrub: Option<Scrub>,
}

impl Secrets {
    /// Of a value with its marks.
    pub(super) fn of(sent: &Value) -> Secrets {
        match sent.has_secret() {
            true => Secrets { sent: places(sent), scrub: Some(Scrub::of([sent])) },
            false => Secrets::default(),
        }
    }

    /// Whether one of them stands in a text.
    pub(super) fn stand_in(&self, text: &str) -> bool {
        self.scrub.as_ref().is_some_and(|scrub| scrub.marked(&Value::text(text)).has_secret() || scrub.stands_in(text))
    }

    /// The places of secrets in all fields of a thing, as JSON pointers: where they were sent, and where a computed
    /// value repeats one.
    pub(super) fn places_in(self, fields: &Value) -> Vec<Name> {
        let Secrets { mut sent, scrub } = self;
        if let Some(scrub) = scrub {
            // What lies below a place is not named: a key there may be a part of the secret.
            let is_new = |place: &Name| {
                let below = |known: &Name| {
                    place.strip_prefix(known.as_ref()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
                };
                !sent.iter().any(below)
            };
            let repeated: Vec<Name> = places(&scrub.marked(fields)).into_iter().filter(is_new).collect();
            sent.extend(repeated);
        }
        sent
    }
}

/// Whether something lies over one of these places.
pub(super) fn lies_over(fields: &Value, places: &[Name]) -> bool {
    places.iter().any(|place| at(fields, place).and_then(Value::as_text) == Some(VEIL))
}

/// The places of secrets in a value that is sent, as JSON pointers.
fn places(sent: &Value) -> Vec<Name> {
    let mut found = Vec::new();
    look(sent, &mut String::new(), &mut found);
    found
}

fn look(value: &Value, path: &mut String, found: &mut Vec<Name>) {
    let length = path.len();
    match value {
        Value::Secret(_) => found.push(path.as_str().into()),
        Value::Map(entries) => {
            for (key, value) in entries.iter() {
                path.push('/');
                path.push_str(&key.replace('~', "~0").replace('/', "~1"));
                look(value, path, found);
                path.truncate(length);
            }
        }
        Value::List(items) | Value::Set(items) => {
            for (at, value) in items.iter().enumerate() {
                path.push('/');
                path.push_str(&at.to_string());
                look(value, path, found);
                path.truncate(length);
            }
        }
        _ => {}
    }
}

/// The fields with a veil over each of these places.
pub(super) fn drawn(fields: &Value, places: &[Name]) -> Value {
    places.iter().fold(fields.clone(), |fields, place| replaced(&fields, place, &|_| Some(Value::text(VEIL))))
}

/// The fields with what is `known` under each veil that still lies over one of these places.
pub(super) fn lifted(fields: &Value, places: &[Name], known: &Value) -> Value {
    places.iter().fold(fields.clone(), |fields, place| {
        let known = at(known, place).map(Value::revealed);
        replaced(&fields, place, &|now| known.clone().filter(|_| now.as_text() == Some(VEIL)))
    })
}

fn step(place: &str) -> Option<(String, &str)> {
    let rest = place.strip_prefix('/')?;
    let (step, rest) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    Some((step.replace("~1", "/").replace("~0", "~"), rest))
}

fn at<'a>(value: &'a Value, place: &str) -> Option<&'a Value> {
    let value = value.bare();
    let Some((step, rest)) = step(place) else { return Some(value) };
    let inner = match value {
        Value::Map(entries) => entries.get(step.as_str())?,
        Value::List(items) | Value::Set(items) => items.get(step.parse::<usize>().ok()?)?,
        _ => return None,
    };
    at(inner, rest)
}

/// The value with another one at a place, where `with` gives one; as it is where nothing stands there.
fn replaced(value: &Value, place: &str, with: &dyn Fn(&Value) -> Option<Value>) -> Value {
    let Some((step, rest)) = step(place) else { return with(value).unwrap_or_else(|| value.clone()) };
    match value {
        Value::Map(entries) => {
            let mut entries = Map::clone(entries);
            if let Some(inner) = entries.get_mut(step.as_str()) {
                *inner = replaced(inner, rest, with);
            }
            Value::Map(Arc::new(entries))
        }
        Value::List(items) => Value::list(
            items
                .iter()
                .enumerate()
                .map(|(at, item)| if step == at.to_string() { replaced(item, rest, with) } else { item.clone() }),
        ),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_sent_in_secret_is_veiled_and_comes_back() {
        let secret = Value::from("s").secret();
        let sent = Value::map([
            ("plain", Value::from("p")),
            ("a/b", Value::list([Value::from("x"), secret.clone()])),
            ("deep", Value::map([("in", secret)])),
        ]);
        let places = places(&sent);
        assert_eq!(places.iter().map(AsRef::as_ref).collect::<Vec<&str>>(), ["/a~1b/1", "/deep/in"]);
        let clear = sent.revealed();
        let veiled = drawn(&clear, &places);
        assert_eq!(veiled.get("deep").and_then(|deep| deep.get("in")), Some(&VEIL.into()));
        assert!(!veiled.to_string().contains("\"s\""), "{veiled}");
        assert_eq!(lifted(&veiled, &places, &sent), clear);
        assert_eq!(lifted(&veiled, &places, &Value::Null), veiled, "nobody knows it");
        let touched = replaced(&veiled, "/deep/in", &|_| Some("by hand".into()));
        assert_eq!(lifted(&touched, &places, &sent).get("deep"), touched.get("deep"), "what is there is there");
    }

    #[test]
    fn computed_values_that_repeat_a_secret_are_veiled_too() {
        let sent = Value::map([
            ("number", Value::Int(918_273).secret()),
            ("name", Value::from("planted").secret()),
            ("open", Value::from("shown")),
        ]);
        let fields = Value::map([
            ("number", Value::Int(918_273)),
            ("name", Value::from("planted")),
            ("open", Value::from("shown")),
            ("copy", Value::map([("n", Value::Int(918_273)), ("arn", "arn:planted:x".into())])),
            ("keys", Value::map([("planted", Value::Int(1))])),
        ]);
        let secrets = Secrets::of(&sent);
        assert!(secrets.stand_in("a-planted") && !secrets.stand_in("a-shown"));
        let places = secrets.places_in(&fields);
        assert_eq!(
            places.iter().map(AsRef::as_ref).collect::<Vec<&str>>(),
            ["/number", "/name", "/copy/n", "/copy/arn", "/keys"]
        );
        let veiled = drawn(&fields, &places);
        assert!(!veiled.to_string().contains("planted") && !veiled.to_string().contains("918273"), "{veiled}");
        assert!(lies_over(&veiled, &places) && !lies_over(&fields, &places));
        assert_eq!(lifted(&lifted(&veiled, &places, &sent), &places, &fields), fields);
    }
}
