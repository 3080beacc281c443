//! The journal: revisions, the rules of entries, open intents, stops, history and log.

use blueprint::{Address, Value};
use state::{
    Counts, Entry, EntryKind, Operation, OperationOutcome, Revision, Snapshot, StoreError,
};

use super::harness::{Failed, MINUTE, NOW, StorePlace, TestWriter, instance};
use super::samples::{
    self, address, began, delete, finished, full_operation, intent, outcome, record, sealer,
};

/// A commit on a revision other than the current one is refused.
pub(super) async fn stale_revision_is_refused(place: &StorePlace) -> Result<(), Failed> {
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

/// A commit that violates a rule of the journal is refused and stores nothing.
pub(super) async fn journal_rules_are_kept(place: &StorePlace) -> Result<(), Failed> {
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

/// Intents without an outcome stay open until an operation settles them.
pub(super) async fn open_intents_are_found(place: &StorePlace) -> Result<(), Failed> {
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

/// The stops of a running operation are known as soon as it began.
pub(super) async fn stops_of_running_operations(place: &StorePlace) -> Result<(), Failed> {
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

/// History lists the newest operations first, the log the newest entries last.
pub(super) async fn history_and_log_are_in_order(place: &StorePlace) -> Result<(), Failed> {
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
