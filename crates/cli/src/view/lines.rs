//! The difference between two texts, line by line.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices, group_diff_ops};

use super::drawing::Drawing;
use super::inline;
use super::values::{cut_line, quoted};

/// The number of unchanged lines that are shown around a change.
const CONTEXT: usize = 2;
/// The maximum number of lines of a difference. Further lines are hidden.
const LINES_LIMIT: usize = 100;
/// The maximum number of removed lines, and of added lines, of one change. Further lines are hidden.
const SIDE_LIMIT: usize = 40;
/// The maximum number of lines that are compared one by one. In longer texts, everything between
/// the common beginning and the common end counts as one change.
const COMPARED_LIMIT: usize = 200_000;
/// The minimum number of characters of a long line.
const LONG_LINE: usize = 60;

/// Writes the difference between two texts.
pub(crate) fn write_difference(
    text: &mut String,
    old: &str,
    new: &str,
    indent: &str,
    drawing: Drawing,
) {
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let new: Vec<&str> = new.split_inclusive('\n').collect();
    let mut writer = DifferenceWriter {
        text,
        indent,
        drawing,
        left: if drawing.whole {
            usize::MAX
        } else {
            LINES_LIMIT
        },
        hidden: 0,
    };
    let operations = operations(&old, &new);
    for (number, group) in group_diff_ops(operations, CONTEXT).iter().enumerate() {
        if number > 0 {
            writer.line(|| drawing.paint.dim("..."));
        }
        for operation in group {
            let removed = old.get(operation.old_range()).unwrap_or_default();
            let added = new.get(operation.new_range()).unwrap_or_default();
            match operation {
                DiffOp::Equal { .. } => removed.iter().for_each(|line| writer.equal(line)),
                _ => writer.change(removed, added),
            }
        }
    }
    writer.end();
}

/// The operations that make the new lines from the old ones.
fn operations(old: &[&str], new: &[&str]) -> Vec<DiffOp> {
    if old.len() + new.len() <= COMPARED_LIMIT {
        return capture_diff_slices(Algorithm::Myers, old, new);
    }
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let rest = |lines: &[&str]| lines.len() - head;
    let ends = old.iter().rev().zip(new.iter().rev());
    let tail = ends
        .take(rest(old).min(rest(new)))
        .take_while(|(a, b)| a == b)
        .count();
    let equal = |old_index, new_index, len| DiffOp::Equal {
        old_index,
        new_index,
        len,
    };
    let operations = [
        equal(0, 0, head),
        DiffOp::Replace {
            old_index: head,
            old_len: rest(old) - tail,
            new_index: head,
            new_len: rest(new) - tail,
        },
        equal(old.len() - tail, new.len() - tail, tail),
    ];
    let is_empty = |range: Range<usize>| range.is_empty();
    operations
        .into_iter()
        .filter(|it| !is_empty(it.old_range()) || !is_empty(it.new_range()))
        .collect()
}

struct DifferenceWriter<'a> {
    text: &'a mut String,
    indent: &'a str,
    drawing: Drawing,
    /// The number of lines that may still be written.
    left: usize,
    /// The number of lines that are not written.
    hidden: usize,
}

impl DifferenceWriter<'_> {
    fn line(&mut self, line: impl FnOnce() -> String) {
        if self.left == 0 {
            self.hidden += 1;
            return;
        }
        self.left -= 1;
        // Writing to a `String` does not fail.
        let _ = writeln!(self.text, "{}{}", self.indent, line());
    }

    fn hide(&mut self, count: usize) {
        match self.left {
            0 => self.hidden += count,
            _ => {
                let drawing = self.drawing;
                self.line(|| drawing.hidden_lines(count));
            }
        }
    }

    fn end(self) {
        if self.hidden > 0 {
            let line = self.drawing.hidden_lines(self.hidden);
            let _ = writeln!(self.text, "{}{line}", self.indent);
        }
    }

    fn equal(&mut self, line: &str) {
        let drawing = self.drawing;
        self.line(|| {
            let (content, end) = content_and_end(line, drawing);
            let content = cut_line(content.trim_end_matches('\r'), drawing);
            format!("  {content}{end}")
        });
    }

    /// Writes removed lines and the lines in their place.
    fn change(&mut self, removed: &[&str], added: &[&str]) {
        let pairs = Pairs::of(removed, added);
        let appearances = (
            Appearances::of(removed, self.indent),
            Appearances::of(added, self.indent),
        );
        self.side(removed, |at| pairs.added(at), &appearances.1, true);
        self.side(added, |at| pairs.removed(at), &appearances.0, false);
    }

    fn side<'l>(
        &mut self,
        lines: &[&str],
        partner: impl Fn(usize) -> Option<&'l str>,
        opposite: &Appearances<'_>,
        is_removed: bool,
    ) {
        let (drawing, indent) = (self.drawing, self.indent);
        let count = lines.len();
        let is_cut = !drawing.whole && count > SIDE_LIMIT + 1;
        let shown = if is_cut { SIDE_LIMIT } else { count };
        for (at, line) in lines.iter().take(shown).enumerate() {
            self.line(|| {
                let (content, end) = content_and_end(line, drawing);
                let difference = partner(at).and_then(|partner| {
                    difference_in_line(line, partner, is_removed, indent, drawing)
                });
                let content = match difference {
                    Some(difference) => difference,
                    None if opposite.have_alike(content, indent) => quoted(content),
                    None => cut_line(content, drawing).replace('\r', "\\r"),
                };
                let painted = match is_removed {
                    true => drawing.paint.red(format!("- {content}")),
                    false => drawing.paint.green(format!("+ {content}")),
                };
                format!("{painted}{end}")
            });
        }
        if is_cut {
            self.hide(count - shown);
        }
    }
}

