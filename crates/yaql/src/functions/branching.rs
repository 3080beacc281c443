//! Functions that choose between expressions and evaluate only the chosen ones.

use std::rc::Rc;

use super::given::{CallArguments, stream};
use super::row::{Row, method, operator, plain};
use crate::failure::Evaluated;
use crate::model::{Datum, Lambda, Machine};

pub(super) const ROWS: &[Row] = &[
    operator("#operator_and", "left: lambda, right: lambda", and).documented(
        "The left side if that is false, else the right one.",
        "1 and 2",
        "2",
    ),
    operator("#operator_or", "left: lambda, right: lambda", or).documented(
        "The left side if that is true, else the right one.",
        "0 or 5",
        "5",
    ),
    operator("#unary_operator_not", "arg: any?", not).documented("Whether a value is false.", "not 0", "true"),
    plain("bool", "value: any?", bool_).documented(
        "Whether a value is true; null, false, 0 and empty values are not.",
        "bool('')",
        "false",
    ),
    plain("isBoolean", "value: any?", is_boolean).documented("Whether a value is a boolean.", "isBoolean(1)", "false"),
    plain("switch", "*args: rules", switch).taking_rules().documented(
        "The value of the first condition that is true; null if none is.",
        "switch(1 > 2 => a, true => b)",
        r#""b""#,
    ),
    plain("selectCase", "*args: lambda", select_case).documented(
        "The index of the first condition that is true; the number of conditions if none is.",
        "selectCase(false, 2 > 1)",
        "1",
    ),
    plain("selectAllCases", "*args: lambda", select_all_cases).documented(
        "The indices of the conditions that are true.",
        "selectAllCases(true, false, true)",
        "[0, 2]",
    ),
    plain("examine", "*args: lambda", examine).documented(
        "Whether each condition is true.",
        "examine(1, 0)",
        "[true, false]",
    ),
    method("switchCase", "case: int, *args: lambda", switch_case).documented(
        "The value of the expression at an index from 0; of the last one if the index is too large.",
        "1.switchCase(a, b, c)",
        r#""b""#,
    ),
    plain("coalesce", "*args: lambda", coalesce).documented(
        "The first value that is not null; null if all are.",
        "coalesce(null, 0, 1)",
        "0",
    ),
];

/// Calls a lambda without arguments.
fn now(machine: &mut Machine<'_>, argument: Option<&Datum>) -> Evaluated<Datum> {
    match argument {
        Some(Datum::Lambda(lambda)) => machine.apply(lambda, &[]),
        _ => Ok(Datum::Null),
    }
}

fn and(machine: &mut Machine<'_>, given: CallArguments) -> Evaluated<Datum> {
    let left = now(machine, given.slots.first())?;
    if left.truth() {
        now(machine, given.slots.get(1))
    } else {
        Ok(left)
    }
}

fn or(machine: &mut Machine<'_>, given: CallArguments) -> Evaluated<Datum> {
    let left = now(machine, given.slots.first())?;
    if left.truth() {
        Ok(left)
    } else {
        now(machine, given.slots.get(1))
    }
}

fn not(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    Ok(Datum::Bool(!given.take(0).truth()))
}

fn bool_(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    Ok(Datum::Bool(given.take(0).truth()))
}

fn is_boolean(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    Ok(Datum::Bool(matches!(given.take(0), Datum::Bool(_))))
}

fn switch(machine: &mut Machine<'_>, given: CallArguments) -> Evaluated<Datum> {
    for rule in &given.rest {
        if let Datum::Rule(rule) = rule
            && now(machine, Some(&rule.0))?.truth()
        {
            return now(machine, Some(&rule.1));
        }
    }
    Ok(Datum::Null)
}

fn select_case(machine: &mut Machine<'_>, given: CallArguments) -> Evaluated<Datum> {
    for (at, condition) in given.rest.iter().enumerate() {
        if now(machine, Some(condition))?.truth() {
            return Ok(Datum::count(at));
        }
    }
    Ok(Datum::count(given.rest.len()))
}

fn select_all_cases(_: &mut Machine<'_>, given: CallArguments) -> Evaluated<Datum> {
    let depth = given.depth();
    let mut conditions = given.rest.into_iter().enumerate();
    stream(depth, move |machine: &mut Machine<'_>| {
        for (at, condition) in conditions.by_ref() {
            if now(machine, Some(&condition))?.truth() {
                return Ok(Some(Datum::count(at)));
            }
        }
        Ok(None)
    })
}

fn examine(_: &mut Machine<'_>, given: CallArguments) -> Evaluated<Datum> {
    let depth = given.depth();
    let mut conditions = given.rest.into_iter();
    stream(depth, move |machine: &mut Machine<'_>| {
        match conditions.next() {
            Some(condition) => Ok(Some(Datum::Bool(now(machine, Some(&condition))?.truth()))),
            None => Ok(None),
        }
    })
}

fn switch_case(machine: &mut Machine<'_>, given: CallArguments) -> Evaluated<Datum> {
    let case = usize::try_from(given.int(0))
        .ok()
        .filter(|case| *case < given.rest.len());
    match case {
        Some(case) => now(machine, given.rest.get(case)),
        None => now(machine, given.rest.last()),
    }
}

fn coalesce(machine: &mut Machine<'_>, given: CallArguments) -> Evaluated<Datum> {
    for argument in &given.rest {
        let value = now(machine, Some(argument))?;
        if !matches!(value, Datum::Null) {
            return Ok(value);
        }
    }
    Ok(Datum::Null)
}

/// Whether a lambda is true for values; without a lambda, whether the first value is true.
pub(super) fn is_true(
    machine: &mut Machine<'_>,
    condition: Option<&Rc<Lambda>>,
    values: &[Datum],
) -> Evaluated<bool> {
    match condition {
        Some(condition) => Ok(machine.apply(condition, values)?.truth()),
        None => Ok(values.first().is_some_and(Datum::truth)),
    }
}
