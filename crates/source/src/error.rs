//! Why a document could not be had.
//!
//! Not here: the code of a diagnostic and its help, which whoever asked chooses.

use std::time::Duration;

use crate::{Digest, DigestError};

/// Why a document could not be had: a phrase for people that names neither the path nor the location, which whoever
/// asked knows. `words` are the place's own, without secrets.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
    /// No source of that kind is known here (`unknown-source-type`).
    #[error("unknown source type `{kind}`")]
    UnknownKind {
        /// The kind asked for.
        kind: String,
    },
    /// The request itself cannot be used: a key is missing, unknown or wrong (`source-metadata`).
    #[error("`{key}` {problem}")]
    Settings {
        /// The key at fault: one of the kind's, `checksum`, or `path`.
        key: String,
        /// What is wrong with it, to be read after its name: `is missing`.
        problem: String,
    },
    /// There is nothing.
    #[error("there is nothing at this place{}", after(.words))]
    NotThere {
        /// What the place said; may be empty.
        words: String,
    },
    /// It is there, or may be, and may not be read with the credentials at hand.
    #[error("access is denied{}", after(.words))]
    Denied {
        /// What the place said; may be empty.
        words: String,
    },
    /// Credentials are missing or wrong.
    #[error("credentials are needed{}", after(.words))]
    Credentials {
        /// What is missing or wrong, and what the place said.
        words: String,
    },
    /// The place does not answer as it should: no connection, a cut connection, a server's own error.
    #[error("it cannot be read: {words}")]
    Broken {
        /// What the place said.
        words: String,
    },
    /// It has more bytes than are taken.
    #[error("it has more than {limit} bytes")]
    TooLarge {
        /// How many bytes are taken.
        limit: u64,
    },
    /// It took too long.
    #[error("it took longer than {} s", .after.as_secs_f64())]
    TimedOut {
        /// How long was waited.
        after: Duration,
    },
    /// Nobody waits for it any more.
    #[error("it was cancelled")]
    Cancelled,
    /// It is not what `checksum` pins (`checksum-mismatch`).
    #[error("its checksum is `{found}`, not `{expected}`")]
    Checksum {
        /// The one that is pinned.
        expected: Digest,
        /// The one of what is there.
        found: Digest,
    },
    /// What is there is no document: a folder, a device, an HTML page.
    #[error("it is {what}, not a document")]
    NotDocument {
        /// What it is, with its article.
        what: String,
    },
}

fn after(words: &str) -> String {
    if words.is_empty() { String::new() } else { format!(": {words}") }
}

impl SourceError {
    /// A key of the request that cannot be used; `problem` is read after its name.
    pub fn settings(key: impl Into<String>, problem: impl Into<String>) -> SourceError {
        SourceError::Settings { key: key.into(), problem: problem.into() }
    }

    /// A place that does not answer as it should.
    pub fn broken(words: impl Into<String>) -> SourceError {
        SourceError::Broken { words: words.into() }
    }

    /// Something else than a document.
    pub fn not_document(what: impl Into<String>) -> SourceError {
        SourceError::NotDocument { what: what.into() }
    }

    /// What the person may do about it, as an imperative; nothing where only the message helps.
    pub fn help(&self) -> Option<&'static str> {
        Some(match self {
            SourceError::NotThere { .. } => "correct the path; it is relative to the document that it stands in",
            SourceError::Denied { .. } => "ask for the right to read it, or use other credentials",
            SourceError::Credentials { .. } => "set the credentials of this place in the environment",
            SourceError::Broken { .. } | SourceError::TimedOut { .. } => "try again; nothing has been changed",
            SourceError::Checksum { .. } => "look at what has changed there before you pin the new checksum",
            SourceError::NotDocument { .. } => "name a document",
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
