//! The last operation on a resource, and its progress.

use std::fmt;

use blueprint::Breakpoint;
use serde::{Deserialize, Serialize};

/// The last operation on a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StatusOp {
    /// It was created.
    Create,
    /// It was updated.
    Update,
    /// It was deleted.
    Delete,
}

/// The progress of the last operation (decisions/apply#statuses).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StatusWord {
    /// The step is accepted.
    Pending,
    /// Intent is journalled, the call is in flight.
    Running,
    /// The provider accepted; not yet stable.
    Configured,
    /// As desired and stable.
    Ready,
    /// Refused, or retries are spent.
    Failed,
    /// The outcome is unknown.
    Interrupted,
    /// Never begun.
    Skipped,
    /// The deposed object of a create-first replacement, waiting to be deleted.
    Deposed,
    /// Detached, left in the world.
    Retained,
    /// Deleted and confirmed absent.
    Gone,
}

/// The status of a record: its last operation, the progress, and whether the operation was part of
/// a rollback.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// The last operation.
    pub op: StatusOp,
    /// The progress.
    pub word: StatusWord,
    /// Whether the operation was part of a rollback.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub undo: bool,
}

impl Status {
    /// A status outside a rollback.
    pub fn new(op: StatusOp, word: StatusWord) -> Status {
        Status {
            op,
            word,
            undo: false,
        }
    }
}

impl StatusOp {
    /// The action of a breakpoint.
    pub fn of(at: Breakpoint) -> StatusOp {
        match at {
            Breakpoint::PreCreate | Breakpoint::PostCreate => StatusOp::Create,
            Breakpoint::PreUpdate | Breakpoint::PostUpdate => StatusOp::Update,
            Breakpoint::PreDelete | Breakpoint::PostDelete => StatusOp::Delete,
        }
    }

    /// The breakpoint before it.
    pub fn before(self) -> Breakpoint {
        match self {
            StatusOp::Create => Breakpoint::PreCreate,
            StatusOp::Update => Breakpoint::PreUpdate,
            StatusOp::Delete => Breakpoint::PreDelete,
        }
    }

    /// The breakpoint after it.
    pub fn after(self) -> Breakpoint {
        match self {
            StatusOp::Create => Breakpoint::PostCreate,
            StatusOp::Update => Breakpoint::PostUpdate,
            StatusOp::Delete => Breakpoint::PostDelete,
        }
    }

    /// The word: `create`, `update` or `delete`.
    pub fn word(self) -> &'static str {
        match self {
            StatusOp::Create => "create",
            StatusOp::Update => "update",
            StatusOp::Delete => "delete",
        }
    }
}

impl StatusWord {
    /// The word: `ready`, `failed`, ...
    pub fn word(self) -> &'static str {
        match self {
            StatusWord::Pending => "pending",
            StatusWord::Running => "running",
            StatusWord::Configured => "configured",
            StatusWord::Ready => "ready",
            StatusWord::Failed => "failed",
            StatusWord::Interrupted => "interrupted",
            StatusWord::Skipped => "skipped",
            StatusWord::Deposed => "deposed",
            StatusWord::Retained => "retained",
            StatusWord::Gone => "gone",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let undo = if self.undo { "undoing " } else { "" };
        write!(f, "{undo}{} {}", self.op.word(), self.word.word())
    }
}
