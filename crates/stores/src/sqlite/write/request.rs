//! The requests to the writer, and its answers.

use std::time::Duration;

use futures::channel::oneshot;
use state::seal::Sealer;
use state::{Checkpoint, Entry, InstanceName, Lease, LeaseHolder, Pruned, Revision, StoreError};

/// A request to the writer.
pub(in crate::sqlite) enum WriteRequest {
    Commit {
        lease: Lease,
        expected: Revision,
        entries: Vec<Entry>,
    },
    Lease {
        instance: InstanceName,
        who: String,
        lasts: Duration,
    },
    Renew {
        lease: Lease,
        lasts: Duration,
    },
    Release {
        lease: Lease,
    },
    TakeAway {
        instance: InstanceName,
        who: String,
        lasts: Duration,
        even_active: bool,
    },
    Prune {
        lease: Lease,
        /// The first operation to keep.
        first: String,
    },
    Rename {
        lease: Lease,
        /// The new name.
        to: InstanceName,
    },
    /// Always alone: a refusal in the middle must leave no change.
    Restore {
        instance: InstanceName,
        revision: Revision,
        base: Option<Box<Checkpoint>>,
        operations: Vec<Vec<Entry>>,
    },
    /// Always alone: it has a transaction of its own.
    Rekey {
        to: Sealer,
    },
    #[cfg(test)]
    Pragma(&'static str, i64),
}

/// The answer to a request.
pub(in crate::sqlite) enum WriteAnswer {
    Committed(Revision),
    Leased(Lease),
    TakenAway(Option<(LeaseHolder, Lease)>),
    Rekeyed(u64),
    Pruned(Pruned),
    Done,
}

pub(in crate::sqlite) type ReplySender = oneshot::Sender<Result<WriteAnswer, StoreError>>;

impl WriteRequest {
    /// The answer if there is no file, for requests that do not create it.
    pub(super) fn answer_without_file(&self) -> Option<WriteAnswer> {
        match self {
            WriteRequest::TakeAway { .. } => Some(WriteAnswer::TakenAway(None)),
            WriteRequest::Release { .. } => Some(WriteAnswer::Done),
            WriteRequest::Rekey { .. } => Some(WriteAnswer::Rekeyed(0)),
            _ => None,
        }
    }
}
