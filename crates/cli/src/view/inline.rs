//! The difference between two lines: the parts that differ with their surroundings. The rest of long
//! lines is left out.

use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::drawing::Drawing;
use super::values::quoted;

/// The maximum number of words that are compared one by one. In longer lines, everything between
/// the common beginning and the common end counts as one difference.
const WORDS_LIMIT: usize = 50_000;
/// An equal part between two differences that has fewer bytes belongs to the difference.
const SHORTEST_EQUAL: usize = 4;
/// The mark for what is left out. It stands outside of quotes.
const GAP: &str = "...";

/// A part of two lines.
#[derive(Clone, Debug)]
struct LinePart {
    old: Range<usize>,
    new: Range<usize>,
    is_equal: bool,
}

/// Draws both lines in quotes, as far as they fit into about `room` characters; `None` leaves
/// nothing out.
pub(crate) fn pair(
    old: &str,
    new: &str,
    room: Option<usize>,
    drawing: Drawing,
) -> (String, String) {
    let parts = parts(old, new);
    let mut lines = (DrawnLine::default(), DrawnLine::default());
    let mut hidden = 0;
    for (at, part) in parts.iter().enumerate() {
        let (was, is) = (&old[part.old.clone()], &new[part.new.clone()]);
        let is_full = room.is_some_and(|room| lines.0.length.max(lines.1.length) > 2 * room);
        if is_full {
            hidden += usize::from(!part.is_equal);
            lines.0.gap(drawing);
            lines.1.gap(drawing);
        } else if part.is_equal {
            let (is_first, is_last) = (at == 0, at + 1 == parts.len());
            let context = room.map(|room| (room / 3).clamp(10, 60));
            let [head, tail] = match context {
                Some(context) => [
                    if is_first { 0 } else { context },
                    if is_last { 0 } else { context },
                ],
                None => [usize::MAX, 0],
            };
            lines.0.add(was, head, tail, drawing, None);
            lines.1.add(was, head, tail, drawing, None);
        } else {
            let [head, tail] = match room.map(|room| (room / 2).max(20)) {
                Some(most) => [most - most / 3, most / 3],
                None => [usize::MAX, 0],
            };
            lines.0.add(was, head, tail, drawing, Some(LineSide::Old));
            lines.1.add(is, head, tail, drawing, Some(LineSide::New));
        }
    }
    let (old, mut new) = (lines.0.end(), lines.1.end());
    if hidden > 0 {
        let more = format!(" ({hidden} more differences; `-v` shows all)");
        new.push_str(&drawing.paint.dim(more));
    }
    (old, new)
}

/// The side of a part that differs.
#[derive(Clone, Copy)]
enum LineSide {
    Old,
    New,
}

/// A line that is being drawn.
#[derive(Default)]
struct DrawnLine {
    text: String,
    /// The number of characters so far, without styles.
    length: usize,
    /// Whether a quote is open.
    is_open: bool,
    /// Whether the last piece is a gap.
    ends_with_gap: bool,
}

impl DrawnLine {
    /// Adds a part: all of it, or `head` characters from its beginning and `tail` from its end.
    fn add(
        &mut self,
        part: &str,
        head: usize,
        tail: usize,
        drawing: Drawing,
        side: Option<LineSide>,
    ) {
        let count = part.chars().count();
        // A gap is not shorter than what it stands for.
        if count <= head.saturating_add(tail).saturating_add(GAP.len() + 2) {
            return self.piece(part, drawing, side);
        }
        let place = |at: usize| part.char_indices().nth(at).map_or(part.len(), |it| it.0);
        self.piece(&part[..place(head)], drawing, side);
        self.gap(drawing);
        self.piece(&part[place(count - tail)..], drawing, side);
    }

    fn piece(&mut self, piece: &str, drawing: Drawing, side: Option<LineSide>) {
        if piece.is_empty() {
            return;
        }
        if !self.is_open {
            self.text.push('"');
            self.is_open = true;
        }
        let escaped = quoted(piece);
        let inner = escaped
            .strip_prefix('"')
            .and_then(|it| it.strip_suffix('"'));
        let inner = inner.unwrap_or_default();
        self.length += piece.chars().count();
        self.ends_with_gap = false;
        match side {
            Some(LineSide::Old) => self.text.push_str(&drawing.paint.red(inner)),
            Some(LineSide::New) => self.text.push_str(&drawing.paint.green(inner)),
            None => self.text.push_str(inner),
        }
    }

