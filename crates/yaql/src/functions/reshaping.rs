//! Functions that join, split, group and sort collections.

use std::rc::Rc;

use pycompat::BigInt;

use super::branching::is_true;
use super::given::{CallArguments, stream};
use super::lists::chain;
use super::row::{Row, both, method};
use super::selecting::{callable, number_of_items};
use crate::failure::{Evaluated, FailureKind, Halt};
use crate::key::equal;
use crate::model::{
    Cursor, Datum, DatumEntries, DatumKey, Lambda, Machine, Ordering, ReplayableSequence,
};

pub(super) const ROWS: &[Row] = &[
    both("append", "collection: iterable, *args: any?", append).documented(
        "The items with further ones appended.",
        "[1].append(2, 3)",
        "[1, 2, 3]",
    ),
    both("concat", "*collections: iterable", concat).documented(
        "The concatenation of several collections.",
        "[1].concat([2], [3])",
        "[1, 2, 3]",
    ),
    both("enumerate", "collection: iterable, start: int? = 0", enumerate).documented(
        "The items, each with its index.",
        "[a, b].enumerate(1)",
        r#"[[1, "a"], [2, "b"]]"#,
    ),
    method("zip", "*collections: iterable", zip).documented(
        "Lists of the first items of several collections, of the second items, and so on; ends with the shortest collection.",
        "[1, 2].zip([a, b, c])",
        r#"[[1, "a"], [2, "b"]]"#,
    ),
    method("zipLongest", "*collections: iterable, **kwargs: any?", zip_longest).documented(
        "The same to the end of the longest collection; null, or `default`, replaces missing items.",
        "[1, 2].zipLongest([a], default => 0)",
        r#"[[1, "a"], [2, 0]]"#,
    ),
    method("join", "collection1: iterable, collection2: iterable, predicate: lambda, selector: lambda", join).documented(
        "The value of an expression for each pair from two collections for which a condition is true.",
        "[1, 2].join([2, 3], $1 = $2, $1 + $2)",
        "[4]",
    ),
    method("reverse", "collection: iterable", reverse).documented(
        "The items in reverse order.",
        "[1, 2].reverse()",
        "[2, 1]",
    ),
    method("memorize", "collection: iterable", memorize).documented(
        "The same items in a form that can be iterated several times.",
        "let(x => range(2).memorize()) -> [$x.sum(), $x.len()]",
        "[1, 2]",
    ),
    method("defaultIfEmpty", "collection: iterable, default: iterable", default_if_empty).documented(
        "The items, or those of another collection if there are none.",
        "[].defaultIfEmpty([1])",
        "[1]",
    ),
    method("slice", "collection: iterable, length: int", slice).documented(
        "The items in lists of a given length.",
        "range(5).slice(2)",
        "[[0, 1], [2, 3], [4]]",
    ),
    method("splitWhere", "collection: iterable, predicate: lambda", split_where).documented(
        "The items in lists, split at each item for which a condition is true; that item is omitted.",
        "[1, 0, 2].splitWhere($ = 0)",
        "[[1], [2]]",
    ),
    method("sliceWhere", "collection: iterable, predicate: lambda", slice_where).documented(
        "The items in lists, split where the value of an expression changes.",
        "[1, 1, 2].sliceWhere($)",
        "[[1, 1], [2]]",
    ),
    method("splitAt", "collection: iterable, index: int", split_at).documented(
        "The items in two lists, split at a position.",
        "[1, 2, 3].splitAt(1)",
        "[[1], [2, 3]]",
    ),
    method("orderBy", "collection: iterable, selector: lambda", order_by).documented(
        "The items sorted by the value of an expression; the sort is stable.",
        "[3, 1, 2].orderBy($)",
        "[1, 2, 3]",
    ),
    method("orderByDescending", "collection: iterable, selector: lambda", order_by_descending).documented(
        "The items sorted in descending order.",
        "[3, 1, 2].orderByDescending($)",
        "[3, 2, 1]",
    ),
    method("thenBy", "collection: ordering, selector: lambda", then_by).documented(
        "Adds a sort key.",
        "[ba, ab, aa].orderBy($.substring(0, 1)).thenBy($)",
        r#"["aa", "ab", "ba"]"#,
    ),
    method("thenByDescending", "collection: ordering, selector: lambda", then_by_descending).documented(
        "Adds a sort key in descending order.",
        "[ba, aa, ab].orderBy($.substring(0, 1)).thenByDescending($)",
        r#"["ab", "aa", "ba"]"#,
    ),
    method(
        "groupBy",
        "collection: iterable, keySelector: lambda, valueSelector: lambda = null, aggregator: lambda = null",
        group_by,
    )
    .documented(
        "Pairs of a key and all items for which an expression gives that key, or the value of another expression for these items.",
        "[1, 2, 3].groupBy($ mod 2, $, $.sum())",
        "[[1, 4], [0, 2]]",
    ),
];

