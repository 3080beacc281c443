//! How client-go prints results: texts and scalars as Go prints them, the rest as compact JSON.

use std::fmt::Write as _;

use blueprint::Value;

use crate::failure::{FailureClass, PathFailure};
use crate::item::{Item, Seen};

/// How deep a value may be that is printed.
const DEPTH: usize = 500;

/// A value as compact JSON the way Go writes it: keys sorted, `<`, `>` and `&` escaped. Nothing in
/// it is unknown; secret marks are ignored. A value deeper than 500 levels, or with parts that JSON
/// does not have, is a failure.
pub fn json_text(value: &Value) -> Result<String, PathFailure> {
    let mut text = String::new();
    write(value, 0, &mut text)?;
    Ok(text)
}

impl Item {
    /// The item as a template prints it.
    pub(crate) fn text(&self) -> Result<String, PathFailure> {
        let is_composite = matches!(
            self.seen().0,
            Seen::List(..) | Seen::Map(..) | Seen::Struct(..)
        );
        if is_composite {
            return json_text(&self.value());
        }
        if matches!(self, Item::Nothing) {
            return Ok("<no value>".to_owned());
        }
        Ok(match self.value().unmarked() {
            Value::Null => "<nil>".to_owned(),
            Value::Bool(flag) => flag.to_string(),
            Value::Int(number) => number.to_string(),
            Value::Float(number) => float(*number, FloatStyle::Print),
            Value::Decimal(text) => text.to_string(),
            Value::Text(text) => text.to_string(),
            _ => return Err(unprintable()),
        })
    }
}

fn unprintable() -> PathFailure {
    PathFailure::new(
        FailureClass::Evaluate,
        "the value has a part that cannot be printed",
    )
}

fn write(value: &Value, depth: usize, text: &mut String) -> Result<(), PathFailure> {
    if depth > DEPTH {
        return Err(PathFailure::new(
            FailureClass::Evaluate,
            format!("the value is deeper than {DEPTH} levels"),
        ));
    }
    match value.unmarked() {
        Value::Map(entries) => {
            let mut entries: Vec<_> = entries.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            text.push('{');
            for (at, (key, child)) in entries.into_iter().enumerate() {
                separate(at, text);
                quote(key, text);
                text.push(':');
                write(child, depth + 1, text)?;
            }
            text.push('}');
        }
        Value::List(items) | Value::Set(items) => {
            text.push('[');
            for (at, item) in items.iter().enumerate() {
                separate(at, text);
                write(item, depth + 1, text)?;
            }
            text.push(']');
        }
        value => scalar(value, text)?,
    }
    Ok(())
}

fn separate(at: usize, text: &mut String) {
    if at > 0 {
        text.push(',');
    }
}

fn scalar(value: &Value, text: &mut String) -> Result<(), PathFailure> {
    match value {
        Value::Null => text.push_str("null"),
        Value::Bool(flag) => text.push_str(if *flag { "true" } else { "false" }),
        Value::Int(number) => text.push_str(&number.to_string()),
        Value::Float(number) if number.is_finite() => {
            text.push_str(&float(*number, FloatStyle::Json));
        }
        Value::Decimal(number) => text.push_str(number),
        Value::Text(string) => quote(string, text),
        _ => return Err(unprintable()),
    }
    Ok(())
}

/// Writes a string in double quotes.
fn quote(string: &str, text: &mut String) {
    text.push('"');
    for character in string.chars() {
        match character {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' | '\0'..'\u{20}' => {
                // Writing to a string cannot fail.
                let _ = write!(text, "\\u{:04x}", u32::from(character));
            }
            other => text.push(other),
        }
    }
    text.push('"');
}

/// A float as Go prints it, with the shortest digits: `1e+06`, `0.5`, `+Inf`.
pub fn float_text(number: f64) -> String {
    float(number, FloatStyle::Print)
}

/// When a float is written with an exponent.
#[derive(Clone, Copy)]
enum FloatStyle {
    /// As in JSON: below 1e-6 and from 1e21 on.
    Json,
    /// As Go prints: below 1e-4 and from 1e6 on.
    Print,
}

/// The shortest digits that give the float again.
fn float(number: f64, style: FloatStyle) -> String {
    if number == 0.0 {
        return if number.is_sign_negative() { "-0" } else { "0" }.to_owned();
    }
    let scientific = format!("{number:e}");
    let Some((digits, exponent)) = scientific.split_once('e') else {
        // Infinite, or no number.
        return match number {
            f64::INFINITY => "+Inf".to_owned(),
            f64::NEG_INFINITY => "-Inf".to_owned(),
            _ => "NaN".to_owned(),
        };
    };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let (least, end) = match style {
        FloatStyle::Json => (-6, 21),
        FloatStyle::Print => (-4, 6),
    };
    if (least..end).contains(&exponent) {
        return number.to_string();
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    match style {
        FloatStyle::Json => format!("{digits}e{sign}{}", exponent.abs()),
        FloatStyle::Print => format!("{digits}e{sign}{:02}", exponent.abs()),
    }
}

#[cfg(test)]
mod tests {
    use blueprint::Value;

    use super::{FloatStyle, float, json_text};

    #[test]
    fn json_is_that_of_go() {
        let value = Value::map([
            ("b", Value::from("<a&b>\u{1}\n")),
            (
                "a",
                Value::list([Value::Float(1e21), Value::Float(1e-7), Value::Null]),
            ),
        ]);
        assert_eq!(
            json_text(&value).expect("a text"),
            r#"{"a":[1e+21,1e-7,null],"b":"\u003ca\u0026b\u003e\u0001\n"}"#
        );
    }

    #[test]
    fn floats_have_the_shortest_digits() {
        assert_eq!(float(0.1 + 0.2, FloatStyle::Print), "0.30000000000000004");
        assert_eq!(float(1e6, FloatStyle::Print), "1e+06");
        assert_eq!(float(0.00001, FloatStyle::Print), "1e-05");
        assert_eq!(float(1e6, FloatStyle::Json), "1000000");
    }

    #[test]
    fn deep_values_are_failures() {
        let mut value = Value::Null;
        for _ in 0..2_000 {
            value = Value::list([value]);
        }
        assert!(json_text(&value).is_err());
    }
}
