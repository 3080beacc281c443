//! The values of scalars: plain scalars by YAML 1.2's core schema, JSON values by their kind, all
//! others as text (decisions/blueprint#plain-scalars, decisions/blueprint#number-ranges,
//! decisions/blueprint#numbers-in-json).

use syntax::{Node, Scalar, Style};

/// The kind of a scalar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Typed {
    /// A written null, or an empty value.
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    /// The decoded text.
    Text,
    /// A number beyond 64 bits, or not finite (decisions/blueprint#number-ranges).
    OutOfRange,
}

impl Typed {
    /// The name of the kind, for messages.
    pub(super) fn words(self) -> &'static str {
        match self {
            Typed::Null => "null",
            Typed::Bool(_) => "a boolean",
            Typed::Int(_) => "an integer",
            Typed::Float(_) => "a float",
            Typed::Text => "a string",
            Typed::OutOfRange => "a number",
        }
    }
}

/// The kind of a scalar. A tag of the core schema determines it, so that the diagnostic about the
/// tag is the only one.
pub(super) fn typed(node: &Node, scalar: &Scalar) -> Typed {
    let text = &*scalar.text;
    if let Some(tag) = node.tag() {
        match &*tag.item {
            "!!str" | "!" => return Typed::Text,
            "!!int" | "!!float" | "!!bool" | "!!null" => return core(text),
            _ => {}
        }
    }
    match scalar.style {
        Style::Plain => core(text),
        Style::JsonNumber => json_number(text),
        Style::JsonTrue => Typed::Bool(true),
        Style::JsonFalse => Typed::Bool(false),
        Style::JsonNull => Typed::Null,
        Style::SingleQuoted
        | Style::DoubleQuoted
        | Style::Literal
        | Style::Folded
        | Style::JsonString => Typed::Text,
    }
}

/// Whether a plain integer is written with leading zeros.
pub(super) fn has_leading_zero(scalar: &Scalar) -> bool {
    let digits = scalar.text.strip_prefix(['-', '+']).unwrap_or(&scalar.text);
    scalar.style == Style::Plain
        && digits.len() > 1
        && digits.starts_with('0')
        && digits.bytes().all(|byte| byte.is_ascii_digit())
}

fn core(text: &str) -> Typed {
    let begins_number = match text.as_bytes().first() {
        None => return Typed::Null,
        Some(b'0'..=b'9' | b'+' | b'-' | b'.') => true,
        Some(b't' | b'T' | b'f' | b'F' | b'n' | b'N' | b'~') => false,
        Some(_) => return Typed::Text,
    };
    match text {
        "~" | "null" | "Null" | "NULL" => return Typed::Null,
        "true" | "True" | "TRUE" => return Typed::Bool(true),
        "false" | "False" | "FALSE" => return Typed::Bool(false),
        ".nan" | ".NaN" | ".NAN" => return Typed::OutOfRange,
        _ if !begins_number => return Typed::Text,
        _ => {}
    }
    if let Some(digits) = text.strip_prefix("0x") {
        return radix(digits, 16);
    }
    if let Some(digits) = text.strip_prefix("0o") {
        return radix(digits, 8);
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") {
        return Typed::OutOfRange;
    }
    if !unsigned.is_empty() && unsigned.bytes().all(|byte| byte.is_ascii_digit()) {
        return blueprint::parse_integer(text).map_or(Typed::OutOfRange, Typed::Int);
    }
    if is_float(unsigned) {
        float(text)
    } else {
        Typed::Text
    }
}

fn radix(digits: &str, radix: u32) -> Typed {
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(radix)) {
        return Typed::Text;
    }
    i64::from_str_radix(digits, radix).map_or(Typed::OutOfRange, Typed::Int)
}

/// Whether a text is a float: `.5`, `5.`, `5.5`, each with or without an exponent, or `5e3`.
fn is_float(text: &str) -> bool {
    let (number, exponent) = match text.find(['e', 'E']) {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    digits(whole)
        && digits(fraction)
        && !(whole.is_empty() && fraction.is_empty())
        && exponent.is_none_or(|exponent| {
            let exponent = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
            !exponent.is_empty() && digits(exponent)
        })
}

fn float(text: &str) -> Typed {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Typed::Float(value),
        Ok(_) => Typed::OutOfRange,
        Err(_) => Typed::Text,
    }
}

fn json_number(text: &str) -> Typed {
    if text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'-')
    {
        return text.parse().map_or(Typed::OutOfRange, Typed::Int);
    }
    float(text)
}

/// Whether a text holds a substitution.
pub(super) fn has_substitution(text: &str) -> bool {
    diag::find_substitution(text).is_some()
}

/// Whether a key is a merge key (`<<`).
pub(super) fn is_merge(key: &Node) -> bool {
    key.as_scalar()
        .is_some_and(|scalar| scalar.style == Style::Plain && &*scalar.text == "<<")
}

#[cfg(test)]
mod tests {
    use super::{Typed, core, json_number};

    #[test]
    fn plain_scalars_follow_the_yaml_core_schema() {
        for (text, kind) in [
            ("", Typed::Null),
            ("~", Typed::Null),
            ("NULL", Typed::Null),
            ("True", Typed::Bool(true)),
            ("tRue", Typed::Text),
            ("yes", Typed::Text),
            ("off", Typed::Text),
            ("N", Typed::Text),
            ("012", Typed::Int(12)),
            ("+12", Typed::Int(12)),
            ("-0", Typed::Int(0)),
            ("0x1f", Typed::Int(31)),
            ("0o17", Typed::Int(15)),
            ("0o8", Typed::Text),
            ("0x", Typed::Text),
            ("-0x1f", Typed::Text),
            ("1_000", Typed::Text),
            ("1:30", Typed::Text),
            ("1e3", Typed::Float(1000.0)),
            (".5", Typed::Float(0.5)),
            ("5.", Typed::Float(5.0)),
            (".", Typed::Text),
            ("-", Typed::Text),
            ("e3", Typed::Text),
            ("1e", Typed::Text),
            ("1.2.3", Typed::Text),
            ("nan", Typed::Text),
            ("2023-04-20", Typed::Text),
            ("-.INF", Typed::OutOfRange),
            (".nan", Typed::OutOfRange),
            ("1e999", Typed::OutOfRange),
            ("9223372036854775807", Typed::Int(i64::MAX)),
            ("-9223372036854775808", Typed::Int(i64::MIN)),
            ("9223372036854775808", Typed::OutOfRange),
            ("0xffffffffffffffff", Typed::OutOfRange),
        ] {
            assert_eq!(core(text), kind, "{text}");
        }
    }

    #[test]
    fn a_json_number_with_a_fraction_or_an_exponent_is_a_float() {
        assert_eq!(json_number("3"), Typed::Int(3));
        assert_eq!(json_number("-3"), Typed::Int(-3));
        assert_eq!(json_number("3.0"), Typed::Float(3.0));
        assert_eq!(json_number("1e2"), Typed::Float(100.0));
        assert_eq!(json_number("1e400"), Typed::OutOfRange);
        assert_eq!(json_number("99999999999999999999"), Typed::OutOfRange);
    }
}
