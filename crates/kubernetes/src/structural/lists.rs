//! Lists whose items are different from each other.

use std::collections::BTreeSet;

use blueprint::{Name, Value};

use super::node::{ListKind, SchemaNode};
use super::numbers::identity;

/// The positions of the items that repeat an earlier one, each with what is repeated as a value.
pub(crate) fn repeated(node: &SchemaNode, items: &[Value]) -> Vec<(usize, Value)> {
    let mut known = BTreeSet::new();
    let mut found = Vec::new();
    for (at, item) in items.iter().enumerate() {
        let key = match &node.list {
            ListKind::Free => return found,
            ListKind::Set => Some(item.clone()),
            ListKind::Map(keys) => keys_of(node, keys, item),
        };
        if let Some(key) = key
            && let Some(identity) = identity(&key)
            && !known.insert(identity)
        {
            found.push((at, key));
        }
    }
    found
}

/// The key fields of an item, with their defaults; `None` if it is no object.
fn keys_of(node: &SchemaNode, keys: &[Name], item: &Value) -> Option<Value> {
    let entries = item.as_map()?;
    let value = |key: &Name| {
        let field = node.items.as_ref().and_then(|items| items.field(key));
        let default = field.and_then(|field| field.default.as_ref());
        let value = entries.get(key).or(default)?;
        Some((key.clone(), value.clone()))
    };
    let keys = keys.iter().filter_map(value);
    Some(Value::map(keys).tainted(item.has_secret()))
}
