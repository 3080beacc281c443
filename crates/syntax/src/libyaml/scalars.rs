//! Reads the content of scalars.
//!
//! Not here: which scalar begins at a place (`scanner`), the type of a scalar (the dialects).

use super::cursor::Cursor;
use super::problem::{Problem, Scan};
use super::token::{YamlToken, YamlTokenKind};
use crate::Style;

/// Which line breaks at the end of a block belong to its content.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Chomping {
    Strip,
    Clip,
    Keep,
}

/// White space between two parts of a scalar of several lines.
#[derive(Default)]
struct Gap {
    /// Blanks on the line of the first part.
    blanks: String,
    /// The break that ends this line.
    first: String,
    /// All further breaks.
    more: String,
    /// Whether the line has ended.
    has_break: bool,
}

impl Gap {
    /// Adds the white space to the content: one line break becomes a space.
    fn fold(&mut self, into: &mut String) {
        if !self.has_break {
            into.push_str(&self.blanks);
        } else if !self.first.starts_with('\n') {
            into.push_str(&self.first);
            into.push_str(&self.more);
        } else if self.more.is_empty() {
            into.push(' ');
        } else {
            into.push_str(&self.more);
        }
        self.blanks.clear();
        self.first.clear();
        self.more.clear();
        self.has_break = false;
    }
}

