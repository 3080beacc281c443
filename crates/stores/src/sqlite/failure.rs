//! Errors of SQLite and of the file system, as errors of this crate.

use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;
use state::StoreError;

/// The reason why the file failed.
#[derive(Debug, thiserror::Error)]
pub enum FileFailure {
    /// The folder of the file cannot be created.
    #[error("the folder `{}` cannot be made", .folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// No copy of the file can be made before it is rewritten.
    #[error("the copy `{}` cannot be written", .path.display())]
    Copy {
        /// The copy.
        path: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// The file cannot be examined.
    #[error("`{}` cannot be read", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// The file cannot be opened, or not for writing.
    #[error("`{}` cannot be opened, or its folder not written to", .path.display())]
    Closed {
        /// The file.
        path: PathBuf,
        /// The error of SQLite.
        source: SqliteMessage,
    },
    /// The disk has no room left.
    #[error("there is no room left for `{}`", .path.display())]
    Full {
        /// The file.
        path: PathBuf,
        /// The error of SQLite.
        source: SqliteMessage,
    },
    /// Another process has been writing to the file for too long.
    #[error("{} keeps writing to `{}`", .by.as_deref().unwrap_or("another process"), .path.display())]
    Locked {
        /// The file.
        path: PathBuf,
        /// The process, if it is known.
        by: Option<String>,
        /// The error of SQLite.
        source: SqliteMessage,
    },
    /// The disk, or its substitute, reports an error: it is read-only, was removed, or is broken.
    #[error("`{}` can no longer be read or written", .path.display())]
    Disk {
        /// The file.
        path: PathBuf,
        /// The error of SQLite.
        source: SqliteMessage,
    },
    /// Any other error.
    #[error("`{}` failed", .path.display())]
    Other {
        /// The file.
        path: PathBuf,
        /// The error of SQLite.
        source: SqliteMessage,
    },
    /// The file was opened for reading only.
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
            full @ FileFailure::Full { .. } => StoreError::Full {
                source: Box::new(full),
            },
            locked @ FileFailure::Locked { .. } => StoreError::Locked {
                source: Box::new(locked),
            },
            failure => StoreError::Unreachable {
                source: Box::new(failure),
            },
        }
    }
}

/// SQLite's code if the file of the shared memory could not be made long enough.
const NO_ROOM_TO_SHARE: i32 = rusqlite::ffi::SQLITE_IOERR_SHMSIZE;

/// Whether there is no room left on the disk.
pub(super) fn is_full(error: &rusqlite::Error) -> bool {
    let is_too_short = |error: &rusqlite::ffi::Error| error.extended_code == NO_ROOM_TO_SHARE;
    error.sqlite_error_code() == Some(ErrorCode::DiskFull)
        || error.sqlite_error().is_some_and(is_too_short)
}

/// Converts an error of SQLite about the file.
pub(super) fn failed(path: &Path, source: rusqlite::Error) -> StoreError {
    let path = path.to_owned();
    let foreign = |what: &str| StoreError::Foreign {
        what: format!("`{}` {what}", path.display()),
    };
    match source.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => foreign("is not a state file"),
        Some(ErrorCode::DatabaseCorrupt) => truncated(&path).unwrap_or_else(|| damaged(&path)),
        _ if is_full(&source) => FileFailure::Full {
            path,
            source: source.into(),
        }
        .into_store_error(),
        Some(ErrorCode::SystemIoFailure) => FileFailure::Disk {
            path,
            source: source.into(),
        }
        .into_store_error(),
        Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied | ErrorCode::ReadOnly) => {
            FileFailure::Closed {
                path,
                source: source.into(),
            }
            .into_store_error()
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            let by = super::locks::writer(&path);
            FileFailure::Locked {
                path,
                by,
                source: source.into(),
            }
            .into_store_error()
        }
        _ => match source {
            // A row of this store that does not have the expected types.
            rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::InvalidColumnName(..)
            | rusqlite::Error::Utf8Error(..)
            | rusqlite::Error::QueryReturnedNoRows => damaged(&path),
            // A table or column of this store that is missing.
            _ if source.sqlite_error_code() == Some(ErrorCode::Unknown) => damaged(&path),
            source => FileFailure::Other {
                path,
                source: source.into(),
            }
            .into_store_error(),
        },
    }
}

/// The error for a file that is shorter than its header says; `None` if it is not.
fn truncated(path: &Path) -> Option<StoreError> {
    use std::io::Read as _;
    let mut file = std::fs::File::open(path).ok()?;
    let mut header = [0; 32];
    file.read_exact(&mut header).ok()?;
    // The page size is a big-endian number of two bytes, in which 1 means 65,536.
    let page = match u16::from_be_bytes([header[16], header[17]]) {
        1 => 65_536,
        size => u64::from(size),
    };
    let pages = u32::from_be_bytes([header[28], header[29], header[30], header[31]]);
    let (wanted, there) = (page * u64::from(pages), file.metadata().ok()?.len());
    (there < wanted).then(|| StoreError::Truncated {
        what: format!(
            "`{}` is cut off: it has {there} of {wanted} bytes",
            path.display()
        ),
    })
}

/// The error for a row that is missing or cannot be read.
pub(super) fn damaged(path: &Path) -> StoreError {
    StoreError::Damaged {
        what: format!("`{}` is damaged", path.display()),
    }
}

/// The error for a known row, with the problem as a phrase.
pub(super) fn damaged_row(path: &Path, what: &str) -> StoreError {
    StoreError::Damaged {
        what: format!("`{}` is damaged: {what}", path.display()),
    }
}
