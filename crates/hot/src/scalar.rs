//! The values of scalars: YAML 1.1 as Heat reads it, except that dates and times stay text
//! (decisions/heat#text-of-a-template).

use blueprint::{Name, Value};
use syntax::{Scalar, Style};

/// The value of a scalar with its tag, in the form with `!`. `None` if the tag is unknown, or its
/// text does not fit it.
pub(super) fn typed(scalar: &Scalar, tag: Option<&str>) -> Option<Value> {
    let text = &*scalar.text;
    if let Some(tag) = tag {
        return match short(tag).as_ref() {
            "!" => untagged(scalar),
            "!!str" => Some(Value::text(text)),
            "!!int" => integer(text),
            "!!float" => float(text)
                .or_else(|| integer(text).and_then(as_float))
                .or_else(|| python_float(text)),
            "!!bool" => boolean(text),
            "!!null" => Some(Value::Null),
            "!!timestamp" => Some(Value::text(text)),
            "!!binary" => binary(text),
            _ => None,
        };
    }
    untagged(scalar)
}

/// The short form of a tag.
pub(super) fn short(tag: &str) -> std::borrow::Cow<'_, str> {
    match tag
        .strip_prefix("!<tag:yaml.org,2002:")
        .and_then(|tag| tag.strip_suffix('>'))
    {
        Some(name) => format!("!!{name}").into(),
        None => tag.into(),
    }
}

/// The float that Python's `float` reads from a text that is no float in YAML.
fn python_float(text: &str) -> Option<Value> {
    pycompat::float(&Value::text(text.replace('_', "")))
        .ok()
        .map(Value::Float)
}

fn untagged(scalar: &Scalar) -> Option<Value> {
    let text = &*scalar.text;
    Some(match scalar.style {
        Style::Plain => return plain(text),
        Style::JsonNumber => json_number(text),
        Style::JsonTrue => Value::Bool(true),
        Style::JsonFalse => Value::Bool(false),
        Style::JsonNull => Value::Null,
        _ => Value::text(text),
    })
}

/// The text of a key after conversion to JSON: `1` is "1", `yes` "true", an empty key "null".
pub(super) fn key_text(value: &Value) -> Option<Name> {
    Some(match value {
        Value::Null => "null".into(),
        Value::Bool(value) => if *value { "true" } else { "false" }.into(),
        Value::Int(value) => value.to_string().into(),
        Value::Decimal(text) | Value::Text(text) => text.clone(),
        Value::Float(value) => float_text(*value).into(),
        _ => return None,
    })
}

fn float_text(value: f64) -> String {
    if value.is_nan() {
        return "NaN".into();
    }
    if value.is_infinite() {
        return if value > 0.0 { "Infinity" } else { "-Infinity" }.into();
    }
    blueprint::format_float(value)
}

fn plain(text: &str) -> Option<Value> {
    let Some(first) = text.bytes().next() else {
        return Some(Value::Null);
    };
    match first {
        b'0'..=b'9' | b'+' | b'-' | b'.' => {
            if let Some(value) = integer(text).or_else(|| float(text)) {
                return Some(value);
            }
        }
        b'~' | b'n' | b'N' if matches!(text, "~" | "null" | "Null" | "NULL") => {
            return Some(Value::Null);
        }
        // PyYAML has a tag for `=` but no constructor for it.
        b'=' if text == "=" => return None,
        b'<' if text == "<<" => return None,
        _ => {}
    }
    Some(boolean(text).unwrap_or_else(|| Value::text(text)))
}

fn boolean(text: &str) -> Option<Value> {
    if text.len() > 5 {
        return None;
    }
    let lower = text.to_ascii_lowercase();
    let value = match lower.as_str() {
        "yes" | "on" | "true" => true,
        "no" | "off" | "false" => false,
        _ => return None,
    };
    // Lower, Title or UPPER case; no mixture.
    let mut title = lower.clone();
    title[..1].make_ascii_uppercase();
    (text == lower || text == title || text == lower.to_ascii_uppercase())
        .then_some(Value::Bool(value))
}

