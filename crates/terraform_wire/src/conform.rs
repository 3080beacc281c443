//! Converts a value to the shape of a schema: every attribute is present, blocks are never null,
//! sets have no repetition, numbers and booleans are texts where texts are expected.
//!
//! A value that cannot be converted stays unchanged; its encoding then fails with its path.

use std::sync::Arc;

use blueprint::Value;

use crate::number::Decimal;
use crate::{AttributeKind, Block, BlockType, Nesting, SchemaAttribute, ValueType, sets};

/// Converts a value to the shape of a block. Null stays null; a missing attribute becomes null; a
/// missing block becomes empty, as does a null block that must not be null.
pub fn conform(block: &Block, value: &Value) -> Value {
    let (bare, secret) = value.split_secret();
    let Value::Map(entries) = bare else {
        return value.clone();
    };
    let mut map = blueprint::Map::with_capacity(block.attributes.len() + block.blocks.len());
    for (name, attribute) in &block.attributes {
        let part = entries.get(name).unwrap_or(&Value::Null);
        map.insert(name.clone(), conform_attribute(attribute, part));
    }
    for (name, inner) in &block.blocks {
        let part = entries.get(name).unwrap_or(&Value::Null);
        map.insert(name.clone(), conform_blocks(inner, part));
    }
    for (name, part) in entries
        .iter()
        .filter(|(name, _)| !map.contains_key(name))
        .collect::<Vec<_>>()
    {
        map.insert(name.clone(), part.clone());
    }
    Value::Map(Arc::new(map)).tainted(secret)
}

fn conform_attribute(attribute: &SchemaAttribute, value: &Value) -> Value {
    let AttributeKind::Nested(object) = &attribute.kind else {
        return conform_to(&attribute.ty(), value);
    };
    conform_places(object.nesting, &object.ty(), value, &|part| {
        let (bare, secret) = part.split_secret();
        let Value::Map(entries) = bare else {
            return part.clone();
        };
        let own = object.attributes.iter().map(|(name, attribute)| {
            (
                name.clone(),
                conform_attribute(attribute, entries.get(name).unwrap_or(&Value::Null)),
            )
        });
        let others = entries
            .iter()
            .filter(|(name, _)| !object.attributes.contains_key(*name));
        Value::map(own.chain(others.map(|(name, part)| (name.clone(), part.clone()))))
            .tainted(secret)
    })
}

fn conform_blocks(inner: &BlockType, value: &Value) -> Value {
    if value.is_null() {
        return inner.empty();
    }
    conform_places(inner.nesting, &inner.block.ty(), value, &|part| {
        conform(&inner.block, part)
    })
}

fn conform_places(
    nesting: Nesting,
    ty: &ValueType,
    value: &Value,
    one: &dyn Fn(&Value) -> Value,
) -> Value {
    let (bare, secret) = value.split_secret();
    let shaped = match (nesting, bare) {
        (Nesting::Single | Nesting::Group, _) => return one(value),
        (Nesting::List, Value::List(items) | Value::Set(items)) => {
            Value::list(items.iter().map(one))
        }
        (Nesting::Set, Value::List(items) | Value::Set(items)) => Value::Set(Arc::new(
            sets::distinct(items.iter().map(one).collect(), ty),
        )),
        (Nesting::Map, Value::Map(entries)) => {
            Value::map(entries.iter().map(|(key, part)| (key.clone(), one(part))))
        }
        _ => return value.clone(),
    };
    shaped.tainted(secret)
}

/// Converts a value to the shape of a type.
pub fn conform_to(ty: &ValueType, value: &Value) -> Value {
    let (bare, secret) = value.split_secret();
    let shaped = match (ty, bare) {
        (_, Value::Null | Value::Unknown(_)) => return value.clone(),
        (ValueType::String, Value::Bool(flag)) => Value::text(flag.to_string()),
        (ValueType::String, Value::Int(_) | Value::Float(_) | Value::Decimal(_)) => {
            match Decimal::of(bare) {
                Some(number) => Value::text(number.text()),
                None => return value.clone(),
            }
        }
        (ValueType::Number, Value::Text(text)) => match Decimal::parse(text) {
            Some(number) => number.value(),
            None => return value.clone(),
        },
        (ValueType::Bool, Value::Text(text)) => match text.as_ref() {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            _ => return value.clone(),
        },
        (ValueType::List(item), Value::List(items) | Value::Set(items)) => {
            Value::list(items.iter().map(|part| conform_to(item, part)))
        }
        (ValueType::Set(element), Value::List(items) | Value::Set(items)) => {
            let items = items.iter().map(|part| conform_to(element, part)).collect();
            Value::Set(Arc::new(sets::distinct(items, element)))
        }
        (ValueType::Tuple(types), Value::List(items)) => {
            let of = |at: usize| types.get(at).unwrap_or(&ValueType::Dynamic);
            Value::list(
                items
                    .iter()
                    .enumerate()
                    .map(|(at, part)| conform_to(of(at), part)),
            )
        }
        (ValueType::Map(inner), Value::Map(entries)) => Value::map(
            entries
                .iter()
                .map(|(key, part)| (key.clone(), conform_to(inner, part))),
        ),
        (ValueType::Object(attributes), Value::Map(entries)) => {
            let own = attributes.iter().map(|(name, ty)| {
                (
                    name.clone(),
                    conform_to(ty, entries.get(name).unwrap_or(&Value::Null)),
                )
            });
            let others = entries
                .iter()
                .filter(|(name, _)| !attributes.contains_key(*name));
            Value::map(own.chain(others.map(|(name, part)| (name.clone(), part.clone()))))
        }
        _ => return value.clone(),
    };
    shaped.tainted(secret)
}
