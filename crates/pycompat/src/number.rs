//! Numbers: exact integers of any size, and conversion of text to numbers.

use std::cmp::Ordering;

use blueprint::Value;
use num_bigint::BigInt;

use crate::text::{repr_text, trim, type_name};

/// The largest number of digits of an integer in Python, which bounds the work of parsing.
const LONGEST_INTEGER: usize = 4300;

/// Converts an integer to a value: [`Value::Int`] if it fits, otherwise [`Value::Decimal`].
pub fn from_exact(value: BigInt) -> Value {
    match i64::try_from(&value) {
        Ok(value) => Value::Int(value),
        Err(_) => Value::Decimal(value.to_string().into()),
    }
}

/// Returns the exact integer of a value; a boolean is 0 or 1. `None` for other values, also for
/// floats.
pub fn exact(value: &Value) -> Option<BigInt> {
    match value.unmarked() {
        Value::Bool(value) => Some(BigInt::from(u8::from(*value))),
        Value::Int(value) => Some(BigInt::from(*value)),
        Value::Decimal(digits) => digits.parse().ok(),
        _ => None,
    }
}

/// Returns a float without its fraction, exactly. `None` if the float is not finite.
pub fn exact_of_float(value: f64) -> Option<BigInt> {
    if !value.is_finite() {
        return None;
    }
    let bits = value.to_bits();
    let exponent = ((bits >> 52) & 0x7ff) as i32;
    let fraction = bits & ((1 << 52) - 1);
    let mantissa = if exponent == 0 {
        fraction
    } else {
        fraction | (1 << 52)
    };
    let shift = exponent.max(1) - 1075;
    let abs = match shift {
        0.. => BigInt::from(mantissa) << shift,
        -63..0 => BigInt::from(mantissa >> -shift),
        _ => BigInt::from(0),
    };
    Some(if value < 0.0 { -abs } else { abs })
}

/// Whether a value is an integer; a boolean is not.
pub fn is_integer(value: &Value) -> bool {
    matches!(value.unmarked(), Value::Int(_) | Value::Decimal(_))
}

/// Whether a value is an integer or a float; a boolean is not.
pub fn is_number(value: &Value) -> bool {
    is_integer(value) || matches!(value.unmarked(), Value::Float(_))
}

/// Python's `int(value)`, as a value. Fails with Python's message.
pub fn integer(value: &Value) -> Result<Value, String> {
    match value.unmarked() {
        Value::Text(text) => integer_of_text(text).ok_or_else(|| {
            format!(
                "invalid literal for int() with base 10: {}",
                repr_text(text)
            )
        }),
        Value::Float(value) if value.is_nan() => Err("cannot convert float NaN to integer".into()),
        Value::Float(value) => match exact_of_float(*value) {
            Some(exact) => Ok(from_exact(exact)),
            None => Err("cannot convert float infinity to integer".into()),
        },
        Value::Bool(value) => Ok(Value::Int(i64::from(*value))),
        Value::Int(_) | Value::Decimal(_) => Ok(value.unmarked().clone()),
        other => Err(format!(
            "int() argument must be a string, a bytes-like object or a real number, not '{}'",
            type_name(other)
        )),
    }
}

/// Python's `float(value)`. Fails with Python's message.
pub fn float(value: &Value) -> Result<f64, String> {
    match value.unmarked() {
        Value::Text(text) => float_of_text(text)
            .ok_or_else(|| format!("could not convert string to float: {}", repr_text(text))),
        Value::Float(value) => Ok(*value),
        Value::Bool(value) => Ok(f64::from(u8::from(*value))),
        Value::Int(value) => Ok(*value as f64),
        Value::Decimal(digits) => match digits.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(value),
            _ => Err("int too large to convert to float".into()),
        },
        other => Err(format!(
            "float() argument must be a string or a real number, not '{}'",
            type_name(other)
        )),
    }
}

/// Python's `int(text)`: decimal digits of any script, a sign, single underscores between digits,
/// surrounding white space. `None` for other texts.
pub fn integer_of_text(text: &str) -> Option<Value> {
    let text = plain(text)?;
    let digits = text.strip_prefix(['-', '+']).unwrap_or(&text);
    if digits.is_empty()
        || digits.len() > LONGEST_INTEGER
        || !digits.bytes().all(|byte| byte.is_ascii_digit())
    {
        return None;
    }
    let text = text.strip_prefix('+').unwrap_or(&text);
    match text.parse() {
        Ok(value) => Some(Value::Int(value)),
        Err(_) => text.parse().ok().map(from_exact),
    }
}

