//! Failures of calls as errors of the provider contract, and paths of providers as paths of fields.

use blueprint::{FieldPath, PathStep};
use plugin_host::{CallEffect, last_lines};
use plugins::ProcessExit;
use plugins::grpc::{CallError, ConnectError, GrpcCode};
use provider::{ErrorKind, Finding, ProviderDiagnostic, ProviderError, ProviderSeverity, Scrubber};
use terraform_wire::consistency::Violation;
use terraform_wire::{AttributeStep, Path};

use crate::{CallFailure, FunctionFailure, TerraformDiagnostic};

/// Returns the error of a call. Secrets are removed from the provider's messages.
pub(crate) fn error_of(
    failure: CallFailure,
    effect: CallEffect,
    secrets: &Scrubber,
) -> ProviderError {
    let kind = kind_of(&failure, effect);
    let mut said = match &failure {
        CallFailure::Rejected(said) => said.iter().map(|one| diagnostic_of(one, secrets)).collect(),
        CallFailure::Inconsistent { method, violations } => violations
            .iter()
            .map(|one| contradiction(method, one, secrets))
            .collect(),
        CallFailure::Unfit(error) => {
            let refused = ProviderDiagnostic::error(
                field_path(&error.path),
                secrets.clean(&error.problem.to_string()),
            );
            vec![refused.about(Finding::WrongType)]
        }
        other => vec![ProviderDiagnostic::error(
            "",
            secrets.clean(&other.to_string()),
        )],
    };
    if let (Some(first), Some(exit)) = (said.first_mut(), exit_of(&failure)) {
        first.detail = secrets.clean(&last_lines(&exit.output));
    }
    ProviderError {
        // The outcome of a change whose request was sent has its own class.
        did_nothing: effect == CallEffect::Changes && kind.is_retryable(),
        process_ended: effect == CallEffect::Reads && exit_of(&failure).is_some(),
        ..ProviderError::of_diagnostics(kind, said)
    }
}

/// The class of a failure.
fn kind_of(failure: &CallFailure, effect: CallEffect) -> ErrorKind {
    match failure {
        CallFailure::Unfit(_) | CallFailure::NoSuchType { .. } | CallFailure::Unsupported(_) => {
            ErrorKind::Document
        }
        CallFailure::Rejected(_) if effect == CallEffect::Reads => ErrorKind::Document,
        CallFailure::Connect(error) => match **error {
            ConnectError::Refused { .. } | ConnectError::Exited(_) => ErrorKind::Transient,
            _ => ErrorKind::Permanent,
        },
        CallFailure::Call {
            error: CallError::NotSent(_),
            ..
        } => ErrorKind::Transient,
        CallFailure::Call {
            error: CallError::Status(status),
            ..
        } if status.code == GrpcCode::Unimplemented => ErrorKind::Permanent,
        CallFailure::Call { .. } | CallFailure::Malformed { .. }
            if effect == CallEffect::Changes =>
        {
            ErrorKind::OutcomeUnknown
        }
        CallFailure::Call {
            error: CallError::Lost(_),
            ..
        } => ErrorKind::Transient,
        CallFailure::Call {
            error: CallError::Status(status),
            ..
        } => match status.code {
            GrpcCode::Unavailable => ErrorKind::Transient,
            GrpcCode::ResourceExhausted => ErrorKind::Throttled,
            GrpcCode::DeadlineExceeded => ErrorKind::TimedOut,
            GrpcCode::Cancelled => ErrorKind::Cancelled,
            _ => ErrorKind::Permanent,
        },
        CallFailure::NothingImported => ErrorKind::NotFound,
        CallFailure::Rejected(_)
        | CallFailure::Malformed { .. }
        | CallFailure::Inconsistent { .. }
        | CallFailure::Newer { .. }
        | CallFailure::Deferred { .. }
        | CallFailure::Protocol(_) => ErrorKind::Permanent,
    }
}

fn exit_of(failure: &CallFailure) -> Option<&ProcessExit> {
    match failure {
        CallFailure::Call {
            error: CallError::NotSent(loss) | CallError::Lost(loss),
            ..
        } => loss.exit.as_ref(),
        CallFailure::Connect(error) => match &**error {
            ConnectError::Exited(exit) => Some(exit),
            _ => None,
        },
        _ => None,
    }
}

/// Converts a message of a provider, with its path.
pub(crate) fn diagnostic_of(said: &TerraformDiagnostic, secrets: &Scrubber) -> ProviderDiagnostic {
    ProviderDiagnostic {
        severity: if said.is_error() {
            ProviderSeverity::Error
        } else {
            ProviderSeverity::Warning
        },
        finding: Finding::Refused,
        summary: secrets.clean(&said.summary),
        detail: secrets.clean(said.detail.trim_end()),
        path: field_path(&said.path),
    }
}

