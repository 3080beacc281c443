//! A value on the way along a path, with its shape, and what stands below it.

use blueprint::{Map, Value};

use crate::shape::{FieldShape, StructShape, ValueShape};

/// A value with its shape.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Item {
    /// The document itself is null: it is nothing at all, not a value that is null.
    Nothing,
    /// A value.
    Shaped(Value, &'static ValueShape),
    /// What a step into an unknown value gives: an unknown value, and nobody knows whether it is
    /// there at all.
    Beyond(Value),
}

/// What a step sees of an item. Secret marks are taken off; what is below gets them again.
pub(crate) enum Seen<'a> {
    /// Nothing at all.
    Nothing,
    /// Null.
    Null,
    /// A value that is not known yet.
    Unknown,
    /// A text.
    Text(&'a str),
    /// Elements of a shape.
    List(&'a [Value], &'static ValueShape),
    /// Entries of a map with a shape.
    Map(&'a Map, &'static ValueShape),
    /// Fields; the map has those that the document sets.
    Struct(Option<&'a Map>, &'static StructShape),
    /// A value with nothing below it.
    Leaf,
}

impl Item {
    /// A document: null is nothing.
    pub(crate) fn document(value: &Value, shape: &'static ValueShape) -> Item {
        match (value, shape) {
            (Value::Null, ValueShape::Data) => Item::Nothing,
            _ => Item::Shaped(value.clone(), shape),
        }
    }

    /// A value without a shape.
    pub(crate) fn data(value: Value) -> Item {
        Item::Shaped(value, &ValueShape::Data)
    }

    /// What a step sees, and whether it is secret.
    pub(crate) fn seen(&self) -> (Seen<'_>, bool) {
        match self {
            Item::Nothing => (Seen::Nothing, false),
            Item::Shaped(value, shape) => {
                let (value, secret) = value.split_secret();
                (seen(value, shape), secret)
            }
            Item::Beyond(value) => (Seen::Unknown, value.split_secret().1),
        }
    }

    /// The value as it is printed.
    pub(crate) fn value(&self) -> Value {
        match self {
            Item::Nothing => Value::Null,
            Item::Shaped(value, shape) => shape.serialised(value),
            Item::Beyond(value) => value.clone(),
        }
    }

    /// The same item, secret if `secret` is true.
    pub(crate) fn tainted(self, secret: bool) -> Item {
        match self {
            Item::Nothing => Item::Nothing,
            Item::Shaped(value, shape) => Item::Shaped(value.tainted(secret), shape),
            Item::Beyond(value) => Item::Beyond(value.tainted(secret)),
        }
    }

    /// What a step into this unknown item gives.
    pub(crate) fn beyond(&self) -> Item {
        match self {
            Item::Shaped(value, _) => {
                Item::Beyond(value.as_unknown().tainted(value.split_secret().1))
            }
            other => other.clone(),
        }
    }

    /// The field or entry with a name.
    pub(crate) fn field(&self, name: &str) -> Option<Item> {
        let (seen, secret) = self.seen();
        let found = match seen {
            Seen::Unknown => return Some(self.beyond()),
            Seen::Map(entries, shape) => {
                Item::Shaped(entries.get(name)?.clone(), shape.entry(name))
            }
            Seen::Struct(entries, shape) => struct_field(entries, shape, name)?,
            _ => return None,
        };
        Some(found.tainted(secret))
    }

