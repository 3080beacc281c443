//! Quantities such as `500m` and `1Gi`, compared by their amounts: the server writes `1` for
//! `1000m`.

use std::cmp::Ordering;

use serde_json::Value as Json;

/// The amount of a quantity: `digits * 10^tens * 2^twos`.
#[derive(Clone, Copy, Debug)]
struct Amount {
    digits: i128,
    tens: i32,
    twos: i32,
}

/// The longest number that is read, in digits. Its product with the largest suffix fits 128 bits.
const DIGITS: usize = 30;

/// Whether two values are quantities with the same amount. A value is a text or a number.
pub(crate) fn same_amount(one: &Json, other: &Json) -> bool {
    match (amount(one), amount(other)) {
        (Some(one), Some(other)) => compare(one, other) == Some(Ordering::Equal),
        _ => false,
    }
}

fn amount(value: &Json) -> Option<Amount> {
    match value {
        Json::String(text) => parse(text),
        Json::Number(number) => parse(&number.to_string()),
        _ => None,
    }
}

fn parse(text: &str) -> Option<Amount> {
    let text = text.trim();
    let (negative, rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let end = rest
        .find(|character: char| !character.is_ascii_digit() && character != '.')
        .unwrap_or(rest.len());
    let (number, suffix) = rest.split_at(end);
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let digits = format!("{whole}{}", part.trim_end_matches('0'));
    let is_number = digits.len() <= DIGITS
        && !number.trim_matches('.').is_empty()
        && digits.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number {
        return None;
    }
    let digits: i128 = if digits.is_empty() {
        0
    } else {
        digits.parse().ok()?
    };
    let parts = i32::try_from(part.trim_end_matches('0').len()).ok()?;
    let (tens, twos) = scale(suffix)?;
    Some(Amount {
        digits: if negative { -digits } else { digits },
        tens: tens.checked_sub(parts)?,
        twos,
    })
}

/// The powers of ten and of two of a suffix.
fn scale(suffix: &str) -> Option<(i32, i32)> {
    let scale = match suffix {
        "" => (0, 0),
        "n" => (-9, 0),
        "u" => (-6, 0),
        "m" => (-3, 0),
        "k" => (3, 0),
        "M" => (6, 0),
        "G" => (9, 0),
        "T" => (12, 0),
        "P" => (15, 0),
        "E" => (18, 0),
        "Ki" => (0, 10),
        "Mi" => (0, 20),
        "Gi" => (0, 30),
        "Ti" => (0, 40),
        "Pi" => (0, 50),
        "Ei" => (0, 60),
        _ => {
            let exponent = suffix.strip_prefix(['e', 'E'])?;
            (
                exponent.parse().ok().filter(|tens: &i32| tens.abs() < 64)?,
                0,
            )
        }
    };
    Some(scale)
}

/// Compares two amounts. `None` if they are too large or too precise to compare.
fn compare(one: Amount, other: Amount) -> Option<Ordering> {
    let (tens, twos) = (one.tens.min(other.tens), one.twos.min(other.twos));
    let scaled = |amount: Amount| {
        let ten = 10_i128.checked_pow(u32::try_from(amount.tens - tens).ok()?)?;
        let two = 2_i128.checked_pow(u32::try_from(amount.twos - twos).ok()?)?;
        amount.digits.checked_mul(ten)?.checked_mul(two)
    };
    if one.digits == 0 || other.digits == 0 {
        return Some(one.digits.cmp(&other.digits));
    }
    Some(scaled(one)?.cmp(&scaled(other)?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn quantities_are_compared_by_their_amounts() {
        for (one, other, expected) in [
            (json!("1000m"), json!("1"), true),
            (json!(1), json!("1"), true),
            (json!(0.5), json!("500m"), true),
            (json!("1Gi"), json!("1024Mi"), true),
            (json!("1Gi"), json!("1073741824"), true),
            (json!("1G"), json!("1Gi"), false),
            (json!("1.50"), json!("1500m"), true),
            (json!("1e3"), json!("1k"), true),
            (json!("0"), json!("0Ki"), true),
            (json!("-1"), json!("1"), false),
            (json!(".5"), json!("0.5"), true),
            (json!("1."), json!("1"), true),
            (json!("x"), json!("x"), false),
            (json!("."), json!("0"), false),
            (json!(""), json!("0"), false),
            (json!("1e99"), json!("1"), false),
            (json!(null), json!(null), false),
            (json!("5E"), json!("5e18"), true),
        ] {
            assert_eq!(same_amount(&one, &other), expected, "{one} {other}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_compared(one in "[0-9.+-]{0,34}[a-zA-Z]{0,2}[0-9-]{0,3}", other in ".{0,6}") {
            same_amount(&json!(one), &json!(other));
        }

        #[test]
        fn thousands_are_kilos(number in 0_u32..) {
            let kilos = json!(format!("{number}k"));
            prop_assert!(same_amount(&kilos, &json!(u64::from(number) * 1000)));
        }
    }
}
