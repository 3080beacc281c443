//! The contract of a place that documents come from: what is asked ([`Request`]), what comes back ([`Document`]), and
//! one small trait ([`Source`]).
//!
//! A source reads whole documents and knows nothing of what stands in them. [`Sources`] picks the one that a request is
//! for. Every implementation passes [`conformance`].
//!
//! Not here: any source (`sources`); which documents a blueprint needs, and what becomes of them (`engine`).
#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod conformance;
mod contract;
mod digest;
mod error;
mod location;
mod page;
mod registry;

pub use contract::{BoxFuture, Document, Key, Kind, Limits, Request, Source};
pub use digest::{Digest, DigestError};
pub use error::SourceError;
pub use location::{DISK, Location};
pub use page::web_page;
pub use registry::Sources;
