//! Copies of maps and lists that share everything that does not change.

use std::sync::Arc;

use blueprint::{Map, Name, Value};

/// What becomes of an entry.
pub(crate) enum EntryChange {
    Keep,
    Drop,
    Replace(Value),
}

/// The map with its entries changed; `None` if all stay.
pub(crate) fn changed_map(
    entries: &Map,
    mut change: impl FnMut(&Name, &Value) -> EntryChange,
) -> Option<Map> {
    let mut copy: Option<Map> = None;
    for (at, (key, value)) in entries.iter().enumerate() {
        let change = change(key, value);
        if matches!(change, EntryChange::Keep) && copy.is_none() {
            continue;
        }
        let kept = || {
            entries
                .iter()
                .take(at)
                .map(|(key, value)| (key.clone(), value.clone()))
        };
        let copy = copy.get_or_insert_with(|| kept().collect());
        match change {
            EntryChange::Drop => {}
            EntryChange::Keep => {
                copy.insert(key.clone(), value.clone());
            }
            EntryChange::Replace(value) => {
                copy.insert(key.clone(), value);
            }
        }
    }
    copy
}

/// The list with its items changed; `None` if all stay. `change` returns the new value of an item
/// that does not stay.
pub(crate) fn changed_list(
    items: &[Value],
    mut change: impl FnMut(usize, &Value) -> Option<Value>,
) -> Option<Vec<Value>> {
    let mut copy: Option<Vec<Value>> = None;
    for (at, item) in items.iter().enumerate() {
        if let Some(value) = change(at, item) {
            copy.get_or_insert_with(|| items.to_vec())[at] = value;
        }
    }
    copy
}

/// A value with the same secret mark and kind of list as another one.
pub(crate) fn like(original: &Value, list: Vec<Value>) -> Value {
    let list = Arc::new(list);
    let (inner, is_secret) = original.split_secret();
    let value = match inner {
        Value::Set(_) => Value::Set(list),
        _ => Value::List(list),
    };
    value.tainted(is_secret)
}

/// A map with the same secret mark as another value.
pub(crate) fn map_like(original: &Value, entries: Map) -> Value {
    Value::Map(Arc::new(entries)).tainted(original.split_secret().1)
}
