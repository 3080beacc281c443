//! The tokens of a program.

use blueprint::Name;

/// A token with the line at which it begins, and the line after which it ends.
#[derive(Clone, Debug)]
pub(crate) struct StarToken {
    pub(crate) kind: StarTokenKind,
    pub(crate) line: u32,
    /// The line of the character after the token: for a line break, the next line.
    pub(crate) end_line: u32,
}

/// The kinds of tokens.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum StarTokenKind {
    Identifier(Name),
    /// A word with a meaning, and an operator or bracket.
    Sign(&'static str),
    Int(i128),
    Float(f64),
    Text(Name),
    LineBreak,
    /// The begin of the lines of a block.
    Indent,
    /// The end of a block.
    Outdent,
    End,
    /// Text that is no token, and why. The parser fails when it reads it.
    Invalid(String),
}

impl StarTokenKind {
    /// The token in messages.
    pub(crate) fn words(&self) -> String {
        match self {
            StarTokenKind::Identifier(_) => "identifier".into(),
            StarTokenKind::Sign(sign) if sign.bytes().all(|byte| byte.is_ascii_alphabetic()) => {
                (*sign).into()
            }
            StarTokenKind::Sign(sign) => format!("'{sign}'"),
            StarTokenKind::Int(_) => "int literal".into(),
            StarTokenKind::Float(_) => "float literal".into(),
            StarTokenKind::Text(_) => "string literal".into(),
            StarTokenKind::LineBreak => "newline".into(),
            StarTokenKind::Indent => "indent".into(),
            StarTokenKind::Outdent => "outdent".into(),
            StarTokenKind::End => "end of file".into(),
            StarTokenKind::Invalid(message) => message.clone(),
        }
    }
}

/// The words that are no identifiers.
const WORDS: [&str; 16] = [
    "and", "break", "continue", "def", "elif", "else", "for", "if", "in", "lambda", "load", "not",
    "or", "pass", "return", "while",
];

/// The words that programs must not use.
const RESERVED: [&str; 14] = [
    "as", "class", "del", "except", "finally", "from", "global", "import", "is", "nonlocal",
    "raise", "try", "with", "yield",
];

/// The operators and brackets, longer ones first.
const SIGNS: [&str; 41] = [
    "//=", "<<=", ">>=", "**", "//", "<<", ">>", "<=", ">=", "==", "!=", "+=", "-=", "*=", "/=",
    "%=", "&=", "|=", "^=", "+", "-", "*", "/", "%", "&", "|", "^", "~", "<", ">", "=", ".", ",",
    ";", ":", "(", ")", "[", "]", "{", "}",
];

/// The tokens of a text, with an [`StarTokenKind::End`] at the end.
pub(crate) fn tokens(text: &str) -> Vec<StarToken> {
    let mut lexer = StarLexer {
        text,
        at: 0,
        line: 1,
        brackets: 0,
        is_blank: true,
        found: Vec::new(),
    };
    while lexer.next() {}
    lexer.push(StarTokenKind::End, lexer.line);
    lexer.found
}

struct StarLexer<'t> {
    text: &'t str,
    at: usize,
    line: u32,
    /// The number of open brackets: line breaks inside are blanks.
    brackets: usize,
    /// Whether the line has no token so far.
    is_blank: bool,
    found: Vec<StarToken>,
}

