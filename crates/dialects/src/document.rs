//! The input and the output of lowering.

use blueprint::Blueprint;
use diag::{Diagnostics, FileId};
use syntax::Tree;

use crate::LoadContext;

/// A text that was read as a tree.
pub struct Document<'a> {
    /// Its file.
    pub file: FileId,
    /// Its name: the last part of its path, by which some dialects are recognised.
    pub name: &'a str,
    /// Its text.
    pub text: &'a str,
    /// Its tree.
    pub tree: &'a Tree,
    /// Its context.
    pub context: &'a LoadContext,
}

/// A blueprint, and everything that is wrong with the document it came from.
pub struct Lowered {
    /// The meaning of the parts without mistakes.
    pub blueprint: Blueprint,
    /// All mistakes, in document order.
    pub diagnostics: Diagnostics,
}
