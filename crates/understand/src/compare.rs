//! Compares two specs leaf by leaf, by the schema.
//!
//! Not here: the consequences of a difference (`plan::drafting`).

use std::sync::Arc;

use blueprint::{Field, FieldPath, Kind, Map, PathStep, Schema, Value};

pub use crate::change::{Change, ListChange};
use crate::change::{push_index, push_key};

/// A set of texts with a fixed hash, so that nothing depends on a random seed.
type TextSet = std::collections::HashSet<String, foldhash::fast::FixedState>;

/// Positions by text, in descending order.
type Positions = std::collections::HashMap<String, Vec<usize>, foldhash::fast::FixedState>;

/// Whether two values are equal to a person: secret marks do not count, and 1 equals 1.0.
pub fn same(a: &Value, b: &Value) -> bool {
    match (a.unmarked(), b.unmarked()) {
        (Value::Int(a), Value::Float(b)) | (Value::Float(b), Value::Int(a)) => *a as f64 == *b,
        (Value::List(a) | Value::Set(a), Value::List(b) | Value::Set(b)) => {
            Arc::ptr_eq(a, b)
                || a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| same(a, b))
        }
        (Value::Map(a), Value::Map(b)) => Arc::ptr_eq(a, b) || same_map(a, b),
        // NaN keeps a promised NaN, although it equals no number.
        (Value::Float(a), Value::Float(b)) if a.is_nan() && b.is_nan() => true,
        (a, b) => a == b,
    }
}

fn same_map(a: &Map, b: &Map) -> bool {
    let present = |map: &Map| map.values().filter(|value| !value.is_null()).count();
    present(a) == present(b)
        && a.iter()
            .filter(|(_, value)| !value.is_null())
            .all(|(key, value)| b.get(key).is_some_and(|other| same(value, other)))
}

/// Whether two values of a field are equal to its provider: order does not count in sets and keyed
/// lists.
pub fn same_field(field: &Field, a: &Value, b: &Value) -> bool {
    match (a.unmarked(), b.unmarked()) {
        (Value::List(a) | Value::Set(a), Value::List(b) | Value::Set(b)) if unordered(field) => {
            same_items(item_of(Some(field)), a, b)
        }
        (Value::List(a) | Value::Set(a), Value::List(b) | Value::Set(b)) => match &field.kind {
            Kind::Array(item) => {
                a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| same_field(item, a, b))
            }
            _ => same(&Value::List(a.clone()), &Value::List(b.clone())),
        },
        (Value::Map(x), Value::Map(y)) => {
            let present = |map: &Map| map.values().filter(|value| !value.is_null()).count();
            present(x) == present(y)
                && x.iter()
                    .filter(|(_, value)| !value.is_null())
                    .all(|(key, value)| {
                        y.get(key)
                            .is_some_and(|other| match entry_of(Some(field), key) {
                                Some(field) => same_field(field, value, other),
                                None => same(value, other),
                            })
                    })
        }
        (a, b) => same(a, b),
    }
}

/// Whether an answered value of a field has everything that was sent. It may also have parts that
/// the provider computes and that were not sent.
pub fn has_sent(field: &Field, answered: &Value, sent: &Value) -> bool {
    if same_field(field, answered, sent) {
        return true;
    }
    match (answered.unmarked(), sent.unmarked()) {
        (Value::Map(answered), Value::Map(sent)) => {
            let written = sent.iter().filter(|(_, value)| !value.is_null());
            let kept = written.into_iter().all(|(name, value)| {
                let now = answered.get(name).unwrap_or(&Value::Null);
                match entry_of(Some(field), name) {
                    Some(entry) => has_sent(entry, now, value),
                    None => same(now, value),
                }
            });
            let is_sent = |name: &str| sent.get(name).is_some_and(|value| !value.is_null());
            let mut others = answered
                .iter()
                .filter(|(name, value)| !value.is_null() && !is_sent(name));
            kept && others
                .all(|(name, _)| entry_of(Some(field), name).is_some_and(|entry| entry.computed))
        }
        (Value::List(answered) | Value::Set(answered), Value::List(sent) | Value::Set(sent)) => {
            let Some(item) = item_of(Some(field)).filter(|_| answered.len() == sent.len()) else {
                return false;
            };
            if !unordered(field) {
                return answered
                    .iter()
                    .zip(sent.iter())
                    .all(|(answered, sent)| has_sent(item, answered, sent));
            }
            sent.iter().all(|sent| {
                answered
                    .iter()
                    .any(|answered| has_sent(item, answered, sent))
            })
        }
        _ => false,
    }
}

