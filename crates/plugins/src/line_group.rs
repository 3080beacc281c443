//! Lines that arrive shortly after one another, and the secrets in them: a secret may lie over
//! several lines.
//!
//! Not here: what is a secret (the caller's scrubber).

use crate::LogLine;

/// The number of bytes of a group after which its first lines are no longer held back.
const MOST_BYTES: usize = 64 * 1024;
/// The number of bytes on each side of a line break that show whether a secret lies over it.
const CONTEXT: usize = 256;

/// The number of line breaks at which a group that is too large may be cut.
const MOST_CUTS: usize = 64;

/// Replaces secrets in a text.
type Scrub<'s> = &'s dyn Fn(&str) -> String;

/// Lines of one stream that are scrubbed together.
#[derive(Default)]
pub(crate) struct LineGroup {
    lines: Vec<LogLine>,
    bytes: usize,
}

impl LineGroup {
    /// Adds a line.
    pub(crate) fn push(&mut self, line: LogLine) {
        self.bytes += line.text.len() + 1;
        self.lines.push(line);
    }

    /// Whether there is no line.
    pub(crate) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Takes all lines, without secrets. Lines over which a secret lies become one.
    pub(crate) fn take_all(&mut self, scrub: Scrub<'_>) -> Vec<LogLine> {
        self.bytes = 0;
        scrubbed(std::mem::take(&mut self.lines), scrub)
    }

    /// Takes the first lines of a group that is too large, without secrets.
    pub(crate) fn take_first(&mut self, scrub: Scrub<'_>) -> Vec<LogLine> {
        if self.bytes <= MOST_BYTES {
            return Vec::new();
        }
        // The last lines may be the first of a secret whose other lines are still to come.
        let held_back = count_near(self.lines.iter().rev());
        let cuts = 1..=self.lines.len() - held_back;
        let cut = cuts
            .rev()
            .take(MOST_CUTS)
            .find(|cut| is_clean_break(&self.lines, *cut, scrub));
        let rest = self.lines.split_off(cut.unwrap_or(self.lines.len()));
        let first = std::mem::replace(&mut self.lines, rest);
        self.bytes = self.lines.iter().map(|line| line.text.len() + 1).sum();
        scrubbed(first, scrub)
    }
}

fn scrubbed(mut lines: Vec<LogLine>, scrub: Scrub<'_>) -> Vec<LogLine> {
    let single: Vec<String> = lines.iter().map(|line| scrub(&line.text)).collect();
    if lines.len() < 2 || scrub(&joined(&lines)) == single.join("\n") {
        for (line, text) in lines.iter_mut().zip(single) {
            line.text = text;
        }
        return lines;
    }
    let mut clean: Vec<LogLine> = Vec::new();
    let mut start = 0;
    for end in 1..=lines.len() {
        if end < lines.len() && !is_clean_break(&lines, end, scrub) {
            continue;
        }
        clean.push(LogLine {
            text: scrub(&joined(&lines[start..end])),
            ..lines[start].clone()
        });
        start = end;
    }
    clean
}

/// Whether no secret lies over the line break before a line.
fn is_clean_break(lines: &[LogLine], at: usize, scrub: Scrub<'_>) -> bool {
    let (before, after) = lines.split_at(at);
    let before = joined(&before[at - count_near(before.iter().rev())..]);
    let after = joined(&after[..count_near(after.iter())]);
    let start = before.floor_char_boundary(before.len().saturating_sub(CONTEXT));
    let end = after.ceil_char_boundary(CONTEXT.min(after.len()));
    let (before, after) = (&before[start..], &after[..end]);
    scrub(&format!("{before}\n{after}")) == format!("{}\n{}", scrub(before), scrub(after))
}

/// The number of lines that begin within the context.
fn count_near<'l>(lines: impl Iterator<Item = &'l LogLine>) -> usize {
    let mut bytes = 0;
    let is_near = |line: &&LogLine| {
        let is_near = bytes < CONTEXT;
        bytes += line.text.len();
        is_near
    };
    lines.take_while(is_near).count()
}

fn joined(lines: &[LogLine]) -> String {
    let texts: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
    texts.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Level;

    /// Removes the word `hunter22`, also over lines.
    fn scrub(text: &str) -> String {
        let mut clean = String::new();
        let mut rest = text;
        'text: while let Some(first) = rest.chars().next() {
            let mut found = rest.char_indices().filter(|(_, letter)| *letter != '\n');
            let mut end = 0;
            for wanted in "hunter22".chars() {
                match found.next() {
                    Some((at, letter)) if letter == wanted && first != '\n' => end = at + 1,
                    _ => {
                        clean.push(first);
                        rest = &rest[first.len_utf8()..];
                        continue 'text;
                    }
                }
            }
            clean.push_str("(secret)");
            rest = &rest[end..];
        }
        clean
    }

    fn group(lines: &[&str]) -> LineGroup {
        let mut group = LineGroup::default();
        for (at, text) in lines.iter().enumerate() {
            group.push(LogLine {
                level: [Level::Info, Level::Error][at % 2],
                text: (*text).to_owned(),
            });
        }
        group
    }

    fn texts(lines: Vec<LogLine>) -> Vec<String> {
        lines.into_iter().map(|line| line.text).collect()
    }

    #[test]
    fn a_secret_over_lines_is_removed_and_other_lines_stay() {
        let mut lines = group(&["begin", "a hun", "ter", "22 b", "hunter22", "end"]);
        let clean = lines.take_all(&scrub);
        assert_eq!(clean[3].level, Level::Error);
        assert_eq!(texts(clean), ["begin", "a (secret) b", "(secret)", "end"]);
        assert!(lines.is_empty());
    }

    #[test]
    fn lines_without_a_secret_over_them_keep_their_levels() {
        let clean = group(&["a", "x hunter22", "hunt", "er2"]).take_all(&scrub);
        assert_eq!(clean[1].level, Level::Error);
        assert_eq!(texts(clean), ["a", "x (secret)", "hunt", "er2"]);
    }

    #[test]
    fn a_large_group_is_not_cut_inside_a_secret() {
        let long = "x".repeat(40 * 1024);
        let mut lines = group(&[&long, &long, "hunt", "er"]);
        assert_eq!(lines.take_first(&scrub).len(), 1);
        assert_eq!(lines.take_all(&scrub).len(), 3);
        let mut lines = group(&[&long, "hunt", &format!("er22{long}"), "end"]);
        assert_eq!(lines.take_first(&scrub).len(), 1);
        assert_eq!(
            texts(lines.take_all(&scrub)),
            [format!("(secret){long}"), "end".to_owned()]
        );
        assert!(group(&["short"]).take_first(&scrub).is_empty());
    }
}
