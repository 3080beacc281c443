//! Functions that select and transform items.

use std::rc::Rc;

use super::branching::is_true;
use super::given::{CallArguments, stream};
use super::row::{Row, both, method};
use crate::failure::{Evaluated, Halt};
use crate::key::equal;
use crate::model::{Cursor, Datum, DatumKey, Keys, Lambda, Machine};

pub(super) const ROWS: &[Row] = &[
    method("where", "collection: iterable, predicate: lambda", where_).documented(
        "The items for which a condition is true.",
        "[1, 2, 3].where($ > 1)",
        "[2, 3]",
    ),
    method("filter", "collection: iterable, predicate: lambda", where_).documented(
        "The items for which a condition is true.",
        "[1, 2, 3].filter($ > 1)",
        "[2, 3]",
    ),
    method("select", "collection: iterable, selector: lambda", select).documented(
        "The value of an expression for each item.",
        "[1, 2].select($ * 2)",
        "[2, 4]",
    ),
    method("map", "collection: iterable, selector: lambda", select).documented(
        "The value of an expression for each item.",
        "[1, 2].map($ * 2)",
        "[2, 4]",
    ),
    method(
        "selectMany",
        "collection: iterable, selector: lambda",
        select_many,
    )
    .documented(
        "The value of an expression for each item; collections are replaced by their items.",
        "[1, 2].selectMany([$, 0])",
        "[1, 0, 2, 0]",
    ),
    method("skip", "collection: iterable, count: int", skip).documented(
        "The items without the first ones.",
        "[1, 2, 3].skip(1)",
        "[2, 3]",
    ),
    method("limit", "collection: iterable, count: int", limit).documented(
        "The first items.",
        "[1, 2, 3].limit(2)",
        "[1, 2]",
    ),
    method("take", "collection: iterable, count: int", limit).documented(
        "The first items.",
        "[1, 2, 3].take(2)",
        "[1, 2]",
    ),
    method(
        "takeWhile",
        "collection: iterable, predicate: lambda",
        take_while,
    )
    .documented(
        "The items before the first one for which a condition is false.",
        "[1, 3, 1].takeWhile($ < 2)",
        "[1]",
    ),
    method(
        "skipWhile",
        "collection: iterable, predicate: lambda",
        skip_while,
    )
    .documented(
        "The items from the first one for which a condition is false.",
        "[1, 3, 1].skipWhile($ < 2)",
        "[3, 1]",
    ),
    both(
        "distinct",
        "collection: iterable, keySelector: lambda = null",
        distinct,
    )
    .documented(
        "The distinct items, or those with a distinct value of an expression.",
        "[1, 2, 1.0].distinct()",
        "[1, 2]",
    ),
    both("any", "collection: iterable, predicate: lambda = null", any).documented(
        "Whether a condition is true for an item; without one, whether there are items.",
        "[1, 2].any($ > 1)",
        "true",
    ),
    both("all", "collection: iterable, predicate: lambda = null", all).documented(
        "Whether a condition is true for all items; without one, whether all items are true.",
        "[1, 0].all()",
        "false",
    ),
    method(
        "first",
        "collection: iterable, default: any? = absent",
        first,
    )
    .documented(
        "The first item; if there is none, the default or a failure.",
        "[].first(0)",
        "0",
    ),
    method("last", "collection: iterable, default: any? = absent", last).documented(
        "The last item; if there is none, the default or a failure.",
        "[1, 2].last()",
        "2",
    ),
    method("single", "collection: iterable", single).documented(
        "The only item; fails if there is not exactly one.",
        "[1].single()",
        "1",
    ),
    method("indexOf", "collection: iterable, item: any?", index_of).documented(
        "The index of the first equal item; -1 if there is none.",
        "[1, 2, 2].indexOf(2)",
        "1",
    ),
    method(
        "lastIndexOf",
        "collection: iterable, item: any?",
        last_index_of,
    )
    .documented(
        "The index of the last equal item; -1 if there is none.",
        "[1, 2, 2].lastIndexOf(2)",
        "2",
    ),
    method(
        "indexWhere",
        "collection: iterable, predicate: lambda",
        index_where,
    )
    .documented(
        "The index of the first item for which a condition is true; -1 if there is none.",
        "[1, 2, 2].indexWhere($ = 2)",
        "1",
    ),
    method(
        "lastIndexWhere",
        "collection: iterable, predicate: lambda",
        last_index_where,
    )
    .documented(
        "The index of the last item for which a condition is true; -1 if there is none.",
        "[1, 2, 2].lastIndexWhere($ = 2)",
        "2",
    ),
];

