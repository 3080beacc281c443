//! The data side of Pulumi's provider protocol: values on the wire, the encoding rules of each
//! call, property paths, resource names (URNs), and package schemas as types.
//!
//! ```text
//! GetSchema ──PackageSchema──> PackageTypes        the types that documents are checked with
//! Value ──encode(Encoding)──> Struct ──> plugin ──> Struct ──decode(Decoding)──> Value
//! ```
//!
//! Not here: messages, processes and connections (`pulumi_host`). The crate uses no clock, file or
//! network.
#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

mod archive_digest;
mod asset;
mod compare;
mod decode;
mod encode;
mod lookups;
mod marks;
mod path;
mod rules;
pub mod schema;
mod signature;
mod urn;

pub use archive_digest::{ArchiveDigest, content_digest};
pub use asset::{asset_hash, restore_content};
pub use compare::{differences, same};
pub use decode::{DecodeError, DecodeProblem, Decoding, decode};
pub use encode::{EncodeError, EncodeProblem, Encoding, encode};
pub use lookups::{Lookups, NoLookups, Reference};
pub use marks::{mark_every_entry, mark_like_inputs};
pub use path::{PathError, PropertyPath, PropertyStep};
pub use prost_types::Struct;
pub use rules::{Accepts, Phase, RequestPart};
pub use signature::UNKNOWN_TEXT;
pub use urn::Urn;
