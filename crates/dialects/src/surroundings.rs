//! What a document stands in beside its own text.

use std::sync::Arc;

use blueprint::{IndexMap, Name, Value};
use diag::{Diagnostics, FileId};
use syntax::Tree;

use crate::hot::Around;

/// What a document stands in beside its own text: what is known of its language, and files that are given along with it.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// The dialect that it is taken to be in where its text does not say; none where nobody knows.
    pub dialect: Option<&'static str>,
    /// Another document includes it.
    pub is_child: bool,
    /// The environment of a template of Heat.
    pub(crate) hot: Option<Arc<Around>>,
}

impl Surroundings {
    /// Nothing.
    pub const NONE: Surroundings = Surroundings { dialect: None, is_child: false, hot: None };
}

/// A file that is given along with the root.
pub struct Beside<'a> {
    /// Its file.
    pub file: FileId,
    /// Its name, for messages.
    pub name: &'a str,
    /// The folder it stands in, as paths in the root may name it; empty for that of the root.
    pub folder: &'a str,
    /// Its tree.
    pub tree: &'a Tree,
}

/// What files along with the root come to.
#[derive(Clone, Debug, Default)]
pub struct Surrounded {
    /// What the root stands in.
    pub surroundings: Surroundings,
    /// What they give for its inputs.
    pub given: IndexMap<Name, Value>,
    /// What is wrong with them.
    pub diagnostics: Diagnostics,
}