/// Takes a lambda argument. Fails if it is null.
pub(super) fn callable(given: &mut CallArguments, at: usize) -> Evaluated<Rc<Lambda>> {
    given
        .lambda(at)
        .ok_or_else(|| Halt::failed("'NoneType' object is not callable"))
}

/// Returns the number of items to take or skip. Fails with Python's message if the number is
/// invalid.
pub(super) fn number_of_items(given: &CallArguments, unreadable: &str) -> Evaluated<u64> {
    let count = given.small(1).unwrap_or(-1);
    u64::try_from(count).map_err(|_| {
        let words = if count == -1 {
            unreadable
        } else {
            "Indices for"
        };
        Halt::failed(format!(
            "{words} islice() must be None or an integer: 0 <= x <= sys.maxsize."
        ))
    })
}

fn where_(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let (depth, mut items, predicate) = (given.depth(), given.items(0), given.lambda(1));
    stream(depth, move |machine: &mut Machine<'_>| {
        while let Some(item) = items.next(machine)? {
            if is_true(machine, predicate.as_ref(), std::slice::from_ref(&item))? {
                return Ok(Some(item));
            }
        }
        Ok(None)
    })
}

fn select(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let (depth, mut items, selector) = (given.depth(), given.items(0), callable(&mut given, 1)?);
    stream(depth, move |machine: &mut Machine<'_>| {
        match items.next(machine)? {
            Some(item) => machine.apply(&selector, &[item]).map(Some),
            None => Ok(None),
        }
    })
}

fn select_many(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let (depth, mut items, selector) = (given.depth(), given.items(0), callable(&mut given, 1)?);
    let mut inner: Option<Cursor> = None;
    stream(depth, move |machine: &mut Machine<'_>| {
        loop {
            if let Some(open) = &mut inner {
                match open.next(machine)? {
                    Some(item) => return Ok(Some(item)),
                    None => inner = None,
                }
            }
            let Some(item) = items.next(machine)? else {
                return Ok(None);
            };
            match machine.apply(&selector, &[item])? {
                many if many.is_iterable() => inner = Some(Cursor::of(many)),
                one => return Ok(Some(one)),
            }
        }
    })
}

fn skip(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let mut left = number_of_items(&given, "Indices for")?;
    let (depth, mut items) = (given.depth(), given.items(0));
    stream(depth, move |machine: &mut Machine<'_>| {
        while left > 0 && items.next(machine)?.is_some() {
            left -= 1;
        }
        left = 0;
        items.next(machine)
    })
}

fn limit(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let mut left = number_of_items(&given, "Stop argument for")?;
    let (depth, mut items) = (given.depth(), given.items(0));
    stream(depth, move |machine: &mut Machine<'_>| {
        if left == 0 {
            return Ok(None);
        }
        left -= 1;
        items.next(machine)
    })
}

fn take_while(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let (depth, mut items, predicate) = (given.depth(), given.items(0), callable(&mut given, 1)?);
    stream(depth, move |machine: &mut Machine<'_>| {
        let Some(item) = items.next(machine)? else {
            return Ok(None);
        };
        let goes_on = is_true(machine, Some(&predicate), std::slice::from_ref(&item))?;
        Ok(goes_on.then_some(item))
    })
}

