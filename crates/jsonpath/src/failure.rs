//! Why a path cannot be read or evaluated.

use std::fmt;
use std::ops::Range;

/// The sort of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureClass {
    /// The path is empty.
    Empty,
    /// The path has no result.
    Missing,
    /// The path has more than one result.
    Many,
    /// The path is more than one query.
    SeveralQueries,
    /// The path cannot be parsed.
    Parse,
    /// An index or a bound is outside of its list.
    Bounds,
    /// An index, slice or filter is applied to something that is no list.
    NotAList,
    /// Two values of a filter cannot be compared.
    Compare,
    /// Any other failure.
    Evaluate,
}

/// A failed evaluation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathFailure {
    /// The sort of the failure.
    pub class: FailureClass,
    /// What is wrong, as a lower-case phrase.
    pub message: String,
}

impl PathFailure {
    /// Creates a failure.
    pub(crate) fn new(class: FailureClass, message: impl Into<String>) -> PathFailure {
        PathFailure {
            class,
            message: message.into(),
        }
    }
}

impl fmt::Display for PathFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for PathFailure {}

/// A text that is no path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseMistake {
    /// Either `Empty` or `Parse`.
    pub class: FailureClass,
    /// What is wrong, as a lower-case phrase.
    pub message: String,
    /// Where in the text it is wrong, in bytes. The range can be empty, and can stand at the end.
    pub span: Range<usize>,
}

impl ParseMistake {
    /// Creates a mistake of the class `Parse`.
    pub(crate) fn new(message: impl Into<String>, span: Range<usize>) -> ParseMistake {
        ParseMistake {
            class: FailureClass::Parse,
            message: message.into(),
            span,
        }
    }

    /// The same mistake in a longer text: the parsed one stands at `place` of it, after `added`
    /// bytes that only the parsed one has.
    pub(crate) fn moved(mut self, place: Range<usize>, added: usize) -> ParseMistake {
        let moved = |at: usize| (at + place.start).saturating_sub(added);
        let kept = |at: usize| moved(at).clamp(place.start, place.end.max(place.start));
        self.span = kept(self.span.start)..kept(self.span.end);
        self
    }
}

impl fmt::Display for ParseMistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ParseMistake {}

impl From<ParseMistake> for PathFailure {
    fn from(mistake: ParseMistake) -> PathFailure {
        PathFailure {
            class: mistake.class,
            message: mistake.message,
        }
    }
}