impl Cursor<'_> {
    /// Reads the white space here.
    fn gap(&mut self, gap: &mut Gap) {
        loop {
            if matches!(self.byte(0), Some(b' ' | b'\t')) {
                if gap.has_break {
                    self.skip();
                } else {
                    self.read(&mut gap.blanks);
                }
            } else if self.is_break(0) {
                if gap.has_break {
                    self.read_break(&mut gap.more);
                } else {
                    gap.blanks.clear();
                    self.read_break(&mut gap.first);
                    gap.has_break = true;
                }
            } else {
                return;
            }
        }
    }

    /// Reads a scalar without quotes inside a block at the column `parent`. Also returns whether the
    /// line of its last part has ended.
    pub(super) fn plain_scalar(&mut self, parent: isize, in_flow: bool) -> Scan<(YamlToken, bool)> {
        let start = self.at;
        let mut end = start;
        let mut text = String::new();
        let mut gap = Gap::default();
        let indent = parent + 1;
        loop {
            if self.document_marker().is_some() || self.byte(0) == Some(b'#') {
                break;
            }
            while !self.is_blank_or_end(0) {
                let next = self.byte(1);
                match self.byte(0) {
                    Some(b':') if self.is_blank_or_end(1) => break,
                    Some(b':')
                        if in_flow
                            && matches!(next, Some(b',' | b'?' | b'[' | b']' | b'{' | b'}')) =>
                    {
                        return Err(Problem::new("found unexpected ':'", self.at).within(start));
                    }
                    Some(b',' | b'[' | b']' | b'{' | b'}') if in_flow => break,
                    _ => {}
                }
                if gap.has_break || !gap.blanks.is_empty() {
                    gap.fold(&mut text);
                }
                self.read(&mut text);
                end = self.at;
            }
            if self.byte(0).is_none() || !self.is_blank_or_end(0) {
                break;
            }
            self.plain_gap(&mut gap, indent, start)?;
            if !in_flow && (self.column as isize) < indent {
                break;
            }
        }
        let token = YamlToken {
            kind: YamlTokenKind::Scalar(Style::Plain),
            start,
            end,
            text,
        };
        Ok((token, gap.has_break))
    }

    /// Reads the white space inside a scalar without quotes.
    fn plain_gap(&mut self, gap: &mut Gap, indent: isize, start: usize) -> Scan<()> {
        while self.byte(0).is_some() && self.is_blank_or_end(0) {
            let is_tab = self.byte(0) == Some(b'\t');
            if gap.has_break && is_tab && (self.column as isize) < indent {
                let problem = "found a tab character that violates indentation";
                return Err(Problem::new(problem, self.at).within(start));
            }
            if self.is_break(0) {
                if gap.has_break {
                    self.read_break(&mut gap.more);
                } else {
                    gap.blanks.clear();
                    self.read_break(&mut gap.first);
                    gap.has_break = true;
                }
            } else if gap.has_break {
                self.skip();
            } else {
                self.read(&mut gap.blanks);
            }
        }
        Ok(())
    }

    /// Reads a scalar in quotes.
    pub(super) fn quoted_scalar(&mut self, is_single: bool) -> Scan<YamlToken> {
        let start = self.at;
        let quote = if is_single { b'\'' } else { b'"' };
        let mut text = String::new();
        self.skip();
        loop {
            if self.document_marker().is_some() {
                let problem = "found unexpected document indicator";
                return Err(Problem::new(problem, self.at).within(start));
            }
            if self.byte(0).is_none() {
                let problem = "found unexpected end of stream";
                return Err(Problem::new(problem, self.at).within(start));
            }
            let mut gap = Gap::default();
            while !self.is_blank_or_end(0) {
                match self.byte(0) {
                    Some(b'\'') if is_single && self.byte(1) == Some(b'\'') => {
                        text.push('\'');
                        self.skip();
                        self.skip();
                    }
                    Some(byte) if byte == quote => break,
                    Some(b'\\') if !is_single && self.is_break(1) => {
                        self.skip();
                        self.skip_line();
                        gap.has_break = true;
                        break;
                    }
                    Some(b'\\') if !is_single => self.escape(&mut text, start)?,
                    _ => self.read(&mut text),
                }
            }
            if self.byte(0) == Some(quote) {
                break;
            }
            self.gap(&mut gap);
            gap.fold(&mut text);
        }
        self.skip();
        Ok(YamlToken {
            kind: YamlTokenKind::Scalar(if is_single {
                Style::SingleQuoted
            } else {
                Style::DoubleQuoted
            }),
            start,
            end: self.at,
            text,
        })
    }

    /// Reads a backslash and what it stands for.
    fn escape(&mut self, text: &mut String, start: usize) -> Scan<()> {
        let problem = |what, at| Problem::new(what, at).within(start);
        let digits = match self.byte(1) {
            Some(b'x') => 2,
            Some(b'u') => 4,
            Some(b'U') => 8,
            _ => 0,
        };
        if digits == 0 {
            text.push(match self.byte(1) {
                Some(b'0') => '\0',
                Some(b'a') => '\u{7}',
                Some(b'b') => '\u{8}',
                Some(b't' | b'\t') => '\t',
                Some(b'n') => '\n',
                Some(b'v') => '\u{b}',
                Some(b'f') => '\u{c}',
                Some(b'r') => '\r',
                Some(b'e') => '\u{1b}',
                Some(byte @ (b' ' | b'"' | b'/' | b'\\')) => char::from(byte),
                Some(b'N') => '\u{85}',
                Some(b'_') => '\u{a0}',
                Some(b'L') => '\u{2028}',
                Some(b'P') => '\u{2029}',
                _ => return Err(problem("found unknown escape character", self.at)),
            });
            self.skip();
            self.skip();
            return Ok(());
        }
        self.skip();
        self.skip();
        let mut code = 0_u32;
        for _ in 0..digits {
            let digit = self.byte(0).and_then(|byte| char::from(byte).to_digit(16));
            let Some(digit) = digit else {
                let what = "did not find expected hexdecimal number";
                return Err(problem(what, self.at));
            };
            code = (code << 4) | digit;
            self.skip();
        }
        let Some(character) = char::from_u32(code) else {
            let what = "found invalid Unicode character escape code";
            return Err(problem(what, self.at));
        };
        text.push(character);
        Ok(())
    }

    /// Reads a block scalar, `|` or `>` and the indented lines below, inside a block at the column
    /// `parent`.
    pub(super) fn block_scalar(&mut self, is_literal: bool, parent: isize) -> Scan<YamlToken> {
        let start = self.at;
        let (chomping, increment) = self.block_header(start)?;
        let mut end = self.at;
        if self.byte(0).is_some() {
            self.skip_line();
        }
        let mut indent = increment.map(|increment| parent.max(0) as usize + increment);
        let mut text = String::new();
        let mut first_break = String::new();
        let mut more_breaks = String::new();
        let mut after_blank = false;
        let least = (parent + 1).max(1) as usize;
        self.block_breaks(&mut indent, least, &mut more_breaks, start)?;
        while Some(self.column) == indent && self.byte(0).is_some() {
            let is_blank = matches!(self.byte(0), Some(b' ' | b'\t'));
            let folds = !is_literal && first_break.starts_with('\n') && !after_blank && !is_blank;
            if !folds {
                text.push_str(&first_break);
            } else if more_breaks.is_empty() {
                text.push(' ');
            }
            first_break.clear();
            text.push_str(&more_breaks);
            more_breaks.clear();
            after_blank = is_blank;
            let line = self.at;
            while self.byte(0).is_some() && !self.is_break(0) {
                self.read(&mut text);
            }
            if !self.text[line..self.at]
                .trim_matches([' ', '\t'])
                .is_empty()
            {
                end = self.at;
            }
            self.read_break(&mut first_break);
            self.block_breaks(&mut indent, least, &mut more_breaks, start)?;
        }
        if chomping != Chomping::Strip {
            text.push_str(&first_break);
        }
        if chomping == Chomping::Keep {
            text.push_str(&more_breaks);
        }
        let style = if is_literal {
            Style::Literal
        } else {
            Style::Folded
        };
        Ok(YamlToken {
            kind: YamlTokenKind::Scalar(style),
            start,
            end,
            text,
        })
    }

    /// Reads the line of a block's indicator up to its end.
    fn block_header(&mut self, start: usize) -> Scan<(Chomping, Option<usize>)> {
        self.skip();
        let mut chomping = None;
        let mut increment = None;
        for _ in 0..2 {
            match self.byte(0) {
                Some(sign @ (b'+' | b'-')) if chomping.is_none() => {
                    chomping = Some(if sign == b'+' {
                        Chomping::Keep
                    } else {
                        Chomping::Strip
                    });
                    self.skip();
                }
                Some(b'0') if increment.is_none() => {
                    let what = "found an indentation indicator equal to 0";
                    return Err(Problem::new(what, self.at).within(start));
                }
                Some(digit @ b'1'..=b'9') if increment.is_none() => {
                    increment = Some(usize::from(digit - b'0'));
                    self.skip();
                }
                _ => {}
            }
        }
        while matches!(self.byte(0), Some(b' ' | b'\t')) {
            self.skip();
        }
        self.skip_comment();
        if self.byte(0).is_some() && !self.is_break(0) {
            let what = "did not find expected comment or line break";
            return Err(Problem::new(what, self.at).within(start));
        }
        Ok((chomping.unwrap_or(Chomping::Clip), increment))
    }

    /// Reads the indentation and the empty lines before a line of a block. Without an `indent` the
    /// first line with content decides it, `least` at the least.
    fn block_breaks(
        &mut self,
        indent: &mut Option<usize>,
        least: usize,
        breaks: &mut String,
        start: usize,
    ) -> Scan<()> {
        let mut deepest = 0;
        let is_before = |column: usize| indent.is_none_or(|indent| column < indent);
        loop {
            while is_before(self.column) && self.byte(0) == Some(b' ') {
                self.skip();
            }
            deepest = deepest.max(self.column);
            if is_before(self.column) && self.byte(0) == Some(b'\t') {
                let what = "found a tab character where an indentation space is expected";
                return Err(Problem::new(what, self.at).within(start));
            }
            if !self.is_break(0) {
                break;
            }
            self.read_break(breaks);
        }
        indent.get_or_insert(deepest.max(least));
        Ok(())
    }
}
