//! Offsets in a text: lines, and the places of keys, items and block scalars.

use diag::Span;

use crate::decode;

pub(crate) fn line_start(text: &str, at: usize) -> usize {
    let bytes = text.as_bytes();
    (0..at.min(bytes.len()))
        .rfind(|at| ends_line(bytes, *at))
        .map_or(0, |end| end + 1)
}

/// Whether this byte ends a line: a line feed, or a carriage return without one (YAML 1.2, 5.4).
pub(crate) fn ends_line(bytes: &[u8], at: usize) -> bool {
    match bytes.get(at) {
        Some(b'\n') => true,
        Some(b'\r') => bytes.get(at + 1) != Some(&b'\n'),
        _ => false,
    }
}

pub(crate) fn next_line_start(bytes: &[u8], at: usize) -> usize {
    let at = at.min(bytes.len());
    (at..bytes.len())
        .find(|at| ends_line(bytes, *at))
        .map_or(bytes.len(), |end| end + 1)
}

/// Whether the line at `line` begins a document with `---`.
pub(crate) fn line_is_document_start(text: &str, line: usize) -> bool {
    is_marker_line(text, line, b"---")
}

/// Whether the line at `line` ends a document with `...`.
pub(crate) fn line_is_document_end(text: &str, line: usize) -> bool {
    is_marker_line(text, line, b"...")
}

fn is_marker_line(text: &str, line: usize, marker: &[u8]) -> bool {
    let rest = text.as_bytes().get(line..).unwrap_or(b"");
    rest.starts_with(marker) && rest.get(marker.len()).is_none_or(u8::is_ascii_whitespace)
}

/// The offset after the colon of a key in the map that begins at `map`; without a colon, the end of
/// the key.
pub(crate) fn after_colon(text: &str, key_end: u32, map: u32) -> usize {
    let key_end = key_end as usize;
    let bytes = text.as_bytes();
    let column = |at: usize| {
        let before = &bytes[..at.min(bytes.len())];
        before
            .iter()
            .rev()
            .take_while(|byte| !matches!(byte, b'\n' | b'\r'))
            .count()
    };
    let blanks = bytes[key_end.min(bytes.len())..]
        .iter()
        .take_while(|byte| byte.is_ascii_whitespace())
        .count();
    // A colon on a line of its own belongs to the key only if white space follows and it is in the
    // column of the map. Otherwise it begins the next key.
    let same_line = !bytes[key_end.min(bytes.len())..][..blanks]
        .iter()
        .any(|byte| matches!(byte, b'\n' | b'\r'));
    let stands_alone = bytes
        .get(key_end + blanks + 1)
        .is_none_or(u8::is_ascii_whitespace);
    let is_below = || column(key_end + blanks) == column(map as usize);
    let is_colon =
        bytes.get(key_end + blanks) == Some(&b':') && (same_line || stands_alone && is_below());
    if is_colon {
        key_end + blanks + 1
    } else {
        key_end
    }
}

/// The offset after the dash of the next item of a block list; `None` if anything other than white
/// space, comments and parts of the list comes before it.
pub(crate) fn after_dash(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        match bytes.get(at)? {
            b'-' => return Some(at + 1),
            b'#' => at = decode::line_end(bytes, at),
            b'&' | b'!' => {
                let rest = bytes.get(at..)?;
                at += rest
                    .iter()
                    .position(u8::is_ascii_whitespace)
                    .unwrap_or(rest.len());
            }
            byte if byte.is_ascii_whitespace() => at += 1,
            _ => return None,
        }
    }
}

/// The offset of a missing value: after the key's colon, if that is on the same line.
pub(crate) fn missing_value_offset(text: &str, key_end: u32) -> u32 {
    let after = after_colon(text, key_end, key_end);
    let between = text.get(key_end as usize..after).unwrap_or("");
    if between.contains(['\n', '\r']) {
        key_end
    } else {
        after as u32
    }
}

/// The span of a block scalar from its indicator to the end of its last line with content.
///
/// The parser's span begins at the first character of the content. The indicator is searched from
/// `after` on.
pub(crate) fn block_span(text: &str, after: usize, content: Span) -> Span {
    let bytes = text.as_bytes();
    let stop = (content.start as usize).min(bytes.len());
    let mut header = None;
    let mut above = stop;
    // The header is the end of a line above the content. Only blank lines lie between, and comments
    // if there is no content.
    while header.is_none()
        && let Some(last) = bytes[after.min(above)..above]
            .iter()
            .rposition(|byte| !byte.is_ascii_whitespace())
    {
        let last = after + last;
        let start = bytes[after..last]
            .iter()
            .rposition(|byte| matches!(byte, b'\n' | b'\r'))
            .map_or(after, |end| after + end + 1);
        header = (start..=last).find(|place| {
            matches!(bytes[*place], b'|' | b'>') && is_header(&bytes[place + 1..=last])
        });
        above = start;
    }
    let start = header.unwrap_or(stop);
    let end = (content.end as usize).min(bytes.len());
    let trimmed = text.get(stop..end).map_or(end, |content| {
        stop + content.trim_end_matches(['\n', '\r', ' ', '\t']).len()
    });
    let line = decode::line_end(bytes, header.unwrap_or(start));
    // White space at the end of the last line belongs to the content.
    let end = if trimmed > stop {
        decode::line_end(bytes, trimmed).min(end)
    } else {
        line.min(end.max(start))
    };
    Span::new(content.file, start as u32, end.max(start) as u32)
}

/// Whether the text after `|` or `>` is valid: indicators, then nothing or a comment.
fn is_header(rest: &[u8]) -> bool {
    let indicators = rest
        .iter()
        .take_while(|byte| matches!(byte, b'+' | b'-' | b'1'..=b'9'))
        .count();
    let blanks = rest[indicators..]
        .iter()
        .take_while(|byte| matches!(byte, b' ' | b'\t'))
        .count();
    match rest.get(indicators + blanks) {
        None => true,
        Some(b'#') => blanks > 0,
        Some(_) => false,
    }
}
