//! The data side of Kubernetes: the names of kinds and objects, whether an object is ready, what
//! the API server says when it refuses a request, which manager holds which field, and schemas as
//! types.
//!
//! ```text
//! OpenAPI document, CustomResourceDefinition ──schema──> ResourceType, ValueForms
//! manifest ──ObjectKey──> requests ──> object ──readiness──> ObjectStatus
//!                            │           └──ManagedFields, owned──> the fields of a manager
//!                            └─refused──ApiFailure──> FailureReason
//! CustomResourceDefinition ──structural──> pruned, defaulted and checked objects
//! ```
//!
//! An object is a `serde_json::Value`, as the API server sends it; for `structural`, a value of
//! `blueprint`, parts of which may be unknown or secret.
//!
//! Not here: connections, credentials and discovery (the host). The crate uses no clock, file or
//! network.
#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

mod builtin;
mod compare;
mod discovery;
mod failure;
mod field_set;
mod managed;
mod names;
mod path;
mod quantity;
pub mod schema;
mod status;
pub mod structural;

pub use builtin::{Builtin, builtin};
pub use compare::{differences, spelled_like};
pub use discovery::{KindInfo, served_kinds};
pub use failure::{
    ApiFailure, FailedRequest, FailureReason, FieldConflict, FieldProblem, InvalidField,
};
pub use field_set::{FieldElement, FieldSet, FieldSetError, owned, without};
pub use managed::{ManagedFields, ManagerEntry, ManagerOperation};
pub use names::{
    ApiVersion, CORE, GroupKind, KindType, ManifestError, NAMESPACE, NameError, ObjectId,
    ObjectKey, complete,
};
pub use path::field_path;
pub use provider::json;
pub use status::{ObjectStatus, deletion_held_by, readiness};
