//! What differs between two specs, leaf by leaf, read with the schema in hand.
//!
//! Not here: what follows from a difference (`draft`).

use std::sync::Arc;

use blueprint::{Field, Kind, Map, Schema, Value};
use serde::{Deserialize, Serialize};

/// One leaf that differs: a scalar, or an empty list or map.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// Its path: `spec.a.b[0]`.
    pub path: String,
    /// What was there; nothing if it is new.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Value>,
    /// What will be there; nothing if it goes away. May be Unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Value>,
    /// The thing must be made anew because of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub forces: bool,
}

/// Whether two values are the same to a person: marks do not count, nor does 1 against 1.0.
pub(crate) fn same(a: &Value, b: &Value) -> bool {
    match (a.bare(), b.bare()) {
        (Value::Int(a), Value::Float(b)) | (Value::Float(b), Value::Int(a)) => *a as f64 == *b,
        (Value::List(a) | Value::Set(a), Value::List(b) | Value::Set(b)) => {
            Arc::ptr_eq(a, b) || a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| same(a, b))
        }
        (Value::Map(a), Value::Map(b)) => Arc::ptr_eq(a, b) || same_map(a, b),
        (a, b) => a == b,
    }
}

fn same_map(a: &Map, b: &Map) -> bool {
    let present = |map: &Map| map.values().filter(|value| !value.is_null()).count();
    present(a) == present(b)
        && a.iter().filter(|(_, value)| !value.is_null()).all(|(key, value)| b.get(key).is_some_and(|other| same(value, other)))
}

/// Whether two values of a field are the same to its provider: order does not count in sets and keyed lists.
pub(crate) fn same_field(field: &Field, a: &Value, b: &Value) -> bool {
    let unordered = field.set || field.keyed_by.is_some();
    match (a.bare(), b.bare()) {
        (Value::List(a) | Value::Set(a), Value::List(b) | Value::Set(b)) if unordered => {
            let fits = |x: &[Value], y: &[Value]| x.iter().all(|item| y.iter().any(|other| same(item, other)));
            fits(a, b) && fits(b, a)
        }
        (Value::List(a) | Value::Set(a), Value::List(b) | Value::Set(b)) => match &field.kind {
            Kind::Array(item) => a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| same_field(item, a, b)),
            _ => same(&Value::List(a.clone()), &Value::List(b.clone())),
        },
        (Value::Map(x), Value::Map(y)) => {
            let of = |key: &str| match &field.kind {
                Kind::Object(schema) => schema.fields.get(key),
                Kind::Map(value) => Some(value.as_ref()),
                _ => None,
            };
            let present = |map: &Map| map.values().filter(|value| !value.is_null()).count();
            present(x) == present(y)
                && x.iter().filter(|(_, value)| !value.is_null()).all(|(key, value)| {
                    y.get(key).is_some_and(|other| match of(key) {
                        Some(field) => same_field(field, value, other),
                        None => same(value, other),
                    })
                })
        }
        (a, b) => same(a, b),
    }
}

/// The differences between two specs, in the order of the wanted one, then what goes away.
pub(crate) fn differences(schema: &Schema, before: &Value, after: &Value, changes: &mut Vec<Change>) {
    let empty = Map::default();
    let before = before.as_map().unwrap_or(&empty);
    let after = after.as_map().unwrap_or(&empty);
    let mut path = String::from("spec");
    map(before, after, |key| schema.fields.get(key), &mut path, false, changes);
}

fn map<'s>(
    before: &Map,
    after: &Map,
    field_of: impl Fn(&str) -> Option<&'s Field>,
    path: &mut String,
    forces: bool,
    changes: &mut Vec<Change>,
) {
    let length = path.len();
    let there = |map: &'_ Map, key: &str, field: Option<&Field>| {
        map.get(key).filter(|value| !value.is_null() || field.is_some_and(|field| field.nullable)).cloned()
    };
    for key in after.keys() {
        let field = field_of(key);
        step(path, key);
        value(there(before, key, field), there(after, key, field), field, path, forces, changes);
        path.truncate(length);
    }
    for key in before.keys().filter(|key| !after.contains_key(*key)) {
        let field = field_of(key);
        step(path, key);
        value(there(before, key, field), None, field, path, forces, changes);
        path.truncate(length);
    }
}

fn step(path: &mut String, key: &str) {
    if key.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-') && !key.is_empty() {
        path.push('.');
        path.push_str(key);
    } else {
        path.push_str("[\"");
        path.push_str(key);
        path.push_str("\"]");
    }
}

fn value(
    before: Option<Value>,
    after: Option<Value>,
    field: Option<&Field>,
    path: &mut String,
    forces: bool,
    changes: &mut Vec<Change>,
) {
    let forces = forces || field.is_some_and(|field| field.must_recreate);
    match (before, after) {
        (None, None) => {}
        (None, Some(after)) => leaves(after, false, path, forces, changes, false),
        (Some(before), None) => leaves(before, false, path, forces, changes, true),
        (Some(before), Some(after)) => {
            let equal = match field {
                Some(field) => same_field(field, &before, &after),
                None => same(&before, &after),
            };
            if equal {
                return;
            }
            match (&before, &after) {
                (Value::Map(old), Value::Map(new)) if !old.is_empty() && !new.is_empty() => {
                    let of = |key: &str| match field.map(|field| &field.kind) {
                        Some(Kind::Object(schema)) => schema.fields.get(key),
                        Some(Kind::Map(value)) => Some(value.as_ref()),
                        _ => None,
                    };
                    map(old, new, of, path, forces, changes);
                }
                (Value::List(old) | Value::Set(old), Value::List(new) | Value::Set(new)) if !old.is_empty() && !new.is_empty() => {
                    let item = match field.map(|field| &field.kind) {
                        Some(Kind::Array(item)) => Some(item.as_ref()),
                        _ => None,
                    };
                    let length = path.len();
                    for at in 0..old.len().max(new.len()) {
                        path.push_str(&format!("[{at}]"));
                        value(old.get(at).cloned(), new.get(at).cloned(), item, path, forces, changes);
                        path.truncate(length);
                    }
                }
                _ if is_leaf(&before) && is_leaf(&after) => {
                    changes.push(Change { path: path.clone(), before: Some(before), after: Some(after), forces });
                }
                _ => {
                    leaves(before, false, path, forces, changes, true);
                    leaves(after, false, path, forces, changes, false);
                }
            }
        }
    }
}