/// One of two long lines: the parts that differ with their surroundings. `None` if both lines are
/// short or equal, or if nothing is cut.
fn difference_in_line(
    line: &str,
    partner: &str,
    is_removed: bool,
    indent: &str,
    drawing: Drawing,
) -> Option<String> {
    let (line, partner) = (content(line), content(partner));
    let room = drawing
        .width
        .saturating_sub(indent.chars().count() + 4)
        .max(LONG_LINE);
    let is_long = |line: &str| line.chars().nth(room).is_some();
    if drawing.whole || line == partner || !is_long(line) && !is_long(partner) {
        return None;
    }
    Some(match is_removed {
        true => inline::pair(line, partner, Some(room), drawing).0,
        false => inline::pair(partner, line, Some(room), drawing).1,
    })
}

/// Removed and added lines that belong together: from the first lines on, or from the last lines
/// back if these have more in common.
struct Pairs<'l> {
    removed: &'l [&'l str],
    added: &'l [&'l str],
    from_end: bool,
}

impl<'l> Pairs<'l> {
    fn of(removed: &'l [&'l str], added: &'l [&'l str]) -> Pairs<'l> {
        let in_common = |a: Option<&&str>, b: Option<&&str>| match (a, b) {
            (Some(a), Some(b)) => inline::common_length(a, b),
            _ => 0,
        };
        let at_begin = in_common(removed.first(), added.first());
        let at_end = in_common(removed.last(), added.last());
        Pairs {
            removed,
            added,
            from_end: removed.len() != added.len() && at_end > at_begin,
        }
    }

    fn added(&self, at: usize) -> Option<&'l str> {
        let skipped = if self.from_end { self.removed.len() } else { 0 };
        let more = if self.from_end { self.added.len() } else { 0 };
        self.added.get((at + more).checked_sub(skipped)?).copied()
    }

    fn removed(&self, at: usize) -> Option<&'l str> {
        let skipped = if self.from_end { self.added.len() } else { 0 };
        let more = if self.from_end { self.removed.len() } else { 0 };
        self.removed.get((at + more).checked_sub(skipped)?).copied()
    }
}

/// A line without its line break, and a note if it has none.
fn content_and_end(line: &str, drawing: Drawing) -> (&str, String) {
    match line.strip_suffix('\n') {
        Some(content) => (content, String::new()),
        None => (line, drawing.paint.dim(" (no line end)")),
    }
}

/// A line without its line break.
fn content(line: &str) -> &str {
    line.strip_suffix('\n').unwrap_or(line)
}

/// The contents of the removed or of the added lines of a change.
struct Appearances<'t> {
    contents: HashSet<&'t str>,
    appearances: HashSet<String>,
}

