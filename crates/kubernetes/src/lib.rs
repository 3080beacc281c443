//! The data side of Kubernetes: the names of kinds and objects, whether an object is ready, and what
//! the API server says when it refuses a request.
//!
//! An object is a `serde_json::Value`, as the API server sends it.
//!
//! Not here: connections, credentials and discovery (the host). The crate uses no clock, file or
//! network.
#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

mod failure;
mod field_set;
mod managed;
mod names;
mod path;
mod status;

pub use failure::{
    ApiFailure, FailedRequest, FailureReason, FieldConflict, FieldProblem, InvalidField,
};
pub use field_set::{FieldElement, FieldSet, FieldSetError, owned, without};
pub use managed::{ManagedFields, ManagerEntry, ManagerOperation};
pub use names::{
    ApiVersion, CORE, GroupKind, KindType, ManifestError, NAMESPACE, NameError, ObjectId, ObjectKey,
};
pub use path::field_path;
pub use status::{ObjectStatus, deletion_held_by, readiness};
