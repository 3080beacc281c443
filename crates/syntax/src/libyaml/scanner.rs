//! Divides a text into tokens.
//!
//! A token of a key is found only at its colon, so tokens wait in a queue while a key is possible.
//!
//! Not here: the content of scalars, tags and directives (`scalars`, `tags`); the structure
//! (`composer`).

use std::collections::VecDeque;

use diag::FileId;

use super::cursor::Cursor;
use super::problem::{Problem, Scan};
use super::token::{YamlToken, YamlTokenKind};

/// The maximum number of characters between the start of a key and its colon.
const MAX_KEY: usize = 1024;

/// The place where a key may begin.
#[derive(Clone, Copy, Default)]
struct PossibleKey {
    /// Whether a colon can still make it a key.
    is_possible: bool,
    /// Whether its line must be a key.
    is_required: bool,
    /// The number of the token that would be the key.
    token: usize,
    at: usize,
    index: usize,
    line: usize,
    column: usize,
}

/// Reads tokens from a text.
pub(super) struct Scanner<'t> {
    pub(super) cursor: Cursor<'t>,
    tokens: VecDeque<YamlToken>,
    /// The number of tokens taken from the queue.
    taken: usize,
    /// Whether the first token of the queue is final.
    is_ready: bool,
    /// The column of the innermost block, -1 outside of blocks.
    indent: isize,
    indents: Vec<isize>,
    /// The number of open brackets.
    flow: usize,
    /// Whether a key may begin here.
    key_allowed: bool,
    /// The possible key outside of brackets, and of each open bracket.
    keys: Vec<PossibleKey>,
}

