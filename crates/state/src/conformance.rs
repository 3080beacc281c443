//! The conformance suite of stores: the behaviour that every store must have.
//!
//! [`store`] runs all cases on places that the caller makes, and returns the failures. A correct
//! store has none. The clock is set, keys are fixed, and nothing is random, so a failure is
//! repeatable.
//!
//! Not here: failures that only one kind of place can have (a full disk, a damaged file).

#[macro_use]
mod harness;

mod fencing;
mod folded;
mod host;
mod pruned;
mod restored;
mod samples;

use std::sync::Arc;

use blueprint::{Address, Name, Value};
use futures::future::{LocalBoxFuture, join, join_all};

use crate::seal::Sealer;
use crate::{
    Counts, Entry, EntryKind, Lease, Managed, Operation, OperationKind, OperationOutcome, Record,
    Revision, Since, Snapshot, StatusOp, StatusWord, Stop, Store, StoreError,
};

use harness::{Failed, MINUTE, NOW, StorePlace, TestWriter, instance};

pub use harness::StoreOpener;
pub use host::TestHost;
pub use samples::{
    address, began, delete, failed, finished, full_operation, full_record, intent, outcome, record,
    sealer,
};

type ConformanceCase = for<'p> fn(&'p StorePlace) -> LocalBoxFuture<'p, Result<(), Failed>>;

const CASES: &[(&str, ConformanceCase)] = &[
    ("a place where nothing was is empty", |place| {
        Box::pin(empty(place))
    }),
    ("everything comes back as it was", |place| {
        Box::pin(round_trip(place))
    }),
    ("secrets need their key", |place| Box::pin(secrets(place))),
    ("secrets are sealed with another key", |place| {
        Box::pin(rekeyed(place))
    }),
    ("one writer at a time", |place| Box::pin(leases(place))),
    ("a lease that has run out can be taken over", |place| {
        Box::pin(expired_lease(place))
    }),
    ("who was taken over can write nothing any more", |place| {
        Box::pin(fencing::fenced_writer_cannot_commit(place))
    }),
    (
        "epochs outlive the process that opened the place",
        |place| Box::pin(fencing::epochs(place)),
    ),
    (
        "sealing with another key ends leases that have run out",
        |place| Box::pin(fencing::rekeyed(place)),
    ),
    ("a commit names what it has seen", |place| {
        Box::pin(stale_revision_is_refused(place))
    }),
    ("the rules of the journal are kept", |place| {
        Box::pin(rules(place))
    }),
    ("what was in flight is found again", |place| {
        Box::pin(cut_off(place))
    }),
    (
        "what is under way is known from the beginning on",
        |place| Box::pin(stops_of_running_operations(place)),
    ),
    ("an instance can be destroyed and made again", |place| {
        Box::pin(destroyed(place))
    }),
    ("history and log are in order", |place| {
        Box::pin(history(place))
    }),
    (
        "records keep the order in which they were first made",
        |place| Box::pin(order(place)),
    ),
    ("exports are those of the last success", |place| {
        Box::pin(exports(place))
    }),
    ("instances do not touch each other", |place| {
        Box::pin(instances_are_isolated(place))
    }),
    (
        "readers see whole revisions while another process writes",
        |place| Box::pin(reading(place)),
    ),
    ("a journal is put back whole or not at all", |place| {
        Box::pin(restored::refused(place))
    }),
    ("of two writers one wins", |place| Box::pin(races(place))),
    ("pruning keeps what is known", |place| {
        Box::pin(pruned::pruning_keeps_the_state(place))
    }),
    ("pruning needs the lease and keeps open calls", |place| {
        Box::pin(pruned::leases_and_open_calls(place))
    }),
];

/// Runs every case, each on a place of its own from `make`. Returns the failures.
pub async fn store(make: &dyn Fn() -> StoreOpener) -> Vec<String> {
    let mut failures = Vec::new();
    for (name, case) in CASES {
        let place = StorePlace::new(make());
        let result = match case(&place).await {
            Ok(()) => folded::journals_lead_to_snapshots(&place).await,
            failed => failed,
        };
        if let Err(Failed(what)) = result {
            failures.push(format!("{name}: {what}"));
        }
    }
    if let Err(Failed(what)) =
        restored::restore_in_another_store(&StorePlace::new(make()), &StorePlace::new(make())).await
    {
        failures.push(format!("a whole journal is put back elsewhere: {what}"));
    }
    if let Err(Failed(what)) =
        pruned::restore_in_another_store(&StorePlace::new(make()), &StorePlace::new(make())).await
    {
        failures.push(format!("a pruned journal is put back elsewhere: {what}"));
    }
    failures
}