/// The first place at which `after` differs from a known part of `before`. Unknown parts of
/// `before` may become anything; null in `before` promises null. `None` if `before` is null as a
/// whole.
pub fn contradiction(before: &Value, after: &Value) -> Option<FieldPath> {
    let mut path = Vec::new();
    let contradicts = !before.is_null() && contradicts(before, after, &mut path);
    contradicts.then_some(FieldPath(path))
}

fn contradicts(before: &Value, after: &Value, path: &mut Vec<PathStep>) -> bool {
    match (before.unmarked(), after.unmarked()) {
        (Value::Unknown(_), _) => false,
        (Value::Map(before), Value::Map(after)) => {
            let keys = before
                .keys()
                .chain(after.keys().filter(|key| !before.contains_key(key)));
            for key in keys {
                path.push(PathStep::Field(key.clone()));
                let null = Value::Null;
                let before = before.get(key).unwrap_or(&null);
                let after = after.get(key).unwrap_or(&null);
                if contradicts(before, after, path) {
                    return true;
                }
                path.pop();
            }
            false
        }
        (Value::List(before), Value::List(after)) if before.len() == after.len() => {
            for (at, (before, after)) in before.iter().zip(after.iter()).enumerate() {
                path.push(PathStep::Index(at as u64));
                if contradicts(before, after, path) {
                    return true;
                }
                path.pop();
            }
            false
        }
        // Items of a set with unknown parts have no counterpart to compare with.
        (Value::Set(before), Value::Set(after) | Value::List(after)) => {
            if before.iter().any(Value::has_unknown) {
                return after.len() > before.len();
            }
            let within = |one: &[Value], other: &[Value]| {
                one.iter().all(|a| other.iter().any(|b| same(a, b)))
            };
            !within(before, after) || !within(after, before)
        }
        (before, after) => !same(before, after),
    }
}

/// Whether the order and repetition of a field's items do not count.
pub(crate) fn unordered(field: &Field) -> bool {
    field.set || field.keyed_by.is_some()
}

/// Whether two lists have the same items, in any order and number.
fn same_items(item: Option<&Field>, a: &[Value], b: &[Value]) -> bool {
    let in_place =
        |(a, b): (&Value, &Value)| item.map_or_else(|| same(a, b), |item| same_field(item, a, b));
    if a.len() == b.len() && a.iter().zip(b).all(in_place) {
        return true;
    }
    let texts = |items: &[Value]| {
        items
            .iter()
            .map(|value| canonical(item, value))
            .collect::<TextSet>()
    };
    texts(a) == texts(b)
}

/// A text that is equal for two values exactly if the field's provider treats them as equal. Secret
/// marks do not count, so the text must not be shown.
pub fn canonical(field: Option<&Field>, value: &Value) -> String {
    let mut text = String::new();
    write_canonical(field, value, &mut text);
    text
}

