//! Formats documents in the standard layout.

use diag::{Diagnostics, FileId, Files, Severity};
use dialect::{Dialects, LoadContext};
use syntax::Format;

use crate::document_source::DocumentSource;

/// A document in the standard layout.
#[derive(Clone, Debug)]
pub struct Formatted {
    /// Its text; `None` if it cannot be parsed.
    pub text: Option<String>,
    /// Whether the text is unchanged because it has a key or a value that the formatter does not
    /// rearrange.
    pub is_unformattable: bool,
    /// The syntax errors.
    pub found: Diagnostics,
    /// The original text, for the diagnostics.
    pub files: Files,
}

/// Formats a document. Writes nothing. The trees of a stream are formatted one by one.
pub fn formatted(source: &DocumentSource, dialects: &Dialects) -> Formatted {
    let mut files = Files::new();
    let file = files.add(source.shown.clone(), source.text.clone());
    let text = &*source.text;
    let (tree, mut found) = syntax::parse(file, text, Format::of_name(&source.shown));
    let is_stream = found
        .iter()
        .any(|one| one.code.name == syntax::MULTIPLE_DOCUMENTS.name)
        && reads_streams(file, source, dialects);
    if is_stream {
        found = syntax::parse_stream(file, text, tree.format).1;
    }
    found.retain(|diagnostic| diagnostic.severity == Severity::Error);
    if found.has_errors() {
        return Formatted {
            text: None,
            is_unformattable: false,
            found,
            files,
        };
    }
    let laid = if is_stream {
        layout_of_stream(text)
    } else {
        syntax::layout(text, &tree)
    };
    Formatted {
        is_unformattable: laid.is_none(),
        text: Some(laid.unwrap_or_else(|| text.to_owned())),
        found,
        files,
    }
}

fn reads_streams(file: FileId, source: &DocumentSource, dialects: &Dialects) -> bool {
    let context = LoadContext::NONE;
    let parsed = dialects.parse(file, &source.shown, &source.text, &context);
    parsed
        .dialect
        .is_some_and(|dialect| dialect.reads_streams())
}

/// The text of a stream of YAML in the house style; `None` if a tree of it is not rearranged.
fn layout_of_stream(text: &str) -> Option<String> {
    let mut laid = String::with_capacity(text.len());
    for part in parts_of_stream(text) {
        let (tree, found) = syntax::parse(FileId::new(0), part, Format::Yaml);
        if found.has_errors() {
            return None;
        }
        let is_empty = tree.root.as_ref().is_none_or(|root| root.span.is_empty());
        if is_empty {
            laid.push_str(part);
        } else {
            laid.push_str(&syntax::layout(part, &tree)?);
        }
    }
    Some(laid)
}

/// The documents of a stream, each from its `---` on. A line that begins so begins a document wherever
/// it stands.
fn parts_of_stream(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut start, mut at) = (0, 0);
    for line in text.split_inclusive('\n') {
        let begins = line
            .strip_prefix("---")
            .is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\r', '\n']));
        if begins && at > start {
            parts.push(&text[start..at]);
            start = at;
        }
        at += line.len();
    }
    parts.push(&text[start..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_trees_of_a_stream_are_laid_out_one_by_one() {
        for (text, laid) in [
            ("a:   1\n---\nb:   2\n", "a: 1\n---\nb: 2\n"),
            (
                "---\na:   1\n---\n\n---\nb:   2\n",
                "---\na: 1\n---\n\n---\nb: 2\n",
            ),
            (
                "a: |\n  text\n   more\n---\n# of b\nb:\n    c: 1 # one\n",
                "a: |\n  text\n   more\n---\n# of b\nb:\n  c: 1  # one\n",
            ),
            ("# first\n---\na: 1\n", "# first\n---\na: 1\n"),
        ] {
            assert_eq!(layout_of_stream(text).as_deref(), Some(laid), "{text}");
            assert_eq!(layout_of_stream(laid).as_deref(), Some(laid), "{text}");
        }
    }
}
