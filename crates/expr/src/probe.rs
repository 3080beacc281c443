//! Finds arguments that a function refuses whatever its unknown arguments turn out to be.
//!
//! A function that does not read an unknown part cannot be called, but a known argument may
//! already be wrong. The function is called with sample values in place of the unknown parts. If
//! each call either fails at a sample, or fails with the same refusal at a known part, and at least
//! one does the latter, then the known part is wrong. A call that succeeds ends the search.
//!
//! Not here: which refusals name a known part (the caller).

use std::sync::Arc;

use blueprint::{Map, Type, Unknown, Value};

/// The maximum number of values in arguments that are examined.
const MOST_VALUES: usize = 2_000;
/// The maximum length of a text in arguments that are examined, in bytes.
const LONGEST_TEXT: usize = 20_000;

/// Texts that parsers of many formats accept, the usual ones first.
const TEXTS: &[&str] = &[
    "a",
    "1",
    "",
    "0",
    "1.5",
    "true",
    "{}",
    "[]",
    "{\"a\": \"a\"}",
    "YQ==",
    "6162",
    "10.0.0.0/8",
    "10.0.0.1",
    "fd00::/16",
    "fd00::1",
    "2020-01-01T00:00:00Z",
    "1h",
    "https://a.example/a?a=a",
];

/// Returns the refusal that does not depend on the unknown parts of the arguments, if there is one.
/// `about_known` tells whether a refusal is about a known part, `same` whether two are equal.
pub fn refused_regardless<E>(
    arguments: &[Value],
    call: impl Fn(&[Value]) -> Result<Value, E>,
    about_known: impl Fn(&E) -> bool,
    same: impl Fn(&E, &E) -> bool,
) -> Option<E> {
    let mut left = MOST_VALUES;
    if !arguments.iter().all(|value| is_small(value, &mut left)) {
        return None;
    }
    let mut found: Option<E> = None;
    let mut known = Vec::new();
    arguments
        .iter()
        .for_each(|value| add_known_scalars(value, &mut known));
    for sample in samples(&known) {
        let probe: Vec<Value> = arguments
            .iter()
            .map(|value| with_sample(&value.revealed(), &sample))
            .collect();
        match (call(&probe), &found) {
            (Ok(_), _) => return None,
            (Err(refusal), None) if about_known(&refusal) => found = Some(refusal),
            (Err(refusal), Some(first)) if about_known(&refusal) && !same(first, &refusal) => {
                return None;
            }
            (Err(_), _) => {}
        }
    }
    found
}

/// The sample values, the usual ones first. Some contain the known values, because a function may
/// look for one argument in the other.
fn samples(known: &[Value]) -> impl Iterator<Item = Value> {
    let mut texts = TEXTS.iter().map(|text| Value::text(*text));
    // A text with many separators, which has parts of any number.
    let separated: String = " ,;:/|-_.=&\n\tab".repeat(200);
    let list = |item: Value| Value::list(std::iter::repeat_n(item, 300));
    let map = |value: Value| Value::Map(Arc::new(Map::from_iter([("a".into(), value)])));
    let others = [
        Value::Int(1),
        list(Value::text("a")),
        map(Value::text("a")),
        Value::Int(0),
        Value::Int(8),
        Value::Int(1_000_000),
        Value::Int(-1),
        Value::Float(0.5),
        Value::Bool(true),
        Value::text(separated),
        Value::list([]),
        list(Value::Int(1)),
        list(list_of_pairs()),
        list(map(Value::text("a"))),
        Value::Map(Arc::default()),
        map(Value::Int(1)),
        map(Value::list([Value::text("a")])),
        Value::Null,
        Value::list(known.iter().cloned()),
        Value::map(known.iter().filter_map(|key| {
            let key = key.as_text()?;
            Some((key.to_owned(), Value::text("a")))
        })),
        Value::text(
            known
                .iter()
                .filter_map(Value::as_text)
                .collect::<Vec<_>>()
                .join(" "),
        ),
    ];
    let known: Vec<Value> = known.to_vec();
    // The first text, then one value of each kind, then all others.
    texts
        .next()
        .into_iter()
        .chain(others)
        .chain(texts)
        .chain(known)
}

/// The maximum number of known values that become samples.
const MOST_KNOWN: usize = 40;

fn add_known_scalars(value: &Value, known: &mut Vec<Value>) {
    match value.unmarked() {
        _ if known.len() >= MOST_KNOWN => {}
        Value::List(items) | Value::Set(items) => {
            items.iter().for_each(|item| add_known_scalars(item, known));
        }
        Value::Map(entries) => {
            for (key, entry) in entries.iter() {
                known.push(Value::Text(key.clone()));
                add_known_scalars(entry, known);
            }
        }
        Value::Unknown(_) | Value::Null => {}
        scalar => known.push(scalar.clone()),
    }
}

