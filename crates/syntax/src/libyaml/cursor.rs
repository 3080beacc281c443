//! The place of the reading in a text.
//!
//! Not here: tokens (`scanner`), what belongs to a scalar or a tag (`scalars`, `tags`).

use diag::{FileId, Span};

/// Reads characters one after the other, and counts lines and columns.
pub(super) struct Cursor<'t> {
    file: FileId,
    pub(super) text: &'t str,
    /// The place in bytes, and in characters.
    pub(super) at: usize,
    pub(super) index: usize,
    pub(super) line: usize,
    /// The number of characters before the place in its line.
    pub(super) column: usize,
    pub(super) comments: Vec<Span>,
}

impl<'t> Cursor<'t> {
    /// A cursor at a place in bytes.
    pub(super) fn new(file: FileId, text: &'t str, at: usize) -> Cursor<'t> {
        Cursor {
            file,
            text,
            at,
            index: 0,
            line: 0,
            column: 0,
            comments: Vec::new(),
        }
    }

    /// Skips a comment up to the end of its line.
    pub(super) fn skip_comment(&mut self) {
        if self.byte(0) != Some(b'#') {
            return;
        }
        let start = self.at;
        while self.byte(0).is_some() && !self.is_break(0) {
            self.skip();
        }
        self.comments
            .push(Span::new(self.file, start as u32, self.at as u32));
    }

    /// Skips letters, digits, `_` and `-`. Returns how many.
    pub(super) fn skip_letters(&mut self) -> usize {
        let start = self.at;
        while self
            .byte(0)
            .is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
        {
            self.skip();
        }
        self.at - start
    }

    pub(super) fn skip_blanks(&mut self) {
        while matches!(self.byte(0), Some(b' ' | b'\t')) {
            self.skip();
        }
    }

    /// The byte at this distance; `None` after the end.
    pub(super) fn byte(&self, distance: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + distance).copied()
    }

    /// Whether a line break is at this distance, in bytes.
    pub(super) fn is_break(&self, distance: usize) -> bool {
        let rest = self.text.as_bytes().get(self.at + distance..);
        matches!(
            rest.unwrap_or_default(),
            [b'\n' | b'\r', ..] | [0xc2, 0x85, ..] | [0xe2, 0x80, 0xa8 | 0xa9, ..]
        )
    }

    /// Whether a space, a tab, a line break or the end of the text is at this distance, in bytes.
    pub(super) fn is_blank_or_end(&self, distance: usize) -> bool {
        matches!(self.byte(distance), None | Some(b' ' | b'\t')) || self.is_break(distance)
    }

    /// The character of which a `---` or `...` consists that stands alone here, at the start of a
    /// line.
    pub(super) fn document_marker(&self) -> Option<u8> {
        let rest = &self.text.as_bytes()[self.at..];
        let is_marker = rest.starts_with(b"---") || rest.starts_with(b"...");
        let stands_alone = self.column == 0 && is_marker && self.is_blank_or_end(3);
        stands_alone.then(|| rest[0])
    }

    /// The character here.
    pub(super) fn character(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    /// Skips one character that is no line break.
    pub(super) fn skip(&mut self) {
        self.at += self.character().map_or(0, char::len_utf8);
        self.index += 1;
        self.column += 1;
    }

    /// Skips a line break.
    pub(super) fn skip_line(&mut self) {
        let is_pair = self.text[self.at..].starts_with("\r\n");
        self.at += match self.character() {
            Some(_) if is_pair => 2,
            character => character.map_or(0, char::len_utf8),
        };
        self.index += if is_pair { 2 } else { 1 };
        self.column = 0;
        self.line += 1;
    }

    /// Reads a line break: those of YAML 1.1 that are specific stay as they are, all others become
    /// `\n`.
    pub(super) fn read_break(&mut self, into: &mut String) {
        match self.character() {
            Some(character @ ('\u{2028}' | '\u{2029}')) => into.push(character),
            Some(_) => into.push('\n'),
            None => return,
        }
        self.skip_line();
    }

    /// Reads one character.
    pub(super) fn read(&mut self, into: &mut String) {
        if let Some(character) = self.character() {
            into.push(character);
            self.skip();
        }
    }
}
