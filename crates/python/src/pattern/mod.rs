//! Python's regular expressions: `re` over texts.
//!
//! A pattern is translated ([`translate`]) to one for a backtracking engine with leftmost alternatives. How much work a match may
//! take is bounded, so that no pattern hangs: [`TooCostly`] says that it was too much.

mod class;
mod translate;
mod translator;

use std::sync::OnceLock;

use fancy_regex::{Regex, RegexBuilder};

use self::translate::{Translated, translate};
use self::translator::ErrorPlace;
pub use self::translator::{Flags, PatternError};

/// How many steps back a match may take.
const BACKTRACK_LIMIT: usize = 1_000_000;

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
    /// The same pattern, but for empty matches at the place where the search begins; made when it is asked for.
    advancing: OnceLock<Option<Regex>>,
    translated: Box<str>,
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
        let translated = translate(pattern, flags)?;
        let Some(regex) = build(&translated.pattern) else {
            let message = "the pattern is too large".into();
            return Err(PatternError { message, at: 0, place: ErrorPlace::None });
        };
        let Translated { pattern, names } = translated;
        Ok(Pattern { regex, advancing: OnceLock::new(), translated: pattern.into(), names })
    }

    /// The names of the groups, from the whole match on, which has none.
    pub fn group_names(&self) -> &[Option<String>] {
        &self.names
    }

    /// What `search` gives: the first match that begins at the byte `from` or behind it.
    pub fn find(&self, text: &str, from: usize) -> Result<Option<Match>, TooCostly> {
        self.find_by(&self.regex, text, from)
    }

    fn find_by(&self, regex: &Regex, text: &str, from: usize) -> Result<Option<Match>, TooCostly> {
        let found = regex.captures_from_pos(text, from).map_err(|_| TooCostly)?;
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

    /// What `finditer` gives: all matches that do not overlap, from left to right. Behind an empty one the next is longer, or
    /// begins later.
    pub fn find_all(&self, text: &str) -> Result<Vec<Match>, TooCostly> {
        let (mut matches, mut from, mut advances) = (Vec::new(), 0, false);
        while from <= text.len() {
            let Some(found) = self.find_next(text, from, advances)? else { break };
            (from, advances) = (found.end, found.start == found.end);
            matches.push(found);
        }
        Ok(matches)
    }

    /// The first match from the byte `from` on; one that `advances` is longer than nothing, or begins later. So one match after
    /// the other is found, each from where the one before ended, advancing if that one was empty.
    pub fn find_next(&self, text: &str, from: usize, advances: bool) -> Result<Option<Match>, TooCostly> {
        let regex = if advances { self.advancing() } else { Some(&self.regex) };
        regex.map_or(Ok(None), |regex| self.find_by(regex, text, from))
    }

    fn advancing(&self) -> Option<&Regex> {
        let make = || build(&format!(r"(?:{})(?!\G)", self.translated));
        self.advancing.get_or_init(make).as_ref()
    }
}

fn build(pattern: &str) -> Option<Regex> {
    RegexBuilder::new(pattern).backtrack_limit(BACKTRACK_LIMIT).build().ok()
}

#[cfg(test)]
mod tests;
