//! Builds the diagnostics of a refused call.

use std::time::Duration;

use blueprint::{Expr, FieldPath};
use diag::{Diagnostic, Diagnostics};
use evaluate::resolve::Evaluation;
use plan::provider_diagnostics::{place_at, report};
use plan::task::Decided;
use provider::{ErrorKind, ProviderDiagnostic, ProviderError, ProviderSeverity, RetryPolicy};

use crate::codes;
use crate::model::CallRequest;

/// A refused call that is not retried.
pub(crate) struct RefusedCall<'a> {
    pub(crate) decided: &'a Decided,
    pub(crate) request: &'a CallRequest,
    pub(crate) error: &'a ProviderError,
    /// The number of retries.
    pub(crate) tries: u32,
    /// The rules by which calls to the provider are retried.
    pub(crate) policy: RetryPolicy,
    /// The time limit, if it is the reason of the refusal.
    pub(crate) late: Option<Duration>,
}

impl RefusedCall<'_> {
    /// The diagnostic, with the provider's message and its further errors as notes, at the fields
    /// that they concern.
    pub(crate) fn diagnostic(&self, evaluation: Option<&Evaluation>) -> Diagnostic {
        let verb = self.request.operation.word();
        let address = &self.decided.address;
        let error = self.error;
        let tries = self.tries;
        let exhausted = self
            .policy
            .of(error.kind)
            .is_some_and(|policy| tries >= policy.max_retries);
        let mut diagnostic = if let Some(limit) = self.late {
            let limit = blueprint::format_duration(limit);
            codes::NOT_STABLE.new(format!(
                "the {verb} of `{address}` was not done within {limit}"
            ))
        } else if exhausted {
            codes::RETRIES_EXHAUSTED.new(format!(
                "the provider could not {verb} `{address}` after {tries} more tries"
            ))
        } else if error.session.is_some() {
            evaluate::retry::failure(error, String::new)
        } else if error.kind == ErrorKind::Cancelled {
            codes::PROVIDER_FAILED.new(format!("the {verb} of `{address}` was cut short"))
        } else if error.kind == ErrorKind::OutcomeUnknown {
            codes::PROVIDER_FAILED.new(format!(
                "the outcome of the {verb} of `{address}` is not known"
            ))
        } else {
            codes::PROVIDER_FAILED.new(format!("the provider refused to {verb} `{address}`"))
        };
        if let Some(evaluation) = evaluation {
            let children = &address.path;
            let resource = &address.name;
            let mistake = dialect::Mistake::Refused {
                operation: verb,
                children,
                resource,
                message: &error.message,
            };
            let messages = evaluation.documents.root().checked.rules.messages;
            diagnostic.native_message = messages.of(&mistake).map(Box::new);
        }
        // The message already states the timeout.
        let is_stated = diagnostic.notes.contains(&error.message);
        let is_timeout = matches!(error.kind, ErrorKind::TimedOut | ErrorKind::Cancelled);
        if !is_stated && (self.late.is_none() || !is_timeout) {
            diagnostic = diagnostic.note(error.message.clone());
        }
        // The diagnostic of a failed session is complete, and is not about this resource.
        if error.session.is_some() {
            diagnostic
        } else {
            with_fields(diagnostic, error, spec_of(self.decided, evaluation))
        }
    }

    /// Reports the provider's remarks besides its errors.
    pub(crate) fn report_remarks(&self, evaluation: Option<&Evaluation>, found: &mut Diagnostics) {
        if self.error.session.is_some() {
            return;
        }
        let others = further(self.error)
            .filter(|reported| reported.severity != ProviderSeverity::Error)
            .cloned()
            .collect();
        let messages = match evaluation {
            Some(evaluation) => evaluation.documents.root().checked.rules.messages,
            None => dialect::DialectRules::NATIVE.messages,
        };
        let spec = spec_of(self.decided, evaluation);
        report(
            others,
            &self.decided.address,
            spec,
            self.decided.span,
            messages,
            found,
        );
    }
}

/// Adds the fields that an error names, and the further errors of the provider.
pub(crate) fn with_fields(
    mut diagnostic: Diagnostic,
    error: &ProviderError,
    spec: Option<&Expr>,
) -> Diagnostic {
    let place = |field: &FieldPath| {
        spec.filter(|_| !field.is_empty())
            .and_then(|spec| place_at(spec, field))
    };
    if let Some(field) = &error.field {
        diagnostic = match place(field) {
            Some(span) => diagnostic.label(span, format!("`{field}`")),
            None => diagnostic.note(format!("this is about `{field}`")),
        };
    }
    for reported in further(error).filter(|reported| reported.severity == ProviderSeverity::Error) {
        let field = &reported.path;
        let text = reported.text();
        if let Some(span) = place(field) {
            diagnostic = diagnostic.label(span, format!("`{field}`"));
        }
        diagnostic = diagnostic.note(if field.is_empty() {
            text
        } else {
            format!("`{field}`: {text}")
        });
    }
    diagnostic
}

/// The diagnostics of an error, without its message.
fn further(error: &ProviderError) -> impl Iterator<Item = &ProviderDiagnostic> {
    error
        .diagnostics
        .iter()
        .filter(|reported| reported.text() != error.message)
}

/// The spec of the resource in its document.
pub(crate) fn spec_of<'a>(
    decided: &Decided,
    evaluation: Option<&'a Evaluation>,
) -> Option<&'a Expr> {
    let (number, _) = decided.element?;
    evaluation?
        .documents
        .resource(number)
        .map(|(.., resource)| &resource.spec)
}