fn append(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let collection = given.take(0);
    chain(vec![collection, Datum::tuple(given.rest)])
}

fn concat(_: &mut Machine<'_>, given: CallArguments) -> Evaluated<Datum> {
    chain(given.rest)
}

fn enumerate(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let (depth, mut items) = (given.depth(), given.items(0));
    let mut number = given.take(1).exact();
    stream(depth, move |machine: &mut Machine<'_>| {
        let Some(number) = &mut number else {
            return Err(Halt::failed(
                "'NoneType' object cannot be interpreted as an integer",
            ));
        };
        let Some(item) = items.next(machine)? else {
            return Ok(None);
        };
        let pair = Datum::list(vec![Datum::integer(number.clone()), item]);
        *number += BigInt::from(1);
        Ok(Some(pair))
    })
}

fn zip(_: &mut Machine<'_>, given: CallArguments) -> Evaluated<Datum> {
    let depth = given.depth();
    let mut collections: Vec<Cursor> = given.rest.into_iter().map(Cursor::of).collect();
    stream(depth, move |machine: &mut Machine<'_>| {
        let mut row = Vec::with_capacity(collections.len());
        for collection in &mut collections {
            match collection.next(machine)? {
                Some(item) => row.push(item),
                None => return Ok(None),
            }
        }
        Ok((!row.is_empty()).then(|| Datum::tuple(row)))
    })
}

fn zip_longest(_: &mut Machine<'_>, given: CallArguments) -> Evaluated<Datum> {
    let depth = given.depth();
    let filler = given
        .named
        .into_iter()
        .find(|(name, _)| **name == *"default")
        .map(|(_, value)| value)
        .unwrap_or_default();
    let mut collections: Vec<Option<Cursor>> = given
        .rest
        .into_iter()
        .map(|one| Some(Cursor::of(one)))
        .collect();
    stream(depth, move |machine: &mut Machine<'_>| {
        let mut row = Vec::with_capacity(collections.len());
        for collection in &mut collections {
            let item = match collection {
                Some(open) => open.next(machine)?,
                None => None,
            };
            row.push(item.unwrap_or_else(|| {
                *collection = None;
                filler.clone()
            }));
        }
        Ok(collections
            .iter()
            .any(Option::is_some)
            .then(|| Datum::tuple(row)))
    })
}

/// Returns the collection in a form that can be iterated several times.
fn remembering(machine: &mut Machine<'_>, collection: Datum) -> Datum {
    match collection {
        Datum::Stream(_) => Datum::Memory(Rc::new(ReplayableSequence::new(collection, machine))),
        other => other,
    }
}

fn join(machine: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let depth = given.depth();
    let (mut left, right) = (given.items(0), given.take(1));
    let right = remembering(machine, right);
    let (predicate, selector) = (callable(&mut given, 2)?, callable(&mut given, 3)?);
    let mut open: Option<(Datum, Cursor)> = None;
    stream(depth, move |machine: &mut Machine<'_>| {
        loop {
            if let Some((item, others)) = &mut open {
                while let Some(other) = others.next(machine)? {
                    let pair = [item.clone(), other];
                    if is_true(machine, Some(&predicate), &pair)? {
                        return machine.apply(&selector, &pair).map(Some);
                    }
                }
            }
            match left.next(machine)? {
                Some(item) => open = Some((item, Cursor::of(right.clone()))),
                None => return Ok(None),
            }
        }
    })
}

