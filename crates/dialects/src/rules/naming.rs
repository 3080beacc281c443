//! Names of instances, documents and types.

use blueprint::Name;
use diag::{Diagnostic, Span};

/// What the dialect's own tool calls a document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DocumentName {
    /// The name that people use.
    pub name: String,
    /// The identifier, the same in every run.
    pub id: String,
}

/// How a dialect names things.
pub trait NamingRules: Send + Sync {
    /// What is wrong with a name for an instance of a document that stands there; none if nothing is.
    fn instance(&self, _name: &str, _document: Option<Span>) -> Option<Diagnostic> {
        None
    }

    /// The name and the identifier of the document to which these children of an instance lead.
    fn document(&self, instance: &str, path: &[Name]) -> DocumentName {
        let name = std::iter::once(instance).chain(path.iter().map(AsRef::as_ref)).collect::<Vec<_>>().join("/");
        DocumentName { id: name.clone(), name }
    }

    /// Whether the name of a type begins with that of its provider, so that an unknown provider is a mistake of its own.
    fn types_begin_with_provider(&self) -> bool {
        true
    }
}
