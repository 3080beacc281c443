//! Takes the lease of an instance away from an operation that may still run.
//!
//! The result of a check of a lease counts for [`LEASE_CHECK_VALIDITY`], so the former writer may
//! begin calls for as long after it has lost its lease. No other operation begins calls before that.

use state::{InstanceName, LEASE_CHECK_VALIDITY, LeaseHolder, Liveness, Store, StoreError};

/// Ends the hold of any operation on an instance. If its process may still run, holds the instance
/// until it begins no further call. Returns the former holder.
pub async fn end_hold(
    store: &dyn Store,
    instance: &InstanceName,
    who: &str,
) -> Result<Option<LeaseHolder>, StoreError> {
    let held = store.unlock(instance).await?;
    if held.as_ref().is_some_and(may_live) {
        let lease = store.lease(instance, who, 2 * LEASE_CHECK_VALIDITY).await;
        tokio::time::sleep(LEASE_CHECK_VALIDITY).await;
        match lease {
            Ok(lease) => store.release(&lease).await?,
            // Another operation took the instance in between.
            Err(StoreError::Busy { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(held)
}

/// Whether a holder may make calls, although its lease is taken away.
pub(crate) fn may_live(holder: &LeaseHolder) -> bool {
    holder.liveness != Liveness::Dead
}