fn write_canonical(field: Option<&Field>, value: &Value, text: &mut String) {
    let mut plain = |mark: char, plain: &str| {
        text.push(mark);
        text.push_str(&plain.len().to_string());
        text.push(':');
        text.push_str(plain);
    };
    match value.unmarked() {
        Value::Float(number) if number.fract() == 0.0 && number.abs() < i64::MAX as f64 => {
            plain('n', &(*number as i64).to_string());
        }
        Value::Int(number) => plain('n', &number.to_string()),
        Value::Float(number) => plain('f', &number.to_string()),
        Value::Decimal(number) => plain('d', number),
        Value::Text(it) => plain('t', it),
        Value::Bytes(bytes) => plain('b', &format!("{bytes:?}")),
        Value::Asset(asset) => plain('a', &format!("{asset:?}")),
        Value::Resource(address) => plain('r', &address.to_string()),
        Value::Unknown(unknown) => plain('u', &format!("{unknown:?}")),
        Value::List(items) | Value::Set(items) => {
            let texts = items.iter().map(|item| canonical(item_of(field), item));
            text.push('[');
            if field.is_some_and(unordered) {
                texts
                    .collect::<std::collections::BTreeSet<String>>()
                    .iter()
                    .for_each(|item| text.push_str(item));
            } else {
                texts.for_each(|item| text.push_str(&item));
            }
            text.push(']');
        }
        Value::Map(entries) => {
            let mut present: Vec<_> = entries
                .iter()
                .filter(|(_, value)| !value.is_null())
                .collect();
            present.sort_unstable_by_key(|(key, _)| *key);
            text.push('{');
            for (key, value) in present {
                write_canonical(None, &Value::Text(key.clone()), text);
                write_canonical(entry_of(field, key), value, text);
            }
            text.push('}');
        }
        Value::Function(function) => {
            text.push('(');
            write_canonical(None, &Value::Text(function.name.clone()), text);
            function
                .bound
                .iter()
                .for_each(|value| write_canonical(None, value, text));
            text.push(')');
        }
        // `bare` removes the secret mark, so `Secret` does not occur.
        Value::Null | Value::Secret(_) => text.push('0'),
        Value::Bool(true) => text.push('+'),
        Value::Bool(false) => text.push('-'),
    }
}

/// The field of an entry of a map or object. For a union: that of the first branch with such an
/// entry.
pub fn entry_of<'f>(field: Option<&'f Field>, key: &str) -> Option<&'f Field> {
    match &field?.kind {
        Kind::Object(schema) => schema.fields.get(key),
        Kind::Map(value) => Some(value),
        Kind::Union(branches) => branches
            .iter()
            .find_map(|branch| entry_of(Some(branch), key)),
        _ => None,
    }
}

/// The field of the items of a list. For a union: that of the first branch that is a list.
pub fn item_of(field: Option<&Field>) -> Option<&Field> {
    match &field?.kind {
        Kind::Array(item) => Some(item),
        Kind::Union(branches) => branches.iter().find_map(|branch| item_of(Some(branch))),
        _ => None,
    }
}

/// Whether a change of a field, or of anything in it, may force a replacement.
fn forces_within(field: Option<&Field>) -> bool {
    field.is_some_and(|field| {
        field.must_recreate
            || match &field.kind {
                Kind::Array(inner) | Kind::Map(inner) => forces_within(Some(inner)),
                Kind::Object(schema) => schema
                    .fields
                    .values()
                    .any(|field| forces_within(Some(field))),
                Kind::Union(branches) => branches.iter().any(|branch| forces_within(Some(branch))),
                _ => false,
            }
    })
}

/// The initial capacity for the path of a field, in bytes. Most paths are shorter.
const PATH: usize = 64;

/// Appends the differences between two specs: first in the order of `after`, then the removed
/// leaves.
pub fn differences(schema: &Schema, before: &Value, after: &Value, changes: &mut Vec<Change>) {
    let empty = Map::default();
    let before = before.as_map().unwrap_or(&empty);
    let after = after.as_map().unwrap_or(&empty);
    if changes.is_empty() && before.is_empty() {
        // A new spec has about one change per field.
        changes.reserve_exact(after.len());
    }
    let mut path = String::with_capacity(PATH);
    path.push_str("spec");
    compare_maps(
        before,
        after,
        |key| schema.fields.get(key),
        &mut path,
        false,
        changes,
    );
}