impl StarLexer<'_> {
    fn push(&mut self, kind: StarTokenKind, line: u32) {
        self.is_blank = kind == StarTokenKind::LineBreak;
        self.found.push(StarToken {
            kind,
            line,
            end_line: self.line,
        });
    }

    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Reads a token or skips something; false at the end.
    fn next(&mut self) -> bool {
        let Some(first) = self.rest().chars().next() else {
            return false;
        };
        let line = self.line;
        match first {
            ' ' | '\t' | '\r' => self.at += 1,
            '#' => self.at += self.rest().find('\n').unwrap_or(self.rest().len()),
            '\n' => {
                self.at += 1;
                self.line += 1;
                if self.brackets == 0 && !self.is_blank {
                    self.push(StarTokenKind::LineBreak, line);
                }
            }
            '\\' if self.rest().starts_with("\\\n") || self.rest().starts_with("\\\r\n") => {
                self.at += self.rest().find('\n').unwrap_or_default() + 1;
                self.line += 1;
            }
            '"' | '\'' => self.string(first, self.at),
            'r' if self.rest()[1..].starts_with(['"', '\'']) => {
                self.at += 1;
                let quote = self.rest().chars().next().unwrap_or('"');
                self.string(quote, self.at - 1);
            }
            '0'..='9' => self.number(),
            '.' if self.rest()[1..].starts_with(|next: char| next.is_ascii_digit()) => {
                self.number();
            }
            _ if first.is_alphabetic() || first == '_' => self.word(),
            _ => self.sign(first),
        }
        true
    }

    fn word(&mut self) {
        let rest = self.rest();
        let end = rest
            .find(|letter: char| !letter.is_alphanumeric() && letter != '_')
            .unwrap_or(rest.len());
        let word = &rest[..end];
        let kind = match WORDS.iter().find(|known| **known == word) {
            Some(known) => StarTokenKind::Sign(known),
            None if RESERVED.contains(&word) => {
                StarTokenKind::Invalid(format!("use of reserved keyword '{word}' is not allowed"))
            }
            None => StarTokenKind::Identifier(word.into()),
        };
        self.at += end;
        self.push(kind, self.line);
    }

    fn sign(&mut self, first: char) {
        let sign = SIGNS.iter().find(|sign| self.rest().starts_with(**sign));
        let kind = match sign {
            Some(sign) => {
                match *sign {
                    "(" | "[" | "{" => self.brackets += 1,
                    ")" | "]" | "}" => {
                        self.at += 1;
                        if self.brackets == 0 {
                            self.push(
                                StarTokenKind::Invalid(format!("unexpected '{sign}'")),
                                self.line,
                            );
                            return;
                        }
                        self.brackets -= 1;
                        self.push(StarTokenKind::Sign(sign), self.line);
                        return;
                    }
                    _ => {}
                }
                self.at += sign.len();
                StarTokenKind::Sign(sign)
            }
            _ => {
                self.at += first.len_utf8();
                StarTokenKind::Invalid(format!("unexpected input character '{first}'"))
            }
        };
        self.push(kind, self.line);
    }

    /// A number: an integer in one of four bases, or a float.
    fn number(&mut self) {
        let rest = self.rest();
        let bytes = rest.as_bytes();
        let radix = match (bytes[0], bytes.get(1)) {
            (b'0', Some(b'x' | b'X')) => 16,
            (b'0', Some(b'o' | b'O')) => 8,
            (b'0', Some(b'b' | b'B')) => 2,
            _ => 10,
        };
        let digits = |from: usize, radix: u32| {
            let count = rest[from..]
                .bytes()
                .take_while(|byte| (*byte as char).is_digit(radix))
                .count();
            from + count
        };
        if radix != 10 {
            let end = digits(2, radix);
            let kind = match i128::from_str_radix(&rest[2..end], radix) {
                Ok(number) => StarTokenKind::Int(number),
                Err(_) => StarTokenKind::Invalid("invalid int literal".into()),
            };
            self.at += end;
            self.push(kind, self.line);
            return;
        }
        let mut end = digits(0, 10);
        let whole = end;
        if bytes.get(end) == Some(&b'.') {
            end = digits(end + 1, 10);
        }
        if matches!(bytes.get(end), Some(b'e' | b'E')) {
            end += 1;
            if matches!(bytes.get(end), Some(b'+' | b'-')) {
                end += 1;
            }
            end = digits(end, 10);
        }
        let written = &rest[..end];
        let kind = if end > whole {
            match written.parse::<f64>() {
                Ok(number) if number.is_finite() => StarTokenKind::Float(number),
                _ => StarTokenKind::Invalid("invalid float literal".into()),
            }
        } else if written.len() > 1
            && written.starts_with('0')
            && !written.trim_matches('0').is_empty()
        {
            let digits = &written[1..];
            StarTokenKind::Invalid(format!("obsolete form of octal literal; use 0o{digits}"))
        } else {
            match written.parse() {
                Ok(number) => StarTokenKind::Int(number),
                Err(_) => StarTokenKind::Invalid("an integer literal of more than 127 bits".into()),
            }
        };
        self.at += end;
        self.push(kind, self.line);
    }

    /// A string from its quote on; `start` is the place of its prefix.
    fn string(&mut self, quote: char, start: usize) {
        let is_raw = self.at > start;
        let line = self.line;
        let triple: String = [quote; 3].iter().collect();
        let is_triple = self.rest().starts_with(&triple);
        let opened = self.at + if is_triple { 3 } else { 1 };
        let bytes = self.text.as_bytes();
        let mut end = opened;
        let closed = loop {
            match bytes.get(end) {
                None => break false,
                Some(b'\\') => {
                    self.line += u32::from(bytes.get(end + 1) == Some(&b'\n'));
                    end += 2;
                }
                Some(b'\n') if !is_triple => break false,
                Some(b'\n') => {
                    self.line += 1;
                    end += 1;
                }
                Some(byte) if *byte == quote as u8 => {
                    if !is_triple || bytes[end..].starts_with(triple.as_bytes()) {
                        break true;
                    }
                    end += 1;
                }
                Some(_) => end += 1,
            }
        };
        if !closed {
            self.at = self.text.len();
            self.push(
                StarTokenKind::Invalid("unexpected newline in string".into()),
                line,
            );
            return;
        }
        let written = &bytes[opened..end];
        self.at = end + if is_triple { 3 } else { 1 };
        let kind = match is_raw {
            true => StarTokenKind::Text(String::from_utf8_lossy(written).as_ref().into()),
            false => match unescaped(written) {
                Ok(text) => StarTokenKind::Text(text.into()),
                Err(message) => StarTokenKind::Invalid(message),
            },
        };
        self.push(kind, line);
    }
}

