//! The context of a document besides its own text.

use std::sync::Arc;

use blueprint::{IndexMap, Name, Value};
use diag::{Diagnostics, FileId};
use syntax::Tree;

use crate::{Answers, DocumentSettings};

/// The context in which a document is loaded.
#[derive(Clone, Debug, Default)]
pub struct LoadContext {
    /// The dialect that is assumed if the text does not show one; none if there is no such assumption.
    pub dialect: Option<&'static str>,
    /// Another document includes it.
    pub is_child: bool,
    /// Nothing is read of it but its version and its inputs.
    pub inputs_only: bool,
    /// The dialect's data from companion files; none if there are none.
    pub own: Option<Arc<dyn DialectContext>>,
    /// Settings for documents.
    pub settings: DocumentSettings,
    /// The types that providers offer; `None` if they are unknown.
    pub types: Option<TypeLookup>,
    /// Answers to what its dialect wanted.
    pub answers: Answers,
}

/// A function that returns whether a provider offers the type of a name.
#[derive(Clone)]
pub struct TypeLookup(pub Arc<dyn Fn(&str) -> bool + Send + Sync>);

impl std::fmt::Debug for TypeLookup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Types")
    }
}

/// A dialect's data from companion files of a root.
pub trait DialectContext: Send + Sync + std::fmt::Debug {
    /// The context of a child with that name and type name.
    fn inside(&self, child: &str, type_name: &str) -> Arc<dyn DialectContext>;

    /// An identity: a document has the same meaning in contexts of the same identity.
    fn identity(&self) -> usize;

    /// Itself, for its dialect.
    fn as_any(&self) -> &dyn std::any::Any;
}

impl LoadContext {
    /// Nothing.
    pub const NONE: LoadContext = LoadContext {
        dialect: None,
        is_child: false,
        inputs_only: false,
        own: None,
        settings: DocumentSettings::NONE,
        types: None,
        answers: Answers::NONE,
    };
}

impl LoadContext {
    /// The context of a child with that name and type name.
    pub fn inside(&self, child: &str, type_name: &str) -> LoadContext {
        let own = self.own.as_ref().map(|own| own.inside(child, type_name));
        LoadContext { is_child: true, own, answers: Answers::NONE, ..self.clone() }
    }

    /// An identity: a document has the same meaning in contexts of the same identity.
    pub fn identity(&self) -> usize {
        self.own.as_ref().map_or(0, |own| own.identity())
    }
}

/// A file that is given along with the root.
pub struct Companion<'a> {
    /// Its file.
    pub file: FileId,
    /// Its name, for messages. Empty: values given outside of files, into which the files are merged.
    pub name: &'a str,
    /// Its folder, as seen from the root; empty for the folder of the root.
    pub folder: &'a str,
    /// Its tree.
    pub tree: &'a Tree,
}

/// The result of reading companion files.
#[derive(Clone, Debug, Default)]
pub struct LoadedCompanions {
    /// The context of the root.
    pub context: LoadContext,
    /// The values that they give for its inputs.
    pub given: IndexMap<Name, Value>,
    /// Mistakes in them.
    pub diagnostics: Diagnostics,
}
