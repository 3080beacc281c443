//! Parses YAML and JSON into one tree that keeps every position. Parsing never fails.
//!
//! ```text
//! text ──┬── simple ───┬── Tree + Diagnostics
//!        ├── yaml ─────┤
//!        ├── libyaml ──┤
//!        └── json ─────┘
//! ```
//!
//! `layout` writes a tree in the house style; `edit` changes single values of a text.
//!
//! Invalid text also gives a tree: everything before an error is kept, and parsing resumes at the
//! next line whose indentation fits. Other crates do not need to know whether the text was YAML or
//! JSON.
//!
//! Not here: the types of scalars (dialects read them differently), duplicate keys, merge keys,
//! whether anchors and tags are allowed. The tree keeps them as written; dialects decide.
#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

mod alias;
mod codes;
mod decode;
pub mod edit;
mod format;
mod json;
mod json_token;
mod layout;
mod libyaml;
mod limits;
mod parser_stop;
mod place;
mod reader;
mod recovery;
mod scan;
mod simple;
mod syntax_error;
mod tree;
mod yaml;

pub use codes::{
    CODES, DOCUMENT_TOO_LARGE, INVALID_SYNTAX, JSON_EXTRA_SYNTAX, MULTIPLE_DOCUMENTS,
    SPLIT_SUBSTITUTION,
};
pub use format::Format;
pub use layout::{is_same, layout};
pub use limits::{MAX_BYTES, MAX_COPIED, MAX_DEPTH, MAX_NODES, USUAL_BYTES};
pub use tree::{Content, MapEntry, Node, Scalar, Style, Tree};

use diag::{Diagnostic, Diagnostics, FileId, Span};

/// Parses a text with one document. A second YAML document is reported and not parsed.
///
/// Never fails: invalid text gives the part of the tree that can be determined, and at least one
/// diagnostic.
pub fn parse(file: FileId, text: &str, format: Format) -> (Tree, Diagnostics) {
    if let Some(refused) = refuse_longer(file, text, format, MAX_BYTES) {
        return refused;
    }
    let mut found = Diagnostics::new();
    let tree = match format {
        Format::Yaml => yaml::parse(file, text, &mut found),
        Format::Json | Format::JsonWithComments => json::parse(file, text, format, &mut found),
    };
    found.sort();
    (tree, found)
}

/// Parses a text that may contain several YAML documents, separated by `---`.
///
/// Returns the documents in the order of the text, at least one. An empty document has a root
/// without text, or none. Places refer to the whole text. An anchor is visible only in its own
/// document. Limits apply to the whole text. A JSON text has one document. Never fails, as
/// [`parse`].
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

/// Parses a text with one YAML document as libyaml reads it, the library behind PyYAML. The
/// document is the given part of the text; places refer to the whole text.
///
/// Never fails, as [`parse`].
///
/// # Panics
///
/// If the part is not within the text, or does not begin and end between two characters.
pub fn parse_libyaml(
    file: FileId,
    text: &str,
    part: std::ops::Range<usize>,
) -> (Tree, Diagnostics) {
    if text.len() > MAX_BYTES {
        return parse(file, text, Format::Yaml);
    }
    let mut found = Diagnostics::new();
    let tree = libyaml::parse(file, text, part, &mut found);
    found.sort();
    (tree, found)
}

/// Returns an empty tree and the reason if a text has more than `most` bytes.
pub fn refuse_longer(
    file: FileId,
    text: &str,
    format: Format,
    most: usize,
) -> Option<(Tree, Diagnostics)> {
    if text.len() <= most {
        return None;
    }
    let tree = Tree {
        root: None,
        comments: Vec::new(),
        format,
    };
    let mut found = Diagnostics::new();
    found.push(too_long(file, text, most));
    Some((tree, found))
}

fn too_long(file: FileId, text: &str, most: usize) -> Diagnostic {
    let shown = match most % (1 << 20) {
        0 => format!("{} MiB", most >> 20),
        _ => format!("{most} bytes"),
    };
    DOCUMENT_TOO_LARGE
        .new(format!(
            "a document may have {shown} of text, this one has {} bytes",
            text.len()
        ))
        .label(Span::new(file, 0, 0), "not read")
        .help("split the document, or set `text-bytes` in `[documents]` of `cyan.toml`")
}