/// Converts the warnings of an answer.
pub(crate) fn warnings_of(
    said: &[TerraformDiagnostic],
    secrets: &Scrubber,
) -> Vec<ProviderDiagnostic> {
    said.iter().map(|one| diagnostic_of(one, secrets)).collect()
}

/// Returns the diagnostic of a contradiction between an answer and its request.
pub(crate) fn contradiction(
    method: &str,
    violation: &Violation,
    secrets: &Scrubber,
) -> ProviderDiagnostic {
    let summary = format!("the provider contradicts itself: {violation}");
    let detail = format!("{method} answered this; it is a mistake of the provider");
    ProviderDiagnostic::error(field_path(&violation.path), secrets.clean(&summary)).detailed(detail)
}

/// Returns the error of a function.
pub(crate) fn function_failed(failed: &FunctionFailure, secrets: &Scrubber) -> ProviderError {
    let place = failed
        .argument
        .map(|at| format!("argument {}: ", at + 1))
        .unwrap_or_default();
    ProviderError::new(
        ErrorKind::Document,
        format!("{place}{}", secrets.clean(&failed.text)),
    )
}

/// Adds the path to the message of an error: the message of an operation is shown without a place
/// in the document.
pub(crate) fn with_path_in_message(error: ProviderError) -> ProviderError {
    match &error.field {
        Some(field) => ProviderError {
            message: format!("`{field}`: {}", error.message),
            ..error
        },
        None => error,
    }
}

/// Converts a path to the path of a field.
pub(crate) fn field_path(path: &Path) -> FieldPath {
    let steps = path.0.iter().map(|step| match step {
        AttributeStep::Attribute(name) => PathStep::Field(name.clone()),
        AttributeStep::Key(key) => PathStep::Key(key.clone()),
        AttributeStep::Index(index) => PathStep::Index(*index),
    });
    FieldPath(steps.collect())
}

#[cfg(test)]
mod tests {
    use blueprint::Value;
    use plugins::grpc::{GrpcStatus, Loss};

    use super::*;
    use crate::Severity;

    fn error(failure: CallFailure, effect: CallEffect) -> ProviderError {
        error_of(
            failure,
            effect,
            &Scrubber::of([&Value::from("hunter2-hunter2").secret()]),
        )
    }

    fn call(error: CallError) -> CallFailure {
        CallFailure::Call {
            method: "ApplyResourceChange",
            error,
        }
    }

    fn loss() -> Loss {
        Loss {
            why: "gone".into(),
            exit: None,
        }
    }

    fn status(code: GrpcCode) -> CallFailure {
        call(CallError::Status(GrpcStatus {
            code,
            message: "no".into(),
            raw_details: Vec::new(),
        }))
    }

    #[test]
    fn the_class_depends_on_whether_something_may_have_changed() {
        for (failure, reads, changes) in [
            (
                status(GrpcCode::Unknown),
                ErrorKind::Permanent,
                ErrorKind::OutcomeUnknown,
            ),
            (
                status(GrpcCode::Unimplemented),
                ErrorKind::Permanent,
                ErrorKind::Permanent,
            ),
            (
                status(GrpcCode::Unavailable),
                ErrorKind::Transient,
                ErrorKind::OutcomeUnknown,
            ),
            (
                call(CallError::Lost(loss())),
                ErrorKind::Transient,
                ErrorKind::OutcomeUnknown,
            ),
            (
                call(CallError::NotSent(loss())),
                ErrorKind::Transient,
                ErrorKind::Transient,
            ),
            (
                CallFailure::Rejected(Vec::new()),
                ErrorKind::Document,
                ErrorKind::Permanent,
            ),
            (
                CallFailure::Newer {
                    stored: 2,
                    known: 1,
                },
                ErrorKind::Permanent,
                ErrorKind::Permanent,
            ),
        ] {
            assert_eq!(
                error(failure.clone(), CallEffect::Reads).kind,
                reads,
                "{failure:?}"
            );
            assert_eq!(
                error(failure.clone(), CallEffect::Changes).kind,
                changes,
                "{failure:?}"
            );
        }
    }

    #[test]
    fn provider_messages_keep_places_and_hide_secrets() {
        let path = Path::default()
            .attribute(&"a".into())
            .index(1)
            .key(&"k.1".into());
        let said = |severity, summary: &str| TerraformDiagnostic {
            severity,
            summary: summary.into(),
            detail: "because of hunter2-hunter2\n".into(),
            path: path.clone(),
        };
        let all = vec![
            said(Severity::Warning, "odd"),
            said(Severity::Error, "wrong"),
        ];
        let error = with_path_in_message(error(CallFailure::Rejected(all), CallEffect::Reads));
        assert_eq!(error.message, "`a[1][\"k.1\"]`: wrong\nbecause of (secret)");
        assert_eq!(error.diagnostics.len(), 2);
        assert_eq!(error.diagnostics[0].severity, ProviderSeverity::Warning);
        assert_eq!(error.diagnostics[1].path.to_string(), "a[1][\"k.1\"]");
    }
}
