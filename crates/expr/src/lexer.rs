//! Reads tokens one at a time inside one `${..}`.
//!
//! Tokens have byte offsets of the decoded text. Names are read to their full length
//! (decisions/blueprint#full-length-names), so a keyword is never split off a longer name. Not
//! here: the grammar, and diagnostics.

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum TokenKind {
    /// A name or a keyword.
    Name,
    /// A 64-bit integer.
    Int(i64),
    /// A finite float.
    Float(f64),
    /// A number that is too large for an integer and a float.
    TooLarge,
    /// `-` without digits.
    Minus,
    /// A string literal with both quotes.
    Text,
    /// A string literal without a closing quote. The token extends to the end of the scalar.
    OpenText,
    /// `${`.
    Dollar,
    /// `}`.
    Close,
    /// `(`.
    OpenRound,
    /// `)`.
    CloseRound,
    /// `[`.
    OpenSquare,
    /// `]`.
    CloseSquare,
    /// `,`.
    Comma,
    /// `=`.
    Equals,
    /// `.`.
    Dot,
    /// A character that starts no token.
    Other,
    /// The end of the scalar.
    End,
}

/// A token and its place in the decoded text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Token {
    /// The text of the token.
    pub(crate) fn of<'t>(&self, text: &'t str) -> &'t str {
        text.get(self.start..self.end).unwrap_or("")
    }
}

/// The offset of the first byte at or after `at` that is not white space
/// (decisions/blueprint#white-space).
fn skip_space(bytes: &[u8], mut at: usize) -> usize {
    while matches!(bytes.get(at), Some(b' ' | b'\t' | b'\r' | b'\n')) {
        at += 1;
    }
    at
}

/// The token at or after `at`.
pub(crate) fn token(text: &str, at: usize) -> Token {
    let bytes = text.as_bytes();
    let start = skip_space(bytes, at);
    let Some(&first) = bytes.get(start) else {
        return Token {
            kind: TokenKind::End,
            start: text.len(),
            end: text.len(),
        };
    };
    let one = |kind| Token {
        kind,
        start,
        end: start + 1,
    };
    match first {
        b'(' => one(TokenKind::OpenRound),
        b')' => one(TokenKind::CloseRound),
        b'[' => one(TokenKind::OpenSquare),
        b']' => one(TokenKind::CloseSquare),
        b'}' => one(TokenKind::Close),
        b',' => one(TokenKind::Comma),
        b'=' => one(TokenKind::Equals),
        b'.' => one(TokenKind::Dot),
        b'$' if bytes.get(start + 1) == Some(&b'{') => Token {
            kind: TokenKind::Dollar,
            start,
            end: start + 2,
        },
        b'"' | b'\'' => text_token(text, start, first),
        b'-' if bytes.get(start + 1).is_some_and(u8::is_ascii_digit) => number(text, start),
        b'-' => one(TokenKind::Minus),
        b'0'..=b'9' => number(text, start),
        b'a'..=b'z' | b'A'..=b'Z' | b'_' => Token {
            kind: TokenKind::Name,
            start,
            end: name_end(bytes, start),
        },
        _ => {
            let width = text
                .get(start..)
                .and_then(|rest| rest.chars().next())
                .map_or(1, char::len_utf8);
            Token {
                kind: TokenKind::Other,
                start,
                end: start + width,
            }
        }
    }
}

/// Whether a byte may continue a name. Names are the largest part of the text, so a table is faster
/// than comparisons.
const IN_NAME: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = (byte as u8).is_ascii_alphanumeric() || matches!(byte as u8, b'_' | b'-');
        byte += 1;
    }
    table
};

fn name_end(bytes: &[u8], mut at: usize) -> usize {
    while bytes.get(at).is_some_and(|byte| IN_NAME[*byte as usize]) {
        at += 1;
    }
    at
}

fn number(text: &str, start: usize) -> Token {
    let bytes = text.as_bytes();
    let digits = |from: usize| {
        from + bytes
            .iter()
            .skip(from)
            .take_while(|byte| byte.is_ascii_digit())
            .count()
    };
    let whole = digits(start + usize::from(bytes.get(start) == Some(&b'-')));
    let fraction = if bytes.get(whole) == Some(&b'.') {
        digits(whole + 1)
    } else {
        whole
    };
    if fraction > whole + 1 {
        let kind = blueprint::parse_float(&text[start..fraction])
            .map_or(TokenKind::TooLarge, TokenKind::Float);
        return Token {
            kind,
            start,
            end: fraction,
        };
    }
    let kind =
        blueprint::parse_integer(&text[start..whole]).map_or(TokenKind::TooLarge, TokenKind::Int);
    Token {
        kind,
        start,
        end: whole,
    }
}

/// Reads a string literal. A backslash escapes the enclosing quote and itself; any other backslash
/// is literal (decisions/blueprint#string-literals).
fn text_token(text: &str, start: usize, quote: u8) -> Token {
    let bytes = text.as_bytes();
    let mut at = start + 1;
    while let Some(&byte) = bytes.get(at) {
        if byte == quote {
            return Token {
                kind: TokenKind::Text,
                start,
                end: at + 1,
            };
        }
        let escape = byte == b'\\'
            && bytes
                .get(at + 1)
                .is_some_and(|next| *next == quote || *next == b'\\');
        at += if escape { 2 } else { 1 };
    }
    Token {
        kind: TokenKind::OpenText,
        start,
        end: text.len(),
    }
}

/// The quoted name at or after `at`, between brackets. It has no escapes and ends at its quote
/// (decisions/blueprint#quoted-accessors). `None` if there is no quote.
pub(crate) fn quoted_name(text: &str, at: usize) -> Option<Token> {
    let start = skip_space(text.as_bytes(), at);
    let quote = text
        .as_bytes()
        .get(start)
        .copied()
        .filter(|byte| matches!(byte, b'"' | b'\''))?;
    let rest = text.get(start + 1..)?;
    Some(match rest.find(quote as char) {
        Some(length) => Token {
            kind: TokenKind::Text,
            start,
            end: start + length + 2,
        },
        None => Token {
            kind: TokenKind::OpenText,
            start,
            end: text.len(),
        },
    })
}

/// The content of a string literal: the text between its quotes, without escapes.
pub(crate) fn unquote(literal: &str) -> String {
    let mut chars = literal.chars();
    let quote = chars.next().unwrap_or('"');
    let inner = literal
        .get(1..literal.len().saturating_sub(1))
        .unwrap_or("");
    let mut text = String::with_capacity(inner.len());
    let mut chars = inner.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\\'
            && let Some(next) = chars.next_if(|next| *next == quote || *next == '\\')
        {
            text.push(next);
        } else {
            text.push(c);
        }
    }
    text
}
