//! The faults of the environment that one process meets.

use providers::fake::ScriptedFault;

/// The faults of the environment that one process meets; none by default.
#[derive(Clone, Debug, Default)]
pub struct FaultPlan {
    /// Faults of single calls.
    pub faults: Vec<ScriptedFault>,
    /// The seed from which the durations of calls, reads and commits are drawn; `None`: they take
    /// no time. If the seed is divisible by three, commits take longer than calls.
    pub latency: Option<u64>,
    /// The moment at which the process ends, from 1. Each commit and each call has two moments:
    /// before and after its effect.
    pub ends_at: Option<u32>,
    /// The commit that fails.
    pub commit_fails: Option<CommitFault>,
    /// The number of the first commit, from 1, that is acknowledged and lost, as on a disk that
    /// acknowledges writes too early. The process then ends with its operation, as in a power
    /// failure.
    pub loses_from: Option<u32>,
    /// The number of seconds after a write for which reads show the old fields of a resource and it
    /// is not ready.
    pub read_delay: Option<u32>,
}

/// A commit that fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommitFault {
    /// The number of the commit, from 1.
    pub number: u32,
    /// Whether the commit is written although it reports a failure.
    pub written: bool,
}

impl FaultPlan {
    /// A plan with only these faults of single calls.
    pub fn of(faults: Vec<ScriptedFault>) -> FaultPlan {
        FaultPlan {
            faults,
            ..FaultPlan::default()
        }
    }
}
