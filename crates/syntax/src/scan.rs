//! Scans faulty YAML for open quotes, open brackets and cut `${`.
//!
//! The scan runs only where the parser failed, from a line that begins outside quotes and brackets.
//! It uses no grammar. Its findings explain an error or show how to parse the text nevertheless.

use diag::find_substitution;

use crate::decode::{line_break, line_end};

/// A substitution in a plain scalar that YAML does not read as one piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SplitSubstitution {
    /// The offset of the `${`.
    pub(crate) start: usize,
    /// The offset after the `}`; without a `}`, the end of the line or of the item in a flow
    /// collection.
    pub(crate) end: usize,
    /// Whether the `}` was found.
    pub(crate) closed: bool,
    /// The range of the plain scalar with the substitution, up to the end of the line.
    pub(crate) scalar: (usize, usize),
    /// Whether this is the first cut in the scalar. Quotes fix all cuts of the scalar at once.
    pub(crate) first: bool,
}

/// The findings between the start of a line and an offset.
#[derive(Debug, Default)]
pub(crate) struct ScanFindings {
    /// The cut substitutions, in ascending order.
    pub(crate) cuts: Vec<SplitSubstitution>,
    /// The opening quote of the scalar at the offset.
    pub(crate) quote: Option<usize>,
    /// The innermost open bracket at the offset.
    pub(crate) bracket: Option<usize>,
    /// The first closing bracket that does not match its opening bracket.
    pub(crate) mismatch: Option<usize>,
}

/// The maximum number of lines of a substitution.
const LINES: usize = 50;

/// The maximum number of cuts in one scan: further ones are not reported.
const CUTS: usize = 200;

/// Scans `text` from `from`, the start of a line of block content, until it is past `until` and no
/// bracket is open.
pub(crate) fn scan_text(text: &str, from: usize, until: usize) -> ScanFindings {
    let bytes = text.as_bytes();
    let mut found = ScanFindings::default();
    let mut brackets: Vec<usize> = Vec::new();
    let mut at = from;
    let mut passed = false;
    let mut line = Line {
        start: from,
        end: line_end(bytes, from),
    };
    while at < bytes.len() {
        if found.cuts.len() >= CUTS {
            break;
        }
        if at >= until && !passed {
            passed = true;
            found.bracket = brackets.last().copied();
        }
        if passed && (brackets.is_empty() || at > until && starts_block(bytes, at)) {
            return found;
        }
        let byte = bytes[at];
        at = match byte {
            b' ' | b'\t' | b'\n' | b'\r' => at + 1,
            b'#' => line_end(bytes, at),
            b'"' | b'\'' => {
                let end = quoted(bytes, at);
                if at < until && end.is_none_or(|end| end > until) {
                    found.quote = Some(at);
                }
                match end {
                    Some(end) => end,
                    None => break,
                }
            }
            b'[' | b'{' => {
                brackets.push(at);
                at + 1
            }
            b']' | b'}' => {
                let fits = |open: usize| (bytes[open] == b'[') == (byte == b']');
                if brackets.pop().is_some_and(|open| !fits(open)) && found.mismatch.is_none() {
                    found.mismatch = Some(at);
                }
                at + 1
            }
            b',' if !brackets.is_empty() => at + 1,
            b'&' | b'*' | b'!' => bytes[at..]
                .iter()
                .position(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b',' | b']' | b'}'))
                .map_or(bytes.len(), |length| at + length.max(1)),
            b'|' | b'>' if brackets.is_empty() => block_scalar(bytes, at),
            b'-' | b'?' | b':' if ends_token(bytes, at + 1, !brackets.is_empty()) => at + 1,
            _ => plain(bytes, at, !brackets.is_empty(), &mut line, &mut found.cuts),
        };
    }
    if !passed {
        found.bracket = brackets.last().copied();
    }
    found
}

/// The bytes that matter in a substitution: its end, a nested start, quotes. All others are
/// skipped.
const IN_SUBSTITUTION: [bool; 256] = table(b"}{\"'");

/// A lookup table for the bytes in `some`.
pub(crate) const fn table(some: &[u8]) -> [bool; 256] {
    let mut table = [false; 256];
    let mut at = 0;
    while at < some.len() {
        table[some[at] as usize] = true;
        at += 1;
    }
    table
}

/// The offset after the `}` of the substitution whose `${` is at `start`.
pub(crate) fn substitution_end(bytes: &[u8], start: usize, end: usize) -> Option<usize> {
    let bytes = &bytes[..end.min(bytes.len())];
    let mut at = start + 2;
    while let Some(byte) = bytes.get(at) {
        if !IN_SUBSTITUTION[*byte as usize] {
            at += 1;
            continue;
        }
        match byte {
            b'}' => return Some(at + 1),
            b'{' => return None,
            quote => {
                at += 1;
                while bytes.get(at).is_some_and(|byte| byte != quote) {
                    at += if bytes[at] == b'\\'
                        && matches!(bytes.get(at + 1), Some(b'\\' | b'"' | b'\''))
                    {
                        2
                    } else {
                        1
                    };
                }
                at += 1;
            }
        }
    }
    None
}

