//! From positions in a decoded text to positions in the source.

use crate::{FileId, Span};

/// Where the first `${` of a text begins, if there is one: what stands before it is text as it is in every dialect that
/// substitutes. Most texts have no `$` at all, which this finds out faster than a search for two characters.
pub fn opening(text: &str) -> Option<usize> {
    let mut from = 0;
    loop {
        let at = from + text.get(from..)?.find('$')?;
        from = at + 1;
        if text.as_bytes().get(from) == Some(&b'{') {
            return Some(at);
        }
    }
}

/// A scalar's decoded text and where each byte of it came from.
///
/// Built by `syntax` from a quoted, escaped, folded or literal scalar, so that a span inside the decoded text can be
/// shown where the person wrote it. Runs of bytes that were copied unchanged are one piece.
#[derive(Clone, Debug)]
pub struct TextMap {
    file: FileId,
    /// `(decoded start, source start, source length of each decoded byte's unit or 0 for copied runs)`, ascending.
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
        TextMap {
            file,
            pieces: vec![Piece { decoded: 0, source: start, unit: 0 }],
            decoded_end: len,
            source_end: start + len,
        }
    }

    /// An empty map to be filled piece by piece; `start` is where the content begins in the source.
    pub fn builder(file: FileId, start: u32) -> TextMap {
        TextMap { file, pieces: Vec::new(), decoded_end: 0, source_end: start }
    }

    /// `len` bytes were copied from `source`.
    pub fn copied(&mut self, source: u32, len: u32) {
        if len == 0 {
            return;
        }
        let joins = self
            .pieces
            .last()
            .is_some_and(|last| last.unit == 0 && last.source + (self.decoded_end - last.decoded) == source);
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
        let at = self.pieces.partition_point(|piece| piece.decoded <= decoded);
        match self.pieces.get(at.wrapping_sub(1)) {
            Some(piece) if piece.unit == 0 => piece.source + (decoded - piece.decoded),
            Some(piece) => piece.source,
            None => self.source_end,
        }
    }

    /// Where a decoded offset ends in the source: the end of the unit that made the byte before it.
    pub fn end_offset(&self, decoded: u32) -> u32 {
        if decoded == 0 {
            return self.offset(0);
        }
        let at = self.pieces.partition_point(|piece| piece.decoded < decoded);
        match self.pieces.get(at.wrapping_sub(1)) {
            Some(piece) if piece.unit == 0 => piece.source + (decoded.min(self.decoded_end) - piece.decoded),
            Some(piece) => piece.source + piece.unit,
            None => self.source_end,
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
    fn identity_is_an_offset() {
        let map = TextMap::identity(FileId::new(0), 5, 4);
        assert_eq!(map.span(1, 3).range(), 6..8);
        assert_eq!(map.span(4, 4).range(), 9..9);
    }
}
