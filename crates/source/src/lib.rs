//! The contract of a source of documents: requests ([`Request`]), answers ([`FetchedDocument`]), and one small trait
//! ([`Source`]).
//!
//! A source reads whole documents and does not interpret them. [`Sources`] chooses the source of a request. Every
//! implementation passes [`conformance`].
//!
//! Not here: any source (`sources`); which documents a blueprint needs, and what they mean.
#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod conformance;
mod contract;
mod digest;
mod error;
mod location;
mod page;
mod registry;

pub use contract::{FetchedDocument, ReadLimits, Request, Source, SourceKey, SourceKind};
pub use digest::{Digest, DigestError};
pub use error::SourceError;
pub use futures::future::BoxFuture;
pub use location::{DISK, Location};
pub use page::web_page;
pub use registry::Sources;
