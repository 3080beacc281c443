//! The work of a started task.

use blueprint::Value;
use provider::{Operation as Verb, PlanMode};

/// The work of a started task.
pub(crate) enum TaskWork {
    /// Call the provider with this operation and spec.
    Call(Verb, Value),
    /// No call. The record is updated with this spec.
    Record(Value),
    /// The provider plans again with this spec, because the plan was made with unknown values.
    PlanAgain(PlanMode, Value),
    /// Neither a call nor a record. The text is the reason.
    Unneeded(&'static str),
    /// No call. The resource is polled until it is ready, because an earlier operation left it
    /// accepted but not ready.
    PollPrior,
    /// The task cannot be carried out. The error has been reported.
    Failed,
}