/// The text of a string without its escapes.
fn unescaped(written: &[u8]) -> Result<String, String> {
    let mut bytes = Vec::with_capacity(written.len());
    let mut at = 0;
    while let Some(byte) = written.get(at) {
        if *byte != b'\\' {
            bytes.push(*byte);
            at += 1;
            continue;
        }
        let escape = written.get(at + 1).copied().unwrap_or(b'\\');
        at += 2;
        match escape {
            b'\n' => {}
            b'a' => bytes.push(7),
            b'b' => bytes.push(8),
            b'f' => bytes.push(12),
            b'n' => bytes.push(b'\n'),
            b'r' => bytes.push(b'\r'),
            b't' => bytes.push(b'\t'),
            b'v' => bytes.push(11),
            b'\\' | b'\'' | b'"' => bytes.push(escape),
            b'0'..=b'7' => {
                let mut number = u32::from(escape - b'0');
                for _ in 0..2 {
                    let Some(digit @ b'0'..=b'7') = written.get(at) else {
                        break;
                    };
                    number = number * 8 + u32::from(digit - b'0');
                    at += 1;
                }
                match u8::try_from(number) {
                    Ok(number) => bytes.push(number),
                    Err(_) => return Err(format!("invalid escape sequence \\{number:03o}")),
                }
            }
            b'x' => {
                let digits = written
                    .get(at..at + 2)
                    .and_then(|digits| std::str::from_utf8(digits).ok())
                    .and_then(|digits| u8::from_str_radix(digits, 16).ok());
                let Some(number) = digits else {
                    return Err("invalid escape sequence \\x".into());
                };
                bytes.push(number);
                at += 2;
            }
            other => bytes.extend([b'\\', other]),
        }
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
