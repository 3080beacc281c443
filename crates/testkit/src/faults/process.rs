//! One process on the simulated cloud: its moments, durations, end, and violated invariants.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use blueprint::{Address, Name};
use provider::Operation;
use providers::fake::ScriptedFault;
use tokio::sync::Notify;

use super::plan::FaultPlan;
use super::planted_bug::PlantedBug;

/// One process on the simulated cloud.
pub(crate) struct SimulatedProcess {
    pub(super) plan: FaultPlan,
    /// The bug that the engine of this process has, if any.
    pub(super) bug: Option<PlantedBug>,
    moments: AtomicU32,
    pub(super) commits: AtomicU32,
    draws: AtomicU32,
    /// Tokens of the calls so far.
    pub(super) tokens: Mutex<HashSet<Name>>,
    ended: AtomicBool,
    crashed: Notify,
    violations: Mutex<Vec<String>>,
    /// Violations that count only if this run creates no resource again that it deleted. Users of
    /// such a resource exist without it for a while.
    violations_unless_recreated: Mutex<Vec<String>>,
    deleted: Mutex<HashSet<Address>>,
    /// Ids of resources that this process has deleted.
    deleted_ids: Mutex<HashSet<Name>>,
    recreates: AtomicBool,
    /// Whether no commit is lost, although the fault plan says so.
    pub(super) keeps_commits: AtomicBool,
}

/// Locks a mutex, and ignores a panic of another thread.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl SimulatedProcess {
    pub(crate) fn new(plan: FaultPlan, bug: Option<PlantedBug>) -> Arc<SimulatedProcess> {
        Arc::new(SimulatedProcess {
            plan,
            bug,
            moments: AtomicU32::new(0),
            commits: AtomicU32::new(0),
            draws: AtomicU32::new(0),
            tokens: Mutex::default(),
            ended: AtomicBool::new(false),
            crashed: Notify::new(),
            violations: Mutex::default(),
            violations_unless_recreated: Mutex::default(),
            deleted: Mutex::default(),
            deleted_ids: Mutex::default(),
            recreates: AtomicBool::new(false),
            keeps_commits: AtomicBool::new(false),
        })
    }

    /// The faults of single calls.
    pub(crate) fn call_faults(&self) -> Vec<ScriptedFault> {
        self.plan.faults.clone()
    }

    /// Ends the process. Later calls and commits never return.
    pub(crate) fn end(&self) {
        self.ended.store(true, Ordering::SeqCst);
        self.crashed.notify_one();
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::SeqCst)
    }

    /// Whether an acknowledged commit was lost.
    pub(crate) fn loses_commits(&self) -> bool {
        let is_over = |from| self.commits.load(Ordering::SeqCst) >= from;
        self.plan.loses_from.is_some_and(is_over) && !self.keeps_commits.load(Ordering::SeqCst)
    }

    /// Waits until the process ends.
    pub(crate) async fn ended(&self) {
        self.crashed.notified().await;
    }

    /// The violated invariants. `done`: the process carried out its whole plan.
    pub(crate) fn violations(&self, done: bool) -> Vec<String> {
        let mut violations = lock(&self.violations).clone();
        if done && !self.recreates.load(Ordering::SeqCst) {
            violations.extend(lock(&self.violations_unless_recreated).iter().cloned());
        }
        violations.sort_unstable();
        violations
    }

    pub(crate) fn violated(&self, what: String) {
        lock(&self.violations).push(what);
    }

    pub(super) fn violated_unless_recreated(&self, what: String) {
        lock(&self.violations_unless_recreated).push(what);
    }

    /// Records that a resource is about to be deleted.
    pub(super) fn record_delete(&self, address: &Address) {
        lock(&self.deleted).insert(address.clone());
    }

    /// Checks that a resource is not deleted again after its delete has succeeded.
    pub(super) fn check_deletes_once(&self, address: &Address, id: &str) {
        if lock(&self.deleted_ids).contains(id) {
            self.violated(format!("{address} is deleted a second time"));
        }
    }

    /// Records that a call has succeeded.
    pub(super) fn record_success(&self, operation: Operation, id: &str) {
        match operation {
            Operation::Delete => drop(lock(&self.deleted_ids).insert(id.into())),
            Operation::Create => drop(lock(&self.deleted_ids).remove(id)),
            Operation::Update => {}
        }
    }

    /// Records that a resource is about to be created.
    pub(super) fn record_create(&self, address: &Address) {
        if lock(&self.deleted).contains(address) {
            self.recreates.store(true, Ordering::SeqCst);
        }
    }

    /// Counts a moment. If the process ends at this moment, the future never returns.
    pub(super) async fn moment(&self) {
        let now = self.moments.fetch_add(1, Ordering::SeqCst) + 1;
        if self.plan.ends_at == Some(now) {
            self.end();
        }
        if self.has_ended() {
            std::future::pending::<()>().await;
        }
    }

    /// Sleeps for at most `most` milliseconds of virtual time.
    pub(super) async fn sleep(&self, most: u64) {
        let Some(seed) = self.plan.latency else {
            return;
        };
        let draw = u64::from(self.draws.fetch_add(1, Ordering::SeqCst));
        let mixed = mix(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(draw));
        // Seven of eight durations are short.
        let most = if mixed & 7 == 0 { most } else { most / 16 };
        let wait = (mixed >> 8) % (most + 1);
        if wait > 0 {
            tokio::time::sleep(Duration::from_millis(wait)).await;
        }
    }
}

/// Mixes the bits of a number (the finalizer of splitmix64).
pub(crate) fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
