//! Comparison functions.

use std::cmp::Ordering;

use super::given::CallArguments;
use super::lists::has_item;
use super::row::{Row, operator, plain};
use crate::arithmetic;
use crate::failure::Evaluated;
use crate::key::equal;
use crate::model::{Cursor, Datum, Machine};

pub(super) const ROWS: &[Row] = &[
    operator("*equal", "left: any?, right: any?", equals).documented(
        "Whether two values are equal: 1, 1.0 and true are; the order of lists counts, that of maps does not.",
        "{a => 1} = {a => 1.0}",
        "true",
    ),
    operator("*not_equal", "left: any?, right: any?", differs).documented(
        "Whether two values differ.",
        "1 != '1'",
        "true",
    ),
    operator("#operator_<", "left: number, right: number", less).documented(
        "Whether a number is smaller.",
        "1 < 1.5",
        "true",
    ),
    operator("#operator_<=", "left: number, right: number", at_most).documented(
        "Whether a number is smaller or equal.",
        "1 <= 1.0",
        "true",
    ),
    operator("#operator_>", "left: number, right: number", greater).documented(
        "Whether a number is greater.",
        "2 > 1",
        "true",
    ),
    operator("#operator_>=", "left: number, right: number", at_least).documented(
        "Whether a number is greater or equal.",
        "1 >= 2",
        "false",
    ),
    operator("#operator_<", "left: text, right: text", less).documented(
        "Whether a text comes before another, by characters.",
        "'B' < 'a'",
        "true",
    ),
    operator("#operator_<=", "left: text, right: text", at_most).documented(
        "Whether a text comes before another or is equal.",
        "a <= a",
        "true",
    ),
    operator("#operator_>", "left: text, right: text", greater).documented(
        "Whether a text comes after another.",
        "ab > a",
        "true",
    ),
    operator("#operator_>=", "left: text, right: text", at_least).documented(
        "Whether a text comes after another or is equal.",
        "a >= b",
        "false",
    ),
    operator("#operator_<", "left: any, right: null?", never).documented(
        "Nothing is less than null.",
        "a < null",
        "false",
    ),
    operator("#operator_<=", "left: any, right: null?", never).documented(
        "Nothing is less than null.",
        "1 <= null",
        "false",
    ),
    operator("#operator_>", "left: any, right: null?", always).documented(
        "Everything is greater than null.",
        "1 > null",
        "true",
    ),
    operator("#operator_>=", "left: any, right: null?", always).documented(
        "Everything is greater than null.",
        "[] >= null",
        "true",
    ),
    operator("#operator_<", "left: null?, right: any", always).documented(
        "Null is less than everything.",
        "null < 1",
        "true",
    ),
    operator("#operator_<=", "left: null?, right: any", always).documented(
        "Null is less than everything.",
        "null <= a",
        "true",
    ),
    operator("#operator_>", "left: null?, right: any", never).documented(
        "Null is greater than nothing.",
        "null > 1",
        "false",
    ),
    operator("#operator_>=", "left: null?, right: any", never).documented(
        "Null is greater than nothing.",
        "null >= 1",
        "false",
    ),
    operator("#operator_<", "left: null?, right: null?", never).documented(
        "Null is not less than itself.",
        "null < null",
        "false",
    ),
    operator("#operator_<=", "left: null?, right: null?", always).documented(
        "Null is equal to itself.",
        "null <= null",
        "true",
    ),
    operator("#operator_>", "left: null?, right: null?", never).documented(
        "Null is not greater than itself.",
        "null > null",
        "false",
    ),
    operator("#operator_>=", "left: null?, right: null?", always).documented(
        "Null is equal to itself.",
        "null >= null",
        "true",
    ),
    operator("#operator_<", "left: set, right: set", subset).documented(
        "Whether a set is a proper subset of another.",
        "set(1) < set(1, 2)",
        "true",
    ),
    operator("#operator_<=", "left: set, right: set", subset_or_equal).documented(
        "Whether a set is a subset of another.",
        "set(1, 2) <= set(1, 2)",
        "true",
    ),
    operator("#operator_>", "left: set, right: set", superset).documented(
        "Whether a set is a proper superset of another.",
        "set(1) > set(1)",
        "false",
    ),
    operator("#operator_>=", "left: set, right: set", superset_or_equal).documented(
        "Whether a set is a superset of another.",
        "set(1, 2) >= set(1)",
        "true",
    ),
    operator("#operator_<", "left: datetime, right: datetime", less).documented(
        "Whether a time is before another.",
        "datetime(2020, 1, 1) < datetime(2021, 1, 1)",
        "true",
    ),
    operator("#operator_<=", "left: datetime, right: datetime", at_most).documented(
        "Whether a time is not after another.",
        "datetime(2020, 1, 1) <= datetime(2020, 1, 1)",
        "true",
    ),
    operator("#operator_>", "left: datetime, right: datetime", greater).documented(
        "Whether a time is after another.",
        "datetime(2020, 1, 1) > datetime(2021, 1, 1)",
        "false",
    ),
    operator("#operator_>=", "left: datetime, right: datetime", at_least).documented(
        "Whether a time is not before another.",
        "datetime(2020, 1, 1) >= datetime(2021, 1, 1)",
        "false",
    ),
    operator("#operator_<", "left: timespan, right: timespan", less).documented(
        "Whether a timespan is shorter.",
        "timespan(hours => 1) < timespan(days => 1)",
        "true",
    ),
    operator("#operator_<=", "left: timespan, right: timespan", at_most).documented(
        "Whether a timespan is not longer.",
        "timespan(hours => 24) <= timespan(days => 1)",
        "true",
    ),
    operator("#operator_>", "left: timespan, right: timespan", greater).documented(
        "Whether a timespan is longer.",
        "timespan(hours => 1) > timespan(days => 1)",
        "false",
    ),
    operator("#operator_>=", "left: timespan, right: timespan", at_least).documented(
        "Whether a timespan is not shorter.",
        "timespan(hours => 24) >= timespan(days => 1)",
        "true",
    ),
    plain("max", "a: any?, b: any?", max).documented("The greater one.", "max(1, 2)", "2"),
    plain("min", "a: any?, b: any?", min).documented("The smaller one.", "min(1, 2)", "1"),
];

