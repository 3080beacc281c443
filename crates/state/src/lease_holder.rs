//! The holder of a lease.

use blueprint::Name;

use crate::host::Liveness;

/// The holder of a lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseHolder {
    /// The user as `user@host`, with the process id.
    pub who: Name,
    /// The time when the lease was given, for people: seconds since 1970 UTC.
    pub since: i64,
    /// The time when the lease expires unless it is renewed, for people: seconds since 1970 UTC.
    pub until: i64,
    /// Whether the process that holds it runs.
    pub liveness: Liveness,
    /// Whether the lease has expired by the store's clock.
    pub expired: bool,
}

impl LeaseHolder {
    /// Whether another writer is refused: the process runs, even if it does not renew the lease, or
    /// it is not known whether the process runs and the lease has not expired.
    pub fn is_active(&self) -> bool {
        match self.liveness {
            Liveness::Alive => true,
            Liveness::Dead => false,
            Liveness::Unknown => !self.expired,
        }
    }
}
