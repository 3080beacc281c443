//! Arithmetic and conversion to numbers.

use blueprint::Value;
use pycompat::BigInt;

use super::given::CallArguments;
use super::row::{Row, operator, plain};
use crate::arithmetic;
use crate::drawing::ExternalValue;
use crate::failure::{Evaluated, Halt};
use crate::model::{Datum, Machine};

pub(super) const ROWS: &[Row] = &[
    operator("#operator_+", "left: number, right: number", add)
        .documented("The sum.", "1 + 2.5", "3.5"),
    operator("#operator_-", "left: number, right: number", subtract).documented(
        "The difference.",
        "1 - 3",
        "-2",
    ),
    operator("#operator_*", "left: number, right: number", multiply).documented(
        "The product.",
        "2 * 3.5",
        "7.0",
    ),
    operator("#operator_/", "left: number, right: number", divide).documented(
        "The quotient; of two integers it is rounded down.",
        "-7 / 2",
        "-4",
    ),
    operator("#operator_mod", "left: number, right: number", modulo).documented(
        "The remainder of a division, with the sign of the divisor.",
        "-7 mod 3",
        "2",
    ),
    operator("#unary_operator_+", "op: number", itself).documented("The number.", "+5", "5"),
    operator("#unary_operator_-", "op: number", negate).documented(
        "The negative number.",
        "-(5)",
        "-5",
    ),
    plain("abs", "op: number", abs).documented("The absolute value.", "abs(-2)", "2"),
    plain("sign", "num: number", sign).documented(
        "1, 0 or -1, as the number is above, at or below zero.",
        "sign(-3)",
        "-1",
    ),
    plain("pow", "a: number, b: number, c: number? = null", pow).documented(
        "A power, modulo an optional third number.",
        "pow(2, 3, 5)",
        "3",
    ),
    plain("round", "number: number, ndigits: int = 0", round).documented(
        "The number rounded half to even; a float stays a float.",
        "round(2.567, 2)",
        "2.57",
    ),
    plain("int", "value: any?", int).documented(
        "An integer from a number or text; null gives 0, a fraction is cut off.",
        "int(' 5 ')",
        "5",
    ),
    plain("float", "value: any?", float).documented(
        "A float from a number or text; null gives 0.0.",
        "float(3)",
        "3.0",
    ),
    plain("isInteger", "value: any?", is_integer).documented(
        "Whether a value is an integer.",
        "isInteger(true)",
        "false",
    ),
    plain("isNumber", "value: any?", is_number).documented(
        "Whether a value is an integer or a float.",
        "isNumber(1.5)",
        "true",
    ),
    plain("hex", "num: number?", hex).documented(
        "An integer in hexadecimal digits.",
        "hex(255)",
        r#""0xff""#,
    ),
    plain("bitwiseAnd", "left: int, right: int", bitwise_and).documented(
        "The bitwise and.",
        "bitwiseAnd(6, 3)",
        "2",
    ),
    plain("bitwiseOr", "left: int, right: int", bitwise_or).documented(
        "The bitwise or.",
        "bitwiseOr(6, 3)",
        "7",
    ),
    plain("bitwiseXor", "left: int, right: int", bitwise_xor).documented(
        "The bitwise exclusive or.",
        "bitwiseXor(6, 3)",
        "5",
    ),
    plain("bitwiseNot", "arg: int", bitwise_not).documented(
        "The bitwise complement.",
        "bitwiseNot(6)",
        "-7",
    ),
    plain("shiftBitsLeft", "value: int, bitsNumber: int", shift_left).documented(
        "The bits shifted left.",
        "shiftBitsLeft(1, 4)",
        "16",
    ),
    plain("shiftBitsRight", "value: int, bitsNumber: int", shift_right).documented(
        "The bits shifted right.",
        "shiftBitsRight(16, 2)",
        "4",
    ),
    plain("random", "", random).documented(
        "A random number from 0 to 1, exclusive.",
        "random() < 1",
        "true",
    ),
    plain("random", "from: any?, to: any?", random_between).documented(
        "A random integer between two.",
        "random(5, 5)",
        "5",
    ),
];

fn add(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let (left, right) = given.pair();
    arithmetic::add(&left, &right)
}

fn subtract(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let (left, right) = given.pair();
    arithmetic::subtract(&left, &right)
}

fn multiply(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let (left, right) = given.pair();
    arithmetic::multiply(&left, &right)
}

fn divide(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let (left, right) = given.pair();
    arithmetic::divide(&left, &right)
}

fn modulo(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let (left, right) = given.pair();
    arithmetic::modulo(&left, &right)
}

fn itself(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    Ok(given.take(0))
}

fn negate(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    arithmetic::negate(&given.take(0))
}

fn abs(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    match given.take(0) {
        Datum::Float(value) => Ok(Datum::Float(value.abs())),
        value
            if arithmetic::compare(&value, &Datum::Int(0))
                .is_some_and(std::cmp::Ordering::is_lt) =>
        {
            arithmetic::negate(&value)
        }
        value => Ok(value),
    }
}

fn sign(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    Ok(Datum::Int(
        arithmetic::compare(&given.take(0), &Datum::Int(0)).map_or(0, |order| order as i64),
    ))
}

fn pow(machine: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    arithmetic::power(
        &given.take(0),
        &given.take(1),
        &given.take(2),
        machine.budget.limits.bytes,
    )
}

fn round(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let digits = given.int(1);
    arithmetic::round(&given.take(0), digits)
}

