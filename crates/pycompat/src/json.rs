//! JSON as Python writes and reads it.
//!
//! Output has the separators `", "` and `": "`, escapes non-ASCII characters, and contains `NaN`
//! and `Infinity`; input may contain these too. Secret marks are ignored: the caller marks or hides
//! the result.

use blueprint::{Map, Value};

use crate::number::{integer_of_text, number_of_text};
use crate::text::float_text;

/// Writes JSON with the keys of maps sorted by code point.
pub fn json(value: &Value) -> String {
    let mut out = String::new();
    write(value, true, &mut out);
    out
}

/// Writes JSON with the keys of maps in their order.
pub fn json_in_order(value: &Value) -> String {
    let mut out = String::new();
    write(value, false, &mut out);
    out
}

fn write(value: &Value, sorted: bool, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Int(value) => out.push_str(&value.to_string()),
        Value::Float(value) if value.is_nan() => out.push_str("NaN"),
        Value::Float(value) if value.is_infinite() => out.push_str(if *value > 0.0 {
            "Infinity"
        } else {
            "-Infinity"
        }),
        Value::Float(value) => out.push_str(&float_text(*value)),
        Value::Decimal(digits) => out.push_str(digits),
        Value::Text(text) => write_text(text, out),
        Value::List(items) | Value::Set(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push_str(", ");
                }
                write(item, sorted, out);
            }
            out.push(']');
        }
        Value::Map(entries) => {
            let mut entries: Vec<_> = entries.iter().collect();
            if sorted {
                entries.sort_by_key(|(key, _)| *key);
            }
            out.push('{');
            for (at, (key, value)) in entries.into_iter().enumerate() {
                if at > 0 {
                    out.push_str(", ");
                }
                write_text(key, out);
                out.push_str(": ");
                write(value, sorted, out);
            }
            out.push('}');
        }
        Value::Secret(inner) => write(inner, sorted, out),
        Value::Bytes(_)
        | Value::Asset(_)
        | Value::Resource(_)
        | Value::Function(_)
        | Value::Unknown(_) => {
            write_text(&value.to_string(), out);
        }
    }
}

fn write_text(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            ' '..='~' => out.push(character),
            other => {
                for unit in other.encode_utf16(&mut [0; 2]) {
                    out.push_str(&format!("\\u{unit:04x}"));
                }
            }
        }
    }
    out.push('"');
}

/// A syntax error of JSON with Python's message and the position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonError {
    /// Python's message, such as `Expecting value`.
    pub message: &'static str,
    /// The index of the byte in the text.
    pub at: usize,
    /// The line and column, from 1, and the index of the character, from 0.
    place: (usize, usize, usize),
}

/// Formats the error as Python prints it: `Expecting value: line 1 column 1 (char 0)`.
impl std::fmt::Display for JsonError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (line, column, character) = self.place;
        write!(
            f,
            "{}: line {line} column {column} (char {character})",
            self.message
        )
    }
}

impl std::error::Error for JsonError {}

/// The deepest nesting of values; Python fails at about a thousand.
const DEEPEST: usize = 500;

/// Python's `json.loads(text)`: it accepts `NaN`, `Infinity` and integers of any size. If keys are
/// equal, the last one counts. Half of a surrogate pair becomes the replacement character, because
/// text is UTF-8.
pub fn parse_json(text: &str) -> Result<Value, JsonError> {
    let mut reader = PythonJsonReader { text, at: 0 };
    let read = reader.whole();
    read.map_err(|(message, at)| {
        let before = &text[..at];
        let column = before
            .rsplit('\n')
            .next()
            .unwrap_or_default()
            .chars()
            .count()
            + 1;
        JsonError {
            message,
            at,
            place: (
                before.matches('\n').count() + 1,
                column,
                before.chars().count(),
            ),
        }
    })
}

type JsonResult<T> = Result<T, (&'static str, usize)>;

struct PythonJsonReader<'a> {
    text: &'a str,
    at: usize,
}

