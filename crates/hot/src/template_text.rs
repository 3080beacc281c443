//! Parses the texts of templates and environments as Heat and its client do.
//!
//! The client parses the templates that a command names, and the templates that these name. It
//! strips a text first, so a block at the end of a file has no line break after its last line. The
//! engine of Heat gets the values. It parses only templates that are written out in another one, as
//! they are. Neither strips environments.
//!
//! Not here: the values of scalars (`scalar`), merge keys and repeated keys (`read`).

use std::ops::Range;

use diag::{Diagnostics, FileId};
use dialect::{DialectText, TextOrigin};
use syntax::{Format, Tree};

use crate::version::VERSION_KEYS;

/// Whether a text contains a key that shows a template.
pub(super) fn may_be_template(text: &str) -> bool {
    VERSION_KEYS.iter().any(|key| text.contains(key))
}

/// Parses a text; `None` if its name says that it is JSON, which is read like all JSON.
pub(super) fn parse(text: &DialectText<'_>) -> Option<(Tree, Diagnostics)> {
    if text.format != Format::Yaml {
        return None;
    }
    let (file, whole) = (text.file, text.text);
    Some(match text.origin {
        TextOrigin::Companion => syntax::parse_libyaml(file, whole, 0..whole.len()),
        TextOrigin::WrittenOut => parse_part(file, whole, 0..whole.len()),
        TextOrigin::File => parse_part(file, whole, stripped(whole)),
    })
}

/// Parses a text as the engine parses what the client gives it.
pub(super) fn parse_data(file: FileId, text: &str) -> (Tree, Diagnostics) {
    parse_part(file, text, 0..text.len())
}

/// Parses a part of a text, as JSON if it is JSON.
fn parse_part(file: FileId, text: &str, part: Range<usize>) -> (Tree, Diagnostics) {
    if text.trim_start_matches(pycompat::is_space).starts_with('{') {
        let (tree, found) = syntax::parse(file, text, Format::Json);
        if !found.has_errors() {
            return (tree, found);
        }
    }
    // Line feeds before the document change nothing, and a text that begins at its start is parsed
    // faster.
    let is_plain = text[..part.start].bytes().all(|byte| byte == b'\n');
    let start = if is_plain { 0 } else { part.start };
    syntax::parse_libyaml(file, text, start..part.end)
}

/// The part of a text without white space around it.
fn stripped(text: &str) -> Range<usize> {
    let end = text.trim_end_matches(pycompat::is_space).len();
    let start = text.len() - text.trim_start_matches(pycompat::is_space).len();
    start.min(end)..end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_around_a_template_is_stripped_as_python_does() {
        for (text, left) in [
            ("a\n", "a"),
            ("\n\n a: |\n  b\n \t\n", "a: |\n  b"),
            ("\ta\u{a0}\u{2028}\u{1c}", "a"),
            ("\u{feff}a\u{200b}", "\u{feff}a\u{200b}"),
            (" \n", ""),
            ("", ""),
        ] {
            assert_eq!(&text[stripped(text)], left, "{text:?}");
        }
    }
}
