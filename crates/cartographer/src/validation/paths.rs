//! The syntax of JSONPath in keys of selectors.

use std::ops::Range;

/// Why a path cannot be read.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PathMistake {
    /// The bytes that are wrong.
    pub(crate) span: Range<u32>,
    /// A lower-case phrase.
    pub(crate) message: String,
}

/// Why a key cannot be read as upstream reads it: text outside braces is free, and what stands in
/// braces is a path. `None` if it can be read.
pub(crate) fn template_mistake(text: &str) -> Option<PathMistake> {
    let mut rest = 0;
    while let Some(open) = text[rest..].find('{') {
        let inside = rest + open + 1;
        let Some(close) = text[inside..].find('}') else {
            return Some(PathMistake {
                span: span(inside - 1, text.len()),
                message: "the brace is never closed".to_owned(),
            });
        };
        let path = &text[inside..inside + close];
        if path.contains('{') {
            return Some(PathMistake {
                span: span(inside, inside + close),
                message: "a brace stands inside braces".to_owned(),
            });
        }
        rest = inside + close + 1;
    }
    None
}

/// Why a key cannot be read as it is evaluated, which is inside braces. `None` if it can be read.
pub(crate) fn wrapped_mistake(_text: &str) -> Option<PathMistake> {
    None
}

/// Positions of a text that is too long for them end at the largest one.
fn span(start: usize, end: usize) -> Range<u32> {
    let position = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    position(start)..position(end)
}
