//! The module `assert`.

use blueprint::IndexMap;

use crate::ast::BinaryOperator;
use crate::binding::StarArguments;
use crate::compare::{equal, ordered};
use crate::convert::{ValueMarks, marks, plain};
use crate::evaluator::Evaluator;
use crate::halt::{Evaluated, Halted, fail};
use crate::native_call::NativeCall;
use crate::text_form::{repr, str};
use crate::value::{Secrecy, StarValue, StructKind};
use crate::yaml_write::{without_nodes, write};

/// The type of the values that have a check.
const ASSERTION: StructKind = StructKind::Opaque(
    "@ytt:assert.assertion",
    "does not encode (did you mean to call check()?)",
);

/// Calls a function.
///
/// # Errors
/// If the arguments do not fit, or the assertion does not hold.
pub(super) fn call(
    evaluator: &mut Evaluator<'_>,
    function: &str,
    call: &NativeCall,
) -> Evaluated<StarValue> {
    if let Some(check) = function.strip_prefix("check_") {
        return self::check(evaluator, check, call);
    }
    let count = call.items.len();
    let exactly = |wanted: usize| match count == wanted {
        true => Ok(()),
        false => fail(format!("got {count} arguments, want {wanted}")),
    };
    match function {
        "equals" => {
            exactly(2)?;
            equals(evaluator, call)
        }
        "fail" => {
            exactly(1)?;
            match call.item(0).split() {
                (_, Secrecy::Secret) => fail("fail: (secret)"),
                _ => fail(format!("fail: {}", call.text(0)?)),
            }
        }
        "try_to" => {
            exactly(1)?;
            try_to(evaluator, call.item(0))
        }
        "min" => {
            exactly(1)?;
            assertion(evaluator, "assert.check_min", call.items.clone())
        }
        "max" => {
            exactly(1)?;
            assertion(evaluator, "assert.check_max", call.items.clone())
        }
        "min_len" | "max_len" => {
            exactly(1)?;
            let length = length(call.item(0))?;
            let check = match function {
                "min_len" => "assert.check_min_len",
                _ => "assert.check_max_len",
            };
            assertion(evaluator, check, vec![StarValue::Int(length)])
        }
        "not_null" => match call.items.as_slice() {
            [] => assertion(evaluator, "assert.check_not_null", Vec::new()),
            [value] => not_null(value),
            _ => fail(format!("got {count} arguments, want at most 1")),
        },
        "one_not_null" => match call.items.as_slice() {
            [] | [StarValue::Bool(true)] => {
                assertion(evaluator, "assert.check_one_not_null", Vec::new())
            }
            [StarValue::Bool(false)] => fail("one_not_null() cannot be False"),
            [keys] if crate::access::is_iterable(keys) => {
                assertion(evaluator, "assert.check_one_not_null", vec![keys.clone()])
            }
            [other] => {
                let kind = other.type_name();
                fail(format!("expected a sequence of keys, but was a '{kind}'"))
            }
            _ => fail(format!("got {count} arguments, want 1")),
        },
        _ => {
            let allowed = match call.items.as_slice() {
                [] => return fail("got 0 arguments, want at least 1"),
                [one] => one.clone(),
                several => evaluator.heap.tuple(several.to_vec())?,
            };
            if !crate::access::is_iterable(&allowed) {
                let kind = allowed.type_name();
                return fail(format!("expected a sequence, but was a '{kind}'"));
            }
            assertion(evaluator, "assert.check_one_of", vec![allowed])
        }
    }
}

fn assertion(
    evaluator: &Evaluator<'_>,
    check: &'static str,
    bound: Vec<StarValue>,
) -> Evaluated<StarValue> {
    let check = evaluator.heap.native(check, bound)?;
    let mut fields = IndexMap::default();
    fields.insert("check".into(), check);
    evaluator.heap.structure(ASSERTION, fields)
}

#[expect(clippy::cast_possible_truncation, reason = "the number is in range")]
fn length(value: &StarValue) -> Evaluated<i128> {
    match value {
        StarValue::Int(number) => Ok(*number),
        StarValue::Float(number) if number.is_finite() && number.abs() < 1e30 => {
            Ok(number.trunc() as i128)
        }
        other => {
            let kind = other.type_name();
            fail(format!("expected value to be an number, but was {kind}"))
        }
    }
}

fn equals(evaluator: &Evaluator<'_>, call: &NativeCall) -> Evaluated<StarValue> {
    let heap = &evaluator.heap;
    let mut texts = Vec::new();
    for value in &call.items {
        if value.is_callable() {
            let kind = value.type_name();
            return fail(format!(
                "expected argument not to be a function, but was {kind}"
            ));
        }
        texts.push(write(heap, &plain(heap, value)?)?);
    }
    if texts[0] == texts[1] {
        return Ok(StarValue::None);
    }
    fail(format!(
        "Not equal:\n(expected type: {})\n{}\n\n(was type: {})\n{}",
        call.item(0).type_name(),
        texts[0],
        call.item(1).type_name(),
        texts[1]
    ))
}

