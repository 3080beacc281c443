//! The facts that a store needs of its machine: a monotonic clock, and which processes run.
//!
//! Only these decide whether a lease is held. Wall-clock time is for people: it is shown and never
//! compared.

use std::time::Duration;

use blueprint::Name;

/// A process, identified uniquely.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// The machine it runs on.
    pub host: Name,
    /// The boot of that machine.
    pub boot: Name,
    /// The namespace of its number: processes in different containers may have the same number.
    pub namespace: Name,
    /// Its number.
    pub pid: u32,
    /// The start time, in clock ticks since the boot: it distinguishes processes with a reused
    /// number.
    pub started: u64,
}

/// Whether a process runs, as far as this machine knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Liveness {
    /// It runs, or is stopped and may go on.
    Alive,
    /// It has ended.
    Dead,
    /// It is not known on this machine.
    Unknown,
}

/// The machine that a store runs on.
pub trait Host: Send + Sync {
    /// The boot of the machine in which `elapsed` counts. Times of different boots cannot be
    /// compared.
    fn boot(&self) -> Name;

    /// A clock that never goes back and continues while the machine sleeps.
    fn elapsed(&self) -> Duration;

    /// Seconds since 1970 UTC, for people.
    fn wall(&self) -> i64;

    /// The current process; none where processes cannot be identified.
    fn process(&self) -> Option<Process>;

    /// Whether a process runs.
    fn liveness(&self, process: &Process) -> Liveness;
}
