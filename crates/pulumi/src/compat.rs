//! The setting `compat` of the dialect: the texts and guesses of today's tool
//! (decisions/pulumi#compat).
//!
//! Not here: where they apply (`expressions`, `config`, `lowering`).

use blueprint::Value;
use dialect::{DialectSetting, LoadContext, SettingKind};

use crate::shape::NAME;
use crate::untyped::of_json;

/// The name of the setting.
const COMPAT: &str = "compat";

/// The settings of the dialect.
pub(crate) const SETTINGS: [DialectSetting; 1] = [(COMPAT, SettingKind::Switch)];

/// Whether a program is read with the texts and guesses of today's tool.
pub(crate) fn is_set(context: &LoadContext) -> bool {
    context.settings.of(NAME).switch(COMPAT).unwrap_or(false)
}

/// A value as a part of a text, in Go's notation. `None` for a value that has none.
pub(crate) fn text_of(value: &Value) -> Option<String> {
    let mut text = String::new();
    write_text(value, &mut text)?;
    Some(text)
}

fn write_text(value: &Value, out: &mut String) -> Option<()> {
    match value {
        Value::Null => out.push_str("<nil>"),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Int(value) => out.push_str(&number_text(*value as f64)),
        Value::Decimal(text) => out.push_str(&number_text(text.parse().ok()?)),
        Value::Float(value) => out.push_str(&number_text(*value)),
        Value::Text(text) => out.push_str(text),
        Value::List(items) | Value::Set(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(' ');
                }
                write_text(item, out)?;
            }
            out.push(']');
        }
        Value::Map(_) if crate::reference::is_reference(value) => return None,
        Value::Map(entries) => {
            let mut sorted: Vec<_> = entries.iter().collect();
            sorted.sort_by_key(|(key, _)| *key);
            out.push_str("map[");
            for (at, (key, item)) in sorted.into_iter().enumerate() {
                if at > 0 {
                    out.push(' ');
                }
                out.push_str(key);
                out.push(':');
                write_text(item, out)?;
            }
            out.push(']');
        }
        _ => return None,
    }
    Some(())
}

/// A number as Go's `%v` writes it: all numbers are doubles, and one of more than six digits before
/// the point has an exponent.
fn number_text(value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    with_exponent(value, |exponent| !(-4..6).contains(&exponent))
        .unwrap_or_else(|| value.to_string())
}

/// A number in its shortest form with an exponent of at least two digits, if its exponent needs that.
fn with_exponent(value: f64, needs: impl Fn(i32) -> bool) -> Option<String> {
    let shortest = format!("{value:e}");
    let (digits, exponent) = shortest.split_once('e')?;
    let exponent: i32 = exponent.parse().ok()?;
    let sign = if exponent < 0 { '-' } else { '+' };
    needs(exponent).then(|| format!("{digits}e{sign}{:02}", exponent.unsigned_abs()))
}

/// The meaning of a value of the stack, whatever an entry declares.
pub(crate) fn guessed(value: &Value) -> Value {
    match value {
        Value::Secret(inner) => guessed(inner).secret(),
        Value::Text(text) => guess(text),
        other => other.clone(),
    }
}

/// The guess of today's tool: a text with leading zeros, an integer, a boolean, a float, JSON, and
/// text otherwise.
fn guess(text: &str) -> Value {
    let padded = text.len() > 1 && text.starts_with('0') && !text.starts_with("0.");
    if padded {
        return Value::text(text);
    }
    if let Ok(value) = text.parse::<i64>() {
        return Value::Int(value);
    }
    match text {
        "t" | "T" | "true" | "True" | "TRUE" => return Value::Bool(true),
        "f" | "F" | "false" | "False" | "FALSE" => return Value::Bool(false),
        _ => {}
    }
    if let Some(value) = float(text) {
        return Value::Float(value);
    }
    match serde_json::from_str::<serde_json::Value>(text) {
        Ok(value) => of_json(value),
        Err(_) => Value::text(text),
    }
}

/// A float as Go's `ParseFloat` reads it; `None` for other text, and for a number beyond the range.
fn float(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let sign = if text.starts_with('-') { -1.0 } else { 1.0 };
    match unsigned.to_ascii_lowercase().as_str() {
        "inf" | "infinity" => return Some(sign * f64::INFINITY),
        "nan" if unsigned.len() == text.len() => return Some(f64::NAN),
        lower => {
            if let Some(digits) = lower.strip_prefix("0x") {
                return hexadecimal(digits).map(|value| sign * value);
            }
        }
    }
    let begins = unsigned.starts_with(|first: char| first.is_ascii_digit() || first == '.');
    let value: f64 = text.parse().ok().filter(|_| begins)?;
    value.is_finite().then_some(value)
}

/// The value of the digits of a hexadecimal float, `1.8p3`. `None` for other text, and for more digits
/// than a double has.
fn hexadecimal(text: &str) -> Option<f64> {
    let (digits, exponent) = text.split_once('p')?;
    let exponent: i32 = exponent.parse().ok()?;
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let all = format!("{whole}{fraction}");
    let is_digits = all.bytes().all(|digit| digit.is_ascii_hexdigit());
    let mantissa = u64::from_str_radix(&all, 16)
        .ok()
        .filter(|mantissa| is_digits && *mantissa < 1 << 53)?;
    let shift = exponent.checked_sub(4 * i32::try_from(fraction.len()).ok()?)?;
    let value = mantissa as f64 * 2f64.powi(shift);
    value.is_finite().then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_those_of_go() {
        for (value, text) in [
            (Value::Int(100_000), "100000"),
            (Value::Int(1_000_000), "1e+06"),
            (Value::Int(123_456_789), "1.23456789e+08"),
            (Value::Float(0.0001), "0.0001"),
            (Value::Float(0.00001), "1e-05"),
            (Value::Float(-1.5), "-1.5"),
            (Value::Float(5e-324), "5e-324"),
            (Value::Float(f64::INFINITY), "+Inf"),
            (
                Value::Decimal("18446744073709551615".into()),
                "1.8446744073709552e+19",
            ),
            (Value::Null, "<nil>"),
            (
                Value::list([Value::text("a"), Value::Int(1), Value::Bool(true)]),
                "[a 1 true]",
            ),
            (
                Value::map([("x", Value::Null), ("b", Value::list([]))]),
                "map[b:[] x:<nil>]",
            ),
        ] {
            assert_eq!(text_of(&value).as_deref(), Some(text), "{value:?}");
        }
    }

    #[test]
    fn guesses_are_those_of_go() {
        for (text, value) in [
            ("007", Value::text("007")),
            ("0.5", Value::Float(0.5)),
            ("+5", Value::Int(5)),
            (" 5 ", Value::Int(5)),
            ("t", Value::Bool(true)),
            ("F", Value::Bool(false)),
            ("-inf", Value::Float(f64::NEG_INFINITY)),
            ("-0x1.8p1", Value::Float(-3.0)),
            ("1e400", Value::text("1e400")),
            ("null", Value::Null),
            ("\"q\"", Value::text("q")),
            ("yes", Value::text("yes")),
        ] {
            assert_eq!(guess(text), value, "{text}");
        }
        assert!(matches!(guess("nan"), Value::Float(value) if value.is_nan()));
        assert_eq!(guessed(&Value::text("1").secret()), Value::Int(1).secret());
    }
}
