//! Prunes the history of an instance: `cyan state prune`, and `[history]` in `cyan.toml`.
//!
//! Not here: the rule which operations must stay (`state::first_kept`), the deletion of their rows
//! (the store).

use std::time::Duration;

use blueprint::Name;
use state::{GenerationInfo, InstanceName, Pruned, Store, StoreError, first_kept};

/// How long the lease for a prune lasts.
const LEASE_DURATION: Duration = Duration::from_secs(60);

/// The operations that a prune removes.
pub struct Removal {
    /// The id of the oldest operation that stays.
    pub oldest_kept: Name,
    /// The operations to remove, newest first.
    pub removed: Vec<GenerationInfo>,
    /// The number of operations that stay.
    pub kept_count: usize,
}

/// Returns the operations to remove so that at least the newest `keep` generations stay; `None` if
/// there are none. More stay if the current state or a rollback needs them ([`first_kept`]).
pub async fn removal(
    store: &dyn Store,
    instance: &InstanceName,
    keep: u64,
) -> Result<Option<Removal>, StoreError> {
    let Some(info) = store.info(instance).await? else {
        return Ok(None);
    };
    let mut history = store.history(instance, usize::MAX).await?;
    let Some(oldest_kept) =
        first_kept(&history, keep, info.needed.as_deref()).map(|operation| operation.id.clone())
    else {
        return Ok(None);
    };
    let position = history
        .iter()
        .position(|past| past.operation.id == oldest_kept);
    let kept_count = position.map_or(history.len(), |at| at + 1);
    let removed = history.split_off(kept_count);
    Ok(Some(Removal {
        oldest_kept,
        removed,
        kept_count,
    }))
}

/// Removes operations, under a lease of its own.
///
/// # Errors
/// `Busy` while another process holds a lease on the instance, and the errors of [`Store::prune`].
pub async fn remove(
    store: &dyn Store,
    instance: &InstanceName,
    who: &str,
    removal: &Removal,
) -> Result<Pruned, StoreError> {
    let lease = store.lease(instance, who, LEASE_DURATION).await?;
    let pruned = store.prune(&lease, &removal.oldest_kept).await;
    let released = store.release(&lease).await;
    let pruned = pruned?;
    released.map(|()| pruned)
}

/// Prunes to the setting `keep` of `[history]`; called after a successful operation. Removes
/// nothing while another process holds a lease on the instance: a later operation prunes.
pub async fn prune_after_operation(
    store: &dyn Store,
    instance: &InstanceName,
    who: &str,
    keep: Option<u64>,
) -> Result<(), StoreError> {
    let Some(keep) = keep else { return Ok(()) };
    let Some(removal) = removal(store, instance, keep).await? else {
        return Ok(());
    };
    match remove(store, instance, who, &removal).await {
        Ok(_) | Err(StoreError::Busy { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}
