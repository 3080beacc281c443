//! The values of scalars, as the tools of Kubernetes read them: YAML 1.1 without numbers of base 60
//! and without dates, and JSON (decisions/manifests#scalars-and-keys).

use blueprint::Value;
use syntax::{Node, Scalar, Style};

/// The beginning of the long form of the tags of YAML's own types.
const LONG_TAG: &str = "!<tag:yaml.org,2002:";

/// A scalar that has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScalarError {
    /// The tag is not one that manifests can have.
    Tag,
    /// The text is not of the type that the tag names.
    Mismatch,
    /// The number cannot be expressed in JSON.
    NotJson,
}

/// The value of a scalar.
///
/// # Errors
/// If the tag is unknown or does not fit, or if JSON cannot express the value.
pub(crate) fn typed(node: &Node, scalar: &Scalar) -> Result<Value, ScalarError> {
    let text = &*scalar.text;
    let value = match node.tag().map(|tag| short_tag(&tag.item)) {
        None | Some("!") if scalar.style.is_text() => Value::text(text),
        None => match scalar.style {
            Style::JsonNumber => number(text).unwrap_or_else(|| Value::text(text)),
            Style::JsonTrue => Value::Bool(true),
            Style::JsonFalse => Value::Bool(false),
            Style::JsonNull => Value::Null,
            _ => plain(text),
        },
        Some("!" | "str" | "timestamp") => Value::text(text),
        Some("bool") => fitting(plain(text), |value| matches!(value, Value::Bool(_)))?,
        Some("null") => fitting(plain(text), Value::is_null)?,
        Some("int") => fitting(plain(text), is_number)?,
        Some("float") => fitting(plain(text), is_number)?,
        Some(_) => return Err(ScalarError::Tag),
    };
    match value {
        Value::Float(number) if !number.is_finite() => Err(ScalarError::NotJson),
        value => Ok(value),
    }
}

fn short_tag(tag: &str) -> &str {
    let long = tag
        .strip_prefix(LONG_TAG)
        .and_then(|tag| tag.strip_suffix('>'));
    long.or_else(|| tag.strip_prefix("!!")).unwrap_or(tag)
}

fn fitting(value: Value, fits: impl Fn(&Value) -> bool) -> Result<Value, ScalarError> {
    if fits(&value) {
        Ok(value)
    } else {
        Err(ScalarError::Mismatch)
    }
}

fn is_number(value: &Value) -> bool {
    matches!(value, Value::Int(_) | Value::Float(_) | Value::Decimal(_))
}

/// The value of a scalar without quotes.
fn plain(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null,
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            return Value::Bool(true);
        }
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            return Value::Bool(false);
        }
        ".nan" | ".NaN" | ".NAN" => return Value::Float(f64::NAN),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => {
            return Value::Float(f64::INFINITY);
        }
        "-.inf" | "-.Inf" | "-.INF" => return Value::Float(f64::NEG_INFINITY),
        _ => {}
    }
    number(text).unwrap_or_else(|| Value::text(text))
}

/// A number: an integer, or a float with a fraction or an exponent. `None` for other text. `_` may
/// separate the digits, except in a number that begins with its fraction.
fn number(text: &str) -> Option<Value> {
    let first = text.bytes().next()?;
    match first {
        b'.' => float(text),
        b'0'..=b'9' | b'+' | b'-' => {
            let bare: String = text.chars().filter(|letter| *letter != '_').collect();
            integer(&bare).or_else(|| float(&bare))
        }
        _ => None,
    }
}

/// An integer of 64 bits: decimal, `0x`, `0o`, `0b`, or octal with a leading zero.
fn integer(bare: &str) -> Option<Value> {
    let (sign, digits) = match bare.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", bare.strip_prefix('+').unwrap_or(bare)),
    };
    const PREFIXES: [(&str, u32); 6] = [
        ("0x", 16),
        ("0X", 16),
        ("0o", 8),
        ("0O", 8),
        ("0b", 2),
        ("0B", 2),
    ];
    let prefixed = PREFIXES
        .iter()
        .find_map(|(prefix, radix)| Some((digits.strip_prefix(prefix)?, *radix)));
    let (digits, radix) = match prefixed {
        Some(prefixed) => prefixed,
        None if digits.len() > 1 && digits.starts_with('0') => (digits, 8),
        None => (digits, 10),
    };
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(radix)) {
        return None;
    }
    if let Ok(value) = i64::from_str_radix(&format!("{sign}{digits}"), radix) {
        return Some(Value::Int(value));
    }
    if !bare.starts_with(['-', '+']) {
        let value = u64::from_str_radix(digits, radix).ok()?;
        return Some(Value::Decimal(value.to_string().into()));
    }
    None
}

