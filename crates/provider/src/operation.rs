//! What an operation on a resource is, and how it ends: with an answer or with an error.

use std::time::Duration;

use blueprint::{Name, Value};

/// What to do to a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// Create it.
    Create,
    /// Change it in place.
    Update,
    /// Delete it.
    Delete,
}

impl Operation {
    /// The word: `create`, `update` or `delete`.
    pub fn word(self) -> &'static str {
        match self {
            Operation::Create => "create",
            Operation::Update => "update",
            Operation::Delete => "delete",
        }
    }
}

/// The answer to an operation that succeeded.
#[derive(Clone, Debug)]
pub struct Applied {
    /// The provider's own id. Empty after a delete.
    pub id: Name,
    /// All current fields of the resource, user-set and computed ones: a map. Null after a delete.
    pub fields: Value,
    /// Opaque data of the provider, kept with the record.
    pub private: Value,
    /// Whether the resource is ready. If not, the engine polls the provider until it is.
    pub stable: bool,
    /// Warnings for the user, for example about files left in a folder.
    pub warnings: Vec<String>,
}

/// The class of a provider's error: who can fix it, and whether a retry may help.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorKind {
    /// The provider refuses the request as it is written.
    Document,
    /// Credentials are missing or refused.
    Credentials,
    /// Too many calls. Retryable.
    Throttled,
    /// Another object is in the way.
    Conflict,
    /// The resource does not exist.
    NotFound,
    /// A temporary failure. Retryable.
    Transient,
    /// The [deadline](crate::Call::deadline) of the call has passed. Retryable.
    TimedOut,
    /// A failure that a retry does not fix.
    Permanent,
    /// The call was cancelled.
    Cancelled,
}

impl ErrorKind {
    /// Whether the same call may be retried.
    pub fn is_retryable(self) -> bool {
        matches!(self, ErrorKind::Throttled | ErrorKind::Transient | ErrorKind::TimedOut)
    }
}

/// A provider call failed.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct ProviderError {
    /// The class of the error.
    pub kind: ErrorKind,
    /// The provider's message, without secrets.
    pub message: String,
    /// Path of the field at fault, if there is one.
    pub field: Option<String>,
    /// What exists although the call failed. The engine records it before it reports the error.
    pub partial: Option<Box<Applied>>,
    /// How long the server asked to wait before the next try.
    pub retry_after: Option<Duration>,
}

impl ProviderError {
    /// An error of a class, with the provider's message.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> ProviderError {
        ProviderError { kind, message: message.into(), field: None, partial: None, retry_after: None }
    }

    /// Sets how long the server asked to wait before the next try.
    pub fn after(mut self, pause: Duration) -> ProviderError {
        self.retry_after = Some(pause);
        self
    }

    /// Sets the field at fault.
    pub fn at(mut self, field: impl Into<String>) -> ProviderError {
        self.field = Some(field.into());
        self
    }
}
