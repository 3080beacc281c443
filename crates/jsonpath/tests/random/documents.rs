//! Random documents: few keys, so that paths meet them, and values at the edges of their kinds.

use blueprint::Value;
use serde_json::{Value as Json, json};

use crate::seeded::SeededChoice;

/// The keys of maps.
pub(crate) const KEYS: [&str; 11] = [
    "a", "b", "c", "d.e", "x-y", "é", "", "items", "9", "_u", "$s",
];

/// Texts that values and templates use. Backspace and form feed are missing: Go has printed them in
/// two ways.
pub(crate) const TEXTS: [&str; 15] = [
    "",
    "a",
    "b",
    "abc",
    "é",
    "日本",
    "x y",
    "<&>",
    "\u{1}\n\t",
    "1",
    "true",
    "it's",
    "say \"b\"",
    "back\\slash",
    "(a)",
];

const INTS: [i64; 9] = [
    0,
    1,
    2,
    -1,
    97,
    1_000_000,
    9_007_199_254_740_993,
    i64::MAX,
    i64::MIN,
];

const FLOATS: [f64; 12] = [
    0.0,
    -0.0,
    1.0,
    0.5,
    -2.5,
    100.0,
    1e6,
    1e-5,
    1e-7,
    123_456_789.5,
    1e21,
    0.300_000_000_000_000_04,
];

/// A document: most are maps.
pub(crate) fn document(choice: &mut SeededChoice) -> Json {
    match choice.below(20) {
        0 => scalar(choice),
        1..=3 => list(choice, 3),
        _ => map(choice, 4),
    }
}

fn any(choice: &mut SeededChoice, depth: usize) -> Json {
    match choice.below(10) {
        0..=4 if depth > 0 => list(choice, depth - 1),
        5..=7 if depth > 0 => map(choice, depth - 1),
        _ => scalar(choice),
    }
}

fn map(choice: &mut SeededChoice, depth: usize) -> Json {
    let length = choice.below(4) + usize::from(choice.chance(80));
    let entries = (0..length).map(|_| {
        let key = match choice.chance(70) {
            true => KEYS[choice.below(3)],
            false => choice.text(&KEYS),
        };
        (key.to_owned(), any(choice, depth))
    });
    Json::Object(entries.collect())
}

/// A list, whose elements are often of one kind.
fn list(choice: &mut SeededChoice, depth: usize) -> Json {
    let length = choice.below(4) + usize::from(choice.chance(80));
    let kind = choice.below(7);
    let items = (0..length).map(|_| match kind {
        0 => json!(choice.of_all(&INTS)),
        1 => json!(choice.of_all(&FLOATS)),
        2 => json!(choice.text(&TEXTS)),
        3 | 4 => record(choice),
        5 if depth > 0 => map(choice, depth - 1),
        _ => any(choice, depth),
    });
    Json::Array(items.collect())
}

/// A map as the elements of a list often are: each key has values of one kind.
fn record(choice: &mut SeededChoice) -> Json {
    let mut record = json!({"a": choice.text(&TEXTS), "b": choice.of_all(&INTS)});
    if choice.chance(50) {
        record["c"] = json!(choice.of_all(&FLOATS));
    }
    if choice.chance(30) {
        record["items"] = list(choice, 0);
    }
    record
}

fn scalar(choice: &mut SeededChoice) -> Json {
    match choice.below(8) {
        0 => Json::Null,
        1 => json!(choice.chance(50)),
        2 | 3 => json!(choice.of_all(&INTS)),
        4 => json!(choice.of_all(&FLOATS)),
        _ => json!(choice.text(&TEXTS)),
    }
}

/// Whether a map in the document has several children.
pub(crate) fn has_large_map(document: &Json) -> bool {
    match document {
        Json::Array(items) => items.iter().any(has_large_map),
        Json::Object(entries) => entries.len() > 1 || entries.values().any(has_large_map),
        _ => false,
    }
}

/// A document as a value: whole numbers are integers, the others doubles.
pub(crate) fn value(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(flag) => Value::Bool(*flag),
        Json::Number(number) => match number.as_i64() {
            Some(number) => Value::Int(number),
            None => Value::Float(number.as_f64().unwrap()),
        },
        Json::String(text) => Value::text(text.as_str()),
        Json::Array(items) => Value::list(items.iter().map(value)),
        Json::Object(entries) => Value::map(
            entries
                .iter()
                .map(|(key, entry)| (key.as_str(), value(entry))),
        ),
    }
}
