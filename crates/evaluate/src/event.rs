//! Events of an operation. They are the only way in which progress leaves the engine.

use std::sync::Arc;

use blueprint::{Address, Breakpoint, Name};
use provider::Operation;
use serde::Serialize;
use state::OperationOutcome;

/// An event. It never contains a secret.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// An operation began.
    Began {
        /// The instance.
        instance: Name,
        /// The number of planned calls.
        calls: u64,
    },
    /// A call began.
    Started {
        /// The resource.
        address: Address,
        /// The operation.
        operation: Operation,
        /// Whether the call is one half of a replacement.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        replacing: bool,
    },
    /// The provider reported progress.
    Progress {
        /// The resource.
        address: Address,
        /// The provider's message, one line.
        text: Arc<str>,
    },
    /// The provider accepted the call; the resource is not ready yet.
    Configured {
        /// The resource.
        address: Address,
    },
    /// A batch of a group is done; the next one starts after a pause.
    Pausing {
        /// The length of the pause in milliseconds.
        for_ms: u64,
    },
    /// A call will be retried.
    Retrying {
        /// The resource.
        address: Address,
        /// The number of the next attempt, from 2.
        attempt: u32,
        /// The pause before it in milliseconds.
        after_ms: u64,
        /// The provider's error message.
        reason: Name,
    },
    /// A step is done.
    Done {
        /// The resource.
        address: Address,
        /// The operation.
        operation: Operation,
        /// Whether the step is one half of a replacement.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        replacing: bool,
    },
    /// A step is not needed, or its condition is false.
    Unneeded {
        /// The resource.
        address: Address,
        /// The reason.
        reason: Name,
    },
    /// A step failed.
    Failed {
        /// The resource.
        address: Address,
        /// The attempted operation.
        operation: Operation,
        /// The error in one line.
        message: Name,
    },
    /// A data source could not be read.
    Unread {
        /// The data source.
        address: Address,
        /// The error in one line.
        message: Name,
    },
    /// Only the record of a resource has changed, or a data source was read.
    Recorded {
        /// The resource or data source.
        address: Address,
        /// The kind of change, for example `moved` or `read`.
        how: Name,
    },
    /// A step was not started.
    Skipped {
        /// The resource.
        address: Address,
        /// The reason.
        reason: Name,
    },
    /// The operation waits at a breakpoint. Steps that depend on it stay undone; all others go on.
    Waiting {
        /// The resource, or the includes that lead to a child.
        address: Name,
        /// The breakpoint.
        at: Breakpoint,
    },
    /// A resource is not ready in time. The operation ends without it and what needs it; the next
    /// one waits again.
    Held {
        /// The resource.
        address: Address,
        /// What it waits for.
        why: Name,
    },
    /// No new calls start; the operation waits for the running ones.
    Draining {
        /// The number of running calls.
        running: u64,
    },
    /// The operation has failed. A rollback to the last generation that succeeded follows.
    RollingBack {
        /// The generation; `None` if there was no instance before.
        generation: Option<u64>,
    },
    /// The operation has ended.
    Finished {
        /// The outcome of the operation.
        outcome: OperationOutcome,
        /// The number of created resources.
        created: u64,
        /// The number of updated resources.
        updated: u64,
        /// The number of deleted resources.
        deleted: u64,
        /// The number of replaced resources.
        replaced: u64,
    },
}
