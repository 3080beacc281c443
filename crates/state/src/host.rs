//! What a store knows of the machine it runs on: a clock that only goes forward, and which processes run.
//!
//! Leases are judged by these alone. Wall-clock time is for people: it is shown and never compared.

use std::time::Duration;

use blueprint::Name;

/// A process, told apart from every other one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// The machine it runs on.
    pub host: Name,
    /// The boot of that machine.
    pub boot: Name,
    /// Where its number means something: processes in different containers may have the same number.
    pub namespace: Name,
    /// Its number.
    pub pid: u32,
    /// When it was started, in the machine's own unit: a number is given again after a while.
    pub started: u64,
}

/// Whether a process runs, as far as this machine can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Liveness {
    /// It runs, or is stopped and may go on.
    Alive,
    /// It has ended.
    Dead,
    /// It cannot be told from here.
    Unknown,
}

/// The machine that a store runs on.
pub trait Host: Send + Sync {
    /// Which boot of which machine `elapsed` counts in. Times of different boots cannot be compared.
    fn boot(&self) -> Name;

    /// A clock that never goes back and goes on while the machine sleeps.
    fn elapsed(&self) -> Duration;

    /// Seconds since 1970 UTC, for people.
    fn wall(&self) -> i64;

    /// The process that asks; none where processes cannot be told apart.
    fn process(&self) -> Option<Process>;

    /// Whether a process runs.
    fn liveness(&self, process: &Process) -> Liveness;
}
