//! Adds defaults, and removes nulls that mean a missing field.

use blueprint::{Map, Value};

use super::node::SchemaNode;
use super::rebuild::{EntryChange, changed_list, changed_map, like, map_like};

/// The whole object with the defaults of its schema.
pub(crate) fn with_defaults(root: &SchemaNode, metadata: &SchemaNode, object: &Value) -> Value {
    let filler = DefaultFiller { metadata };
    match object.as_map() {
        Some(entries) => match filler.entries(root, true, entries) {
            Some(entries) => map_like(object, entries),
            None => object.clone(),
        },
        None => object.clone(),
    }
}

struct DefaultFiller<'a> {
    metadata: &'a SchemaNode,
}

impl DefaultFiller<'_> {
    /// The value with defaults; `None` if it stays as it is.
    fn value(&self, node: &SchemaNode, value: &Value) -> Option<Value> {
        match value.unmarked() {
            Value::Map(entries) => {
                let entries = self.entries(node, node.is_resource, entries);
                entries.map(|entries| map_like(value, entries))
            }
            Value::List(items) | Value::Set(items) => {
                let inner = node.items.as_deref()?;
                let items = changed_list(items, |_, item| {
                    let default = inner.default.as_ref();
                    let default = default.filter(|_| inner.takes_as_missing(item));
                    self.filled(inner, item, default)
                });
                items.map(|items| like(value, items))
            }
            _ => None,
        }
    }

    /// A default, or a value, with the defaults inside it; `None` if the value stays as it is.
    fn filled(&self, node: &SchemaNode, value: &Value, default: Option<&Value>) -> Option<Value> {
        match default {
            Some(default) => Some(self.value(node, default).unwrap_or_else(|| default.clone())),
            None => self.value(node, value),
        }
    }

    fn entries(&self, node: &SchemaNode, is_resource: bool, entries: &Map) -> Option<Map> {
        let changed = changed_map(entries, |name, value| {
            let inner = match node.field(name) {
                _ if is_resource && **name == *"metadata" => self.metadata,
                Some(inner) => inner,
                None => return EntryChange::Keep,
            };
            let is_missing = inner.takes_as_missing(value);
            match &inner.default {
                None if is_missing => EntryChange::Drop,
                default => {
                    let default = default.as_ref().filter(|_| is_missing);
                    match self.filled(inner, value, default) {
                        Some(value) => EntryChange::Replace(value),
                        None => EntryChange::Keep,
                    }
                }
            }
        });
        let mut result = changed;
        for (name, inner) in node.fields.iter() {
            let Some(default) = &inner.default else {
                continue;
            };
            if result.as_ref().unwrap_or(entries).contains_key(name) {
                continue;
            }
            let value = self
                .value(inner, default)
                .unwrap_or_else(|| default.clone());
            result
                .get_or_insert_with(|| entries.clone())
                .insert(name.clone(), value);
        }
        result
    }
}
