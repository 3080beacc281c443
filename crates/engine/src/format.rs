//! Formats documents in the standard layout.

use diag::{Diagnostics, Files, Severity};

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

/// Formats a document. Writes nothing.
pub fn formatted(source: &DocumentSource) -> Formatted {
    let mut files = Files::new();
    let file = files.add(source.shown.clone(), source.text.clone());
    let (tree, mut found) =
        syntax::parse(file, &source.text, syntax::Format::of_name(&source.shown));
    found.retain(|diagnostic| diagnostic.severity == Severity::Error);
    if found.has_errors() {
        return Formatted {
            text: None,
            is_unformattable: false,
            found,
            files,
        };
    }
    let text = syntax::layout(&source.text, &tree);
    Formatted {
        is_unformattable: text.is_none(),
        text: Some(text.unwrap_or_else(|| source.text.to_string())),
        found,
        files,
    }
}
