//! Something that happened; the only way progress leaves the engine.

use std::sync::Arc;

use blueprint::{Address, Breakpoint, Name};
use provider::Operation;
use serde::Serialize;
use state::OperationOutcome;

/// What happened. Never holds a secret.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// An operation began.
    Began {
        /// The instance.
        instance: Name,
        /// How many calls are planned.
        calls: u64,
    },
    /// A call began.
    Started {
        /// On what.
        address: Address,
        /// What is done.
        operation: Operation,
        /// The half of a replacement it is.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        replacing: bool,
    },
    /// The provider said how far it is.
    Progress {
        /// On what.
        address: Address,
        /// Its words, one line.
        text: Arc<str>,
    },
    /// The provider accepted; the thing is not ready yet.
    Configured {
        /// What.
        address: Address,
    },
    /// A batch of a group is done; the next one comes after a pause.
    Pausing {
        /// How long, in milliseconds.
        for_ms: u64,
    },
    /// A call will be tried again.
    Retrying {
        /// On what.
        address: Address,
        /// Which try comes next, from 2.
        attempt: u32,
        /// After how many milliseconds.
        after_ms: u64,
        /// Why: the provider's words.
        reason: Name,
    },
    /// A step is done.
    Done {
        /// On what.
        address: Address,
        /// What was done.
        operation: Operation,
        /// The half of a replacement it is.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        replacing: bool,
    },
    /// A step turned out not to be needed, or its condition came out false.
    Unneeded {
        /// On what.
        address: Address,
        /// Why.
        reason: Name,
    },
    /// A step failed.
    Failed {
        /// On what.
        address: Address,
        /// What was tried.
        operation: Operation,
        /// Why, in a line.
        message: Name,
    },
    /// A data source could not be read.
    Unread {
        /// Which.
        address: Address,
        /// Why, in a line.
        message: Name,
    },
    /// Only what is remembered of a thing has changed, or a data source was read.
    Recorded {
        /// Of what.
        address: Address,
        /// How, as in `moved` or `read`.
        how: Name,
    },
    /// A step was never begun.
    Skipped {
        /// On what.
        address: Address,
        /// Why.
        reason: Name,
    },
    /// The operation stands at a breakpoint; what waits for it is left, and everything else goes on.
    Waiting {
        /// The thing, or the includes that lead to a child.
        address: Name,
        /// The breakpoint.
        at: Breakpoint,
    },
    /// Nothing new starts any more; what runs is waited for.
    Draining {
        /// How many calls still run.
        running: u64,
    },
    /// The operation has failed and is undone: another one follows, back to the last generation that ended well.
    RollingBack {
        /// The generation; none where there was no instance before.
        generation: Option<u64>,
    },
    /// The operation is over.
    Finished {
        /// How it ended.
        outcome: OperationOutcome,
        /// Created.
        created: u64,
        /// Updated.
        updated: u64,
        /// Deleted.
        deleted: u64,
        /// Replaced.
        replaced: u64,
    },
}