    fn gap(&mut self, drawing: Drawing) {
        self.close();
        if !self.ends_with_gap {
            self.text.push_str(&drawing.paint.dim(GAP));
            self.length += GAP.len();
            self.ends_with_gap = true;
        }
    }

    fn close(&mut self) {
        if std::mem::take(&mut self.is_open) {
            self.text.push('"');
        }
    }

    fn end(mut self) -> String {
        self.close();
        if self.text.is_empty() {
            self.text.push_str("\"\"");
        }
        self.text
    }
}

/// The equal and the different parts, in order. A part that differs has no common beginning or end.
fn parts(old: &str, new: &str) -> Vec<LinePart> {
    let head = common_head(old, new);
    let tail = common_tail(&old[head..], &new[head..]);
    let (old_end, new_end) = (old.len() - tail, new.len() - tail);
    let mut parts = Vec::new();
    add(&mut parts, 0..head, 0..head, true);
    let words = (words(&old[head..old_end]), words(&new[head..new_end]));
    if words.0.len() + words.1.len() > WORDS_LIMIT {
        add(&mut parts, head..old_end, head..new_end, false);
    } else {
        let (mut was, mut is) = (head, head);
        for operation in capture_diff_slices(Algorithm::Myers, &words.0, &words.1) {
            let length = |words: &[&str], range: Range<usize>| -> usize {
                words
                    .get(range)
                    .into_iter()
                    .flatten()
                    .map(|word| word.len())
                    .sum()
            };
            let end = (
                was + length(&words.0, operation.old_range()),
                is + length(&words.1, operation.new_range()),
            );
            let is_equal = matches!(operation, DiffOp::Equal { .. });
            add(&mut parts, was..end.0, is..end.1, is_equal);
            (was, is) = end;
        }
    }
    add(&mut parts, old_end..old.len(), new_end..new.len(), true);
    let merged = without_short_equal_parts(parts);
    let mut trimmed = Vec::with_capacity(merged.len());
    for part in merged {
        if part.is_equal {
            add(&mut trimmed, part.old, part.new, true);
            continue;
        }
        let (was, is) = (&old[part.old.clone()], &new[part.new.clone()]);
        let head = common_head(was, is);
        let tail = common_tail(&was[head..], &is[head..]);
        let (old_from, new_from) = (part.old.start + head, part.new.start + head);
        let (old_to, new_to) = (part.old.end - tail, part.new.end - tail);
        add(
            &mut trimmed,
            part.old.start..old_from,
            part.new.start..new_from,
            true,
        );
        add(&mut trimmed, old_from..old_to, new_from..new_to, false);
        add(
            &mut trimmed,
            old_to..part.old.end,
            new_to..part.new.end,
            true,
        );
    }
    trimmed
}

/// Adds a part unless it is empty; joins it with the last one of its kind.
fn add(parts: &mut Vec<LinePart>, old: Range<usize>, new: Range<usize>, is_equal: bool) {
    if old.is_empty() && new.is_empty() {
        return;
    }
    match parts.last_mut() {
        Some(last) if last.is_equal == is_equal => {
            last.old.end = old.end;
            last.new.end = new.end;
        }
        _ => parts.push(LinePart { old, new, is_equal }),
    }
}

/// Joins differences that have only some letters between them.
fn without_short_equal_parts(parts: Vec<LinePart>) -> Vec<LinePart> {
    let mut merged: Vec<LinePart> = Vec::with_capacity(parts.len());
    let count = parts.len();
    for (at, part) in parts.into_iter().enumerate() {
        let is_inside = at > 0 && at + 1 < count;
        let is_short = is_inside && part.old.len() < SHORTEST_EQUAL;
        add(&mut merged, part.old, part.new, part.is_equal && !is_short);
    }
    merged
}

/// The number of bytes that two lines have in common at their beginning and end.
pub(crate) fn common_length(a: &str, b: &str) -> usize {
    let head = common_head(a, b);
    head + common_tail(&a[head..], &b[head..])
}

/// The length in bytes of the common beginning.
fn common_head(a: &str, b: &str) -> usize {
    let equal = a.chars().zip(b.chars()).take_while(|(a, b)| a == b);
    equal.map(|(letter, _)| letter.len_utf8()).sum()
}

/// The length in bytes of the common end.
fn common_tail(a: &str, b: &str) -> usize {
    let equal = a
        .chars()
        .rev()
        .zip(b.chars().rev())
        .take_while(|(a, b)| a == b);
    equal.map(|(letter, _)| letter.len_utf8()).sum()
}

