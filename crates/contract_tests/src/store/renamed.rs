//! Renaming: an instance goes on under another name.

use blueprint::Value;
use state::{OperationOutcome, Revision, Since, StoreError};

use super::harness::{Failed, StorePlace, TestWriter, instance};
use super::samples::{began, finished, outcome, record, sealer};

/// The journal, its secrets and its revision are those of the new name; the old name is free.
pub(super) async fn renamed_instance_goes_on(place: &StorePlace) -> Result<(), Failed> {
    let store = place.open(sealer());
    let (shop, market) = (instance("shop"), instance("market"));
    let mut first = TestWriter::acquire(&*store, "shop").await?;
    let secret = outcome(1, "key", record(Value::from("s3cret").secret()));
    let ready = finished(1, OperationOutcome::Ready);
    first.commit(vec![began("op-1"), secret, ready]).await?;
    let before = store.load(&shop).await?;
    store.rename(&first.lease, &market).await?;
    first.release().await?;
    let again = place.open(sealer());
    check_eq!(again.load(&market).await?, before, "the state");
    check!(
        again.read(&shop, Since::Entry(0)).await?.is_none(),
        "the old name has a journal"
    );
    let names: Vec<String> = again
        .instances()
        .await?
        .iter()
        .map(|info| info.name.to_string())
        .collect();
    check_eq!(names, ["market"], "the instances");
    let mut second = TestWriter::acquire(&*again, "market").await?;
    check_eq!(second.revision, Revision(1), "the revision of the lease");
    second
        .commit(vec![began("op-2"), finished(2, OperationOutcome::Ready)])
        .await?;
    let mut other = TestWriter::acquire(&*again, "shop").await?;
    let ready = finished(1, OperationOutcome::Ready);
    other.commit(vec![began("op-3"), ready]).await?;
    check!(
        again.verify().await?.damaged.is_empty(),
        "the state is damaged"
    );
    Ok(())
}

/// The name of another instance, a held name, an instance that does not exist and a lost lease are
/// refused, and nothing changes.
pub(super) async fn taken_names_are_refused(place: &StorePlace) -> Result<(), Failed> {
    let store = place.open(sealer());
    let mut shop = TestWriter::acquire(&*store, "shop").await?;
    check_err!(
        store.rename(&shop.lease, &instance("market")).await,
        StoreError::Unknown { .. },
        "an instance without a commit"
    );
    shop.commit(vec![began("op-1"), finished(1, OperationOutcome::Ready)])
        .await?;
    let mut taken = TestWriter::acquire(&*store, "taken").await?;
    check_err!(
        store.rename(&shop.lease, &instance("taken")).await,
        StoreError::Busy { .. },
        "a name that is held"
    );
    taken
        .commit(vec![began("op-2"), finished(1, OperationOutcome::Ready)])
        .await?;
    taken.release().await?;
    check_err!(
        store.rename(&shop.lease, &instance("taken")).await,
        StoreError::Moved { .. },
        "the name of another instance"
    );
    let lease = shop.lease.clone();
    shop.release().await?;
    check_err!(
        store.rename(&lease, &instance("market")).await,
        StoreError::Busy { .. },
        "a lease that was given back"
    );
    check_eq!(store.instances().await?.len(), 2, "the instances");
    Ok(())
}
