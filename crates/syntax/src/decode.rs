//! Maps a scalar's decoded text to its source, piece by piece.
//!
//! The parser decodes scalars but does not report the origin of each character. The source is
//! therefore walked again, by style, on request. Most scalars are never requested. The same walk
//! decodes text that the YAML parser misread.
//!
//! ```text
//! source     "a\tb \
//!             c"            | 2 spaces of indentation, kept breaks
//! pieces     a  \t  b·  c   copied, made, copied, copied
//! ```

use std::ops::Range;

use diag::{Span, TextMap};

use crate::{Content, Node, Scalar, Style};

/// Receives the pieces of a decoded text in order.
trait PieceSink {
    /// Source bytes that the text contains unchanged.
    fn add_verbatim(&mut self, source: usize, len: usize);
    /// A text made from `unit` bytes at `source`: an escape, a folded line break.
    fn add_replacement(&mut self, source: usize, unit: usize, text: &str);
}

impl PieceSink for TextMap {
    fn add_verbatim(&mut self, source: usize, len: usize) {
        TextMap::push_copied(self, source as u32, len as u32);
    }

    fn add_replacement(&mut self, source: usize, unit: usize, text: &str) {
        TextMap::push_decoded(self, source as u32, unit as u32, text.len() as u32);
    }
}

struct Decoded<'s> {
    source: &'s str,
    text: String,
}

impl PieceSink for Decoded<'_> {
    fn add_verbatim(&mut self, source: usize, len: usize) {
        self.text
            .push_str(self.source.get(source..source + len).unwrap_or(""));
    }

    fn add_replacement(&mut self, _: usize, _: usize, text: &str) {
        self.text.push_str(text);
    }
}

impl Node {
    /// Maps each byte of the scalar's decoded text to the source; `source` is the parsed text.
    ///
    /// The map of any other node is empty.
    pub fn text_map(&self, source: &str) -> TextMap {
        match &self.content {
            Content::Scalar(scalar) => text_map(self.span, scalar, source),
            _ => TextMap::identity(self.span.file, self.span.start, 0),
        }
    }
}

/// Maps each byte of a scalar to the source. `span` is the span of the scalar's node.
fn text_map(span: Span, scalar: &Scalar, source: &str) -> TextMap {
    let range = content(span, scalar.style, source);
    let block = matches!(scalar.style, Style::Literal | Style::Folded);
    if !block && source.get(range.clone()) == Some(&*scalar.text) {
        return TextMap::identity(span.file, range.start as u32, range.len() as u32);
    }
    let mut map = TextMap::builder(span.file, range.start as u32);
    walk(span, scalar.style, &scalar.text, source, &mut map);
    if map.len() as usize == scalar.text.len() {
        return map;
    }
    // The parser read the scalar differently, for instance across a comment: map the whole text to
    // the whole source.
    let mut map = TextMap::builder(span.file, range.start as u32);
    map.push_decoded(
        range.start as u32,
        range.len() as u32,
        scalar.text.len() as u32,
    );
    map
}

/// Decodes a scalar from the source. `seen` is the text that the parser returned for it with some
/// letters masked.
pub(crate) fn text(span: Span, style: Style, seen: &str, source: &str) -> Box<str> {
    let mut decoded = Decoded {
        source,
        text: String::with_capacity(seen.len()),
    };
    walk(span, style, seen, source, &mut decoded);
    decoded.text.into_boxed_str()
}

/// The range between the quotes; the whole range without quotes.
fn content(span: Span, style: Style, source: &str) -> Range<usize> {
    let (start, end) = (span.start as usize, (span.end as usize).min(source.len()));
    match style {
        // A broken scalar may have no closing quote.
        Style::SingleQuoted | Style::DoubleQuoted | Style::JsonString => {
            let inside = (start + 1).min(end)..end;
            let bytes = source.as_bytes();
            if !inside.is_empty() && bytes.get(end - 1) == bytes.get(start) {
                inside.start..end - 1
            } else {
                inside
            }
        }
        _ => start.min(end)..end,
    }
}

fn walk(span: Span, style: Style, text: &str, source: &str, pieces: &mut dyn PieceSink) {
    let range = content(span, style, source);
    match style {
        Style::Plain => folded(source, range, Quote::None, pieces),
        Style::SingleQuoted => folded(source, range, Quote::Single, pieces),
        Style::DoubleQuoted => folded(source, range, Quote::Double, pieces),
        Style::JsonString => escaped(source, range, pieces),
        Style::Literal | Style::Folded => block(source, span.start as usize, text, pieces),
        Style::JsonNumber | Style::JsonTrue | Style::JsonFalse | Style::JsonNull => {
            pieces.add_verbatim(range.start, range.len());
        }
    }
}

