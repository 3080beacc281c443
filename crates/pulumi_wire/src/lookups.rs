//! The facts that a conversion needs from its caller.

use blueprint::{Address, Asset, Name};

use crate::archive_digest::ArchiveDigest;

/// A resource as Pulumi refers to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reference {
    /// The URN of the resource.
    pub urn: Name,
    /// The provider's id: `None` for a component, empty while the id is unknown.
    pub id: Option<Name>,
    /// The name of the resource in the URN.
    pub name: Name,
    /// The token of the resource's type.
    pub type_name: Name,
    /// The version of its package; empty if none is known.
    pub package_version: Name,
}

/// Facts about other resources and about files, which the values do not contain. The default
/// methods return nothing.
pub trait Lookups: Send + Sync {
    /// The resource at this address in this instance.
    fn reference(&self, _address: &Address) -> Option<Reference> {
        None
    }

    /// The address of the resource with this URN.
    fn address(&self, _urn: &str) -> Option<Address> {
        None
    }

    /// The hexadecimal SHA-256 digest of a file, or of an archive that is a file or folder.
    fn content_hash(&self, _asset: &Asset) -> Option<Name> {
        None
    }

    /// Adds a file under a name to an archive, or the entries of an archive below that name. `None`
    /// if its bytes are not known.
    fn add_content(&self, _asset: &Asset, _name: &str, _digest: &mut ArchiveDigest) -> Option<()> {
        None
    }
}

/// Lookups that know no resource and no file.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoLookups;

impl Lookups for NoLookups {}
