//! What a provider is told about the declaration of a resource.

use crate::Name;

/// The folder of a declaration, and the name that the declaring dialect's tool gives the resource.
///
/// `T` is [`Name`], or `&str` where it is only passed on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeclarationSite<T = Name> {
    /// The folder of the declaring document, relative to that of the root document; empty for the
    /// root's own folder.
    pub folder: T,
    /// The name of the resource for plugins and in the state of the dialect's own tool, such as a
    /// URN of Pulumi (decisions/pulumi#names-of-resources); empty if the dialect has no such names.
    pub urn: T,
}

impl DeclarationSite {
    /// The same site, borrowed.
    pub fn borrowed(&self) -> DeclarationSite<&str> {
        DeclarationSite {
            folder: &self.folder,
            urn: &self.urn,
        }
    }
}

impl DeclarationSite<&str> {
    /// The same site with its own copy of the names.
    pub fn owned(self) -> DeclarationSite {
        // Most names are empty, and an empty name needs no allocation.
        let owned = |text: &str| match text {
            "" => Name::default(),
            text => text.into(),
        };
        DeclarationSite {
            folder: owned(self.folder),
            urn: owned(self.urn),
        }
    }
}