    /// Everything directly below, entries of maps sorted by key. A text has its bytes.
    pub(crate) fn children(&self) -> Vec<Item> {
        let (seen, secret) = self.seen();
        let children: Vec<Item> = match seen {
            Seen::List(items, shape) => items
                .iter()
                .map(|item| Item::Shaped(item.clone(), shape))
                .collect(),
            Seen::Map(entries, shape) => {
                let mut entries: Vec<_> = entries.iter().collect();
                entries.sort_by_key(|(key, _)| *key);
                entries
                    .into_iter()
                    .map(|(key, value)| Item::Shaped(value.clone(), shape.entry(key)))
                    .collect()
            }
            Seen::Struct(entries, shape) => shape
                .fields
                .iter()
                .map(|field| field_item(entries, field))
                .collect(),
            Seen::Text(text) => text
                .bytes()
                .map(|byte| Item::data(Value::Int(i64::from(byte))))
                .collect(),
            _ => Vec::new(),
        };
        children
            .into_iter()
            .map(|child| child.tainted(secret))
            .collect()
    }

    /// Whether there is anything directly below.
    pub(crate) fn has_children(&self) -> bool {
        match self.seen().0 {
            Seen::List(items, _) => !items.is_empty(),
            Seen::Map(entries, _) => !entries.is_empty(),
            Seen::Struct(_, shape) => !shape.fields.is_empty(),
            Seen::Text(text) => !text.is_empty(),
            _ => false,
        }
    }
}

fn seen<'a>(value: &'a Value, shape: &'static ValueShape) -> Seen<'a> {
    match (value, shape) {
        (Value::Unknown(_), _) => Seen::Unknown,
        (Value::Null, ValueShape::Text) => Seen::Text(""),
        (Value::Null, ValueShape::Int | ValueShape::Flag | ValueShape::Opaque) => Seen::Leaf,
        (Value::Null, ValueShape::List(shape)) => Seen::List(&[], shape),
        (Value::Null, ValueShape::Struct(shape)) => Seen::Struct(None, shape),
        (Value::Null, _) => Seen::Null,
        (_, ValueShape::Opaque) => Seen::Leaf,
        (_, ValueShape::Optional(shape)) => seen(value, shape),
        (Value::Map(entries), ValueShape::Struct(shape)) => Seen::Struct(Some(entries), shape),
        (Value::Map(entries), shape) => Seen::Map(entries, shape),
        (Value::List(items), ValueShape::List(shape)) => Seen::List(items, shape),
        (Value::List(items) | Value::Set(items), _) => Seen::List(items, &ValueShape::Data),
        (Value::Text(text), _) => Seen::Text(text),
        _ => Seen::Leaf,
    }
}

/// A field by its name in documents; else one of the fields that count as fields of this type; else
/// a field by its name in code.
fn struct_field(entries: Option<&Map>, shape: &'static StructShape, name: &str) -> Option<Item> {
    if let Some(field) = shape.fields.iter().find(|field| field.name == name) {
        return Some(field_item(entries, field));
    }
    let inline = shape
        .fields
        .iter()
        .rev()
        .find(|field| field.name.is_empty());
    if let Some(ValueShape::Struct(inner)) = inline.map(|field| &field.shape)
        && let Some(found) = struct_field(entries, inner, name)
    {
        return Some(found);
    }
    code_field(entries, shape, name)
}

/// A field by its name in code: of this type, else of a type that is embedded in it.
fn code_field(entries: Option<&Map>, shape: &'static StructShape, name: &str) -> Option<Item> {
    if let Some(field) = shape.fields.iter().find(|field| field.code_name == name) {
        return Some(field_item(entries, field));
    }
    shape
        .fields
        .iter()
        .filter(|field| field.embedded)
        .find_map(|field| match field.shape {
            ValueShape::Struct(inner) => {
                let Item::Shaped(value, _) = field_item(entries, field) else {
                    return None;
                };
                code_field(value.as_map(), inner, name)
            }
            _ => None,
        })
}

fn field_item(entries: Option<&Map>, field: &'static FieldShape) -> Item {
    let value = match (entries, field.name) {
        (None, _) => Value::Null,
        // The fields of this field stand among those of the outer type.
        (Some(entries), "") => Value::Map(std::sync::Arc::new(entries.clone())),
        (Some(entries), name) => entries.get(name).cloned().unwrap_or_default(),
    };
    Item::Shaped(value, &field.shape)
}
