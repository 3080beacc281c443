//! Values as text: `str` and `repr`, and splitting of text.

use blueprint::Value;
use unicode_general_category::{GeneralCategory, get_general_category};

/// Python's `str(value)`: a text is itself, other values are as in [`repr`].
pub fn text(value: &Value) -> String {
    match value.unmarked() {
        Value::Text(text) => text.to_string(),
        other => repr(other),
    }
}

/// Python's `repr(value)`: `None`, `True`, `2.0`, `'a'`, `['a', 1]`, `{'a': 1}`.
pub fn repr(value: &Value) -> String {
    let mut out = String::new();
    write_repr(value, &mut out);
    out
}

/// Python's `repr(text)`: in single quotes, or in double quotes if the text contains single quotes
/// and no double quotes.
pub fn repr_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    write_text(text, &mut out);
    out
}

fn write_repr(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("None"),
        Value::Bool(true) => out.push_str("True"),
        Value::Bool(false) => out.push_str("False"),
        Value::Int(value) => out.push_str(&value.to_string()),
        Value::Float(value) => out.push_str(&float_text(*value)),
        Value::Decimal(digits) => out.push_str(digits),
        Value::Text(text) => write_text(text, out),
        Value::Bytes(bytes) => write_bytes(bytes, out),
        Value::List(items) => write_items(items, ['[', ']'], out),
        Value::Set(items) if items.is_empty() => out.push_str("set()"),
        Value::Set(items) => write_items(items, ['{', '}'], out),
        Value::Map(entries) => {
            out.push('{');
            for (at, (key, value)) in entries.iter().enumerate() {
                if at > 0 {
                    out.push_str(", ");
                }
                write_text(key, out);
                out.push_str(": ");
                write_repr(value, out);
            }
            out.push('}');
        }
        Value::Secret(inner) => write_repr(inner, out),
        Value::Asset(_) | Value::Resource(_) | Value::Function(_) | Value::Unknown(_) => {
            out.push_str(&value.to_string())
        }
    }
}

fn write_items(items: &[Value], [open, close]: [char; 2], out: &mut String) {
    out.push(open);
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            out.push_str(", ");
        }
        write_repr(item, out);
    }
    out.push(close);
}

fn quote_for(single: bool, double: bool) -> char {
    if single && !double { '"' } else { '\'' }
}

fn write_text(text: &str, out: &mut String) {
    let quote = quote_for(text.contains('\''), text.contains('"'));
    out.push(quote);
    for character in text.chars() {
        match character {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            other if other == quote => out.extend(['\\', other]),
            ' '..='~' => out.push(character),
            other if is_printable(other) => out.push(other),
            other => match u32::from(other) {
                code @ ..0x100 => out.push_str(&format!("\\x{code:02x}")),
                code @ ..0x1_0000 => out.push_str(&format!("\\u{code:04x}")),
                code => out.push_str(&format!("\\U{code:08x}")),
            },
        }
    }
    out.push(quote);
}

fn write_bytes(bytes: &[u8], out: &mut String) {
    let quote = quote_for(bytes.contains(&b'\''), bytes.contains(&b'"'));
    out.extend(['b', quote]);
    for byte in bytes {
        match byte {
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            b' '..=b'~' if char::from(*byte) == quote => out.extend(['\\', quote]),
            b' '..=b'~' => out.push(char::from(*byte)),
            other => out.push_str(&format!("\\x{other:02x}")),
        }
    }
    out.push(quote);
}

/// Whether `repr` writes a character without an escape.
fn is_printable(character: char) -> bool {
    use GeneralCategory::{
        Control, Format, LineSeparator, ParagraphSeparator, PrivateUse, SpaceSeparator, Surrogate,
        Unassigned,
    };
    !matches!(
        get_general_category(character),
        Control
            | Format
            | Surrogate
            | PrivateUse
            | Unassigned
            | LineSeparator
            | ParagraphSeparator
            | SpaceSeparator
    )
}

