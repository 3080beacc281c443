//! Converts JSON text to values and back, strictly: 64-bit integers, floats only if a fraction or
//! exponent is written (decisions/blueprint#numbers-in-json), the order of keys is kept, the last
//! of equal keys wins, and the text must end after the value.

use blueprint::{Map, Value};

/// The maximum nesting depth of arrays and objects (decisions/blueprint#limits-of-evaluation).
const DEPTH: usize = 256;

/// The reason why a text has no value.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum JsonError {
    /// The text is not JSON: 1-based line and column, and the expected token.
    Invalid(usize, usize, &'static str),
    /// A number outside 64 bits.
    Number(String),
    /// Nested too deeply.
    Deep,
}

/// Parses a JSON text.
pub(crate) fn decode(text: &str) -> Result<Value, JsonError> {
    let mut reader = JsonTextReader { text, at: 0 };
    let value = reader.value(0)?;
    reader.space();
    if reader.at < text.len() {
        return Err(reader.invalid("the end of the text"));
    }
    Ok(value)
}

struct JsonTextReader<'t> {
    text: &'t str,
    at: usize,
}

impl JsonTextReader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn invalid(&self, expected: &'static str) -> JsonError {
        let mut end = self.at.min(self.text.len());
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        let before = &self.text[..end];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        JsonError::Invalid(line, column, expected)
    }

    fn take(&mut self, byte: u8, expected: &'static str) -> Result<(), JsonError> {
        if self.peek() == Some(byte) {
            self.at += 1;
            return Ok(());
        }
        Err(self.invalid(expected))
    }

    fn value(&mut self, depth: usize) -> Result<Value, JsonError> {
        if depth > DEPTH {
            return Err(JsonError::Deep);
        }
        self.space();
        match self.peek() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'"') => Ok(Value::text(self.string()?)),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => {
                for (word, value) in [
                    ("true", Value::Bool(true)),
                    ("false", Value::Bool(false)),
                    ("null", Value::Null),
                ] {
                    if self
                        .text
                        .get(self.at..)
                        .is_some_and(|rest| rest.starts_with(word))
                    {
                        self.at += word.len();
                        return Ok(value);
                    }
                }
                Err(self.invalid("a value"))
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<Value, JsonError> {
        self.at += 1;
        let mut entries = Map::default();
        self.space();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Value::Map(entries.into()));
        }
        loop {
            self.space();
            if self.peek() != Some(b'"') {
                return Err(self.invalid("a key in quotes"));
            }
            let key = self.string()?;
            self.space();
            self.take(b':', "`:`")?;
            let value = self.value(depth + 1)?;
            entries.insert(key.into(), value);
            self.space();
            if self.peek() == Some(b'}') {
                self.at += 1;
                return Ok(Value::Map(entries.into()));
            }
            self.take(b',', "`,` or `}`")?;
        }
    }

    fn array(&mut self, depth: usize) -> Result<Value, JsonError> {
        self.at += 1;
        let mut items = Vec::new();
        self.space();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Value::list(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            self.space();
            if self.peek() == Some(b']') {
                self.at += 1;
                return Ok(Value::list(items));
            }
            self.take(b',', "`,` or `]`")?;
        }
    }

    fn number(&mut self) -> Result<Value, JsonError> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        let whole = self.at;
        self.digits()?;
        if self.at > whole + 1 && self.text.as_bytes().get(whole) == Some(&b'0') {
            self.at = whole;
            return Err(self.invalid("a number without leading zeros"));
        }
        let mut float = false;
        if self.peek() == Some(b'.') {
            float = true;
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            float = true;
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        let text = self.text.get(start..self.at).unwrap_or("");
        let value = if float {
            blueprint::parse_float(text).map(Value::Float)
        } else {
            blueprint::parse_integer(text).map(Value::Int)
        };
        value.ok_or_else(|| JsonError::Number(text.chars().take(40).collect()))
    }

    fn digits(&mut self) -> Result<(), JsonError> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        if self.at == start {
            Err(self.invalid("a digit"))
        } else {
            Ok(())
        }
    }

    fn string(&mut self) -> Result<String, JsonError> {
        self.at += 1;
        let mut decoded = String::new();
        loop {
            let rest = self.text.get(self.at..).unwrap_or("");
            let plain = rest
                .bytes()
                .take_while(|byte| !matches!(byte, b'"' | b'\\' | 0..=0x1f))
                .count();
            decoded.push_str(rest.get(..plain).unwrap_or(""));
            self.at += plain;
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(decoded);
                }
                Some(b'\\') => {
                    self.at += 1;
                    decoded.push(self.escape()?);
                }
                Some(_) => return Err(self.invalid("no control character in a string")),
                None => return Err(self.invalid("the closing quote")),
            }
        }
    }

    fn escape(&mut self) -> Result<char, JsonError> {
        let plain = match self.peek() {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                self.at += 1;
                let first = self.hex()?;
                if !(0xd800..0xdc00).contains(&first) {
                    return char::from_u32(first).ok_or_else(|| self.invalid("a character"));
                }
                self.take(b'\\', "the second half of a character")?;
                self.take(b'u', "the second half of a character")?;
                let second = self.hex()?;
                if !(0xdc00..0xe000).contains(&second) {
                    return Err(self.invalid("the second half of a character"));
                }
                let code = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                return char::from_u32(code).ok_or_else(|| self.invalid("a character"));
            }
            _ => return Err(self.invalid("an escape of JSON")),
        };
        self.at += 1;
        Ok(plain)
    }

    fn hex(&mut self) -> Result<u32, JsonError> {
        let digits = self
            .text
            .get(self.at..self.at + 4)
            .filter(|text| text.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let code = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        let code = code.ok_or_else(|| self.invalid("four hexadecimal digits"))?;
        self.at += 4;
        Ok(code)
    }
}