/// Parses an integer of any size: decimal, octal with a leading zero, `0x`, `0b`, base 60 with
/// colons; underscores anywhere.
fn integer(text: &str) -> Option<Value> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let decimal = |digits: &str| {
        digits
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'_')
    };
    let (digits, radix) = match digits.as_bytes() {
        [] => return None,
        [b'0'] => return Some(Value::Int(0)),
        [b'0', b'x', rest @ ..] => (rest, 16),
        [b'0', b'b', rest @ ..] => (rest, 2),
        [b'0', rest @ ..] => (rest, 8),
        [b'1'..=b'9', ..] if digits.contains(':') => return sexagesimal(negative, digits),
        [b'1'..=b'9', ..] if decimal(digits) => (digits.as_bytes(), 10),
        _ => return None,
    };
    let plain: Vec<u8> = digits
        .iter()
        .copied()
        .filter(|byte| *byte != b'_')
        .collect();
    // `0_` is a zero in base 8 without further digits.
    if plain.is_empty() && radix == 8 && !digits.is_empty() {
        return Some(Value::Int(0));
    }
    if plain.is_empty() || !plain.iter().all(|byte| (*byte as char).is_digit(radix)) {
        return None;
    }
    let number = num_bigint::BigInt::parse_bytes(&plain, radix)?;
    Some(whole(if negative { -number } else { number }))
}

/// Parses base 60, such as `190:20:30`: the first part is any number, the others are below 60.
fn sexagesimal(negative: bool, digits: &str) -> Option<Value> {
    let mut total = num_bigint::BigInt::from(0);
    for (at, part) in digits.split(':').enumerate() {
        let plain: String = part.chars().filter(|digit| *digit != '_').collect();
        let fits = !plain.is_empty() && plain.bytes().all(|byte| byte.is_ascii_digit());
        if !fits
            || (at > 0 && (part.len() > 2 || part.contains('_') || plain.parse::<u8>().ok()? > 59))
        {
            return None;
        }
        total = total * 60 + num_bigint::BigInt::parse_bytes(plain.as_bytes(), 10)?;
    }
    Some(whole(if negative { -total } else { total }))
}

fn whole(number: num_bigint::BigInt) -> Value {
    i64::try_from(&number).map_or_else(|_| Value::Decimal(number.to_string().into()), Value::Int)
}

fn as_float(value: Value) -> Option<Value> {
    match value {
        Value::Int(value) => Some(Value::Float(value as f64)),
        Value::Decimal(text) => text.parse().ok().map(Value::Float),
        _ => None,
    }
}

/// Parses a float: with a dot, and a signed exponent; base 60 with a fraction; infinity, not a
/// number.
fn float(text: &str) -> Option<Value> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let sign = if text.starts_with('-') { -1.0 } else { 1.0 };
    match unsigned {
        ".inf" | ".Inf" | ".INF" => return Some(Value::Float(sign * f64::INFINITY)),
        ".nan" | ".NaN" | ".NAN" if unsigned.len() == text.len() => {
            return Some(Value::Float(f64::NAN));
        }
        _ => {}
    }
    if unsigned.contains(':') {
        return sexagesimal_float(sign, unsigned);
    }
    let (number, exponent) = match unsigned.find(['e', 'E']) {
        Some(at) => (&unsigned[..at], Some(&unsigned[at + 1..])),
        None => (unsigned, None),
    };
    let (before, after) = number.split_once('.')?;
    let digits = |part: &str| {
        part.bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'_')
    };
    // A sign directly before the point makes the scalar text.
    if before.is_empty() && text != unsigned {
        return None;
    }
    let starts = before
        .bytes()
        .next()
        .or(after.bytes().next())
        .is_some_and(|byte| byte.is_ascii_digit());
    let exponent_fits = exponent.is_none_or(|exponent| {
        exponent.strip_prefix(['-', '+']).is_some_and(|digits| {
            !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
        })
    });
    // `._5` and `.e+1` are text; without digits before the dot, no exponent is allowed.
    if !starts || !digits(before) || !digits(after) || !exponent_fits {
        return None;
    }
    let plain: String = unsigned.chars().filter(|digit| *digit != '_').collect();
    plain
        .parse::<f64>()
        .ok()
        .map(|value| Value::Float(sign * value))
}

