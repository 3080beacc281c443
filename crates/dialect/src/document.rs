//! The input and the output of lowering.

use blueprint::Blueprint;
use diag::{Diagnostics, FileId};
use syntax::{Format, Tree};

use crate::{FolderEntry, LoadContext};

/// A text with its trees, or a folder with its entries.
#[derive(Clone, Copy)]
pub struct Document<'a> {
    /// The file.
    pub file: FileId,
    /// The name: the last part of the path, by which some dialects are recognised.
    pub name: &'a str,
    /// The text; that of a folder is its listing.
    pub text: &'a str,
    content: DocumentContent<'a>,
    /// The context in which the document is loaded.
    pub context: &'a LoadContext,
}

/// What a document consists of.
#[derive(Clone, Copy)]
enum DocumentContent<'a> {
    /// The trees of a text, in order.
    Trees(&'a [Tree]),
    /// The entries of a folder, sorted by name.
    Folder(&'a [FolderEntry]),
}

/// The tree of a folder.
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
            content: DocumentContent::Trees(trees),
            context,
        }
    }

    /// A folder with its entries. `text` is its listing.
    pub fn of_folder(
        file: FileId,
        name: &'a str,
        text: &'a str,
        entries: &'a [FolderEntry],
        context: &'a LoadContext,
    ) -> Document<'a> {
        Document {
            file,
            name,
            text,
            content: DocumentContent::Folder(entries),
            context,
        }
    }

    /// The tree of the text, for a dialect of one tree: the first one if there are several, an empty
    /// one for a folder.
    pub fn tree(&self) -> &'a Tree {
        self.trees().first().unwrap_or(&NO_TREE)
    }

    /// All trees of the text, in order. A YAML stream has several, separated by `---`. While a
    /// document is recognised, these are all its trees; later a dialect that does not
    /// [read streams](crate::Dialect::reads_streams) gets the first one.
    pub fn trees(&self) -> &'a [Tree] {
        match self.content {
            DocumentContent::Trees(trees) => trees,
            DocumentContent::Folder(_) => &[],
        }
    }

    /// The entries of a folder, sorted by name; `None` for a text. Only a dialect that
    /// [reads folders](crate::Dialect::reads_folders) gets a folder.
    pub fn entries(&self) -> Option<&'a [FolderEntry]> {
        match self.content {
            DocumentContent::Trees(_) => None,
            DocumentContent::Folder(entries) => Some(entries),
        }
    }
}

/// A blueprint, and the mistakes in its document.
pub struct Lowered {
    /// The meaning of the parts without mistakes.
    pub blueprint: Blueprint,
    /// All mistakes, in document order.
    pub diagnostics: Diagnostics,
}
