//! Conversions between data values, values of a program, and YAML nodes.

use std::cell::RefCell;
use std::rc::Rc;

use blueprint::{IndexMap, Map, Name, Unknown, Value};

use crate::go_float;
use crate::halt::{Evaluated, Halted, fail};
use crate::heap::{DictEntries, Heap};
use crate::keys;
use crate::value::{NodeRef, StarKey, StarValue, StructKind, YamlNode};
use crate::yaml_tree::{SourceNode, YamlKind, YamlScalar};

/// The data values as a struct. The fields inside of a value are in the order of their names, as in
/// JSON of Go.
///
/// # Errors
/// If a value is of a kind that templates do not know, or too deep.
pub(crate) fn data_values(heap: &Heap, values: &Map) -> Evaluated<StarValue> {
    let entries = values.iter();
    let fields: Evaluated<IndexMap<Name, StarValue>> = entries
        .map(|(key, value)| Ok((key.clone(), data_value(heap, value)?)))
        .collect();
    heap.structure(StructKind::Plain, fields?)
}

fn data_value(heap: &Heap, value: &Value) -> Evaluated<StarValue> {
    heap.work.nested(|| match value {
        Value::Null => Ok(StarValue::None),
        Value::Bool(flag) => Ok(StarValue::Bool(*flag)),
        Value::Int(number) => Ok(StarValue::Int(i128::from(*number))),
        Value::Float(number) => Ok(StarValue::Float(*number)),
        Value::Decimal(text) => match text.parse::<i128>() {
            Ok(number) => Ok(StarValue::Int(number)),
            Err(_) => Ok(StarValue::Float(text.parse().unwrap_or_default())),
        },
        Value::Text(text) => Ok(StarValue::Text(text.clone())),
        Value::List(items) | Value::Set(items) => {
            let items = items.iter().map(|item| data_value(heap, item));
            heap.list(items.collect::<Evaluated<_>>()?)
        }
        Value::Map(entries) => {
            let mut entries = Map::clone(entries);
            entries.sort_keys();
            data_values(heap, &entries)
        }
        Value::Unknown(unknown) => {
            heap.has_marks.set(true);
            Ok(StarValue::Unknown(Rc::new(unknown.waits_for.clone())))
        }
        Value::Secret(inner) => {
            heap.has_marks.set(true);
            let inner = data_value(heap, inner)?;
            secret_leaves(heap, &inner)
        }
        Value::Bytes(_) | Value::Asset(_) | Value::Resource(_) | Value::Function(_) => {
            fail(format!(
                "a data value must be JSON, but one is a {}",
                value.kind_word()
            ))
        }
    })
}

/// A copy of a value with a mark on each leaf.
///
/// # Errors
/// If the value is too large.
pub(crate) fn secret_leaves(heap: &Heap, value: &StarValue) -> Evaluated<StarValue> {
    leaves(heap, value, &|leaf| leaf.clone().secret())
}

/// A copy of a value without marks.
///
/// # Errors
/// If the value is too large.
pub(crate) fn open_leaves(heap: &Heap, value: &StarValue) -> Evaluated<StarValue> {
    leaves(heap, value, &|leaf| leaf.open().clone())
}

