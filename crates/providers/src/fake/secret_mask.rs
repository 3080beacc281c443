//! Keeps sent secrets, and computed values that repeat them, out of the file of a world. A
//! placeholder in the file marks each secret. A caller that reads a resource passes the sent
//! fields, from which the secrets are restored.
//!
//! Not here: sensitive computed values. They are generated, and not real secrets.

use std::sync::Arc;

use blueprint::{Map, Name, Value};
use provider::Scrubber;

/// The placeholder of a secret in a file.
const SECRET_PLACEHOLDER: &str = "(secret)";

/// The secrets in a sent value.
#[derive(Debug, Default)]
pub(super) struct SentSecrets {
    sent: Vec<Name>,
    scrub: Option<Scrubber>,
}

impl SentSecrets {
    /// Collects the marked secrets of a value.
    pub(super) fn of(sent: &Value) -> SentSecrets {
        match sent.has_secret() {
            true => SentSecrets {
                sent: secret_paths(sent),
                scrub: Some(Scrubber::of([sent])),
            },
            false => SentSecrets::default(),
        }
    }

    /// Whether a text contains one of the secrets.
    pub(super) fn occur_in(&self, text: &str) -> bool {
        self.scrub.as_ref().is_some_and(|scrub| {
            scrub.marked(&Value::text(text)).has_secret() || scrub.occurs_in(text)
        })
    }

    /// The paths of secrets in all fields of a resource, as JSON pointers: sent ones, and computed
    /// values that repeat one.
    pub(super) fn places_in(self, fields: &Value) -> Vec<Name> {
        let SentSecrets { mut sent, scrub } = self;
        if let Some(scrub) = scrub {
            // Paths below a secret are not listed, because a key there may be part of the secret.
            let is_new = |place: &Name| {
                let below = |known: &Name| {
                    place
                        .strip_prefix(known.as_ref())
                        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
                };
                !sent.iter().any(below)
            };
            let repeated: Vec<Name> = secret_paths(&scrub.marked(fields))
                .into_iter()
                .filter(is_new)
                .collect();
            sent.extend(repeated);
        }
        sent
    }
}

/// Whether one of these paths holds a placeholder.
pub(super) fn has_placeholder(fields: &Value, places: &[Name]) -> bool {
    places
        .iter()
        .any(|place| at(fields, place).and_then(Value::as_text) == Some(SECRET_PLACEHOLDER))
}

/// The paths of secrets in a sent value, as JSON pointers.
fn secret_paths(sent: &Value) -> Vec<Name> {
    let mut found = Vec::new();
    collect_secret_paths(sent, &mut String::new(), &mut found);
    found
}

fn collect_secret_paths(value: &Value, path: &mut String, found: &mut Vec<Name>) {
    let length = path.len();
    match value {
        Value::Secret(_) => found.push(path.as_str().into()),
        Value::Map(entries) => {
            for (key, value) in entries.iter() {
                path.push('/');
                path.push_str(&key.replace('~', "~0").replace('/', "~1"));
                collect_secret_paths(value, path, found);
                path.truncate(length);
            }
        }
        Value::List(items) | Value::Set(items) => {
            for (at, value) in items.iter().enumerate() {
                path.push('/');
                path.push_str(&at.to_string());
                collect_secret_paths(value, path, found);
                path.truncate(length);
            }
        }
        _ => {}
    }
}

/// The fields with a placeholder at each of these paths.
pub(super) fn mask(fields: &Value, places: &[Name]) -> Value {
    places.iter().fold(fields.clone(), |fields, place| {
        replaced(&fields, place, &|_| Some(Value::text(SECRET_PLACEHOLDER)))
    })
}

/// The fields with the `known` values in place of the placeholders at these paths.
pub(super) fn unmask(fields: &Value, places: &[Name], known: &Value) -> Value {
    places.iter().fold(fields.clone(), |fields, place| {
        let known = at(known, place).map(Value::revealed);
        replaced(&fields, place, &|now| {
            known
                .clone()
                .filter(|_| now.as_text() == Some(SECRET_PLACEHOLDER))
        })
    })
}

