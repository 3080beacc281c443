//! The snapshot: the state of an instance at a revision.

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
    /// The intent.
    pub intent: Intent,
}

/// An instance's state at a revision.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// Commits so far.
    pub revision: Revision,
    /// Finished operations so far.
    pub generation: Generation,
    /// A unique name for the instance, from which tokens are made; empty before the first commit.
    pub uid: Name,
    /// The document it belongs to, relative to the state; empty before the first commit.
    pub document: Name,
    /// Records by address, in the order in which they were first made.
    pub records: IndexMap<Address, Arc<Record>>,
    /// The resources that the named intermediate values of the last deployment used. Addresses in
    /// `dependencies` may name such a value.
    pub groups: IndexMap<Name, Vec<Address>>,
    /// Exported values of the last operation that succeeded.
    pub exports: IndexMap<Name, Value>,
    /// Whether an operation has failed since `exports` were written.
    pub exports_old: bool,
    /// Memoised values by call site.
    pub memoised: IndexMap<Name, Memoised>,
    /// Evaluated metadata of the document.
    pub metadata: Value,
    /// Children and data sources as of the last operation that succeeded.
    pub declared: Declared,
    /// The breakpoints, and the places where the last operation waits.
    pub stops: Stops,
    /// Calls that were in flight when the last operation ended without finishing, by address.
    pub open: IndexMap<Address, OpenIntent>,
    /// The ids of objects whose deletes were begun since the last operation that finished, by
    /// address. Together with `uid` and `generation` they distinguish one creation at an address
    /// from the next.
    pub deleted: IndexMap<Address, Name>,
}

impl Snapshot {
    /// All values: those of the records, of calls that were cut off, of exports, memoised values
    /// and metadata.
    pub fn values(&self) -> impl Iterator<Item = &Value> {
        let records = self.records.values().flat_map(|record| record.values());
        let open = self
            .open
            .values()
            .flat_map(|open| [&open.intent.inputs, &open.intent.private]);
        let memoised = self.memoised.values().map(|memoised| &memoised.value);
        records
            .chain(open)
            .chain(memoised)
            .chain(self.exports.values())
            .chain([&self.metadata])
            .chain(self.declared.values())
    }
}

/// A snapshot from which later entries can be followed: see [`Fold`](crate::Fold).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Checkpoint {
    /// The number of the last entry that it covers; 0 before the first.
    pub sequence: u64,
    /// The time of the first commit: seconds since 1970 UTC; 0 before the first commit.
    pub created: i64,
    /// The snapshot.
    pub snapshot: Snapshot,
}