/// The first `${` in `text[start..end]` that has no `}` there.
pub(crate) fn unclosed(text: &str, start: usize, end: usize) -> Option<usize> {
    let mut at = start;
    loop {
        at += find_substitution(text.get(at..end)?)?;
        match substitution_end(text.as_bytes(), at, end) {
            Some(next) => at = next,
            None => return Some(at),
        }
    }
}

/// Whether the line at `at` looks like an entry of a block map: a key, a colon, and a space or line
/// break.
pub(crate) fn is_key_line(bytes: &[u8], at: usize) -> bool {
    let at = at + spaces(bytes, at);
    let end = line_end(bytes, at);
    match bytes.get(at) {
        None
        | Some(
            b'#' | b'\t' | b'[' | b'{' | b']' | b'}' | b',' | b'|' | b'>' | b'%' | b'@' | b'`'
            | b'\n' | b'\r',
        ) => false,
        Some(b'"' | b'\'') => quoted(&bytes[..end], at).is_some_and(|after| {
            let colon = after + spaces(bytes, after);
            bytes.get(colon) == Some(&b':') && ends_token(bytes, colon + 1, false)
        }),
        Some(b'-' | b':') if ends_token(bytes, at + 1, false) => false,
        Some(b'?') if ends_token(bytes, at + 1, false) => true,
        Some(_) => (at..end)
            .take_while(|place| !(bytes[*place] == b'#' && bytes[*place - 1] == b' '))
            .any(|place| bytes[place] == b':' && ends_token(bytes, place + 1, false)),
    }
}

/// Whether the line at `at` is an item of a block list.
pub(crate) fn is_item_line(bytes: &[u8], at: usize) -> bool {
    let at = at + spaces(bytes, at);
    bytes.get(at) == Some(&b'-') && ends_token(bytes, at + 1, false)
}

/// Whether a top-level key begins at this offset, which shows that open brackets are not closed.
fn starts_block(bytes: &[u8], at: usize) -> bool {
    at > 0
        && matches!(bytes[at - 1], b'\n' | b'\r')
        && bytes[at].is_ascii_alphabetic()
        && is_key_line(bytes, at)
}

fn ends_token(bytes: &[u8], at: usize, flow: bool) -> bool {
    match bytes.get(at) {
        None | Some(b' ' | b'\t' | b'\n' | b'\r') => true,
        Some(b',' | b'[' | b']' | b'{' | b'}') => flow,
        Some(_) => false,
    }
}

/// The end of the quoted scalar at `at`; `None` if it is not closed.
fn quoted(bytes: &[u8], at: usize) -> Option<usize> {
    let quote = bytes[at];
    let mut at = at + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if quote == b'"' => at += 2,
            byte if byte == quote && quote == b'\'' && bytes.get(at + 1) == Some(&b'\'') => at += 2,
            byte if byte == quote => return Some(at + 1),
            _ => at += 1,
        }
    }
    None
}

/// Skips the lines of a block scalar whose indicator is at `at`.
fn block_scalar(bytes: &[u8], at: usize) -> usize {
    let start = bytes[..at]
        .iter()
        .rposition(|byte| matches!(byte, b'\n' | b'\r'))
        .map_or(0, |end| end + 1);
    let mut least = spaces(bytes, start) + 1;
    // With an indentation indicator the first line may be indented more than the others.
    let mut seen = matches!(bytes.get(at + 1), Some(b'1'..=b'9'))
        || matches!(bytes.get(at + 2), Some(b'1'..=b'9'));
    let mut at = line_end(bytes, at);
    while at < bytes.len() {
        let next = at + line_break(bytes, at);
        let end = line_end(bytes, next);
        let indent = spaces(bytes, next);
        if next + indent < end {
            if indent < least {
                return at;
            }
            if !seen {
                least = indent;
                seen = true;
            }
        }
        if next == at {
            return at;
        }
        at = end;
    }
    at
}

/// Skips a plain scalar and records each substitution that YAML would cut.
fn plain(
    bytes: &[u8],
    start: usize,
    flow: bool,
    line: &mut Line,
    cuts: &mut Vec<SplitSubstitution>,
) -> usize {
    let before = cuts.len();
    let end = plain_end(bytes, start, flow, line, cuts);
    let blanks = bytes[start..end]
        .iter()
        .rev()
        .take_while(|byte| byte.is_ascii_whitespace())
        .count();
    for (number, cut) in cuts.iter_mut().skip(before).enumerate() {
        cut.scalar = (start, end - blanks);
        cut.first = number == 0;
    }
    end
}