fn step(place: &str) -> Option<(String, &str)> {
    let rest = place.strip_prefix('/')?;
    let (step, rest) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    Some((step.replace("~1", "/").replace("~0", "~"), rest))
}

fn at<'a>(value: &'a Value, place: &str) -> Option<&'a Value> {
    let value = value.unmarked();
    let Some((step, rest)) = step(place) else {
        return Some(value);
    };
    let inner = match value {
        Value::Map(entries) => entries.get(step.as_str())?,
        Value::List(items) | Value::Set(items) => items.get(step.parse::<usize>().ok()?)?,
        _ => return None,
    };
    at(inner, rest)
}

/// The value with another one at a path, if `with` returns one. Unchanged if the path does not
/// exist.
fn replaced(value: &Value, place: &str, with: &dyn Fn(&Value) -> Option<Value>) -> Value {
    let Some((step, rest)) = step(place) else {
        return with(value).unwrap_or_else(|| value.clone());
    };
    match value {
        Value::Map(entries) => {
            let mut entries = Map::clone(entries);
            if let Some(inner) = entries.get_mut(step.as_str()) {
                *inner = replaced(inner, rest, with);
            }
            Value::Map(Arc::new(entries))
        }
        Value::List(items) => Value::list(items.iter().enumerate().map(|(at, item)| {
            if step == at.to_string() {
                replaced(item, rest, with)
            } else {
                item.clone()
            }
        })),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sent_secrets_are_masked_and_restored() {
        let secret = Value::from("s").secret();
        let sent = Value::map([
            ("plain", Value::from("p")),
            ("a/b", Value::list([Value::from("x"), secret.clone()])),
            ("deep", Value::map([("in", secret)])),
        ]);
        let places = secret_paths(&sent);
        assert_eq!(
            places.iter().map(AsRef::as_ref).collect::<Vec<&str>>(),
            ["/a~1b/1", "/deep/in"]
        );
        let clear = sent.revealed();
        let veiled = mask(&clear, &places);
        assert_eq!(
            veiled.get("deep").and_then(|deep| deep.get("in")),
            Some(&SECRET_PLACEHOLDER.into())
        );
        assert!(!veiled.to_string().contains("\"s\""), "{veiled}");
        assert_eq!(unmask(&veiled, &places, &sent), clear);
        assert_eq!(
            unmask(&veiled, &places, &Value::Null),
            veiled,
            "the value is not known"
        );
        let touched = replaced(&veiled, "/deep/in", &|_| Some("by hand".into()));
        assert_eq!(
            unmask(&touched, &places, &sent).get("deep"),
            touched.get("deep"),
            "what is there is there"
        );
    }

    #[test]
    fn computed_values_that_repeat_a_secret_are_masked() {
        let sent = Value::map([
            ("number", Value::Int(918_273).secret()),
            ("name", Value::from("planted").secret()),
            ("open", Value::from("shown")),
        ]);
        let fields = Value::map([
            ("number", Value::Int(918_273)),
            ("name", Value::from("planted")),
            ("open", Value::from("shown")),
            (
                "copy",
                Value::map([("n", Value::Int(918_273)), ("arn", "arn:planted:x".into())]),
            ),
            ("keys", Value::map([("planted", Value::Int(1))])),
        ]);
        let secrets = SentSecrets::of(&sent);
        assert!(secrets.occur_in("a-planted") && !secrets.occur_in("a-shown"));
        let places = secrets.places_in(&fields);
        assert_eq!(
            places.iter().map(AsRef::as_ref).collect::<Vec<&str>>(),
            ["/number", "/name", "/copy/n", "/copy/arn", "/keys"]
        );
        let veiled = mask(&fields, &places);
        assert!(
            !veiled.to_string().contains("planted") && !veiled.to_string().contains("918273"),
            "{veiled}"
        );
        assert!(has_placeholder(&veiled, &places) && !has_placeholder(&fields, &places));
        assert_eq!(
            unmask(&unmask(&veiled, &places, &sent), &places, &fields),
            fields
        );
    }
}
