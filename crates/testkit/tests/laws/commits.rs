//! A process that ends at any write of its journal, before it or after it, leaves a state from which the next one reaches
//! the same end.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use engine::Options;
use engine::shell::{Interrupt, LEASE, Operated, operate};
use proptest::prelude::*;
use state::seal::Sealer;
use state::{
    BoxFuture, Entry, GenerationInfo, InstanceInfo, InstanceName, Lease, LeaseHolder, LogEntry, Revision, Snapshot,
    Store, StoreError,
};
use stores::memory::MemoryStore;
use testkit::lab::{Lab, settings};
use tokio::sync::{Notify, mpsc};

use crate::{apply_well, cases, cloud, ids, lab, lately, shell, stage};
use testkit::simulation::edit;

/// A store that ends the process at one of its commits.
struct Cutting {
    inner: MemoryStore,
    left: AtomicUsize,
    /// Whether that commit is still made.
    made: bool,
    cut: Notify,
}

impl Store for Cutting {
    fn instances<'a>(&'a self) -> BoxFuture<'a, Result<Vec<InstanceInfo>, StoreError>> {
        self.inner.instances()
    }

    fn info<'a>(&'a self, instance: &'a InstanceName) -> BoxFuture<'a, Result<Option<InstanceInfo>, StoreError>> {
        self.inner.info(instance)
    }

    fn head<'a>(&'a self, instance: &'a InstanceName) -> BoxFuture<'a, Result<Revision, StoreError>> {
        self.inner.head(instance)
    }

    fn load<'a>(&'a self, instance: &'a InstanceName) -> BoxFuture<'a, Result<Snapshot, StoreError>> {
        self.inner.load(instance)
    }

    fn commit<'a>(
        &'a self,
        lease: &'a Lease,
        expected: Revision,
        entries: Vec<Entry>,
    ) -> BoxFuture<'a, Result<Revision, StoreError>> {
        if self.left.fetch_sub(1, Ordering::Relaxed) != 0 {
            return self.inner.commit(lease, expected, entries);
        }
        Box::pin(async move {
            if self.made {
                self.inner.commit(lease, expected, entries).await?;
            }
            self.cut.notify_one();
            std::future::pending().await
        })
    }

    fn lease<'a>(
        &'a self,
        instance: &'a InstanceName,
        who: &'a str,
        now: i64,
        lasts: Duration,
    ) -> BoxFuture<'a, Result<Lease, StoreError>> {
        self.inner.lease(instance, who, now, lasts)
    }

    fn renew<'a>(&'a self, lease: &'a Lease, now: i64, lasts: Duration) -> BoxFuture<'a, Result<(), StoreError>> {
        self.inner.renew(lease, now, lasts)
    }

    fn release<'a>(&'a self, lease: &'a Lease) -> BoxFuture<'a, Result<(), StoreError>> {
        self.inner.release(lease)
    }

    fn holder<'a>(&'a self, instance: &'a InstanceName) -> BoxFuture<'a, Result<Option<LeaseHolder>, StoreError>> {
        self.inner.holder(instance)
    }

    fn unlock<'a>(&'a self, instance: &'a InstanceName) -> BoxFuture<'a, Result<Option<LeaseHolder>, StoreError>> {
        self.inner.unlock(instance)
    }

    fn history<'a>(
        &'a self,
        instance: &'a InstanceName,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<GenerationInfo>, StoreError>> {
        self.inner.history(instance, limit)
    }

    fn log<'a>(
        &'a self,
        instance: &'a InstanceName,
        operation: Option<&'a str>,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<LogEntry>, StoreError>> {
        self.inner.log(instance, operation, limit)
    }

    fn rekey<'a>(&'a self, to: &'a Sealer, now: i64) -> BoxFuture<'a, Result<u64, StoreError>> {
        self.inner.rekey(to, now)
    }

    fn restore<'a>(
        &'a self,
        instance: &'a InstanceName,
        revision: Revision,
        operations: Vec<Vec<Entry>>,
        now: i64,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        self.inner.restore(instance, revision, operations, now)
    }

    fn can_seal(&self) -> bool {
        self.inner.can_seal()
    }
}

/// Applies a goal in a process that ends at the commit of this number, from 0; whether it came so far.
async fn cut_at(lab: &Lab, goal: Option<&str>, parallel: usize, number: usize, made: bool) -> bool {
    let staged = match goal {
        Some(goal) => stage(lab, goal).await.staged,
        None => lab.stage_destroy(Options::default()).await.staged,
    };
    let store = Cutting { inner: lab.store(), left: AtomicUsize::new(number), made, cut: Notify::new() };
    let shell = shell(lab);
    let (_keep, interrupts) = mpsc::unbounded_channel::<Interrupt>();
    let settings = settings(Some(parallel), false);
    let staged = staged.expect("a plan");
    let cut = {
        let running = operate(staged, false, &shell, &store, &lab.name, "cut@lab", settings, None, interrupts, |_| {});
        tokio::select! {
            biased;
            () = store.cut.notified() => true,
            _ = running => false,
        }
    };
    if cut {
        tokio::time::sleep(LEASE * 2).await;
    }
    cut
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn a_run_cut_at_any_commit_and_continued_ends_the_same(
        (before, after) in edit(),
        parallel in 1..4_usize,
        destroy in prop::bool::weighted(0.2),
    ) {
        let (before, after) = (before.text(), after.text());
        let goal = (!destroy).then_some(after.as_str());
        lately(async {
            let twin = lab();
            apply_well(&twin, Some(&before), parallel).await;
            let undisturbed = apply_well(&twin, goal, parallel).await;
            for made in [false, true] {
                for number in 0.. {
                    let told = format!("commit {number}, made {made}\n{before}\n->\n{goal:?}");
                    let lab = lab();
                    apply_well(&lab, Some(&before), parallel).await;
                    if !cut_at(&lab, goal, parallel, number, made).await {
                        let nothing = matches!(undisturbed.operated, Some(Operated::Nothing));
                        assert!(number > 0 || nothing, "it was never cut");
                        break;
                    }
                    apply_well(&lab, goal, parallel).await;
                    assert_eq!(cloud(&lab), cloud(&twin), "another end when cut at {told}");
                    let (there, known) = ids(&lab).await;
                    assert_eq!(there, known, "the cloud and the state differ when cut at {told}");
                    if let Some(goal) = goal {
                        let staged = stage(&lab, goal).await.staged.expect("a plan");
                        assert!(staged.plan.is_empty(), "something is left to do when cut at {told}");
                    }
                    assert!(lab.snapshot().await.open.is_empty(), "a call is still open when cut at {told}");
                }
            }
        });
    }
}
