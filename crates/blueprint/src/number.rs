//! Exact conversion between numbers and text.

/// The shortest text that parses to the same float, always with a fraction or an exponent.
///
/// It has an exponent outside `1e-5 <= abs < 1e16` (decisions/blueprint#floats-as-text): `2.0`,
/// `3.14`, `1e21`.
pub fn format_float(value: f64) -> String {
    if value == 0.0 {
        return if value.is_sign_negative() {
            "-0.0".into()
        } else {
            "0.0".into()
        };
    }
    let abs = value.abs();
    if (1e-5..1e16).contains(&abs) {
        let text = format!("{value}");
        if text.contains('.') {
            text
        } else {
            text + ".0"
        }
    } else {
        format!("{value:e}")
    }
}

/// Parses a 64-bit integer: decimal digits with an optional sign; leading zeros are allowed. `None`
/// for any other text.
pub fn parse_integer(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

/// Parses a finite float: decimal text with an optional fraction and exponent. `None` for any other
/// text, including `inf` and `nan`.
pub fn parse_float(text: &str) -> Option<f64> {
    let plain = text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-' | b'+' | b'e' | b'E'));
    if !plain || !text.bytes().any(|byte| byte.is_ascii_digit()) {
        return None;
    }
    text.parse().ok().filter(|value: &f64| value.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_keep_a_fraction_or_an_exponent() {
        for (value, text) in [
            (3.25, "3.25"),
            (2.0, "2.0"),
            (1e21, "1e21"),
            (1e16, "1e16"),
            (1e15, "1000000000000000.0"),
            (1e-6, "1e-6"),
            (0.00001, "0.00001"),
        ] {
            assert_eq!(format_float(value), text);
        }
    }

    #[test]
    fn only_plain_numbers_parse() {
        assert_eq!(parse_integer("007"), Some(7));
        assert_eq!(parse_integer("9223372036854775808"), None);
        assert_eq!(parse_integer("1_000"), None);
        assert_eq!(parse_float("2.50"), Some(2.5));
        assert_eq!(parse_float("inf"), None);
        assert_eq!(parse_float("1e999"), None);
    }
}