fn leaves(
    heap: &Heap,
    value: &StarValue,
    change: &dyn Fn(&StarValue) -> StarValue,
) -> Evaluated<StarValue> {
    heap.work.nested(|| match value {
        StarValue::List(list) => {
            let items = list.items.borrow().clone();
            let items = items.iter().map(|item| leaves(heap, item, change));
            heap.list(items.collect::<Evaluated<_>>()?)
        }
        StarValue::Tuple(items) => {
            let items = items.iter().map(|item| leaves(heap, item, change));
            heap.tuple(items.collect::<Evaluated<_>>()?)
        }
        StarValue::Dict(dict) => {
            let mut entries = dict.entries.borrow().clone();
            for (_, value) in entries.values_mut() {
                *value = leaves(heap, value, change)?;
            }
            heap.dict(entries)
        }
        StarValue::Struct(data) => {
            let fields = data.fields.iter();
            let fields =
                fields.map(|(name, field)| Ok((name.clone(), leaves(heap, field, change)?)));
            heap.structure(data.kind.clone(), fields.collect::<Evaluated<_>>()?)
        }
        StarValue::Fragment(Some(node)) => {
            let copy = copy_node(heap, node)?;
            let node = copy.borrow().clone();
            for item in &node.items {
                let value = leaves(heap, &item.borrow().value, change)?;
                item.borrow_mut().value = value;
            }
            Ok(StarValue::Fragment(Some(copy)))
        }
        StarValue::None
        | StarValue::Bool(_)
        | StarValue::Int(_)
        | StarValue::Float(_)
        | StarValue::Text(_)
        | StarValue::Secret(_) => Ok(change(value)),
        other => Ok(other.clone()),
    })
}

/// What the marks of some values say.
#[derive(Default)]
pub(crate) struct ValueMarks {
    /// What the unknown parts wait for; `None` if there are none.
    pub(crate) waits_for: Option<Vec<blueprint::Address>>,
    pub(crate) has_secret: bool,
}

/// The marks of a value and of everything in it.
///
/// # Errors
/// If the value is too large.
pub(crate) fn marks(heap: &Heap, value: &StarValue, found: &mut ValueMarks) -> Evaluated<()> {
    heap.work.nested(|| {
        match value {
            StarValue::Unknown(waits_for) => {
                let all = found.waits_for.get_or_insert_default();
                for address in waits_for.iter() {
                    if !all.contains(address) {
                        all.push(address.clone());
                    }
                }
            }
            StarValue::Secret(_) => found.has_secret = true,
            StarValue::List(list) => {
                for item in list.items.borrow().iter() {
                    marks(heap, item, found)?;
                }
            }
            StarValue::Tuple(items) => {
                for item in items.iter() {
                    marks(heap, item, found)?;
                }
            }
            StarValue::Dict(dict) | StarValue::Set(dict) => {
                for (key, value) in dict.entries.borrow().values() {
                    marks(heap, key, found)?;
                    marks(heap, value, found)?;
                }
            }
            StarValue::Struct(data) => {
                for field in data.fields.values() {
                    marks(heap, field, found)?;
                }
            }
            StarValue::Native(native) => {
                for bound in &native.bound {
                    marks(heap, bound, found)?;
                }
            }
            StarValue::Fragment(Some(node)) => node_marks(heap, node, found)?,
            _ => {}
        }
        Ok(())
    })
}

fn node_marks(heap: &Heap, node: &NodeRef, found: &mut ValueMarks) -> Evaluated<()> {
    heap.work.nested(|| {
        let node = node.borrow();
        marks(heap, &node.key, found)?;
        marks(heap, &node.value, found)?;
        node.items
            .iter()
            .try_for_each(|item| node_marks(heap, item, found))
    })
}