fn record_of(snapshot: &Snapshot, address: &str) -> Option<Arc<Record>> {
    snapshot.records.get(&samples::address(address)).cloned()
}

async fn empty(place: &StorePlace) -> Result<(), Failed> {
    let store = place.open(sealer());
    let missing = instance("missing");
    check!(store.instances().await?.is_empty(), "there are instances");
    check!(
        store.info(&missing).await?.is_none(),
        "there is an instance"
    );
    check_eq!(store.head(&missing).await?, Revision(0), "the head");
    let snapshot = store.load(&missing).await?;
    check!(
        snapshot.records.is_empty() && snapshot.uid.is_empty(),
        "the snapshot is not empty"
    );
    check_err!(
        store.history(&missing, 9).await,
        StoreError::Unknown { .. },
        "history"
    );
    check_err!(
        store.log(&missing, None, 9).await,
        StoreError::Unknown { .. },
        "log"
    );
    check_err!(
        store.operation(&missing, "op-1").await,
        StoreError::Unknown { .. },
        "an operation"
    );
    for since in [Since::Checkpoint, Since::Entry(0), Since::Entry(3)] {
        check!(
            store.read(&missing, since).await?.is_none(),
            "there is a journal"
        );
    }
    check_eq!(store.unlock(&missing).await?, None, "the holder");
    let lease = place
        .at(NOW, &store)
        .lease(&missing, "ann@host (1)", MINUTE)
        .await?;
    check!(
        store.info(&missing).await?.is_none(),
        "a lease alone makes an instance"
    );
    let holder = store.holder(&missing).await?;
    check_eq!(
        holder.map(|holder| (holder.since, holder.until)),
        Some((NOW, NOW + 60)),
        "who holds what is not there yet"
    );
    store.release(&lease).await?;
    check_eq!(
        store.holder(&missing).await?,
        None,
        "the holder after the lease was given back"
    );
    place
        .at(NOW, &store)
        .lease(&missing, "ann@host (1)", MINUTE)
        .await?;
    check!(
        store.unlock(&missing).await?.is_some(),
        "the lease of an instance that is not there yet cannot be ended"
    );
    Ok(())
}

async fn round_trip(place: &StorePlace) -> Result<(), Failed> {
    let (entries, wanted) = full_operation();
    {
        let store = place.open(sealer());
        let mut hand = TestWriter::acquire(&*store, "shop").await?;
        let (first, rest) = entries.split_at(3);
        hand.commit(first.to_vec()).await?;
        hand.commit(rest.to_vec()).await?;
        hand.release().await?;
    }
    let store = place.open(sealer());
    let shop = instance("shop");
    let found = store.load(&shop).await?;
    check_eq!(found.revision, Revision(2), "revision");
    check_eq!(found.generation, wanted.generation, "generation");
    check_eq!(found.uid, wanted.uid, "uid");
    check_eq!(found.document, wanted.document, "document");
    check!(
        found.records.iter().eq(wanted.records.iter()),
        "records: {:?} instead of {:?}",
        found.records,
        wanted.records
    );
    check_eq!(found.groups, wanted.groups, "groups");
    check!(
        found.exports.iter().eq(wanted.exports.iter()),
        "exports: {:?} instead of {:?}",
        found.exports,
        wanted.exports
    );
    check_eq!(found.exports_old, false, "exports are old");
    check_eq!(found.memoised, wanted.memoised, "memoised values");
    check_eq!(found.metadata, wanted.metadata, "metadata");
    check_eq!(found.declared, wanted.declared, "children and data sources");
    check_eq!(found.stops, wanted.stops, "where operations stop");
    check_eq!(found.open, wanted.open, "open calls");
    let log = store.log(&shop, None, usize::MAX).await?;
    check!(
        log.iter().map(|line| &line.entry).eq(&entries),
        "the log differs: {log:?} instead of {entries:?}"
    );
    check!(
        log.iter()
            .map(|line| line.sequence)
            .eq(1..=entries.len() as u64),
        "the log is not numbered from 1"
    );
    let Some(info) = store.info(&shop).await? else {
        return Err(Failed("there is no info".into()));
    };
    check_eq!(
        info.records,
        wanted.records.len() as u64,
        "number of records"
    );
    check_eq!(
        info.waiting,
        Stop::waiting(&wanted.stops),
        "where it waits, at a glance"
    );
    check_eq!(info.document, wanted.document, "document at a glance");
    Ok(())
}