/// Words, runs of white space, and single other characters.
fn words(text: &str) -> Vec<&str> {
    #[derive(PartialEq, Clone, Copy)]
    enum Kind {
        Word,
        Space,
        Other,
    }
    let kind = |letter: char| match letter {
        _ if letter.is_alphanumeric() => Kind::Word,
        _ if letter.is_whitespace() => Kind::Space,
        _ => Kind::Other,
    };
    let mut words = Vec::new();
    let mut from = 0;
    let mut last = None;
    for (at, letter) in text.char_indices() {
        let now = kind(letter);
        if last.is_some_and(|last| last != now || now == Kind::Other) {
            words.push(&text[from..at]);
            from = at;
        }
        last = Some(now);
    }
    if from < text.len() {
        words.push(&text[from..]);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::super::drawing::plain;
    use super::*;

    fn shown(old: &str, new: &str, room: Option<usize>) -> [String; 2] {
        let (old, new) = pair(old, new, room, plain(room.is_none(), 80));
        [old, new]
    }

    #[test]
    fn a_change_at_the_end_of_a_long_line_is_shown() {
        let long = "word ".repeat(60);
        let [old, new] = shown(&format!("{long}old"), &format!("{long}new"), Some(80));
        assert_eq!(old, r#"..." word word word word word old""#);
        assert_eq!(new, r#"..." word word word word word new""#);
        let [old, new] = shown(&format!("old {long}"), &format!("new {long}"), Some(80));
        assert_eq!(old, r#""old word word word word word "..."#);
        assert_eq!(new, r#""new word word word word word "..."#);
    }

    #[test]
    fn several_changes_have_gaps_between_them() {
        let long = "word ".repeat(30);
        let line = |a: &str, b: &str| format!("{long}{a} {long}{b} {long}");
        let [old, new] = shown(&line("one", "two"), &line("ONE", "TWO"), Some(60));
        assert_eq!(
            old,
            r#"..."word word word word one word word word word"..."word word word word two word word word word"..."#
        );
        assert_eq!(
            new,
            r#"..."word word word word ONE word word word word"..."word word word word TWO word word word word"..."#
        );
    }

    #[test]
    fn an_inserted_part_stands_in_the_new_line_alone() {
        let [old, new] = shown("a b c d", "a b x c d", None);
        assert_eq!(
            [old.as_str(), new.as_str()],
            [r#""a b c d""#, r#""a b x c d""#]
        );
        let [old, new] = shown("", "x", None);
        assert_eq!([old.as_str(), new.as_str()], [r#""""#, r#""x""#]);
    }

    #[test]
    fn long_differences_differ_where_they_are_shown() {
        let (old, new) = ("a".repeat(5000), "b".repeat(5000));
        let [old, new] = shown(&old, &new, Some(60));
        assert_eq!(
            old,
            format!(r#""{}"..."{}""#, "a".repeat(20), "a".repeat(10))
        );
        assert_eq!(
            new,
            format!(r#""{}"..."{}""#, "b".repeat(20), "b".repeat(10))
        );
        // One word that has a common beginning and end.
        let one = format!("{}X{}", "a".repeat(5000), "b".repeat(5000));
        let two = format!("{}Y{}", "a".repeat(5000), "b".repeat(5000));
        let [old, new] = shown(&one, &two, Some(60));
        assert_eq!(old, r#"..."aaaaaaaaaaaaaaaaaaaaXbbbbbbbbbbbbbbbbbbbb"..."#);
        assert_eq!(new, r#"..."aaaaaaaaaaaaaaaaaaaaYbbbbbbbbbbbbbbbbbbbb"..."#);
    }

    #[test]
    fn further_differences_are_counted() {
        let line = |odd: &str| format!("{odd} {} ", "word ".repeat(20)).repeat(50);
        let [old, new] = shown(&line("one"), &line("two"), Some(60));
        assert!(old.len() < 400 && old.ends_with("..."), "{old}");
        assert!(new.ends_with(" more differences; `-v` shows all)"), "{new}");
        let [old, _] = shown(&line("one"), &line("two"), None);
        assert_eq!(old, quoted(&line("one")));
    }

    #[test]
    fn characters_of_several_bytes_stay_whole() {
        let long = "äöü€😀".repeat(100);
        let [old, new] = shown(
            &format!("{long}ä{long}"),
            &format!("{long}ö{long}"),
            Some(40),
        );
        assert_eq!(old, r#"..."ü€😀äöü€😀äöü€😀ääöü€😀äöü€😀äöü"..."#);
        assert_eq!(new, r#"..."ü€😀äöü€😀äöü€😀öäöü€😀äöü€😀äöü"..."#);
    }
}
