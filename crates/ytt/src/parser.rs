//! The parser: its tokens. Expressions and statements are in files of their own.

use blueprint::Name;

use crate::blocks::with_blocks;
use crate::lexer::{StarToken, StarTokenKind, tokens};

/// The largest number of nested expressions and blocks.
const MAX_NESTING: usize = 200;

/// A mistake of syntax at a line of the program.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SyntaxFault {
    pub(crate) line: u32,
    pub(crate) message: String,
}

/// The result of reading something.
pub(crate) type SyntaxResult<T> = Result<T, SyntaxFault>;

/// The tokens of a program and the place of the next one.
pub(crate) struct StarParser {
    tokens: Vec<StarToken>,
    at: usize,
    nesting: usize,
}

impl StarParser {
    /// A parser of a text.
    ///
    /// # Errors
    /// If the first token is invalid.
    pub(crate) fn new(text: &str) -> SyntaxResult<StarParser> {
        let parser = StarParser {
            tokens: with_blocks(tokens(text)),
            at: 0,
            nesting: 0,
        };
        parser.check_current()?;
        Ok(parser)
    }

    /// The next token. The last one is never passed.
    pub(crate) fn token(&self) -> &StarToken {
        &self.tokens[self.at.min(self.tokens.len() - 1)]
    }

    /// The kind of the next token.
    pub(crate) fn kind(&self) -> &StarTokenKind {
        &self.token().kind
    }

    /// Whether the next token is a word or sign.
    pub(crate) fn is(&self, sign: &str) -> bool {
        matches!(self.kind(), StarTokenKind::Sign(own) if *own == sign)
    }

    /// Passes a token. Returns its line.
    pub(crate) fn advance(&mut self) -> SyntaxResult<u32> {
        let line = self.token().line;
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
        self.check_current()?;
        Ok(line)
    }

    fn check_current(&self) -> SyntaxResult<()> {
        let token = self.token();
        match &token.kind {
            StarTokenKind::Invalid(message) => Err(SyntaxFault {
                line: token.line,
                message: message.clone(),
            }),
            _ => Ok(()),
        }
    }

    /// Passes a word or sign if it comes next.
    pub(crate) fn take(&mut self, sign: &str) -> SyntaxResult<bool> {
        let found = self.is(sign);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    /// Passes a word or sign that must come next. Returns its line.
    pub(crate) fn expect(&mut self, sign: &str) -> SyntaxResult<u32> {
        if self.is(sign) {
            return self.advance();
        }
        let mut message = format!("got {}, want '{sign}'", self.kind().words());
        if message == "got newline, want ':'" {
            message += " (hint: missing colon at the end of 'if/for/def' statement?)";
        }
        self.fail(message)
    }

    /// Passes a token that must come next.
    pub(crate) fn expect_kind(&mut self, kind: &StarTokenKind) -> SyntaxResult<()> {
        if self.kind() == kind {
            self.advance()?;
            return Ok(());
        }
        self.fail(format!(
            "got {}, want {}",
            self.kind().words(),
            kind.words()
        ))
    }

    /// A mistake at the next token.
    pub(crate) fn fail<T>(&self, message: impl Into<String>) -> SyntaxResult<T> {
        Err(SyntaxFault {
            line: self.token().end_line,
            message: message.into(),
        })
    }

    /// The result of `inside` one level deeper.
    pub(crate) fn nested<T>(
        &mut self,
        inside: impl FnOnce(&mut Self) -> SyntaxResult<T>,
    ) -> SyntaxResult<T> {
        self.nesting += 1;
        if self.nesting > MAX_NESTING {
            return self.fail(format!(
                "more than {MAX_NESTING} nested expressions or blocks"
            ));
        }
        let result = inside(self);
        self.nesting -= 1;
        result
    }

    /// An identifier.
    pub(crate) fn identifier(&mut self) -> SyntaxResult<Name> {
        if let StarTokenKind::Identifier(name) = self.kind() {
            let name = name.clone();
            self.advance()?;
            return Ok(name);
        }
        match self.kind() {
            StarTokenKind::Sign(word) if word.bytes().all(|byte| byte.is_ascii_alphabetic()) => {
                self.fail(format!(
                    "use of reserved keyword '{word}' is not allowed (expected identifier)"
                ))
            }
            _ => self.fail("not an identifier"),
        }
    }
}