fn list_of_pairs() -> Value {
    Value::list([Value::text("a"), Value::text("a")])
}

/// The value with the sample in place of each unknown part. A part of another known type gets a
/// usual value of its type.
fn with_sample(value: &Value, sample: &Value) -> Value {
    match value {
        Value::Unknown(unknown) => sample_of(unknown, sample),
        Value::List(items) if value.has_unknown() => {
            Value::list(items.iter().map(|item| with_sample(item, sample)))
        }
        Value::Map(entries) if value.has_unknown() => Value::map(
            entries
                .iter()
                .map(|(key, entry)| (key.clone(), with_sample(entry, sample))),
        ),
        _ => value.clone(),
    }
}

fn sample_of(unknown: &Unknown, sample: &Value) -> Value {
    match (&unknown.ty, sample) {
        (None | Some(Type::Any), _) => sample.clone(),
        (Some(Type::Text), Value::Text(_))
        | (Some(Type::Int), Value::Int(_))
        | (Some(Type::Float), Value::Float(_) | Value::Int(_))
        | (Some(Type::Bool), Value::Bool(_)) => sample.clone(),
        (Some(Type::Text), _) => Value::text("a"),
        (Some(Type::Int), _) => Value::Int(1),
        (Some(Type::Float), _) => Value::Float(1.0),
        (Some(Type::Bool), _) => Value::Bool(false),
        _ => sample.clone(),
    }
}

/// Whether a value is small enough to be passed several times.
fn is_small(value: &Value, left: &mut usize) -> bool {
    if *left == 0 {
        return false;
    }
    *left -= 1;
    match value.unmarked() {
        Value::Text(text) => text.len() <= LONGEST_TEXT,
        Value::List(items) | Value::Set(items) => items.iter().all(|item| is_small(item, left)),
        Value::Map(entries) => entries.values().all(|entry| is_small(entry, left)),
        Value::Function(_) | Value::Resource(_) => false,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A refusal of an argument by position.
    type Refused = (usize, &'static str);

    fn unknown() -> Value {
        Value::unknown(None, None)
    }

    /// Divides two integers.
    fn divide(values: &[Value]) -> Result<Value, Refused> {
        match values {
            [Value::Int(_), Value::Int(0)] => Err((1, "zero")),
            [Value::Int(a), Value::Int(b)] => Ok(Value::Int(a / b)),
            [Value::Int(_), _] => Err((1, "not an integer")),
            _ => Err((0, "not an integer")),
        }
    }

    fn regardless(values: &[Value]) -> Option<Refused> {
        refused_regardless(
            values,
            divide,
            |(at, _)| !values[*at].has_unknown(),
            |one, other| one == other,
        )
    }

    #[test]
    fn known_argument_is_refused_whatever_the_unknown_one_is() {
        assert_eq!(regardless(&[unknown(), Value::Int(0)]), Some((1, "zero")));
        assert_eq!(
            regardless(&[unknown(), Value::text("x")]),
            Some((1, "not an integer"))
        );
        assert_eq!(
            regardless(&[Value::text("x"), unknown()]),
            Some((0, "not an integer"))
        );
    }

    #[test]
    fn arguments_that_may_be_right_are_accepted() {
        assert_eq!(regardless(&[unknown(), Value::Int(2)]), None);
        assert_eq!(regardless(&[Value::Int(2), unknown()]), None);
        assert_eq!(regardless(&[unknown(), unknown()]), None);
    }

    #[test]
    fn known_value_may_be_in_the_unknown_argument() {
        let index = |values: &[Value]| -> Result<Value, Refused> {
            match &values[0] {
                Value::List(items) if items.contains(&values[1]) => Ok(Value::Int(0)),
                Value::List(_) => Err((1, "there is no such item")),
                _ => Err((0, "not a list")),
            }
        };
        let found = refused_regardless(
            &[unknown(), Value::text("zz")],
            index,
            |(at, _)| *at == 1,
            |one, other| one == other,
        );
        assert_eq!(found, None);
    }

    #[test]
    fn refusal_that_depends_on_the_unknown_argument_does_not_count() {
        let depends = |values: &[Value]| -> Result<Value, Refused> {
            match values[0].unmarked() {
                Value::Text(_) => Err((1, "wrong for a text")),
                Value::Int(_) => Err((1, "wrong for an integer")),
                _ => Err((0, "neither")),
            }
        };
        let found = refused_regardless(
            &[unknown(), Value::Int(1)],
            depends,
            |(at, _)| *at == 1,
            |one, other| one == other,
        );
        assert_eq!(found, None);
    }
}