/// Appends the differences between two values at a path, by the values alone.
pub fn value_differences(
    before: Option<&Value>,
    after: Option<&Value>,
    path: &str,
    changes: &mut Vec<Change>,
) {
    let (before, after) = (before.cloned(), after.cloned());
    compare_values(before, after, None, &mut path.to_owned(), false, changes);
}

fn compare_maps<'s>(
    before: &Map,
    after: &Map,
    field_of: impl Fn(&str) -> Option<&'s Field>,
    path: &mut String,
    forces: bool,
    changes: &mut Vec<Change>,
) {
    let length = path.len();
    let written_value = |map: &'_ Map, key: &str, field: Option<&Field>| {
        map.get(key)
            .filter(|value| !value.is_null() || field.is_some_and(|field| field.nullable))
            .cloned()
    };
    for key in after.keys() {
        let field = field_of(key);
        push_key(path, key);
        compare_values(
            written_value(before, key, field),
            written_value(after, key, field),
            field,
            path,
            forces,
            changes,
        );
        path.truncate(length);
    }
    for key in before.keys().filter(|key| !after.contains_key(key)) {
        let field = field_of(key);
        push_key(path, key);
        compare_values(
            written_value(before, key, field),
            None,
            field,
            path,
            forces,
            changes,
        );
        path.truncate(length);
    }
}

fn compare_values(
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
        (None, Some(after)) => add_leaves(&after, field, false, path, forces, changes, Added),
        (Some(before), None) => add_leaves(&before, field, false, path, forces, changes, Removed),
        (Some(before), Some(after)) => {
            let equal = match field {
                Some(field) => same_field(field, &before, &after),
                None => same(&before, &after),
            };
            if equal {
                return;
            }
            match (&before, &after) {
                // Any part of an Unknown value may differ, or not.
                (_, unknown) if unknown.is_unknown() => {
                    let forces = forces || forces_within(field);
                    changes.push(Change {
                        path: path.clone(),
                        before: Some(before),
                        after: Some(after),
                        forces,
                        list: None,
                    });
                }
                (Value::Map(old), Value::Map(new)) if !old.is_empty() && !new.is_empty() => {
                    compare_maps(old, new, |key| entry_of(field, key), path, forces, changes);
                }
                (Value::List(old) | Value::Set(old), Value::List(new) | Value::Set(new)) => {
                    let first = changes.len();
                    match field.filter(|field| unordered(field)) {
                        _ if old.is_empty() || new.is_empty() => {
                            add_leaves(&before, field, false, path, forces, changes, Removed);
                            add_leaves(&after, field, false, path, forces, changes, Added);
                        }
                        Some(field) => compare_keyed_items(old, new, field, path, forces, changes),
                        None => {
                            compare_by_position(old, new, item_of(field), path, forces, changes)
                        }
                    }
                    let list = Arc::new(ListChange {
                        path: path.clone(),
                        before: before.clone(),
                        after: after.clone(),
                        ordered: !field.is_some_and(unordered),
                    });
                    // A list in a list is a part of the outer one.
                    changes
                        .iter_mut()
                        .skip(first)
                        .for_each(|change| change.list = Some(list.clone()));
                }
                // A field that is secret as a whole is one change. Its parts decide whether it
                // forces a replacement.
                (Value::Secret(_), _) | (_, Value::Secret(_)) => {
                    let mut within = Vec::new();
                    compare_values(
                        Some(before.unmarked().clone()),
                        Some(after.unmarked().clone()),
                        field,
                        path,
                        forces,
                        &mut within,
                    );
                    let forces = within.iter().any(|change| change.forces);
                    changes.push(Change {
                        path: path.clone(),
                        before: Some(before),
                        after: Some(after),
                        forces,
                        list: None,
                    });
                }
                _ if is_leaf(&before) && is_leaf(&after) => {
                    changes.push(Change {
                        path: path.clone(),
                        before: Some(before),
                        after: Some(after),
                        forces,
                        list: None,
                    });
                }
                _ => {
                    add_leaves(&before, field, false, path, forces, changes, Removed);
                    add_leaves(&after, field, false, path, forces, changes, Added);
                }
            }
        }
    }
}

