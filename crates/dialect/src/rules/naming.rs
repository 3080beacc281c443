//! Names of instances, documents and types.

use blueprint::{FormerIdentity, Name};
use diag::{Diagnostic, Span};

/// The name of a document in the dialect's original tool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DocumentName {
    /// The displayed name.
    pub name: String,
    /// The identifier, the same in every run.
    pub id: String,
}

/// A resource to be named for the plugins and the state of the dialect's original tool.
#[derive(Clone, Debug)]
pub struct NamedResource<'a> {
    /// The name of the instance.
    pub instance: &'a str,
    /// The project of the document.
    pub project: &'a str,
    /// The children above the document, outermost first; empty for the root document.
    pub path: &'a [Name],
    /// The types of its parents, outermost first, and its own type. A resource that configures a
    /// provider stands as the namespace of that provider.
    pub types: Vec<&'a str>,
    /// The name of the resource.
    pub name: &'a str,
}

/// A resource with the names that it may have had before.
#[derive(Clone, Copy, Debug)]
pub struct FormerNames<'a> {
    /// Its name for plugins.
    pub urn: &'a str,
    /// Its logical name.
    pub name: &'a str,
    /// Its parent's logical name, and the parent's former names for plugins.
    pub parent: Option<(&'a str, &'a [Name])>,
    /// The former identities that the document states, each with the name for plugins of the parent
    /// that it names.
    pub stated: &'a [(&'a FormerIdentity, Option<Name>)],
    /// The former names of its type.
    pub types: &'a [Name],
}

/// The rules for names.
pub trait NamingRules: Send + Sync {
    /// The diagnostic for an invalid name of an instance; `document` is the place of its root.
    /// `None` for a valid name.
    fn instance(&self, _name: &str, _document: Option<Span>) -> Option<Diagnostic> {
        None
    }

    /// The name and the identifier of the document at the end of a path of children in an instance.
    fn document(&self, instance: &str, path: &[Name]) -> DocumentName {
        let name = std::iter::once(instance)
            .chain(path.iter().map(AsRef::as_ref))
            .collect::<Vec<_>>()
            .join("/");
        DocumentName {
            id: name.clone(),
            name,
        }
    }

    /// The name of a resource for the plugins and the state of the original tool; empty if the
    /// dialect has no such names.
    fn resource(&self, _resource: &NamedResource<'_>) -> Name {
        Name::default()
    }

    /// The name of a resource for plugins in an instance of this name; `None` if it has that name, or
    /// if names do not depend on the instance.
    fn in_instance(&self, _urn: &str, _instance: &str) -> Option<Name> {
        None
    }

    /// The former names of a resource for plugins, those that the document states first. Empty if the
    /// dialect has no such names.
    fn former_resources(&self, _resource: &FormerNames<'_>) -> Vec<Name> {
        Vec::new()
    }

    /// Whether type names begin with the name of their provider, so that an unknown provider is a
    /// separate mistake.
    fn types_begin_with_provider(&self) -> bool {
        true
    }

    /// Advice for a type of this name that nobody offers; `None` for the native advice.
    fn unknown_type_help(&self, _name: &str) -> Option<String> {
        None
    }
}