/// Python's `float(text)`: decimal text, or `inf`, `infinity`, `nan` in any letter case, with
/// underscores and white space as in [`integer_of_text`]. `None` for other texts.
pub fn float_of_text(text: &str) -> Option<f64> {
    let text = plain(text)?;
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(&text);
    let number = unsigned.starts_with(|first: char| first.is_ascii_digit() || first == '.')
        && unsigned
            .bytes()
            .all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-'));
    let word = ["inf", "infinity", "nan"]
        .iter()
        .any(|word| unsigned.eq_ignore_ascii_case(word));
    if number || word {
        text.parse().ok()
    } else {
        None
    }
}

/// Returns the integer or float that a text represents; `None` for other texts.
pub fn number_of_text(text: &str) -> Option<Value> {
    integer_of_text(text).or_else(|| float_of_text(text).map(Value::Float))
}

/// Returns a numeric text with ASCII digits, without surrounding white space and underscores
/// between digits. `None` if an underscore is in another place.
fn plain(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut characters = trim(text).chars().peekable();
    while let Some(character) = characters.next() {
        match digit(character) {
            Some(digit) => out.push(digit),
            None if character != '_' => out.push(character),
            None => {
                let after = characters.peek().copied().and_then(digit).is_some();
                if !after || !out.ends_with(|last: char| last.is_ascii_digit()) {
                    return None;
                }
            }
        }
    }
    Some(out)
}

/// The code points of the digit zero of each script (general category Nd).
const ZEROS: [u32; 66] = [
    0x30, 0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66,
    0xde6, 0xe50, 0xed0, 0xf20, 0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0x1a90,
    0x1b50, 0x1bb0, 0x1c40, 0x1c50, 0xa620, 0xa8d0, 0xa900, 0xa9d0, 0xa9f0, 0xaa50, 0xabf0, 0xff10,
    0x104a0, 0x10d30, 0x11066, 0x110f0, 0x11136, 0x111d0, 0x112f0, 0x11450, 0x114d0, 0x11650,
    0x116c0, 0x11730, 0x118e0, 0x11950, 0x11c50, 0x11d50, 0x11da0, 0x16a60, 0x16ac0, 0x16b50,
    0x1d7ce, 0x1d7d8, 0x1d7e2, 0x1d7ec, 0x1d7f6, 0x1e140, 0x1e2f0, 0x1e950, 0x1fbf0,
];

/// Returns the ASCII digit for a decimal digit of any script; `None` for other characters.
pub fn digit(character: char) -> Option<char> {
    if character.is_ascii() {
        return character.is_ascii_digit().then_some(character);
    }
    let code = u32::from(character);
    let zero = ZEROS[..ZEROS.partition_point(|zero| *zero <= code)].last()?;
    char::from_digit(code - zero, 10)
}

/// Compares two numbers exactly; booleans are 0 and 1. `None` if one is not a number or is NaN.
pub fn compare(left: &Value, right: &Value) -> Option<Ordering> {
    match (left.unmarked(), right.unmarked()) {
        (Value::Int(left), Value::Int(right)) => Some(left.cmp(right)),
        (Value::Float(left), Value::Float(right)) => left.partial_cmp(right),
        (Value::Float(left), right) => compare_float(*left, &exact(right)?),
        (left, Value::Float(right)) => compare_float(*right, &exact(left)?).map(Ordering::reverse),
        (left, right) => Some(exact(left)?.cmp(&exact(right)?)),
    }
}

fn compare_float(float: f64, other: &BigInt) -> Option<Ordering> {
    let Some(exact) = exact_of_float(float) else {
        return float.partial_cmp(&0.0);
    };
    let fraction = float.fract().partial_cmp(&0.0)?;
    Some(exact.cmp(other).then(fraction))
}

/// Python's `left % right`, with the sign of the divisor. `None` if one is not a number or the
/// divisor is zero.
pub fn modulo(left: &Value, right: &Value) -> Option<Value> {
    if let (Value::Int(left), Value::Int(right)) = (left.unmarked(), right.unmarked())
        && let Some(rest) = left.checked_rem(*right)
    {
        return Some(Value::Int(if rest != 0 && (rest < 0) != (*right < 0) {
            rest + right
        } else {
            rest
        }));
    }
    if let (Some(left), Some(right)) = (exact(left), exact(right)) {
        let zero = BigInt::from(0);
        if right == zero {
            return None;
        }
        let rest = &left % &right;
        return Some(from_exact(
            if rest != zero && (rest < zero) != (right < zero) {
                rest + right
            } else {
                rest
            },
        ));
    }
    let (left, right) = floats(left, right)?;
    let rest = left % right;
    Some(Value::Float(if rest == 0.0 {
        0.0_f64.copysign(right)
    } else if (rest < 0.0) == (right < 0.0) {
        rest
    } else {
        rest + right
    }))
}