/// Compares lists position by position.
fn compare_by_position(
    old: &[Value],
    new: &[Value],
    item: Option<&Field>,
    path: &mut String,
    forces: bool,
    changes: &mut Vec<Change>,
) {
    let length = path.len();
    for at in 0..old.len().max(new.len()) {
        push_index(path, at);
        compare_values(
            old.get(at).cloned(),
            new.get(at).cloned(),
            item,
            path,
            forces,
            changes,
        );
        path.truncate(length);
    }
}

/// Compares the items of a set or keyed list. Items are paired by their key, or by their whole
/// value, at any position. An item whose key is known only on deploy is paired with one of the
/// remaining old items.
fn compare_keyed_items(
    old: &[Value],
    new: &[Value],
    field: &Field,
    path: &mut String,
    forces: bool,
    changes: &mut Vec<Change>,
) {
    let item = item_of(Some(field));
    let key_of = |value: &Value| match &field.keyed_by {
        Some(key) => {
            let key = value
                .get(key)
                .filter(|key| !key.is_null() && !key.has_unknown())?;
            Some(canonical(None, key))
        }
        None if value.has_unknown() => None,
        None => Some(canonical(item, value)),
    };
    let mut by_key = Positions::default();
    for (at, value) in old.iter().enumerate().rev() {
        if let Some(key) = key_of(value) {
            by_key.entry(key).or_default().push(at);
        }
    }
    let mut unpaired = vec![true; old.len()];
    // `partners` holds the position of the old item for each new item. `open` holds the new items
    // with an unknown key.
    let mut open = Vec::new();
    let mut partners = Vec::with_capacity(new.len());
    for (at, value) in new.iter().enumerate() {
        let key = key_of(value);
        if key.is_none() && value.has_unknown() {
            open.push(at);
        }
        // In a set, one item is paired with all equal ones.
        let partner = key.and_then(|key| {
            let places = by_key.get_mut(&key)?;
            if field.set {
                places.iter().for_each(|place| unpaired[*place] = false)
            }
            if field.set {
                places.last().copied()
            } else {
                places.pop()
            }
        });
        partners.push(partner);
        if let Some(partner) = partner {
            unpaired[partner] = false;
        }
    }
    let mut rest = (0..old.len())
        .filter(|at| unpaired[*at])
        .collect::<Vec<_>>()
        .into_iter();
    for at in open {
        partners[at] = rest.next();
    }
    let length = path.len();
    let mut added_keys = TextSet::default();
    for (at, wanted) in new.iter().enumerate() {
        // A set adds a duplicate item once.
        if field.set && partners[at].is_none() && !added_keys.insert(canonical(item, wanted)) {
            continue;
        }
        push_index(path, at);
        match partners[at] {
            Some(partner) if key_of(wanted).is_none() => {
                let forces = forces || forces_within(item);
                let before = old.get(partner).cloned();
                changes.push(Change {
                    path: path.clone(),
                    before,
                    after: Some(wanted.clone()),
                    forces,
                    list: None,
                });
            }
            partner => compare_values(
                partner.and_then(|at| old.get(at)).cloned(),
                Some(wanted.clone()),
                item,
                path,
                forces,
                changes,
            ),
        }
        path.truncate(length);
    }
    for at in rest {
        push_index(path, at);
        compare_values(old.get(at).cloned(), None, item, path, forces, changes);
        path.truncate(length);
    }
}

fn is_leaf(value: &Value) -> bool {
    match value {
        Value::List(items) | Value::Set(items) => items.is_empty(),
        Value::Map(entries) => entries.is_empty(),
        _ => true,
    }
}

/// The direction of a change.
#[derive(Clone, Copy)]
enum ChangeDirection {
    Added,
    Removed,
}

use ChangeDirection::{Added, Removed};

