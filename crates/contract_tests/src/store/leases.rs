//! Leases: one writer at a time.
//!
//! Not here: epochs, and writers that were taken over (`fencing`).

use blueprint::Value;
use state::{Revision, StoreError};

use super::harness::{Failed, MINUTE, NOW, StorePlace, TestWriter, instance};
use super::samples::{began, intent, outcome, record, sealer};

/// One writer holds the lease. A writer whose lease was ended or replaced is refused.
pub(super) async fn one_writer_at_a_time(place: &StorePlace) -> Result<(), Failed> {
    let (ours, theirs) = (place.open(sealer()), place.open(sealer()));
    let shop = instance("shop");
    let mut first = TestWriter::acquire(&*ours, "shop").await?;
    match place
        .at(NOW + 30, &theirs)
        .lease(&shop, "bob@host (2)", MINUTE)
        .await
    {
        Err(StoreError::Busy {
            holder: Some(holder),
            ..
        }) => {
            check_eq!(
                (&*holder.who, holder.since, holder.until),
                ("ann@host (1)", NOW, NOW + 60),
                "the holder"
            );
        }
        other => return Err(Failed(format!("a second lease is {other:?}"))),
    }
    first
        .commit(vec![began("op-1"), outcome(1, "a", record(Value::Int(1)))])
        .await?;
    let holder = theirs.info(&shop).await?.and_then(|info| info.holder);
    check_eq!(
        holder.map(|holder| holder.until),
        Some(NOW + 60),
        "the holder at a glance"
    );
    place
        .at(NOW + 50, &ours)
        .renew(&first.lease, MINUTE)
        .await?;
    check_err!(
        place
            .at(NOW + 100, &theirs)
            .lease(&shop, "bob", MINUTE)
            .await,
        StoreError::Busy { .. },
        "a lease after a sign of life"
    );
    let was = theirs.unlock(&shop).await?;
    check_eq!(
        was.map(|holder| (holder.since, holder.until)),
        Some((NOW, NOW + 110)),
        "whose lease was ended"
    );
    check_eq!(
        theirs.unlock(&shop).await?,
        None,
        "whose lease was ended the second time"
    );
    let late = vec![outcome(1, "b", record(Value::Int(2)))];
    check_err!(
        first.try_commit(late.clone()).await,
        StoreError::Busy { holder: None, .. },
        "a commit after the lease was ended"
    );
    check_err!(
        place.at(NOW + 51, &ours).renew(&first.lease, MINUTE).await,
        StoreError::Busy { .. },
        "a sign of life after the end"
    );
    let second = place
        .at(NOW + 52, &theirs)
        .lease(&shop, "bob@host (2)", MINUTE)
        .await?;
    check!(second.epoch > first.lease.epoch, "the epoch did not grow");
    check_err!(
        first.try_commit(late).await,
        StoreError::Busy {
            holder: Some(_),
            ..
        },
        "a commit of who was fenced off"
    );
    // Releasing a lease that was taken over is not an error and does not end the new lease.
    ours.release(&first.lease).await?;
    place.at(NOW + 53, &theirs).renew(&second, MINUTE).await?;
    theirs.release(&second).await?;
    let third = place
        .at(NOW + 54, &ours)
        .lease(&shop, "ann@host (1)", MINUTE)
        .await?;
    check!(
        third.epoch > second.epoch,
        "the epoch did not grow after a lease was given back"
    );
    check_eq!(
        ours.head(&shop).await?,
        Revision(1),
        "the revision after refusals"
    );
    // The same holds for two leases of one store, directly after a commit.
    let mut third = TestWriter {
        store: &*ours,
        revision: Revision(1),
        lease: third,
    };
    third
        .commit(vec![began("op-2"), outcome(1, "b", record(Value::Int(2)))])
        .await?;
    ours.unlock(&shop).await?;
    let late = vec![outcome(2, "c", record(Value::Int(3)))];
    check_err!(
        third.try_commit(late.clone()).await,
        StoreError::Busy { holder: None, .. },
        "a commit after its own store unlocked"
    );
    place
        .at(NOW + 55, &ours)
        .lease(&shop, "bob@host (2)", MINUTE)
        .await?;
    check_err!(
        third.try_commit(late).await,
        StoreError::Busy {
            holder: Some(_),
            ..
        },
        "a commit beside a newer lease of its store"
    );
    check_eq!(
        ours.head(&shop).await?,
        Revision(2),
        "the revision after more refusals"
    );
    Ok(())
}

