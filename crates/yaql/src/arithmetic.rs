//! Python's arithmetic on integers of any size and floats.

use std::cmp::Ordering;

use pycompat::BigInt;

use crate::failure::{Evaluated, Halt};
use crate::model::Datum;

/// Compares two numbers exactly; booleans are 0 and 1. `None` if one is not a number or is NaN.
pub(crate) fn compare(left: &Datum, right: &Datum) -> Option<Ordering> {
    match (left, right) {
        (Datum::Int(left), Datum::Int(right)) => Some(left.cmp(right)),
        (Datum::Float(left), Datum::Float(right)) => left.partial_cmp(right),
        (Datum::Float(left), right) => compare_float(*left, &right.exact()?),
        (left, Datum::Float(right)) => compare_float(*right, &left.exact()?).map(Ordering::reverse),
        (left, right) => Some(left.exact()?.cmp(&right.exact()?)),
    }
}

fn compare_float(float: f64, other: &BigInt) -> Option<Ordering> {
    let Some(exact) = pycompat::exact_of_float(float) else {
        return float.partial_cmp(&0.0);
    };
    let fraction = float.fract().partial_cmp(&0.0)?;
    Some(exact.cmp(other).then(fraction))
}

/// A number as a float.
pub(crate) fn float(value: &Datum) -> Evaluated<f64> {
    match value {
        Datum::Float(value) => Ok(*value),
        Datum::Int(value) => Ok(*value as f64),
        Datum::Bool(value) => Ok(f64::from(u8::from(*value))),
        Datum::Big(value) => match value.to_string().parse::<f64>() {
            Ok(float) if float.is_finite() => Ok(float),
            _ => Err(Halt::failed("int too large to convert to float")),
        },
        other => Err(Halt::failed(format!(
            "must be real number, not {}",
            other.type_name()
        ))),
    }
}

/// Two numbers in a common representation.
enum NumberPair {
    Small(i64, i64),
    Large(BigInt, BigInt),
    Floats(f64, f64),
}

fn pair(left: &Datum, right: &Datum) -> Evaluated<NumberPair> {
    Ok(match (left, right) {
        (Datum::Int(left), Datum::Int(right)) => NumberPair::Small(*left, *right),
        (left, right) => match (left.exact(), right.exact()) {
            (Some(left), Some(right)) => NumberPair::Large(left, right),
            _ => NumberPair::Floats(float(left)?, float(right)?),
        },
    })
}

/// `left + right`.
pub(crate) fn add(left: &Datum, right: &Datum) -> Evaluated<Datum> {
    Ok(match pair(left, right)? {
        NumberPair::Small(left, right) => match left.checked_add(right) {
            Some(sum) => Datum::Int(sum),
            None => Datum::integer(BigInt::from(left) + right),
        },
        NumberPair::Large(left, right) => Datum::integer(left + right),
        NumberPair::Floats(left, right) => Datum::Float(left + right),
    })
}

/// `left - right`.
pub(crate) fn subtract(left: &Datum, right: &Datum) -> Evaluated<Datum> {
    Ok(match pair(left, right)? {
        NumberPair::Small(left, right) => match left.checked_sub(right) {
            Some(difference) => Datum::Int(difference),
            None => Datum::integer(BigInt::from(left) - right),
        },
        NumberPair::Large(left, right) => Datum::integer(left - right),
        NumberPair::Floats(left, right) => Datum::Float(left - right),
    })
}

/// `left * right`.
pub(crate) fn multiply(left: &Datum, right: &Datum) -> Evaluated<Datum> {
    Ok(match pair(left, right)? {
        NumberPair::Small(left, right) => match left.checked_mul(right) {
            Some(product) => Datum::Int(product),
            None => Datum::integer(BigInt::from(left) * right),
        },
        NumberPair::Large(left, right) => Datum::integer(left * right),
        NumberPair::Floats(left, right) => Datum::Float(left * right),
    })
}

/// `left / right`: integers are rounded down.
pub(crate) fn divide(left: &Datum, right: &Datum) -> Evaluated<Datum> {
    Ok(match pair(left, right)? {
        NumberPair::Small(_, 0) => return Err(Halt::failed("integer division or modulo by zero")),
        NumberPair::Small(left, right) => match left.checked_div_euclid(right) {
            // `div_euclid` gives a non-negative remainder, so it rounds down for positive divisors
            // only.
            Some(whole) if right < 0 && left.rem_euclid(right) != 0 => Datum::Int(whole - 1),
            Some(whole) => Datum::Int(whole),
            None => Datum::integer(-BigInt::from(left)),
        },
        NumberPair::Large(left, right) => Datum::integer(floor_divide(&left, &right)?.0),
        NumberPair::Floats(_, 0.0) => return Err(Halt::failed("float division by zero")),
        NumberPair::Floats(left, right) => Datum::Float(left / right),
    })
}

