//! A journal that is exported from one place and restored on another.

use blueprint::Value;
use state::seal::Sealer;
use state::{Entry, Exported, Revision, Since, Snapshot, Store, StoreError};

use super::harness::{Failed, MINUTE, NOW, StorePlace, TestWriter, instance};
use super::samples::{began, full_operation, intent, outcome, record, sealer};

pub(super) async fn exported(
    store: &dyn Store,
    name: &str,
) -> Result<(Exported, Snapshot, String), Failed> {
    let name = instance(name);
    let snapshot = store.load(&name).await?;
    let journal = store
        .read(&name, Since::Entry(0))
        .await?
        .unwrap_or_default();
    let exported = Exported::whole(&name, journal);
    let text = exported
        .write(&sealer())
        .map_err(|error| Failed(error.to_string()))?;
    Ok((exported, snapshot, text))
}

/// Restores a journal with secrets, a history and a cut-off call. Its next export is the same text.
pub(super) async fn restore_in_another_store(
    place: &StorePlace,
    other_place: &StorePlace,
) -> Result<(), Failed> {
    let store = place.open(sealer());
    let mut hand = TestWriter::acquire(&*store, "shop").await?;
    let (entries, _) = full_operation();
    let (first, rest) = entries.split_at(2);
    hand.commit(first.to_vec()).await?;
    hand.commit(rest.to_vec()).await?;
    let secret = record(Value::from("s3cret").secret());
    hand.commit(vec![
        began("op-2"),
        intent(1, "lost"),
        outcome(2, "key", secret),
    ])
    .await?;
    store.unlock(&instance("shop")).await?;
    let mut other = TestWriter::acquire(&*store, "shop").await?;
    other
        .commit(vec![
            began("op-3"),
            intent(1, "cut-off"),
            outcome(2, "plain", None),
        ])
        .await?;
    other.release().await?;
    let (whole, before, text) = exported(&*store, "shop").await?;
    let read = Exported::read(&text, &sealer()).map_err(|error| Failed(error.to_string()))?;
    check!(
        read == whole,
        "the text reads as {read:?} instead of {whole:?}"
    );
    check!(!text.contains("s3cret"), "a secret lies open in the text");
    check!(
        Exported::read(&text, &Sealer::none()).is_err(),
        "the text reads without a key"
    );

    // A store refuses operations whose ids it already has.
    let operations = whole.operations();
    check_eq!(operations.len(), 3, "operations");
    let twice = store
        .restore(&instance("copy"), whole.revision, None, operations.clone())
        .await;
    check_err!(
        twice,
        StoreError::OperationExists { .. },
        "the same operations a second time"
    );
    check!(
        store.info(&instance("copy")).await?.is_none(),
        "half of it was put back"
    );

    let elsewhere = other_place.open(sealer());
    elsewhere
        .restore(&instance("shop"), read.revision, None, read.operations())
        .await?;
    let (_, after, again) = exported(&*elsewhere, "shop").await?;
    check!(again == text, "writing it again gives another text");
    check_eq!(after.open, before.open, "calls that were cut off");
    let (here, there) = (
        store.history(&instance("shop"), 9).await?,
        elsewhere.history(&instance("shop"), 9).await?,
    );
    check_eq!(format!("{there:?}"), format!("{here:?}"), "the history");
    // The secrets are sealed again on the new place: another key cannot open them.
    let other = other_place
        .open(Sealer::with_key([9; 32]))
        .load(&instance("shop"))
        .await;
    check_err!(other, StoreError::WrongKey, "loading with another key");
    Ok(())
}

/// A refused restore stores nothing, and a restore never overwrites an instance.
pub(super) async fn refused(place: &StorePlace) -> Result<(), Failed> {
    let store = place.open(sealer());
    let shop = instance("shop");
    let fine = |id: &str| vec![began(id), outcome(1, "a", record(Value::Int(1)))];
    let broken: Vec<Vec<Entry>> = vec![fine("op-1"), vec![outcome(1, "a", None)]];
    check_err!(
        store.restore(&shop, Revision(7), None, broken).await,
        StoreError::Refused { .. },
        "a broken journal"
    );
    check!(
        store.info(&shop).await?.is_none(),
        "half of it was put back"
    );
    let held = place
        .at(NOW, &store)
        .lease(&shop, "ann@host (1)", MINUTE)
        .await?;
    let busy = store
        .restore(&shop, Revision(7), None, vec![fine("op-1")])
        .await;
    check_err!(
        busy,
        StoreError::Busy { .. },
        "restoring an instance whose lease is held"
    );
    store.release(&held).await?;
    store
        .restore(&shop, Revision(7), None, vec![fine("op-1"), fine("op-2")])
        .await?;
    let found = store.load(&shop).await?;
    check_eq!(
        (found.revision, &*found.uid, found.records.len()),
        (Revision(7), "op-1", 1),
        "what was put back"
    );
    let again = store
        .restore(&shop, Revision(7), None, vec![fine("op-3")])
        .await;
    check_err!(
        again,
        StoreError::Moved { .. },
        "putting back where something is"
    );
    // The instance continues after the restored operations.
    let mut hand = TestWriter::acquire(&*store, "shop").await?;
    check_err!(
        hand.try_commit(fine("op-1")).await,
        StoreError::OperationExists { .. },
        "a restored operation"
    );
    let known = store
        .restore(&instance("copy"), Revision(7), None, vec![fine("op-1")])
        .await;
    check_err!(
        known,
        StoreError::OperationExists { .. },
        "restoring an operation of another instance"
    );
    hand.commit(fine("op-3")).await?;
    check_eq!(store.history(&shop, 9).await?.len(), 3, "operations");
    Ok(())
}