async fn secrets(place: &StorePlace) -> Result<(), Failed> {
    let secret = || outcome(1, "key", record(Value::from("s3cret").secret()));
    {
        let store = place.open(Sealer::none());
        check!(!store.can_seal(), "it says that it can seal without a key");
        let mut hand = TestWriter::acquire(&*store, "shop").await?;
        check_err!(
            hand.try_commit(vec![began("op-1"), secret()]).await,
            StoreError::NoKey,
            "a secret without a key"
        );
        check_eq!(
            store.head(&instance("shop")).await?,
            Revision(0),
            "revision after a refusal"
        );
        hand.commit(vec![
            began("op-1"),
            outcome(1, "open", record(Value::from("plain"))),
        ])
        .await?;
        check_err!(
            hand.try_commit(vec![secret()]).await,
            StoreError::NoKey,
            "a secret without a key"
        );
        hand.release().await?;
    }
    let store = place.open(sealer());
    check!(store.can_seal(), "it says that it cannot seal");
    let mut hand = TestWriter::acquire(&*store, "shop").await?;
    check!(
        store.load(&instance("shop")).await?.records.len() == 1,
        "a refused record is there"
    );
    hand.commit(vec![began("op-2"), secret()]).await?;
    let found = store.load(&instance("shop")).await?;
    let inputs = record_of(&found, "key").map(|record| record.inputs.clone());
    check_eq!(inputs, Some(Value::from("s3cret").secret()), "the secret");
    let (other, without) = (
        place.open(Sealer::with_key([9; 32])),
        place.open(Sealer::none()),
    );
    check_err!(
        other.load(&instance("shop")).await,
        StoreError::WrongKey,
        "loading with another key"
    );
    check_err!(
        without.load(&instance("shop")).await,
        StoreError::KeyMissing,
        "loading without a key"
    );
    for store in [other, without] {
        check_eq!(
            store.instances().await?.len(),
            1,
            "instances with another key"
        );
    }
    Ok(())
}

async fn rekeyed(place: &StorePlace) -> Result<(), Failed> {
    let other = || Sealer::with_key([9; 32]);
    check_eq!(
        place.at(NOW, &place.open(sealer())).rekey(&other()).await?,
        0,
        "resealed entries of an empty store"
    );
    let secret = || outcome(1, "key", record(Value::from("s3cret").secret()));
    for name in ["shop", "bar"] {
        let store = place.open(sealer());
        let mut hand = TestWriter::acquire(&*store, name).await?;
        let id = format!("op-{name}");
        hand.commit(vec![
            began(&id),
            secret(),
            outcome(2, "open", record(Value::from("plain"))),
        ])
        .await?;
        check_err!(
            place.at(NOW, &store).rekey(&other()).await,
            StoreError::Busy { .. },
            "rekeying while a lease is held"
        );
        hand.release().await?;
    }
    let store = place.open(sealer());
    let before = store.load(&instance("shop")).await?;
    check_err!(
        place.at(NOW, &store).rekey(&Sealer::none()).await,
        StoreError::NoKey,
        "rekeying without a key"
    );
    check_err!(
        place.at(NOW, &place.open(other())).rekey(&sealer()).await,
        StoreError::WrongKey,
        "rekeying with the wrong key"
    );
    check_err!(
        place
            .at(NOW, &place.open(Sealer::none()))
            .rekey(&other())
            .await,
        StoreError::KeyMissing,
        "rekeying sealed data without its key"
    );
    check!(
        place.at(NOW, &store).rekey(&other()).await? > 0,
        "no entry was resealed"
    );
    for name in ["shop", "bar"] {
        check_err!(
            place.open(sealer()).load(&instance(name)).await,
            StoreError::WrongKey,
            "loading with the former key"
        );
        let found = place.open(other()).load(&instance(name)).await?;
        let inputs = record_of(&found, "key").map(|record| record.inputs.clone());
        check_eq!(inputs, Some(Value::from("s3cret").secret()), "the secret");
    }
    let after = place.open(other()).load(&instance("shop")).await?;
    check_eq!(
        (before.revision, before.records),
        (after.revision, after.records),
        "what is remembered"
    );
    Ok(())
}

