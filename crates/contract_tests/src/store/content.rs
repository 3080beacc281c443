//! What a store remembers of an instance: records, exports, metadata, and their order.

use blueprint::{Address, Value};
use state::{OperationKind, OperationOutcome, Revision, Since, Stop, StoreError};

use super::harness::{Failed, MINUTE, NOW, StorePlace, TestWriter, instance};
use super::samples::{
    self, began, failed, finished, full_operation, intent, outcome, record, record_of, sealer,
};

/// A place without instances answers every query.
pub(super) async fn unused_place_is_empty(place: &StorePlace) -> Result<(), Failed> {
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

/// A store that is opened again reads every field of every entry as it was committed.
pub(super) async fn commits_are_read_back(place: &StorePlace) -> Result<(), Failed> {
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

/// Records stay in the order in which they were first created.
pub(super) async fn records_keep_their_order(place: &StorePlace) -> Result<(), Failed> {
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

/// Exports are those of the last operation that succeeded.
pub(super) async fn exports_are_of_the_last_success(place: &StorePlace) -> Result<(), Failed> {
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

/// A destroyed instance is listed, and a later operation continues its revisions and generations.
pub(super) async fn destroyed_instance_continues(place: &StorePlace) -> Result<(), Failed> {
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