/// A value as it is set on a node: containers are copied, structs become dicts.
///
/// # Errors
/// If the value has no form in YAML.
pub(crate) fn plain(heap: &Heap, value: &StarValue) -> Evaluated<StarValue> {
    heap.work.nested(|| match value {
        StarValue::None
        | StarValue::Bool(_)
        | StarValue::Float(_)
        | StarValue::Text(_)
        | StarValue::Unknown(_) => Ok(value.clone()),
        StarValue::Int(number) => {
            let fits = (i128::from(i64::MIN)..=i128::from(u64::MAX)).contains(number);
            match fits {
                true => Ok(value.clone()),
                false => fail("an integer of more than 64 bits"),
            }
        }
        StarValue::Secret(inner) => Ok(plain(heap, inner)?.secret()),
        StarValue::List(list) => {
            let items = list.items.borrow().clone();
            plain_items(heap, &items)
        }
        StarValue::Tuple(items) => plain_items(heap, items),
        StarValue::Set(set) => {
            let items: Vec<_> = set
                .entries
                .borrow()
                .values()
                .map(|own| own.0.clone())
                .collect();
            plain_items(heap, &items)
        }
        StarValue::Dict(dict) => {
            let own = dict.entries.borrow();
            let mut entries = DictEntries::default();
            for (key, (written, value)) in own.iter() {
                let written = plain(heap, written)?;
                entries.insert(key.clone(), (written, plain(heap, value)?));
            }
            heap.dict(entries)
        }
        StarValue::Struct(data) => match &data.kind {
            StructKind::Plain => {
                let mut entries = DictEntries::default();
                for (name, field) in &data.fields {
                    let key = StarKey::Text(name.clone());
                    let value = plain(heap, field)?;
                    entries.insert(key, (StarValue::Text(name.clone()), value));
                }
                heap.dict(entries)
            }
            StructKind::Opaque(name, hint) => {
                fail(format!("Unable to convert value: {name} {hint}"))
            }
            StructKind::Module(_) => unconvertible(value),
        },
        StarValue::Fragment(None) => Ok(StarValue::None),
        StarValue::Fragment(Some(_)) => Ok(value.clone()),
        StarValue::Range(_)
        | StarValue::Function(_)
        | StarValue::Native(_)
        | StarValue::Replaced => unconvertible(value),
    })
}

fn unconvertible<T>(value: &StarValue) -> Evaluated<T> {
    fail(format!(
        "unknown type {} for conversion to go value",
        value.type_name()
    ))
}

fn plain_items(heap: &Heap, items: &[StarValue]) -> Evaluated<StarValue> {
    let items = items.iter().map(|item| plain(heap, item));
    heap.list(items.collect::<Evaluated<_>>()?)
}

/// A plain value with structs in place of dicts.
///
/// # Errors
/// If a key is no text, or a part is a YAML fragment.
pub(crate) fn structs(heap: &Heap, value: &StarValue) -> Evaluated<StarValue> {
    heap.work.nested(|| match value {
        StarValue::List(list) => {
            let items = list.items.borrow().clone();
            let items = items.iter().map(|item| structs(heap, item));
            heap.list(items.collect::<Evaluated<_>>()?)
        }
        StarValue::Dict(dict) => {
            let mut fields = IndexMap::default();
            for (key, value) in dict.entries.borrow().values() {
                let Some(name) = key.as_text() else {
                    return fail("expected struct key to be string");
                };
                fields.insert(name.clone(), structs(heap, value)?);
            }
            heap.structure(StructKind::Plain, fields)
        }
        StarValue::Fragment(Some(_)) => {
            fail("unknown type yamlfragment for conversion to starlark value")
        }
        other => Ok(other.clone()),
    })
}