/// A float with a fraction or an exponent. A whole number is an integer, because JSON does not
/// distinguish the two.
fn float(bare: &str) -> Option<Value> {
    /// The bound of whole numbers that a float represents exactly.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let unsigned = bare.strip_prefix(['+', '-']).unwrap_or(bare);
    let (digits, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((digits, exponent)) => (digits, Some(exponent)),
        None => (unsigned, None),
    };
    let is_digits = |text: &str| text.bytes().all(|digit| digit.is_ascii_digit());
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let has_digit = !whole.is_empty() || !fraction.is_empty();
    let exponent_fits = exponent.is_none_or(|exponent| {
        let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        !digits.is_empty() && is_digits(digits)
    });
    if !has_digit || !is_digits(whole) || !is_digits(fraction) || !exponent_fits {
        return None;
    }
    let value: f64 = bare.parse().ok()?;
    if !value.is_finite() {
        return None;
    }
    Some(if value.fract() == 0.0 && value.abs() < EXACT {
        Value::Int(value as i64)
    } else {
        Value::Float(value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_scalars_have_the_values_of_yaml_1_1() {
        for (text, value) in [
            ("", Value::Null),
            ("~", Value::Null),
            ("Null", Value::Null),
            ("nULL", Value::text("nULL")),
            ("yes", Value::Bool(true)),
            ("y", Value::Bool(true)),
            ("On", Value::Bool(true)),
            ("no", Value::Bool(false)),
            ("N", Value::Bool(false)),
            ("OFF", Value::Bool(false)),
            ("yEs", Value::text("yEs")),
            ("0644", Value::Int(420)),
            ("0o644", Value::Int(420)),
            ("0x1F", Value::Int(31)),
            ("0b11", Value::Int(3)),
            ("-0b11", Value::Int(-3)),
            ("0", Value::Int(0)),
            ("-0", Value::Int(0)),
            ("08", Value::Int(8)),
            ("1_000", Value::Int(1000)),
            ("+5", Value::Int(5)),
            ("1.5", Value::Float(1.5)),
            (".5", Value::Float(0.5)),
            ("1.", Value::Int(1)),
            ("1e3", Value::Int(1000)),
            ("1e400", Value::text("1e400")),
            ("100m", Value::text("100m")),
            ("12:30:45", Value::text("12:30:45")),
            ("2026-11-29", Value::text("2026-11-29")),
            ("1.2.3", Value::text("1.2.3")),
            ("-", Value::text("-")),
            ("9223372036854775807", Value::Int(i64::MAX)),
            (
                "18446744073709551615",
                Value::Decimal("18446744073709551615".into()),
            ),
            ("36893488147419103232", Value::Float(36893488147419103232.0)),
            ("${NAME}", Value::text("${NAME}")),
            ("$(NAME)", Value::text("$(NAME)")),
        ] {
            assert_eq!(plain(text), value, "{text}");
        }
    }

    #[test]
    fn tags_decide_the_type() {
        let parsed = |text: &str| {
            let (tree, _) = syntax::parse(diag::FileId::new(0), text, syntax::Format::Yaml);
            let node = tree.root.expect("there is a value");
            let scalar = node.as_scalar().expect("it is a scalar").clone();
            typed(&node, &scalar)
        };
        for (text, value) in [
            ("!!str yes", Ok(Value::text("yes"))),
            ("!!int 0644", Ok(Value::Int(420))),
            ("!!int \"7\"", Ok(Value::Int(7))),
            ("!!bool on", Ok(Value::Bool(true))),
            ("!!bool 1", Err(ScalarError::Mismatch)),
            ("!!binary aGk=", Err(ScalarError::Tag)),
            ("!Ref a", Err(ScalarError::Tag)),
            (".inf", Err(ScalarError::NotJson)),
            ("\"yes\"", Ok(Value::text("yes"))),
        ] {
            assert_eq!(parsed(text), value, "{text}");
        }
    }
}
