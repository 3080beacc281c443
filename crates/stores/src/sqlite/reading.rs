//! A view of the file: a connection in a transaction, and the format of the file.
//!
//! Not here: reading rows. Each kind of row has a file of its own.

use std::path::Path;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};
use state::seal::Sealer;
use state::{Host, StoreError};

use super::failure::failed;

/// The version of the format that is written. Older ones are readable, newer ones refused.
pub(super) const FORMAT: i64 = 4;

/// The number of bits by which an instance's number is shifted in the id of an entry.
pub(super) const SHIFT: u32 = 40;

/// Reads from one connection, in a transaction of the caller.
pub(super) struct StateReader<'a> {
    pub(super) connection: &'a Connection,
    /// The format of the file.
    pub(super) format: i64,
    /// Whether the file has the digests of format 2.
    pub(super) has_digests: bool,
    /// Whether the caller only displays rows: they are read without a check if the key is not
    /// available.
    pub(super) display_only: bool,
    pub(super) path: &'a Path,
    pub(super) sealer: &'a Sealer,
    pub(super) host: &'a dyn Host,
}

pub(super) fn text<'r>(row: &'r Row<'_>, column: usize) -> Result<&'r [u8], rusqlite::Error> {
    match row.get_ref(column)? {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Ok(bytes),
        other => Err(rusqlite::Error::InvalidColumnType(
            column,
            "body".into(),
            other.data_type(),
        )),
    }
}

impl StateReader<'_> {
    /// Returns the same view, for callers that only display rows.
    pub(super) fn for_display(self) -> Self {
        StateReader {
            display_only: true,
            ..self
        }
    }

    /// The table of records in the form of format 2.
    pub(super) fn records_table(&self) -> &'static str {
        match self.format {
            1 => "(SELECT instance << 40 | position AS id, address, entry FROM records)",
            _ => "records",
        }
    }

    pub(super) fn entry_columns(&self) -> &'static str {
        if self.format < 3 {
            "id, step, kind, sealed, body, NULL"
        } else {
            "id, step, kind, sealed, body, mac"
        }
    }

    /// Converts an error of SQLite.
    pub(super) fn at(&self, error: rusqlite::Error) -> StoreError {
        failed(self.path, error)
    }
}
