//! Fencing: a writer whose lease was taken over can no longer commit.

use blueprint::Value;
use state::seal::Sealer;
use state::{Revision, StoreError};

use super::harness::{Failed, MINUTE, NOW, StorePlace, TestWriter, instance};
use super::samples::{began, intent, outcome, record, sealer};

/// A writer whose lease was taken over can write nothing, whichever revision it has seen. It does
/// not affect the new holder.
pub(super) async fn fenced_writer_cannot_commit(place: &StorePlace) -> Result<(), Failed> {
    let (ours, theirs) = (place.open(sealer()), place.open(sealer()));
    let mut first = TestWriter::acquire(&*ours, "shop").await?;
    first
        .commit(vec![began("op-1"), intent(1, "a"), intent(2, "b")])
        .await?;
    let shop = instance("shop");
    let lease = place
        .at(NOW + 60, &theirs)
        .lease(&shop, "bob@host (2)", MINUTE)
        .await?;
    let mut second = TestWriter {
        store: &*theirs,
        revision: theirs.head(&shop).await?,
        lease,
    };
    // Tries the revision that the writer saw last and the current one.
    for round in 0..2u64 {
        for expected in [Revision(1), ours.head(&shop).await?] {
            let late = [
                vec![outcome(1, "a", record(Value::Int(1)))],
                vec![intent(3, "c")],
                vec![began(&format!("late-{round}"))],
                vec![
                    began(&format!("late-{round}")),
                    outcome(1, "a", record(Value::Int(1))),
                ],
            ];
            for entries in late {
                let answer = ours.commit(&first.lease, expected, entries).await;
                check_err!(
                    answer,
                    StoreError::Busy {
                        holder: Some(_),
                        ..
                    },
                    "a commit of who was taken over"
                );
            }
        }
        check_err!(
            place.at(NOW + 61, &ours).renew(&first.lease, MINUTE).await,
            StoreError::Busy { .. },
            "its sign of life"
        );
        ours.release(&first.lease).await?;
        if round == 0 {
            // The new holder finds the calls that were in flight.
            let open = theirs.load(&shop).await?.open;
            check!(
                open.len() == 2,
                "{} calls are open instead of 2",
                open.len()
            );
            second
                .commit(vec![began("op-2"), outcome(1, "a", record(Value::Int(2)))])
                .await?;
        }
    }
    let found = ours.load(&shop).await?;
    check_eq!(found.revision, Revision(2), "the revision");
    check_eq!(found.open.len(), 1, "open calls");
    let log = ours.log(&shop, None, 99).await?;
    check_eq!(log.len(), 5, "entries");
    // The old lease stays invalid after the new holder has released its own.
    second.commit(vec![outcome(2, "b", None)]).await?;
    second.release().await?;
    check_err!(
        first.try_commit(vec![outcome(2, "b", None)]).await,
        StoreError::Busy { holder: None, .. },
        "a commit after the other has given its lease back"
    );
    Ok(())
}

/// A lease is refused after the place was opened again and leased again, even under the same name.
pub(super) async fn epochs(place: &StorePlace) -> Result<(), Failed> {
    let shop = instance("shop");
    let mut epochs = Vec::new();
    let mut leases = Vec::new();
    for at in 0..4 {
        let store = place.open(sealer());
        let lease = place
            .at(NOW + at * 60, &store)
            .lease(&shop, "ann@host (1)", MINUTE)
            .await?;
        for old in &leases {
            let late = store.commit(old, Revision(0), vec![began("late")]).await;
            check_err!(
                late,
                StoreError::Busy { .. },
                "a commit under an older lease of the same name"
            );
        }
        // One lease is ended, one is released, the others expire.
        match at {
            1 => drop(store.unlock(&shop).await?),
            2 => store.release(&lease).await?,
            _ => {}
        }
        epochs.push(lease.epoch);
        leases.push(lease);
    }
    check!(
        epochs.is_sorted_by(|one, next| one < next),
        "epochs do not grow: {epochs:?}"
    );
    Ok(())
}

/// A writer whose lease has expired must not add entries that the former key has sealed.
pub(super) async fn rekeyed(place: &StorePlace) -> Result<(), Failed> {
    let secret = || vec![outcome(1, "key", record(Value::from("s3cret").secret()))];
    let other = || Sealer::with_key([9; 32]);
    let store = place.open(sealer());
    let mut sleeper = TestWriter::acquire(&*store, "shop").await?;
    sleeper
        .commit([vec![began("op-1")], secret()].concat())
        .await?;
    check!(
        place
            .at(NOW + 60, &place.open(sealer()))
            .rekey(&other())
            .await?
            > 0,
        "no entry was resealed"
    );
    check_err!(
        sleeper.try_commit(secret()).await,
        StoreError::Busy { .. },
        "a commit with the former key"
    );
    let found = place.open(other()).load(&instance("shop")).await?;
    check_eq!(found.revision, Revision(1), "the revision");
    Ok(())
}
