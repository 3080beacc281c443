//! Takes the lease of an instance away from an operation that may still run.
//!
//! The result of a check of a lease counts for [`LEASE_CHECK_VALIDITY`], so the former writer may
//! begin calls for as long after it has lost its lease. No other operation begins before that: the
//! lease passes to a holder without a process in one step, and is free after the wait. If the
//! waiting process dies, its lease expires after the same time.

use std::time::Duration;

use state::{InstanceName, LEASE_CHECK_VALIDITY, LeaseHolder, Liveness, Store, StoreError};

/// The time for which the instance is held. It is longer than the wait, so that the lease cannot
/// expire before.
const HOLD: Duration = LEASE_CHECK_VALIDITY.saturating_mul(2);

/// Ends the hold of any operation on an instance. If its process may still run, holds the instance
/// until it begins no further call. Returns the former holder.
pub async fn end_hold(
    store: &dyn Store,
    instance: &InstanceName,
    who: &str,
) -> Result<Option<LeaseHolder>, StoreError> {
    wait_out(store, instance, who, true).await
}

/// Ends a hold that has expired, as [`end_hold`] does.
///
/// # Errors
/// `Busy` if the holder is active.
pub(crate) async fn end_expired_hold(
    store: &dyn Store,
    instance: &InstanceName,
    who: &str,
) -> Result<(), StoreError> {
    wait_out(store, instance, who, false).await.map(|_| ())
}

async fn wait_out(
    store: &dyn Store,
    instance: &InstanceName,
    who: &str,
    even_active: bool,
) -> Result<Option<LeaseHolder>, StoreError> {
    let Some((holder, lease)) = store.take_away(instance, who, HOLD, even_active).await? else {
        return Ok(None);
    };
    if may_live(&holder) {
        tokio::time::sleep(LEASE_CHECK_VALIDITY).await;
    }
    store.release(&lease).await?;
    Ok(Some(holder))
}

/// Whether a holder may make calls, although its lease is taken away.
pub(crate) fn may_live(holder: &LeaseHolder) -> bool {
    holder.liveness != Liveness::Dead
}
