//! How a run stands: whether it stops and why, and what it has come to so far.

use blueprint::{Address, Name, TypeId, Value};
use diag::Diagnostics;

/// Whether an operation goes on.
#[derive(Default)]
pub(crate) struct RunState {
    /// Nothing new starts.
    pub(crate) stopping: bool,
    /// A person asked to stop.
    pub(crate) interrupted: bool,
    /// Calls in flight were told to end.
    pub(crate) cancelled: bool,
    /// Cancelled calls did not end and are not waited for any longer.
    pub(crate) abandoned: bool,
    /// A step failed.
    pub(crate) failed: bool,
    /// The operation has stopped where its options say.
    pub(crate) held: bool,
    /// The operation stands at a breakpoint.
    pub(crate) stands: bool,
}

/// What an operation has come to so far.
#[derive(Default)]
pub(crate) struct Results {
    /// Created, updated, deleted, replaced.
    pub(crate) counts: [u64; 4],
    /// What went wrong.
    pub(crate) found: Diagnostics,
    /// Metadata that became known only in this run.
    pub(crate) metadata: blueprint::IndexMap<Address, Value>,
    /// Things whose condition came out false.
    pub(crate) absent: std::collections::HashSet<Address, foldhash::fast::FixedState>,
    /// Things that could not be deleted and were forgotten: address, type and the provider's id.
    pub(crate) left_behind: Vec<(Address, TypeId, Name)>,
}