fn sexagesimal_float(sign: f64, text: &str) -> Option<Value> {
    let (whole, fraction) = text.split_once('.')?;
    let mut total = 0.0;
    for (at, part) in whole.split(':').enumerate() {
        let plain: String = part.chars().filter(|digit| *digit != '_').collect();
        let fits = !plain.is_empty()
            && plain.bytes().all(|byte| byte.is_ascii_digit())
            && part.as_bytes()[0] != b'_';
        if !fits || (at > 0 && (part.len() > 2 || plain.parse::<u8>().ok()? > 59)) {
            return None;
        }
        total = total * 60.0 + plain.parse::<f64>().ok()?;
    }
    let plain: String = fraction.chars().filter(|digit| *digit != '_').collect();
    if !plain.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let fraction = format!("0.{plain}0").parse::<f64>().ok()?;
    Some(Value::Float(sign * (total + fraction)))
}

fn json_number(text: &str) -> Value {
    if text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'-')
    {
        return text
            .parse()
            .map_or_else(|_| Value::Decimal(text.into()), Value::Int);
    }
    text.parse()
        .map_or_else(|_| Value::text(text), Value::Float)
}

/// Decodes base 64 with optional white space. Bytes that are not UTF-8 are read as Latin-1, in
/// which every byte is a character.
fn binary(text: &str) -> Option<Value> {
    let plain: Vec<u8> = text
        .bytes()
        .filter(|byte| !byte.is_ascii_whitespace())
        .collect();
    let bytes = data_encoding::BASE64.decode(&plain).ok()?;
    Some(match String::from_utf8(bytes) {
        Ok(text) => Value::text(text),
        Err(error) => Value::text(
            error
                .into_bytes()
                .iter()
                .map(|byte| char::from(*byte))
                .collect::<String>(),
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_scalars_are_read_as_yaml_1_1() {
        let int = Value::Int;
        let float = Value::Float;
        for (text, value) in [
            ("yes", Value::Bool(true)),
            ("OFF", Value::Bool(false)),
            ("oN", "oN".into()),
            ("y", "y".into()),
            ("010", int(8)),
            ("0o10", "0o10".into()),
            ("0x1F", int(31)),
            ("0b101", int(5)),
            ("1_000", int(1000)),
            ("+5", int(5)),
            ("-0x1f", int(-31)),
            ("08", "08".into()),
            ("1e3", "1e3".into()),
            ("1e+3", "1e+3".into()),
            ("1.0e+3", float(1000.0)),
            ("1.0e3", "1.0e3".into()),
            (".5", float(0.5)),
            ("6.", float(6.0)),
            ("1_0.5", float(10.5)),
            ("190:20:30", int(685_230)),
            ("12:30", int(750)),
            ("1:60", "1:60".into()),
            ("190:20:30.5", float(685_230.5)),
            ("~", Value::Null),
            ("", Value::Null),
            ("nULL", "nULL".into()),
            ("-.Inf", float(f64::NEG_INFINITY)),
            ("2018-08-31", "2018-08-31".into()),
            ("2001-12-14t21:59:43Z", "2001-12-14t21:59:43Z".into()),
            (
                "9223372036854775808",
                Value::Decimal("9223372036854775808".into()),
            ),
            ("-", "-".into()),
            (".", ".".into()),
            ("1.2.3", "1.2.3".into()),
            ("0", int(0)),
            ("-0", int(0)),
            ("00", int(0)),
            ("-.5", "-.5".into()),
            ("+.25", "+.25".into()),
            ("-.5e+3", "-.5e+3".into()),
            ("-0.5", float(-0.5)),
            ("+1.5", float(1.5)),
            (".5_", float(0.5)),
            ("._5", "._5".into()),
            ("1.e+3", float(1000.0)),
            ("0_", int(0)),
            ("-0_", int(0)),
            ("0_0", int(0)),
            ("0x_1", int(1)),
            ("1_", int(1)),
            ("_1", "_1".into()),
            ("1_0:20", int(620)),
            ("1:2_0", "1:2_0".into()),
            ("-1:30", int(-90)),
            ("-1:30.5", float(-90.5)),
            ("+.nan", "+.nan".into()),
        ] {
            assert_eq!(plain(text), Some(value), "{text}");
        }
        assert_eq!((plain("="), plain("<<")), (None, None));
        assert!(matches!(plain(".NaN"), Some(Value::Float(value)) if value.is_nan()));
        assert_eq!(binary("aGk="), Some("hi".into()));
    }
}
