//! YAML and JSON to one tree that keeps every position and never fails.
//!
//! ```text
//! text ──┬── simple ──┬── Tree + Diagnostics
//!        ├── yaml ────┤
//!        └── json ────┘
//! ```
//!
//! and back: `layout` writes a tree in house style.
//!
//! Broken text gives a tree too: what stands before an error is kept, and reading goes on at the next line that can be
//! told apart by its indentation. After this crate nobody knows whether the text was YAML or JSON.
//!
//! Not here: what a scalar is (number, boolean, date: dialects read them differently), duplicate keys, merge keys,
//! whether anchors and tags are welcome. They stand in the tree as they were written; dialects decide.
#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

mod alias;
mod codes;
mod decode;
mod format;
mod json;
mod json_token;
mod layout;
mod limits;
mod place;
mod reader;
mod recovery;
mod scan;
mod simple;
mod syntax_error;
mod tree;
mod trouble;
mod yaml;

pub use codes::{CODES, DOCUMENT_TOO_LARGE, INVALID_SYNTAX, JSON_EXTRA_SYNTAX, MULTIPLE_DOCUMENTS, SPLIT_SUBSTITUTION};
pub use format::Format;
pub use layout::{is_same, layout};
pub use limits::{MAX_BYTES, MAX_COPIED, MAX_DEPTH, MAX_NODES};
pub use tree::{Content, Entry, Node, Scalar, Style, Tree};

use diag::{Diagnostic, Diagnostics, FileId, Span};

/// Reads a text that holds one document. A second YAML document in it is reported and not read.
///
/// Never fails: a broken text gives the part of the tree that can be told, and at least one diagnostic.
pub fn parse(file: FileId, text: &str, format: Format) -> (Tree, Diagnostics) {
    let mut found = Diagnostics::new();
    if let Some(diagnostic) = too_long(file, text) {
        found.push(diagnostic);
        return (Tree { root: None, comments: Vec::new(), format }, found);
    }
    let tree = match format {
        Format::Yaml => yaml::parse(file, text, &mut found),
        Format::Json | Format::JsonWithComments => json::parse(file, text, format, &mut found),
    };
    found.sort();
    (tree, found)
}

/// Reads a text that may hold several YAML documents, which `---` separates.
///
/// Gives the documents in the order of the text, at least one; an empty document has a root without text, or none. Places are those
/// in the whole text. An anchor is known in its own document alone. Limits apply to the text as a whole. A text in JSON holds one
/// document. Never fails, as [`parse`] does not.
pub fn parse_stream(file: FileId, text: &str, format: Format) -> (Vec<Tree>, Diagnostics) {
    if format != Format::Yaml || text.len() > MAX_BYTES {
        let (tree, found) = parse(file, text, format);
        return (vec![tree], found);
    }
    let mut found = Diagnostics::new();
    let documents = yaml::parse_stream(file, text, &mut found);
    found.sort();
    (documents, found)
}

fn too_long(file: FileId, text: &str) -> Option<Diagnostic> {
    (text.len() > MAX_BYTES).then(|| {
        DOCUMENT_TOO_LARGE
            .new(format!("a document may have 32 MiB of text, this one has {} bytes", text.len()))
            .label(Span::new(file, 0, 0), "not read")
            .help("split the document")
    })
}
