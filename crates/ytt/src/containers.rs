//! The methods of lists, dicts and sets.

use std::rc::Rc;

use crate::access::{self, check_unlooped};
use crate::compare::equal;
use crate::evaluator::Evaluator;
use crate::halt::{Evaluated, fail};
use crate::keys::{self, key_of, set_entries};
use crate::native_call::NativeCall;
use crate::universe::add_entries;
use crate::value::{StarDict, StarList, StarValue};

/// Calls a method.
///
/// # Errors
/// If the arguments do not fit, or a loop goes over the container.
pub(crate) fn call(evaluator: &mut Evaluator<'_>, call: &NativeCall) -> Evaluated<StarValue> {
    match (call.receiver(), call.name.split_once('.')) {
        (StarValue::List(list), Some((_, method))) => list_method(evaluator, list, method, call),
        (StarValue::Dict(dict), Some((_, method))) => dict_method(evaluator, dict, method, call),
        (StarValue::Set(set), Some(_)) => {
            call.positional(1, 1)?;
            let heap = &evaluator.heap;
            let mut items = access::items(heap, &StarValue::Set(set.clone()))?;
            items.extend(access::items(heap, call.item(0))?);
            heap.set(set_entries(heap, items)?)
        }
        _ => fail(format!("{} has no receiver", call.name)),
    }
}

/// A place from an index that may count from the end.
fn place(value: &StarValue, count: usize) -> Evaluated<i128> {
    match value.open() {
        StarValue::Int(at) if *at < 0 => Ok(at.saturating_add(count as i128)),
        StarValue::Int(at) => Ok(*at),
        other => fail(format!("got {}, want int", other.type_name())),
    }
}

fn list_method(
    evaluator: &Evaluator<'_>,
    list: &Rc<StarList>,
    method: &str,
    call: &NativeCall,
) -> Evaluated<StarValue> {
    let heap = &evaluator.heap;
    let changes = || check_unlooped(list.loops.get(), &format!("{method} to list"));
    match method {
        "append" => {
            call.positional(1, 1)?;
            changes()?;
            heap.work.bytes(32)?;
            list.items.borrow_mut().push(call.item(0).clone());
        }
        "clear" => {
            call.positional(0, 0)?;
            changes()?;
            list.items.borrow_mut().clear();
        }
        "extend" => {
            call.positional(1, 1)?;
            changes()?;
            let more = access::items(heap, call.item(0))?;
            list.items.borrow_mut().extend(more);
        }
        "index" => {
            call.positional(1, 3)?;
            let items = list.items.borrow();
            let count = items.len();
            let bound = |at: usize, usual: usize| match call.get(at) {
                None | Some(StarValue::None) => Ok(usual),
                Some(value) => {
                    let at = place(value, count)?.clamp(0, count as i128);
                    Ok(usize::try_from(at).unwrap_or_default())
                }
            };
            let (start, end) = (bound(1, 0)?, bound(2, count)?);
            for (at, item) in items.iter().enumerate().take(end).skip(start) {
                if equal(heap, item, call.item(0))? {
                    return Ok(StarValue::count(at));
                }
            }
            return fail("index: value not in list");
        }
        "insert" => {
            call.positional(2, 2)?;
            changes()?;
            let count = list.items.borrow().len();
            let at = place(call.item(0), count)?.clamp(0, count as i128);
            heap.work.bytes(32)?;
            heap.work.steps(count / 64)?;
            let at = usize::try_from(at).unwrap_or_default();
            list.items.borrow_mut().insert(at, call.item(1).clone());
        }
        "pop" => {
            call.positional(0, 1)?;
            changes()?;
            let count = list.items.borrow().len();
            let at = match call.get(0) {
                None => count as i128 - 1,
                Some(value) => place(value, count)?,
            };
            heap.work.steps(count / 64)?;
            return match usize::try_from(at) {
                Ok(at) if at < count => Ok(list.items.borrow_mut().remove(at)),
                _ => fail(format!("pop: index {at} out of range of a list of {count}")),
            };
        }
        _ => {
            call.positional(1, 1)?;
            changes()?;
            let mut place = None;
            for (at, item) in list.items.borrow().iter().enumerate() {
                if equal(heap, item, call.item(0))? {
                    place = Some(at);
                    break;
                }
            }
            match place {
                Some(at) => drop(list.items.borrow_mut().remove(at)),
                None => return fail("remove: element not found"),
            }
        }
    }
    Ok(StarValue::None)
}

