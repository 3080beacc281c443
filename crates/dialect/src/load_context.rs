//! The context of a document besides its own text.

use std::sync::Arc;

use blueprint::{IndexMap, Name, Value};
use diag::{Diagnostics, FileId};
use syntax::Tree;

use crate::{Answers, DocumentSettings};

/// The context in which a document is loaded.
#[derive(Clone, Debug, Default)]
pub struct LoadContext {
    /// The dialect that is assumed if the text does not show one; `None` for no assumption.
    pub dialect: Option<&'static str>,
    /// Whether another document includes this one.
    pub is_child: bool,
    /// Whether only the version and the inputs are read.
    pub inputs_only: bool,
    /// Whether the text is the listing of a folder, not that of a file.
    pub is_folder: bool,
    /// Whether the text is written out in another document, not in a file of its own.
    pub is_written_out: bool,
    /// The dialect's data from companion files, if there are any.
    pub dialect_context: Option<Arc<dyn DialectContext>>,
    /// Settings for documents.
    pub settings: DocumentSettings,
    /// The types that providers offer; `None` if they are unknown.
    pub types: Option<TypeLookup>,
    /// The answers to the dialect's requests.
    pub answers: Answers,
}

/// A function that returns whether a provider offers something with a name.
pub type NameLookup = Arc<dyn Fn(&str) -> bool + Send + Sync>;

/// What providers offer, by name.
#[derive(Clone)]
pub struct TypeLookup {
    /// Whether a provider offers the resource type with a name.
    pub has_type: NameLookup,
    /// Whether a package offers the function with a name, as `package/token`.
    pub has_function: NameLookup,
}

impl std::fmt::Debug for TypeLookup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Types")
    }
}

/// A dialect's data from companion files of a root.
pub trait DialectContext: Send + Sync + std::fmt::Debug {
    /// The context of a child with this name and type name.
    fn for_child(&self, child: &str, type_name: &str) -> Arc<dyn DialectContext>;

    /// An identity: a document has the same meaning in contexts of the same identity.
    fn identity(&self) -> usize;

    /// The value as `Any`, so that the dialect can downcast it.
    fn as_any(&self) -> &dyn std::any::Any;
}

impl LoadContext {
    /// The empty context.
    pub const NONE: LoadContext = LoadContext {
        dialect: None,
        is_child: false,
        inputs_only: false,
        is_folder: false,
        is_written_out: false,
        dialect_context: None,
        settings: DocumentSettings::NONE,
        types: None,
        answers: Answers::NONE,
    };
}

impl LoadContext {
    /// The context of a child with this name and type name.
    pub fn for_child(&self, child: &str, type_name: &str) -> LoadContext {
        let own = self
            .dialect_context
            .as_ref()
            .map(|own| own.for_child(child, type_name));
        LoadContext {
            is_child: true,
            is_folder: false,
            is_written_out: false,
            dialect_context: own,
            answers: Answers::NONE,
            ..self.clone()
        }
    }

    /// An identity: a document has the same meaning in contexts of the same identity.
    pub fn identity(&self) -> usize {
        self.dialect_context
            .as_ref()
            .map_or(0, |own| own.identity())
    }
}

/// Returns the name of the instance that a file name contains; `None` for other files.
pub type CompanionNames = fn(&str) -> Option<&str>;

/// A file that is given together with the root.
pub struct Companion<'a> {
    /// The file.
    pub file: FileId,
    /// The name, for messages. Empty for values given outside of files, into which the files are
    /// merged.
    pub name: &'a str,
    /// The folder relative to the root; empty for the folder of the root.
    pub folder: &'a str,
    /// The tree.
    pub tree: &'a Tree,
    /// Whether only a check reads it: values that need a secret of the user may be unknown.
    pub is_check: bool,
}

/// The result of reading companion files.
#[derive(Clone, Debug, Default)]
pub struct LoadedCompanions {
    /// The context of the root.
    pub context: LoadContext,
    /// The values that the files give for the root's inputs.
    pub input_values: IndexMap<Name, Value>,
    /// Mistakes in the files.
    pub diagnostics: Diagnostics,
}