/// An expired lease can be taken over. The new holder starts an operation of its own.
pub(super) async fn expired_lease_is_taken_over(place: &StorePlace) -> Result<(), Failed> {
    let (ours, theirs) = (place.open(sealer()), place.open(sealer()));
    let mut first = TestWriter::acquire(&*ours, "shop").await?;
    first.commit(vec![began("op-1"), intent(1, "a")]).await?;
    check_err!(
        place
            .at(NOW + 59, &theirs)
            .lease(&first.lease.instance, "b", MINUTE)
            .await,
        StoreError::Busy { .. },
        "a lease a second early"
    );
    let second = place
        .at(NOW + 60, &theirs)
        .lease(&first.lease.instance, "bob@host (2)", MINUTE)
        .await?;
    let late = vec![outcome(1, "a", record(Value::Int(1)))];
    check_err!(
        first.try_commit(late.clone()).await,
        StoreError::Busy {
            holder: Some(_),
            ..
        },
        "a commit after the lease ran out"
    );
    check_err!(
        place.at(NOW + 61, &ours).renew(&first.lease, MINUTE).await,
        StoreError::Busy { .. },
        "a late sign of life"
    );
    let mut second = TestWriter {
        store: &*theirs,
        revision: theirs.head(&second.instance).await?,
        lease: second,
    };
    check_err!(
        second.try_commit(late.clone()).await,
        StoreError::Refused { .. },
        "going on with another's operation"
    );
    second.commit([vec![began("op-2")], late].concat()).await?;
    check!(
        theirs.load(&second.lease.instance).await?.open.is_empty(),
        "the call is still open"
    );
    Ok(())
}

/// A lease passes to another holder in one step. It is active only if it is to be taken anyway.
pub(super) async fn lease_is_taken_away(place: &StorePlace) -> Result<(), Failed> {
    let (ours, theirs) = (place.open(sealer()), place.open(sealer()));
    let shop = instance("shop");
    check_eq!(
        ours.take_away(&shop, "eve@host (3)", MINUTE, true)
            .await?
            .is_none(),
        true,
        "a lease that nobody holds"
    );
    let mut first = TestWriter::acquire(&*ours, "shop").await?;
    first
        .commit(vec![began("op-1"), outcome(1, "a", record(Value::Int(1)))])
        .await?;
    check_err!(
        place
            .at(NOW + 59, &theirs)
            .take_away(&shop, "eve@host (3)", MINUTE, false)
            .await,
        StoreError::Busy {
            holder: Some(_),
            ..
        },
        "taking an active lease"
    );
    let taken = place
        .at(NOW + 59, &theirs)
        .take_away(&shop, "eve@host (3)", MINUTE, true)
        .await?;
    let Some((holder, lease)) = taken else {
        return Err(Failed("the lease was not taken".to_owned()));
    };
    check_eq!(&*holder.who, "ann@host (1)", "the former holder");
    check!(
        lease.epoch > first.lease.epoch && lease.revision == Revision(1),
        "the lease is {lease:?}"
    );
    let late = vec![outcome(1, "b", record(Value::Int(2)))];
    check_err!(
        first.try_commit(late).await,
        StoreError::Busy {
            holder: Some(_),
            ..
        },
        "a commit of the former holder"
    );
    check_err!(
        place
            .at(NOW + 60, &ours)
            .lease(&shop, "bob@host (2)", MINUTE)
            .await,
        StoreError::Busy {
            holder: Some(_),
            ..
        },
        "a lease while the new holder waits"
    );
    // An expired lease is taken in the same way.
    let taken = place
        .at(NOW + 119, &ours)
        .take_away(&shop, "bob@host (2)", MINUTE, false)
        .await?;
    let Some((holder, lease)) = taken else {
        return Err(Failed("the expired lease was not taken".to_owned()));
    };
    check_eq!(&*holder.who, "eve@host (3)", "the second holder");
    ours.release(&lease).await?;
    place
        .at(NOW + 120, &theirs)
        .lease(&shop, "cid@host (4)", MINUTE)
        .await?;
    Ok(())
}
