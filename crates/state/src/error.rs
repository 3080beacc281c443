//! The errors of stores.

use blueprint::Name;

use crate::instance::{InstanceName, Revision};
use crate::lease_holder::LeaseHolder;
use crate::seal::SealError;

/// An error of a store. Nothing was written, except where a variant says otherwise.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// There is no such instance.
    #[error("there is no instance `{instance}`")]
    Unknown {
        /// The requested name.
        instance: InstanceName,
    },
    /// Another writer has committed since `expected` was read: plan again.
    #[error("`{instance}` has moved on to revision {}", .found.0)]
    Moved {
        /// The instance.
        instance: InstanceName,
        /// The revision that the writer had seen.
        expected: Revision,
        /// The revision in the store.
        found: Revision,
    },
    /// Another operation holds the instance, or has taken it over: stop.
    #[error("another operation holds `{instance}`")]
    Busy {
        /// The instance.
        instance: InstanceName,
        /// The holder, where it is known.
        holder: Option<LeaseHolder>,
    },
    /// A secret must be stored and there is no key to seal it with.
    #[error("secrets cannot be stored without a key")]
    NoKey,
    /// The stored data was sealed or authenticated with another key than the given one.
    #[error("the state was written with another key: it cannot be opened with this key")]
    WrongKey,
    /// The stored data was sealed or authenticated with a key, and no key is given.
    #[error("the state was written with a key, and no key is given")]
    KeyMissing,
    /// The stored data differs from the data that was written.
    #[error("{what}")]
    Damaged {
        /// The problem, as a phrase.
        what: String,
    },
    /// The end of the stored data is missing, so nothing of it can be read.
    #[error("{what}")]
    Truncated {
        /// The problem, as a phrase.
        what: String,
    },
    /// The stored data is not a state.
    #[error("{what}")]
    Foreign {
        /// The problem, as a phrase.
        what: String,
    },
    /// The stored data was written by a newer version.
    #[error("{what}")]
    Newer {
        /// The problem, as a phrase.
        what: String,
    },
    /// The entries break a rule of the journal (see [`Journal`](crate::Journal)), or cannot be
    /// stored: a bug in the writer.
    #[error("the journal of `{instance}` refuses an entry: {what}")]
    Refused {
        /// The instance.
        instance: InstanceName,
        /// The rule, as a phrase.
        what: String,
    },
    /// The store already has an operation with the id of the operation that begins, of this or
    /// another instance.
    #[error("the state already has the operation `{operation}`")]
    OperationExists {
        /// The instance of the operation that begins.
        instance: InstanceName,
        /// The id.
        operation: Name,
    },
    /// There is no space left.
    #[error("there is no room left for the state")]
    Full {
        /// The cause.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Another process has been writing for too long, or was stopped while it wrote.
    #[error("another process keeps the state from being used")]
    Locked {
        /// The cause.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The place of the state failed. Whether a commit took effect is unknown until `head` answers.
    #[error("the state cannot be reached")]
    Unreachable {
        /// The cause.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl From<SealError> for StoreError {
    fn from(error: SealError) -> StoreError {
        match error {
            SealError::NoKey => StoreError::NoKey,
            SealError::WrongKey => StoreError::WrongKey,
            SealError::KeyMissing => StoreError::KeyMissing,
            SealError::Foreign => StoreError::Newer {
                what: error.to_string(),
            },
            SealError::NoNonce | SealError::Form(_) => StoreError::Unreachable {
                source: Box::new(error),
            },
        }
    }
}
