//! Floats as text, as Go writes them.

/// The digits of a positive finite number and the place of its point: `0.DIGITS * 10^point`.
struct FloatDigits {
    digits: String,
    point: i32,
}

/// The digits of a number: as few as identify it, or rounded to some.
fn decimal(number: f64, digits: Option<usize>) -> FloatDigits {
    let text = match digits {
        Some(digits) => format!("{:.*e}", digits.saturating_sub(1), number.abs()),
        None => format!("{:e}", number.abs()),
    };
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let kept = digits.trim_end_matches('0');
    FloatDigits {
        point: exponent.parse::<i32>().unwrap_or_default() + 1,
        digits: if kept.is_empty() {
            "0".into()
        } else {
            kept.into()
        },
    }
}

fn special(number: f64) -> Option<&'static str> {
    if number.is_nan() {
        Some("NaN")
    } else if number.is_infinite() {
        Some(if number > 0.0 { "+Inf" } else { "-Inf" })
    } else {
        None
    }
}

/// A number in the shorter of two forms: with at most so many digits, or as few as identify it.
pub(crate) fn general(number: f64, precision: Option<usize>) -> String {
    if let Some(special) = special(number) {
        return special.into();
    }
    let decimal = decimal(number, precision);
    let mut most = precision.unwrap_or(6) as i32;
    let count = decimal.digits.len() as i32;
    if precision.is_some() && most > count && count >= decimal.point {
        most = count;
    }
    if precision.is_none() {
        most = 21.min(most);
    }
    let exponent = decimal.point - 1;
    if number != 0.0 && (exponent < -4 || exponent >= most) {
        return signed(number, scientific(&decimal));
    }
    signed(number, positional(&decimal))
}

fn signed(number: f64, text: String) -> String {
    match number.is_sign_negative() {
        true => format!("-{text}"),
        false => text,
    }
}

fn scientific(decimal: &FloatDigits) -> String {
    let (first, rest) = decimal.digits.split_at(1);
    let dot = if rest.is_empty() { "" } else { "." };
    let exponent = decimal.point - 1;
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{first}{dot}{rest}e{sign}{:02}", exponent.abs())
}

fn positional(decimal: &FloatDigits) -> String {
    let count = decimal.digits.len() as i32;
    if decimal.digits == "0" {
        return "0".into();
    }
    if decimal.point <= 0 {
        let zeros = "0".repeat(decimal.point.unsigned_abs() as usize);
        return format!("0.{zeros}{}", decimal.digits);
    }
    if decimal.point >= count {
        let zeros = "0".repeat((decimal.point - count) as usize);
        return format!("{}{zeros}", decimal.digits);
    }
    let (whole, fraction) = decimal.digits.split_at(decimal.point as usize);
    format!("{whole}.{fraction}")
}

/// A number as JSON.
pub(crate) fn json(number: f64) -> String {
    let decimal = decimal(number, None);
    let abs = number.abs();
    if abs != 0.0 && !(1e-6..1e21).contains(&abs) {
        let text = signed(number, scientific(&decimal));
        // JSON of Go has no zero at the beginning of a small exponent.
        return text.replace("e-0", "e-");
    }
    signed(number, positional(&decimal))
}

/// A number with six digits after the point.
pub(crate) fn fixed(number: f64) -> String {
    special(number).map_or_else(|| format!("{number:.6}"), str::to_owned)
}

/// A number with six digits after the point and an exponent.
pub(crate) fn exponential(number: f64) -> String {
    if let Some(special) = special(number) {
        return special.into();
    }
    let text = format!("{number:.6e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.abs())
}
