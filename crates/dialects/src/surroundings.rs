//! What a document stands in beside its own text.

use std::sync::Arc;

use blueprint::{IndexMap, Name, Value};
use diag::{Diagnostics, FileId};
use syntax::Tree;

use crate::{Answers, Settings};

/// What a document stands in beside its own text: what is known of its language, and files that are given along with it.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// The dialect that it is taken to be in where its text does not say; none where nobody knows.
    pub dialect: Option<&'static str>,
    /// Another document includes it.
    pub is_child: bool,
    /// Nothing is read of it but its version and its inputs.
    pub inputs_only: bool,
    /// What the dialect of the root makes of such files; none where there are none.
    pub own: Option<Arc<dyn Own>>,
    /// What is set for documents.
    pub settings: Settings,
    /// Which types somebody offers; none where nobody knows.
    pub types: Option<Types>,
    /// What was answered to what its dialect wanted.
    pub answers: Answers,
}

/// Says of a name whether somebody offers a type that is called so.
#[derive(Clone)]
pub struct Types(pub Arc<dyn Fn(&str) -> bool + Send + Sync>);

impl std::fmt::Debug for Types {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Types")
    }
}

/// What a dialect makes of files that are given along with a root.
pub trait Own: Send + Sync + std::fmt::Debug {
    /// What a child of that name stands in, where its type is written so.
    fn inside(&self, child: &str, type_name: &str) -> Arc<dyn Own>;

    /// Something by which two of them are told apart: a document means the same wherever it is the same.
    fn identity(&self) -> usize;

    /// Itself, for its dialect.
    fn as_any(&self) -> &dyn std::any::Any;
}

impl Surroundings {
    /// Nothing.
    pub const NONE: Surroundings = Surroundings {
        dialect: None,
        is_child: false,
        inputs_only: false,
        own: None,
        settings: Settings::NONE,
        types: None,
        answers: Answers::NONE,
    };
}

impl Surroundings {
    /// What a child of that name stands in, where its type is written so.
    pub fn inside(&self, child: &str, type_name: &str) -> Surroundings {
        let own = self.own.as_ref().map(|own| own.inside(child, type_name));
        Surroundings { is_child: true, own, answers: Answers::NONE, ..self.clone() }
    }

    /// Something by which two of them are told apart: a document means the same wherever it is the same.
    pub fn identity(&self) -> usize {
        self.own.as_ref().map_or(0, |own| own.identity())
    }
}

/// A file that is given along with the root.
pub struct Beside<'a> {
    /// Its file.
    pub file: FileId,
    /// Its name, for messages. Without one it is no file, but what is given beside the files: these are merged into it.
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
