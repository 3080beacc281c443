//! Functions of lists.

use super::given::{CallArguments, stream};
use super::row::{Row, both, method, operator, plain};
use super::text::times_of;
use crate::failure::{Evaluated, Halt};
use crate::key::{contains, equal};
use crate::model::{Cursor, Datum, DatumKey, Machine, View};

pub(super) const ROWS: &[Row] = &[
    operator("#list", "*args: any?", build).documented(
        "A list of values.",
        "[1, a, null]",
        r#"[1, "a", null]"#,
    ),
    plain("list", "*args: any?", list).documented(
        "A list of values; lazy sequences are spread into it.",
        "list(1, range(2), [3])",
        "[1, 0, 1, [3]]",
    ),
    method("toList", "collection: iterable", to_list).documented(
        "The items of a collection as a list.",
        "range(3).toList()",
        "[0, 1, 2]",
    ),
    method("flatten", "collection: iterable", flatten).documented(
        "All items, with inner collections replaced by their items.",
        "[1, [2, [3]]].flatten()",
        "[1, 2, 3]",
    ),
    operator("#indexer", "list: sequence, index: int", index).documented(
        "The item at an index; a negative index counts from the end.",
        "[1, 2, 3][-1]",
        "3",
    ),
    operator("#operator_in", "value: any?, collection: iterable", within).documented(
        "Whether a collection has an item.",
        "2 in [1, 2]",
        "true",
    ),
    method("contains", "collection: iterable, value: any?", has).documented(
        "Whether a collection has an item.",
        "[1, 2].contains(2.0)",
        "true",
    ),
    operator("#operator_+", "left: iterable, right: iterable", add).documented(
        "The concatenation of both; the union of two sets.",
        "[1] + [2]",
        "[1, 2]",
    ),
    operator("#operator_*", "left: sequence, right: int", times).documented(
        "A list repeated.",
        "[1, 2] * 2",
        "[1, 2, 1, 2]",
    ),
    operator("#operator_*", "left: int, right: sequence", times_reversed).documented(
        "A list repeated.",
        "2 * [0]",
        "[0, 0]",
    ),
    plain("isList", "arg: any?", is_list).documented(
        "Whether a value is a list; a lazy sequence is not.",
        "isList([1])",
        "true",
    ),
    plain("isIterable", "value: any?", is_iterable).documented(
        "Whether a value is a list, set or lazy sequence.",
        "isIterable(range(3))",
        "true",
    ),
    both("len", "sequence: sequence", len).documented(
        "The number of items of a list.",
        "[1, 2].len()",
        "2",
    ),
    both("len", "collection: iterator", count).documented(
        "The number of items of a lazy sequence.",
        "range(3).len()",
        "3",
    ),
    method("count", "collection: iterable", count).documented(
        "The number of items.",
        "[1, 2].count()",
        "2",
    ),
    method(
        "delete",
        "collection: iterable, position: int, count: int = 1",
        delete,
    )
    .documented(
        "The items without `count` items from a position on; without all from there if negative.",
        "[1, 2, 3].delete(1)",
        "[1, 3]",
    ),
    method(
        "replace",
        "collection: iterable, position: int, value: any?, count: int = 1",
        replace,
    )
    .documented(
        "The items with one value in place of `count` items from a position on.",
        "[1, 2, 3].replace(0, 9, 2)",
        "[9, 3]",
    ),
    method(
        "replaceMany",
        "collection: iterable, position: int, values: iterable, count: int = 1",
        replace_many,
    )
    .documented(
        "The items with several values in place of `count` items from a position on.",
        "[1, 2].replaceMany(0, [8, 9])",
        "[8, 9, 2]",
    ),
    method(
        "insert",
        "collection: ordered, position: int, value: any?",
        insert_lazily,
    )
    .documented(
        "The items with a value inserted at a position, or at the end.",
        "range(2).insert(1, a)",
        r#"[0, "a", 1]"#,
    ),
    method(
        "insert",
        "collection: sequence, position: int, value: any?",
        insert,
    )
    .documented(
        "The list with a value inserted at a position; a negative position counts from the end.",
        "[1, 2].insert(-1, a)",
        r#"[1, "a", 2]"#,
    ),
    method(
        "insertMany",
        "collection: iterable, position: int, values: iterable",
        insert_many,
    )
    .documented(
        "The items with several values inserted at a position, or at the end.",
        "[1, 2].insertMany(1, [8, 9])",
        "[1, 8, 9, 2]",
    ),
];

fn build(machine: &mut Machine<'_>, given: CallArguments) -> Evaluated<Datum> {
    machine.weigh(given.rest.iter().map(Datum::size).sum())?;
    Ok(Datum::tuple(given.rest))
}

