//! What the writer knows of an instance between two commits. It is valid as long as no other
//! connection writes.

use blueprint::IndexMap;
use rusqlite::Connection;
use state::{Journal, StoreError};

use super::super::digest::RecordsDigest;
use super::super::head::InstanceRow;
use super::write_error::WriteError;

/// The writer's knowledge of an instance between two commits.
pub(super) struct KnownInstance {
    pub(super) head: InstanceRow,
    pub(super) journal: Journal,
    pub(super) records: KnownRecords,
    /// The epoch of the lease and the version of the file at the last commit: if both are
    /// unchanged, no other connection has written since.
    pub(super) seen: Option<(u64, i64)>,
}

/// The row and the entry of each record, by address; read on first use.
#[derive(Default)]
pub(super) struct KnownRecords(Option<IndexMap<Box<str>, (i64, i64)>>);

impl KnownRecords {
    /// Returns the records of an instance that has none yet.
    pub(super) fn none() -> KnownRecords {
        KnownRecords(Some(IndexMap::default()))
    }

    /// All records, checked when they are first read.
    pub(super) fn at(
        &mut self,
        connection: &Connection,
        head: &InstanceRow,
    ) -> Result<&mut IndexMap<Box<str>, (i64, i64)>, WriteError> {
        if self.0.is_none() {
            let sql = "SELECT address, id, entry FROM records WHERE id BETWEEN ?1 AND ?2";
            let mut statement = connection.prepare_cached(sql)?;
            let rows = statement.query_map([head.entry(0), head.entry(head.entries())], |row| {
                Ok((row.get(0)?, (row.get(1)?, row.get(2)?)))
            })?;
            let found: IndexMap<Box<str>, (i64, i64)> = rows.collect::<Result<_, _>>()?;
            let Some(tagger) = &head.tagger else {
                return Err(WriteError::Failed(StoreError::WrongKey));
            };
            let mut live = RecordsDigest::default();
            found.iter().for_each(|(address, (id, entry))| {
                live.add(tagger, &head.journal.uid, (*id, *entry, address))
            });
            if head.records_digest != live {
                return Err(WriteError::InconsistentRevisions);
            }
            self.0 = Some(found);
        }
        Ok(self.0.get_or_insert_default())
    }
}
