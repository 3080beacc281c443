//! The values of scalars: YAML 1.2's core schema with the extras that programs rely on
//! (decisions/pulumi#scalars).

use blueprint::Value;

use crate::reference::is_reference;
use syntax::{Node, Scalar, Style};

/// The value of a scalar. A tag of the core schema decides the kind; other tags have no effect. Text
/// is decoded, and not yet read as an expression.
pub(crate) fn typed(node: &Node, scalar: &Scalar) -> Value {
    let text = &*scalar.text;
    match node.tag().map(|tag| &*tag.item) {
        Some("!!str" | "!") => return Value::text(text),
        Some("!!int" | "!!float" | "!!bool" | "!!null") => return plain(text),
        _ => {}
    }
    match scalar.style {
        Style::Plain => plain(text),
        Style::JsonNumber => json_number(text),
        Style::JsonTrue => Value::Bool(true),
        Style::JsonFalse => Value::Bool(false),
        Style::JsonNull => Value::Null,
        _ => Value::text(text),
    }
}

/// The kind of a value in messages.
pub(crate) fn kind_words(value: &Value) -> &'static str {
    match value.unmarked() {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Int(_) | Value::Float(_) | Value::Decimal(_) => "a number",
        Value::Text(_) | Value::Bytes(_) => "a string",
        Value::List(_) | Value::Set(_) => "a list",
        Value::Map(_) if is_reference(value) => "a resource",
        Value::Map(_) => "a map",
        Value::Asset(_) => "an asset",
        Value::Resource(_) => "a resource",
        Value::Function(_) => "a function",
        Value::Unknown(_) => "a value that is not known yet",
        Value::Secret(_) => "a secret",
    }
}

/// The text of a float: a whole number has no fraction.
pub(crate) fn float_text(value: f64) -> String {
    // Larger numbers have an exponent in their shortest form.
    const LARGEST_WHOLE: f64 = 1e15;
    if value.fract() == 0.0 && value.abs() < LARGEST_WHOLE {
        return format!("{value:.0}");
    }
    blueprint::format_float(value)
}

fn plain(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null,
        "true" | "True" | "TRUE" => return Value::Bool(true),
        "false" | "False" | "FALSE" => return Value::Bool(false),
        ".nan" | ".NaN" | ".NAN" => return Value::Float(f64::NAN),
        _ => {}
    }
    let begins_number = text
        .bytes()
        .next()
        .is_some_and(|first| first.is_ascii_digit() || matches!(first, b'+' | b'-' | b'.'));
    if !begins_number {
        return Value::text(text);
    }
    number(text).unwrap_or_else(|| Value::text(text))
}

/// A number as programs write it. `None` for other text.
fn number(text: &str) -> Option<Value> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") {
        let sign = if text.starts_with('-') { -1.0 } else { 1.0 };
        return Some(Value::Float(sign * f64::INFINITY));
    }
    let bare: String = text.chars().filter(|letter| *letter != '_').collect();
    integer(&bare).or_else(|| float(&bare))
}

/// An integer: decimal, `0x`, `0o`, `0b`, or octal with a leading zero. An integer above 2^64 is a
/// float.
fn integer(bare: &str) -> Option<Value> {
    let (sign, digits) = match bare.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", bare.strip_prefix('+').unwrap_or(bare)),
    };
    let prefixed = [
        ("0x", 16),
        ("0X", 16),
        ("0o", 8),
        ("0O", 8),
        ("0b", 2),
        ("0B", 2),
    ];
    let (digits, radix) = prefixed
        .iter()
        .find_map(|(prefix, radix)| Some((digits.strip_prefix(prefix)?, *radix)))
        .unwrap_or_else(|| {
            let is_octal = digits.len() > 1
                && digits.starts_with('0')
                && digits.bytes().all(|digit| (b'0'..=b'7').contains(&digit));
            (digits, if is_octal { 8 } else { 10 })
        });
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(radix)) {
        return None;
    }
    let whole = format!("{sign}{digits}");
    if let Ok(value) = i64::from_str_radix(&whole, radix) {
        return Some(Value::Int(value));
    }
    match u64::from_str_radix(digits, radix) {
        Ok(value) if sign.is_empty() => Some(Value::Decimal(value.to_string().into())),
        _ => whole.parse().ok().map(Value::Float),
    }
}

/// A float with a fraction or an exponent. A number beyond the range of floats is text.
fn float(bare: &str) -> Option<Value> {
    let unsigned = bare.strip_prefix(['+', '-']).unwrap_or(bare);
    let allowed =
        |letter: u8| letter.is_ascii_digit() || matches!(letter, b'.' | b'e' | b'E' | b'+' | b'-');
    let has_digit = unsigned.bytes().any(|letter| letter.is_ascii_digit());
    let begins = unsigned.starts_with(|first: char| first.is_ascii_digit() || first == '.');
    if !begins || !has_digit || !unsigned.bytes().all(allowed) {
        return None;
    }
    let value: f64 = bare.parse().ok()?;
    value.is_finite().then_some(Value::Float(value))
}

fn json_number(text: &str) -> Value {
    let is_whole = text
        .bytes()
        .all(|letter| letter.is_ascii_digit() || letter == b'-');
    if is_whole {
        return integer_of_json(text);
    }
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Value::Float(value),
        _ => Value::text(text),
    }
}

fn integer_of_json(text: &str) -> Value {
    match text.parse::<i64>() {
        Ok(value) => Value::Int(value),
        Err(_) => match text.parse::<u64>() {
            Ok(value) => Value::Decimal(value.to_string().into()),
            Err(_) => text
                .parse()
                .map_or_else(|_| Value::text(text), Value::Float),
        },
    }
}

/// The kind of the values of a type, with its article.
pub(crate) fn type_words(ty: &blueprint::Type) -> &'static str {
    use blueprint::Type;
    match ty {
        Type::Bool => "a boolean",
        Type::Int | Type::Float => "a number",
        Type::Text => "a string",
        Type::List(_) => "a list",
        Type::Map(_) | Type::Object(_) => "a map",
        Type::Null => "null",
        _ => "a value of this type",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_scalars_have_the_values_of_the_reference() {
        for (text, value) in [
            ("0777", Value::Int(511)),
            ("0o17", Value::Int(15)),
            ("0x1f", Value::Int(31)),
            ("0b11", Value::Int(3)),
            ("1_000", Value::Int(1000)),
            ("+5", Value::Int(5)),
            ("-5", Value::Int(-5)),
            ("08", Value::Int(8)),
            ("1.", Value::Float(1.0)),
            (".5", Value::Float(0.5)),
            ("1e3", Value::Float(1000.0)),
            (".inf", Value::Float(f64::INFINITY)),
            ("yes", Value::text("yes")),
            ("on", Value::text("on")),
            ("True", Value::Bool(true)),
            ("TRUE", Value::Bool(true)),
            ("Null", Value::Null),
            ("", Value::Null),
            ("1e400", Value::text("1e400")),
            ("12:30:45", Value::text("12:30:45")),
            ("2024-01-01", Value::text("2024-01-01")),
            ("9007199254740993", Value::Int(9007199254740993)),
            (
                "18446744073709551615",
                Value::Decimal("18446744073709551615".into()),
            ),
            ("36893488147419103232", Value::Float(36893488147419103232.0)),
            ("1.2.3", Value::text("1.2.3")),
            ("-", Value::text("-")),
            ("0x", Value::text("0x")),
        ] {
            assert_eq!(plain(text), value, "{text}");
        }
    }
}