impl PythonJsonReader<'_> {
    fn whole(&mut self) -> JsonResult<Value> {
        self.space();
        let value = self.value(0)?;
        self.space();
        if self.at < self.text.len() {
            Err(("Extra data", self.at))
        } else {
            Ok(value)
        }
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn space(&mut self) {
        self.at += self
            .rest()
            .bytes()
            .take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'))
            .count();
    }

    fn eat(&mut self, text: &str) -> bool {
        let found = self.rest().starts_with(text);
        if found {
            self.at += text.len();
        }
        found
    }

    fn value(&mut self, depth: usize) -> JsonResult<Value> {
        if depth > DEEPEST {
            return Err(("maximum recursion depth exceeded", self.at));
        }
        let words = [
            ("null", Value::Null),
            ("true", Value::Bool(true)),
            ("false", Value::Bool(false)),
            ("NaN", Value::Float(f64::NAN)),
            ("Infinity", Value::Float(f64::INFINITY)),
            ("-Infinity", Value::Float(f64::NEG_INFINITY)),
        ];
        match self.rest().bytes().next() {
            Some(b'"') => Ok(Value::from(self.string()?)),
            Some(b'[') => self.list(depth),
            Some(b'{') => self.map(depth),
            _ => {
                let word = words.into_iter().find(|(word, _)| self.eat(word));
                word.map(|(_, value)| value)
                    .or_else(|| self.number())
                    .ok_or(("Expecting value", self.at))
            }
        }
    }

    fn number(&mut self) -> Option<Value> {
        let bytes = self.rest().as_bytes();
        let digits = |from: usize| {
            bytes[from.min(bytes.len())..]
                .iter()
                .take_while(|byte| byte.is_ascii_digit())
                .count()
        };
        let mut end = usize::from(bytes.first() == Some(&b'-'));
        match bytes.get(end)? {
            b'0' => end += 1,
            b'1'..=b'9' => end += digits(end),
            _ => return None,
        }
        let integral = end;
        if bytes.get(end) == Some(&b'.') && digits(end + 1) > 0 {
            end += 1 + digits(end + 1);
        }
        if matches!(bytes.get(end), Some(b'e' | b'E')) {
            let signed = end + 1 + usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
            if digits(signed) > 0 {
                end = signed + digits(signed);
            }
        }
        let text = &self.rest()[..end];
        let value = if end == integral {
            integer_of_text(text)
        } else {
            number_of_text(text)
        };
        self.at += if value.is_some() { end } else { 0 };
        value
    }

    fn list(&mut self, depth: usize) -> JsonResult<Value> {
        self.at += 1;
        self.space();
        let mut items = Vec::new();
        if self.eat("]") {
            return Ok(Value::list(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            self.space();
            if self.eat("]") {
                return Ok(Value::list(items));
            }
            if !self.eat(",") {
                return Err(("Expecting ',' delimiter", self.at));
            }
            self.space();
        }
    }

    fn map(&mut self, depth: usize) -> JsonResult<Value> {
        const KEY: &str = "Expecting property name enclosed in double quotes";
        self.at += 1;
        self.space();
        let mut entries = Map::new();
        if self.eat("}") {
            return Ok(Value::Map(entries.into()));
        }
        loop {
            if !self.rest().starts_with('"') {
                return Err((KEY, self.at));
            }
            let key = self.string()?;
            self.space();
            if !self.eat(":") {
                return Err(("Expecting ':' delimiter", self.at));
            }
            self.space();
            let value = self.value(depth + 1)?;
            entries.insert(key.into(), value);
            self.space();
            if self.eat("}") {
                return Ok(Value::Map(entries.into()));
            }
            if !self.eat(",") {
                return Err(("Expecting ',' delimiter", self.at));
            }
            self.space();
        }
    }

    fn string(&mut self) -> JsonResult<String> {
        let begin = self.at;
        self.at += 1;
        let mut out = String::new();
        loop {
            let plain = self
                .rest()
                .find(|next: char| matches!(next, '"' | '\\') || next < ' ');
            let Some(plain) = plain else {
                return Err(("Unterminated string starting at", begin));
            };
            out.push_str(&self.text[self.at..self.at + plain]);
            self.at += plain;
            if self.eat("\"") {
                return Ok(out);
            }
            if !self.eat("\\") {
                return Err(("Invalid control character at", self.at));
            }
            let Some(escaped) = self.rest().chars().next() else {
                return Err(("Unterminated string starting at", begin));
            };
            out.push(match escaped {
                '"' | '\\' | '/' => escaped,
                'b' => '\u{8}',
                'f' => '\u{c}',
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                'u' => {
                    self.at += 1;
                    out.push(self.escaped_unit()?);
                    continue;
                }
                _ => return Err(("Invalid \\escape", self.at - 1)),
            });
            self.at += escaped.len_utf8();
        }
    }

    /// Reads the character of an escape, after its `\u`; also reads the second escape of a
    /// surrogate pair.
    fn escaped_unit(&mut self) -> JsonResult<char> {
        let high = self.unit()?;
        if (0xd800..0xdc00).contains(&high) && self.rest().starts_with("\\u") {
            let behind = self.at;
            self.at += 2;
            let low = self.unit()?;
            if (0xdc00..0xe000).contains(&low) {
                let code = 0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00);
                return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            self.at = behind;
        }
        Ok(char::from_u32(high).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn unit(&mut self) -> JsonResult<u32> {
        let digits = self
            .rest()
            .get(..4)
            .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let code = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        let code = code.ok_or(("Invalid \\uXXXX escape", self.at - 1))?;
        self.at += 4;
        Ok(code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_written_as_in_python() {
        let value = Value::map([
            (
                "b",
                Value::list([
                    Value::from(1),
                    Value::from(2.0),
                    Value::Null,
                    Value::from(f64::NAN),
                ]),
            ),
            ("a", Value::from("é\u{1f600}\"\\\n\u{7f}")),
        ]);
        assert_eq!(
            json(&value),
            r#"{"a": "\u00e9\ud83d\ude00\"\\\n\u007f", "b": [1, 2.0, null, NaN]}"#
        );
        assert!(json_in_order(&value).starts_with(r#"{"b": [1"#));
    }

    #[test]
    fn json_is_read_as_in_python() {
        for (text, expected) in [
            (
                r#" {"a": [1, 2.0, -0, 1e3, true, null]} "#,
                r#"{"a": [1, 2.0, 0, 1000.0, true, null]}"#,
            ),
            (r#"{"a": 1, "b": 2, "a": 3}"#, r#"{"a": 3, "b": 2}"#),
            ("99999999999999999999", "99999999999999999999"),
            ("[NaN, -Infinity]", "[NaN, -Infinity]"),
            (r#""\u00e9\ud83d\ude00\/""#, r#""\u00e9\ud83d\ude00/""#),
            ("[]", "[]"),
        ] {
            assert_eq!(
                parse_json(text).map(|value| json_in_order(&value)),
                Ok(expected.into()),
                "{text}"
            );
        }
    }

    #[test]
    fn invalid_json_fails_with_pythons_message() {
        for (text, expected) in [
            ("", "Expecting value: line 1 column 1 (char 0)"),
            (
                "{a: 1}",
                "Expecting property name enclosed in double quotes: line 1 column 2 (char 1)",
            ),
            ("[1,\n é]", "Expecting value: line 2 column 2 (char 5)"),
            ("[1 2]", "Expecting ',' delimiter: line 1 column 4 (char 3)"),
            (
                r#"{"a" 1}"#,
                "Expecting ':' delimiter: line 1 column 6 (char 5)",
            ),
            ("1 x", "Extra data: line 1 column 3 (char 2)"),
            ("01", "Extra data: line 1 column 2 (char 1)"),
            (
                "\"a",
                "Unterminated string starting at: line 1 column 1 (char 0)",
            ),
            (
                "\"a\n\"",
                "Invalid control character at: line 1 column 3 (char 2)",
            ),
            (r#""\x""#, "Invalid \\escape: line 1 column 2 (char 1)"),
            (
                r#""\u12""#,
                "Invalid \\uXXXX escape: line 1 column 3 (char 2)",
            ),
            ("-", "Expecting value: line 1 column 1 (char 0)"),
        ] {
            assert_eq!(
                parse_json(text).map_err(|error| error.to_string()),
                Err(expected.into()),
                "{text}"
            );
        }
        assert!(parse_json(&"[".repeat(100_000)).is_err());
    }
}
