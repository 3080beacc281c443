//! Parts of values: attributes, indexes, slices, items.

use blueprint::Name;

use crate::convert::plain;
use crate::halt::{Evaluated, Halted, fail};
use crate::heap::Heap;
use crate::keys::{self, key_of};
use crate::methods::method;
use crate::text_form::repr;
use crate::value::{NodeRef, StarRange, StarStruct, StarValue, StructKind};
use crate::yaml_tree::YamlKind;

/// The items of a loop.
pub(crate) enum LoopItems {
    Range(StarRange, i64),
    Items(std::vec::IntoIter<StarValue>),
}

impl Iterator for LoopItems {
    type Item = StarValue;

    fn next(&mut self) -> Option<StarValue> {
        match self {
            LoopItems::Range(range, at) if *at < range.len => {
                *at += 1;
                Some(range.item(*at - 1))
            }
            LoopItems::Range(..) => None,
            LoopItems::Items(items) => items.next(),
        }
    }
}

/// Forbids changes of a container while a loop goes over it.
pub(crate) struct LoopGuard(StarValue);

impl LoopGuard {
    /// Begins a loop over a value.
    pub(crate) fn new(value: &StarValue) -> LoopGuard {
        count_loop(value, 1);
        LoopGuard(value.clone())
    }
}

impl Drop for LoopGuard {
    fn drop(&mut self) {
        count_loop(&self.0, -1);
    }
}

fn count_loop(value: &StarValue, change: i32) {
    let loops = match value.open() {
        StarValue::List(list) => &list.loops,
        StarValue::Dict(dict) | StarValue::Set(dict) => &dict.loops,
        _ => return,
    };
    loops.set(loops.get().saturating_add_signed(change));
}

/// # Errors
/// If a loop goes over the container.
pub(crate) fn check_unlooped(loops: u32, action: &str) -> Evaluated<()> {
    match loops {
        0 => Ok(()),
        _ => fail(format!("cannot {action} during iteration")),
    }
}

/// Whether a value has items.
pub(crate) fn is_iterable(value: &StarValue) -> bool {
    matches!(
        value.open(),
        StarValue::List(_)
            | StarValue::Tuple(_)
            | StarValue::Dict(_)
            | StarValue::Set(_)
            | StarValue::Range(_)
            | StarValue::Fragment(_)
    ) || matches!(value, StarValue::Struct(data) if data.kind == StructKind::Plain)
}

/// The items for a loop.
///
/// # Errors
/// If the value has none, or is not known.
pub(crate) fn loop_items(heap: &Heap, value: &StarValue) -> Evaluated<LoopItems> {
    Ok(match value.open() {
        StarValue::Range(range) => LoopItems::Range(*range, 0),
        _ => LoopItems::Items(items(heap, value)?.into_iter()),
    })
}

/// The items of a value: of mappings the keys.
///
/// # Errors
/// If the value has none, or is not known.
pub(crate) fn items(heap: &Heap, value: &StarValue) -> Evaluated<Vec<StarValue>> {
    let items: Vec<StarValue> = match value.open() {
        StarValue::List(list) => {
            heap.work.items(list.items.borrow().len())?;
            list.items.borrow().clone()
        }
        StarValue::Tuple(items) => {
            heap.work.items(items.len())?;
            items.to_vec()
        }
        StarValue::Dict(dict) | StarValue::Set(dict) => {
            let entries = dict.entries.borrow();
            heap.work.items(entries.len())?;
            entries.values().map(|(key, _)| key.clone()).collect()
        }
        StarValue::Range(range) => {
            heap.work
                .items(usize::try_from(range.len).unwrap_or_default())?;
            LoopItems::Range(*range, 0).collect()
        }
        StarValue::Struct(data) if data.kind == StructKind::Plain => {
            heap.work.items(data.fields.len())?;
            data.fields.keys().cloned().map(StarValue::Text).collect()
        }
        StarValue::Fragment(None) => Vec::new(),
        StarValue::Fragment(Some(node)) => {
            let node = node.borrow();
            heap.work.items(node.items.len())?;
            let is_map = node.kind == YamlKind::Map;
            let items = node.items.iter().map(|item| match is_map {
                true => Ok(item.borrow().key.clone()),
                false => {
                    let value = item.borrow().value.clone();
                    plain(heap, &value)
                }
            });
            items.collect::<Evaluated<_>>()?
        }
        StarValue::Unknown(waits_for) => return Err(Halted::Unknown(waits_for.to_vec())),
        other => return fail(format!("{} value is not iterable", other.type_name())),
    };
    Ok(items)
}

