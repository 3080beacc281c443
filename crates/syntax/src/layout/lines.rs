//! Writes lines, with the comments between them.
//!
//! Elements are written in the order of the text, and so are comments: a comment is written when
//! the element after it is written.
//!
//! Not here: the layout of elements (`yaml`, `json`).

use diag::Span;

/// The maximum number of characters of a line with brackets. Longer ones are broken.
pub(super) const WIDTH: usize = 100;

/// The indentation of a level in columns.
pub(super) const STEP: usize = 2;

/// The text written so far, and the comments that are still to be written.
pub(super) struct LayoutText<'t> {
    /// The source text.
    pub(super) text: &'t str,
    /// The new text.
    pub(super) out: String,
    comments: &'t [Span],
    /// Whether no empty line may follow: nothing has been written at this level, or the line would
    /// become part of a text.
    pub(super) suppress_empty_line: bool,
}

impl<'t> LayoutText<'t> {
    pub(super) fn new(text: &'t str, comments: &'t [Span]) -> LayoutText<'t> {
        LayoutText {
            text,
            out: String::with_capacity(text.len() + text.len() / 8),
            comments,
            suppress_empty_line: true,
        }
    }

    /// The next comment, if it is before this place.
    pub(super) fn comment_before(&self, place: usize) -> Option<Span> {
        self.comments
            .first()
            .copied()
            .filter(|comment| (comment.start as usize) < place)
    }

    /// The pending comments before this place.
    pub(super) fn comments_before(&self, place: usize) -> &'t [Span] {
        let count = self
            .comments
            .iter()
            .take_while(|comment| (comment.start as usize) < place)
            .count();
        &self.comments[..count]
    }

    /// Takes the next comment.
    pub(super) fn take_comment(&mut self) -> Option<&'t str> {
        let (comment, rest) = self.comments.split_first()?;
        self.comments = rest;
        self.text.get(comment.range())
    }

    /// Starts a line. Ends the previous one.
    pub(super) fn start(&mut self, indent: usize) {
        self.end();
        self.suppress_empty_line = false;
        self.out.extend(std::iter::repeat_n(' ', indent));
    }

    /// Ends the current line, if there is one.
    pub(super) fn end(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with('\n') {
            self.out.push('\n');
        }
    }

    /// Writes an empty line if the source has empty lines before `place`.
    pub(super) fn write_empty_line(&mut self, place: usize) {
        if !self.suppress_empty_line && self.is_behind_gap(place) {
            self.end();
            self.out.push('\n');
            self.suppress_empty_line = true;
        }
    }

    /// Writes the comments before `place`, each on a line of its own.
    pub(super) fn write_leading_comments(&mut self, place: usize, indent: usize) {
        while let Some(comment) = self.comment_before(place) {
            self.write_empty_line(comment.start as usize);
            self.start(indent);
            self.comment();
        }
    }

    /// Writes the next comment at the end of the current line. The lines of a block comment keep
    /// their indentation.
    pub(super) fn comment(&mut self) {
        let Some(comment) = self.take_comment() else {
            return;
        };
        for (at, line) in comment.split('\n').enumerate() {
            if at > 0 {
                self.out.push('\n');
            }
            self.out.push_str(line.trim_end());
        }
    }

    /// Writes the next comment at the end of the line, if it is on the line of `end` and before
    /// `limit`, where the next element begins.
    pub(super) fn write_trailing_comment(&mut self, end: usize, limit: usize, gap: &str) {
        if let Some(comment) = self.comment_before(limit)
            && self.is_one_line(end, comment.start as usize)
        {
            self.out.push_str(gap);
            self.comment();
        }
    }

    /// Whether there is no line break from one place to another.
    pub(super) fn is_one_line(&self, from: usize, to: usize) -> bool {
        self.text
            .get(from..to)
            .is_some_and(|between| !between.contains(['\n', '\r']))
    }

    /// The number of columns before a place, if only white space is before it on its line.
    pub(super) fn column_on_own_line(&self, place: usize) -> Option<usize> {
        let before = self.text.get(..place)?;
        let rest = before.trim_end_matches([' ', '\t']);
        let begins = rest.is_empty() || rest.ends_with(['\n', '\r', '\u{feff}']);
        begins.then(|| before.len() - rest.len())
    }

    /// The number of characters before a place on its line.
    pub(super) fn column(&self, place: usize) -> usize {
        let before = self.text.get(..place).unwrap_or_default();
        let start = before.rfind(['\n', '\r']).map_or(0, |end| end + 1);
        before[start..]
            .trim_start_matches('\u{feff}')
            .chars()
            .count()
    }

    /// The number of characters on the current line.
    pub(super) fn line_length(&self) -> usize {
        let start = self.out.rfind('\n').map_or(0, |end| end + 1);
        self.out[start..].chars().count()
    }

    fn is_behind_gap(&self, place: usize) -> bool {
        let Some(column) = self.column_on_own_line(place) else {
            return false;
        };
        let above = &self.text[..place - column];
        let Some(above) = above
            .strip_suffix("\r\n")
            .or_else(|| above.strip_suffix(['\n', '\r']))
        else {
            return false;
        };
        let above = above.trim_end_matches([' ', '\t']);
        above.is_empty() || above.ends_with(['\n', '\r'])
    }
}
