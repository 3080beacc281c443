//! Parses the text of a document as the dialect that recognises it reads it: one tree or a stream,
//! YAML or JSON.
//!
//! A text of one tree is parsed once. Only a text with a second tree is parsed again, if a dialect
//! reads streams.

use diag::{Diagnostics, FileId};
use syntax::{Format, MULTIPLE_DOCUMENTS, Tree};

use crate::{Dialect, Dialects, Document, LoadContext};

/// A parsed text.
pub struct ParsedText {
    /// The dialect that recognises the text; `None` if no dialect does.
    pub dialect: Option<&'static dyn Dialect>,
    /// The syntax errors.
    pub found: Diagnostics,
    trees: ParsedTrees,
}

/// The trees of a text. A single tree needs no vector.
enum ParsedTrees {
    One(Tree),
    Stream(Vec<Tree>),
}

impl ParsedText {
    /// The trees, in the order of the text. A dialect that does not read streams has one.
    pub fn trees(&self) -> &[Tree] {
        self.trees.as_slice()
    }
}

impl ParsedTrees {
    fn as_slice(&self) -> &[Tree] {
        match self {
            ParsedTrees::One(tree) => std::slice::from_ref(tree),
            ParsedTrees::Stream(trees) => trees,
        }
    }
}

impl Dialects {
    /// Parses a text and finds its dialect. `name` is the last part of its path. Never fails: a
    /// text with errors has the trees that can be determined.
    pub fn parse(&self, file: FileId, name: &str, text: &str, context: &LoadContext) -> ParsedText {
        let format = Format::of_name(name);
        let (tree, found) = syntax::parse(file, text, format);
        let detect = |trees: &[Tree]| self.detect(&Document::new(file, name, text, trees, context));
        if has_second_tree(&found) && self.iter().any(|dialect| dialect.reads_streams()) {
            let (trees, of_stream) = syntax::parse_stream(file, text, format);
            let dialect = detect(&trees);
            if dialect.is_some_and(|dialect| dialect.reads_streams()) {
                return ParsedText {
                    dialect,
                    found: of_stream,
                    trees: ParsedTrees::Stream(trees),
                };
            }
        }
        let dialect = detect(std::slice::from_ref(&tree));
        // A text may be JSON despite its file name, if its dialect accepts such texts.
        let may_be_json = format == Format::Yaml
            && text.trim_start().starts_with('{')
            && dialect.is_some_and(|dialect| dialect.reads_json_first());
        if may_be_json {
            let (json, broken) = syntax::parse(file, text, Format::Json);
            if broken.is_empty() {
                return ParsedText {
                    dialect: detect(std::slice::from_ref(&json)),
                    found,
                    trees: ParsedTrees::One(json),
                };
            }
        }
        ParsedText {
            dialect,
            found,
            trees: ParsedTrees::One(tree),
        }
    }
}

/// Whether the syntax errors of one tree say that the text has a second one.
fn has_second_tree(found: &Diagnostics) -> bool {
    found
        .iter()
        .any(|one| one.code.name == MULTIPLE_DOCUMENTS.name)
}