impl<'t> Scanner<'t> {
    /// A scanner of the text from `at` on.
    pub(super) fn new(file: FileId, text: &'t str, at: usize) -> Scanner<'t> {
        Scanner {
            cursor: Cursor::new(file, text, at),
            tokens: VecDeque::new(),
            taken: 0,
            is_ready: false,
            indent: -1,
            indents: Vec::new(),
            flow: 0,
            key_allowed: true,
            keys: vec![PossibleKey::default()],
        }
    }

    /// The next token's kind and place.
    pub(super) fn peek(&mut self) -> Scan<(YamlTokenKind, usize, usize)> {
        self.fetch_more()?;
        let end = (YamlTokenKind::StreamEnd, self.cursor.at, self.cursor.at);
        Ok(self
            .tokens
            .front()
            .map_or(end, |token| (token.kind, token.start, token.end)))
    }

    /// Takes the next token.
    pub(super) fn take(&mut self) -> Scan<YamlToken> {
        self.fetch_more()?;
        self.is_ready = false;
        self.taken += 1;
        let at = self.cursor.at;
        Ok(self
            .tokens
            .pop_front()
            .unwrap_or_else(|| YamlToken::new(YamlTokenKind::StreamEnd, at, at)))
    }

    fn fetch_more(&mut self) -> Scan<()> {
        while !self.is_ready {
            if !self.tokens.is_empty() {
                self.expire_keys()?;
                let is_open = |key: &PossibleKey| key.is_possible && key.token == self.taken;
                if !self.keys.iter().any(is_open) {
                    self.is_ready = true;
                    break;
                }
            }
            self.fetch()?;
        }
        Ok(())
    }

    fn fetch(&mut self) -> Scan<()> {
        self.skip_to_token();
        self.expire_keys()?;
        self.close_blocks(self.cursor.column as isize);
        let Some(first) = self.cursor.byte(0) else {
            return self.fetch_end();
        };
        if self.cursor.column == 0 {
            if first == b'%' {
                self.close_blocks(-1);
                self.remove_key()?;
                self.key_allowed = false;
                let token = self.cursor.directive()?;
                self.tokens.push_back(token);
                return Ok(());
            }
            match self.cursor.document_marker() {
                Some(b'-') => return self.fetch_marker(YamlTokenKind::DocumentStart),
                Some(_) => return self.fetch_marker(YamlTokenKind::DocumentEnd),
                None => {}
            }
        }
        let ends = self.cursor.is_blank_or_end(1);
        let in_flow = self.flow > 0;
        match first {
            b'[' => self.fetch_flow_start(YamlTokenKind::FlowSequenceStart),
            b'{' => self.fetch_flow_start(YamlTokenKind::FlowMappingStart),
            b']' => self.fetch_flow_end(YamlTokenKind::FlowSequenceEnd),
            b'}' => self.fetch_flow_end(YamlTokenKind::FlowMappingEnd),
            b',' => {
                self.remove_key()?;
                self.key_allowed = true;
                self.push_indicator(YamlTokenKind::FlowEntry);
                Ok(())
            }
            b'-' if ends => self.fetch_block_entry(),
            b'?' if in_flow || ends => self.fetch_key(),
            b':' if in_flow || ends => self.fetch_value(),
            b'*' => self.fetch_name(YamlTokenKind::Alias),
            b'&' => self.fetch_name(YamlTokenKind::Anchor),
            b'!' => {
                self.save_key()?;
                self.key_allowed = false;
                let token = self.cursor.tag(self.flow > 0)?;
                self.tokens.push_back(token);
                Ok(())
            }
            b'|' | b'>' if !in_flow => {
                self.remove_key()?;
                self.key_allowed = true;
                let token = self.cursor.block_scalar(first == b'|', self.indent)?;
                self.tokens.push_back(token);
                Ok(())
            }
            b'\'' | b'"' => {
                self.save_key()?;
                self.key_allowed = false;
                let token = self.cursor.quoted_scalar(first == b'\'')?;
                self.tokens.push_back(token);
                Ok(())
            }
            _ if self.begins_plain(first) => {
                self.save_key()?;
                self.key_allowed = false;
                let (token, ends_line) = self.cursor.plain_scalar(self.indent, in_flow)?;
                self.key_allowed |= ends_line;
                self.tokens.push_back(token);
                Ok(())
            }
            _ => Err(Problem::new(
                "found character that cannot start any token",
                self.cursor.at,
            )),
        }
    }

    /// Whether a plain scalar can begin with this byte.
    fn begins_plain(&self, first: u8) -> bool {
        match first {
            b'-' => !matches!(self.cursor.byte(1), Some(b' ' | b'\t')),
            b'?' | b':' => self.flow == 0 && !self.cursor.is_blank_or_end(1),
            b',' | b'[' | b']' | b'{' | b'}' | b'#' | b'&' | b'*' | b'!' | b'|' | b'>' | b'\''
            | b'"' | b'%' | b'@' | b'`' => false,
            _ => !self.cursor.is_blank_or_end(0),
        }
    }

    fn skip_to_token(&mut self) {
        loop {
            if self.cursor.column == 0 && self.cursor.text[self.cursor.at..].starts_with('\u{feff}')
            {
                self.cursor.skip();
            }
            while let Some(byte) = self.cursor.byte(0)
                && (byte == b' ' || byte == b'\t' && (self.flow > 0 || !self.key_allowed))
            {
                self.cursor.skip();
            }
            self.cursor.skip_comment();
            if !self.cursor.is_break(0) {
                return;
            }
            self.cursor.skip_line();
            if self.flow == 0 {
                self.key_allowed = true;
            }
        }
    }

    /// Forgets the keys that are too far away, or on a line above.
    fn expire_keys(&mut self) -> Scan<()> {
        for key in &mut self.keys {
            if key.is_possible
                && (key.line < self.cursor.line || key.index + MAX_KEY < self.cursor.index)
            {
                if key.is_required {
                    return Err(
                        Problem::new("could not find expected ':'", self.cursor.at).within(key.at)
                    );
                }
                key.is_possible = false;
            }
        }
        Ok(())
    }

    fn save_key(&mut self) -> Scan<()> {
        if !self.key_allowed {
            return Ok(());
        }
        let key = PossibleKey {
            is_possible: true,
            is_required: self.flow == 0 && self.indent == self.cursor.column as isize,
            token: self.taken + self.tokens.len(),
            at: self.cursor.at,
            index: self.cursor.index,
            line: self.cursor.line,
            column: self.cursor.column,
        };
        self.remove_key()?;
        if let Some(last) = self.keys.last_mut() {
            *last = key;
        }
        Ok(())
    }

    fn remove_key(&mut self) -> Scan<()> {
        let Some(key) = self.keys.last_mut() else {
            return Ok(());
        };
        if key.is_possible && key.is_required {
            return Err(Problem::new("could not find expected ':'", self.cursor.at).within(key.at));
        }
        key.is_possible = false;
        Ok(())
    }

    /// Opens a block at `column` unless one is open there. Its token comes before the token with
    /// the number `before`, or last.
    fn open_block(&mut self, column: usize, before: Option<usize>, kind: YamlTokenKind, at: usize) {
        if self.flow > 0 || self.indent >= column as isize {
            return;
        }
        self.indents.push(self.indent);
        self.indent = column as isize;
        self.insert(before, YamlToken::new(kind, at, at));
    }

    /// Adds a token before the token with a number, or last.
    fn insert(&mut self, before: Option<usize>, token: YamlToken) {
        let last = self.tokens.len();
        let place = before.map_or(last, |number| number.saturating_sub(self.taken));
        self.tokens.insert(place.min(last), token);
    }

    /// Closes the blocks that begin right of `column`.
    fn close_blocks(&mut self, column: isize) {
        if self.flow > 0 {
            return;
        }
        while self.indent > column {
            self.tokens.push_back(YamlToken::new(
                YamlTokenKind::BlockEnd,
                self.cursor.at,
                self.cursor.at,
            ));
            self.indent = self.indents.pop().unwrap_or(-1);
        }
    }

    fn fetch_end(&mut self) -> Scan<()> {
        if self.cursor.column != 0 {
            self.cursor.column = 0;
            self.cursor.line += 1;
        }
        self.close_blocks(-1);
        self.remove_key()?;
        self.key_allowed = false;
        self.tokens.push_back(YamlToken::new(
            YamlTokenKind::StreamEnd,
            self.cursor.at,
            self.cursor.at,
        ));
        Ok(())
    }

    fn fetch_marker(&mut self, kind: YamlTokenKind) -> Scan<()> {
        self.close_blocks(-1);
        self.remove_key()?;
        self.key_allowed = false;
        let start = self.cursor.at;
        for _ in 0..3 {
            self.cursor.skip();
        }
        self.tokens
            .push_back(YamlToken::new(kind, start, self.cursor.at));
        Ok(())
    }

    fn push_indicator(&mut self, kind: YamlTokenKind) {
        let start = self.cursor.at;
        self.cursor.skip();
        self.tokens
            .push_back(YamlToken::new(kind, start, self.cursor.at));
    }

    fn fetch_flow_start(&mut self, kind: YamlTokenKind) -> Scan<()> {
        self.save_key()?;
        self.keys.push(PossibleKey::default());
        self.flow += 1;
        self.key_allowed = true;
        self.push_indicator(kind);
        Ok(())
    }

    fn fetch_flow_end(&mut self, kind: YamlTokenKind) -> Scan<()> {
        self.remove_key()?;
        if self.flow > 0 {
            self.flow -= 1;
            self.keys.pop();
        }
        self.key_allowed = false;
        self.push_indicator(kind);
        Ok(())
    }

    fn fetch_block_entry(&mut self) -> Scan<()> {
        if self.flow == 0 {
            if !self.key_allowed {
                let problem = "block sequence entries are not allowed in this context";
                return Err(Problem::new(problem, self.cursor.at));
            }
            self.open_block(
                self.cursor.column,
                None,
                YamlTokenKind::BlockSequenceStart,
                self.cursor.at,
            );
        }
        self.remove_key()?;
        self.key_allowed = true;
        self.push_indicator(YamlTokenKind::BlockEntry);
        Ok(())
    }

    fn fetch_key(&mut self) -> Scan<()> {
        if self.flow == 0 {
            if !self.key_allowed {
                let problem = "mapping keys are not allowed in this context";
                return Err(Problem::new(problem, self.cursor.at));
            }
            self.open_block(
                self.cursor.column,
                None,
                YamlTokenKind::BlockMappingStart,
                self.cursor.at,
            );
        }
        self.remove_key()?;
        self.key_allowed = self.flow == 0;
        self.push_indicator(YamlTokenKind::Key);
        Ok(())
    }

    fn fetch_value(&mut self) -> Scan<()> {
        match self.keys.last_mut() {
            Some(key) if key.is_possible => {
                key.is_possible = false;
                let key = *key;
                let token = YamlToken::new(YamlTokenKind::Key, key.at, key.at);
                self.insert(Some(key.token), token);
                let kind = YamlTokenKind::BlockMappingStart;
                self.open_block(key.column, Some(key.token), kind, key.at);
                self.key_allowed = false;
            }
            _ => {
                if self.flow == 0 {
                    if !self.key_allowed {
                        let problem = "mapping values are not allowed in this context";
                        return Err(Problem::new(problem, self.cursor.at));
                    }
                    self.open_block(
                        self.cursor.column,
                        None,
                        YamlTokenKind::BlockMappingStart,
                        self.cursor.at,
                    );
                }
                self.key_allowed = self.flow == 0;
            }
        }
        self.push_indicator(YamlTokenKind::Value);
        Ok(())
    }

    fn fetch_name(&mut self, kind: YamlTokenKind) -> Scan<()> {
        self.save_key()?;
        self.key_allowed = false;
        let start = self.cursor.at;
        self.cursor.skip();
        let length = self.cursor.skip_letters();
        let ends = self.cursor.is_blank_or_end(0)
            || matches!(
                self.cursor.byte(0),
                Some(b'?' | b':' | b',' | b']' | b'}' | b'%' | b'@' | b'`')
            );
        if length == 0 || !ends {
            let problem = "did not find expected alphabetic or numeric character";
            return Err(Problem::new(problem, self.cursor.at).within(start));
        }
        self.tokens
            .push_back(YamlToken::new(kind, start, self.cursor.at));
        Ok(())
    }
}
