//! The stored state of an instance, and the contract of the stores that keep it.
//!
//! An instance is a tree of [`Record`]s at a [`Revision`], changed only by committed [`Entry`]s; a
//! finished [`Operation`] makes a [`Generation`]. Formats are versioned; older ones stay readable.
//!
//! Not here: implementations of stores (`stores`); decisions about resources (`engine`).
#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

mod declared;
mod derived;
mod entry;
mod error;
mod exported;
mod fold;
mod hidden;
mod host;
mod info;
mod instance;
mod journal;
mod lease;
mod lease_holder;
mod nesting;
mod record;
mod record_ties;
mod retention;
pub mod seal;
mod snapshot;
mod status;
mod stop;
mod store;
pub mod tag;
mod verify;

pub use declared::{ChildRecord, DataRecord, Declared};
pub use derived::{Since, Tail};
pub use entry::{
    Counts, Entry, EntryKind, Finished, Intent, Operation, OperationKind, OperationOutcome, Outcome,
};
pub use error::StoreError;
pub use exported::{EXPORT_FORMAT, Exported, ExportedError, PrunedBase};
pub use fold::{Fold, JournalHead, is_needed, records_are_left};
pub use futures::future::BoxFuture;
pub use hidden::hides_id;
pub use host::{Host, Liveness, Process};
pub use info::{Ended, GenerationInfo, InstanceInfo, LogEntry, Managed, OperationInfo};
pub use instance::{Generation, InstanceName, InstanceNameError, Revision};
pub use journal::{Journal, MAX_DEPTH};
pub use lease::{LEASE_CHECK_VALIDITY, Lease, LeaseRow};
pub use lease_holder::LeaseHolder;
pub use nesting::read_json;
pub use record::{Memoised, ProviderRef, Record, RecordOrigin};
pub use record_ties::{Keeping, RecordTies};
pub use retention::first_kept;
pub use snapshot::{Checkpoint, OpenIntent, Snapshot};
pub use status::{Status, StatusOp, StatusWord};
pub use stop::{Stop, Stops};
pub use store::{Pruned, Store};
pub use verify::{Assurance, Damage, Verification, VerifiedInstance};
