//! The values of YAML scalars: the words of YAML 1.1, without dates and numbers of base 60.

use std::sync::LazyLock;

use base64::Engine as _;
use regex::Regex;
use syntax::Scalar;

use crate::yaml_tree::YamlScalar;

/// The beginning of the long form of the tags of YAML's own types.
const LONG_TAG: &str = "!<tag:yaml.org,2002:";

static FLOAT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$")
        .expect("the expression is valid")
});

/// The value of a scalar with a tag, as it is written.
///
/// # Errors
/// If the text does not fit the tag.
pub(crate) fn typed(scalar: &Scalar, tag: Option<&str>) -> Result<YamlScalar, String> {
    let text = &*scalar.text;
    let short = tag.map(|tag| {
        let long = tag
            .strip_prefix(LONG_TAG)
            .and_then(|tag| tag.strip_suffix('>'));
        long.or_else(|| tag.strip_prefix("!!")).unwrap_or(tag)
    });
    let value = match short {
        None | Some("!") if scalar.style.is_text() => return Ok(YamlScalar::Text(text.into())),
        None | Some("!") => return Ok(plain(text)),
        Some("str") => return Ok(YamlScalar::Text(text.into())),
        Some("binary") => {
            let bytes = base64::engine::general_purpose::STANDARD.decode(text);
            let bytes = bytes.map_err(|error| format!("!!binary value contains {error}"))?;
            return Ok(YamlScalar::Text(String::from_utf8_lossy(&bytes).into()));
        }
        Some("bool" | "int" | "float" | "null" | "timestamp") => plain(text),
        Some(_) => return Ok(YamlScalar::Text(text.into())),
    };
    match (short.unwrap_or_default(), value) {
        #[expect(clippy::cast_precision_loss, reason = "the tag asks for a float")]
        ("float", YamlScalar::Int(number)) => Ok(YamlScalar::Float(number as f64)),
        ("bool", value @ YamlScalar::Bool(_))
        | ("int", value @ YamlScalar::Int(_))
        | ("float", value @ YamlScalar::Float(_))
        | ("null", value @ YamlScalar::Null)
        | ("timestamp", value @ YamlScalar::Text(_)) => Ok(value),
        (tag, _) => Err(format!("cannot decode `{text}` as a !!{tag}")),
    }
}

/// The value of a scalar without quotes.
pub(crate) fn plain(text: &str) -> YamlScalar {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return YamlScalar::Null,
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            return YamlScalar::Bool(true);
        }
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            return YamlScalar::Bool(false);
        }
        ".nan" | ".NaN" | ".NAN" => return YamlScalar::Float(f64::NAN),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => {
            return YamlScalar::Float(f64::INFINITY);
        }
        "-.inf" | "-.Inf" | "-.INF" => return YamlScalar::Float(f64::NEG_INFINITY),
        _ => {}
    }
    number(text).unwrap_or_else(|| YamlScalar::Text(text.into()))
}

fn number(text: &str) -> Option<YamlScalar> {
    match text.bytes().next()? {
        b'.' if FLOAT.is_match(text) => float(text),
        b'0'..=b'9' | b'+' | b'-' => {
            let bare: String = text.chars().filter(|letter| *letter != '_').collect();
            let number = integer(&bare).map(YamlScalar::Int);
            number.or_else(|| FLOAT.is_match(&bare).then(|| float(&bare))?)
        }
        _ => None,
    }
}

fn float(text: &str) -> Option<YamlScalar> {
    let number: f64 = text.parse().ok()?;
    number.is_finite().then_some(YamlScalar::Float(number))
}

/// An integer of 64 bits, with or without sign: decimal, `0x`, `0o`, `0b`, or octal with a zero.
fn integer(bare: &str) -> Option<i128> {
    let (is_negative, digits) = match bare.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, bare.strip_prefix('+').unwrap_or(bare)),
    };
    let radix = |prefix: &str| match prefix {
        "0x" | "0X" => Some(16),
        "0o" | "0O" => Some(8),
        "0b" | "0B" => Some(2),
        _ => None,
    };
    let (digits, radix) = match digits.get(..2).and_then(radix) {
        Some(radix) => (&digits[2..], radix),
        None if digits.len() > 1 && digits.starts_with('0') => (&digits[1..], 8),
        None => (digits, 10),
    };
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(radix)) {
        return None;
    }
    let number = i128::from_str_radix(digits, radix).ok()?;
    let number = if is_negative { -number } else { number };
    let has_sign = bare.starts_with(['+', '-']);
    let most = if has_sign {
        i128::from(i64::MAX)
    } else {
        i128::from(u64::MAX)
    };
    (i128::from(i64::MIN)..=most)
        .contains(&number)
        .then_some(number)
}
