//! The contract of a source of documents: requests ([`Request`]), answers ([`FetchedDocument`]),
//! and one small trait ([`Source`]).
//!
//! A source reads whole documents and the listings of folders, and does not interpret them.
//! [`Sources`] selects the source of a request. Every implementation passes
//! `contract_tests::source`.
//!
//! Not here: implementations of sources (`sources`); the documents that a blueprint needs, and
//! their meaning.
#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

mod contract;
mod digest;
mod error;
mod folder;
mod location;
mod page;
mod registry;

pub use contract::{FetchedDocument, ReadLimits, Request, Source, SourceKey, SourceKind};
pub use digest::{Digest, DigestError};
pub use error::SourceError;
pub use folder::{FolderEntry, FolderListing};
pub use futures::future::BoxFuture;
pub use location::{DISK, Location};
pub use page::web_page;
pub use registry::Sources;
