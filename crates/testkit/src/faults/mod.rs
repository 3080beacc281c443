//! Fault injection: the faults that a simulated process meets while it runs.
//!
//! A `SimulatedProcess` stands between the engine and both the provider and the store. A
//! [`FaultPlan`] holds faults of the environment: slow calls and commits, refusals, lost answers,
//! delayed reads, commits that fail, an end of the process at any moment. A [`PlantedBug`] is a
//! fault of the engine itself.
//!
//! Not here: the choice of faults (`crate::simulation`, `crate::scenario`).

mod plan;
mod planted_bug;
mod process;
mod provider;
mod store;

pub use plan::{CommitFault, FaultPlan};
pub use planted_bug::PlantedBug;
pub(crate) use process::{SimulatedProcess, mix};
pub(crate) use provider::{DelayedReads, FaultyProvider, PlanMemory};
pub(crate) use store::FaultyStore;
