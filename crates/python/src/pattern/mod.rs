//! Python's regular expressions: `re` over texts.
//!
//! A pattern is translated ([`translate`]) to one for a backtracking engine with leftmost alternatives. How much work a match may
//! take is bounded, so that no pattern hangs: [`TooCostly`] says that it was too much.

mod class;
mod translate;

use fancy_regex::{Regex, RegexBuilder};

pub use translate::PatternError;

/// How many steps back a match may take.
const BACKTRACK_LIMIT: usize = 1_000_000;

/// What is said about a pattern as a whole; a pattern can say so itself, `(?i)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Flags {
    /// `re.IGNORECASE`: letters match in both cases.
    pub ignore_case: bool,
    /// `re.MULTILINE`: `^` and `$` match at every line.
    pub multi_line: bool,
    /// `re.DOTALL`: `.` matches the end of a line too.
    pub dot_all: bool,
    /// `re.ASCII`: `\w`, `\d` and `\s` know ASCII only.
    pub ascii: bool,
    /// `re.VERBOSE`: white space and comments in the pattern do not count.
    pub verbose: bool,
}

/// A match would have taken more steps than it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooCostly;

impl std::fmt::Display for TooCostly {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the pattern takes too many steps on this text")
    }
}

impl std::error::Error for TooCostly {}

/// A compiled pattern.
#[derive(Clone, Debug)]
pub struct Pattern {
    regex: Regex,
    names: Vec<Option<String>>,
}

/// A place where a pattern matches: ranges of bytes of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match {
    /// Where the match begins.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    /// Where each group matched last, `None` if it did not; the first one is the whole match.
    pub groups: Vec<Option<(usize, usize)>>,
}

impl Pattern {
    /// Compiles a pattern. Else Python's words for what is wrong with it.
    pub fn new(pattern: &str, flags: Flags) -> Result<Pattern, PatternError> {
        let translated = translate::translate(pattern, flags)?;
        let regex = RegexBuilder::new(&translated.pattern).backtrack_limit(BACKTRACK_LIMIT).build();
        let regex = regex.map_err(|_| PatternError { message: "the pattern is too large".into(), at: 0 })?;
        Ok(Pattern { regex, names: translated.names })
    }

    /// The names of the groups, from the whole match on, which has none.
    pub fn group_names(&self) -> &[Option<String>] {
        &self.names
    }

    /// What `search` gives: the first match that begins at the byte `from` or behind it.
    pub fn find(&self, text: &str, from: usize) -> Result<Option<Match>, TooCostly> {
        let found = self.regex.captures_from_pos(text, from).map_err(|_| TooCostly)?;
        Ok(found.map(|captures| {
            let groups: Vec<_> = (0..self.names.len())
                .map(|group| captures.get(group).map(|found| (found.start(), found.end())))
                .collect();
            let (start, end) = groups.first().copied().flatten().unwrap_or((from, from));
            Match { start, end, groups }
        }))
    }

    /// Whether it matches anywhere.
    pub fn found_anywhere(&self, text: &str) -> Result<bool, TooCostly> {
        self.regex.is_match(text).map_err(|_| TooCostly)
    }

    /// What `match` gives: the match at the beginning of the text, if there is one.
    pub fn match_at_start(&self, text: &str) -> Result<Option<Match>, TooCostly> {
        // The leftmost match is the one at the beginning wherever there is one.
        Ok(self.find(text, 0)?.filter(|found| found.start == 0))
    }

    /// Whether the match at the beginning ends where the text ends: another alternative or a shorter repetition that would
    /// reach the end is not tried (`a|ab` does not cover `ab`), and `$` before a last line end does not help.
    pub fn covers(&self, text: &str) -> Result<bool, TooCostly> {
        Ok(self.match_at_start(text)?.is_some_and(|found| found.end == text.len()))
    }

    /// What `finditer` gives: all matches that do not overlap, from left to right.
    pub fn find_all(&self, text: &str) -> Result<Vec<Match>, TooCostly> {
        let (mut matches, mut from) = (Vec::new(), 0);
        let mut empty_at = None;
        while from <= text.len() {
            let Some(found) = self.find(text, from)? else { break };
            let empty = found.start == found.end;
            if empty && empty_at == Some(found.start) {
                // Python would look for a longer one here first; then one character on.
                from += text[from..].chars().next().map_or(1, char::len_utf8);
                continue;
            }
            from = found.end;
            empty_at = empty.then_some(found.end);
            matches.push(found);
        }
        Ok(matches)
    }
}

#[cfg(test)]
mod tests;
