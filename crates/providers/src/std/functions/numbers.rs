//! Numbers. An integer result stays an integer if it fits into 64 bits; otherwise it is an error.

use blueprint::Value;

use super::arguments::{
    FunctionError, MOST_ITEMS, StdCode, float_at, form, given, integer_at, kind, list_at, range,
    text_at,
};
use super::format::scalar_text;

pub(super) fn body(name: &str) -> Option<StdCode> {
    Some(match name {
        "subtract" => |a| arithmetic(a, i64::checked_sub, |a, b| a - b),
        "multiply" => |a| arithmetic(a, i64::checked_mul, |a, b| a * b),
        "divide" => divide,
        "modulo" => modulo,
        "round" => round,
        "floor" => |a| whole(a, f64::floor),
        "ceil" => |a| whole(a, f64::ceil),
        "abs" => abs,
        "signum" => |a| {
            Ok(Value::Int(if float_at(a, 0)? > 0.0 {
                1
            } else {
                -i64::from(float_at(a, 0)? < 0.0)
            }))
        },
        "log" => log,
        "pow" => pow,
        "max" => |a| extreme(a, |a, b| a > b),
        "min" => |a| extreme(a, |a, b| a < b),
        "sum" => sum,
        "parseint" => parse_int,
        "range" => numbers,
        "tonumber" => to_number,
        _ => return None,
    })
}

fn too_large() -> FunctionError {
    FunctionError {
        code: &expr::codes::ARGUMENT_RANGE,
        message: "the result is beyond 64 bits".into(),
        argument: None,
    }
}

/// A float as a value. An error if it is not finite.
fn finite(value: f64) -> Result<Value, FunctionError> {
    if value.is_finite() {
        Ok(Value::Float(value))
    } else {
        Err(too_large())
    }
}

fn integers(arguments: &[Value]) -> Option<(i64, i64)> {
    match (arguments.first()?.unmarked(), arguments.get(1)?.unmarked()) {
        (Value::Int(a), Value::Int(b)) => Some((*a, *b)),
        _ => None,
    }
}

fn arithmetic(
    arguments: &[Value],
    exact: fn(i64, i64) -> Option<i64>,
    float: fn(f64, f64) -> f64,
) -> Result<Value, FunctionError> {
    match integers(arguments) {
        Some((a, b)) => exact(a, b).map(Value::Int).ok_or_else(too_large),
        None => finite(float(float_at(arguments, 0)?, float_at(arguments, 1)?)),
    }
}

fn divide(arguments: &[Value]) -> Result<Value, FunctionError> {
    if float_at(arguments, 1)? == 0.0 {
        return Err(range(1, "division by zero"));
    }
    match integers(arguments) {
        Some((a, b)) if a.checked_rem(b) == Some(0) => {
            a.checked_div(b).map(Value::Int).ok_or_else(too_large)
        }
        _ => finite(float_at(arguments, 0)? / float_at(arguments, 1)?),
    }
}

/// The remainder, with the sign of the divisor.
fn modulo(arguments: &[Value]) -> Result<Value, FunctionError> {
    if float_at(arguments, 1)? == 0.0 {
        return Err(range(1, "division by zero"));
    }
    match integers(arguments) {
        Some((a, b)) => {
            let rest = a.checked_rem(b).unwrap_or(0);
            Ok(Value::Int(if rest != 0 && (rest < 0) != (b < 0) {
                rest + b
            } else {
                rest
            }))
        }
        None => {
            let (a, b) = (float_at(arguments, 0)?, float_at(arguments, 1)?);
            let rest = a % b;
            finite(if rest != 0.0 && (rest < 0.0) != (b < 0.0) {
                rest + b
            } else {
                rest
            })
        }
    }
}

/// Rounds half away from zero, to an integer or to a number of digits.
fn round(arguments: &[Value]) -> Result<Value, FunctionError> {
    let Some(_) = given(arguments, 1) else {
        return whole(arguments, f64::round);
    };
    let digits = integer_at(arguments, 1)?;
    if !(0..=15).contains(&digits) {
        return Err(range(1, "`digits` must be from 0 to 15"));
    }
    if let Some(Value::Int(value)) = arguments.first().map(Value::unmarked) {
        return Ok(Value::Int(*value));
    }
    let factor = 10f64.powi(digits as i32);
    finite((float_at(arguments, 0)? * factor).round() / factor)
}

/// Converts a number to an integer.
fn whole(arguments: &[Value], to: fn(f64) -> f64) -> Result<Value, FunctionError> {
    if let Some(Value::Int(value)) = arguments.first().map(Value::unmarked) {
        return Ok(Value::Int(*value));
    }
    let value = to(float_at(arguments, 0)?);
    // From 2^63 on a float does not fit into an integer of 64 bits.
    if value.abs() < 9_223_372_036_854_775_808.0 {
        Ok(Value::Int(value as i64))
    } else {
        finite(value)
    }
}

fn abs(arguments: &[Value]) -> Result<Value, FunctionError> {
    match arguments.first().map(Value::unmarked) {
        Some(Value::Int(value)) => value.checked_abs().map(Value::Int).ok_or_else(too_large),
        _ => finite(float_at(arguments, 0)?.abs()),
    }
}