fn is_leaf(value: &Value) -> bool {
    match value {
        Value::List(items) | Value::Set(items) => items.is_empty(),
        Value::Map(entries) => entries.is_empty(),
        _ => true,
    }
}

/// Every leaf of a value as coming or going.
fn leaves(value: Value, nested: bool, path: &mut String, forces: bool, changes: &mut Vec<Change>, going: bool) {
    let length = path.len();
    match &value {
        Value::Map(entries) if !entries.is_empty() => {
            for (key, value) in entries.iter().filter(|(_, value)| !value.is_null() || !nested && entries.len() == 1) {
                step(path, key);
                leaves(value.clone(), true, path, forces, changes, going);
                path.truncate(length);
            }
        }
        Value::List(items) | Value::Set(items) if !items.is_empty() => {
            for (at, item) in items.iter().enumerate() {
                path.push_str(&format!("[{at}]"));
                leaves(item.clone(), true, path, forces, changes, going);
                path.truncate(length);
            }
        }
        _ => {
            let (before, after) = if going { (Some(value), None) } else { (None, Some(value)) };
            changes.push(Change { path: path.clone(), before, after, forces });
        }
    }
}

/// `value` with the secret marks that `like` has at the same paths, and those of the schema's sensitive fields.
pub(crate) fn mark_like(value: &Value, like: Option<&Value>, field: Option<&Field>) -> Value {
    if field.is_some_and(|field| field.sensitive) || matches!(like, Some(Value::Secret(_))) {
        return value.clone().secret();
    }
    match value {
        Value::Map(entries) => {
            let nested = |key: &str| match field.map(|field| &field.kind) {
                Some(Kind::Object(schema)) => schema.fields.get(key),
                Some(Kind::Map(value)) => Some(value.as_ref()),
                _ => None,
            };
            let marks = like.is_some_and(Value::has_secret) || has_sensitive(field);
            if !marks {
                return value.clone();
            }
            Value::map(entries.iter().map(|(key, value)| {
                (key.clone(), mark_like(value, like.and_then(|like| like.get(key)), nested(key)))
            }))
        }
        Value::List(items) | Value::Set(items) => {
            if !(like.is_some_and(Value::has_secret) || has_sensitive(field)) {
                return value.clone();
            }
            let other = like.and_then(Value::as_list);
            // A list of another length may have moved its secrets: none of it is shown.
            if other.is_some_and(|other| other.len() != items.len()) {
                return value.clone().secret();
            }
            let item_field = match field.map(|field| &field.kind) {
                Some(Kind::Array(item)) => Some(item.as_ref()),
                _ => None,
            };
            Value::list(items.iter().enumerate().map(|(at, item)| mark_like(item, other.and_then(|other| other.get(at)), item_field)))
        }
        other => other.clone(),
    }
}

/// Whether a field or anything in it is sensitive by the schema.
pub(crate) fn has_sensitive(field: Option<&Field>) -> bool {
    field.is_some_and(|field| {
        field.sensitive
            || match &field.kind {
                Kind::Array(inner) | Kind::Map(inner) => has_sensitive(Some(inner)),
                Kind::Object(schema) => schema.fields.values().any(|field| has_sensitive(Some(field))),
                Kind::Union(fields) => fields.iter().any(|field| has_sensitive(Some(field))),
                _ => false,
            }
    })
}

/// The fields of a thing with the marks of a former answer and of the schema.
pub(crate) fn mark_fields(schema: &Schema, fields: &Value, like: &Value) -> Value {
    let Some(entries) = fields.as_map() else { return fields.clone() };
    if !like.has_secret() && !schema.fields.values().any(|field| has_sensitive(Some(field))) {
        return fields.clone();
    }
    Value::map(
        entries.iter().map(|(key, value)| (key.clone(), mark_like(value, like.get(key), schema.fields.get(key.as_ref())))),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changes(before: &str, after: &str) -> Vec<String> {
        let read = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        let mut changes = Vec::new();
        differences(&Schema::default(), &read(before), &read(after), &mut changes);
        let show = |value: &Option<Value>| value.as_ref().map_or("-".to_owned(), |value| value.to_string());
        changes.iter().map(|change| format!("{} {} {}", change.path, show(&change.before), show(&change.after))).collect()
    }

    #[test]
    fn only_leaves_that_differ_are_named() {
        assert_eq!(changes(r#"{"a":{"b":1,"c":[1,2]}}"#, r#"{"a":{"b":1,"c":[1,3,4]}}"#), ["spec.a.c[1] 2 3", "spec.a.c[2] - 4"]);
        assert_eq!(changes(r#"{"a":1}"#, r#"{"a":1.0,"b":[]}"#), ["spec.b - []"]);
        assert_eq!(changes(r#"{"a":{"x":1}}"#, r#"{"a":2}"#), ["spec.a.x 1 -", "spec.a - 2"]);
        assert_eq!(changes(r#"{"b":1,"a":2}"#, r#"{"a":2,"b":1}"#), Vec::<String>::new());
    }
}