/// Whether a plain value is or holds a YAML fragment.
pub(crate) fn has_fragment(heap: &Heap, value: &StarValue) -> Evaluated<bool> {
    heap.work.nested(|| match value {
        StarValue::Fragment(Some(_)) => Ok(true),
        StarValue::List(list) => {
            for item in list.items.borrow().iter() {
                if has_fragment(heap, item)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        StarValue::Dict(dict) => {
            for (_, value) in dict.entries.borrow().values() {
                if has_fragment(heap, value)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        _ => Ok(false),
    })
}

/// A plain value as nodes: lists and dicts become nodes, in fragments in their place.
///
/// # Errors
/// If the value is too large.
pub(crate) fn to_nodes(heap: &Heap, value: &StarValue, line: Option<u32>) -> Evaluated<StarValue> {
    heap.work.nested(|| match value {
        StarValue::List(list) => {
            let mut array = YamlNode::new(YamlKind::Array, line);
            for value in list.items.borrow().iter() {
                let mut item = YamlNode::new(YamlKind::ArrayItem, line);
                item.value = to_nodes(heap, value, line)?;
                array.items.push(heap.node(item)?);
            }
            Ok(StarValue::Fragment(Some(heap.node(array)?)))
        }
        StarValue::Dict(dict) => {
            let mut map = YamlNode::new(YamlKind::Map, line);
            for (key, value) in dict.entries.borrow().values() {
                let mut item = YamlNode::new(YamlKind::MapItem, line);
                item.key = key.clone();
                item.value = to_nodes(heap, value, line)?;
                map.items.push(heap.node(item)?);
            }
            Ok(StarValue::Fragment(Some(heap.node(map)?)))
        }
        StarValue::Fragment(Some(node)) => {
            nodes_inside(heap, node, line)?;
            Ok(value.clone())
        }
        other => Ok(other.clone()),
    })
}

fn nodes_inside(heap: &Heap, node: &NodeRef, line: Option<u32>) -> Evaluated<()> {
    heap.work.nested(|| {
        let (value, items) = {
            let node = node.borrow();
            (node.value.clone(), node.items.clone())
        };
        let value = to_nodes(heap, &value, line)?;
        node.borrow_mut().value = value;
        items
            .iter()
            .try_for_each(|item| nodes_inside(heap, item, line))
    })
}

/// A copy of a node and of everything in it.
///
/// # Errors
/// If the node is too large.
pub(crate) fn copy_node(heap: &Heap, node: &NodeRef) -> Evaluated<NodeRef> {
    heap.work.nested(|| {
        let mut copy = node.borrow().clone();
        copy.value = copy_value(heap, &copy.value)?;
        for item in &mut copy.items {
            *item = copy_node(heap, item)?;
        }
        heap.node(copy)
    })
}

/// A copy of a value of a node.
///
/// # Errors
/// If the value is too large.
pub(crate) fn copy_value(heap: &Heap, value: &StarValue) -> Evaluated<StarValue> {
    match value {
        StarValue::Fragment(Some(node)) => Ok(StarValue::Fragment(Some(copy_node(heap, node)?))),
        StarValue::List(_) | StarValue::Dict(_) => plain(heap, value),
        other => Ok(other.clone()),
    }
}

/// A scalar of a text as a value.
pub(crate) fn scalar(scalar: &YamlScalar) -> StarValue {
    match scalar {
        YamlScalar::Null => StarValue::None,
        YamlScalar::Bool(flag) => StarValue::Bool(*flag),
        YamlScalar::Int(number) => StarValue::Int(*number),
        YamlScalar::Float(number) => StarValue::Float(*number),
        YamlScalar::Text(text) => StarValue::Text(text.clone()),
    }
}

/// A YAML text that has been read, as dicts and lists.
///
/// # Errors
/// If a key occurs twice, or the value is too large.
pub(crate) fn from_source(heap: &Heap, node: &SourceNode) -> Evaluated<StarValue> {
    heap.work.nested(|| match node.kind {
        YamlKind::Map => {
            let mut entries = DictEntries::default();
            for item in &node.children {
                let key = scalar(&item.key);
                let own = keys::key_of(heap, &key)?;
                if entries
                    .insert(own, (key, from_source(heap, item)?))
                    .is_some()
                {
                    return fail("Unexpected duplicate key");
                }
            }
            heap.dict(entries)
        }
        YamlKind::Array => {
            let items = node.children.iter().map(|item| from_source(heap, item));
            heap.list(items.collect::<Evaluated<_>>()?)
        }
        _ => match node.children.first() {
            Some(child) => from_source(heap, child),
            None => {
                heap.work.bytes(32)?;
                Ok(scalar(&node.value))
            }
        },
    })
}

/// Whether a document with a value is left out of the result.
pub(crate) fn is_empty_document(value: &StarValue) -> bool {
    match value {
        StarValue::None | StarValue::Fragment(None) => true,
        StarValue::Fragment(Some(node)) => {
            let node = node.borrow();
            node.items.is_empty() && matches!(node.kind, YamlKind::Map | YamlKind::Array)
        }
        _ => false,
    }
}

/// A plain value as the value of a document.
///
/// # Errors
/// If a key occurs twice, or the value is too large.
pub(crate) fn to_value(heap: &Heap, value: &StarValue) -> Evaluated<Value> {
    heap.work.nested(|| match value {
        StarValue::None => Ok(Value::Null),
        StarValue::Bool(flag) => Ok(Value::Bool(*flag)),
        StarValue::Int(number) => Ok(match i64::try_from(*number) {
            Ok(number) => Value::Int(number),
            Err(_) => Value::Decimal(number.to_string().into()),
        }),
        StarValue::Float(number) => Ok(Value::Float(*number)),
        StarValue::Text(text) => Ok(Value::Text(text.clone())),
        StarValue::Unknown(waits_for) => Ok(unknown(waits_for.to_vec())),
        StarValue::Secret(inner) => Ok(to_value(heap, inner)?.secret()),
        StarValue::List(list) => {
            let items = list.items.borrow();
            let items: Evaluated<Vec<_>> = items.iter().map(|item| to_value(heap, item)).collect();
            Ok(Value::list(items?))
        }
        StarValue::Dict(dict) => {
            let own = dict.entries.borrow();
            let pairs = own
                .values()
                .map(|(key, value)| (key.clone(), value.clone()));
            map_value(heap, pairs.collect())
        }
        StarValue::Fragment(Some(node)) => node_value(heap, node),
        StarValue::Fragment(None) => Ok(Value::Null),
        other => unconvertible(other),
    })
}

/// An unknown value that waits for resources.
pub(crate) fn unknown(waits_for: Vec<blueprint::Address>) -> Value {
    let ty = None;
    Value::Unknown(std::sync::Arc::new(Unknown { ty, waits_for }))
}

fn node_value(heap: &Heap, node: &NodeRef) -> Evaluated<Value> {
    let node = node.borrow();
    match node.kind {
        YamlKind::Map => {
            let pairs = node.items.iter().map(|item| {
                let item = item.borrow();
                (item.key.clone(), item.value.clone())
            });
            map_value(heap, pairs.collect())
        }
        YamlKind::Array => {
            let items = node.items.iter().map(|item: &Rc<RefCell<YamlNode>>| {
                let value = item.borrow().value.clone();
                to_value(heap, &value)
            });
            Ok(Value::list(items.collect::<Evaluated<Vec<_>>>()?))
        }
        kind => fail(format!("Unexpected {} within a document", kind.words())),
    }
}

fn map_value(heap: &Heap, pairs: Vec<(StarValue, StarValue)>) -> Evaluated<Value> {
    let mut map = Map::with_capacity(pairs.len());
    let mut keys = std::collections::HashSet::with_capacity(pairs.len());
    let mut has_secret_key = false;
    for (key, value) in &pairs {
        has_secret_key |= matches!(key, StarValue::Secret(_));
        if !keys.insert(keys::key_of(heap, key)?) {
            return fail("Unexpected duplicate key");
        }
        // Of `1` and `"1"`, which are one key of JSON, the last one counts.
        map.insert(key_text(key)?, to_value(heap, value)?);
    }
    Ok(Value::Map(std::sync::Arc::new(map)).tainted(has_secret_key))
}

/// A key of a map as text.
pub(crate) fn key_text(key: &StarValue) -> Evaluated<Name> {
    Ok(match key.open() {
        StarValue::Text(text) => text.clone(),
        StarValue::None => "null".into(),
        StarValue::Bool(flag) => flag.to_string().into(),
        StarValue::Int(number) => number.to_string().into(),
        StarValue::Float(number) => go_float::general(*number, None).into(),
        StarValue::Unknown(waits_for) => return Err(Halted::Unknown(waits_for.to_vec())),
        other => return fail(format!("a key of a map is a {}", other.type_name())),
    })
}