/// Python's `left // right`, rounded down. `None` if one is not a number or the divisor is zero.
pub fn floor_divide(left: &Value, right: &Value) -> Option<Value> {
    if let (Some(left), Some(right)) = (exact(left), exact(right)) {
        let zero = BigInt::from(0);
        if right == zero {
            return None;
        }
        let (whole, rest) = (&left / &right, &left % &right);
        return Some(from_exact(
            if rest != zero && (rest < zero) != (right < zero) {
                whole - 1
            } else {
                whole
            },
        ));
    }
    let (left, right) = floats(left, right)?;
    Some(Value::Float((left / right).floor()))
}

/// Returns two numbers as floats; `None` if one is not a number or the second is zero.
fn floats(left: &Value, right: &Value) -> Option<(f64, f64)> {
    let numeric = |value: &Value| matches!(value.unmarked(), Value::Bool(_)) || is_number(value);
    if !numeric(left) || !numeric(right) {
        return None;
    }
    let (left, right) = (float(left).ok()?, float(right).ok()?);
    (right != 0.0).then_some((left, right))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_become_integers_as_in_python() {
        for (text, expected) in [
            ("3", Some(Value::Int(3))),
            (" -5\n", Some(Value::Int(-5))),
            ("+1_000", Some(Value::Int(1000))),
            ("٣", Some(Value::Int(3))),
            (
                "99999999999999999999",
                Some(Value::Decimal("99999999999999999999".into())),
            ),
            ("007", Some(Value::Int(7))),
            ("", None),
            ("1__0", None),
            ("_1", None),
            ("1_", None),
            ("+-1", None),
            ("0x10", None),
            ("1.0", None),
            ("1 2", None),
        ] {
            assert_eq!(integer_of_text(text), expected, "{text}");
        }
    }

    #[test]
    fn texts_become_floats_as_in_python() {
        for (text, expected) in [
            ("1e3", Some(1000.0)),
            (" 1_0.5 ", Some(10.5)),
            (".5", Some(0.5)),
            ("5.", Some(5.0)),
            ("-INFINITY", Some(f64::NEG_INFINITY)),
            ("1e999", Some(f64::INFINITY)),
            ("1e", None),
            (".", None),
            ("1_.5", None),
            ("infinit", None),
            ("0x1p3", None),
            ("", None),
        ] {
            assert_eq!(float_of_text(text), expected, "{text}");
        }
        assert!(float_of_text("NaN").is_some_and(f64::is_nan));
    }

    #[test]
    fn float_converts_to_an_exact_integer() {
        for (value, expected) in [
            (1.9, "1"),
            (-1.9, "-1"),
            (0.5, "0"),
            (1e20, "100000000000000000000"),
            (-0.0, "0"),
        ] {
            assert_eq!(
                integer(&Value::Float(value)).map(|value| value.to_string()),
                Ok(expected.into())
            );
        }
        assert_eq!(
            integer(&f64::NAN.into()),
            Err("cannot convert float NaN to integer".into())
        );
        assert_eq!(
            integer(&"a'".into()),
            Err("invalid literal for int() with base 10: \"a'\"".into())
        );
    }

    #[test]
    fn remainder_has_the_sign_of_the_divisor() {
        for (left, right, rest, whole) in [
            (7, 3, 1, 2),
            (-7, 3, 2, -3),
            (7, -3, -2, -3),
            (-7, -3, -1, 2),
            (i64::MIN, -1, 0, 0),
        ] {
            assert_eq!(modulo(&left.into(), &right.into()), Some(rest.into()));
            if left != i64::MIN {
                assert_eq!(
                    floor_divide(&left.into(), &right.into()),
                    Some(whole.into())
                );
            }
        }
        assert_eq!(modulo(&(-7.5).into(), &2.into()), Some(0.5.into()));
        assert_eq!(modulo(&1.into(), &0.0.into()), None);
        assert_eq!(
            modulo(&Value::Decimal("-100000000000000000000".into()), &7.into()),
            Some(5.into())
        );
    }

    #[test]
    fn integers_and_floats_compare_exactly() {
        let big = Value::Decimal("9007199254740993".into());
        assert_eq!(
            compare(&big, &9_007_199_254_740_992.0.into()),
            Some(Ordering::Greater)
        );
        assert_eq!(compare(&1.into(), &1.5.into()), Some(Ordering::Less));
        assert_eq!(
            compare(&(-1).into(), &(-1.5).into()),
            Some(Ordering::Greater)
        );
        assert_eq!(
            compare(&1.into(), &f64::INFINITY.into()),
            Some(Ordering::Less)
        );
        assert_eq!(compare(&1.into(), &f64::NAN.into()), None);
        assert_eq!(compare(&true.into(), &1.0.into()), Some(Ordering::Equal));
        assert_eq!(compare(&"1".into(), &1.into()), None);
    }
}
