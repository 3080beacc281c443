//! Pruning: operations are removed from a journal, and the current state stays the same.

use blueprint::Value;
use state::seal::Sealer;
use state::{
    Entry, Exported, OperationOutcome, Pruned, PrunedBase, Revision, Since, Snapshot, Store,
    StoreError, first_kept,
};

use super::folded;
use super::harness::{Failed, MINUTE, NOW, StorePlace, TestWriter, instance};
use super::restored::exported;
use super::samples::{
    address, began, delete, finished, finished_without_exports, intent, outcome, record, sealer,
};

fn addresses(snapshot: &Snapshot) -> Vec<String> {
    snapshot.records.keys().map(ToString::to_string).collect()
}

/// Commits five operations: later ones change, remove and recreate records of the first; one record
/// holds a secret.
async fn commit_five_operations<'s>(store: &'s dyn Store) -> Result<TestWriter<'s>, Failed> {
    let mut hand = TestWriter::acquire(store, "shop").await?;
    let made = |at: &str, value: i64| outcome(1, at, record(Value::Int(value)));
    let secret = outcome(1, "key", record(Value::from("s3cret").secret()));
    let ready = |number| finished(number, OperationOutcome::Ready);
    let operations: [Vec<Entry>; 5] = [
        vec![
            began("op-1"),
            made("z", 1),
            made("a", 2),
            made("gone", 3),
            secret,
            made("again", 4),
            ready(1),
        ],
        vec![
            began("op-2"),
            made("z", 5),
            delete(2, "again", "id-1"),
            outcome(2, "again", None),
            ready(2),
        ],
        vec![
            began("op-3"),
            made("a", 6),
            made("b", 7),
            finished(3, OperationOutcome::Failed),
        ],
        vec![
            began("op-4"),
            outcome(1, "gone", None),
            made("again", 8),
            ready(4),
        ],
        vec![began("op-5"), made("a", 9), finished_without_exports(5)],
    ];
    for entries in operations {
        hand.commit(entries).await?;
    }
    Ok(hand)
}

/// Pruning keeps the current state and removes the operations. Later operations still work.
pub(super) async fn pruning_keeps_the_state(place: &StorePlace) -> Result<(), Failed> {
    let store = place.open(sealer());
    let shop = instance("shop");
    let mut hand = commit_five_operations(&*store).await?;
    let before = store.load(&shop).await?;
    let info = store.info(&shop).await?;
    check_eq!(
        info.and_then(|info| info.needed).as_deref(),
        Some("op-4"),
        "the oldest operation that is needed"
    );
    for (first, what) in [
        ("op-5", "an operation whose exports hold is removed"),
        ("op-9", "no such operation"),
    ] {
        check_err!(
            store.prune(&hand.lease, first).await,
            StoreError::Refused { .. },
            what
        );
    }
    check_eq!(
        store.prune(&hand.lease, "op-1").await?,
        Pruned::default(),
        "removed before the first operation"
    );
    let removed = store.prune(&hand.lease, "op-3").await?;
    check_eq!(removed.operations, 2, "operations that were removed");
    check_eq!(store.load(&shop).await?, before, "what is known");
    check_eq!(
        addresses(&store.load(&shop).await?),
        addresses(&before),
        "the order of records"
    );
    check_eq!(
        store.prune(&hand.lease, "op-3").await?,
        Pruned::default(),
        "removed a second time"
    );
    let removed = store.prune(&hand.lease, "op-4").await?;
    check_eq!(removed.operations, 1, "operations that were removed");

    let store = place.open(sealer());
    check_eq!(
        store.load(&shop).await?,
        before,
        "what is known after it was opened again"
    );
    check_eq!(store.head(&shop).await?, Revision(5), "the revision");
    let past = store.history(&shop, 99).await?;
    check!(
        past.iter()
            .map(|past| &*past.operation.id)
            .eq(["op-5", "op-4"]),
        "the history: {past:?}"
    );
    check_eq!(
        store.history(&shop, 1).await?.len(),
        1,
        "a part of the history"
    );
    check_eq!(
        store.operation(&shop, "op-3").await?,
        None,
        "an operation that was removed"
    );
    check!(
        store
            .operation(&shop, "op-4")
            .await?
            .is_some_and(|it| !it.desired.is_null()),
        "a document is missing"
    );
    check_eq!(
        store.log(&shop, Some("op-3"), 99).await?.len(),
        0,
        "the log of an operation that was removed"
    );
    let log = store.log(&shop, None, 99).await?;
    check!(
        log.iter()
            .all(|line| matches!(&*line.operation, "op-4" | "op-5")),
        "the log: {log:?}"
    );
    let tail = store
        .read(&shop, Since::Entry(3))
        .await?
        .unwrap_or_default();
    check!(
        tail.from.sequence > 3,
        "the gap in the journal is not reported"
    );
    check_eq!(
        tail.snapshot(),
        before,
        "what the journal leads to from a gap on"
    );
    hand = TestWriter {
        store: &*store,
        lease: hand.lease,
        revision: hand.revision,
    };
    let more = vec![
        began("op-6"),
        outcome(1, "z", record(Value::Int(10))),
        intent(2, "new"),
    ];
    hand.commit(more).await?;
    check_err!(
        store.prune(&hand.lease, "op-6").await,
        StoreError::Refused { .. },
        "pruning what runs"
    );
    hand.commit(vec![
        outcome(2, "new", record(Value::Int(11))),
        finished(6, OperationOutcome::Ready),
    ])
    .await?;
    store.prune(&hand.lease, "op-6").await?;
    let found = store.load(&shop).await?;
    check_eq!(
        addresses(&found),
        ["z", "a", "key", "b", "again", "new"],
        "records"
    );
    check!(
        store.verify().await?.damaged.is_empty(),
        "it is damaged: {:?}",
        store.verify().await?.damaged
    );
    hand.release().await?;
    // The sealed values of a removed operation are resealed with the others.
    place
        .at(NOW + 100, &store)
        .rekey(&Sealer::with_key([9; 32]))
        .await?;
    let other = place.open(Sealer::with_key([9; 32]));
    check_eq!(
        other.load(&shop).await?,
        found,
        "what is known under another key"
    );
    check!(
        other.verify().await?.damaged.is_empty(),
        "it is damaged: {:?}",
        other.verify().await?.damaged
    );
    Ok(())
}