/// Lists values in order, with the items of lazy sequences in their places. Fails if a collection
/// would have too many items.
pub(super) fn spread(machine: &mut Machine<'_>, values: Vec<Datum>) -> Evaluated<Vec<Datum>> {
    let most = machine.budget.limits.items;
    let mut items = Vec::new();
    let mut open = vec![Cursor::of(Datum::tuple(values))];
    while let Some(innermost) = open.last_mut() {
        match innermost.next(machine)? {
            None => {
                open.pop();
            }
            Some(inner) if inner.is_iterator() => open.push(Cursor::of(inner)),
            Some(_) if items.len() >= most => {
                return Err(Halt::limit(format!(
                    "Collection length exceeds {most} elements"
                )));
            }
            Some(item) => items.push(item),
        }
    }
    Ok(items)
}

fn list(machine: &mut Machine<'_>, given: CallArguments) -> Evaluated<Datum> {
    Ok(Datum::tuple(spread(machine, given.rest)?))
}

fn to_list(machine: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    match given.take(0) {
        Datum::List(list) if list.tuple => Ok(Datum::List(list)),
        other => Ok(Datum::tuple(machine.collect(other)?)),
    }
}

fn flatten(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let depth = given.depth();
    let mut open = vec![given.items(0)];
    stream(depth, move |machine: &mut Machine<'_>| {
        while let Some(innermost) = open.last_mut() {
            match innermost.next(machine)? {
                None => {
                    open.pop();
                }
                Some(inner) if inner.is_iterable() => open.push(Cursor::of(inner)),
                Some(item) => return Ok(Some(item)),
            }
        }
        Ok(None)
    })
}

/// Returns the item of a list at an index; a negative index counts from the end.
fn index(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let at = times_of(&given, 1, 0)?;
    let list = given.take(0);
    let Datum::List(list) = list else {
        return Ok(Datum::Null);
    };
    let place = if at < 0 {
        at.saturating_add(list.items.len() as i64)
    } else {
        at
    };
    let item = usize::try_from(place)
        .ok()
        .and_then(|place| list.items.get(place));
    let name = if list.tuple { "tuple" } else { "list" };
    item.cloned()
        .ok_or_else(|| Halt::failed(format!("{name} index out of range")))
}

/// Whether a set, or a view that acts as a set, has an item. An entry equals a collection of its
/// key and value.
pub(super) fn has_item(machine: &mut Machine<'_>, set: &Datum, value: &Datum) -> Evaluated<bool> {
    match set {
        Datum::Set(set) => Ok(set.items.contains(&DatumKey::of(value.clone())?)),
        Datum::View(View::Entries, map) => {
            let name = value.type_name();
            if !matches!(value, Datum::Text(_) | Datum::Map(_)) && !value.is_iterable() {
                return Err(Halt::failed(format!(
                    "cannot unpack non-iterable {name} object"
                )));
            }
            let parts = machine.collect(value.clone())?;
            match &*parts {
                [key, entry] => Ok(map
                    .entries
                    .get(&DatumKey::of(key.clone())?)
                    .is_some_and(|held| equal(held, entry))),
                [_, _, ..] => Err(Halt::failed("too many values to unpack (expected 2)")),
                fewer => Err(Halt::failed(format!(
                    "not enough values to unpack (expected 2, got {})",
                    fewer.len()
                ))),
            }
        }
        Datum::View(_, map) => Ok(map.entries.contains_key(&DatumKey::of(value.clone())?)),
        _ => Ok(false),
    }
}

fn holds(machine: &mut Machine<'_>, collection: Datum, value: &Datum) -> Evaluated<Datum> {
    Ok(Datum::Bool(match &collection {
        Datum::List(list) => {
            machine.step(list.items.len() as u64)?;
            contains(&list.items, value)
        }
        set if set.is_set() => has_item(machine, set, value)?,
        _ => {
            let mut items = Cursor::of(collection);
            while let Some(item) = items.next(machine)? {
                if equal(&item, value) {
                    return Ok(Datum::Bool(true));
                }
            }
            false
        }
    }))
}

fn within(machine: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let (value, collection) = given.pair();
    holds(machine, collection, &value)
}

fn has(machine: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let (collection, value) = given.pair();
    holds(machine, collection, &value)
}

/// Concatenates several collections.
pub(super) fn chain(collections: Vec<Datum>) -> Evaluated<Datum> {
    let depth = collections.iter().map(Datum::depth).max().unwrap_or(0);
    let mut rest: Vec<Cursor> = collections.into_iter().rev().map(Cursor::of).collect();
    stream(depth, move |machine: &mut Machine<'_>| {
        while let Some(first) = rest.last_mut() {
            match first.next(machine)? {
                Some(item) => return Ok(Some(item)),
                None => {
                    rest.pop();
                }
            }
        }
        Ok(None)
    })
}

fn add(machine: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    match given.pair() {
        (Datum::List(left), Datum::List(right)) if left.tuple && right.tuple => {
            machine.weigh(112 + 8 * (left.items.len() + right.items.len()))?;
            Ok(Datum::tuple(
                left.items.iter().chain(&right.items).cloned().collect(),
            ))
        }
        (Datum::Set(left), Datum::Set(right)) => {
            machine.weigh(112 + 8 * (left.items.len() + right.items.len()))?;
            Ok(Datum::set(
                left.items.iter().chain(&right.items).cloned().collect(),
            ))
        }
        (left, right) => chain(vec![left, right]),
    }
}

