//! The syntax of JSONPath in keys of selectors.

use std::ops::Range;

use jsonpath::{ParseMistake, Path, PathTemplate};

/// Why a path cannot be read.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PathMistake {
    /// The bytes that are wrong.
    pub(crate) span: Range<u32>,
    /// A lower-case phrase.
    pub(crate) message: String,
}

/// Why a key cannot be read as upstream's webhook reads it: text outside braces is free, and what
/// stands in braces is a path. `None` if it can be read.
pub(crate) fn template_mistake(text: &str) -> Option<PathMistake> {
    PathTemplate::parse(text).err().map(of_parser)
}

/// Why a key cannot be read as it is evaluated, which is inside braces. `None` if it can be read.
pub(crate) fn wrapped_mistake(text: &str) -> Option<PathMistake> {
    Path::parse(text).err().map(of_parser)
}

/// Positions in a text that is too long for them end at the largest one.
fn of_parser(mistake: ParseMistake) -> PathMistake {
    let position = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    PathMistake {
        span: position(mistake.span.start)..position(mistake.span.end),
        message: mistake.message,
    }
}
