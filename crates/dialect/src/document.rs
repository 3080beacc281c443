//! The input and the output of lowering.

use blueprint::Blueprint;
use diag::{Diagnostics, FileId};
use syntax::Tree;

use crate::LoadContext;

/// A text with its tree.
pub struct Document<'a> {
    /// The file.
    pub file: FileId,
    /// The name: the last part of the path, by which some dialects are recognised.
    pub name: &'a str,
    /// The text.
    pub text: &'a str,
    /// The tree of the text.
    pub tree: &'a Tree,
    /// The context in which the document is loaded.
    pub context: &'a LoadContext,
}

/// A blueprint, and the mistakes in its document.
pub struct Lowered {
    /// The meaning of the parts without mistakes.
    pub blueprint: Blueprint,
    /// All mistakes, in document order.
    pub diagnostics: Diagnostics,
}