/// Python's `str(float)`: the fewest digits that read back as the same number, `.0` if integral, an
/// exponent from `1e+16` on and below `1e-04`.
pub fn float_text(value: f64) -> String {
    if value.is_nan() {
        return "nan".into();
    }
    if value.is_infinite() {
        return if value > 0.0 {
            "inf".into()
        } else {
            "-inf".into()
        };
    }
    let abs = value.abs();
    if abs == 0.0 || (1e-4..1e16).contains(&abs) {
        let text = format!("{value}");
        return if text.contains('.') {
            text
        } else {
            text + ".0"
        };
    }
    let text = format!("{value:e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, exponent) = match exponent.strip_prefix('-') {
        Some(exponent) => ('-', exponent),
        None => ('+', exponent),
    };
    format!("{digits}e{sign}{exponent:0>2}")
}

/// The name of the Python type of a value: `str`, `int`, `NoneType`, `dict`, ...
pub fn type_name(value: &Value) -> &'static str {
    match value.unmarked() {
        Value::Null => "NoneType",
        Value::Bool(_) => "bool",
        Value::Int(_) | Value::Decimal(_) => "int",
        Value::Float(_) => "float",
        Value::Text(_) => "str",
        Value::Bytes(_) => "bytes",
        Value::List(_) => "list",
        Value::Set(_) => "set",
        Value::Map(_) => "dict",
        Value::Function(_) => "function",
        Value::Asset(_) | Value::Resource(_) | Value::Unknown(_) | Value::Secret(_) => "object",
    }
}

/// Whether a character is white space in Python.
pub fn is_space(character: char) -> bool {
    character.is_whitespace() || ('\x1c'..='\x1f').contains(&character)
}

/// Python's `text.strip()`.
pub fn trim(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// Python's `text.split()`: the non-empty parts between runs of white space.
pub fn split_at_spaces(text: &str) -> impl Iterator<Item = &str> {
    text.split(is_space).filter(|part| !part.is_empty())
}

/// Python's `text.split(delimiter)`; `None` if the delimiter is empty, which Python refuses.
pub fn split<'a>(text: &'a str, delimiter: &'a str) -> Option<impl Iterator<Item = &'a str>> {
    (!delimiter.is_empty()).then(|| text.split(delimiter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_print_as_in_python() {
        for (value, expected) in [
            (2.0, "2.0"),
            (-0.0, "-0.0"),
            (1e15, "1000000000000000.0"),
            (1e16, "1e+16"),
            (1.5e300, "1.5e+300"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (1.25e-7, "1.25e-07"),
            (0.1 + 0.2, "0.30000000000000004"),
            (f64::NAN, "nan"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(float_text(value), expected);
        }
    }

    #[test]
    fn texts_are_quoted_as_in_python() {
        for (text, expected) in [
            ("a", "'a'"),
            ("it's", "\"it's\""),
            ("\"it's\"", "'\"it\\'s\"'"),
            ("a\nb\\", "'a\\nb\\\\'"),
            (
                "é\u{a0}\u{200b}\u{1f600}\u{e000}\u{10ffff}\x7f",
                "'é\\xa0\\u200b\u{1f600}\\ue000\\U0010ffff\\x7f'",
            ),
        ] {
            assert_eq!(repr_text(text), expected);
        }
    }

    #[test]
    fn containers_print_their_items_as_repr() {
        let value = Value::map([(
            "a",
            Value::list([
                Value::from("x"),
                Value::from(true),
                Value::Null,
                Value::from(1.0),
            ]),
        )]);
        assert_eq!(text(&value), "{'a': ['x', True, None, 1.0]}");
        assert_eq!(text(&Value::from("x")), "x");
        assert_eq!(text(&Value::Set(Default::default())), "set()");
    }

    #[test]
    fn white_space_is_that_of_python() {
        assert_eq!(
            split_at_spaces(" a\t b\x1cc\u{2003}d ").collect::<Vec<_>>(),
            ["a", "b", "c", "d"]
        );
        assert_eq!(
            split("a,,b", ",").map(Iterator::collect::<Vec<_>>),
            Some(vec!["a", "", "b"])
        );
        assert!(split("a", "").is_none());
    }
}