fn repeated(
    machine: &mut Machine<'_>,
    given: &mut CallArguments,
    list: usize,
    count: usize,
) -> Evaluated<Datum> {
    let Datum::List(list) = given.take(list) else {
        return Ok(Datum::Null);
    };
    let each = 8 * list.items.len();
    // yaql subtracts the memory of empty lists, so a tuple of one or two items counts as nothing
    // here.
    let count = times_of(
        given,
        count,
        if list.tuple {
            each.saturating_sub(16)
        } else {
            each
        },
    )?;
    let count = if list.items.is_empty() {
        0
    } else {
        usize::try_from(count).unwrap_or(0)
    };
    machine.weigh(each.saturating_mul(count).saturating_add(56))?;
    let items = (0..count)
        .flat_map(|_| list.items.iter().cloned())
        .collect();
    Ok(if list.tuple {
        Datum::tuple(items)
    } else {
        Datum::list(items)
    })
}

fn times(machine: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    repeated(machine, &mut given, 0, 1)
}

fn times_reversed(machine: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    repeated(machine, &mut given, 1, 0)
}

fn is_list(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    Ok(Datum::Bool(matches!(given.take(0), Datum::List(_))))
}

fn is_iterable(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    Ok(Datum::Bool(given.take(0).is_iterable()))
}

fn len(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    match given.take(0) {
        Datum::List(list) => Ok(Datum::count(list.items.len())),
        _ => Ok(Datum::Null),
    }
}

fn count(machine: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let mut items = given.items(0);
    let mut count = 0;
    while items.next(machine)?.is_some() {
        count += 1;
    }
    Ok(Datum::Int(count))
}

/// Whether an index is among `count` indices from a position on; a negative count means all.
fn among(at: i64, position: i64, count: i64) -> bool {
    if count >= 0 {
        position <= at && at < position.saturating_add(count)
    } else {
        at >= position
    }
}

fn delete(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let (depth, position, count) = (given.depth(), given.int(1), given.int(2));
    let (mut items, mut at) = (given.items(0), -1);
    stream(depth, move |machine: &mut Machine<'_>| {
        while let Some(item) = items.next(machine)? {
            at += 1;
            if !among(at, position, count) {
                return Ok(Some(item));
            }
        }
        Ok(None)
    })
}

fn replace(machine: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let value = given.take(2);
    given.slots[2] = Datum::tuple(vec![value]);
    replace_many(machine, given)
}

fn replace_many(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let (depth, position, count) = (given.depth(), given.int(1), given.int(3));
    let (mut items, mut at) = (given.items(0), -1);
    let (mut values, mut inserting, mut inserted) = (given.items(2), false, false);
    stream(depth, move |machine: &mut Machine<'_>| {
        loop {
            if inserting {
                match values.next(machine)? {
                    Some(value) => return Ok(Some(value)),
                    None => inserting = false,
                }
            }
            let Some(item) = items.next(machine)? else {
                return Ok(None);
            };
            at += 1;
            if !among(at, position, count) {
                return Ok(Some(item));
            }
            inserting = !inserted;
            inserted = true;
        }
    })
}

fn insert(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let (position, value) = (given.small(1)?, given.take(2));
    let Datum::List(list) = given.take(0) else {
        return Ok(Datum::Null);
    };
    let count = list.items.len() as i64;
    let place = if position < 0 {
        position.saturating_add(count).max(0)
    } else {
        position.min(count)
    };
    let mut items = list.items.clone();
    items.insert(usize::try_from(place).unwrap_or(0), value);
    Ok(Datum::list(items))
}

fn insert_lazily(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let (depth, position) = (given.depth(), given.int(1));
    let mut value = Some(given.take(2));
    let (mut items, mut at, mut held) = (given.items(0), -1, None);
    stream(depth, move |machine: &mut Machine<'_>| {
        if let Some(item) = held.take() {
            return Ok(Some(item));
        }
        match items.next(machine)? {
            Some(item) => {
                at += 1;
                if at == position {
                    held = Some(item);
                    return Ok(value.take());
                }
                Ok(Some(item))
            }
            None if position > at => Ok(value.take()),
            None => Ok(None),
        }
    })
}

fn insert_many(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let (depth, position) = (given.depth(), given.int(1));
    let (mut items, mut values) = (given.items(0), given.items(2));
    let (mut at, mut inserting, mut held, mut ended) = (-1, position < 0, None, false);
    stream(depth, move |machine: &mut Machine<'_>| {
        loop {
            if inserting {
                match values.next(machine)? {
                    Some(value) => return Ok(Some(value)),
                    None => inserting = false,
                }
            }
            if let Some(item) = held.take() {
                return Ok(Some(item));
            }
            if ended {
                return Ok(None);
            }
            match items.next(machine)? {
                Some(item) => {
                    at += 1;
                    if at != position {
                        return Ok(Some(item));
                    }
                    held = Some(item);
                    inserting = true;
                }
                None => {
                    ended = true;
                    inserting = position > at;
                }
            }
        }
    })
}
