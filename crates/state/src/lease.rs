//! Leases: the right of one writer to commit to an instance.
//!
//! The clock of the store's [`Host`] alone decides whether a lease has expired. Callers pass
//! durations, never times.

use std::time::Duration;

use blueprint::Name;

use crate::error::StoreError;
use crate::host::{Host, Liveness};
use crate::instance::{InstanceName, Revision};
use crate::lease_holder::LeaseHolder;

/// The right to commit to an instance, until it expires or another writer takes it over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The instance.
    pub instance: InstanceName,
    /// A number that grows with every new lease: a commit under an older lease is refused.
    pub epoch: u64,
    /// The revision of the instance when the lease was given.
    pub revision: Revision,
}

/// The time for which a lease counts as held after the store has seen that it is held.
pub const LEASE_CHECK_VALIDITY: Duration = Duration::from_secs(1);

/// The lease of one instance, as a store without processes keeps it: the epoch stays when the lease
/// ends, so that epochs grow.
#[derive(Clone, Debug, Default)]
pub struct LeaseRow {
    epoch: u64,
    /// The holder, and the time on the host's clock at which the lease expires.
    held: Option<(LeaseHolder, Duration)>,
}

impl LeaseRow {
    /// The holder of the lease; none if it was given back or ended.
    pub fn holder(&self, host: &dyn Host) -> Option<LeaseHolder> {
        let (holder, expires) = self.held.as_ref()?;
        Some(LeaseHolder {
            expired: host.elapsed() >= *expires,
            ..holder.clone()
        })
    }

    /// Gives the lease to `who`.
    ///
    /// # Errors
    /// `Busy` while another writer holds it.
    pub fn acquire(
        &mut self,
        instance: &InstanceName,
        revision: Revision,
        who: &str,
        lasts: Duration,
        host: &dyn Host,
    ) -> Result<Lease, StoreError> {
        if let Some(holder) = self.holder(host).filter(LeaseHolder::is_active) {
            return Err(StoreError::Busy {
                instance: instance.clone(),
                holder: Some(holder),
            });
        }
        Ok(self.give(instance, revision, who, lasts, host))
    }

    /// Takes the lease away from its holder and gives it to `who`; `None` if nobody holds it.
    ///
    /// # Errors
    /// `Busy` while the holder is active, unless `even_active`.
    pub fn take_away(
        &mut self,
        (instance, revision): (&InstanceName, Revision),
        who: &str,
        lasts: Duration,
        even_active: bool,
        host: &dyn Host,
    ) -> Result<Option<(LeaseHolder, Lease)>, StoreError> {
        let Some(holder) = self.holder(host) else {
            return Ok(None);
        };
        if holder.is_active() && !even_active {
            return Err(StoreError::Busy {
                instance: instance.clone(),
                holder: Some(holder),
            });
        }
        let lease = self.give(instance, revision, who, lasts, host);
        Ok(Some((holder, lease)))
    }

    fn give(
        &mut self,
        instance: &InstanceName,
        revision: Revision,
        who: &str,
        lasts: Duration,
        host: &dyn Host,
    ) -> Lease {
        self.epoch += 1;
        let (who, since) = (Name::from(who), host.wall());
        self.held = Some((
            LeaseHolder {
                who,
                since,
                until: since,
                liveness: Liveness::Unknown,
                expired: false,
            },
            Duration::ZERO,
        ));
        self.extend(lasts, host);
        Lease {
            instance: instance.clone(),
            epoch: self.epoch,
            revision,
        }
    }

    /// Checks that `lease` is the lease that is held.
    ///
    /// # Errors
    /// `Busy` if it was taken over, ended or given back.
    pub fn check(&self, lease: &Lease, host: &dyn Host) -> Result<(), StoreError> {
        if self.held.is_some() && self.epoch == lease.epoch {
            return Ok(());
        }
        Err(StoreError::Busy {
            instance: lease.instance.clone(),
            holder: self.holder(host),
        })
    }

    /// Lets the lease expire `lasts` from now, if it is held.
    pub fn extend(&mut self, lasts: Duration, host: &dyn Host) {
        if let Some((holder, expires)) = &mut self.held {
            holder.until = host
                .wall()
                .saturating_add(i64::try_from(lasts.as_secs()).unwrap_or(i64::MAX));
            *expires = host.elapsed().saturating_add(lasts);
        }
    }

    /// Continues the epochs of the row of another name, from which the instance was renamed. The
    /// lease is not held.
    pub fn continue_after(&mut self, other: &LeaseRow) {
        self.epoch = self.epoch.max(other.epoch);
        self.held = None;
    }

    /// Ends the lease; returns its holder.
    pub fn end(&mut self, host: &dyn Host) -> Option<LeaseHolder> {
        let holder = self.holder(host);
        self.held = None;
        holder
    }
}