/// `left mod right`: the result has the sign of the divisor.
pub(crate) fn modulo(left: &Datum, right: &Datum) -> Evaluated<Datum> {
    Ok(match pair(left, right)? {
        NumberPair::Small(_, 0) => return Err(Halt::failed("integer modulo by zero")),
        NumberPair::Small(left, right) => {
            let rest = left.checked_rem(right).unwrap_or(0);
            Datum::Int(if rest != 0 && (rest < 0) != (right < 0) {
                rest + right
            } else {
                rest
            })
        }
        NumberPair::Large(left, right) => match floor_divide(&left, &right) {
            Ok((_, rest)) => Datum::integer(rest),
            Err(_) => return Err(Halt::failed("integer modulo by zero")),
        },
        NumberPair::Floats(_, 0.0) => return Err(Halt::failed("float modulo")),
        NumberPair::Floats(left, right) => {
            let rest = left % right;
            Datum::Float(if rest == 0.0 {
                0.0_f64.copysign(right)
            } else if (rest < 0.0) == (right < 0.0) {
                rest
            } else {
                rest + right
            })
        }
    })
}

/// The quotient rounded down, and the remainder. Fails if the divisor is zero.
pub(crate) fn floor_divide(left: &BigInt, right: &BigInt) -> Evaluated<(BigInt, BigInt)> {
    let zero = BigInt::from(0);
    if *right == zero {
        return Err(Halt::failed("integer division or modulo by zero"));
    }
    let (whole, rest) = (left / right, left % right);
    Ok(if rest != zero && (rest < zero) != (*right < zero) {
        (whole - 1, rest + right)
    } else {
        (whole, rest)
    })
}

/// `-value`.
pub(crate) fn negate(value: &Datum) -> Evaluated<Datum> {
    Ok(match value {
        Datum::Float(value) => Datum::Float(-value),
        other => Datum::integer(-other.exact().unwrap_or_default()),
    })
}

/// `pow(base, exponent, modulus)`. Fails before it computes an integer of more than `bytes` bytes.
pub(crate) fn power(
    base: &Datum,
    exponent: &Datum,
    modulus: &Datum,
    bytes: usize,
) -> Evaluated<Datum> {
    let zero = BigInt::from(0);
    let whole = (base.exact(), exponent.exact());
    if !matches!(modulus, Datum::Null) {
        let ((Some(mut base), Some(mut exponent)), Some(modulus)) = (whole, modulus.exact()) else {
            return Err(Halt::failed(
                "pow() 3rd argument not allowed unless all arguments are integers",
            ));
        };
        if modulus == zero {
            return Err(Halt::failed("pow() 3rd argument cannot be 0"));
        }
        if exponent < zero {
            base = base
                .modinv(&modulus)
                .ok_or_else(|| Halt::failed("base is not invertible for the given modulus"))?;
            exponent = -exponent;
        }
        return Ok(Datum::integer(base.modpow(&exponent, &modulus)));
    }
    if let (Some(base), Some(exponent)) = whole
        && exponent >= zero
    {
        let small = base.bits() <= 1;
        let bits = u64::try_from(&exponent)
            .ok()
            .and_then(|exponent| exponent.checked_mul(base.bits()));
        return match u32::try_from(&exponent) {
            _ if small => Ok(Datum::integer(if exponent == zero {
                1.into()
            } else if base < zero && !exponent.bit(0) {
                -base
            } else {
                base
            })),
            Ok(exponent) if bits.is_some_and(|bits| bits / 8 <= bytes as u64) => {
                Ok(Datum::integer(base.pow(exponent)))
            }
            _ => Err(Halt::memory()),
        };
    }
    let (base, exponent) = (float(base)?, float(exponent)?);
    if base == 0.0 && exponent < 0.0 {
        return Err(Halt::failed("0.0 cannot be raised to a negative power"));
    }
    let result = base.powf(exponent);
    if result.is_nan() && base < 0.0 && exponent.is_finite() && base.is_finite() {
        return Err(Halt::failed(
            "the power of a negative number is no real number",
        ));
    }
    if result.is_infinite() && base.is_finite() && exponent.is_finite() {
        return Err(Halt::failed("(34, 'Numerical result out of range')"));
    }
    Ok(Datum::Float(result))
}

/// `round(value, digits)`: halves are rounded to even; a float stays a float.
pub(crate) fn round(value: &Datum, digits: i64) -> Evaluated<Datum> {
    match value {
        Datum::Float(value) => round_float(*value, digits).map(Datum::Float),
        other => {
            let exact = other.exact().unwrap_or_default();
            Ok(if digits >= 0 {
                other.clone()
            } else {
                Datum::integer(round_integer(&exact, digits, false))
            })
        }
    }
}

