//! Builds the diagnostic of a refused call.

use std::time::Duration;

use diag::Diagnostic;
use evaluate::resolve::Evaluation;
use plan::task::Decided;
use provider::{ErrorKind, ProviderError, RetryPolicy};

use crate::codes;
use crate::model::CallRequest;

/// A refused call that is not retried.
pub(crate) struct Refusal<'a> {
    pub(crate) decided: &'a Decided,
    pub(crate) request: &'a CallRequest,
    pub(crate) error: &'a ProviderError,
    /// The number of retries.
    pub(crate) tries: u32,
    /// The rules by which calls to the provider are retried.
    pub(crate) policy: RetryPolicy,
    /// The time limit, if it is the reason.
    pub(crate) late: Option<Duration>,
}

impl Refusal<'_> {
    /// The diagnostic, with the provider's message as a note.
    pub(crate) fn diagnostic(&self, evaluation: Option<&Evaluation>) -> Diagnostic {
        let (verb, address, error) = (self.request.operation.word(), &self.decided.address, self.error);
        let tries = self.tries;
        let exhausted = self.policy.of(error.kind).is_some_and(|policy| tries >= policy.attempts);
        let mut diagnostic = if let Some(limit) = self.late {
            let limit = blueprint::format_duration(limit);
            codes::NOT_STABLE.new(format!("the {verb} of `{address}` was not done within {limit}"))
        } else if exhausted {
            codes::RETRIES_EXHAUSTED.new(format!("the provider could not {verb} `{address}` after {tries} more tries"))
        } else if error.session.is_some() {
            evaluate::retry::failure(error, String::new)
        } else if error.kind == ErrorKind::Cancelled {
            codes::PROVIDER_FAILED.new(format!("the {verb} of `{address}` was cut short"))
        } else if error.kind == ErrorKind::OutcomeUnknown {
            codes::PROVIDER_FAILED.new(format!("the outcome of the {verb} of `{address}` is not known"))
        } else {
            codes::PROVIDER_FAILED.new(format!("the provider refused to {verb} `{address}`"))
        };
        if let Some(evaluation) = evaluation {
            let (children, resource) = (&address.path, &address.name);
            let mistake = dialects::Mistake::Refused { operation: verb, children, resource, said: &error.message };
            let messages = evaluation.documents.root().checked.rules.messages;
            diagnostic.words = messages.of(&mistake).map(Box::new);
        }
        // The message states the timeout already.
        let is_stated = diagnostic.notes.contains(&error.message);
        let is_timeout = matches!(error.kind, ErrorKind::TimedOut | ErrorKind::Cancelled);
        if !is_stated && (self.late.is_none() || !is_timeout) {
            diagnostic = diagnostic.note(error.message.clone());
        }
        diagnostic
    }
}
