//! What a store knows of the machine that it runs on: a monotonic clock, and which processes run.
//!
//! Leases are judged by these alone. Wall-clock time is for people: it is shown and never compared.

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
    /// When it was started, in clock ticks since the boot: numbers are reused.
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
    /// Which boot of which machine `elapsed` counts in. Times of different boots cannot be compared.
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
