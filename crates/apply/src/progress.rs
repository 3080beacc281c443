//! The state of a run: whether and why it stops, and its results so far.

use blueprint::{Address, Name, TypeId, Value};
use diag::Diagnostics;
use provider::PlanMode;

/// Whether and why an operation stops.
#[derive(Default)]
pub(crate) struct RunState {
    /// Nothing new starts.
    pub(crate) stopping: bool,
    /// A person asked to stop.
    pub(crate) interrupted: bool,
    /// The running calls were cancelled.
    pub(crate) cancelled: bool,
    /// Cancelled calls did not end and are no longer awaited.
    pub(crate) abandoned: bool,
    /// A step failed.
    pub(crate) failed: bool,
    /// The operation has stopped after the resources that its options name.
    pub(crate) held: bool,
    /// The operation stands at a breakpoint.
    pub(crate) stands: bool,
}

/// The results of an operation so far.
#[derive(Default)]
pub(crate) struct Results {
    /// The numbers of resources created, updated, deleted and replaced, in this order.
    pub(crate) counts: [u64; 4],
    /// Errors and notes.
    pub(crate) found: Diagnostics,
    /// Metadata that became known only in this run.
    pub(crate) metadata: blueprint::IndexMap<Address, Value>,
    /// Resources whose condition is false.
    pub(crate) absent: std::collections::HashSet<Address, foldhash::fast::FixedState>,
    /// Resources whose provider was asked to plan again in this run, and what it was asked last.
    pub(crate) replanned: std::collections::HashMap<Address, PlanMode, foldhash::fast::FixedState>,
    /// The owners of ids, of types whose providers decide: made when the first answer of one arrives.
    pub(crate) owners: Option<std::collections::HashMap<(TypeId, Name), Address, foldhash::fast::FixedState>>,
    /// Resources that could not be deleted and were forgotten: address, type and the provider's id.
    pub(crate) left_behind: Vec<(Address, TypeId, Name)>,
}
