//! Maps positions in a decoded text to positions in the source.

use crate::{FileId, Span};

/// The number of bytes that are checked one by one before a vectorised search: most texts are
/// short.
const NEAR: usize = 16;

/// The offset of the first `${` of a text; `None` if there is none. The text before it is literal
/// in every dialect with substitutions. Searching for `$` alone is faster, because most texts
/// contain none.
pub fn find_substitution(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let opens = |at: &usize| bytes.get(at + 1) == Some(&b'{');
    let near = bytes.len().min(NEAR);
    let found = (0..near).find(|at| bytes[*at] == b'$' && opens(at));
    found.or_else(|| {
        memchr::memchr_iter(b'$', &bytes[near..])
            .map(|at| near + at)
            .find(opens)
    })
}

/// The source positions of a scalar's decoded text.
///
/// `syntax` builds the map from a quoted, escaped, folded or literal scalar, so that a span inside
/// the decoded text can be shown in the source. A run of bytes that were copied unchanged is one
/// piece.
#[derive(Clone, Debug)]
pub struct TextMap {
    file: FileId,
    /// The source offset of the content. Bytes before the first piece were copied from here in one
    /// run. In most texts these are all bytes.
    start: u32,
    /// The pieces, sorted by decoded offset.
    pieces: Vec<Piece>,
    decoded_end: u32,
    source_end: u32,
}

#[derive(Clone, Copy, Debug)]
struct Piece {
    decoded: u32,
    source: u32,
    /// The number of source bytes of an escape or a folded break; 0 for a copied run.
    unit: u32,
}

impl TextMap {
    /// The map of a text that occurs unchanged in `file` at `start`.
    pub fn identity(file: FileId, start: u32, len: u32) -> TextMap {
        TextMap {
            file,
            start,
            pieces: Vec::new(),
            decoded_end: len,
            source_end: start + len,
        }
    }

    /// An empty map to which pieces are added. `start` is the source offset of the content.
    pub fn builder(file: FileId, start: u32) -> TextMap {
        TextMap {
            file,
            start,
            pieces: Vec::new(),
            decoded_end: 0,
            source_end: start,
        }
    }

    /// Adds `len` bytes that were copied from the offset `source`.
    pub fn push_copied(&mut self, source: u32, len: u32) {
        if len == 0 {
            return;
        }
        let last = self.pieces.last().copied().unwrap_or(self.first());
        let joins = last.unit == 0 && last.source + (self.decoded_end - last.decoded) == source;
        if !joins {
            self.pieces.push(Piece {
                decoded: self.decoded_end,
                source,
                unit: 0,
            });
        }
        self.decoded_end += len;
        self.source_end = source + len;
    }

    /// Adds `decoded` bytes that stand for the `unit` source bytes at `source`: an escape, a folded
    /// line break.
    pub fn push_decoded(&mut self, source: u32, unit: u32, decoded: u32) {
        if decoded > 0 {
            self.pieces.push(Piece {
                decoded: self.decoded_end,
                source,
                unit,
            });
            self.decoded_end += decoded;
        }
        self.source_end = source + unit;
    }

    /// The copied run before the first piece.
    fn first(&self) -> Piece {
        Piece {
            decoded: 0,
            source: self.start,
            unit: 0,
        }
    }

    /// The last of the first `count` pieces; the run before the first piece for 0.
    fn piece(&self, count: usize) -> Piece {
        count
            .checked_sub(1)
            .and_then(|at| self.pieces.get(at))
            .copied()
            .unwrap_or(self.first())
    }

    /// The number of decoded bytes.
    pub fn len(&self) -> u32 {
        self.decoded_end
    }

    /// Whether the decoded text is empty.
    pub fn is_empty(&self) -> bool {
        self.decoded_end == 0
    }

    /// The source offset at which a decoded offset begins. Past the end it is the end of the
    /// content.
    pub fn offset(&self, decoded: u32) -> u32 {
        if decoded >= self.decoded_end {
            return self.source_end;
        }
        let piece = self.piece(
            self.pieces
                .partition_point(|piece| piece.decoded <= decoded),
        );
        if piece.unit == 0 {
            piece.source + (decoded - piece.decoded)
        } else {
            piece.source
        }
    }

    /// The source offset at which a decoded offset ends: the end of the piece of the byte before
    /// it.
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
        let to = if end <= start {
            from
        } else {
            self.end_offset(end)
        };
        Span::new(self.file, from, to.max(from))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dollar_alone_opens_nothing() {
        for (text, at) in [
            ("a$b${c}${d}", Some(3)),
            ("$${x}", Some(1)),
            ("${", Some(0)),
            ("$", None),
            ("{$}", None),
            ("ü$", None),
        ] {
            assert_eq!(find_substitution(text), at, "{text}");
        }
    }

    #[test]
    fn an_escape_is_one_unit() {
        // The source "a\tb" at offset 10 consists of `a`, `\t`, `b`.
        let mut map = TextMap::builder(FileId::new(0), 10);
        map.push_copied(10, 1);
        map.push_decoded(11, 2, 1);
        map.push_copied(13, 1);
        assert_eq!(map.span(0, 1).range(), 10..11);
        assert_eq!(map.span(1, 2).range(), 11..13);
        assert_eq!(map.span(2, 3).range(), 13..14);
        assert_eq!(map.span(0, 3).range(), 10..14);
        assert_eq!(map.span(3, 3).range(), 14..14);
    }

    #[test]
    fn copied_bytes_map_to_themselves_until_the_first_escape() {
        let mut map = TextMap::builder(FileId::new(0), 10);
        assert_eq!(
            (map.span(0, 0).range(), map.span(1, 2).range()),
            (10..10, 10..10),
            "empty"
        );
        map.push_copied(10, 3);
        map.push_copied(13, 2);
        assert_eq!(
            (map.span(1, 4).range(), map.span(4, 9).range()),
            (11..14, 14..15)
        );
        map.push_decoded(15, 4, 1);
        map.push_copied(19, 2);
        assert_eq!(
            (
                map.span(4, 6).range(),
                map.span(5, 6).range(),
                map.span(6, 8).range()
            ),
            (14..19, 15..19, 19..21)
        );

        let mut map = TextMap::builder(FileId::new(0), 10);
        map.push_decoded(10, 2, 0);
        map.push_copied(12, 2);
        assert_eq!(
            (map.span(0, 1).range(), map.span(1, 2).range()),
            (12..13, 13..14),
            "an escape of nothing"
        );
    }

    #[test]
    fn substitution_is_found_at_any_distance() {
        for before in 0..40 {
            let text = format!("{}$${{a}}", "x".repeat(before));
            assert_eq!(find_substitution(&text), Some(before + 1), "{text}");
        }
    }

    #[test]
    fn identity_is_an_offset() {
        let map = TextMap::identity(FileId::new(0), 5, 4);
        assert_eq!(map.span(1, 3).range(), 6..8);
        assert_eq!(map.span(4, 4).range(), 9..9);
    }
}
