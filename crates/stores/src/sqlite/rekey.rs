//! Sealing everything with another key.

use rusqlite::{Connection, TransactionBehavior, params};
use state::StoreError;
use state::seal::{Place, Sealer};

use super::body;
use super::failure::failed;
use super::leases;
use super::read::sequence_of;
use super::schema::SHIFT;
use super::write::Writer;

impl Writer {
    /// Seals every entry that holds a secret with `to`, in one transaction, and leaves nothing of the former sealing in the
    /// file. How many there were.
    pub(super) fn rekey(&mut self, connection: &mut Connection, to: &Sealer) -> Result<u64, StoreError> {
        if !to.can_seal() {
            return Err(StoreError::NoKey);
        }
        let path = self.path.clone();
        let at = |error| failed(&path, error);
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(at)?;
        if let Some(held) = leases::anyone(&transaction, &*self.host).map_err(at)? {
            return Err(StoreError::Busy { instance: held.instance, holder: held.holder });
        }
        let sealed: Vec<(i64, String)> = {
            let sql =
                "SELECT e.id, i.uid FROM entries e JOIN instances i ON i.id = e.id >> ?1 WHERE e.sealed ORDER BY e.id";
            let mut statement = transaction.prepare(sql).map_err(at)?;
            let rows = statement.query_map([SHIFT], |row| Ok((row.get(0)?, row.get(1)?))).map_err(at)?;
            rows.collect::<Result<_, _>>().map_err(at)?
        };
        {
            let mut read = transaction.prepare("SELECT kind, body FROM entries WHERE id = ?1").map_err(at)?;
            let mut write = transaction.prepare("UPDATE entries SET body = ?2 WHERE id = ?1").map_err(at)?;
            for (id, uid) in &sealed {
                let (kind, text): (String, String) =
                    read.query_row([id], |row| Ok((row.get(0)?, row.get(1)?))).map_err(at)?;
                let place = Place { uid, record: sequence_of(*id) };
                let entry = body::read_entry(&self.sealer, place, &kind, true, text.as_bytes())?;
                let anew = body::write(to, place, &entry)?;
                write.execute(params![id, anew.text]).map_err(at)?;
            }
        }
        // Who let its lease run out may still be there, with the former key.
        leases::end_all(&transaction).map_err(at)?;
        transaction.commit().map_err(at)?;
        // Freed pages and the write-ahead log still hold what the former key sealed.
        connection.execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE);").map_err(at)?;
        Ok(sealed.len() as u64)
    }
}
