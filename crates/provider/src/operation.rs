//! An operation on a resource and its result: an answer or an error.

use std::time::Duration;

use blueprint::{FieldPath, Name, Value};

use crate::{ProviderDiagnostic, ProviderSeverity, SessionFailure};

/// An action on a resource.
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
    /// Opaque data of the provider. It replaces the recorded and planned data; null if there is
    /// none.
    pub private: Value,
    /// Whether the resource is ready.
    pub ready: Ready,
    /// The spec as it was applied, if the provider changed it. `None` if it is the desired one.
    pub inputs: Option<Value>,
    /// Warnings and notes, for example about files left in a folder.
    pub diagnostics: Vec<ProviderDiagnostic>,
}

/// Whether a resource is ready after an operation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Ready {
    /// The resource is ready.
    #[default]
    Yes,
    /// The resource is not ready yet: the engine polls the provider until it is.
    Pending,
    /// The resource exists, but it is broken, for these reasons. The next plan changes it.
    Broken(Vec<Name>),
}

impl Applied {
    /// Returns the answer for a resource that is ready, without opaque data.
    pub fn ready(id: impl Into<Name>, fields: Value) -> Applied {
        Applied {
            id: id.into(),
            fields,
            private: Value::Null,
            ready: Ready::Yes,
            inputs: None,
            diagnostics: Vec::new(),
        }
    }

    /// Sets the opaque data.
    pub fn with_private(self, private: Value) -> Applied {
        Applied { private, ..self }
    }

    /// Sets warnings about the resource as a whole.
    pub fn with_warnings(self, warnings: impl IntoIterator<Item = String>) -> Applied {
        let warnings = warnings
            .into_iter()
            .map(|text| ProviderDiagnostic::warning("", text));
        Applied {
            diagnostics: warnings.collect(),
            ..self
        }
    }

    /// Returns the answer to a delete.
    pub fn deleted() -> Applied {
        Applied::ready("", Value::Null)
    }
}

/// The class of a provider's error: it decides who can fix the error, and whether a retry may help.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorKind {
    /// The provider refuses the request as it is written.
    Document,
    /// Credentials are missing or refused.
    Credentials,
    /// Too many calls. Retryable.
    Throttled,
    /// Another object blocks the operation.
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
    /// The call may have taken effect or not: the provider's process died, or the provider does not
    /// know the outcome. The call is not repeated; the next plan reads the resource first.
    OutcomeUnknown,
}

impl ErrorKind {
    /// Whether the same call may be retried.
    pub fn is_retryable(self) -> bool {
        matches!(
            self,
            ErrorKind::Throttled | ErrorKind::Transient | ErrorKind::TimedOut
        )
    }
}

/// The error of a failed provider call.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct ProviderError {
    /// The class of the error.
    pub kind: ErrorKind,
    /// The provider's message, without secrets.
    pub message: String,
    /// The path of the field at fault, if there is one.
    pub field: Option<FieldPath>,
    /// All diagnostics of the provider, if there are more than the message.
    pub diagnostics: Vec<ProviderDiagnostic>,
    /// The object that exists although the call failed. The engine records it before it reports the
    /// error.
    pub partial: Option<Box<Applied>>,
    /// The time that the server asked to wait before the next try.
    pub retry_after: Option<Duration>,
    /// Whether the process of the provider ended, so that its other calls fail as well. The engine
    /// reports it once.
    pub process_ended: bool,
    /// Whether it is certain that the call did nothing, although the class of its error leaves that
    /// open: its request was never sent.
    pub did_nothing: bool,
    /// The provider whose session cannot be opened, so that all its calls fail; `None` if the error
    /// concerns one call. The engine sets it.
    pub session: Option<Box<SessionFailure>>,
}

impl ProviderError {
    /// Returns an error of a class, with the provider's message.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> ProviderError {
        ProviderError {
            kind,
            message: message.into(),
            field: None,
            diagnostics: Vec::new(),
            partial: None,
            retry_after: None,
            process_ended: false,
            did_nothing: false,
            session: None,
        }
    }

    /// Sets the time that the server asked to wait before the next try.
    pub fn with_retry_after(mut self, pause: Duration) -> ProviderError {
        self.retry_after = Some(pause);
        self
    }

    /// Says that the call did nothing: see [`ProviderError::did_nothing`].
    pub fn without_effect(mut self) -> ProviderError {
        self.did_nothing = true;
        self
    }

    /// Whether the failed call may have taken effect: its request was lost, or given up.
    pub fn leaves_outcome_open(&self) -> bool {
        let is_open = matches!(
            self.kind,
            ErrorKind::Transient
                | ErrorKind::TimedOut
                | ErrorKind::Cancelled
                | ErrorKind::OutcomeUnknown
        );
        // Without a session no request is sent.
        is_open && !self.did_nothing && self.session.is_none()
    }

    /// Sets the field at fault.
    pub fn at(mut self, field: impl Into<FieldPath>) -> ProviderError {
        self.field = Some(field.into());
        self
    }

    /// Returns an error for several diagnostics of a provider: the first error is the message, all
    /// are kept.
    pub fn of_diagnostics(kind: ErrorKind, diagnostics: Vec<ProviderDiagnostic>) -> ProviderError {
        let first = diagnostics
            .iter()
            .find(|it| it.severity == ProviderSeverity::Error)
            .or(diagnostics.first());
        let (message, field) = match first {
            Some(first) => (
                first.text(),
                Some(first.path.clone()).filter(|path| !path.is_empty()),
            ),
            None => ("the provider gave no reason".to_owned(), None),
        };
        ProviderError {
            field,
            diagnostics,
            ..ProviderError::new(kind, message)
        }
    }
}
