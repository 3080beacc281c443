//! The lexer. It reads one token at a time and nothing after the first mistake.

use std::borrow::Cow;
use std::ops::Range;

use pycompat::BigInt;

use crate::escapes;
use crate::failure::{Failure, FailureKind};

/// The kind of a token.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TokenKind {
    /// A whole number.
    Integer(BigInt),
    /// A number with a fraction.
    Float(f64),
    /// Text in quotes.
    Text(String),
    /// A bare word.
    Word,
    /// `true`, `false`.
    Bool(bool),
    /// `null`.
    Null,
    /// A variable, with its `$`.
    Variable,
    /// A name with the opening parenthesis directly after it.
    Call,
    /// An operator, a bracket, a comma or `=>`.
    Sign(&'static str),
    /// The end of the text.
    End,
}

/// A token and its range of bytes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) span: Range<usize>,
}

/// Signs. A sign comes before every sign that is its prefix.
const SIGNS: [&str; 23] = [
    "=>", "?.", "=~", "!~", ">=", "<=", "!=", "->", ".", "[", "{", "+", "-", "*", "/", ">", "<",
    "=", "(", ")", "]", ",", "}",
];

/// Words that are operators.
const OPERATORS: [&str; 5] = ["and", "or", "not", "in", "mod"];

/// The largest number of digits of a number, as in Python.
const LONGEST_NUMBER: usize = 4300;

pub(crate) struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

/// Whether a character can be in a word.
pub(crate) fn is_word(character: char) -> bool {
    character == '_' || character.is_alphanumeric()
}

/// Whether a text is a bare word, which can name an argument.
pub(crate) fn is_bare_word(text: &str) -> bool {
    let starts = text.starts_with(|first: char| is_word(first) && pycompat::digit(first).is_none());
    starts && !text.starts_with("__") && text.chars().all(is_word)
}

impl<'a> Lexer<'a> {
    pub(crate) fn new(text: &'a str) -> Lexer<'a> {
        Lexer { text, at: 0 }
    }

    /// Reads the next token. Fails at a character that cannot begin a token.
    pub(crate) fn next(&mut self) -> Result<Token, Box<Failure>> {
        let rest = self.text[self.at..].trim_start_matches([' ', '\t', '\r', '\n']);
        self.at = self.text.len() - rest.len();
        let Some(first) = rest.chars().next() else {
            return Ok(Token {
                kind: TokenKind::End,
                span: self.at..self.at,
            });
        };
        let start = self.at;
        let (kind, length) = match first {
            '$' => (TokenKind::Variable, 1 + word_length(&rest[1..])),
            '\'' | '"' | '`' => {
                let length =
                    quoted_length(rest, first).ok_or_else(|| self.illegal(start, first))?;
                let inner = &rest[1..length - 1];
                let text = match first {
                    '`' => Cow::Owned(inner.replace("\\`", "`")),
                    _ => escapes::decode(inner).map_err(|(message, at)| {
                        let span = start + 1 + at.start..start + 1 + at.end;
                        Box::new(Failure {
                            kind: FailureKind::Failed,
                            message,
                            span,
                            help: None,
                        })
                    })?,
                };
                (TokenKind::Text(text.into_owned()), length)
            }
            _ if pycompat::digit(first).is_some() => self
                .number(rest)
                .ok_or_else(|| self.illegal(start, first))??,
            _ if is_word(first) => {
                let length = word_length(rest);
                let word = &rest[..length];
                if rest[length..].starts_with('(') {
                    (TokenKind::Call, length + 1)
                } else if word.starts_with("__") {
                    return Err(self.illegal(start, first));
                } else {
                    (word_kind(word), length)
                }
            }
            _ => match SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
                Some(sign) => (TokenKind::Sign(sign), sign.len()),
                None => return Err(self.illegal(start, first)),
            },
        };
        self.at += length;
        Ok(Token {
            kind,
            span: start..self.at,
        })
    }

    /// Reads a number and returns it with its length; `None` if the text begins with no number. The
    /// inner error is for a number that is too long.
    fn number(&self, rest: &str) -> Option<Result<(TokenKind, usize), Box<Failure>>> {
        let digits = |text: &str| {
            text.len()
                - text
                    .trim_start_matches(|c: char| pycompat::digit(c).is_some())
                    .len()
        };
        let ends = |length: usize| !rest[length..].starts_with(is_word);
        let whole = digits(rest);
        let fraction = rest[whole..].strip_prefix('.').map_or(0, digits);
        let ascii = |text: &str| -> String {
            text.chars()
                .map(|c| pycompat::digit(c).unwrap_or(c))
                .collect()
        };
        if fraction > 0 && ends(whole + 1 + fraction) {
            let length = whole + 1 + fraction;
            return ascii(&rest[..length])
                .parse()
                .ok()
                .map(|number| Ok((TokenKind::Float(number), length)));
        }
        if !ends(whole) {
            return None;
        }
        if whole > LONGEST_NUMBER {
            return Some(Err(Box::new(Failure {
                kind: FailureKind::Failed,
                message: format!(
                    "Exceeds the limit ({LONGEST_NUMBER} digits) for integer string conversion"
                ),
                span: self.at..self.at + whole,
                help: None,
            })));
        }
        ascii(&rest[..whole])
            .parse()
            .ok()
            .map(|number| Ok((TokenKind::Integer(number), whole)))
    }

