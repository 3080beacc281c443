//! A store for a process with faults: durations, commits that fail and commits that are lost.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use blueprint::Value;
use state::seal::Sealer;
use state::{
    BoxFuture, Checkpoint, Entry, EntryKind, InstanceInfo, InstanceName, Lease, LeaseHolder,
    Pruned, Revision, Since, Snapshot, Store, StoreError, Tail,
};

use super::process::{SimulatedProcess, lock};

/// A store with the faults of a process.
pub(crate) struct FaultyStore {
    inner: Box<dyn Store>,
    process: Arc<SimulatedProcess>,
    /// The number of lost commits. The writer counts these commits, so the revisions that it sees
    /// are larger by this number.
    missing: AtomicU64,
    /// Entries that a planted bug holds back.
    delayed_entries: Mutex<Vec<Entry>>,
}

impl FaultyStore {
    pub(crate) fn new(inner: Box<dyn Store>, process: Arc<SimulatedProcess>) -> FaultyStore {
        FaultyStore {
            inner,
            process,
            missing: AtomicU64::new(0),
            delayed_entries: Mutex::default(),
        }
    }

    async fn commit_under_faults(
        &self,
        lease: &Lease,
        expected: Revision,
        entries: Vec<Entry>,
    ) -> Result<Revision, StoreError> {
        let number = self.process.commits.fetch_add(1, Ordering::SeqCst) + 1;
        self.process.moment().await;
        let is_slow = self.process.plan.latency.is_some_and(|seed| seed % 3 == 0);
        self.process.sleep(if is_slow { 8_000 } else { 40 }).await;
        let entries = match self.process.bug {
            Some(bug) => bug.change_commit(entries, &mut lock(&self.delayed_entries), number),
            None => entries,
        };
        if entries.iter().any(shows_secret) {
            self.process
                .violated("a secret of a provider is committed without its mark".to_owned());
        }
        let plan = &self.process.plan;
        let fault = plan.commit_fails.filter(|fault| fault.number == number);
        if fault.is_some_and(|fault| !fault.written) {
            return Err(failed());
        }
        // A resource whose create was cut off is found by the token of its intent. If the next run
        // deletes this resource and loses the commits about it, its id is unknown, and the token of
        // its successor is derived from that id. Therefore a run that settles calls of earlier runs
        // loses nothing.
        if number == 1 && plan.loses_from.is_some() {
            let settles = self
                .inner
                .load(&lease.instance)
                .await
                .is_ok_and(|snapshot| !snapshot.open.is_empty());
            self.process.keeps_commits.store(settles, Ordering::SeqCst);
        }
        // The first commit of an instance is never lost, because the tokens of its calls are
        // derived from it.
        let lost =
            expected > Revision(0) && plan.loses_from.is_some() && self.process.loses_commits();
        let answer = if entries.is_empty() || lost {
            self.missing.fetch_add(1, Ordering::SeqCst);
            Ok(Revision(expected.0 + 1))
        } else {
            let missing = self.missing.load(Ordering::SeqCst);
            let answer = self
                .inner
                .commit(lease, Revision(expected.0.saturating_sub(missing)), entries)
                .await;
            answer.map(|revision| Revision(revision.0 + missing))
        };
        self.process.moment().await;
        match fault {
            Some(_) => Err(failed()),
            None => answer,
        }
    }
}

/// Whether an entry has a secret of a toy provider without the secret mark.
fn shows_secret(entry: &Entry) -> bool {
    match &entry.kind {
        EntryKind::Intent(intent) => shows(&intent.inputs),
        EntryKind::Outcome(outcome) => {
            let values = |record: &Arc<state::Record>| {
                [&record.inputs, &record.outputs].into_iter().any(shows)
            };
            outcome.record.as_ref().is_some_and(values)
        }
        _ => false,
    }
}

fn shows(value: &Value) -> bool {
    match value {
        Value::Text(text) => text.contains("hidden-"),
        Value::List(items) | Value::Set(items) => items.iter().any(shows),
        Value::Map(entries) => entries.values().any(shows),
        _ => false,
    }
}

fn failed() -> StoreError {
    StoreError::Unreachable {
        source: "the simulated disk failed".into(),
    }
}

impl Store for FaultyStore {
    fn instances<'a>(&'a self) -> BoxFuture<'a, Result<Vec<InstanceInfo>, StoreError>> {
        self.inner.instances()
    }

    fn read<'a>(
        &'a self,
        instance: &'a InstanceName,
        since: Since,
    ) -> BoxFuture<'a, Result<Option<Tail>, StoreError>> {
        self.inner.read(instance, since)
    }

    fn load<'a>(
        &'a self,
        instance: &'a InstanceName,
    ) -> BoxFuture<'a, Result<Snapshot, StoreError>> {
        Box::pin(async move {
            let mut snapshot = self.inner.load(instance).await?;
            if let Some(bug) = self.process.bug {
                bug.change_snapshot(&mut snapshot);
            }
            Ok(snapshot)
        })
    }

    fn commit<'a>(
        &'a self,
        lease: &'a Lease,
        expected: Revision,
        entries: Vec<Entry>,
    ) -> BoxFuture<'a, Result<Revision, StoreError>> {
        Box::pin(self.commit_under_faults(lease, expected, entries))
    }

    fn lease<'a>(
        &'a self,
        instance: &'a InstanceName,
        who: &'a str,
        lasts: Duration,
    ) -> BoxFuture<'a, Result<Lease, StoreError>> {
        self.inner.lease(instance, who, lasts)
    }

    fn renew<'a>(
        &'a self,
        lease: &'a Lease,
        lasts: Duration,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        self.inner.renew(lease, lasts)
    }

    fn check_lease<'a>(&'a self, lease: &'a Lease) -> BoxFuture<'a, Result<(), StoreError>> {
        self.inner.check_lease(lease)
    }

    fn release<'a>(&'a self, lease: &'a Lease) -> BoxFuture<'a, Result<(), StoreError>> {
        self.inner.release(lease)
    }

    fn holder<'a>(
        &'a self,
        instance: &'a InstanceName,
    ) -> BoxFuture<'a, Result<Option<LeaseHolder>, StoreError>> {
        self.inner.holder(instance)
    }

    fn take_away<'a>(
        &'a self,
        instance: &'a InstanceName,
        who: &'a str,
        lasts: Duration,
        even_active: bool,
    ) -> BoxFuture<'a, Result<Option<(LeaseHolder, Lease)>, StoreError>> {
        self.inner.take_away(instance, who, lasts, even_active)
    }

    fn prune<'a>(
        &'a self,
        lease: &'a Lease,
        first: &'a str,
    ) -> BoxFuture<'a, Result<Pruned, StoreError>> {
        self.inner.prune(lease, first)
    }

    fn rename<'a>(
        &'a self,
        lease: &'a Lease,
        to: &'a InstanceName,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        self.inner.rename(lease, to)
    }

    fn rekey<'a>(&'a self, to: &'a Sealer) -> BoxFuture<'a, Result<u64, StoreError>> {
        self.inner.rekey(to)
    }

    fn restore<'a>(
        &'a self,
        instance: &'a InstanceName,
        revision: Revision,
        base: Option<Checkpoint>,
        operations: Vec<Vec<Entry>>,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        self.inner.restore(instance, revision, base, operations)
    }

    fn can_seal(&self) -> bool {
        self.inner.can_seal()
    }
}
