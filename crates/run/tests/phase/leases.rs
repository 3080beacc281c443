//! Leases: a running operation renews its lease during a call of any length. Without a renewal,
//! another operation takes over.

use std::time::Duration;

use engine::run::{Interrupt, LEASE, Operated, RunRequest, end_hold, operate};
use state::{Counts, LEASE_CHECK_VALIDITY, OperationOutcome, StoreError};
use testkit::harness::{Harness, run_with_paused_clock, settings, shell_without_faults};
use tokio::sync::mpsc;

use crate::{harness, stage};

const SLOW: &str = "version: 2023-04-20\nresources:\n  slow: {type: test/data, spec: {input: 1, delayMs: 600000}}\n  after: {type: test/data, spec: {input: '${slow.spec.id}'}}\n";

/// Runs a document and another future at the same time. Returns both results.
async fn run_concurrently<T>(harness: &Harness, other: impl Future<Output = T>) -> (Operated, T) {
    let staged = stage(harness, SLOW)
        .await
        .staged
        .unwrap_or_else(|| panic!("no plan"));
    let store = harness.store();
    let shell = shell_without_faults(harness);
    let (_keep, interrupts) = mpsc::unbounded_channel::<Interrupt>();
    let settings = settings(Some(4), false);
    let request = RunRequest {
        staged,
        recheck_inputs: false,
        shell: &shell,
        store: store.as_ref(),
        instance: &harness.name,
        id: engine::run::operation_id(&shell.rng),
        who: "ann@test",
        settings,
        rollback_planner: None,
        interrupts,
    };
    let running = operate(request, |_| {});
    tokio::join!(running, other)
}

/// A call takes ten minutes, ten times as long as a lease. No other operation gets the lease
/// meanwhile.
#[test]
fn running_operation_keeps_its_lease() {
    run_with_paused_clock(async {
        let harness = harness();
        let asking = async {
            let mut refused = 0;
            for _ in 0..58 {
                tokio::time::sleep(Duration::from_secs(10)).await;
                let now = harness.clock.now();
                match harness
                    .store()
                    .lease(&harness.name, "bob@test", LEASE)
                    .await
                {
                    Err(StoreError::Busy {
                        holder: Some(holder),
                        ..
                    }) if &*holder.who == "ann@test" => {
                        let left = holder.until - now;
                        assert!(
                            left >= LEASE.as_secs() as i64 / 2,
                            "the last sign of life was long ago: {left} s left"
                        );
                        refused += 1;
                    }
                    other => panic!("{other:?}"),
                }
            }
            refused
        };
        let (operated, refused) = run_concurrently(&harness, asking).await;
        assert!(matches!(operated, Operated::Done(_)), "{operated:?}");
        assert_eq!(refused, 58);
        assert!(
            harness
                .store()
                .holder(&harness.name)
                .await
                .is_ok_and(|holder| holder.is_none()),
            "it was given back"
        );
    });
}

/// The lease is ended during a call. The next renewal fails, no call is started or recorded
/// afterwards, and the next plan finds and adopts the resource of the call.
#[test]
fn writer_stops_after_its_lease_was_taken_over() {
    run_with_paused_clock(async {
        let harness = harness();
        let begun = harness.clock.now();
        let taking_over = async {
            tokio::time::sleep(Duration::from_secs(100)).await;
            let store = harness.store();
            store
                .unlock(&harness.name)
                .await
                .unwrap_or_else(|error| panic!("{error}"));
            let lease = store.lease(&harness.name, "bob@test", LEASE * 60).await;
            (lease, store.head(&harness.name).await)
        };
        let (operated, (lease, head)) = run_concurrently(&harness, taking_over).await;
        let Operated::Aborted(lost) = operated else {
            panic!("{operated:?}")
        };
        match &lost.store {
            Some(StoreError::Busy {
                holder: Some(holder),
                ..
            }) => assert_eq!(&*holder.who, "bob@test"),
            other => panic!("{other:?}"),
        }
        assert_eq!(lost.counts, Counts::default());
        let after = harness.clock.now() - begun;
        assert!(after < 100 + 60, "it went on for {after} s");
        let lease = lease.unwrap_or_else(|error| panic!("{error}"));
        let now = harness.store().head(&harness.name).await;
        assert_eq!(
            now.ok(),
            head.ok(),
            "something was recorded after the lease was lost"
        );
        assert_eq!(harness.snapshot().await.open.len(), 1, "the call is open");
        harness
            .store()
            .release(&lease)
            .await
            .unwrap_or_else(|error| panic!("{error}"));
        // Afterwards the cloud and the state agree, whether the call took effect or not.
        let staged = stage(&harness, SLOW).await.staged.expect("there is a plan");
        let continued = harness
            .run(staged, false, Vec::new(), settings(Some(4), false))
            .await;
        let outcome = continued.outcome().and_then(|outcome| outcome.outcome);
        assert_eq!(outcome, Some(OperationOutcome::Ready));
        let (there, known) = harness.ids().await;
        assert_eq!((there.len(), there), (2, known));
    });
}

/// The former writer may begin calls for a second after its lease was ended.
#[test]
fn instance_stays_held_until_the_former_writer_begins_no_call() {
    run_with_paused_clock(async {
        let harness = harness();
        let store = harness.store();
        let unlocking = async {
            tokio::time::sleep(Duration::from_secs(5)).await;
            let begun = tokio::time::Instant::now();
            let end = end_hold(store.as_ref(), &harness.name, "eve@test");
            let other = async {
                tokio::time::sleep(LEASE_CHECK_VALIDITY / 2).await;
                store.lease(&harness.name, "bob@test", LEASE).await
            };
            let (held, other) = tokio::join!(end, other);
            let who = held.unwrap().map(|holder| holder.who.to_string());
            assert_eq!(who.as_deref(), Some("ann@test"));
            assert!(matches!(other, Err(StoreError::Busy { .. })), "{other:?}");
            assert!(begun.elapsed() >= LEASE_CHECK_VALIDITY);
            store.lease(&harness.name, "bob@test", LEASE).await
        };
        let (_, taken) = run_concurrently(&harness, unlocking).await;
        assert!(taken.is_ok(), "{taken:?}");
    });
}

/// A process that ends a hold dies while it waits. Its lease blocks others until the former writer
/// begins no call, and ends by itself.
#[test]
fn killed_unlock_keeps_the_instance_held_until_no_call_begins() {
    run_with_paused_clock(async {
        let harness = harness();
        let store = harness.store();
        let first = store.lease(&harness.name, "ann@test", LEASE).await;
        assert!(first.is_ok(), "{first:?}");
        let dying = end_hold(store.as_ref(), &harness.name, "eve@test");
        let killed = tokio::time::timeout(LEASE_CHECK_VALIDITY / 10, dying).await;
        assert!(killed.is_err(), "it did not wait: {killed:?}");
        tokio::time::sleep(LEASE_CHECK_VALIDITY / 10 * 8).await;
        let busy = store.lease(&harness.name, "bob@test", LEASE).await;
        assert!(matches!(busy, Err(StoreError::Busy { .. })), "{busy:?}");
        tokio::time::sleep(2 * LEASE_CHECK_VALIDITY).await;
        let (operated, ()) = run_concurrently(&harness, std::future::ready(())).await;
        assert!(matches!(operated, Operated::Done(_)), "{operated:?}");
    });
}