/// The entries of a mapping.
///
/// # Errors
/// If the value is no mapping, or is not known.
pub(crate) fn entries(
    heap: &Heap,
    value: &StarValue,
) -> Evaluated<Option<Vec<(StarValue, StarValue)>>> {
    Ok(Some(match value.open() {
        StarValue::Dict(dict) => {
            let entries = dict.entries.borrow();
            heap.work.items(entries.len())?;
            entries.values().cloned().collect()
        }
        StarValue::Struct(data) if data.kind == StructKind::Plain => {
            heap.work.items(data.fields.len())?;
            let fields = data.fields.iter();
            fields
                .map(|(name, field)| (StarValue::Text(name.clone()), field.clone()))
                .collect()
        }
        StarValue::Fragment(None) => Vec::new(),
        StarValue::Fragment(Some(node)) if node.borrow().kind == YamlKind::Map => {
            let node = node.borrow();
            heap.work.items(node.items.len())?;
            let entries = node.items.iter().map(|item| {
                let (key, value) = {
                    let item = item.borrow();
                    (item.key.clone(), item.value.clone())
                };
                Ok((key, plain(heap, &value)?))
            });
            entries.collect::<Evaluated<_>>()?
        }
        StarValue::Unknown(waits_for) => return Err(Halted::Unknown(waits_for.to_vec())),
        _ => return Ok(None),
    }))
}

/// The entries after `**` in a call.
///
/// # Errors
/// If the value is no mapping of texts, or is not known.
pub(crate) fn named_entries(heap: &Heap, value: &StarValue) -> Evaluated<Vec<(Name, StarValue)>> {
    let Some(entries) = entries(heap, value)? else {
        return fail(format!(
            "argument after ** must be a mapping, not {}",
            value.type_name()
        ));
    };
    let named = entries.into_iter().map(|(key, value)| match key.as_text() {
        Some(name) => Ok((name.clone(), value)),
        None => fail(format!("keywords must be strings, not {}", key.type_name())),
    });
    named.collect()
}

/// An attribute.
///
/// # Errors
/// If the value does not have it.
pub(crate) fn attribute(heap: &Heap, of: &StarValue, name: &str) -> Evaluated<StarValue> {
    if of.unknown().is_some() {
        return Ok(of.clone());
    }
    match find_attribute(heap, of, name)? {
        Some(value) => Ok(value),
        None => fail(format!("{} has no .{name} field or method", of.type_name())),
    }
}

/// An attribute; `None` if the value does not have it.
///
/// # Errors
/// If a limit is reached.
pub(crate) fn find_attribute(
    heap: &Heap,
    of: &StarValue,
    name: &str,
) -> Evaluated<Option<StarValue>> {
    match of.open() {
        StarValue::Struct(data) => Ok(data.fields.get(name).cloned()),
        inner => match method(inner, name) {
            Some(method) => heap.native(method, vec![of.clone()]).map(Some),
            None => Ok(None),
        },
    }
}

/// A place in a sequence from an index that may count from the end.
fn place(of: &StarValue, index: &StarValue, count: usize) -> Evaluated<usize> {
    let StarValue::Int(index) = index.open() else {
        return fail(format!(
            "{} index: got {}, want int",
            of.type_name(),
            index.type_name()
        ));
    };
    let count = count as i128;
    let at = if *index < 0 {
        index.saturating_add(count)
    } else {
        *index
    };
    if (0..count).contains(&at) {
        return Ok(usize::try_from(at).unwrap_or_default());
    }
    let kind = of.type_name();
    match count {
        0 => fail(format!("index {index} out of range: empty {kind}")),
        _ => fail(format!(
            "{kind} index {index} out of range [{}:{}]",
            -count,
            count - 1
        )),
    }
}

