//! The work queue: which objects are reconciled next.
//!
//! A key is in the queue at most once. A key that wakes while it is in work runs once more
//! afterwards. A failed key waits 5 ms, then twice as long with each failure in a row, at most 1000
//! s; a wake ends the wait.
//!
//! Not here: who works, and what wakes a key. The queue has no clock: it is told the time.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::time::Duration;

use tokio::time::Instant;

use crate::keys::ReconcileKey;

/// The wait after the first failure.
const FIRST_WAIT: Duration = Duration::from_millis(5);

/// The longest wait after a failure.
const LONGEST_WAIT: Duration = Duration::from_secs(1000);

/// How a reconcile ended, for the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Finished {
    /// Nothing is left to do.
    Done,
    /// It is tried again after a wait.
    Again,
    /// The object does not exist any more.
    Forgotten,
}

/// What wakes a key that is in work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WhileInWork {
    Nothing,
    Woken,
}

/// Keys that wait, keys that are due later, and keys in work.
#[derive(Debug, Default)]
pub(crate) struct WorkQueue {
    ready: VecDeque<ReconcileKey>,
    /// The keys of `ready`.
    queued: HashSet<ReconcileKey>,
    working: HashMap<ReconcileKey, WhileInWork>,
    /// Keys by the time at which they are due. The number keeps equal times apart.
    due: BTreeMap<(Instant, u64), ReconcileKey>,
    due_of: HashMap<ReconcileKey, (Instant, u64)>,
    waits_made: u64,
    failures: HashMap<ReconcileKey, u32>,
}

impl WorkQueue {
    /// Makes a key run: at once, or after the run that is in work.
    pub(crate) fn wake(&mut self, key: ReconcileKey) {
        if let Some(state) = self.working.get_mut(&key) {
            *state = WhileInWork::Woken;
            return;
        }
        if let Some(at) = self.due_of.remove(&key) {
            self.due.remove(&at);
        }
        if self.queued.insert(key.clone()) {
            self.ready.push_back(key);
        }
    }

    /// The next key, which is in work from now on.
    pub(crate) fn take(&mut self, now: Instant) -> Option<ReconcileKey> {
        while let Some(entry) = self.due.first_entry() {
            if entry.key().0 > now {
                break;
            }
            let key = entry.remove();
            self.due_of.remove(&key);
            if self.queued.insert(key.clone()) {
                self.ready.push_back(key);
            }
        }
        let key = self.ready.pop_front()?;
        self.queued.remove(&key);
        self.working.insert(key.clone(), WhileInWork::Nothing);
        Some(key)
    }

    /// The time at which the next waiting key is due.
    pub(crate) fn next_due(&self) -> Option<Instant> {
        self.due.first_key_value().map(|((at, _), _)| *at)
    }

    /// Ends the work on a key.
    pub(crate) fn finish(&mut self, key: &ReconcileKey, finished: Finished, now: Instant) {
        let woken = self.working.remove(key) == Some(WhileInWork::Woken);
        let wait = match finished {
            Finished::Done | Finished::Forgotten => {
                self.failures.remove(key);
                None
            }
            Finished::Again => {
                let failures = self.failures.entry(key.clone()).or_default();
                let wait = wait_after(*failures);
                *failures = failures.saturating_add(1);
                Some(wait)
            }
        };
        match wait {
            _ if woken => self.wake(key.clone()),
            Some(wait) => {
                self.waits_made += 1;
                let at = (now + wait, self.waits_made);
                self.due.insert(at, key.clone());
                self.due_of.insert(key.clone(), at);
            }
            None => {}
        }
    }

    /// The number of keys that can run at once.
    pub(crate) fn ready(&self) -> usize {
        self.ready.len()
    }

    /// The number of keys in work.
    pub(crate) fn working(&self) -> usize {
        self.working.len()
    }

    /// The number of failed keys that wait.
    pub(crate) fn waiting(&self) -> usize {
        self.due.len()
    }
}

/// The wait after a number of earlier failures in a row.
fn wait_after(failures: u32) -> Duration {
    let factor = 2_u32.saturating_pow(failures.min(20));
    FIRST_WAIT.saturating_mul(factor).min(LONGEST_WAIT)
}

#[cfg(test)]
mod tests {
    use cartographer::kinds::CartoKind;

    use super::*;

    fn key(name: &str) -> ReconcileKey {
        ReconcileKey {
            kind: CartoKind::Workload,
            namespace: Some("case".into()),
            name: name.into(),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn key_is_queued_once() {
        let mut queue = WorkQueue::default();
        let now = Instant::now();
        queue.wake(key("a"));
        queue.wake(key("b"));
        queue.wake(key("a"));
        assert_eq!(queue.take(now), Some(key("a")));
        assert_eq!(queue.take(now), Some(key("b")));
        assert_eq!(queue.take(now), None);
        assert_eq!(queue.working(), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn key_woken_in_work_runs_once_more() {
        let mut queue = WorkQueue::default();
        let now = Instant::now();
        queue.wake(key("a"));
        queue.take(now);
        queue.wake(key("a"));
        queue.wake(key("a"));
        assert_eq!(queue.take(now), None);
        queue.finish(&key("a"), Finished::Done, now);
        assert_eq!(queue.take(now), Some(key("a")));
        queue.finish(&key("a"), Finished::Done, now);
        assert_eq!(queue.take(now), None);
        assert_eq!(queue.working(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn failed_key_waits_longer_with_each_failure() {
        let mut queue = WorkQueue::default();
        let mut now = Instant::now();
        queue.wake(key("a"));
        let mut waits = Vec::new();
        for _ in 0..20 {
            queue.take(now).unwrap();
            queue.finish(&key("a"), Finished::Again, now);
            assert_eq!(queue.take(now), None);
            let due = queue.next_due().unwrap();
            waits.push((due - now).as_millis());
            now = due;
        }
        assert_eq!(waits[..4], [5, 10, 20, 40]);
        assert_eq!(waits[19], 1_000_000);
        queue.take(now).unwrap();
        queue.finish(&key("a"), Finished::Done, now);
        queue.wake(key("a"));
        queue.take(now).unwrap();
        queue.finish(&key("a"), Finished::Again, now);
        assert_eq!(queue.next_due(), Some(now + FIRST_WAIT));
    }

    #[tokio::test(start_paused = true)]
    async fn wake_ends_a_wait() {
        let mut queue = WorkQueue::default();
        let now = Instant::now();
        queue.wake(key("a"));
        queue.take(now);
        queue.finish(&key("a"), Finished::Again, now);
        queue.wake(key("a"));
        assert_eq!(queue.waiting(), 0);
        assert_eq!(queue.take(now), Some(key("a")));
    }
}
