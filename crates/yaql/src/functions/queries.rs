//! Aggregation: one value from many.

use super::given::{CallArguments, stream};
use super::row::{Row, method};
use super::selecting::callable;
use crate::failure::{Evaluated, Halt};
use crate::model::{Cursor, Datum, Machine};

pub(super) const ROWS: &[Row] = &[
    method("sum", "collection: iterable, initial: any? = absent", sum).documented(
        "The sum of all items and of an optional initial value, with `+`.",
        "[1, 2.5].sum()",
        "3.5",
    ),
    method("max", "collection: iterable, initial: any? = absent", max).documented(
        "The greatest item.",
        "[1, 3, 2].max()",
        "3",
    ),
    method("min", "collection: iterable, initial: any? = absent", min).documented(
        "The smallest item.",
        "[2, 1].min(0)",
        "0",
    ),
    method(
        "aggregate",
        "collection: iterable, selector: lambda, seed: any? = absent",
        aggregate,
    )
    .documented(
        "The items folded by an expression of the result so far, `$1`, and the item, `$2`.",
        "[1, 2, 3].aggregate($1 * $2, 2)",
        "12",
    ),
    method(
        "reduce",
        "collection: iterable, selector: lambda, seed: any? = absent",
        aggregate,
    )
    .documented(
        "The items folded by an expression of the result so far, `$1`, and the item, `$2`.",
        "[1, 2, 3].reduce($1 + $2)",
        "6",
    ),
    method(
        "accumulate",
        "collection: iterable, selector: lambda, seed: any? = absent",
        accumulate,
    )
    .documented(
        "All intermediate results of a fold, beginning with the initial value.",
        "[1, 2, 3].accumulate($1 + $2)",
        "[1, 3, 6]",
    ),
];

/// Folds the items, beginning with an initial value or the first item.
fn fold(
    machine: &mut Machine<'_>,
    mut items: Cursor,
    first: Datum,
    mut combine: impl FnMut(&mut Machine<'_>, Datum, Datum) -> Evaluated<Datum>,
) -> Evaluated<Datum> {
    let mut all = match first {
        Datum::Absent => items
            .next(machine)?
            .ok_or_else(|| Halt::failed("reduce() of empty iterable with no initial value"))?,
        first => first,
    };
    while let Some(item) = items.next(machine)? {
        all = combine(machine, all, item)?;
    }
    Ok(all)
}

fn by_function(
    machine: &mut Machine<'_>,
    mut given: CallArguments,
    name: &str,
) -> Evaluated<Datum> {
    let (items, first) = (given.items(0), given.take(1));
    fold(machine, items, first, |machine, left, right| {
        machine.plain(name, vec![left, right])
    })
}

fn sum(machine: &mut Machine<'_>, given: CallArguments) -> Evaluated<Datum> {
    by_function(machine, given, "#operator_+")
}

fn max(machine: &mut Machine<'_>, given: CallArguments) -> Evaluated<Datum> {
    by_function(machine, given, "max")
}

fn min(machine: &mut Machine<'_>, given: CallArguments) -> Evaluated<Datum> {
    by_function(machine, given, "min")
}

fn aggregate(machine: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let selector = callable(&mut given, 1)?;
    let (items, first) = (given.items(0), given.take(2));
    fold(machine, items, first, |machine, left, right| {
        machine.apply(&selector, &[left, right])
    })
}

fn accumulate(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let (depth, selector) = (given.depth(), callable(&mut given, 1)?);
    let (mut items, seed) = (given.items(0), given.take(2));
    let mut all: Option<Datum> = None;
    stream(depth, move |machine: &mut Machine<'_>| {
        let next = match (&all, &seed) {
            (Some(all), _) => match items.next(machine)? {
                Some(item) => machine.apply(&selector, &[all.clone(), item])?,
                None => return Ok(None),
            },
            (None, Datum::Absent) => items.next(machine)?.ok_or_else(|| {
                Halt::failed("accumulate() of empty sequence with no initial value")
            })?,
            (None, seed) => seed.clone(),
        };
        all = Some(next.clone());
        Ok(Some(next))
    })
}
