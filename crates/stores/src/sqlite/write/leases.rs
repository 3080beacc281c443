//! The leases of instances.

use std::time::Duration;

use rusqlite::Connection;
use state::{InstanceName, Lease, LeaseHolder, Revision, StoreError};

use super::super::failure::damaged_row;
use super::super::lease::{self, Owner, StoredLease};
use super::StateWriter;
use super::write_error::WriteError;

impl StateWriter {
    /// Grants the lease of an instance, unless somebody else holds it.
    pub(super) fn grant_lease(
        &mut self,
        connection: &Connection,
        instance: &InstanceName,
        who: &str,
        lasts: Duration,
    ) -> Result<Lease, WriteError> {
        let held = self.read_lease(connection, instance)?;
        let revision = self
            .reading(connection)
            .revision(instance)
            .map_err(WriteError::Failed)?;
        if held.is_none() && revision > Revision(0) {
            return Err(self.damaged_row_error(&format!("the lease of `{instance}` is missing")));
        }
        let epoch = held.as_ref().map_or(0, |held| held.epoch) + 1;
        if let Some(held) = held
            && let Some(holder) = held.holder.clone().filter(LeaseHolder::is_active)
        {
            if held.expires_in_other_boot {
                lease::extend(connection, &self.sealer, &*self.host, instance, held, lasts)?;
            }
            return Err(busy(instance, Some(holder)));
        }
        let owner = Owner::ThisProcess;
        lease::grant(
            connection,
            &self.sealer,
            &*self.host,
            (instance, epoch),
            (who, lasts),
            owner,
        )?;
        self.forget_seen_lease(instance);
        Ok(Lease {
            instance: instance.clone(),
            epoch: epoch.unsigned_abs(),
            revision,
        })
    }

    /// Takes a lease away from its holder, and gives it to `who` without a process.
    pub(super) fn take_lease_away(
        &mut self,
        connection: &Connection,
        instance: &InstanceName,
        whose: (&str, Duration),
        even_active: bool,
    ) -> Result<Option<(LeaseHolder, Lease)>, WriteError> {
        let Some(StoredLease {
            epoch,
            holder: Some(holder),
            ..
        }) = self.read_lease(connection, instance)?
        else {
            return Ok(None);
        };
        if holder.is_active() && !even_active {
            return Err(busy(instance, Some(holder)));
        }
        let revision = self
            .reading(connection)
            .revision(instance)
            .map_err(WriteError::Failed)?;
        let epoch = epoch + 1;
        let owner = Owner::NoProcess;
        lease::grant(
            connection,
            &self.sealer,
            &*self.host,
            (instance, epoch),
            whose,
            owner,
        )?;
        self.forget_seen_lease(instance);
        let lease = Lease {
            instance: instance.clone(),
            epoch: epoch.unsigned_abs(),
            revision,
        };
        Ok(Some((holder, lease)))
    }

    /// Ends a lease. Its row stays, so that epochs grow.
    pub(super) fn end_lease(
        &mut self,
        connection: &Connection,
        instance: &InstanceName,
        epoch: i64,
    ) -> Result<(), WriteError> {
        lease::end(connection, &self.sealer, instance.as_str(), epoch)?;
        self.forget_seen_lease(instance);
        Ok(())
    }

    /// Makes the next commit read the lease again. A change by this connection does not change
    /// `version`.
    fn forget_seen_lease(&mut self, instance: &InstanceName) {
        if let Some(known) = self.known.get_mut(instance) {
            known.seen = None;
        }
    }

    pub(super) fn read_lease(
        &self,
        connection: &Connection,
        instance: &InstanceName,
    ) -> Result<Option<StoredLease>, WriteError> {
        self.reading(connection)
            .read_lease(instance)
            .map_err(WriteError::Failed)
    }

    fn damaged_row_error(&self, what: &str) -> WriteError {
        WriteError::Failed(damaged_row(&self.path, what))
    }

    pub(super) fn check_held(
        &self,
        connection: &Connection,
        lease: &Lease,
    ) -> Result<StoredLease, WriteError> {
        self.reading(connection)
            .check_held(lease)
            .map_err(|error| match error {
                busy @ StoreError::Busy { .. } => WriteError::Refused(busy),
                error => WriteError::Failed(error),
            })
    }
}

fn busy(instance: &InstanceName, holder: Option<LeaseHolder>) -> WriteError {
    WriteError::Refused(StoreError::Busy {
        instance: instance.clone(),
        holder,
    })
}