/// Decodes the text between the quotes of a JSON string. Invalid escapes are left out.
pub(crate) fn json_string(source: &str, range: Range<usize>) -> String {
    let mut decoded = Decoded {
        source,
        text: String::with_capacity(range.len()),
    };
    escaped(source, range, &mut decoded);
    decoded.text
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Quote {
    None,
    Single,
    Double,
}

/// The length of the line break at `at`; 0 if there is none.
pub(crate) fn line_break(bytes: &[u8], at: usize) -> usize {
    match bytes.get(at) {
        Some(b'\n') => 1,
        Some(b'\r') if bytes.get(at + 1) == Some(&b'\n') => 2,
        Some(b'\r') => 1,
        _ => 0,
    }
}

fn blanks(bytes: &[u8], mut at: usize, end: usize) -> usize {
    while at < end && matches!(bytes[at], b' ' | b'\t') {
        at += 1;
    }
    at
}

/// Decodes plain and quoted scalars: a single line break becomes a space, and one of several is
/// dropped. Blanks around line breaks are dropped.
fn folded(source: &str, range: Range<usize>, quote: Quote, pieces: &mut dyn PieceSink) {
    let bytes = source.as_bytes();
    let end = range.end.min(bytes.len());
    let (mut at, mut run) = (range.start, range.start);
    while at < end {
        match bytes[at] {
            b' ' | b'\t' | b'\n' | b'\r' => {
                let first = blanks(bytes, at, end);
                if first >= end || line_break(bytes, first) == 0 {
                    at = first;
                    continue;
                }
                pieces.add_verbatim(run, at - run);
                let mut next = blanks(bytes, first + line_break(bytes, first), end);
                if next < end && line_break(bytes, next) > 0 {
                    next = empty_lines(bytes, next, end, pieces);
                } else {
                    pieces.add_replacement(at, next - at, " ");
                }
                (at, run) = (next, next);
            }
            b'\'' if quote == Quote::Single => {
                pieces.add_verbatim(run, at - run);
                pieces.add_replacement(at, 2, "'");
                at += 2;
                run = at;
            }
            b'\\' if quote == Quote::Double => {
                pieces.add_verbatim(run, at - run);
                let length = line_break(bytes, at + 1);
                if length > 0 {
                    let next = blanks(bytes, at + 1 + length, end);
                    at = empty_lines(bytes, next, end, pieces);
                } else {
                    at += escape(source, at, end, pieces);
                }
                run = at;
            }
            _ => at += 1,
        }
    }
    let end = at.min(end);
    pieces.add_verbatim(run.min(end), end - run.min(end));
}

/// Keeps the breaks of empty lines. Ends at the first character of the next line with content.
fn empty_lines(bytes: &[u8], mut at: usize, end: usize, pieces: &mut dyn PieceSink) -> usize {
    while at < end && line_break(bytes, at) > 0 {
        let length = line_break(bytes, at);
        pieces.add_replacement(at, length, "\n");
        at = blanks(bytes, at + length, end);
    }
    at
}

/// Decodes the escapes of JSON strings.
fn escaped(source: &str, range: Range<usize>, pieces: &mut dyn PieceSink) {
    let bytes = source.as_bytes();
    let end = range.end.min(bytes.len());
    let (mut at, mut run) = (range.start, range.start);
    while at < end {
        if bytes[at] == b'\\' {
            pieces.add_verbatim(run, at - run);
            at += escape(source, at, end, pieces);
            run = at;
        } else {
            at += 1;
        }
    }
    let end = at.min(end);
    pieces.add_verbatim(run.min(end), end - run.min(end));
}

/// Decodes the escape whose backslash is at `at`. Returns its length in bytes.
fn escape(source: &str, at: usize, end: usize, pieces: &mut dyn PieceSink) -> usize {
    let bytes = source.as_bytes();
    let Some(letter) = source.get(at + 1..end).and_then(|rest| rest.chars().next()) else {
        return (end - at).max(1);
    };
    let text = match letter {
        '0' => "\0",
        'a' => "\u{7}",
        'b' => "\u{8}",
        't' | '\t' => "\t",
        'n' => "\n",
        'v' => "\u{b}",
        'f' => "\u{c}",
        'r' => "\r",
        'e' => "\u{1b}",
        ' ' => " ",
        '"' => "\"",
        '/' => "/",
        '\\' => "\\",
        'N' => "\u{85}",
        '_' => "\u{a0}",
        'L' => "\u{2028}",
        'P' => "\u{2029}",
        'x' | 'u' | 'U' => {
            let digits = match letter {
                'x' => 2,
                'u' => 4,
                _ => 8,
            };
            let length = 2 + digits;
            let Some(code) = hex(bytes, at + 2, digits, end) else {
                return 2;
            };
            let (code, length) = match code {
                0xd800..=0xdbff if digits == 4 && bytes.get(at + 6..at + 8) == Some(b"\\u") => {
                    match hex(bytes, at + 8, 4, end) {
                        Some(low @ 0xdc00..=0xdfff) => {
                            (0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00), 12)
                        }
                        _ => (code, length),
                    }
                }
                _ => (code, length),
            };
            if let Some(character) = char::from_u32(code) {
                pieces.add_replacement(at, length, character.encode_utf8(&mut [0; 4]));
            }
            return length;
        }
        other => return 1 + other.len_utf8(),
    };
    pieces.add_replacement(at, 1 + letter.len_utf8(), text);
    1 + letter.len_utf8()
}

