//! What is remembered of an instance, and the contract of a place where it can live.
//!
//! An instance is a tree of [`Record`]s at a [`Revision`], changed only by committed [`Entry`]s; a finished
//! [`Operation`] makes a [`Generation`]. Formats are versioned; older ones stay readable.
//!
//! Not here: any store (`stores`); what should happen to a resource (`engine`).
#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod conformance;
mod declared;
mod entry;
mod exported;
mod hidden;
mod host;
mod journal;
mod nesting;
mod record;
pub mod seal;
mod stop;
mod store;
pub mod tag;
mod verify;

pub use declared::{ChildRecord, DataRecord, Declared};
pub use entry::{Entry, EntryKind, Finished, Intent, Operation, OperationKind, OperationOutcome, Outcome};
pub use exported::{EXPORT_FORMAT, Exported, ExportedError};
pub use hidden::hides_id;
pub use host::{Host, Liveness, Process};
pub use journal::{Journal, MAX_DEPTH};
pub use nesting::read_json;
pub use record::{
    Generation, InstanceName, InstanceNameError, Open, Record, RecordOrigin, Remembered, Revision, Snapshot, Status,
    StatusOp, StatusWord,
};
pub use stop::{Stop, Stops};
pub use store::{
    BoxFuture, GenerationInfo, InstanceInfo, Lease, LeaseHolder, LogEntry, Managed, PROOF, Store, StoreError,
};
pub use verify::{Assurance, Damage, Verification, VerifiedInstance};