/// Writes a known value as compact JSON: keys in order, and only mandatory escapes. The error is
/// the kind of value that cannot be written.
pub(crate) fn encode(value: &Value, text: &mut String) -> Result<(), &'static str> {
    match value {
        Value::Null => text.push_str("null"),
        Value::Bool(value) => text.push_str(if *value { "true" } else { "false" }),
        Value::Int(value) => text.push_str(&value.to_string()),
        Value::Float(value) => text.push_str(&blueprint::format_float(*value)),
        Value::Decimal(number) => text.push_str(number),
        Value::Text(string) => quote(string, text),
        Value::List(items) | Value::Set(items) => {
            text.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    text.push(',');
                }
                encode(item, text)?;
            }
            text.push(']');
        }
        Value::Map(entries) => {
            text.push('{');
            for (at, (key, value)) in entries.iter().enumerate() {
                if at > 0 {
                    text.push(',');
                }
                quote(key, text);
                text.push(':');
                encode(value, text)?;
            }
            text.push('}');
        }
        Value::Secret(inner) => encode(inner, text)?,
        other => return Err(other.kind_word()),
    }
    Ok(())
}

fn quote(string: &str, text: &mut String) {
    text.push('"');
    for c in string.chars() {
        match c {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            '\u{8}' => text.push_str("\\b"),
            '\u{c}' => text.push_str("\\f"),
            c if c < ' ' => text.push_str(&format!("\\u{:04x}", c as u32)),
            c => text.push(c),
        }
    }
    text.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_kind() {
        assert_eq!(decode("3").unwrap(), Value::Int(3));
        assert_eq!(decode("3.0").unwrap(), Value::Float(3.0));
        assert_eq!(decode("1e2").unwrap(), Value::Float(100.0));
        assert_eq!(
            decode("9223372036854775808"),
            Err(JsonError::Number("9223372036854775808".into()))
        );
        assert_eq!(decode("1e999"), Err(JsonError::Number("1e999".into())));
    }

    #[test]
    fn only_json_is_json() {
        for text in [
            "",
            "01",
            "1.",
            ".5",
            "+1",
            "[1,]",
            "{\"a\":1,}",
            "{} x",
            "'a'",
            "\"\u{1}\"",
            "\"\\ud800\"",
            "nul",
            "NaN",
            "\"\\u+123\"",
        ] {
            assert!(decode(text).is_err(), "{text}");
        }
        assert_eq!(decode(&"[".repeat(100_000)), Err(JsonError::Deep));
    }

    #[test]
    fn escapes_read_and_write() {
        let value = decode(r#""a\u00e9\ud83d\ude00\n\/""#).unwrap();
        assert_eq!(value, Value::text("aé😀\n/"));
        let mut text = String::new();
        encode(&Value::text("\"\\\u{1}é/"), &mut text).unwrap();
        assert_eq!(text, r#""\"\\\u0001é/""#);
    }

    #[test]
    fn the_last_of_two_keys_wins_at_the_first_place() {
        let mut text = String::new();
        encode(&decode(r#"{"b":1,"a":2,"b":3}"#).unwrap(), &mut text).unwrap();
        assert_eq!(text, r#"{"b":3,"a":2}"#);
    }
}
