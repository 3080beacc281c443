//! Secret marks and unknown parts of values.

use std::sync::Arc;

use blueprint::Value;
use terraform_wire::{AttributeStep, Path};

/// Returns `onto` with the secret marks of those parts of `from` that it repeats. The protocol
/// carries no marks, so an answer is marked in the same places as the configuration.
pub(crate) fn copy_secret_marks(from: &Value, onto: &Value) -> Value {
    if !from.has_secret() {
        return onto.clone();
    }
    let (source, secret) = from.split_secret();
    let carried = match (source, onto.unmarked()) {
        _ if secret => onto.clone(),
        (Value::Map(marked), Value::Map(entries)) => {
            Value::map(entries.iter().map(|(key, part)| {
                (
                    key.clone(),
                    marked
                        .get(key)
                        .map_or_else(|| part.clone(), |marked| copy_secret_marks(marked, part)),
                )
            }))
        }
        (Value::List(marked), Value::List(items)) => {
            Value::list(items.iter().enumerate().map(|(at, item)| {
                marked
                    .get(at)
                    .map_or_else(|| item.clone(), |marked| copy_secret_marks(marked, item))
            }))
        }
        // Elements of sets cannot be matched with each other.
        (Value::List(_) | Value::Set(_), Value::Set(items)) => {
            Value::Set(Arc::clone(items)).secret()
        }
        _ => onto.clone(),
    };
    let marked = secret || onto.split_secret().1;
    if carried.is_null() {
        carried
    } else {
        carried.tainted(marked)
    }
}

/// Returns the value with null in place of its unknown parts; adds their paths to `places`.
pub(crate) fn without_unknown(value: &Value, path: &Path, places: &mut Vec<Path>) -> Value {
    if !value.has_unknown() {
        return value.clone();
    }
    let (bare, secret) = value.split_secret();
    let known = match bare {
        Value::Map(entries) => Value::map(entries.iter().map(|(key, part)| {
            (
                key.clone(),
                without_unknown(
                    part,
                    &path.join(AttributeStep::Attribute(key.clone())),
                    places,
                ),
            )
        })),
        Value::List(items) => {
            let one = |(at, item): (usize, &Value)| without_unknown(item, &path.index(at), places);
            Value::list(items.iter().enumerate().map(one).collect::<Vec<_>>())
        }
        Value::Set(items) => Value::Set(Arc::new(
            items
                .iter()
                .map(|item| without_unknown(item, path, places))
                .collect(),
        )),
        _ => {
            places.push(path.clone());
            return Value::Null;
        }
    };
    known.tainted(secret)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_marked_where_the_configuration_was() {
        let config = Value::map([
            ("a", Value::from("x").secret()),
            (
                "b",
                Value::list([Value::from("y"), Value::from("z").secret()]),
            ),
            ("c", Value::Set(Arc::new(vec![Value::from("s").secret()]))),
        ]);
        let answer = Value::map([
            ("a", Value::from("x")),
            (
                "b",
                Value::list([Value::from("y"), Value::from("z"), Value::from("w")]),
            ),
            ("c", Value::Set(Arc::new(vec![Value::from("s")]))),
            ("d", Value::from("d")),
        ]);
        let marked = copy_secret_marks(&config, &answer);
        assert_eq!(marked.revealed(), answer);
        assert!(matches!(marked.get("a"), Some(Value::Secret(_))));
        assert!(matches!(marked.get("c"), Some(Value::Secret(_))));
        assert!(matches!(marked.get("d"), Some(Value::Text(_))));
        let marks: Vec<_> = marked
            .get("b")
            .and_then(Value::as_list)
            .unwrap()
            .iter()
            .map(Value::has_secret)
            .collect();
        assert_eq!(marks, [false, true, false]);
    }

    #[test]
    fn unknown_parts_become_null() {
        let value = Value::map([
            (
                "a",
                Value::list([Value::Int(1), Value::unknown(None, None)]),
            ),
            ("b", Value::Null),
        ]);
        let mut places = Vec::new();
        let known = without_unknown(&value, &Path::default(), &mut places);
        assert_eq!(
            known,
            Value::map([
                ("a", Value::list([Value::Int(1), Value::Null])),
                ("b", Value::Null)
            ])
        );
        assert_eq!(
            places.iter().map(Path::to_string).collect::<Vec<_>>(),
            ["a[1]"]
        );
    }
}