fn dict_method(
    evaluator: &Evaluator<'_>,
    dict: &Rc<StarDict>,
    method: &str,
    call: &NativeCall,
) -> Evaluated<StarValue> {
    let heap = &evaluator.heap;
    let changes = || check_unlooped(dict.loops.get(), &format!("{method} of hash table"));
    let count = dict.entries.borrow().len();
    match method {
        "clear" => {
            call.positional(0, 0)?;
            changes()?;
            dict.entries.borrow_mut().clear();
            Ok(StarValue::None)
        }
        "get" => {
            call.positional(1, 2)?;
            let key = key_of(heap, call.item(0))?;
            let found = dict.entries.borrow().get(&key).map(|own| own.1.clone());
            Ok(found.unwrap_or_else(|| call.item(1).clone()))
        }
        "items" => {
            call.positional(0, 0)?;
            let entries: Vec<_> = dict.entries.borrow().values().cloned().collect();
            let pairs = entries.into_iter();
            let pairs = pairs.map(|(key, value)| heap.tuple(vec![key, value]));
            heap.list(pairs.collect::<Evaluated<_>>()?)
        }
        "keys" => {
            call.positional(0, 0)?;
            heap.list(
                dict.entries
                    .borrow()
                    .values()
                    .map(|own| own.0.clone())
                    .collect(),
            )
        }
        "values" => {
            call.positional(0, 0)?;
            heap.list(
                dict.entries
                    .borrow()
                    .values()
                    .map(|own| own.1.clone())
                    .collect(),
            )
        }
        "pop" => {
            call.positional(1, 2)?;
            changes()?;
            heap.work.steps(count / 64)?;
            let key = key_of(heap, call.item(0))?;
            let found = dict.entries.borrow_mut().shift_remove(&key);
            match (found, call.get(1)) {
                (Some((_, value)), _) => Ok(value),
                (None, Some(usual)) => Ok(usual.clone()),
                (None, None) => fail("pop: missing key"),
            }
        }
        "popitem" => {
            call.positional(0, 0)?;
            changes()?;
            heap.work.steps(count / 64)?;
            match dict.entries.borrow_mut().shift_remove_index(0) {
                Some((_, (key, value))) => heap.tuple(vec![key, value]),
                None => fail("popitem: empty dict"),
            }
        }
        "setdefault" => {
            call.positional(1, 2)?;
            let key = key_of(heap, call.item(0))?;
            if let Some((_, value)) = dict.entries.borrow().get(&key) {
                return Ok(value.clone());
            }
            changes()?;
            let value = call.item(1).clone();
            let mut entries = dict.entries.borrow_mut();
            keys::insert(heap, &mut entries, call.item(0).clone(), value.clone())?;
            Ok(value)
        }
        _ => {
            if call.items.len() > 1 {
                return fail("update: got more than 1 argument, want at most 1");
            }
            changes()?;
            let mut more = crate::heap::DictEntries::default();
            if let Some(from) = call.get(0) {
                add_entries(evaluator, &mut more, from)?;
            }
            for (name, value) in &call.named {
                keys::insert(
                    heap,
                    &mut more,
                    StarValue::Text(name.clone()),
                    value.clone(),
                )?;
            }
            let mut entries = dict.entries.borrow_mut();
            for (_, (key, value)) in more {
                keys::insert(heap, &mut entries, key, value)?;
            }
            Ok(StarValue::None)
        }
    }
}