fn skip_while(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let (depth, mut items, predicate) = (given.depth(), given.items(0), callable(&mut given, 1)?);
    let mut skipping = true;
    stream(depth, move |machine: &mut Machine<'_>| {
        while let Some(item) = items.next(machine)? {
            skipping = skipping && is_true(machine, Some(&predicate), std::slice::from_ref(&item))?;
            if !skipping {
                return Ok(Some(item));
            }
        }
        Ok(None)
    })
}

fn distinct(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let (depth, mut items, selector) = (given.depth(), given.items(0), given.lambda(1));
    let mut seen = Keys::default();
    stream(depth, move |machine: &mut Machine<'_>| {
        while let Some(item) = items.next(machine)? {
            let key = match &selector {
                Some(selector) => machine.apply(selector, std::slice::from_ref(&item))?,
                None => item.clone(),
            };
            if seen.insert(DatumKey::of(key)?) {
                machine.weigh(56 + 8 * seen.len())?;
                return Ok(Some(item));
            }
        }
        Ok(None)
    })
}

fn any(machine: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let (mut items, predicate) = (given.items(0), given.lambda(1));
    while let Some(item) = items.next(machine)? {
        if predicate.is_none() || is_true(machine, predicate.as_ref(), &[item])? {
            return Ok(Datum::Bool(true));
        }
    }
    Ok(Datum::Bool(false))
}

fn all(machine: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let (mut items, predicate) = (given.items(0), given.lambda(1));
    while let Some(item) = items.next(machine)? {
        if !is_true(machine, predicate.as_ref(), &[item])? {
            return Ok(Datum::Bool(false));
        }
    }
    Ok(Datum::Bool(true))
}

/// Returns the default for an empty collection. Fails without a message, as yaql does, if there is
/// no default.
fn or_default(default: Datum) -> Evaluated<Datum> {
    match default {
        Datum::Absent => Err(Halt::failed("")),
        default => Ok(default),
    }
}

fn first(machine: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    match given.items(0).next(machine)? {
        Some(item) => Ok(item),
        None => or_default(given.take(1)),
    }
}

fn last(machine: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let mut found = None;
    match given.take(0) {
        Datum::List(list) => found = list.items.last().cloned(),
        other => {
            let mut items = Cursor::of(other);
            while let Some(item) = items.next(machine)? {
                found = Some(item);
            }
        }
    }
    found.map_or_else(|| or_default(given.take(1)), Ok)
}

fn single(machine: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let mut items = given.items(0);
    let item = items.next(machine)?.ok_or_else(|| Halt::failed(""))?;
    match items.next(machine)? {
        None => Ok(item),
        Some(_) => Err(Halt::failed("Collection contains more than one item")),
    }
}

/// Returns the index of the first or last item that passes a test; -1 if there is none.
fn find(
    machine: &mut Machine<'_>,
    mut items: Cursor,
    last: bool,
    mut test: impl FnMut(&mut Machine<'_>, Datum) -> Evaluated<bool>,
) -> Evaluated<Datum> {
    let (mut at, mut found) = (0, -1);
    while let Some(item) = items.next(machine)? {
        if test(machine, item)? {
            found = at;
            if !last {
                break;
            }
        }
        at += 1;
    }
    Ok(Datum::Int(found))
}

fn index_of(machine: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let (items, sought) = (given.items(0), given.take(1));
    find(machine, items, false, |_, item| Ok(equal(&item, &sought)))
}

fn last_index_of(machine: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let (items, sought) = (given.items(0), given.take(1));
    find(machine, items, true, |_, item| Ok(equal(&item, &sought)))
}

fn index_where(machine: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let (items, predicate) = (given.items(0), callable(&mut given, 1)?);
    find(machine, items, false, |machine, item| {
        is_true(machine, Some(&predicate), &[item])
    })
}

fn last_index_where(machine: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let (items, predicate) = (given.items(0), callable(&mut given, 1)?);
    find(machine, items, true, |machine, item| {
        is_true(machine, Some(&predicate), &[item])
    })
}