/// Converts a number or text to a [`Value`]. Fails for other values with the name of the type.
fn plain_value(value: &Datum, function: &str, kinds: &str) -> Evaluated<Value> {
    Ok(match value {
        Datum::Bool(value) => Value::Bool(*value),
        Datum::Int(value) => Value::Int(*value),
        Datum::Float(value) => Value::Float(*value),
        Datum::Text(text) => Value::Text(text.clone()),
        other => {
            let name = other.type_name();
            return Err(Halt::failed(format!(
                "{function}() argument must be {kinds}, not '{name}'"
            )));
        }
    })
}

fn int(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    match given.take(0) {
        Datum::Null => Ok(Datum::Int(0)),
        Datum::Big(value) => Ok(Datum::Big(value)),
        value => {
            let value = plain_value(
                &value,
                "int",
                "a string, a bytes-like object or a real number",
            )?;
            let integer = pycompat::integer(&value).map_err(Halt::failed)?;
            Ok(Datum::integer(
                pycompat::exact(&integer).unwrap_or_default(),
            ))
        }
    }
}

fn float(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    match given.take(0) {
        Datum::Null => Ok(Datum::Float(0.0)),
        value @ Datum::Big(_) => arithmetic::float(&value).map(Datum::Float),
        value => {
            let value = plain_value(&value, "float", "a string or a real number")?;
            pycompat::float(&value)
                .map(Datum::Float)
                .map_err(Halt::failed)
        }
    }
}

fn is_integer(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    Ok(Datum::Bool(matches!(
        given.take(0),
        Datum::Int(_) | Datum::Big(_)
    )))
}

fn is_number(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    Ok(Datum::Bool(given.take(0).is_number()))
}

fn hex(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let value = given.take(0);
    let Some(exact) = value.exact() else {
        return Err(Halt::failed(format!(
            "'{}' object cannot be interpreted as an integer",
            value.type_name()
        )));
    };
    let digits = exact.magnitude().to_str_radix(16);
    let sign = if exact < BigInt::from(0) { "-" } else { "" };
    Ok(Datum::text(format!("{sign}0x{digits}")))
}

/// Computes a bitwise operation on two integers; for two booleans the result is a boolean.
fn bitwise(mut given: CallArguments, combine: fn(BigInt, BigInt) -> BigInt) -> Evaluated<Datum> {
    let (left, right) = given.pair();
    let booleans = matches!((&left, &right), (Datum::Bool(_), Datum::Bool(_)));
    let bits = combine(
        left.exact().unwrap_or_default(),
        right.exact().unwrap_or_default(),
    );
    Ok(if booleans {
        Datum::Bool(bits != BigInt::from(0))
    } else {
        Datum::integer(bits)
    })
}

fn bitwise_and(_: &mut Machine<'_>, given: CallArguments) -> Evaluated<Datum> {
    bitwise(given, |left, right| left & right)
}

fn bitwise_or(_: &mut Machine<'_>, given: CallArguments) -> Evaluated<Datum> {
    bitwise(given, |left, right| left | right)
}

fn bitwise_xor(_: &mut Machine<'_>, given: CallArguments) -> Evaluated<Datum> {
    bitwise(given, |left, right| left ^ right)
}

fn bitwise_not(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    Ok(Datum::integer(
        -given.take(0).exact().unwrap_or_default() - 1,
    ))
}

fn shift_left(machine: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let (value, bits) = (given.take(0).exact().unwrap_or_default(), given.int(1));
    let bits = u64::try_from(bits).map_err(|_| Halt::failed("negative shift count"))?;
    if matches!(given.take(1), Datum::Big(_)) && value != BigInt::from(0) {
        return Err(Halt::failed("too many digits in integer"));
    }
    if value == BigInt::from(0) {
        return Ok(Datum::Int(0));
    }
    if bits / 8 > machine.budget.limits.bytes as u64 {
        return Err(Halt::memory());
    }
    Ok(Datum::integer(value << bits))
}

fn shift_right(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let (value, bits) = (given.take(0).exact().unwrap_or_default(), given.int(1));
    let bits = u64::try_from(bits).map_err(|_| Halt::failed("negative shift count"))?;
    Ok(Datum::integer(value >> bits))
}

/// Returns a random number from 0 to 1, exclusive.
fn drawn(machine: &mut Machine<'_>, ordinal: Option<u32>) -> Evaluated<f64> {
    match machine.draw(ordinal, ExternalValue::Random)? {
        Value::Float(value) => Ok(value),
        Value::Int(value) => Ok(value as f64),
        _ => Err(Halt::failed("no number was drawn")),
    }
}

fn random(machine: &mut Machine<'_>, given: CallArguments) -> Evaluated<Datum> {
    drawn(machine, given.ordinal).map(Datum::Float)
}

fn random_between(machine: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let (from, to) = given.pair();
    let (Some(low), Some(high)) = (from.exact(), to.exact()) else {
        let wrong = if from.is_int() { to } else { from };
        return Err(Halt::failed(format!(
            "'{}' object cannot be interpreted as an integer",
            wrong.type_name()
        )));
    };
    let width: BigInt = &high - &low + 1;
    if width < BigInt::from(1) {
        return Err(Halt::failed(format!(
            "empty range for randrange() ({low}, {}, {width})",
            high + 1
        )));
    }
    let share = drawn(machine, given.ordinal)?;
    // The 53 random bits are spread over the whole range.
    let above = (width
        * BigInt::from((share.clamp(0.0, 1.0 - f64::EPSILON) * (1u64 << 53) as f64) as u64))
        >> 53;
    Ok(Datum::integer(low + above))
}
