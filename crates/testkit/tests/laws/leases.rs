//! Whoever is at work gives signs of life, however long a call takes; whoever gives none is taken over, and stops.

use std::time::Duration;

use engine::shell::{Interrupt, LEASE, Operated, operate};
use state::{Store, StoreError};
use testkit::lab::{Lab, settings};
use tokio::sync::mpsc;

use crate::{ids, lab, lately, shell, stage};

const SLOW: &str = "version: 2023-04-20\nresources:\n  slow: {type: test/data, spec: {input: 1, delayMs: 600000}}\n  after: {type: test/data, spec: {input: '${slow.spec.id}'}}\n";

/// Runs the document, and at the same time something else; the run's end with how that ended.
async fn beside<T>(lab: &Lab, other: impl Future<Output = T>) -> (Operated, T) {
    let staged = stage(lab, SLOW).await.staged.unwrap_or_else(|| panic!("no plan"));
    let store = lab.store();
    let shell = shell(lab);
    let (_keep, interrupts) = mpsc::unbounded_channel::<Interrupt>();
    let settings = settings(Some(4), false);
    let running = operate(staged, false, &shell, &store, &lab.name, "ann@lab", settings, None, interrupts, |_| {});
    tokio::join!(running, other)
}

/// A call of ten minutes is ten times as long as a lease: nobody else gets one meanwhile.
#[test]
fn who_is_at_work_keeps_the_lease_however_long_it_takes() {
    lately(async {
        let lab = lab();
        let asking = async {
            let mut refused = 0;
            for _ in 0..58 {
                tokio::time::sleep(Duration::from_secs(10)).await;
                let now = lab.clock.now();
                match lab.store().lease(&lab.name, "bob@lab", LEASE).await {
                    Err(StoreError::Busy { holder: Some(holder), .. }) if &*holder.who == "ann@lab" => {
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
        let (operated, refused) = beside(&lab, asking).await;
        assert!(matches!(operated, Operated::Done(_)), "{operated:?}");
        assert_eq!(refused, 58);
        assert!(lab.store().holder(&lab.name).await.is_ok_and(|holder| holder.is_none()), "it was given back");
    });
}

/// The hold is ended in the middle of a call: the next sign of life tells, nothing more is begun or recorded, and what the
/// call made is found and taken over by the next plan.
#[test]
fn who_was_taken_over_stops_at_the_next_sign_of_life_and_nothing_is_lost() {
    lately(async {
        let lab = lab();
        let begun = lab.clock.now();
        let taking_over = async {
            tokio::time::sleep(Duration::from_secs(100)).await;
            let store = lab.store();
            store.unlock(&lab.name).await.unwrap_or_else(|error| panic!("{error}"));
            let lease = store.lease(&lab.name, "bob@lab", LEASE * 60).await;
            (lease, store.head(&lab.name).await)
        };
        let (operated, (lease, head)) = beside(&lab, taking_over).await;
        let Operated::Lost(lost) = operated else { panic!("{operated:?}") };
        match &lost.store {
            Some(StoreError::Busy { holder: Some(holder), .. }) => assert_eq!(&*holder.who, "bob@lab"),
            other => panic!("{other:?}"),
        }
        assert_eq!(lost.counts, [0; 4]);
        let after = lab.clock.now() - begun;
        assert!(after < 100 + 60, "it went on for {after} s");
        let lease = lease.unwrap_or_else(|error| panic!("{error}"));
        let now = lab.store().head(&lab.name).await;
        assert_eq!(now.ok(), head.ok(), "something was recorded after the lease was lost");
        assert_eq!(lab.snapshot().await.open.len(), 1, "the call is open");
        lab.store().release(&lease).await.unwrap_or_else(|error| panic!("{error}"));
        // Whatever became of the call in the world: afterwards the cloud and the state tell the same.
        crate::apply_well(&lab, Some(SLOW), 4).await;
        let (there, known) = ids(&lab).await;
        assert_eq!((there.len(), there), (2, known));
    });
}
