//! What a dialect reads, and what it makes of that.

use blueprint::Blueprint;
use diag::{Diagnostics, FileId};
use syntax::Tree;

use crate::Surroundings;

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
    /// What it stands in.
    pub around: &'a Surroundings,
}

/// A blueprint, and everything that is wrong with the document it came from.
pub struct Lowered {
    /// The meaning of what could be understood.
    pub blueprint: Blueprint,
    /// What is wrong, in document order.
    pub diagnostics: Diagnostics,
}