fn round_float(value: f64, digits: i64) -> Evaluated<f64> {
    if !value.is_finite() || digits > 323 {
        return Ok(value);
    }
    if let Ok(digits) = usize::try_from(digits) {
        return Ok(format!("{value:.digits$}").parse().unwrap_or(value));
    }
    if digits < -309 {
        return Ok(value * 0.0);
    }
    let exact = pycompat::exact_of_float(value.abs()).unwrap_or_default();
    let rounded = round_integer(&exact, digits, value.fract() != 0.0);
    match rounded.to_string().parse::<f64>() {
        Ok(rounded) if rounded.is_finite() => Ok(rounded.copysign(value)),
        _ => Err(Halt::failed("rounded value too large to represent")),
    }
}

/// Rounds an integer to tens, hundreds, ...; `more` is true if the number has a fraction.
fn round_integer(value: &BigInt, digits: i64, more: bool) -> BigInt {
    let zero = BigInt::from(0);
    // A number with fewer digits than `places` rounds to zero.
    let places = digits.unsigned_abs();
    if places > value.bits() / 3 + 2 {
        return zero;
    }
    let unit = BigInt::from(10).pow(u32::try_from(places).unwrap_or(u32::MAX));
    let Ok((whole, rest)) = floor_divide(value, &unit) else {
        return zero;
    };
    let twice: BigInt = rest * 2;
    let up = match twice.cmp(&unit) {
        Ordering::Less => false,
        Ordering::Greater => true,
        Ordering::Equal => more || whole.bit(0),
    };
    (if up { whole + 1 } else { whole }) * unit
}

#[cfg(test)]
mod tests {
    use super::*;

    fn int(value: i64) -> Datum {
        Datum::Int(value)
    }

    fn shown(value: Evaluated<Datum>) -> String {
        match value {
            Ok(value) => crate::text::repr(&value),
            Err(halt) => format!("{halt:?}"),
        }
    }

    #[test]
    fn division_rounds_down_and_the_remainder_has_the_sign_of_the_divisor() {
        for (left, right, whole, rest) in [
            (7, 2, "3", "1"),
            (-7, 2, "-4", "1"),
            (7, -2, "-4", "-1"),
            (-7, -2, "3", "-1"),
        ] {
            assert_eq!(shown(divide(&int(left), &int(right))), whole);
            assert_eq!(shown(modulo(&int(left), &int(right))), rest);
        }
        assert_eq!(
            shown(divide(&int(i64::MIN), &int(-1))),
            "9223372036854775808"
        );
        assert_eq!(shown(modulo(&int(i64::MIN), &int(-1))), "0");
        assert_eq!(shown(divide(&Datum::Float(7.0), &int(2))), "3.5");
        assert_eq!(shown(modulo(&Datum::Float(-7.5), &int(2))), "0.5");
    }

    #[test]
    fn integers_have_any_size() {
        assert_eq!(shown(add(&int(i64::MAX), &int(1))), "9223372036854775808");
        assert_eq!(
            shown(multiply(&int(i64::MAX), &int(10))),
            "92233720368547758070"
        );
        assert_eq!(
            shown(power(&int(2), &int(70), &Datum::Null, 100)),
            "1180591620717411303424"
        );
        assert_eq!(
            power(&int(2), &int(i64::MAX), &Datum::Null, 100)
                .err()
                .and_then(|halt| halt.kind()),
            Some(crate::FailureKind::Limit)
        );
        assert_eq!(
            shown(power(&int(-1), &int(i64::MAX), &Datum::Null, 100)),
            "-1"
        );
        assert_eq!(shown(power(&int(2), &int(-1), &Datum::Null, 100)), "0.5");
        assert_eq!(shown(power(&int(3), &int(-1), &int(7), 100)), "5");
    }

    #[test]
    fn rounding_is_half_to_even() {
        for (value, digits, expected) in [
            (2.5, 0, "2.0"),
            (-2.5, 0, "-2.0"),
            (2.675, 2, "2.67"),
            (1250.0, -2, "1200.0"),
            (1250.5, -2, "1300.0"),
            (7.0, -1, "10.0"),
            (-0.4, 0, "-0.0"),
        ] {
            assert_eq!(
                shown(round(&Datum::Float(value), digits)),
                expected,
                "{value}"
            );
        }
        assert_eq!(shown(round(&int(25), -1)), "20");
        assert_eq!(shown(round(&int(-25), -1)), "-20");
        assert_eq!(shown(round(&int(26), -5)), "0");
    }

    #[test]
    fn integers_and_floats_compare_exactly() {
        let big = Datum::integer(BigInt::from(9_007_199_254_740_993_i64));
        assert_eq!(
            compare(&big, &Datum::Float(9_007_199_254_740_992.0)),
            Some(Ordering::Greater)
        );
        assert_eq!(
            compare(&Datum::Bool(true), &Datum::Float(1.0)),
            Some(Ordering::Equal)
        );
        assert_eq!(
            compare(&int(1), &Datum::Float(f64::INFINITY)),
            Some(Ordering::Less)
        );
        assert_eq!(compare(&int(1), &Datum::Float(f64::NAN)), None);
    }
}