fn log(arguments: &[Value]) -> Result<Value, FunctionError> {
    let (input, base) = (float_at(arguments, 0)?, float_at(arguments, 1)?);
    Ok(Value::Float(input.ln() / base.ln()))
}

fn pow(arguments: &[Value]) -> Result<Value, FunctionError> {
    if let Some((base, exponent)) = integers(arguments)
        && let Ok(exponent) = u32::try_from(exponent)
    {
        return base
            .checked_pow(exponent)
            .map(Value::Int)
            .ok_or_else(too_large);
    }
    finite(float_at(arguments, 0)?.powf(float_at(arguments, 1)?))
}

fn extreme(arguments: &[Value], better: fn(f64, f64) -> bool) -> Result<Value, FunctionError> {
    let items = list_at(arguments, 0);
    let mut best: Option<(f64, &Value)> = None;
    for item in items {
        let value = float_at(std::slice::from_ref(item), 0)?;
        if best.is_none_or(|(before, _)| better(value, before)) {
            best = Some((value, item));
        }
    }
    best.map(|(_, item)| item.clone())
        .ok_or_else(|| range(0, "input list must not be empty"))
}

fn sum(arguments: &[Value]) -> Result<Value, FunctionError> {
    list_at(arguments, 0)
        .iter()
        .try_fold(Value::Int(0), |sum, item| {
            arithmetic(&[sum, item.clone()], i64::checked_add, |a, b| a + b)
        })
}

fn parse_int(arguments: &[Value]) -> Result<Value, FunctionError> {
    let text = text_at(arguments, 0);
    let base = if given(arguments, 1).is_some() {
        integer_at(arguments, 1)?
    } else {
        10
    };
    if !(2..=36).contains(&base) {
        return Err(range(1, "`base` must be from 2 to 36"));
    }
    i64::from_str_radix(text, base as u32)
        .map(Value::Int)
        .map_err(|error| {
            let why = match error.kind() {
                std::num::IntErrorKind::PosOverflow | std::num::IntErrorKind::NegOverflow => {
                    "value out of range"
                }
                _ => "invalid syntax",
            };
            form(
                0,
                format!("`{text}` is no integer to the base {base}: {why}"),
            )
        })
}

/// The numbers from `start` to `limit`, exclusive; descending if the limit is less.
fn numbers(arguments: &[Value]) -> Result<Value, FunctionError> {
    let (start, limit) = match given(arguments, 1) {
        Some(limit) => (arguments[0].clone(), limit.clone()),
        None => (Value::Int(0), arguments[0].clone()),
    };
    let step = given(arguments, 2).cloned();
    let all = [
        start.clone(),
        limit.clone(),
        step.clone().unwrap_or(Value::Int(1)),
    ];
    if let [Value::Int(start), Value::Int(limit), Value::Int(step_given)] = all {
        let step = if step.is_some() {
            step_given
        } else if start > limit {
            -1
        } else {
            1
        };
        count(i128::from(limit) - i128::from(start), i128::from(step))?;
        let mut items = Vec::new();
        let mut at = start;
        while if step > 0 { at < limit } else { at > limit } {
            items.push(Value::Int(at));
            let Some(next) = at.checked_add(step) else {
                break;
            };
            at = next;
        }
        return Ok(Value::list(items));
    }
    let (start, limit) = (float_at(&all, 0)?, float_at(&all, 1)?);
    let step = if step.is_some() {
        float_at(&all, 2)?
    } else if start > limit {
        -1.0
    } else {
        1.0
    };
    let steps = (limit - start) / step;
    if step == 0.0 || steps < 0.0 {
        return Err(range(
            2,
            "the step does not lead from the start to the limit",
        ));
    }
    if steps.is_nan() || steps > MOST_ITEMS as f64 {
        return Err(too_many());
    }
    Ok(Value::list(
        (0..steps.ceil() as i64).map(|at| Value::Float(start + step * at as f64)),
    ))
}

/// Refuses a range that is infinite or too long.
fn count(distance: i128, step: i128) -> Result<(), FunctionError> {
    if step == 0 || distance != 0 && (distance > 0) != (step > 0) {
        return Err(range(
            2,
            "the step does not lead from the start to the limit",
        ));
    }
    if distance / step > MOST_ITEMS as i128 {
        Err(too_many())
    } else {
        Ok(())
    }
}

fn too_many() -> FunctionError {
    FunctionError {
        code: &expr::codes::ARGUMENT_RANGE,
        message: format!("the range has more than {MOST_ITEMS} numbers"),
        argument: None,
    }
}

fn to_number(arguments: &[Value]) -> Result<Value, FunctionError> {
    let value = &arguments[0];
    match value.unmarked() {
        Value::Int(_) | Value::Float(_) => Ok(value.clone()),
        Value::Text(text) => match text.parse::<i64>() {
            Ok(number) if !text.starts_with('+') => Ok(Value::Int(number)),
            _ => text
                .parse::<f64>()
                .ok()
                .filter(|number| number.is_finite())
                .map(Value::Float)
                .ok_or_else(|| form(0, format!("{text} is not a number value"))),
        },
        other => Err(kind(
            0,
            format!(
                "{} is not a number value",
                scalar_text(other).unwrap_or_default()
            ),
        )),
    }
}
