//! What SQLite and the file system say, in words of ours.

use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;
use state::StoreError;

/// Why the file failed.
#[derive(Debug, thiserror::Error)]
pub enum FileFailure {
    /// The folder for it cannot be made.
    #[error("the folder `{}` cannot be made", .folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// No copy can be made of it before it is rewritten.
    #[error("the copy `{}` cannot be written", .path.display())]
    Copy {
        /// The copy.
        path: PathBuf,
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
        source: SqliteMessage,
    },
    /// The disk has no room left.
    #[error("there is no room left for `{}`", .path.display())]
    Full {
        /// The file.
        path: PathBuf,
        /// What SQLite said.
        source: SqliteMessage,
    },
    /// Another process has been writing to it for too long.
    #[error("{} keeps writing to `{}`", .by.as_deref().unwrap_or("another process"), .path.display())]
    Locked {
        /// The file.
        path: PathBuf,
        /// The process, where it is known.
        by: Option<String>,
        /// What SQLite said.
        source: SqliteMessage,
    },
    /// The disk, or what stands for one, refuses: it is read-only, was taken away, or is broken.
    #[error("`{}` can no longer be read or written", .path.display())]
    Disk {
        /// The file.
        path: PathBuf,
        /// What SQLite said.
        source: SqliteMessage,
    },
    /// Anything else.
    #[error("`{}` failed", .path.display())]
    Other {
        /// The file.
        path: PathBuf,
        /// What SQLite said.
        source: SqliteMessage,
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

/// The message of SQLite, on one line.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
pub struct SqliteMessage {
    text: String,
}

impl From<rusqlite::Error> for SqliteMessage {
    fn from(error: rusqlite::Error) -> SqliteMessage {
        let text = match error.sqlite_error() {
            Some(code) => format!("{error} (SQLite's code {})", code.extended_code),
            None => error.to_string(),
        };
        SqliteMessage { text }
    }
}

impl FileFailure {
    pub(super) fn into_store_error(self) -> StoreError {
        match self {
            full @ FileFailure::Full { .. } => StoreError::Full { source: Box::new(full) },
            locked @ FileFailure::Locked { .. } => StoreError::Locked { source: Box::new(locked) },
            failure => StoreError::Unreachable { source: Box::new(failure) },
        }
    }
}

/// Memory that processes share lies in a file beside, which could not be made long enough.
const NO_ROOM_TO_SHARE: i32 = rusqlite::ffi::SQLITE_IOERR_SHMSIZE;

/// Whether there is no room left on the disk.
pub(super) fn is_full(error: &rusqlite::Error) -> bool {
    let is_too_short = |error: &rusqlite::ffi::Error| error.extended_code == NO_ROOM_TO_SHARE;
    error.sqlite_error_code() == Some(ErrorCode::DiskFull) || error.sqlite_error().is_some_and(is_too_short)
}

/// The error for what SQLite said about the file.
pub(super) fn failed(path: &Path, source: rusqlite::Error) -> StoreError {
    let path = path.to_owned();
    let foreign = |what: &str| StoreError::Foreign { what: format!("`{}` {what}", path.display()) };
    match source.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => foreign("is not a state file"),
        Some(ErrorCode::DatabaseCorrupt) => damaged(&path),
        _ if is_full(&source) => FileFailure::Full { path, source: source.into() }.into_store_error(),
        Some(ErrorCode::SystemIoFailure) => FileFailure::Disk { path, source: source.into() }.into_store_error(),
        Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied | ErrorCode::ReadOnly) => {
            FileFailure::Closed { path, source: source.into() }.into_store_error()
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            let by = super::locks::writer(&path);
            FileFailure::Locked { path, by, source: source.into() }.into_store_error()
        }
        _ => match source {
            // A row of ours that does not read as what it is.
            rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::InvalidColumnName(..)
            | rusqlite::Error::Utf8Error(..)
            | rusqlite::Error::QueryReturnedNoRows => damaged(&path),
            // A table or column of ours that is not there.
            _ if source.sqlite_error_code() == Some(ErrorCode::Unknown) => damaged(&path),
            source => FileFailure::Other { path, source: source.into() }.into_store_error(),
        },
    }
}

/// The error for a row that should be there or should read as something.
pub(super) fn damaged(path: &Path) -> StoreError {
    StoreError::Damaged { what: format!("`{}` is damaged", path.display()) }
}

/// The same for a known row, described by a phrase.
pub(super) fn damaged_row(path: &Path, what: &str) -> StoreError {
    StoreError::Damaged { what: format!("`{}` is damaged: {what}", path.display()) }
}
