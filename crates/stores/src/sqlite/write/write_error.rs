//! Why a request to the writer fails, and what becomes of its transaction.

use state::StoreError;

/// The reason why a request failed.
pub(super) enum WriteError {
    /// Nothing of the request was written; the transaction continues.
    Refused(StoreError),
    /// The file cannot be read; the transaction is rolled back.
    Failed(StoreError),
    /// The same, as SQLite reports it.
    Sqlite(rusqlite::Error),
    /// The file holds parts of different revisions; the transaction is rolled back.
    InconsistentRevisions,
}

impl From<rusqlite::Error> for WriteError {
    fn from(error: rusqlite::Error) -> WriteError {
        WriteError::Sqlite(error)
    }
}