async fn leases(place: &StorePlace) -> Result<(), Failed> {
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

async fn expired_lease(place: &StorePlace) -> Result<(), Failed> {
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

async fn stale_revision_is_refused(place: &StorePlace) -> Result<(), Failed> {
    let store = place.open(sealer());
    let mut hand = TestWriter::acquire(&*store, "shop").await?;
    hand.commit(vec![began("op-1")]).await?;
    for expected in [Revision(0), Revision(2)] {
        let entries = vec![outcome(1, "a", record(Value::Null))];
        match store.commit(&hand.lease, expected, entries).await {
            Err(StoreError::Moved {
                found,
                expected: stated,
                ..
            }) => {
                check_eq!(
                    (found, stated),
                    (Revision(1), expected),
                    "what is said to be there"
                );
            }
            other => return Err(Failed(format!("a commit on another revision is {other:?}"))),
        }
    }
    check!(
        store.load(&hand.lease.instance).await?.records.is_empty(),
        "something was written"
    );
    hand.commit(vec![outcome(1, "a", record(Value::Null))])
        .await
}

async fn rules(place: &StorePlace) -> Result<(), Failed> {
    let store = place.open(sealer());
    let mut hand = TestWriter::acquire(&*store, "shop").await?;
    let something = || outcome(1, "a", record(Value::Int(1)));
    for (entries, what) in [
        (vec![], "no entry"),
        (vec![something()], "an outcome before any operation"),
        (
            vec![something(), began("op-1")],
            "an operation that begins late",
        ),
        (vec![began("op-1"), began("op-2")], "two operations at once"),
        (
            vec![began("op-1"), finished(2, OperationOutcome::Ready)],
            "a generation left out",
        ),
        (
            vec![
                began("op-1"),
                finished(1, OperationOutcome::Ready),
                something(),
            ],
            "an entry after the end",
        ),
        (
            vec![
                began("op-1"),
                something(),
                finished(1, OperationOutcome::Gone),
            ],
            "gone with a record left",
        ),
        (
            vec![
                began("op-1"),
                outcome(1, "a", record(Value::unknown(None, None))),
            ],
            "an unknown value",
        ),
    ] {
        check_err!(
            hand.try_commit(entries).await,
            StoreError::Refused { .. },
            what
        );
        check_eq!(
            store.head(&hand.lease.instance).await?,
            Revision(0),
            format!("the revision after {what}")
        );
    }
    hand.commit(vec![began("op-1"), intent(1, "a")]).await?;
    for (entries, what) in [
        (vec![began("op-2")], "an operation within another"),
        (
            vec![outcome(2, "a", record(Value::Null))],
            "an outcome of another step than its call",
        ),
        (
            vec![finished(1, OperationOutcome::Ready), something()],
            "an entry after the end",
        ),
    ] {
        check_err!(
            hand.try_commit(entries).await,
            StoreError::Refused { .. },
            what
        );
    }
    hand.commit(vec![something(), finished(1, OperationOutcome::Ready)])
        .await?;
    check_err!(
        hand.try_commit(vec![something()]).await,
        StoreError::Refused { .. },
        "an entry between operations"
    );
    check_err!(
        hand.try_commit(vec![began("op-1")]).await,
        StoreError::OperationExists { .. },
        "an id used twice"
    );
    hand.commit(vec![began("op-2")]).await?;
    let mut other = TestWriter::acquire(&*store, "other").await?;
    check_err!(
        other.try_commit(vec![began("op-2")]).await,
        StoreError::OperationExists { .. },
        "an id of another instance"
    );
    other.commit(vec![began("op-3")]).await
}

async fn stops_of_running_operations(place: &StorePlace) -> Result<(), Failed> {
    let shop = instance("shop");
    let (entries, wanted) = full_operation();
    let store = place.open(sealer());
    let mut hand = TestWriter::acquire(&*store, "shop").await?;
    hand.commit(entries).await?;
    // An operation without stops keeps the earlier stops, even if it is cut off.
    hand.commit(vec![began("op-2")]).await?;
    check_eq!(
        store.load(&shop).await?.stops,
        wanted.stops,
        "what was under way before"
    );
    hand.commit(vec![finished(2, OperationOutcome::Ready)])
        .await?;
    check!(
        store.load(&shop).await?.stops.is_empty(),
        "something is under way after the end"
    );
    let Entry {
        step,
        kind: EntryKind::Began(operation),
    } = began("op-3")
    else {
        return Ok(());
    };
    let operation = Operation {
        stops: Some(wanted.stops.clone()),
        ..Operation::clone(&operation)
    };
    hand.commit(vec![Entry {
        step,
        kind: EntryKind::Began(operation.into()),
    }])
    .await?;
    check_eq!(
        store.load(&shop).await?.stops,
        wanted.stops,
        "what is under way"
    );
    let Some(info) = store.info(&shop).await? else {
        return Err(Failed("there is no info".into()));
    };
    check!(
        info.waiting.is_empty(),
        "something waits while an operation runs: {:?}",
        info.waiting
    );
    Ok(())
}

async fn cut_off(place: &StorePlace) -> Result<(), Failed> {
    let shop = instance("shop");
    {
        let store = place.open(sealer());
        let mut hand = TestWriter::acquire(&*store, "shop").await?;
        hand.commit(vec![began("op-1"), intent(1, "a"), intent(2, "b")])
            .await?;
        hand.commit(vec![outcome(1, "a", record(Value::Int(1))), intent(3, "c")])
            .await?;
        // The writer is dropped here: the operation has no end, and the lease is not released.
    }
    let store = place.open(sealer());
    let found = store.load(&shop).await?;
    let open = |snapshot: &Snapshot| {
        snapshot
            .open
            .keys()
            .map(Address::to_string)
            .collect::<Vec<_>>()
    };
    check_eq!(open(&found), ["b", "c"], "open calls");
    check_eq!(
        found
            .open
            .get(&address("c"))
            .map(|open| &*open.intent.token),
        Some("token-3"),
        "the token of a call"
    );
    check_eq!(found.records.len(), 1, "records");
    check!(
        found.deleted.is_empty(),
        "deleted before anything was: {:?}",
        found.deleted
    );
    let last = store.info(&shop).await?.and_then(|info| info.last);
    check!(
        matches!(last, Some((_, None))),
        "the operation has an outcome: {last:?}"
    );
    // Another operation settles one of the open calls and is cut off as well.
    let lease = place
        .at(NOW + 100, &store)
        .lease(&shop, "bob@host (2)", MINUTE)
        .await?;
    let mut hand = TestWriter {
        store: &*store,
        lease,
        revision: found.revision,
    };
    hand.commit(vec![began("op-2"), outcome(1, "c", record(Value::Int(3)))])
        .await?;
    hand.commit(vec![
        delete(2, "a", "id-a"),
        outcome(2, "a", None),
        delete(3, "c", "id-c"),
    ])
    .await?;
    drop(hand);
    drop(store);
    let store = place.open(sealer());
    let found = store.load(&shop).await?;
    check_eq!(
        open(&found),
        ["b", "c"],
        "open calls after another operation"
    );
    let deleted = |snapshot: &Snapshot| {
        let each = snapshot
            .deleted
            .iter()
            .map(|(address, id)| format!("{address} {id}"));
        each.collect::<Vec<_>>()
    };
    check_eq!(
        deleted(&found),
        ["a id-a", "c id-c"],
        "objects that were being deleted"
    );
    store.unlock(&shop).await?;
    let mut hand = TestWriter::acquire(&*store, "shop").await?;
    hand.commit(vec![
        began("op-3"),
        outcome(3, "c", None),
        intent(4, "b"),
        outcome(4, "b", None),
        finished(1, OperationOutcome::Ready),
    ])
    .await?;
    let found = store.load(&shop).await?;
    check!(
        found.open.is_empty(),
        "open calls in the end: {:?}",
        open(&found)
    );
    check!(
        found.deleted.is_empty(),
        "what was deleted before the end still counts: {:?}",
        found.deleted
    );
    check_eq!(found.generation.0, 1, "generation");
    Ok(())
}

async fn destroyed(place: &StorePlace) -> Result<(), Failed> {
    let store = place.open(sealer());
    let shop = instance("shop");
    let mut hand = TestWriter::acquire(&*store, "shop").await?;
    hand.commit(vec![
        began("op-1"),
        outcome(1, "a", record(Value::Int(1))),
        finished(1, OperationOutcome::Ready),
    ])
    .await?;
    let uid = store.load(&shop).await?.uid;
    check_eq!(&*uid, "op-1", "uid");
    hand.commit(vec![
        samples::began_as("op-2", OperationKind::Destroy, ""),
        intent(1, "a"),
    ])
    .await?;
    hand.commit(vec![
        outcome(1, "a", None),
        finished(2, OperationOutcome::Gone),
    ])
    .await?;
    let found = store.load(&shop).await?;
    check!(
        found.records.is_empty() && found.exports.is_empty() && !found.exports_old,
        "something is left"
    );
    check_eq!(&*found.document, "shop.blueprint.yaml", "the document");
    let Some(info) = store.info(&shop).await? else {
        return Err(Failed("it is not listed any more".into()));
    };
    check_eq!(info.records, 0, "records");
    check!(
        matches!(info.last, Some((_, Some(OperationOutcome::Gone)))),
        "its last outcome is {:?}",
        info.last
    );
    hand.commit(vec![
        began("op-3"),
        outcome(1, "b", record(Value::Int(2))),
        finished(3, OperationOutcome::Ready),
    ])
    .await?;
    let found = store.load(&shop).await?;
    check_eq!(
        (found.uid, found.generation.0, found.revision),
        (uid, 3, Revision(4)),
        "uid, generation, revision"
    );
    check_eq!(found.records.len(), 1, "records");
    check_eq!(store.history(&shop, 9).await?.len(), 3, "operations");
    Ok(())
}

async fn history(place: &StorePlace) -> Result<(), Failed> {
    let store = place.open(sealer());
    let shop = instance("shop");
    let mut hand = TestWriter::acquire(&*store, "shop").await?;
    for number in 1..=5u64 {
        let id = format!("op-{number}");
        hand.commit(vec![
            began(&id),
            outcome(1, "a", record(Value::Int(number.cast_signed()))),
        ])
        .await?;
        hand.commit(vec![finished(number, OperationOutcome::Ready)])
            .await?;
    }
    hand.commit(vec![began("op-6"), outcome(1, "a", record(Value::Int(6)))])
        .await?;
    let past = store.history(&shop, 3).await?;
    check!(
        past.iter()
            .map(|past| &*past.operation.id)
            .eq(["op-6", "op-5", "op-4"]),
        "the newest three: {past:?}"
    );
    check!(
        past.first().is_some_and(|newest| newest.finished.is_none()),
        "what runs has finished"
    );
    let finished = past.get(1).and_then(|past| past.finished);
    check_eq!(
        finished.map(|ended| (ended.outcome, ended.at, ended.generation.0, ended.counts)),
        Some((
            OperationOutcome::Ready,
            NOW + 5,
            5,
            Counts {
                created: 1,
                updated: 2,
                deleted: 3,
                replaced: 4
            }
        )),
        "how an operation ended"
    );
    for id in ["op-1", "op-6"] {
        let found = store.operation(&shop, id).await?;
        check_eq!(
            found.as_ref().map(|it| (&*it.id, &it.desired)),
            Some((id, &samples::desired())),
            "an operation"
        );
    }
    check_eq!(
        store.operation(&shop, "op-7").await?,
        None,
        "an operation that never was"
    );
    check_eq!(
        store.history(&shop, 0).await?.len(),
        0,
        "history of nothing"
    );
    let log = store.log(&shop, Some("op-2"), 9).await?;
    check!(
        log.iter().map(|line| line.sequence).eq([4, 5, 6]),
        "the log of one operation: {log:?}"
    );
    check!(
        log.iter().all(|line| &*line.operation == "op-2"),
        "entries of another operation: {log:?}"
    );
    check!(
        matches!(
            log.first().map(|line| &line.entry.kind),
            Some(EntryKind::Began(_))
        ),
        "the log is backwards"
    );
    let log = store.log(&shop, Some("op-2"), 1).await?;
    check!(
        log.iter().map(|line| line.sequence).eq([6]),
        "the newest entry of one operation: {log:?}"
    );
    let log = store.log(&shop, None, 3).await?;
    check!(
        log.iter().map(|line| line.sequence).eq([15, 16, 17]),
        "the newest entries: {log:?}"
    );
    check!(
        log.iter()
            .map(|line| &*line.operation)
            .eq(["op-5", "op-6", "op-6"]),
        "their operations: {log:?}"
    );
    check_eq!(
        store.log(&shop, Some("op-7"), 9).await?.len(),
        0,
        "the log of an operation that never was"
    );
    Ok(())
}

async fn order(place: &StorePlace) -> Result<(), Failed> {
    let store = place.open(sealer());
    let shop = instance("shop");
    let mut hand = TestWriter::acquire(&*store, "shop").await?;
    let made = |name: &str, value: i64| outcome(1, name, record(Value::Int(value)));
    hand.commit(vec![
        began("op-1"),
        made("z", 1),
        made("a", 2),
        made("m[0]", 3),
        made("m[\"k/\\\"\"]", 4),
    ])
    .await?;
    hand.commit(vec![made("z", 5), outcome(1, "a", None), made("core/b", 6)])
        .await?;
    hand.commit(vec![made("a", 7), failed(2, "m[0]", "no luck")])
        .await?;
    let found = store.load(&shop).await?;
    let names: Vec<String> = found.records.keys().map(Address::to_string).collect();
    check_eq!(names, ["z", "m[\"k/\\\"\"]", "core/b", "a"], "the order");
    check_eq!(
        record_of(&found, "z").map(|record| record.inputs.clone()),
        Some(Value::Int(5)),
        "a changed record"
    );
    Ok(())
}

async fn exports(place: &StorePlace) -> Result<(), Failed> {
    let store = place.open(sealer());
    let shop = instance("shop");
    let mut hand = TestWriter::acquire(&*store, "shop").await?;
    let state = async || -> Result<(Option<Value>, bool), Failed> {
        let found = store.load(&shop).await?;
        Ok((found.exports.get("url").cloned(), found.exports_old))
    };
    let is = |at: i64| Some(Value::Int(at));
    hand.commit(vec![began("op-1"), finished(1, OperationOutcome::Failed)])
        .await?;
    check_eq!(
        state().await?,
        (None, true),
        "exports after a failure at first"
    );
    hand.commit(vec![began("op-2"), finished(2, OperationOutcome::Ready)])
        .await?;
    check_eq!(state().await?, (is(2), false), "exports after a success");
    hand.commit(vec![
        began("op-3"),
        finished(3, OperationOutcome::Interrupted),
    ])
    .await?;
    check_eq!(state().await?, (is(2), true), "exports after a failure");
    hand.commit(vec![began("op-4"), samples::finished_without_exports(4)])
        .await?;
    check_eq!(
        state().await?,
        (is(2), true),
        "exports after a change of the state alone"
    );
    hand.commit(vec![began("op-5"), finished(5, OperationOutcome::Ready)])
        .await?;
    hand.commit(vec![began("op-6"), samples::finished_without_exports(6)])
        .await?;
    check_eq!(
        state().await?,
        (is(5), false),
        "exports after a change of the state alone, on a success"
    );
    hand.commit(vec![began("op-7"), finished(7, OperationOutcome::Gone)])
        .await?;
    check_eq!(state().await?, (None, false), "exports of what is gone");
    Ok(())
}

async fn instances_are_isolated(place: &StorePlace) -> Result<(), Failed> {
    let store = place.open(sealer());
    for (number, name) in ["b", "a.x", "c_1"].into_iter().enumerate() {
        let mut hand = TestWriter::acquire(&*store, name).await?;
        let id = format!("op-{name}");
        hand.commit(vec![
            began(&id),
            outcome(1, "same", record(Value::from(name))),
            intent(2, "open"),
        ])
        .await?;
        for _ in 0..number {
            hand.commit(vec![outcome(1, "same", record(Value::from(name)))])
                .await?;
        }
        hand.release().await?;
    }
    let all = store.instances().await?;
    check!(
        all.iter()
            .map(|info| info.name.as_str())
            .eq(["a.x", "b", "c_1"]),
        "instances: {all:?}"
    );
    check!(
        all.iter().map(|info| info.revision.0).eq([2, 1, 3]),
        "their revisions: {all:?}"
    );
    for name in ["b", "a.x", "c_1"] {
        let found = store.load(&instance(name)).await?;
        check_eq!(found.uid.to_string(), format!("op-{name}"), "uid");
        let inputs = record_of(&found, "same").map(|record| record.inputs.clone());
        check_eq!(inputs, Some(Value::from(name)), "the record");
        check_eq!(found.open.len(), 1, "open calls");
        check_eq!(found.records.len(), 1, "records");
        let managed = store.managed_by_others(name).await?;
        let owners: Vec<&str> = managed.iter().map(|one| one.instance.as_str()).collect();
        let others: Vec<&str> = ["a.x", "b", "c_1"]
            .into_iter()
            .filter(|other| *other != name)
            .collect();
        check_eq!(owners, others, "who else manages something");
        let same = |one: &Managed| {
            let record = record_of(&found, "same");
            record.is_some_and(|it| (&it.type_name, &it.id) == (&one.type_name, &one.id))
                && one.address == address("same")
        };
        check!(managed.iter().all(same), "what others manage: {managed:?}");
    }
    // Neither deleted resources nor those that were never created are managed.
    let mut hand = TestWriter::acquire(&*store, "b").await?;
    let mut unmade = record(Value::Null);
    unmade.id = Name::default();
    hand.commit(vec![
        began("op-more"),
        outcome(1, "unmade", unmade),
        outcome(2, "same", None),
    ])
    .await?;
    let managed = store.managed_by_others("a.x").await?;
    check!(
        managed.iter().all(|one| one.instance.as_str() == "c_1"),
        "what others manage: {managed:?}"
    );
    check_eq!(managed.len(), 1, "objects that others manage");
    Ok(())
}

async fn reading(place: &StorePlace) -> Result<(), Failed> {
    let (ours, theirs) = (place.open(sealer()), place.open(sealer()));
    let shop = instance("shop");
    let mut hand = TestWriter::acquire(&*ours, "shop").await?;
    let pair = |number: i64| {
        ["a", "b"]
            .map(|name| outcome(1, name, record(Value::Int(number))))
            .to_vec()
    };
    hand.commit([vec![began("op-1")], pair(0)].concat()).await?;
    const ROUNDS: i64 = 40;
    let writing = async {
        for number in 1..=ROUNDS {
            hand.commit(pair(number)).await?;
        }
        Ok::<(), Failed>(())
    };
    let watching = async {
        let mut last = Revision(0);
        for _ in 0..ROUNDS {
            let found = theirs.load(&shop).await?;
            check!(
                found.revision >= last,
                "a reader went back from {last:?} to {:?}",
                found.revision
            );
            last = found.revision;
            let values =
                ["a", "b"].map(|name| record_of(&found, name).map(|record| record.inputs.clone()));
            let wanted = Value::Int(found.revision.0.cast_signed() - 1);
            check!(
                values.iter().all(|value| value.as_ref() == Some(&wanted)),
                "revision {last:?} shows {values:?}"
            );
        }
        Ok::<(), Failed>(())
    };
    let (written, seen) = join(writing, watching).await;
    written.and(seen)
}

async fn races(place: &StorePlace) -> Result<(), Failed> {
    let stores: Vec<Box<dyn Store>> = (0..4).map(|_| place.open(sealer())).collect();
    let shop = instance("shop");
    let tried = join_all(
        stores
            .iter()
            .map(|store| place.at(NOW, &store).lease(&shop, "ann", MINUTE)),
    )
    .await;
    let mut won: Vec<Lease> = Vec::new();
    for lease in tried {
        match lease {
            Ok(lease) => won.push(lease),
            Err(StoreError::Busy { .. }) => {}
            Err(other) => return Err(other.into()),
        }
    }
    let [lease] = won.as_slice() else {
        return Err(Failed(format!("{} got the lease", won.len())));
    };
    let commit =
        |store: &'static str| vec![began(store), outcome(1, "a", record(Value::from(store)))];
    let ids = ["op-1", "op-2", "op-3", "op-4"];
    let tried = join_all(
        stores
            .iter()
            .zip(ids)
            .map(|(store, id)| store.commit(lease, Revision(0), commit(id))),
    )
    .await;
    let done = tried.iter().filter(|result| result.is_ok()).count();
    check_eq!(done, 1, "commits on one revision");
    check!(
        tried
            .iter()
            .all(|result| matches!(result, Ok(_) | Err(StoreError::Moved { .. }))),
        "the others get the error `Moved`: {tried:?}"
    );
    check_eq!(stores.len(), 4, "stores");
    for store in &stores {
        check_eq!(store.load(&shop).await?.records.len(), 1, "records");
    }
    let status = record_of(&stores[0].load(&shop).await?, "a").map(|record| record.status);
    check!(
        status.is_some_and(|status| status.op == StatusOp::Create && status.word == StatusWord::Ready),
        "its status"
    );
    Ok(())
}
