//! Functions that generate sequences, some of them infinite.

use std::collections::VecDeque;

use pycompat::BigInt;

use super::branching::is_true;
use super::given::{CallArguments, stream};
use super::row::{Row, method, plain};
use super::selecting::callable;
use crate::arithmetic;
use crate::failure::{Evaluated, Halt};
use crate::model::{Cursor, Datum, DatumKey, Keys, Machine};

pub(super) const ROWS: &[Row] = &[
    plain("range", "stop: int", range).documented("The integers from 0 to an exclusive end.", "range(3)", "[0, 1, 2]"),
    plain("range", "start: int, stop: int, step: int = 1", range_from).documented(
        "The integers from a start to an exclusive end, in steps.",
        "range(5, 0, -2)",
        "[5, 3, 1]",
    ),
    plain("sequence", "start: int = 0, step: int = 1", sequence).documented(
        "An infinite sequence of integers.",
        "sequence(2, 3).limit(3)",
        "[2, 5, 8]",
    ),
    method("repeat", "value: any?, times: int = -1", repeat).documented(
        "A value repeated without an end, or a number of times.",
        "a.repeat(2)",
        r#"["a", "a"]"#,
    ),
    method("cycle", "collection: iterable", cycle).documented(
        "The items repeated without an end.",
        "[1, 2].cycle().limit(3)",
        "[1, 2, 1]",
    ),
    plain(
        "generate",
        "initial: any?, predicate: lambda, producer: lambda, selector: lambda = null, decycle: bool = false",
        generate,
    )
    .documented(
        "A value, and the next ones that an expression computes from the previous one, while a condition is true.",
        "generate(1, $ < 10, $ * 2)",
        "[1, 2, 4, 8]",
    ),
    plain(
        "generateMany",
        "initial: any?, producer: lambda, selector: lambda = null, decycle: bool = false, depthFirst: bool = false",
        generate_many,
    )
    .documented(
        "A value, and all values that an expression produces from each, as in a tree traversal.",
        "generateMany(1, switch($ < 3 => [$ + 1, $ + 2], true => []))",
        "[1, 2, 3, 3, 4]",
    ),
];

/// Creates a sequence of integers from a start in steps, up to an optional exclusive end.
fn integers(start: BigInt, stop: Option<BigInt>, step: BigInt) -> Evaluated<Datum> {
    let upwards = step > BigInt::from(0);
    let ends = move |at: &BigInt| {
        stop.as_ref()
            .is_some_and(|stop| if upwards { at >= stop } else { at <= stop })
    };
    let (mut at, step) = (Datum::integer(start), Datum::integer(step));
    stream(0, move |_: &mut Machine<'_>| {
        if ends(&at.exact().unwrap_or_default()) {
            return Ok(None);
        }
        let next = arithmetic::add(&at, &step)?;
        Ok(Some(std::mem::replace(&mut at, next)))
    })
}

/// The exact integer of an argument.
fn exact(given: &CallArguments, at: usize) -> BigInt {
    given
        .slots
        .get(at)
        .and_then(Datum::exact)
        .unwrap_or_default()
}

fn range(_: &mut Machine<'_>, given: CallArguments) -> Evaluated<Datum> {
    integers(BigInt::from(0), Some(exact(&given, 0)), BigInt::from(1))
}

fn range_from(_: &mut Machine<'_>, given: CallArguments) -> Evaluated<Datum> {
    let step = exact(&given, 2);
    if step == BigInt::from(0) {
        return Err(Halt::failed("range() arg 3 must not be zero"));
    }
    integers(exact(&given, 0), Some(exact(&given, 1)), step)
}

fn sequence(_: &mut Machine<'_>, given: CallArguments) -> Evaluated<Datum> {
    integers(exact(&given, 0), None, exact(&given, 1))
}

fn repeat(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let times = given.small(1)?;
    let (depth, value) = (given.depth(), given.take(0));
    let mut left = (times >= 0).then_some(times);
    stream(depth, move |machine: &mut Machine<'_>| {
        machine.step(1)?;
        if let Some(left) = &mut left {
            if *left == 0 {
                return Ok(None);
            }
            *left -= 1;
        }
        Ok(Some(value.clone()))
    })
}

fn cycle(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let (depth, mut items) = (given.depth(), Some(given.items(0)));
    let (mut kept, mut at) = (Vec::new(), 0);
    stream(depth, move |machine: &mut Machine<'_>| {
        if let Some(first_time) = &mut items {
            if let Some(item) = first_time.next(machine)? {
                kept.push(item.clone());
                return Ok(Some(item));
            }
            items = None;
        }
        if kept.is_empty() {
            return Ok(None);
        }
        at += 1;
        Ok(kept.get((at - 1) % kept.len()).cloned())
    })
}

fn generate(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let (depth, decycle) = (given.depth(), given.flag(4));
    let (predicate, producer, selector) = (
        callable(&mut given, 1)?,
        callable(&mut given, 2)?,
        given.lambda(3),
    );
    let (mut value, mut started, mut seen) = (given.take(0), false, Keys::default());
    stream(depth, move |machine: &mut Machine<'_>| {
        if started {
            value = machine.apply(&producer, std::slice::from_ref(&value))?;
        }
        started = true;
        if !is_true(machine, Some(&predicate), std::slice::from_ref(&value))? {
            return Ok(None);
        }
        if decycle {
            if !seen.insert(DatumKey::of(value.clone())?) {
                return Ok(None);
            }
            machine.weigh(56 + 8 * seen.len())?;
        }
        match &selector {
            Some(selector) => machine
                .apply(selector, std::slice::from_ref(&value))
                .map(Some),
            None => Ok(Some(value.clone())),
        }
    })
}

fn generate_many(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let (depth, decycle, depth_first) = (given.depth(), given.flag(3), given.flag(4));
    let (producer, selector) = (callable(&mut given, 1)?, given.lambda(2));
    let mut queue = VecDeque::from([given.take(0)]);
    let (mut before, mut seen) = (None, Keys::default());
    stream(depth, move |machine: &mut Machine<'_>| {
        // The results of an item are computed only when the next item is requested.
        if let Some(item) = before.take() {
            let mut produced = Cursor::of(machine.apply(&producer, &[item])?);
            let mut count = 0;
            while let Some(one) = produced.next(machine)? {
                queue.push_back(one);
                count += 1;
                machine.weigh(56 + 8 * queue.len())?;
            }
            if depth_first {
                queue.rotate_right(count);
            }
        }
        while let Some(item) = queue.pop_front() {
            machine.step(1)?;
            if decycle {
                if !seen.insert(DatumKey::of(item.clone())?) {
                    continue;
                }
                machine.weigh(56 + 8 * seen.len())?;
            }
            before = Some(item.clone());
            return match &selector {
                Some(selector) => machine.apply(selector, &[item]).map(Some),
                None => Ok(Some(item)),
            };
        }
        Ok(None)
    })
}