fn try_to(evaluator: &mut Evaluator<'_>, function: &StarValue) -> Evaluated<StarValue> {
    if !function.is_callable() {
        let kind = function.type_name();
        return fail(format!(
            "expected argument to be a function, but was {kind}"
        ));
    }
    let pair = match evaluator.call(function, StarArguments::default()) {
        Ok(value) => vec![value, StarValue::None],
        Err(Halted::Failed(fault)) => vec![StarValue::None, evaluator.heap.text(fault.message)?],
        Err(halt) => return Err(halt),
    };
    evaluator.heap.tuple(pair)
}

fn not_null(value: &StarValue) -> Evaluated<StarValue> {
    match value.open() {
        StarValue::None => fail("fail: value is null"),
        StarValue::Unknown(_) => Ok(value.clone()),
        _ => Ok(StarValue::Bool(true)),
    }
}

/// A value as it is after it was written as YAML and read again.
fn normal(evaluator: &Evaluator<'_>, value: &StarValue) -> Evaluated<StarValue> {
    without_nodes(&evaluator.heap, &plain(&evaluator.heap, value)?)
}

fn check(evaluator: &mut Evaluator<'_>, check: &str, call: &NativeCall) -> Evaluated<StarValue> {
    let heap = &evaluator.heap;
    let count = call.items.len();
    if check == "one_not_null" {
        if count != 1 {
            return fail(format!("check: got {count} arguments, want 1"));
        }
        return one_not_null(evaluator, call);
    }
    if count == 0 {
        let name = match check {
            "not_null" => "value",
            "min_len" | "max_len" => "sequence",
            _ => "val",
        };
        return fail(format!("function lambda missing 1 argument ({name})"));
    }
    if count > 1 {
        return fail(format!(
            "function lambda accepts 1 positional argument ({count} given)"
        ));
    }
    let value = call.item(0);
    let bound = call.receiver();
    match check {
        "not_null" => not_null(value),
        "min_len" | "max_len" => {
            let found = crate::universe::length(value)?;
            let StarValue::Int(limit) = bound else {
                return fail("expected an integer");
            };
            let fits = match check {
                "min_len" => found as i128 >= *limit,
                _ => found as i128 <= *limit,
            };
            match fits {
                true => Ok(StarValue::Bool(true)),
                false => fail(format!("fail: length = {found}")),
            }
        }
        "min" | "max" => {
            let (value, limit) = (normal(evaluator, value)?, normal(evaluator, bound)?);
            let (operator, sign) = match check {
                "min" => (BinaryOperator::GreaterOrEqual, '<'),
                _ => (BinaryOperator::LessOrEqual, '>'),
            };
            match ordered(heap, operator, &value, &limit)? {
                true => Ok(StarValue::Bool(true)),
                false => fail(format!("fail: value {sign} {}", str(heap, &limit)?)),
            }
        }
        _ => {
            let value = normal(evaluator, value)?;
            let allowed = normal(evaluator, bound)?;
            for item in crate::access::items(heap, &allowed)? {
                if equal(heap, &item, &value)? {
                    return Ok(StarValue::Bool(true));
                }
            }
            fail("fail: not one of allowed values")
        }
    }
}

fn one_not_null(evaluator: &Evaluator<'_>, call: &NativeCall) -> Evaluated<StarValue> {
    let heap = &evaluator.heap;
    let value = normal(evaluator, call.item(0))?;
    let StarValue::Dict(dict) = &value else {
        let kind = value.type_name();
        return fail(format!(
            "check: value must be a map or dict, but was '{kind}'"
        ));
    };
    let keys = match call.bound.first() {
        Some(keys) => crate::access::items(heap, keys)?,
        None => crate::access::items(heap, &value)?,
    };
    let mut others = Vec::new();
    for key in keys {
        let own = crate::keys::key_of(heap, &key)?;
        let found = dict
            .entries
            .borrow()
            .get(&own)
            .map(|(_, value)| value.clone());
        if !matches!(found, None | Some(StarValue::None)) {
            others.push(key);
        }
    }
    match others.len() {
        0 if dict.entries.borrow().is_empty() => fail("check: value is empty"),
        0 => fail("check: all values are null"),
        1 => Ok(StarValue::Bool(true)),
        _ => {
            let mut found = ValueMarks::default();
            others
                .iter()
                .try_for_each(|key| marks(heap, key, &mut found))?;
            let keys = match found.has_secret {
                true => "(secret)".to_owned(),
                false => repr(heap, &heap.list(others)?)?,
            };
            fail(format!("check: {keys} are not null"))
        }
    }
}
