//! Names of instances, documents and types.

use blueprint::Name;
use diag::{Diagnostic, Span};

/// The name of a document in the dialect's own tool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DocumentName {
    /// The name that people use.
    pub name: String,
    /// The identifier, the same in every run.
    pub id: String,
}

/// How a dialect names elements.
pub trait NamingRules: Send + Sync {
    /// The diagnostic for a wrong name of an instance; `document` is the place of its root. None for a valid name.
    fn instance(&self, _name: &str, _document: Option<Span>) -> Option<Diagnostic> {
        None
    }

    /// The name and the identifier of the document to which these children of an instance lead.
    fn document(&self, instance: &str, path: &[Name]) -> DocumentName {
        let name = std::iter::once(instance).chain(path.iter().map(AsRef::as_ref)).collect::<Vec<_>>().join("/");
        DocumentName { id: name.clone(), name }
    }

    /// Whether the name of a type begins with that of its provider, so that an unknown provider is a mistake of its
    /// own.
    fn types_begin_with_provider(&self) -> bool {
        true
    }
}
