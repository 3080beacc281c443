//! From positions in a decoded text to positions in the source.

use crate::{FileId, Span};

/// So many bytes are looked at one by one: most texts are short, and a search costs more than that to begin.
const NEAR: usize = 16;

/// Where the first `${` of a text begins, if there is one: what stands before it is text as it is in every dialect that
/// substitutes. Most texts have no `$` at all, which this finds out faster than a search for two characters.
pub fn opening(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let opens = |at: &usize| bytes.get(at + 1) == Some(&b'{');
    let near = bytes.len().min(NEAR);
    let found = (0..near).find(|at| bytes[*at] == b'$' && opens(at));
    found.or_else(|| memchr::memchr_iter(b'$', &bytes[near..]).map(|at| near + at).find(opens))
}

/// A scalar's decoded text and where each byte of it came from.
///
/// Built by `syntax` from a quoted, escaped, folded or literal scalar, so that a span inside the decoded text can be
/// shown where the person wrote it. Runs of bytes that were copied unchanged are one piece.
#[derive(Clone, Debug)]
pub struct TextMap {
    file: FileId,
    /// Where the content begins in the source. What comes before the first piece was copied from there, in one run: of nearly
    /// all texts that is everything.
    start: u32,
    /// Ascending.
    pieces: Vec<Piece>,
    decoded_end: u32,
    source_end: u32,
}

#[derive(Clone, Copy, Debug)]
struct Piece {
    decoded: u32,
    source: u32,
    /// Bytes of source that the whole piece stands for, if it is an escape or a folded break; 0 for a copied run.
    unit: u32,
}

impl TextMap {
    /// A text that stands in `file` from `start` on exactly as it is.
    pub fn identity(file: FileId, start: u32, len: u32) -> TextMap {
        TextMap { file, start, pieces: Vec::new(), decoded_end: len, source_end: start + len }
    }

    /// An empty map to be filled piece by piece; `start` is where the content begins in the source.
    pub fn builder(file: FileId, start: u32) -> TextMap {
        TextMap { file, start, pieces: Vec::new(), decoded_end: 0, source_end: start }
    }

    /// `len` bytes were copied from `source`.
    pub fn copied(&mut self, source: u32, len: u32) {
        if len == 0 {
            return;
        }
        let last = self.pieces.last().copied().unwrap_or(self.first());
        let joins = last.unit == 0 && last.source + (self.decoded_end - last.decoded) == source;
        if !joins {
            self.pieces.push(Piece { decoded: self.decoded_end, source, unit: 0 });
        }
        self.decoded_end += len;
        self.source_end = source + len;
    }

    /// `decoded` bytes were made from the `unit` bytes at `source` (an escape, a folded line break).
    pub fn made(&mut self, source: u32, unit: u32, decoded: u32) {
        if decoded > 0 {
            self.pieces.push(Piece { decoded: self.decoded_end, source, unit });
            self.decoded_end += decoded;
        }
        self.source_end = source + unit;
    }

    /// The run before the first piece.
    fn first(&self) -> Piece {
        Piece { decoded: 0, source: self.start, unit: 0 }
    }

    /// The last of the first `count` pieces.
    fn piece(&self, count: usize) -> Piece {
        count.checked_sub(1).and_then(|at| self.pieces.get(at)).copied().unwrap_or(self.first())
    }

    /// Number of decoded bytes.
    pub fn len(&self) -> u32 {
        self.decoded_end
    }

    /// Whether nothing was decoded.
    pub fn is_empty(&self) -> bool {
        self.decoded_end == 0
    }

    /// Where a decoded offset begins in the source; past the end it is the end of the content.
    pub fn offset(&self, decoded: u32) -> u32 {
        if decoded >= self.decoded_end {
            return self.source_end;
        }
        let piece = self.piece(self.pieces.partition_point(|piece| piece.decoded <= decoded));
        if piece.unit == 0 { piece.source + (decoded - piece.decoded) } else { piece.source }
    }

    /// Where a decoded offset ends in the source: the end of the unit that made the byte before it.
    pub fn end_offset(&self, decoded: u32) -> u32 {
        if decoded == 0 || self.decoded_end == 0 {
            return self.offset(0);
        }
        let piece = self.piece(self.pieces.partition_point(|piece| piece.decoded < decoded));
        match piece.unit {
            0 => piece.source + (decoded.min(self.decoded_end) - piece.decoded),
            unit => piece.source + unit,
        }
    }

    /// The source range of a decoded range.
    pub fn span(&self, start: u32, end: u32) -> Span {
        let from = self.offset(start);
        let to = if end <= start { from } else { self.end_offset(end) };
        Span::new(self.file, from, to.max(from))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dollar_alone_opens_nothing() {
        for (text, at) in
            [("a$b${c}${d}", Some(3)), ("$${x}", Some(1)), ("${", Some(0)), ("$", None), ("{$}", None), ("ü$", None)]
        {
            assert_eq!(opening(text), at, "{text}");
        }
    }

    #[test]
    fn an_escape_is_one_unit() {
        // source: "a\tb" at offset 10 is `a`, `\t`, `b`
        let mut map = TextMap::builder(FileId::new(0), 10);
        map.copied(10, 1);
        map.made(11, 2, 1);
        map.copied(13, 1);
        assert_eq!(map.span(0, 1).range(), 10..11);
        assert_eq!(map.span(1, 2).range(), 11..13);
        assert_eq!(map.span(2, 3).range(), 13..14);
        assert_eq!(map.span(0, 3).range(), 10..14);
        assert_eq!(map.span(3, 3).range(), 14..14);
    }

    #[test]
    fn what_is_copied_from_the_start_on_is_the_identity_until_something_is_made() {
        let mut map = TextMap::builder(FileId::new(0), 10);
        assert_eq!((map.span(0, 0).range(), map.span(1, 2).range()), (10..10, 10..10), "empty");
        map.copied(10, 3);
        map.copied(13, 2);
        assert_eq!((map.span(1, 4).range(), map.span(4, 9).range()), (11..14, 14..15));
        map.made(15, 4, 1);
        map.copied(19, 2);
        assert_eq!((map.span(4, 6).range(), map.span(5, 6).range(), map.span(6, 8).range()), (14..19, 15..19, 19..21));

        let mut map = TextMap::builder(FileId::new(0), 10);
        map.made(10, 2, 0);
        map.copied(12, 2);
        assert_eq!((map.span(0, 1).range(), map.span(1, 2).range()), (12..13, 13..14), "an escape of nothing");
    }

    #[test]
    fn an_opening_is_found_however_far_away() {
        for before in 0..40 {
            let text = format!("{}$${{a}}", "x".repeat(before));
            assert_eq!(opening(&text), Some(before + 1), "{text}");
        }
    }

    #[test]
    fn identity_is_an_offset() {
        let map = TextMap::identity(FileId::new(0), 5, 4);
        assert_eq!(map.span(1, 3).range(), 6..8);
        assert_eq!(map.span(4, 4).range(), 9..9);
    }
}
