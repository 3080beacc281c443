//! Sealing everything with another key.

use std::collections::HashMap;

use rusqlite::{Connection, TransactionBehavior, params};
use serde_json::Value as Json;
use state::seal::{SealPlace, Sealer};
use state::{InstanceName, LeaseHolder, StoreError};

use super::failure::{damaged, failed};
use super::head::{self, EntryRow, InstanceRow, sequence_of};
use super::reading::SHIFT;
use super::write::StateWriter;
use super::{body, upgrade};

impl StateWriter {
    /// Seals every entry that holds a secret with `to`, in one transaction, and removes all data
    /// under the former key from the file. Returns the number of these entries.
    pub(super) fn rekey(
        &mut self,
        connection: &mut Connection,
        to: &Sealer,
    ) -> Result<u64, StoreError> {
        if !to.can_seal() {
            return Err(StoreError::NoKey);
        }
        let (path, tagger) = (self.path.clone(), to.tagger());
        let at = |error| failed(&path, error);
        let transaction = connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(at)?;
        self.is_not_held(&transaction)?;
        let instances = self.retag(&transaction, to)?;
        let sealed: Vec<(i64, String)> = {
            let sql = "SELECT e.id, i.uid FROM entries e JOIN instances i ON i.id = e.id >> ?1 WHERE e.sealed ORDER BY e.id";
            let mut statement = transaction.prepare(sql).map_err(at)?;
            let rows = statement
                .query_map([SHIFT], |row| Ok((row.get(0)?, row.get(1)?)))
                .map_err(at)?;
            rows.collect::<Result<_, _>>().map_err(at)?
        };
        {
            let mut read = transaction
                .prepare("SELECT kind, body, step FROM entries WHERE id = ?1")
                .map_err(at)?;
            let mut write = transaction
                .prepare("UPDATE entries SET body = ?2, mac = ?3 WHERE id = ?1")
                .map_err(at)?;
            for (id, uid) in &sealed {
                let (kind, text, step): (String, String, i64) = read
                    .query_row([id], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
                    .map_err(at)?;
                let place = SealPlace {
                    uid,
                    record: sequence_of(*id),
                };
                let json: Json = body::read(&self.sealer, place, true, text.as_bytes())?;
                let resealed = to.write(place, &json, true, text.len())?;
                let row = EntryRow {
                    id: *id,
                    step,
                    kind: &kind,
                    sealed: true,
                    body: resealed.as_bytes(),
                    mac: None,
                };
                let head = instances
                    .get(&(id >> SHIFT))
                    .ok_or_else(|| damaged(&path))?;
                write
                    .execute(params![id, resealed, head.entry_tag(&tagger, &row)])
                    .map_err(at)?;
            }
        }
        // The holder of an expired lease may still run with the former key.
        upgrade::end_leases(&self.reading(&transaction), to)?;
        transaction.commit().map_err(at)?;
        // Freed pages and the write-ahead log still hold data under the former key.
        connection
            .execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE);")
            .map_err(at)?;
        Ok(sealed.len() as u64)
    }

    /// `Busy` if a lease on any instance is held.
    fn is_not_held(&self, connection: &Connection) -> Result<(), StoreError> {
        let reading = self.reading(connection);
        for instance in upgrade::leased(connection, &self.path)? {
            let holder = reading.read_lease(&instance)?.and_then(|held| held.holder);
            if holder.as_ref().is_some_and(LeaseHolder::is_active) {
                return Err(StoreError::Busy { instance, holder });
            }
        }
        Ok(())
    }

    /// Checks all rows and tags them under the other key. Returns the rows of the instances by
    /// their numbers.
    fn retag(
        &self,
        connection: &Connection,
        to: &Sealer,
    ) -> Result<HashMap<i64, InstanceRow>, StoreError> {
        let reading = self.reading(connection);
        let names = reading.names()?;
        head::write_count(connection, &to.tagger(), names.len() as i64)
            .map_err(|error| reading.at(error))?;
        let mut heads = HashMap::new();
        for name in names {
            let name: InstanceName = name.parse().map_err(|_| damaged(&self.path))?;
            let mut head = reading.require_head(&name)?;
            upgrade::retag(&reading, &mut head, to.tagger(), Some(to))?;
            head.write(connection, &name)
                .map_err(|error| reading.at(error))?;
            heads.insert(head.id, head);
        }
        Ok(heads)
    }
}
