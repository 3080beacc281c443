//! Removal of old operations from the history of an instance: `cyan state prune`, and `[history]` in `cyan.toml`.
//!
//! Not here: the selection of operations that must stay (`state::first_kept`); the removal itself (the store).

use std::time::Duration;

use blueprint::Name;
use state::{GenerationInfo, InstanceName, Pruned, Store, StoreError, first_kept};

/// The lease duration of a prune.
const LEASE: Duration = Duration::from_secs(60);

/// Operations to remove.
pub struct Removal {
    /// The first operation that is kept.
    pub first: Name,
    /// The operations before it, newest first.
    pub operations: Vec<GenerationInfo>,
    /// The number of kept operations.
    pub retained_count: usize,
}

/// Returns the operations to remove so that the newest `keep` generations stay; `None` if there are none to remove.
pub async fn removal(store: &dyn Store, instance: &InstanceName, keep: u64) -> Result<Option<Removal>, StoreError> {
    let Some(info) = store.info(instance).await? else { return Ok(None) };
    let mut history = store.history(instance, usize::MAX).await?;
    let Some(first) = first_kept(&history, keep, info.needed.as_deref()).map(|operation| operation.id.clone()) else {
        return Ok(None);
    };
    let retained_count = history.iter().position(|past| past.operation.id == first).map_or(history.len(), |at| at + 1);
    let operations = history.split_off(retained_count);
    Ok(Some(Removal { first, operations, retained_count }))
}

/// Removes operations, under a separate lease.
///
/// # Errors
/// `Busy` while another operation holds the instance, and the errors of [`Store::prune`].
pub async fn remove(
    store: &dyn Store,
    instance: &InstanceName,
    who: &str,
    removal: &Removal,
) -> Result<Pruned, StoreError> {
    let lease = store.lease(instance, who, LEASE).await?;
    let pruned = store.prune(&lease, &removal.first).await;
    let released = store.release(&lease).await;
    let pruned = pruned?;
    released.map(|()| pruned)
}

/// Prunes according to `[history]` after a successful operation. Removes nothing while another operation holds the
/// instance; that operation prunes at its end.
pub async fn after_an_operation(
    store: &dyn Store,
    instance: &InstanceName,
    who: &str,
    keep: Option<u64>,
) -> Result<(), StoreError> {
    let Some(keep) = keep else { return Ok(()) };
    let Some(removal) = removal(store, instance, keep).await? else { return Ok(()) };
    match remove(store, instance, who, &removal).await {
        Ok(_) | Err(StoreError::Busy { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}
