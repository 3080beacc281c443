//! The data that lists and overviews show of an instance: no documents, no values, nothing that
//! needs a key.

use blueprint::{Address, Breakpoint, Name, TypeId};

use crate::entry::{Counts, Entry, Finished, Operation, OperationKind, OperationOutcome};
use crate::instance::{Generation, InstanceName, Revision};
use crate::lease_holder::LeaseHolder;

/// An instance at a glance.
#[derive(Clone, Debug)]
pub struct InstanceInfo {
    /// Its name.
    pub name: InstanceName,
    /// Commits so far.
    pub revision: Revision,
    /// Finished operations so far.
    pub generation: Generation,
    /// The document it belongs to.
    pub document: Name,
    /// The number of its records.
    pub records: u64,
    /// The time of the first commit: seconds since 1970 UTC.
    pub created: i64,
    /// The last operation and how it ended; no outcome while it runs or if it was cut off.
    pub last: Option<(OperationInfo, Option<OperationOutcome>)>,
    /// The oldest operation that the current state depends on and that cannot be pruned; `None` if
    /// there is none.
    pub needed: Option<Name>,
    /// The places where the last operation waits, if it has ended: see
    /// [`Stop::waiting`](crate::Stop::waiting).
    pub waiting: Vec<(Name, Breakpoint)>,
    /// The holder of the lease, even if the lease has expired and was not given back.
    pub holder: Option<LeaseHolder>,
    /// Whether the store has verified this data; false if the key is not available.
    pub verified: bool,
}

/// An [`Operation`] without its documents and values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperationInfo {
    /// The id of the operation.
    pub id: Name,
    /// The kind of run.
    pub kind: OperationKind,
    /// The user who started it, as `user@host`.
    pub who: Name,
    /// The start time: seconds since 1970 UTC.
    pub began: i64,
    /// The document, relative to the state; empty for a destroy.
    pub document: Name,
}

impl From<&Operation> for OperationInfo {
    fn from(operation: &Operation) -> OperationInfo {
        OperationInfo {
            id: operation.id.clone(),
            kind: operation.kind,
            who: operation.who.clone(),
            began: operation.began,
            document: operation.document.clone(),
        }
    }
}

/// The end of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The result.
    pub outcome: OperationOutcome,
    /// The time: seconds since 1970 UTC.
    pub at: i64,
    /// The generation that it made.
    pub generation: Generation,
    /// The numbers of resources that it changed.
    pub counts: Counts,
}

impl From<&Finished> for Ended {
    fn from(finished: &Finished) -> Ended {
        let Finished {
            outcome,
            at,
            generation,
            counts,
            ..
        } = *finished;
        Ended {
            outcome,
            at,
            generation,
            counts,
        }
    }
}

/// One operation of the history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GenerationInfo {
    /// The operation.
    pub operation: OperationInfo,
    /// Its end; `None` while it runs or if it was cut off.
    pub finished: Option<Ended>,
}

/// An entry with its place in the journal.
#[derive(Clone, Debug, PartialEq)]
pub struct LogEntry {
    /// Its number in the journal of the instance, from 1.
    pub sequence: u64,
    /// The id of the operation that it belongs to.
    pub operation: Name,
    /// The entry.
    pub entry: Entry,
}

/// A resource that an instance manages.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Managed {
    /// The instance.
    pub instance: InstanceName,
    /// The address of the resource.
    pub address: Address,
    /// Its type.
    pub type_name: TypeId,
    /// The provider's id.
    pub id: Name,
}