fn hex(bytes: &[u8], at: usize, digits: usize, end: usize) -> Option<u32> {
    let digits = bytes
        .get(at..(at + digits).min(end))
        .filter(|found| found.len() == digits)?;
    digits.iter().try_fold(0u32, |code, digit| {
        Some(code << 4 | (*digit as char).to_digit(16)?)
    })
}

/// Decodes block scalars; `header` is the offset of the `|` or `>`.
///
/// The indentation indicator may be relative to a parent that is not available here. The
/// indentation is therefore derived from the decoded text, which also shows whether a line break
/// was folded.
fn block(source: &str, header: usize, text: &str, pieces: &mut dyn PieceSink) {
    let bytes = source.as_bytes();
    let decoded = text.as_bytes();
    let start = line_end(bytes, header);
    let start = start + line_break(bytes, start);
    let indent = block_indent(bytes, start, decoded);
    let (mut at, mut done) = (start, 0);
    while done < decoded.len() && at < bytes.len() {
        let end = line_end(bytes, at);
        let content = (at + indent.min(spaces(bytes, at))).min(end);
        let length = (end - content).min(decoded.len() - done);
        pieces.add_verbatim(content, length);
        done += length;
        at = end;
        // All line breaks up to the next line with content.
        let (first, mut breaks) = (end, 0);
        while line_break(bytes, at) > 0 {
            breaks += 1;
            at += line_break(bytes, at);
            let end = line_end(bytes, at);
            if end - at > indent.min(spaces(bytes, at)) {
                break;
            }
            at = end;
        }
        if breaks == 0 {
            break;
        }
        if decoded.get(done) == Some(&b' ') && breaks == 1 {
            pieces.add_replacement(first, line_break(bytes, first), " ");
            done += 1;
            continue;
        }
        let wanted = decoded[done..]
            .iter()
            .take_while(|byte| **byte == b'\n')
            .count()
            .min(breaks);
        // In folded text the first break between two lines is dropped. At the end the last breaks
        // are dropped.
        let last = done + wanted == decoded.len();
        let mut skip = if last { 0 } else { breaks - wanted };
        let (mut place, mut left) = (first, wanted);
        while left > 0 {
            let length = line_break(bytes, place);
            if length == 0 {
                place = line_end(bytes, place);
                if line_break(bytes, place) == 0 {
                    break;
                }
                continue;
            }
            if skip > 0 {
                skip -= 1;
            } else {
                pieces.add_replacement(place, length, "\n");
                left -= 1;
            }
            place += length;
        }
        done += wanted - left;
    }
    if let Some(rest) = text.get(done..).filter(|rest| !rest.is_empty()) {
        // The decoded text may end in a line break that the source does not have.
        pieces.add_replacement(bytes.len(), 0, rest);
    }
}

/// The indentation of a block scalar's content in columns: the indentation that its first non-empty
/// line has beyond the decoded text.
pub(crate) fn block_indent(bytes: &[u8], mut at: usize, decoded: &[u8]) -> usize {
    let mut done = 0;
    // Lines after the decoded text do not belong to it.
    while at < bytes.len() && done < decoded.len() {
        let end = line_end(bytes, at);
        let found = spaces(bytes, at);
        let kept = decoded[done..]
            .iter()
            .take_while(|byte| **byte == b' ')
            .count();
        if at + found < end || kept > 0 {
            return found.saturating_sub(kept);
        }
        done += 1;
        at = end + line_break(bytes, end).max(1);
    }
    usize::MAX
}

fn spaces(bytes: &[u8], at: usize) -> usize {
    bytes[at.min(bytes.len())..]
        .iter()
        .take_while(|byte| **byte == b' ')
        .count()
}

/// The offset of the line break that ends the line of `at`, or the end of the text.
pub(crate) fn line_end(bytes: &[u8], at: usize) -> usize {
    let at = at.min(bytes.len());
    bytes[at..]
        .iter()
        .position(|byte| matches!(byte, b'\n' | b'\r'))
        .map_or(bytes.len(), |length| at + length)
}