impl<'t> Appearances<'t> {
    fn of(lines: &[&'t str], indent: &str) -> Appearances<'t> {
        let contents: HashSet<&str> = lines.iter().map(|line| content(line)).collect();
        let appearances = contents
            .iter()
            .map(|line| appearance(line, indent))
            .collect();
        Appearances {
            contents,
            appearances,
        }
    }

    /// Whether a line of the other side looks like one of these lines, but is none of them.
    fn have_alike(&self, content: &str, indent: &str) -> bool {
        !self.contents.contains(content) && self.appearances.contains(&appearance(content, indent))
    }
}

/// A line as a terminal shows it: with tabs as spaces, without spaces at the end.
fn appearance(line: &str, indent: &str) -> String {
    const TAB_STOP: usize = 8;
    let before = indent.chars().count() + 2;
    let mut column = before;
    let mut text = String::with_capacity(line.len());
    for letter in line.trim_end().chars() {
        let width = match letter {
            '\t' => TAB_STOP - column % TAB_STOP,
            _ => 1,
        };
        column += width;
        match letter {
            _ if letter.is_whitespace() => text.extend(std::iter::repeat_n(' ', width)),
            _ => text.push(letter),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::drawing::plain;
    use super::*;

    fn difference(old: &str, new: &str, whole: bool) -> String {
        let mut text = String::new();
        write_difference(&mut text, old, new, "  ", plain(whole, 80));
        text
    }

    fn numbers(range: Range<usize>) -> String {
        range.map(|number| format!("line {number}\n")).collect()
    }

    #[test]
    fn changed_lines_have_context() {
        assert_eq!(
            difference("a\nb\nc\nd\ne\nf\n", "a\nb\nc\nd\nE\nf", false),
            "    c\n    d\n  - e\n  - f\n  + E\n  + f (no line end)\n"
        );
        let (old, new) = (numbers(0..20), format!("first\n{}last\n", numbers(0..20)));
        assert_eq!(
            difference(&old, &new, false),
            "  + first\n    line 0\n    line 1\n  ...\n    line 18\n    line 19\n  + last\n"
        );
    }

    #[test]
    fn lines_that_differ_in_white_space_are_quoted() {
        assert_eq!(
            difference("a\nb\n", "a \nb\n", false),
            "  - \"a\"\n  + \"a \"\n    b\n"
        );
        assert_eq!(
            difference("a\tb\n", "a   b\n", false),
            "  - \"a\\tb\"\n  + \"a   b\"\n"
        );
        assert_eq!(
            difference("a\r\n", "a\n", false),
            "  - \"a\\r\"\n  + \"a\"\n"
        );
        assert_eq!(difference("a\n", "  a\n", false), "  - a\n  +   a\n");
        assert_eq!(difference("a\r\n", "b\n", false), "  - a\\r\n  + b\n");
        assert_eq!(
            difference("a", "a\n", false),
            "  - a (no line end)\n  + a\n"
        );
    }

    #[test]
    fn long_lines_show_their_difference() {
        let long = "word ".repeat(60);
        let (old, new) = (format!("{long}old\n"), format!("inserted\n{long}new\n"));
        let shown = difference(&old, &new, false);
        assert!(
            shown.contains("word old\"\n  + inserted\n  + ...\"")
                && shown.ends_with("word new\"\n"),
            "{shown}"
        );
        let (old, new) = (format!("x\n{long}old\n"), format!("x\n{long}new\n"));
        assert_eq!(
            difference(&old, &new, false),
            "    x\n  - ...\"ord word word word word old\"\n  + ...\"ord word word word word new\"\n"
        );
        assert_eq!(
            difference(&old, &new, true),
            format!("    x\n  - {long}old\n  + {long}new\n")
        );
    }

    #[test]
    fn long_differences_are_cut_and_say_so() {
        let (old, new) = (numbers(0..200), numbers(1000..1200));
        let cut = difference(&old, &new, false);
        assert_eq!(cut.lines().count(), 82);
        assert_eq!(
            cut.matches("  (160 more lines; `-v` shows all)\n").count(),
            2
        );
        assert!(
            cut.contains("- line 0\n") && cut.contains("+ line 1000\n"),
            "{cut}"
        );
        let whole = difference(&old, &new, true);
        assert_eq!(whole.lines().count(), 400);
        let alternate =
            |odd: &str| -> String { (0..200).map(|line| format!("{line}\n{odd}\n")).collect() };
        let cut = difference(&alternate("a"), &alternate("b"), false);
        assert_eq!(cut.lines().count(), 101);
        assert!(cut.ends_with(" more lines; `-v` shows all)\n"), "{cut}");
    }

    #[test]
    fn huge_texts_are_compared_in_one_piece() {
        let (old, new) = (numbers(0..150_000), numbers(0..149_990));
        let new = format!("x\n{new}");
        let shown = difference(&old, &new, false);
        assert_eq!(
            shown.matches(" more lines; `-v` shows all)\n").count(),
            2,
            "{shown}"
        );
        let appended = format!("{old}x\n");
        assert_eq!(
            difference(&old, &appended, false),
            "    line 149998\n    line 149999\n  + x\n"
        );
    }
}
