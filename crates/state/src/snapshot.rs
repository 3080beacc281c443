//! Everything that is known of an instance at a revision.

use std::sync::Arc;

use blueprint::{Address, IndexMap, Name, Value};
use serde::{Deserialize, Serialize};

use crate::declared::Declared;
use crate::entry::Intent;
use crate::instance::{Generation, Revision};
use crate::record::{Memoised, Record};
use crate::stop::Stops;

/// An intent without an outcome: a call that was in flight when the process ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OpenIntent {
    /// What was intended.
    pub intent: Intent,
}

/// An instance's state at a revision.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// Commits so far.
    pub revision: Revision,
    /// Finished operations so far.
    pub generation: Generation,
    /// A name for the instance that no other has had, from which tokens are made; empty before the first commit.
    pub uid: Name,
    /// The document it belongs to, relative to the state; empty before the first commit.
    pub document: Name,
    /// Records by address, in the order in which they were first made.
    pub records: IndexMap<Address, Arc<Record>>,
    /// What the named intermediate values of the last deployment used: addresses in `dependencies` may name one.
    pub groups: IndexMap<Name, Vec<Address>>,
    /// Exported values of the last operation that succeeded.
    pub exports: IndexMap<Name, Value>,
    /// Whether an operation has failed since then, so that `exports` are of before.
    pub exports_old: bool,
    /// Memoised values by call site.
    pub memoised: IndexMap<Name, Memoised>,
    /// Evaluated metadata of the document.
    pub metadata: Value,
    /// Children and data sources as of the last operation that succeeded.
    pub declared: Declared,
    /// Where operations stop, and where the last one did.
    pub stops: Stops,
    /// Calls that were in flight when the last operation ended without finishing, by address.
    pub open: IndexMap<Address, OpenIntent>,
    /// The ids of objects whose deletes were begun since the last operation that finished, by address. Together with
    /// `uid` and `generation` they distinguish one creation at an address from the next.
    pub deleted: IndexMap<Address, Name>,
}

/// A snapshot that later entries can be followed from: see [`Fold`](crate::Fold).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Checkpoint {
    /// The last entry that it covers; 0 before the first.
    pub sequence: u64,
    /// When the instance was first committed to: seconds since 1970 UTC; 0 before the first commit.
    pub created: i64,
    /// The snapshot.
    pub snapshot: Snapshot,
}