/// Only the holder of the lease can prune, and open calls survive pruning.
pub(super) async fn leases_and_open_calls(place: &StorePlace) -> Result<(), Failed> {
    let store = place.open(sealer());
    let shop = instance("shop");
    let mut hand = TestWriter::acquire(&*store, "shop").await?;
    hand.commit(vec![began("op-1"), intent(1, "lost")]).await?;
    store.unlock(&shop).await?;
    let mut hand = TestWriter::acquire(&*store, "shop").await?;
    for number in 2..5u64 {
        let id = format!("op-{number}");
        hand.commit(vec![
            began(&id),
            finished(number - 1, OperationOutcome::Ready),
        ])
        .await?;
    }
    check_err!(
        store.prune(&hand.lease, "op-2").await,
        StoreError::Refused { .. },
        "an open call is forgotten"
    );
    let needed = store.info(&shop).await?.and_then(|info| info.needed);
    let history = store.history(&shop, 99).await?;
    check_eq!(
        first_kept(&history, 1, needed.as_deref()),
        None,
        "what may be removed while a call is open"
    );
    hand.commit(vec![
        began("op-5"),
        outcome(1, "lost", None),
        finished(4, OperationOutcome::Ready),
    ])
    .await?;
    let needed = store.info(&shop).await?.and_then(|info| info.needed);
    let history = store.history(&shop, 99).await?;
    let first = first_kept(&history, 2, needed.as_deref()).map(|operation| operation.id.clone());
    check_eq!(
        first.as_deref(),
        Some("op-4"),
        "the first operation of two that are kept"
    );
    let old = hand.lease.clone();
    store.unlock(&shop).await?;
    check_err!(
        store.prune(&old, "op-4").await,
        StoreError::Busy { .. },
        "pruning without the lease"
    );
    check_eq!(
        store.history(&shop, 99).await?.len(),
        5,
        "operations after a refusal"
    );
    let lease = place
        .at(NOW, &store)
        .lease(&shop, "bob@host (2)", MINUTE)
        .await?;
    check_eq!(
        store.prune(&lease, "op-4").await?.operations,
        3,
        "operations that were removed"
    );
    check_eq!(store.load(&shop).await?.open.len(), 0, "open calls");
    Ok(())
}

/// A pruned journal is exported as a text and restored on another place.
pub(super) async fn restore_in_another_store(
    place: &StorePlace,
    other_place: &StorePlace,
) -> Result<(), Failed> {
    let store = place.open(sealer());
    let shop = instance("shop");
    let hand = commit_five_operations(&*store).await?;
    store.prune(&hand.lease, "op-4").await?;
    hand.release().await?;
    let (whole, before, text) = exported(&*store, "shop").await?;
    check!(!text.contains("s3cret"), "a secret lies open in the text");
    let read = Exported::read(&text, &sealer()).map_err(|error| Failed(error.to_string()))?;
    check!(
        read == whole,
        "the text reads as {read:?} instead of {whole:?}"
    );
    let elsewhere = other_place.open(sealer());
    let base = read.pruned.as_ref().map(PrunedBase::checkpoint);
    check!(
        base.is_some(),
        "the text does not tell that operations were removed"
    );
    elsewhere
        .restore(&shop, read.revision, base, read.operations())
        .await?;
    let (_, after, again) = exported(&*elsewhere, "shop").await?;
    check_eq!(after, before, "what is known");
    check_eq!(
        after.records.get(&address("key")),
        before.records.get(&address("key")),
        "the secret"
    );
    check!(
        again == text,
        "writing it again gives another text:\n{again}instead of\n{text}"
    );
    folded::journals_lead_to_snapshots(other_place).await?;
    let mut hand = TestWriter::acquire(&*elsewhere, "shop").await?;
    hand.commit(vec![began("op-6"), outcome(1, "z", record(Value::Int(1)))])
        .await
}