/// Appends every leaf of a value as added or removed. `forces` already includes the value's own
/// field.
fn add_leaves(
    value: &Value,
    field: Option<&Field>,
    nested: bool,
    path: &mut String,
    forces: bool,
    changes: &mut Vec<Change>,
    direction: ChangeDirection,
) {
    let length = path.len();
    let below = |inner: Option<&Field>| forces || inner.is_some_and(|inner| inner.must_recreate);
    match value {
        Value::Map(entries) if !entries.is_empty() => {
            for (key, value) in entries
                .iter()
                .filter(|(_, value)| !value.is_null() || !nested && entries.len() == 1)
            {
                let inner = entry_of(field, key);
                push_key(path, key);
                add_leaves(value, inner, true, path, below(inner), changes, direction);
                path.truncate(length);
            }
        }
        Value::List(items) | Value::Set(items) if !items.is_empty() => {
            let inner = item_of(field);
            for (at, item) in items.iter().enumerate() {
                push_index(path, at);
                add_leaves(item, inner, true, path, below(inner), changes, direction);
                path.truncate(length);
            }
        }
        _ => {
            // An Unknown or secret value may contain anything that the field allows.
            let opaque = matches!(value, Value::Unknown(_) | Value::Secret(_));
            let forces = forces || opaque && forces_within(field);
            let (before, after) = match direction {
                Removed => (Some(value.clone()), None),
                Added => (None, Some(value.clone())),
            };
            changes.push(Change {
                path: path.clone(),
                before,
                after,
                forces,
                list: None,
            });
        }
    }
}

/// The value with the part at a path as it is in another value. A part that the other value lacks is
/// removed. An item of a list that either value lacks stays, and so does everything if the path leads
/// through no value.
pub fn with_path_of(value: &Value, other: &Value, path: &str) -> Value {
    with_part_of(value, other, &FieldPath::parse(path).0)
}

fn with_part_of(value: &Value, other: &Value, steps: &[PathStep]) -> Value {
    let Some((step, rest)) = steps.split_first() else {
        return other.clone();
    };
    let (bare, secret) = value.split_secret();
    let hidden = matches!(other, Value::Secret(_)) && !secret;
    let changed = match (step, bare, other.unmarked()) {
        (step, Value::List(items), Value::List(others)) => {
            let is_meant = |at: usize| match step {
                PathStep::Index(index) => usize::try_from(*index) == Ok(at),
                step => step.is_every(),
            };
            let items = items.iter().enumerate().map(|(at, item)| {
                match others.get(at).filter(|_| is_meant(at)) {
                    Some(theirs) => with_part_of(item, theirs, rest),
                    None => item.clone(),
                }
            });
            Value::list(items)
        }
        (PathStep::Field(name) | PathStep::Key(name), Value::Map(_) | Value::Null, _) => {
            let own = bare.as_map().cloned().unwrap_or_default();
            let entry = |name: &str| match (own.get(name), other.get(name)) {
                (Some(own), Some(theirs)) => Some(with_part_of(own, theirs, rest).tainted(hidden)),
                // Only the end of a path adds or removes an entry.
                (own, _) if !rest.is_empty() => own.cloned(),
                (_, theirs) => theirs.map(|theirs| theirs.clone().tainted(hidden)),
            };
            let map: Map = if step.is_every() {
                let theirs = other.as_map().into_iter().flat_map(Map::keys);
                let names = own.keys().chain(theirs);
                let entries = names.filter_map(|name| Some((name.clone(), entry(name)?)));
                entries.collect()
            } else {
                let new = entry(name);
                let mut map = own.clone();
                match new {
                    Some(new) => drop(map.insert(name.clone(), new)),
                    None => drop(map.shift_remove(name)),
                }
                map
            };
            // A path through nothing makes no map.
            match bare.is_null() && map.is_empty() {
                true => Value::Null,
                false => Value::Map(Arc::new(map)),
            }
        }
        _ => return value.clone(),
    };
    changed.tainted(secret)
}

#[cfg(test)]
mod tests;
