//! Compares properties as Pulumi's engine does when a provider cannot tell whether they differ.

use blueprint::Value;

use crate::path::{PropertyPath, PropertyStep};

/// Whether two values are equal. Numbers are compared by value, and secret marks do not count.
pub fn same(a: &Value, b: &Value) -> bool {
    match (a.unmarked(), b.unmarked()) {
        (Value::Int(a), Value::Float(b)) | (Value::Float(b), Value::Int(a)) => *a as f64 == *b,
        (Value::List(a) | Value::Set(a), Value::List(b) | Value::Set(b)) => {
            a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| same(a, b))
        }
        (Value::Map(a), Value::Map(b)) => {
            a.len() == b.len()
                && a.iter()
                    .all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        (a, b) => a == b,
    }
}

/// The places at which two maps of properties differ. A list is one place. An unknown value differs
/// from every value. Places below one of `ignored` do not count.
pub fn differences(old: &Value, new: &Value, ignored: &[PropertyPath]) -> Vec<PropertyPath> {
    let mut found = Vec::new();
    compare(
        Some(old),
        Some(new),
        ignored,
        &mut PropertyPath::default(),
        &mut found,
    );
    found
}

fn compare(
    old: Option<&Value>,
    new: Option<&Value>,
    ignored: &[PropertyPath],
    at: &mut PropertyPath,
    found: &mut Vec<PropertyPath>,
) {
    if ignored
        .iter()
        .any(|path| !path.0.is_empty() && path.covers(at))
    {
        return;
    }
    match (old.map(Value::unmarked), new.map(Value::unmarked)) {
        (Some(Value::Map(old)), Some(Value::Map(new))) => {
            let added = new.keys().filter(|key| !old.contains_key(key));
            for key in old.keys().chain(added) {
                at.0.push(PropertyStep::Property(key.clone()));
                compare(old.get(key), new.get(key), ignored, at, found);
                at.0.pop();
            }
        }
        (None, None) => {}
        (Some(old), Some(new)) if !old.has_unknown() && !new.has_unknown() && same(old, new) => {}
        _ => found.push(at.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_found_leaf_by_leaf() {
        let old = Value::map([
            ("a", Value::Int(1)),
            (
                "b",
                Value::map([("c", Value::from("x").secret()), ("d", Value::from("y"))]),
            ),
            ("gone", Value::Null),
            ("tags", Value::list([Value::from("t")])),
        ]);
        let new = Value::map([
            ("a", Value::Float(1.0)),
            (
                "b",
                Value::map([("c", Value::from("x")), ("d", Value::unknown(None, None))]),
            ),
            ("tags", Value::list([Value::from("u")])),
            ("new", Value::Bool(true)),
        ]);
        let found = |ignored: &[&str]| {
            let ignored: Vec<PropertyPath> = ignored
                .iter()
                .map(|path| PropertyPath::parse(path).unwrap())
                .collect();
            let found = differences(&old, &new, &ignored);
            found.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(found(&[]), ["b.d", "gone", "tags", "new"]);
        assert_eq!(found(&["b", "tags[0]", "new"]), ["gone", "tags"]);
    }
}
