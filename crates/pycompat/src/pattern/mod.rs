//! Python's regular expressions (`re`) on text.
//!
//! A pattern is translated ([`translate`]) for a backtracking engine with leftmost alternatives.
//! The work of a match is bounded: beyond the limit it fails with [`TooCostly`].

mod class;
mod translate;
mod translator;

use std::sync::OnceLock;

use fancy_regex::{Regex, RegexBuilder};

use self::translate::{Translated, translate};
use self::translator::ErrorPlace;
pub use self::translator::{Flags, PatternError};

/// The largest number of backtracking steps of a match.
const BACKTRACK_LIMIT: usize = 1_000_000;

/// The error of a match that exceeds the limit of steps.
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
    /// The same pattern without empty matches at the start of the search. It is compiled on first
    /// use.
    advancing: OnceLock<Option<Regex>>,
    translated: Box<str>,
    names: Vec<Option<String>>,
}

/// A match, as ranges of bytes in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternMatch {
    /// The start of the match.
    pub start: usize,
    /// The end of the match.
    pub end: usize,
    /// The last match of each group; `None` for a group that did not match. The first group is the
    /// whole match.
    pub groups: Vec<Option<(usize, usize)>>,
}

impl Pattern {
    /// Compiles a pattern. Fails with Python's message.
    pub fn new(pattern: &str, flags: Flags) -> Result<Pattern, PatternError> {
        let translated = translate(pattern, flags)?;
        let Some(regex) = build(&translated.pattern) else {
            let message = "the pattern is too large".into();
            return Err(PatternError {
                message,
                at: 0,
                place: ErrorPlace::None,
            });
        };
        let Translated { pattern, names } = translated;
        Ok(Pattern {
            regex,
            advancing: OnceLock::new(),
            translated: pattern.into(),
            names,
        })
    }

    /// The names of the groups; the first group is the whole match and has no name.
    pub fn group_names(&self) -> &[Option<String>] {
        &self.names
    }

    /// Python's `search`: the first match that begins at the byte `from` or later. Fails if the
    /// match is too costly.
    pub fn find(&self, text: &str, from: usize) -> Result<Option<PatternMatch>, TooCostly> {
        self.find_by(&self.regex, text, from)
    }

    fn find_by(
        &self,
        regex: &Regex,
        text: &str,
        from: usize,
    ) -> Result<Option<PatternMatch>, TooCostly> {
        let found = regex.captures_from_pos(text, from).map_err(|_| TooCostly)?;
        Ok(found.map(|captures| {
            let groups: Vec<_> = (0..self.names.len())
                .map(|group| {
                    captures
                        .get(group)
                        .map(|found| (found.start(), found.end()))
                })
                .collect();
            let (start, end) = groups.first().copied().flatten().unwrap_or((from, from));
            PatternMatch { start, end, groups }
        }))
    }

    /// Whether the pattern matches anywhere. Fails if the match is too costly.
    pub fn found_anywhere(&self, text: &str) -> Result<bool, TooCostly> {
        self.regex.is_match(text).map_err(|_| TooCostly)
    }

    /// Python's `match`: the match at the beginning of the text. Fails if the match is too costly.
    pub fn match_at_start(&self, text: &str) -> Result<Option<PatternMatch>, TooCostly> {
        // A match at the beginning is always the leftmost match.
        Ok(self.find(text, 0)?.filter(|found| found.start == 0))
    }

    /// Whether the match at the beginning ends at the end of the text. Unlike `fullmatch`, no other
    /// alternative or repetition is tried: `a|ab` does not cover `ab`, and `$` does not cover a
    /// final line end. Fails if the match is too costly.
    pub fn covers(&self, text: &str) -> Result<bool, TooCostly> {
        Ok(self
            .match_at_start(text)?
            .is_some_and(|found| found.end == text.len()))
    }

    /// Python's `finditer`: all matches that do not overlap, from left to right. After an empty
    /// match the next one is not empty or begins later. Fails if a match is too costly.
    pub fn find_all(&self, text: &str) -> Result<Vec<PatternMatch>, TooCostly> {
        let (mut matches, mut from, mut advances) = (Vec::new(), 0, false);
        while from <= text.len() {
            let Some(found) = self.find_next(text, from, advances)? else {
                break;
            };
            (from, advances) = (found.end, found.start == found.end);
            matches.push(found);
        }
        Ok(matches)
    }

    /// Returns the first match from the byte `from` on. With `advances`, the match is not empty or
    /// begins later. To iterate, continue at the end of the previous match, with `advances` if that
    /// match was empty. Fails if the match is too costly.
    pub fn find_next(
        &self,
        text: &str,
        from: usize,
        advances: bool,
    ) -> Result<Option<PatternMatch>, TooCostly> {
        let regex = if advances {
            self.advancing()
        } else {
            Some(&self.regex)
        };
        regex.map_or(Ok(None), |regex| self.find_by(regex, text, from))
    }

    fn advancing(&self) -> Option<&Regex> {
        let make = || build(&format!(r"(?:{})(?!\G)", self.translated));
        self.advancing.get_or_init(make).as_ref()
    }
}

fn build(pattern: &str) -> Option<Regex> {
    RegexBuilder::new(pattern)
        .backtrack_limit(BACKTRACK_LIMIT)
        .build()
        .ok()
}

#[cfg(test)]
mod tests;