    fn illegal(&self, at: usize, character: char) -> Box<Failure> {
        Box::new(Failure {
            kind: FailureKind::Lexical,
            message: format!(
                "Lexical error: illegal character '{character}' at position {}",
                position(self.text, at)
            ),
            span: at..at + character.len_utf8(),
            help: None,
        })
    }
}

/// The index of the character that begins at a byte, from 0.
pub(crate) fn position(text: &str, byte: usize) -> usize {
    text[..byte].chars().count()
}

fn word_length(text: &str) -> usize {
    text.find(|character| !is_word(character))
        .unwrap_or(text.len())
}

fn word_kind(word: &str) -> TokenKind {
    match word {
        "true" => TokenKind::Bool(true),
        "false" => TokenKind::Bool(false),
        "null" => TokenKind::Null,
        _ => OPERATORS
            .iter()
            .find(|operator| **operator == word)
            .map_or(TokenKind::Word, |sign| TokenKind::Sign(sign)),
    }
}

/// The length of a quoted text in bytes, with its quotes; `None` if it has no end, or if a
/// backslash is before a line end.
fn quoted_length(text: &str, quote: char) -> Option<usize> {
    let mut characters = text.char_indices().skip(1);
    while let Some((at, character)) = characters.next() {
        if character == quote {
            return Some(at + 1);
        }
        if character == '\\' {
            characters.next().filter(|(_, escaped)| *escaped != '\n')?;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<TokenKind> {
        let mut lexer = Lexer::new(text);
        let mut found = Vec::new();
        loop {
            match lexer.next().expect("the text has only tokens").kind {
                TokenKind::End => return found,
                kind => found.push(kind),
            }
        }
    }

    fn refused(text: &str) -> String {
        let mut lexer = Lexer::new(text);
        loop {
            match lexer.next() {
                Ok(Token {
                    kind: TokenKind::End,
                    ..
                }) => return String::new(),
                Ok(_) => {}
                Err(failure) => return failure.message,
            }
        }
    }

    #[test]
    fn number_followed_by_a_letter_is_not_a_number_token() {
        use TokenKind::{Float, Integer, Sign};
        assert_eq!(kinds("010"), [Integer(10.into())]);
        assert_eq!(kinds("1.50"), [Float(1.5)]);
        assert_eq!(kinds("1.5.5"), [Float(1.5), Sign("."), Integer(5.into())]);
        assert_eq!(kinds("٣"), [Integer(3.into())]);
        assert_eq!(
            refused("1_000"),
            "Lexical error: illegal character '1' at position 0"
        );
        assert_eq!(
            refused("é + 1.5a"),
            "Lexical error: illegal character '5' at position 6"
        );
    }

    #[test]
    fn any_name_before_a_parenthesis_is_a_call() {
        use TokenKind::{Call, Integer, Sign, Word};
        assert_eq!(kinds("not(1)"), [Call, Integer(1.into()), Sign(")")]);
        assert_eq!(
            kinds("not (1)"),
            [Sign("not"), Sign("("), Integer(1.into()), Sign(")")]
        );
        assert_eq!(kinds("__x()"), [Call, Sign(")")]);
        assert_eq!(kinds("_x nota"), [Word, Word]);
        assert_eq!(
            refused("__x"),
            "Lexical error: illegal character '_' at position 0"
        );
    }

    #[test]
    fn text_ends_at_its_quote() {
        let text = |text: &str| TokenKind::Text(text.into());
        assert_eq!(
            kinds(r#"'a\'b' "c\\" `d\n\`e`"#),
            [text("a'b"), text("c\\"), text("d\\n`e")]
        );
        assert_eq!(
            refused("'a"),
            "Lexical error: illegal character ''' at position 0"
        );
        assert_eq!(
            refused("\u{a0}"),
            "Lexical error: illegal character '\u{a0}' at position 0"
        );
    }

    #[test]
    fn the_longest_sign_wins() {
        use TokenKind::Sign;
        assert_eq!(
            kinds("-> => >= ?."),
            [Sign("->"), Sign("=>"), Sign(">="), Sign("?.")]
        );
    }
}
