//! What SQLite and the file system say, in words of ours.

use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;
use state::StoreError;

/// Why the file failed.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The folder for it cannot be made.
    #[error("the folder `{}` cannot be made", .folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// It cannot be looked at.
    #[error("`{}` cannot be read", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// It cannot be opened, or not for writing.
    #[error("`{}` cannot be opened, or its folder not written to", .path.display())]
    Closed {
        /// The file.
        path: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// The disk has no room left.
    #[error("there is no room left for `{}`", .path.display())]
    Full {
        /// The file.
        path: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// Another process has been writing to it for too long.
    #[error("another process keeps writing to `{}`", .path.display())]
    Locked {
        /// The file.
        path: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// Anything else.
    #[error("`{}` failed", .path.display())]
    Other {
        /// The file.
        path: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// It was opened for reading only.
    #[error("`{}` is open for reading only", .path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// The thread that owns the connection cannot be started, or has stopped.
    #[error("the thread that has `{}` open is not there", .path.display())]
    Stopped {
        /// The file.
        path: PathBuf,
    },
}

impl Failure {
    pub(super) fn into_store_error(self) -> StoreError {
        StoreError::Unreachable { source: Box::new(self) }
    }
}

/// The error for what SQLite said about the file.
pub(super) fn failed(path: &Path, source: rusqlite::Error) -> StoreError {
    let path = path.to_owned();
    let foreign = |what: &str| StoreError::Foreign { what: format!("`{}` {what}", path.display()) };
    match source.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => foreign("is not a state file"),
        Some(ErrorCode::DatabaseCorrupt) => foreign("is damaged"),
        Some(ErrorCode::DiskFull) => Failure::Full { path, source }.into_store_error(),
        Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied | ErrorCode::ReadOnly) => {
            Failure::Closed { path, source }.into_store_error()
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            Failure::Locked { path, source }.into_store_error()
        }
        _ => match source {
            // A row of ours that does not read as what it is.
            rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::QueryReturnedNoRows => foreign("is damaged"),
            source => Failure::Other { path, source }.into_store_error(),
        },
    }
}

/// The error for a row that should be there or should read as something.
pub(super) fn damaged(path: &Path) -> StoreError {
    StoreError::Foreign { what: format!("`{}` is damaged", path.display()) }
}