fn reverse(machine: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let depth = given.depth();
    let mut items = machine.collect(given.take(0))?;
    stream(depth, move |_: &mut Machine<'_>| Ok(items.pop()))
}

fn memorize(machine: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let collection = given.take(0);
    Ok(remembering(machine, collection))
}

fn default_if_empty(machine: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let (collection, default) = given.pair();
    let collection = remembering(machine, collection);
    let first = Cursor::of(collection.clone()).next(machine)?;
    Ok(if first.is_some() { collection } else { default })
}

fn slice(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    // yaql fails on a wrong length when the first item is requested.
    let mut length = Some(number_of_items(&given, "Stop argument for"));
    let (mut most, depth, mut items) = (0, given.depth(), given.items(0));
    stream(depth, move |machine: &mut Machine<'_>| {
        if let Some(length) = length.take() {
            most = length?;
        }
        let mut slice = Vec::new();
        while (slice.len() as u64) < most {
            match items.next(machine)? {
                Some(item) => slice.push(item),
                None => break,
            }
        }
        Ok((!slice.is_empty()).then(|| Datum::tuple(slice)))
    })
}

fn split_where(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let (depth, predicate) = (given.depth(), callable(&mut given, 1)?);
    let (mut items, mut ended) = (given.items(0), false);
    stream(depth, move |machine: &mut Machine<'_>| {
        if ended {
            return Ok(None);
        }
        let mut part = Vec::new();
        while let Some(item) = items.next(machine)? {
            if is_true(machine, Some(&predicate), std::slice::from_ref(&item))? {
                return Ok(Some(Datum::tuple(part)));
            }
            part.push(item);
        }
        ended = true;
        Ok((!part.is_empty()).then(|| Datum::tuple(part)))
    })
}

fn slice_where(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let (depth, selector) = (given.depth(), callable(&mut given, 1)?);
    let mut items = given.items(0);
    // The first item of the next list, with the value of the expression.
    let mut next: Option<(Datum, Datum)> = None;
    stream(depth, move |machine: &mut Machine<'_>| {
        let mut part = Vec::new();
        let mut before = next.take().map(|(item, value)| {
            part.push(item);
            value
        });
        while let Some(item) = items.next(machine)? {
            let value = machine.apply(&selector, std::slice::from_ref(&item))?;
            if before.as_ref().is_some_and(|before| !equal(before, &value)) {
                next = Some((item, value));
                return Ok(Some(Datum::tuple(part)));
            }
            part.push(item);
            before = Some(value);
        }
        Ok((!part.is_empty()).then(|| Datum::tuple(part)))
    })
}

fn split_at(machine: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let index = given.int(1);
    let mut items = machine.collect(given.take(0))?;
    let count = items.len() as i64;
    let place = if index < 0 {
        index.saturating_add(count).max(0)
    } else {
        index.min(count)
    };
    let rest = items.split_off(usize::try_from(place).unwrap_or(0));
    Ok(Datum::list(vec![Datum::tuple(items), Datum::tuple(rest)]))
}

fn ordered(
    machine: &mut Machine<'_>,
    mut given: CallArguments,
    ascending: bool,
) -> Evaluated<Datum> {
    let ordering = Ordering::new(given.take(0), machine);
    ordering.then(callable(&mut given, 1)?, ascending, machine);
    Ok(Datum::Ordering(Rc::new(ordering)))
}

fn order_by(machine: &mut Machine<'_>, given: CallArguments) -> Evaluated<Datum> {
    ordered(machine, given, true)
}

fn order_by_descending(machine: &mut Machine<'_>, given: CallArguments) -> Evaluated<Datum> {
    ordered(machine, given, false)
}

fn then(machine: &mut Machine<'_>, mut given: CallArguments, ascending: bool) -> Evaluated<Datum> {
    let selector = callable(&mut given, 1)?;
    let ordering = given.take(0);
    if let Datum::Ordering(ordering) = &ordering {
        ordering.then(selector, ascending, machine);
    }
    Ok(ordering)
}

fn then_by(machine: &mut Machine<'_>, given: CallArguments) -> Evaluated<Datum> {
    then(machine, given, true)
}

fn then_by_descending(machine: &mut Machine<'_>, given: CallArguments) -> Evaluated<Datum> {
    then(machine, given, false)
}

