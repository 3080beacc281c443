//! Lines as they are written, with the comments that belong between them.
//!
//! Elements are written in the order of the text, so comments are too: each is taken when what stands behind it comes.
//!
//! Not here: what an element looks like (`yaml`, `json`).

use diag::Span;

/// How many characters a line may have before brackets on it are opened.
pub(super) const WIDTH: usize = 100;

/// Columns of a level.
pub(super) const STEP: usize = 2;

/// What has been written so far, and what of the old text has not been taken over yet.
pub(super) struct Lines<'t> {
    /// The old text.
    pub(super) text: &'t str,
    /// The new one.
    pub(super) out: String,
    comments: &'t [Span],
    /// No empty line may come next: nothing was written at this level yet, or it would become part of a text.
    pub(super) close: bool,
}

impl<'t> Lines<'t> {
    pub(super) fn new(text: &'t str, comments: &'t [Span]) -> Lines<'t> {
        Lines { text, out: String::with_capacity(text.len() + text.len() / 8), comments, close: true }
    }

    /// The next comment, if it stands before this place.
    pub(super) fn comment_before(&self, place: usize) -> Option<Span> {
        self.comments.first().copied().filter(|comment| (comment.start as usize) < place)
    }

    /// How many comments stand before this place and wait.
    pub(super) fn comments_before(&self, place: usize) -> &'t [Span] {
        let count = self.comments.iter().take_while(|comment| (comment.start as usize) < place).count();
        &self.comments[..count]
    }

    /// Takes the next comment.
    pub(super) fn take_comment(&mut self) -> Option<&'t str> {
        let (comment, rest) = self.comments.split_first()?;
        self.comments = rest;
        self.text.get(comment.range())
    }

    /// Begins a line, ending the one before.
    pub(super) fn start(&mut self, indent: usize) {
        self.end();
        self.close = false;
        self.out.extend(std::iter::repeat_n(' ', indent));
    }

    /// Ends the line, if one was begun.
    pub(super) fn end(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with('\n') {
            self.out.push('\n');
        }
    }

    /// Leaves a line empty where the old text has empty ones before what stands at `place`.
    pub(super) fn gap(&mut self, place: usize) {
        if !self.close && self.is_behind_gap(place) {
            self.end();
            self.out.push('\n');
            self.close = true;
        }
    }

    /// Writes the comments that stand before `place`, each on a line of its own.
    pub(super) fn lead(&mut self, place: usize, indent: usize) {
        while let Some(comment) = self.comment_before(place) {
            self.gap(comment.start as usize);
            self.start(indent);
            self.comment();
        }
    }

    /// Writes the next comment behind what stands on the line. Of a longer one every line keeps its place.
    pub(super) fn comment(&mut self) {
        let Some(comment) = self.take_comment() else { return };
        for (at, line) in comment.split('\n').enumerate() {
            if at > 0 {
                self.out.push('\n');
            }
            self.out.push_str(line.trim_end());
        }
    }

    /// Writes the next comment at the end of the line, if it stands on the line on which `end` is and before `limit`,
    /// where the next element begins.
    pub(super) fn trail(&mut self, end: usize, limit: usize, gap: &str) {
        if let Some(comment) = self.comment_before(limit)
            && self.is_one_line(end, comment.start as usize)
        {
            self.out.push_str(gap);
            self.comment();
        }
    }

    /// Whether there is no line break between two places, in this order.
    pub(super) fn is_one_line(&self, from: usize, to: usize) -> bool {
        self.text.get(from..to).is_some_and(|between| !between.contains(['\n', '\r']))
    }

    /// What stands between the beginning of a place's line and the place is white space; then the columns it takes.
    pub(super) fn column_on_own_line(&self, place: usize) -> Option<usize> {
        let before = self.text.get(..place)?;
        let rest = before.trim_end_matches([' ', '\t']);
        let begins = rest.is_empty() || rest.ends_with(['\n', '\r', '\u{feff}']);
        begins.then(|| before.len() - rest.len())
    }

    /// How many characters stand before a place on its line.
    pub(super) fn column(&self, place: usize) -> usize {
        let before = self.text.get(..place).unwrap_or_default();
        let start = before.rfind(['\n', '\r']).map_or(0, |end| end + 1);
        before[start..].trim_start_matches('\u{feff}').chars().count()
    }

    /// How many characters stand on the line that is being written.
    pub(super) fn written(&self) -> usize {
        let start = self.out.rfind('\n').map_or(0, |end| end + 1);
        self.out[start..].chars().count()
    }

    fn is_behind_gap(&self, place: usize) -> bool {
        let Some(column) = self.column_on_own_line(place) else { return false };
        let above = &self.text[..place - column];
        let Some(above) = above.strip_suffix("\r\n").or_else(|| above.strip_suffix(['\n', '\r'])) else { return false };
        let above = above.trim_end_matches([' ', '\t']);
        above.is_empty() || above.ends_with(['\n', '\r'])
    }
}