/// `of[index]`
///
/// # Errors
/// If there is nothing at the index.
pub(crate) fn index(heap: &Heap, of: &StarValue, index: &StarValue) -> Evaluated<StarValue> {
    heap.work.steps(1)?;
    if of.unknown().is_some() {
        return Ok(of.clone());
    }
    if index.unknown().is_some() {
        return Ok(index.clone());
    }
    let (inner, secrecy) = of.split();
    let missing = |key: &StarValue| -> Evaluated<StarValue> {
        let kind = inner.type_name();
        match key {
            StarValue::Secret(_) => fail(format!("a secret key is not in {kind}")),
            key => fail(format!("key {} not in {kind}", repr(heap, key)?)),
        }
    };
    match inner {
        StarValue::Dict(dict) => {
            let key = key_of(heap, index)?;
            let found = dict
                .entries
                .borrow()
                .get(&key)
                .map(|(_, value)| value.clone());
            found.map_or_else(|| missing(index), Ok)
        }
        StarValue::Struct(data) if data.kind == StructKind::Plain => {
            let found = struct_field(data, index)?;
            found.map_or_else(|| missing(index), Ok)
        }
        StarValue::Fragment(node) => {
            let found = match node {
                Some(node) => fragment_item(heap, node, index)?,
                None => None,
            };
            found.map_or_else(|| missing(index), Ok)
        }
        StarValue::List(list) => {
            let items = list.items.borrow();
            Ok(items[place(inner, index, items.len())?].clone())
        }
        StarValue::Tuple(items) => Ok(items[place(inner, index, items.len())?].clone()),
        StarValue::Text(text) => {
            let at = place(inner, index, text.len())?;
            let byte = &text.as_bytes()[at..=at];
            Ok(StarValue::text(String::from_utf8_lossy(byte).as_ref()).marked(secrecy))
        }
        StarValue::Range(range) => {
            let count = usize::try_from(range.len).unwrap_or_default();
            Ok(range.item(place(inner, index, count)? as i64))
        }
        other => fail(format!(
            "unhandled index operation {}[{}]",
            other.type_name(),
            index.type_name()
        )),
    }
}

fn struct_field(data: &StarStruct, index: &StarValue) -> Evaluated<Option<StarValue>> {
    match index.as_text() {
        Some(name) => Ok(data.fields.get(name).cloned()),
        None => fail(format!("expected a string, but was {}", index.type_name())),
    }
}

/// The item of a fragment with a key or index; `None` if there is none.
fn fragment_item(heap: &Heap, node: &NodeRef, index: &StarValue) -> Evaluated<Option<StarValue>> {
    let node = node.borrow();
    heap.work.steps(node.items.len())?;
    let found = if node.kind == YamlKind::Map {
        let wanted = key_of(heap, index)?;
        let mut found = None;
        for item in &node.items {
            if key_of(heap, &item.borrow().key)? == wanted {
                found = Some(item);
                break;
            }
        }
        found
    } else {
        let StarValue::Int(at) = index.open() else {
            let kind = index.type_name();
            return fail(format!(
                "yamlfragment.Get: Expected array index to be an int64, but was {kind}"
            ));
        };
        usize::try_from(*at).ok().and_then(|at| node.items.get(at))
    };
    let value = found.map(|item| item.borrow().value.clone());
    value.map(|value| plain(heap, &value)).transpose()
}

