//! The input and the output of lowering.

use blueprint::Blueprint;
use diag::{Diagnostics, FileId};
use syntax::{Format, Tree};

use crate::LoadContext;

/// A text with its trees.
#[derive(Clone, Copy)]
pub struct Document<'a> {
    /// The file.
    pub file: FileId,
    /// The name: the last part of the path, by which some dialects are recognised.
    pub name: &'a str,
    /// The text.
    pub text: &'a str,
    /// The trees of the text, in order.
    trees: &'a [Tree],
    /// The context in which the document is loaded.
    pub context: &'a LoadContext,
}

/// The tree of a document without a text of its own.
static NO_TREE: Tree = Tree {
    root: None,
    comments: Vec::new(),
    format: Format::Yaml,
};

impl<'a> Document<'a> {
    /// A text with its trees.
    pub fn new(
        file: FileId,
        name: &'a str,
        text: &'a str,
        trees: &'a [Tree],
        context: &'a LoadContext,
    ) -> Document<'a> {
        Document {
            file,
            name,
            text,
            trees,
            context,
        }
    }

    /// The tree of the text, for a dialect of one tree; the first one if there are several.
    pub fn tree(&self) -> &'a Tree {
        self.trees.first().unwrap_or(&NO_TREE)
    }

    /// All trees of the text, in order. A YAML stream has several, separated by `---`. While a
    /// document is recognised, these are all its trees; later a dialect that does not
    /// [read streams](crate::Dialect::reads_streams) gets the first one.
    pub fn trees(&self) -> &'a [Tree] {
        self.trees
    }
}

/// A blueprint, and the mistakes in its document.
pub struct Lowered {
    /// The meaning of the parts without mistakes.
    pub blueprint: Blueprint,
    /// All mistakes, in document order.
    pub diagnostics: Diagnostics,
}