fn plain_end(
    bytes: &[u8],
    start: usize,
    flow: bool,
    line: &mut Line,
    cuts: &mut Vec<SplitSubstitution>,
) -> usize {
    let mut at = start;
    while at < bytes.len() {
        match bytes[at] {
            b'\n' | b'\r' => return at,
            b'#' if at > start && matches!(bytes[at - 1], b' ' | b'\t') => return at,
            b':' if ends_token(bytes, at + 1, flow) => return at,
            b'$' if bytes.get(at + 1) == Some(&b'{') => {
                line.move_to_line_of(bytes, at);
                let end = substitution_end(bytes, at, line.end);
                let end = if end.is_none() && !flow {
                    substitution_end(bytes, at, line.end_of_deeper_lines(bytes))
                } else {
                    end
                };
                if let Some(end) = end {
                    if flow || first_cut(bytes, at + 2, end).is_some() {
                        cuts.push(SplitSubstitution {
                            start: at,
                            end,
                            closed: true,
                            scalar: (at, end),
                            first: true,
                        });
                    }
                    at = end;
                    continue;
                }
                let broken = if flow {
                    let end = bytes[at + 2..line.end]
                        .iter()
                        .position(|byte| matches!(byte, b',' | b']' | b'}'));
                    Some(end.map_or(line.end, |length| at + 2 + length))
                } else {
                    first_cut(bytes, at + 2, line.end).map(|_| line.end)
                };
                if let Some(end) = broken {
                    cuts.push(SplitSubstitution {
                        start: at,
                        end,
                        closed: false,
                        scalar: (at, end),
                        first: true,
                    });
                }
                at = broken.unwrap_or(line.end);
            }
            b',' | b'[' | b']' | b'{' | b'}' if flow => return at.max(start + 1),
            _ => at += 1,
        }
    }
    at
}

/// Caches the bounds of the current line.
#[derive(Default)]
struct Line {
    start: usize,
    end: usize,
}

impl Line {
    /// Moves to the line of `at`.
    fn move_to_line_of(&mut self, bytes: &[u8], at: usize) {
        if at >= self.end {
            self.start = bytes[self.end..at]
                .iter()
                .rposition(|byte| matches!(byte, b'\n' | b'\r'))
                .map_or(self.start, |end| self.end + end + 1);
            self.end = line_end(bytes, at);
        }
    }

    /// The end of the following lines that have more indentation and are not entries.
    fn end_of_deeper_lines(&self, bytes: &[u8]) -> usize {
        let indent = spaces(bytes, self.start);
        let mut end = self.end;
        for _ in 0..LINES {
            let next = end + line_break(bytes, end);
            if next == end
                || spaces(bytes, next) <= indent
                || is_key_line(bytes, next)
                || is_item_line(bytes, next)
            {
                break;
            }
            end = line_end(bytes, next);
        }
        end
    }
}

/// The offset between two offsets at which YAML ends a plain scalar of block content.
fn first_cut(bytes: &[u8], start: usize, end: usize) -> Option<usize> {
    (start..end.min(bytes.len())).find(|at| match bytes[*at] {
        b':' => ends_token(bytes, at + 1, false),
        b'#' => matches!(bytes[at - 1], b' ' | b'\t' | b'\n' | b'\r'),
        _ => false,
    })
}

fn spaces(bytes: &[u8], at: usize) -> usize {
    bytes[at.min(bytes.len())..]
        .iter()
        .take_while(|byte| **byte == b' ')
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cuts(text: &str) -> Vec<(&str, bool)> {
        scan_text(text, 0, text.len())
            .cuts
            .iter()
            .map(|cut| (&text[cut.start..cut.end], cut.closed))
            .collect()
    }

    #[test]
    fn cut_substitutions_are_found() {
        assert_eq!(cuts("a: x ${f(\"b: c\")} y"), [("${f(\"b: c\")}", true)]);
        assert_eq!(cuts("a: ${trim(\"b #\")}"), [("${trim(\"b #\")}", true)]);
        assert_eq!(
            cuts("a: [${v}, 'x ${v: }', {b: ${w[\"x\"]}}]"),
            [("${v}", true), ("${w[\"x\"]}", true)]
        );
        assert_eq!(cuts("a: ${v # no\nb: 1"), [("${v # no", false)]);
        assert_eq!(cuts("a: [x ${v, 2]"), [("${v", false)]);
        assert_eq!(
            cuts("a: ${list(1,\n  \"b: c\")}\n"),
            [("${list(1,\n  \"b: c\")}", true)]
        );
    }

    #[test]
    fn unsplit_substitutions_are_not_reported() {
        let clean = [
            "a: ${v}",
            "a: '${f(\"b: c\")}'",
            "a: |\n  ${f(\"b: c\")}\nb: x",
            "# ${a: }",
            "a: ${v",
            "a: ${f(x,\n  y)}",
        ];
        for text in clean {
            assert_eq!(cuts(text), [], "{text}");
        }
    }

    #[test]
    fn an_open_quote_or_bracket_is_named() {
        let text = "a: \"foo\nb: 1\n";
        assert_eq!(scan_text(text, 0, 8).quote, Some(3));
        let text = "a: [1, {b: 2]\nc: 1\n";
        assert_eq!(scan_text(text, 0, 8).bracket, Some(7));
    }

    #[test]
    fn key_lines_are_recognised() {
        for line in ["a: b", "  a:", "\"x y\" : 1", "? a", "a#b: 1"] {
            assert!(is_key_line(line.as_bytes(), 0), "{line}");
        }
        for line in ["a", "- a: b", "# a: b", "", "a # b: c", "a:b", "}"] {
            assert!(!is_key_line(line.as_bytes(), 0), "{line}");
        }
    }
}
