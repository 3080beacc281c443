//! The module `math`.

use std::f64::consts::PI;

use crate::halt::{Evaluated, fail};
use crate::native_call::NativeCall;
use crate::value::StarValue;

/// The names of the functions.
pub(super) const FUNCTIONS: [&str; 28] = [
    "math.ceil",
    "math.copysign",
    "math.fabs",
    "math.floor",
    "math.mod",
    "math.pow",
    "math.remainder",
    "math.round",
    "math.exp",
    "math.sqrt",
    "math.acos",
    "math.asin",
    "math.atan",
    "math.atan2",
    "math.cos",
    "math.hypot",
    "math.sin",
    "math.tan",
    "math.degrees",
    "math.radians",
    "math.acosh",
    "math.asinh",
    "math.atanh",
    "math.cosh",
    "math.sinh",
    "math.tanh",
    "math.log",
    "math.gamma",
];

/// Calls a function.
///
/// # Errors
/// If the arguments are no numbers.
pub(super) fn call(function: &str, call: &NativeCall) -> Evaluated<StarValue> {
    match function {
        "ceil" | "floor" => return whole(function, call),
        "log" => {
            call.positional(1, 2)?;
            let number = number(call.item(0))?.ln();
            let base = match call.get(1) {
                Some(base) => self::number(base)?.ln(),
                None => 1.0,
            };
            return Ok(StarValue::Float(number / base));
        }
        "copysign" | "mod" | "pow" | "remainder" | "atan2" | "hypot" => {
            call.exactly(2)?;
            let (one, other) = (number(call.item(0))?, number(call.item(1))?);
            return Ok(StarValue::Float(match function {
                "copysign" => one.copysign(other),
                "mod" => one % other,
                "pow" => one.powf(other),
                "remainder" => remainder(one, other),
                "atan2" => one.atan2(other),
                _ => one.hypot(other),
            }));
        }
        _ => call.exactly(1)?,
    }
    let number = number(call.item(0))?;
    Ok(StarValue::Float(match function {
        "fabs" => number.abs(),
        "round" => number.round(),
        "exp" => number.exp(),
        "sqrt" => number.sqrt(),
        "acos" => number.acos(),
        "asin" => number.asin(),
        "atan" => number.atan(),
        "cos" => number.cos(),
        "sin" => number.sin(),
        "tan" => number.tan(),
        "degrees" => 360.0 * number / (2.0 * PI),
        "radians" => 2.0 * PI * number / 360.0,
        "acosh" => number.acosh(),
        "asinh" => number.asinh(),
        "atanh" => number.atanh(),
        "cosh" => number.cosh(),
        "sinh" => number.sinh(),
        "tanh" => number.tanh(),
        _ => gamma(number),
    }))
}

#[expect(
    clippy::cast_precision_loss,
    reason = "all functions compute with floats"
)]
fn number(value: &StarValue) -> Evaluated<f64> {
    match value {
        StarValue::Int(number) => Ok(*number as f64),
        StarValue::Float(number) => Ok(*number),
        other => fail(format!(
            "expected float value, but was {}",
            other.type_name()
        )),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the number is whole and in range"
)]
fn whole(function: &str, call: &NativeCall) -> Evaluated<StarValue> {
    call.positional(1, 1)?;
    match call.item(0) {
        StarValue::Int(number) => Ok(StarValue::Int(*number)),
        StarValue::Float(number) if number.is_finite() && number.abs() < 1e38 => {
            let number = match function {
                "ceil" => number.ceil(),
                _ => number.floor(),
            };
            Ok(StarValue::Int(number as i128))
        }
        StarValue::Float(_) => fail("cannot convert float to integer"),
        other => fail(format!(
            "expected float value, but was {}",
            other.type_name()
        )),
    }
}

/// The rest to the nearest multiple; of two equally near ones to the even one.
fn remainder(one: f64, other: f64) -> f64 {
    if one.is_finite() && other.is_infinite() {
        return one;
    }
    one - (one / other).round_ties_even() * other
}

/// The gamma function, by Lanczos' approximation.
fn gamma(number: f64) -> f64 {
    const PARTS: [f64; 9] = [
        0.999_999_999_999_809_9,
        676.520_368_121_885_1,
        -1_259.139_216_722_402_8,
        771.323_428_777_653_1,
        -176.615_029_162_140_6,
        12.507_343_278_686_905,
        -0.138_571_095_265_720_12,
        9.984_369_578_019_572e-6,
        1.505_632_735_149_311_6e-7,
    ];
    if number.fract() == 0.0 && (1.0..=23.0).contains(&number) {
        let mut product = 1.0;
        let mut factor = 2.0;
        while factor < number {
            product *= factor;
            factor += 1.0;
        }
        return product;
    }
    if number < 0.5 {
        return PI / ((PI * number).sin() * gamma(1.0 - number));
    }
    let number = number - 1.0;
    let mut sum = PARTS[0];
    let mut divisor = number;
    for part in &PARTS[1..] {
        divisor += 1.0;
        sum += part / divisor;
    }
    let power = number + 7.5;
    (2.0 * PI).sqrt() * power.powf(number + 0.5) * (-power).exp() * sum
}
