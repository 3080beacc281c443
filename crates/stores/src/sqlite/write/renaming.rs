//! Gives an instance another name. Only its row has the name: entries, records and documents belong
//! to its number.

use rusqlite::{Connection, params};
use state::{InstanceName, Lease, LeaseHolder, Revision, StoreError};

use super::super::lease;
use super::StateWriter;
use super::write_error::WriteError;

impl StateWriter {
    /// Renames the instance of a lease, in the transaction of the caller.
    pub(super) fn rename(
        &mut self,
        connection: &Connection,
        lease: &Lease,
        to: &InstanceName,
    ) -> Result<(), WriteError> {
        let held = self.check_held(connection, lease)?;
        let other = self.read_lease(connection, to)?;
        let holder = other.as_ref().and_then(|other| other.holder.clone());
        if let Some(holder) = holder.filter(LeaseHolder::is_active) {
            return Err(WriteError::Refused(StoreError::Busy {
                instance: to.clone(),
                holder: Some(holder),
            }));
        }
        let reading = self.reading(connection);
        let found = reading.revision(to).map_err(WriteError::Failed)?;
        if found != Revision(0) {
            return Err(WriteError::Refused(StoreError::Moved {
                instance: to.clone(),
                expected: Revision(0),
                found,
            }));
        }
        let head = reading.head(&lease.instance).map_err(WriteError::Failed)?;
        let Some(head) = head else {
            return Err(WriteError::Refused(StoreError::Unknown {
                instance: lease.instance.clone(),
            }));
        };
        connection
            .prepare_cached("UPDATE instances SET name = ?2 WHERE id = ?1")?
            .execute(params![head.id, to.as_str()])?;
        head.write(connection, to)?;
        // Epochs grow under the new name too.
        let epoch = other.map_or(0, |other| other.epoch).max(held.epoch);
        lease::end(connection, &self.sealer, to.as_str(), epoch)?;
        self.known.remove(&lease.instance);
        self.known.remove(to);
        Ok(())
    }
}
