//! The data side of Kubernetes: the names of kinds and objects, and whether an object is ready.
//!
//! An object is a `serde_json::Value`, as the API server sends it.
//!
//! Not here: connections, credentials and discovery (the host). The crate uses no clock, file or
//! network.
#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

mod names;
mod status;

pub use names::{
    ApiVersion, CORE, GroupKind, KindType, ManifestError, NAMESPACE, NameError, ObjectId, ObjectKey,
};
pub use status::{ObjectStatus, deletion_held_by, readiness};
