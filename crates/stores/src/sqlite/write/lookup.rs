//! What the writer reads of an instance before it changes it.

use rusqlite::{Connection, OptionalExtension};
use state::InstanceName;

use super::super::head::{self, InstanceRow};
use super::super::reading::{self, StateReader};
use super::StateWriter;
use super::known::{KnownInstance, KnownRecords};
use super::write_error::WriteError;

impl StateWriter {
    /// A view of the file through this connection.
    pub(in crate::sqlite) fn reading<'a>(&'a self, connection: &'a Connection) -> StateReader<'a> {
        let (path, sealer) = (self.path.as_path(), &self.sealer);
        StateReader {
            connection,
            format: reading::FORMAT,
            has_digests: false,
            display_only: false,
            path,
            sealer,
            host: &*self.host,
        }
    }

    /// The row of an instance that is not stored yet.
    pub(super) fn new_head(&self, connection: &Connection) -> Result<InstanceRow, WriteError> {
        let (_, key) = self
            .reading(connection)
            .count()
            .map_err(WriteError::Failed)?;
        let tagger = head::tagger_after(&self.sealer, &key).map_err(WriteError::Failed)?;
        Ok(InstanceRow::new_instance(tagger))
    }

    /// Returns the cached data of an instance, or reads it from the file if the revision has
    /// changed.
    pub(super) fn load_known(
        &self,
        connection: &Connection,
        name: &InstanceName,
        known: Option<KnownInstance>,
    ) -> Result<Option<KnownInstance>, WriteError> {
        if let Some(known) = known {
            let mut statement =
                connection.prepare_cached("SELECT revision FROM instances WHERE id = ?1")?;
            let revision: Option<i64> = statement
                .query_row([known.head.id], |row| row.get(0))
                .optional()?;
            if revision == Some(known.head.revision) {
                return Ok(Some(known));
            }
        }
        let reading = self.reading(connection);
        let Some(head) = reading.head(name).map_err(WriteError::Failed)? else {
            return Ok(None);
        };
        let journal = reading.journal(&head).map_err(WriteError::Failed)?;
        Ok(Some(KnownInstance {
            head,
            journal,
            records: KnownRecords::default(),
            seen: None,
        }))
    }
}
