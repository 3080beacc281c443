//! The tokens of JSON with comments.
//!
//! The lexer always advances: invalid text becomes a `Faulty` token or is skipped, and is recorded
//! in `faults`.

use crate::decode;

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JsonTokenKind {
    Open {
        map: bool,
    },
    Close {
        map: bool,
    },
    Comma,
    Colon,
    String,
    Number,
    True,
    False,
    Null,
    Comment {
        closed: bool,
    },
    /// An invalid token, which has been reported. `text` if it may serve as a key: a bare word, or
    /// a string with wrong or missing quotes.
    Faulty {
        text: bool,
    },
}

/// A token and its byte range.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JsonToken {
    pub(crate) kind: JsonTokenKind,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// Reads tokens from a text.
pub(crate) struct JsonTokens<'t> {
    text: &'t str,
    /// The offset at which the next token starts.
    pub(crate) at: usize,
    /// The errors of the last token: offset, length, message, help.
    pub(crate) faults: Vec<(usize, usize, String, &'static str)>,
}

impl<'t> JsonTokens<'t> {
    pub(crate) fn new(text: &'t str) -> JsonTokens<'t> {
        let at = if text.starts_with('\u{feff}') {
            '\u{feff}'.len_utf8()
        } else {
            0
        };
        JsonTokens {
            text,
            at,
            faults: Vec::new(),
        }
    }

    /// Returns a token to the input.
    pub(crate) fn unread(&mut self, token: JsonToken) {
        self.at = token.start;
    }

    pub(crate) fn next(&mut self) -> Option<JsonToken> {
        let bytes = self.text.as_bytes();
        loop {
            while bytes
                .get(self.at)
                .is_some_and(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'))
            {
                self.at += 1;
            }
            let start = self.at;
            let kind = match *bytes.get(start)? {
                b'{' => self.single_byte_token(JsonTokenKind::Open { map: true }),
                b'}' => self.single_byte_token(JsonTokenKind::Close { map: true }),
                b'[' => self.single_byte_token(JsonTokenKind::Open { map: false }),
                b']' => self.single_byte_token(JsonTokenKind::Close { map: false }),
                b',' => self.single_byte_token(JsonTokenKind::Comma),
                b':' => self.single_byte_token(JsonTokenKind::Colon),
                b'"' => self.string(),
                b'\'' => self.single_quoted(),
                b'/' if matches!(bytes.get(start + 1), Some(b'/' | b'*')) => self.comment(),
                byte if byte.is_ascii_alphanumeric()
                    || matches!(byte, b'-' | b'+' | b'.' | b'_' | b'$')
                    || byte >= 0x80 =>
                {
                    match self.word() {
                        Some(kind) => kind,
                        None => continue,
                    }
                }
                b'#' => {
                    self.fault(
                        start,
                        1,
                        "a comment in the manner of YAML".into(),
                        "begin it with `//`",
                    );
                    self.at = decode::line_end(bytes, start);
                    continue;
                }
                _ => {
                    self.fault(
                        start,
                        1,
                        "no token of JSON begins like this".into(),
                        "remove it",
                    );
                    self.at += 1;
                    continue;
                }
            };
            return Some(JsonToken {
                kind,
                start,
                end: self.at,
            });
        }
    }

    /// Whether the token begins with a quote of either kind.
    pub(crate) fn is_quoted(&self, token: JsonToken) -> bool {
        matches!(self.text.as_bytes().get(token.start), Some(b'"' | b'\''))
    }

    /// The decoded text of a scalar or key.
    pub(crate) fn decoded(&self, token: JsonToken) -> Box<str> {
        let slice = self.text.get(token.start..token.end).unwrap_or("");
        match token.kind {
            JsonTokenKind::String | JsonTokenKind::Faulty { .. }
                if slice.starts_with(['"', '\'']) =>
            {
                let quote = &slice[..1];
                let inside = slice[1..].strip_suffix(quote).unwrap_or(&slice[1..]);
                if inside.contains('\\') {
                    decode::json_string(self.text, token.start + 1..token.start + 1 + inside.len())
                        .into()
                } else {
                    inside.into()
                }
            }
            _ => slice.into(),
        }
    }

    fn single_byte_token(&mut self, kind: JsonTokenKind) -> JsonTokenKind {
        self.at += 1;
        kind
    }

    fn fault(&mut self, at: usize, length: usize, message: String, help: &'static str) {
        // Report one error per token.
        if self.faults.is_empty() {
            self.faults.push((at, length, message, help));
        }
    }

    fn string(&mut self) -> JsonTokenKind {
        let bytes = self.text.as_bytes();
        let start = self.at;
        self.at += 1;
        loop {
            match bytes.get(self.at) {
                Some(b'"') => return self.single_byte_token(JsonTokenKind::String),
                None | Some(b'\n' | b'\r') => {
                    self.fault(
                        start,
                        1,
                        "a text that does not end".into(),
                        "close it with `\"`, and write a line break as `\\n`",
                    );
                    return JsonTokenKind::Faulty { text: true };
                }
                Some(b'\\') => self.escape(),
                Some(byte) if *byte < 0x20 => {
                    self.fault(
                        self.at,
                        1,
                        "a control character inside a text".into(),
                        "write it as an escape, a tab as `\\t`",
                    );
                    self.at += 1;
                }
                Some(_) => self.at += 1,
            }
        }
    }

    fn escape(&mut self) {
        let bytes = self.text.as_bytes();
        let start = self.at;
        let code = |at: usize| {
            let digits = bytes
                .get(at + 2..at + 6)
                .filter(|_| bytes.get(at..at + 2) == Some(b"\\u"))?;
            digits.iter().try_fold(0u32, |code, digit| {
                Some(code << 4 | (*digit as char).to_digit(16)?)
            })
        };
        match bytes.get(start + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 2,
            Some(b'u') => match (code(start), code(start + 6)) {
                (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => self.at += 12,
                (Some(0xd800..=0xdfff), _) => {
                    self.fault(
                        start,
                        6,
                        "half of a character".into(),
                        "write both halves of the pair, or the character itself",
                    );
                    self.at += 6;
                }
                (Some(_), _) => self.at += 6,
                (None, _) => {
                    self.fault(
                        start,
                        2,
                        "an escape without its four digits".into(),
                        "write `\\u` and four hexadecimal digits",
                    );
                    self.at += 2;
                }
            },
            // The line break ends the string, which is reported.
            None | Some(b'\n' | b'\r') => self.at += 1,
            Some(_) => {
                let length = 1 + self
                    .text
                    .get(start + 1..)
                    .and_then(|rest| rest.chars().next())
                    .map_or(1, char::len_utf8);
                self.fault(
                    start,
                    length,
                    "no such escape".into(),
                    "write `\\\\` for a backslash",
                );
                self.at += length;
            }
        }
    }

    fn single_quoted(&mut self) -> JsonTokenKind {
        let rest = self.text.get(self.at + 1..).unwrap_or("");
        let line = rest.find(['\n', '\r']).unwrap_or(rest.len());
        let mut end = 0;
        let bytes = rest.as_bytes();
        while end < line && bytes[end] != b'\'' {
            end += if bytes[end] == b'\\' { 2 } else { 1 };
        }
        let end = if end < line { end + 1 } else { line };
        self.fault(
            self.at,
            1 + end,
            "a text in single quotes".into(),
            "use double quotes",
        );
        self.at += 1 + end;
        JsonTokenKind::Faulty { text: true }
    }

    fn comment(&mut self) -> JsonTokenKind {
        let rest = self.text.get(self.at..).unwrap_or("");
        let (length, closed) = if rest.starts_with("//") {
            (rest.find(['\n', '\r']).unwrap_or(rest.len()), true)
        } else {
            rest.get(2..)
                .and_then(|inside| inside.find("*/"))
                .map_or((rest.len(), false), |end| (end + 4, true))
        };
        self.at += length;
        JsonTokenKind::Comment { closed }
    }

    /// Reads a number or a word; `None` for any other character.
    fn word(&mut self) -> Option<JsonTokenKind> {
        let rest = self.text.get(self.at..)?;
        let part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '+' | '.' | '_' | '$');
        let length = rest.find(|c: char| !part(c)).unwrap_or(rest.len());
        let start = self.at;
        if length == 0 {
            let length = rest.chars().next().map_or(1, char::len_utf8);
            self.fault(
                start,
                length,
                "no token of JSON begins like this".into(),
                "remove it",
            );
            self.at += length;
            return None;
        }
        self.at += length;
        let word = &rest[..length];
        Some(match word {
            "true" => JsonTokenKind::True,
            "false" => JsonTokenKind::False,
            "null" => JsonTokenKind::Null,
            _ if is_number(word) => JsonTokenKind::Number,
            _ if word.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.')) => {
                self.fault(
                    start,
                    length,
                    format!("`{word}` is no number of JSON"),
                    "write a decimal number, or a text in double quotes",
                );
                JsonTokenKind::Faulty { text: true }
            }
            _ => {
                self.fault(
                    start,
                    length,
                    "a text without quotes".into(),
                    "put it in double quotes",
                );
                JsonTokenKind::Faulty { text: true }
            }
        })
    }
}

/// Whether a word is a JSON number: `-`, digits without a leading zero, a fraction, an exponent.
fn is_number(word: &str) -> bool {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let rest = word.strip_prefix('-').unwrap_or(word);
    let whole = digits(rest);
    if whole == 0 || whole > 1 && rest.starts_with('0') {
        return false;
    }
    let mut rest = &rest[whole..];
    if let Some(fraction) = rest.strip_prefix('.') {
        let count = digits(fraction);
        if count == 0 {
            return false;
        }
        rest = &fraction[count..];
    }
    if let Some(exponent) = rest.strip_prefix(['e', 'E']) {
        let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        let count = digits(exponent);
        return count > 0 && count == exponent.len();
    }
    rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::is_number;

    #[test]
    fn numbers_are_those_of_json() {
        for word in [
            "0",
            "-0",
            "12",
            "1.5",
            "1e3",
            "1E+3",
            "-1.25e-7",
            "18446744073709551616",
        ] {
            assert!(is_number(word), "{word}");
        }
        for word in [
            "", "-", "01", "+1", ".5", "5.", "1e", "0x1F", "1_000", "NaN", "1.2.3",
        ] {
            assert!(!is_number(word), "{word}");
        }
    }
}