/// `of[index] = value`
///
/// # Errors
/// If the value cannot be set.
pub(crate) fn set_index(
    heap: &Heap,
    of: &StarValue,
    index: &StarValue,
    value: StarValue,
) -> Evaluated<()> {
    match of.open() {
        StarValue::Dict(dict) => {
            check_unlooped(dict.loops.get(), "insert into hash table")?;
            keys::insert(heap, &mut dict.entries.borrow_mut(), index.clone(), value)
        }
        StarValue::List(list) => {
            check_unlooped(list.loops.get(), "assign to element of list")?;
            let count = list.items.borrow().len();
            let at = place(of, index, count)?;
            list.items.borrow_mut()[at] = value;
            Ok(())
        }
        StarValue::Unknown(waits_for) => Err(Halted::Unknown(waits_for.to_vec())),
        StarValue::Fragment(_) => fail("yamlfragment.SetKey: Not implemented"),
        other => fail(format!(
            "{} value does not support item assignment",
            other.type_name()
        )),
    }
}

/// `of[start:stop:step]`
///
/// # Errors
/// If the value is no sequence, or a bound is no integer.
pub(crate) fn slice(heap: &Heap, of: &StarValue, bounds: &[StarValue; 3]) -> Evaluated<StarValue> {
    for value in std::iter::once(of).chain(bounds) {
        if value.unknown().is_some() {
            return Ok(value.clone());
        }
    }
    let (inner, secrecy) = of.split();
    let count = match inner {
        StarValue::Text(text) => text.len(),
        StarValue::List(list) => list.items.borrow().len(),
        StarValue::Tuple(items) => items.len(),
        StarValue::Range(range) => usize::try_from(range.len).unwrap_or_default(),
        other => return fail(format!("invalid slice operand {}", other.type_name())),
    };
    let range = slice_range(count, bounds)?;
    heap.work
        .items(usize::try_from(range.len).unwrap_or_default() / 8)?;
    let places = (0..range.len).map(|at| (range.start + range.step * at) as usize);
    match inner {
        StarValue::Text(text) => {
            let text: Vec<u8> = places.map(|at| text.as_bytes()[at]).collect();
            let text = heap.text(String::from_utf8_lossy(&text).as_ref())?;
            Ok(text.marked(secrecy))
        }
        StarValue::List(list) => {
            let items = list.items.borrow();
            heap.list(places.map(|at| items[at].clone()).collect())
        }
        StarValue::Tuple(items) => heap.tuple(places.map(|at| items[at].clone()).collect()),
        StarValue::Range(own) => Ok(StarValue::Range(StarRange {
            start: own.start + own.step * range.start,
            step: own.step.saturating_mul(range.step),
            len: range.len,
        })),
        _ => Ok(StarValue::None),
    }
}

/// The places of a slice of a sequence with so many items.
fn slice_range(count: usize, bounds: &[StarValue; 3]) -> Evaluated<StarRange> {
    let count = count as i128;
    let bound = |value: &StarValue, usual: i128| {
        match value.open() {
            StarValue::None => Ok(None),
            StarValue::Int(at) if *at < 0 => Ok(Some(at.saturating_add(count))),
            StarValue::Int(at) => Ok(Some(*at)),
            other => fail(format!(
                "invalid slice index: got {}, want int",
                other.type_name()
            )),
        }
        .map(|at| at.unwrap_or(usual))
    };
    let step = match bounds[2].open() {
        StarValue::None => 1,
        StarValue::Int(0) => return fail("zero is not a valid slice step"),
        StarValue::Int(step) => (*step).clamp(-count - 1, count + 1),
        other => {
            return fail(format!(
                "got {} for slice step, want int",
                other.type_name()
            ));
        }
    };
    let (start, stop) = if step > 0 {
        let start = bound(&bounds[0], 0)?.clamp(0, count);
        (
            start,
            bound(&bounds[1], count)?.clamp(start, count.max(start)),
        )
    } else {
        let start = bound(&bounds[0], count - 1)?.clamp(-1, count - 1);
        let stop = bound(&bounds[1], -1)?.clamp(-1, count);
        (start, stop.min(start))
    };
    let distance = (stop - start).abs();
    let size = step.abs();
    let len = (distance + size - 1) / size;
    Ok(StarRange {
        start: start as i64,
        step: step as i64,
        len: len as i64,
    })
}