fn equals(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let (left, right) = given.pair();
    Ok(Datum::Bool(equal(&left, &right)))
}

fn differs(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let (left, right) = given.pair();
    Ok(Datum::Bool(!equal(&left, &right)))
}

/// Compares two values of one kind; `None` for NaN.
fn compare(given: &mut CallArguments) -> Option<Ordering> {
    match given.pair() {
        (Datum::Text(left), Datum::Text(right)) => Some(left.cmp(&right)),
        (Datum::Moment(left), Datum::Moment(right)) => Some(left.instant().cmp(&right.instant())),
        (Datum::Timespan(left), Datum::Timespan(right)) => {
            Some(left.microseconds().cmp(&right.microseconds()))
        }
        (left, right) => arithmetic::compare(&left, &right),
    }
}

fn less(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    Ok(Datum::Bool(
        compare(&mut given).is_some_and(Ordering::is_lt),
    ))
}

fn at_most(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    Ok(Datum::Bool(
        compare(&mut given).is_some_and(Ordering::is_le),
    ))
}

fn greater(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    Ok(Datum::Bool(
        compare(&mut given).is_some_and(Ordering::is_gt),
    ))
}

fn at_least(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    Ok(Datum::Bool(
        compare(&mut given).is_some_and(Ordering::is_ge),
    ))
}

fn always(_: &mut Machine<'_>, _: CallArguments) -> Evaluated<Datum> {
    Ok(Datum::Bool(true))
}

fn never(_: &mut Machine<'_>, _: CallArguments) -> Evaluated<Datum> {
    Ok(Datum::Bool(false))
}

/// The number of items of a set, or of a view that acts as a set.
fn size(set: &Datum) -> usize {
    match set {
        Datum::Set(set) => set.items.len(),
        Datum::View(_, map) => map.entries.len(),
        _ => 0,
    }
}

/// Whether a set has all items of another set and, if `more` is set, further items.
fn within(machine: &mut Machine<'_>, part: Datum, whole: &Datum, more: bool) -> Evaluated<Datum> {
    if size(&part) + usize::from(more) > size(whole) {
        return Ok(Datum::Bool(false));
    }
    let mut items = Cursor::of(part);
    while let Some(item) = items.next(machine)? {
        if !has_item(machine, whole, &item)? {
            return Ok(Datum::Bool(false));
        }
    }
    Ok(Datum::Bool(true))
}

fn subset(machine: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let (left, right) = given.pair();
    within(machine, left, &right, true)
}

fn subset_or_equal(machine: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let (left, right) = given.pair();
    within(machine, left, &right, false)
}

fn superset(machine: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let (left, right) = given.pair();
    within(machine, right, &left, true)
}

fn superset_or_equal(machine: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let (left, right) = given.pair();
    within(machine, right, &left, false)
}

fn max(machine: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let (a, b) = given.pair();
    Ok(if machine.operator("#operator_>", &b, &a)?.truth() {
        b
    } else {
        a
    })
}

fn min(machine: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let (a, b) = given.pair();
    Ok(if machine.operator("#operator_>", &b, &a)?.truth() {
        a
    } else {
        b
    })
}
