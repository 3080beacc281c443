//! Drops the fields that a schema does not declare.

use blueprint::{FieldPath, Map, PathStep, Value};

use super::metadata::META_FIELDS;
use super::node::{OtherFields, SchemaNode, Undeclared};
use super::rebuild::{EntryChange, changed_list, changed_map, like, map_like};

/// Lists inside lists without a schema are not looked at below this depth.
const DEEPEST: usize = 128;

/// An object without the fields that its schema does not declare.
#[derive(Clone, Debug, PartialEq)]
pub struct PrunedObject {
    /// The object.
    pub object: Value,
    /// The dropped fields, in the order of the object. An API server that checks fields strictly
    /// refuses an object with any.
    pub dropped: Vec<FieldPath>,
}

/// Drops what the schema of a whole object does not declare.
pub(crate) fn prune(root: &SchemaNode, metadata: &SchemaNode, object: &Value) -> PrunedObject {
    let mut pruner = Pruner {
        metadata,
        path: Vec::new(),
        dropped: Vec::new(),
    };
    let object = match (object.as_map(), root.undeclared) {
        (Some(entries), Undeclared::Dropped) => pruner
            .declared(root, true, entries)
            .map(|entries| map_like(object, entries)),
        (Some(entries), Undeclared::Kept) => pruner
            .kept(root, true, entries)
            .map(|entries| map_like(object, entries)),
        (None, _) => None,
    }
    .unwrap_or_else(|| object.clone());
    PrunedObject {
        object,
        dropped: pruner.dropped,
    }
}

struct Pruner<'a> {
    metadata: &'a SchemaNode,
    path: Vec<PathStep>,
    dropped: Vec<FieldPath>,
}

impl Pruner<'_> {
    /// The value without its undeclared fields; `None` if it has none.
    fn value(&mut self, node: &SchemaNode, value: &Value) -> Option<Value> {
        match value.unmarked() {
            Value::Map(entries) => {
                let entries = match node.undeclared {
                    Undeclared::Dropped => self.declared(node, node.is_resource, entries),
                    Undeclared::Kept => self.kept(node, node.is_resource, entries),
                };
                entries.map(|entries| map_like(value, entries))
            }
            Value::List(items) | Value::Set(items) => {
                let items = match (&node.items, node.undeclared) {
                    (Some(inner), _) => changed_list(items, |at, item| {
                        self.inside(PathStep::Index(at as u64), |own| own.value(inner, item))
                    }),
                    (None, Undeclared::Kept) => None,
                    (None, Undeclared::Dropped) => self.bare_items(items, 0),
                };
                items.map(|items| like(value, items))
            }
            _ => None,
        }
    }

    fn inside<T>(&mut self, step: PathStep, work: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push(step);
        let result = work(self);
        self.path.pop();
        result
    }

    fn drop_field(&mut self, name: &blueprint::Name) -> EntryChange {
        let mut path = self.path.clone();
        path.push(PathStep::Field(name.clone()));
        self.dropped.push(FieldPath(path));
        EntryChange::Drop
    }

    /// The entries of an object that keeps only declared fields.
    fn declared(&mut self, node: &SchemaNode, is_resource: bool, entries: &Map) -> Option<Map> {
        changed_map(entries, |name, value| {
            if is_resource && META_FIELDS.contains(&&**name) {
                return self.meta_field(name, value);
            }
            if let Some(inner) = node.field(name) {
                return self.field(inner, name, value);
            }
            match node.others {
                Some(OtherFields::Any) => self.inside(PathStep::Field(name.clone()), |own| {
                    changed_or_kept(own.bare(value))
                }),
                _ => self.drop_field(name),
            }
        })
    }

    /// The entries of an object that keeps all fields: only what is declared is looked into.
    fn kept(&mut self, node: &SchemaNode, is_resource: bool, entries: &Map) -> Option<Map> {
        if !is_resource && node.fields.is_empty() && node.others.is_none() {
            return None;
        }
        changed_map(entries, |name, value| {
            if is_resource && META_FIELDS.contains(&&**name) {
                return self.meta_field(name, value);
            }
            match node.field(name) {
                Some(inner) => self.field(inner, name, value),
                None => EntryChange::Keep,
            }
        })
    }

    fn field(&mut self, node: &SchemaNode, name: &blueprint::Name, value: &Value) -> EntryChange {
        self.inside(PathStep::Field(name.clone()), |own| {
            changed_or_kept(own.value(node, value))
        })
    }

    fn meta_field(&mut self, name: &blueprint::Name, value: &Value) -> EntryChange {
        if **name != *"metadata" {
            return EntryChange::Keep;
        }
        let metadata = self.metadata;
        self.field(metadata, name, value)
    }

    /// A value of which nothing is declared.
    fn bare(&mut self, value: &Value) -> Option<Value> {
        match value.unmarked() {
            Value::Map(entries) => {
                let none = changed_map(entries, |name, _| self.drop_field(name));
                none.map(|entries| map_like(value, entries))
            }
            Value::List(items) | Value::Set(items) => {
                let items = self.bare_items(items, 0);
                items.map(|items| like(value, items))
            }
            _ => None,
        }
    }

    fn bare_items(&mut self, items: &[Value], depth: usize) -> Option<Vec<Value>> {
        if depth > DEEPEST {
            return None;
        }
        changed_list(items, |at, item| {
            self.inside(PathStep::Index(at as u64), |own| match item.unmarked() {
                Value::List(items) | Value::Set(items) => {
                    let items = own.bare_items(items, depth + 1);
                    items.map(|items| like(item, items))
                }
                Value::Map(_) => own.bare(item),
                _ => None,
            })
        })
    }
}

fn changed_or_kept(value: Option<Value>) -> EntryChange {
    match value {
        Some(value) => EntryChange::Replace(value),
        None => EntryChange::Keep,
    }
}
