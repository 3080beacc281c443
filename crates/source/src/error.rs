//! The errors of reading a document.
//!
//! Not here: the code and help of the diagnostic, which the caller chooses.

use std::time::Duration;

use crate::{Digest, DigestError};

/// The reason why a document could not be read: a phrase without path and location, which the
/// caller knows. `words` is the message of the source, without secrets.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
    /// No source has this kind (`unknown-source-type`).
    #[error("unknown source type `{kind}`")]
    UnknownKind {
        /// The requested kind.
        kind: String,
    },
    /// The request is invalid: a key is missing, unknown or wrong (`source-metadata`).
    #[error("`{key}` {problem}")]
    Settings {
        /// The invalid key: one of the kind's, `checksum`, or `path`.
        key: String,
        /// The problem, as a phrase after the key's name: `is missing`.
        problem: String,
    },
    /// The document does not exist.
    #[error("there is nothing at this place{}", after(.words))]
    NotFound {
        /// The message of the source; may be empty.
        words: String,
    },
    /// Access is denied with the available credentials.
    #[error("access is denied{}", after(.words))]
    Denied {
        /// The message of the source; may be empty.
        words: String,
    },
    /// Credentials are missing or wrong.
    #[error("credentials are needed{}", after(.words))]
    Credentials {
        /// The problem of the credentials, and the message of the source.
        words: String,
    },
    /// The source failed: no connection, a broken connection, a server error.
    #[error("it cannot be read: {words}")]
    Broken {
        /// The message of the source.
        words: String,
    },
    /// The document exceeds the size limit.
    #[error("it has more than {limit} bytes")]
    TooLarge {
        /// The limit in bytes.
        limit: u64,
    },
    /// The read took longer than the time limit.
    #[error("it took longer than {} s", .after.as_secs_f64())]
    TimedOut {
        /// The time limit.
        after: Duration,
    },
    /// The read was cancelled.
    #[error("it was cancelled")]
    Cancelled,
    /// The content differs from the `checksum` (`checksum-mismatch`).
    #[error("its checksum is `{found}`, not `{expected}`")]
    Checksum {
        /// The pinned digest.
        expected: Digest,
        /// The digest of the content.
        found: Digest,
    },
    /// A document was requested, and the place holds a folder.
    #[error("it is a folder, not a document")]
    Folder,
    /// A folder was requested, and the place holds a document.
    #[error("it is a file, not a folder")]
    NotFolder,
    /// A folder was requested from a source that cannot list folders.
    #[error("a source of kind `{kind}` cannot list a folder")]
    NoFolders {
        /// The kind of the source.
        kind: &'static str,
    },
    /// A folder has more entries than the limit.
    #[error("it has more than {limit} entries")]
    TooManyEntries {
        /// The limit.
        limit: usize,
    },
    /// The content is not a document, but a device or an HTML page.
    #[error("it is {what}, not a document")]
    NotDocument {
        /// The kind of content, with its article.
        what: String,
    },
}

fn after(words: &str) -> String {
    if words.is_empty() {
        String::new()
    } else {
        format!(": {words}")
    }
}

impl SourceError {
    /// Creates the error for an invalid key of the request. `problem` is a phrase after the key's
    /// name.
    pub fn settings(key: impl Into<String>, problem: impl Into<String>) -> SourceError {
        SourceError::Settings {
            key: key.into(),
            problem: problem.into(),
        }
    }

    /// Creates the error for a failed source.
    pub fn broken(words: impl Into<String>) -> SourceError {
        SourceError::Broken {
            words: words.into(),
        }
    }

    /// Creates the error for a content that is not a document.
    pub fn not_document(what: impl Into<String>) -> SourceError {
        SourceError::NotDocument { what: what.into() }
    }

    /// Advice for the user, as an imperative. `None` if the message is enough.
    pub fn help(&self) -> Option<&'static str> {
        Some(match self {
            SourceError::NotFound { .. } => {
                "correct the path; it is relative to the document that it stands in"
            }
            SourceError::Denied { .. } => "ask for the right to read it, or use other credentials",
            SourceError::Credentials { .. } => {
                "set the credentials of this place in the environment"
            }
            SourceError::Broken { .. } | SourceError::TimedOut { .. } => {
                "try again; nothing has been changed"
            }
            SourceError::Checksum { .. } => {
                "look at what has changed there before you pin the new checksum"
            }
            SourceError::NotDocument { .. } | SourceError::Folder => "name a document",
            SourceError::NotFolder => "name a folder",
            SourceError::NoFolders { .. } => "copy the folder to this machine",
            SourceError::TooManyEntries { .. } => "divide the folder into smaller ones",
            SourceError::UnknownKind { .. }
            | SourceError::Settings { .. }
            | SourceError::TooLarge { .. }
            | SourceError::Cancelled => return None,
        })
    }
}

impl From<DigestError> for SourceError {
    fn from(_: DigestError) -> SourceError {
        SourceError::settings("checksum", "is not `sha256:` and 64 hexadecimal digits")
    }
}