fn group_by(machine: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let (key_of, value_of) = (callable(&mut given, 1)?, given.lambda(2));
    let mut items = given.items(0);
    let mut groups: indexmap::IndexMap<DatumKey, Vec<Datum>, foldhash::fast::FixedState> =
        Default::default();
    while let Some(item) = items.next(machine)? {
        let value = match &value_of {
            Some(value_of) => machine.apply(value_of, std::slice::from_ref(&item))?,
            None => item.clone(),
        };
        let key = DatumKey::of(machine.apply(&key_of, &[item])?)?;
        groups.entry(key).or_default().push(value);
        machine.weigh(56 + 8 * groups.len())?;
    }
    let groups: DatumEntries = groups
        .into_iter()
        .map(|(key, values)| (key, Datum::list(values)))
        .collect();
    let depth = groups
        .values()
        .map(Datum::depth)
        .max()
        .unwrap_or(0)
        .max(given.depth())
        + 1;
    let mut aggregator = given.lambda(3).map(|aggregator| Aggregator {
        aggregator,
        pairs: true,
        failure: None,
    });
    let mut groups = groups.into_iter();
    stream(depth, move |machine: &mut Machine<'_>| {
        let Some((key, values)) = groups.next() else {
            return Ok(None);
        };
        match &mut aggregator {
            Some(aggregator) => aggregator.group(machine, key.value, values).map(Some),
            None => Ok(Some(Datum::tuple(vec![key.value, values]))),
        }
    })
}

/// Applies an expression to each group.
///
/// The expression gets the values of the group. Old expressions got the pair of key and values and
/// returned a pair: if the new form fails, the old one is tried, unless the new form has worked for
/// an earlier group.
struct Aggregator {
    aggregator: Rc<Lambda>,
    /// Whether the expression may still have the old form.
    pairs: bool,
    /// The failure of the new form.
    failure: Option<(FailureKind, String)>,
}

impl Aggregator {
    fn group(&mut self, machine: &mut Machine<'_>, key: Datum, values: Datum) -> Evaluated<Datum> {
        if self.failure.is_none() {
            match machine
                .attempt(|machine| machine.apply(&self.aggregator, std::slice::from_ref(&values)))
            {
                Ok(result) => {
                    self.pairs &= looks_like_a_pair(&result, &values);
                    return Ok(Datum::tuple(vec![key, result]));
                }
                Err(halt) => match *halt {
                    Halt::Failed { kind, message, .. } if does_not_fit(kind, &message) => {
                        self.failure = Some((kind, message));
                    }
                    other => return Err(Box::new(other)),
                },
            }
        }
        if self.pairs {
            let pair = Datum::tuple(vec![key, values]);
            match machine.attempt(|machine| machine.apply(&self.aggregator, &[pair])) {
                Ok(result) if length(&result) == Some(2) => return Ok(result),
                Err(halt) if halt.kind().is_none_or(|kind| kind == FailureKind::Limit) => {
                    return Err(halt);
                }
                _ => {}
            }
        }
        let (kind, message) = self
            .failure
            .clone()
            .unwrap_or((FailureKind::Failed, String::new()));
        Err(Box::new(Halt::Failed {
            kind,
            message,
            span: None,
            help: None,
        }))
    }
}

/// Whether a failure means that the expression does not take the values of a group.
fn does_not_fit(kind: FailureKind, message: &str) -> bool {
    match kind {
        FailureKind::NoMatch => !message.starts_with("Ambiguous"),
        FailureKind::Failed => message.ends_with("index out of range"),
        _ => false,
    }
}

fn looks_like_a_pair(result: &Datum, values: &Datum) -> bool {
    match (result, values) {
        (Datum::List(result), Datum::List(values)) => {
            values.items.len() == 2
                && result.items.len() == 2
                && equal(&result.items[0], &values.items[0])
        }
        _ => false,
    }
}

fn length(value: &Datum) -> Option<usize> {
    match value {
        Datum::List(list) => Some(list.items.len()),
        Datum::Map(map) | Datum::View(_, map) => Some(map.entries.len()),
        Datum::Set(set) => Some(set.items.len()),
        Datum::Text(text) => Some(text.chars().count()),
        _ => None,
    }
}
