//! Failures of calls as errors of the provider contract, and property paths of plugins as paths of
//! fields.

use blueprint::{FieldPath, PathStep};
use plugin_host::{CallEffect, last_lines};
use plugins::grpc::GrpcCode;
use provider::{ErrorKind, ProviderDiagnostic, ProviderError, Scrubber};
use pulumi_wire::{PropertyPath, PropertyStep};

use crate::failure::{CallFailure, MissingSetting, PropertyFailure};

/// The error of a failed call. Secrets are removed from the messages of the plugin.
pub(crate) fn error_of(
    failure: CallFailure,
    effect: CallEffect,
    secrets: &Scrubber,
) -> ProviderError {
    let kind = kind_of(&failure, effect);
    let mut said = match &failure {
        CallFailure::Refused {
            properties,
            message,
            ..
        } if !properties.is_empty() => {
            let mut all: Vec<_> = properties
                .iter()
                .map(|property| refusal(property, secrets))
                .collect();
            if all.iter().all(|said| said.summary.is_empty()) {
                all.push(message_of(message, secrets));
            }
            all
        }
        CallFailure::Refused { missing, .. } if !missing.is_empty() => {
            missing.iter().map(missing_setting).collect()
        }
        CallFailure::Request(error) => vec![ProviderDiagnostic::error(
            field_path(&error.path),
            error.to_string(),
        )],
        other => vec![message_of(&other.to_string(), secrets)],
    };
    if let (Some(first), Some(exit)) = (said.first_mut(), failure.exit()) {
        let output = secrets.clean(&last_lines(&exit.output));
        if !output.is_empty() {
            first.detail = [first.detail.as_str(), output.as_str()]
                .join("\n")
                .trim()
                .to_owned();
        }
    }
    ProviderError {
        // The outcome of a change whose request was sent has its own class.
        did_nothing: effect == CallEffect::Changes && kind.is_retryable(),
        process_ended: effect == CallEffect::Reads && failure.exit().is_some(),
        ..ProviderError::of_diagnostics(kind, said)
    }
}

/// The kind of error for a failure.
fn kind_of(failure: &CallFailure, effect: CallEffect) -> ErrorKind {
    match failure {
        CallFailure::Request(_) => ErrorKind::Document,
        CallFailure::NotAsked { .. } => ErrorKind::Transient,
        CallFailure::Unimplemented { .. } => ErrorKind::Permanent,
        CallFailure::Refused {
            properties,
            missing,
            ..
        } if !properties.is_empty() || !missing.is_empty() => ErrorKind::Document,
        CallFailure::Failed { .. } | CallFailure::Lost { .. } | CallFailure::Answer { .. }
            if effect == CallEffect::Changes =>
        {
            ErrorKind::OutcomeUnknown
        }
        CallFailure::Refused { code, .. } | CallFailure::Failed { code, .. } => kind_of_code(*code),
        CallFailure::Lost { .. } => ErrorKind::Transient,
        CallFailure::Answer { .. } => ErrorKind::Permanent,
    }
}

/// The kind of error for the code of a call that changed nothing.
fn kind_of_code(code: GrpcCode) -> ErrorKind {
    match code {
        GrpcCode::InvalidArgument | GrpcCode::OutOfRange => ErrorKind::Document,
        GrpcCode::NotFound => ErrorKind::NotFound,
        GrpcCode::AlreadyExists | GrpcCode::Aborted => ErrorKind::Conflict,
        GrpcCode::PermissionDenied | GrpcCode::Unauthenticated => ErrorKind::Credentials,
        GrpcCode::ResourceExhausted => ErrorKind::Throttled,
        GrpcCode::Unavailable => ErrorKind::Transient,
        GrpcCode::DeadlineExceeded => ErrorKind::TimedOut,
        GrpcCode::Cancelled => ErrorKind::Cancelled,
        _ => ErrorKind::Permanent,
    }
}

/// The refused properties as diagnostics at their places.
pub(crate) fn refusals(
    failures: &[PropertyFailure],
    secrets: &Scrubber,
) -> Vec<ProviderDiagnostic> {
    failures
        .iter()
        .map(|failure| refusal(failure, secrets))
        .collect()
}

fn refusal(failure: &PropertyFailure, secrets: &Scrubber) -> ProviderDiagnostic {
    ProviderDiagnostic {
        path: field_path(&failure.path),
        ..message_of(&failure.reason, secrets)
    }
}

/// The diagnostic for a missing setting. The plugin puts the package before its name: `aws:region`,
/// or `aws:config:region`.
fn missing_setting(missing: &MissingSetting) -> ProviderDiagnostic {
    let name = missing.name.rsplit(':').next().unwrap_or(&missing.name);
    ProviderDiagnostic::error(
        FieldPath::field(name),
        format!("the provider needs the setting `{name}`"),
    )
    .detailed(missing.description.trim())
}

/// The diagnostic for a message of a plugin. The first line is the summary. The others, such as a
/// Python traceback, are the detail.
pub(crate) fn message_of(message: &str, secrets: &Scrubber) -> ProviderDiagnostic {
    let message = secrets.clean(message);
    let (first, rest) = message
        .trim()
        .split_once('\n')
        .unwrap_or((message.trim(), ""));
    // The Python framework writes a colon before the traceback.
    let summary = if rest.is_empty() {
        first
    } else {
        first.trim_end().trim_end_matches(':')
    };
    ProviderDiagnostic::error("", summary.trim_end()).detailed(rest.trim_end())
}

/// The path of a field. It ends before a step that means every element.
pub(crate) fn field_path(path: &PropertyPath) -> FieldPath {
    let steps = path
        .0
        .iter()
        .enumerate()
        .map_while(|(at, step)| match step {
            PropertyStep::Property(name) if at == 0 || is_plain(name) => {
                Some(PathStep::Field(name.clone()))
            }
            PropertyStep::Property(name) => Some(PathStep::Key(name.clone())),
            PropertyStep::Index(index) => Some(PathStep::Index(*index)),
            PropertyStep::Every => None,
        });
    FieldPath(steps.collect())
}

fn is_plain(name: &str) -> bool {
    !name.is_empty()
        && name
            .chars()
            .all(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '$'))
}

/// The path of a property, from the text form of a field's path.
pub(crate) fn property_path(path: &str) -> PropertyPath {
    let steps = FieldPath::parse(path).0.into_iter().map(|step| match step {
        PathStep::Field(name) if name.as_ref() == "*" => PropertyStep::Every,
        PathStep::Field(name) | PathStep::Key(name) => PropertyStep::Property(name),
        PathStep::Index(index) => PropertyStep::Index(index),
    });
    PropertyPath(steps.collect())
}

#[cfg(test)]
mod tests {
    use blueprint::Value;

    use super::*;

    fn error(failure: CallFailure, effect: CallEffect) -> ProviderError {
        error_of(
            failure,
            effect,
            &Scrubber::of([&Value::from("hunter2-hunter2").secret()]),
        )
    }

    fn refused(code: GrpcCode) -> CallFailure {
        CallFailure::Refused {
            code,
            message: "no".into(),
            properties: Vec::new(),
            missing: Vec::new(),
        }
    }

    #[test]
    fn the_class_depends_on_whether_something_may_have_changed() {
        let failed = |code| CallFailure::Failed {
            code,
            message: "oh".into(),
        };
        let lost = || CallFailure::Lost {
            why: "gone".into(),
            exit: None,
        };
        let not_asked = || CallFailure::NotAsked {
            why: "gone".into(),
            exit: None,
        };
        for (failure, reads, changes) in [
            (
                failed(GrpcCode::Unknown),
                ErrorKind::Permanent,
                ErrorKind::OutcomeUnknown,
            ),
            (
                failed(GrpcCode::Unavailable),
                ErrorKind::Transient,
                ErrorKind::OutcomeUnknown,
            ),
            (lost(), ErrorKind::Transient, ErrorKind::OutcomeUnknown),
            (not_asked(), ErrorKind::Transient, ErrorKind::Transient),
            (
                refused(GrpcCode::AlreadyExists),
                ErrorKind::Conflict,
                ErrorKind::Conflict,
            ),
            (
                refused(GrpcCode::FailedPrecondition),
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
    fn only_a_refusal_says_that_nothing_happened() {
        let codes = [
            (GrpcCode::Cancelled, ErrorKind::Cancelled),
            (GrpcCode::Unknown, ErrorKind::Permanent),
            (GrpcCode::DeadlineExceeded, ErrorKind::TimedOut),
            (GrpcCode::ResourceExhausted, ErrorKind::Throttled),
            (GrpcCode::Aborted, ErrorKind::Conflict),
            (GrpcCode::Internal, ErrorKind::Permanent),
            (GrpcCode::Unavailable, ErrorKind::Transient),
            (GrpcCode::DataLoss, ErrorKind::Permanent),
        ];
        for (code, reads) in codes {
            let status = || {
                CallFailure::of_call(
                    "/pulumirpc.ResourceProvider/Create",
                    plugins::grpc::CallError::Status(plugins::grpc::GrpcStatus {
                        code,
                        message: "no".into(),
                        raw_details: Vec::new(),
                    }),
                )
            };
            assert_eq!(error(status(), CallEffect::Reads).kind, reads, "{code:?}");
            let changes = error(status(), CallEffect::Changes).kind;
            assert_eq!(changes, ErrorKind::OutcomeUnknown, "{code:?}");
        }
    }

    #[test]
    fn a_traceback_is_the_detail_and_secrets_are_removed() {
        let message = "it fails with hunter2-hunter2:\n  File \"shop.py\", line 3\n";
        let error = error(
            CallFailure::Failed {
                code: GrpcCode::Unknown,
                message: message.into(),
            },
            CallEffect::Reads,
        );
        assert_eq!(error.diagnostics[0].summary, "it fails with (secret)");
        assert_eq!(error.diagnostics[0].detail, "  File \"shop.py\", line 3");
        assert!(!error.to_string().contains("hunter2"));
    }

    #[test]
    fn missing_settings_are_at_their_keys() {
        let missing = |name: &str| MissingSetting {
            name: name.into(),
            description: "what for".into(),
        };
        let failure = CallFailure::Refused {
            code: GrpcCode::InvalidArgument,
            message: "settings are missing".into(),
            properties: Vec::new(),
            missing: vec![missing("shop:folder"), missing("shop:config:token")],
        };
        let error = error(failure, CallEffect::Reads);
        let paths: Vec<String> = error
            .diagnostics
            .iter()
            .map(|said| said.path.to_string())
            .collect();
        assert_eq!(
            (error.kind, paths),
            (
                ErrorKind::Document,
                vec!["folder".to_owned(), "token".to_owned()]
            )
        );
    }

    #[test]
    fn paths_become_paths_of_fields_and_back() {
        for (property, field) in [
            ("a.b[0]", "a.b[0]"),
            ("a[\"b c\"].d", "a[\"b c\"].d"),
            ("a[*].b", "a"),
            ("", ""),
            ("[\"x y\"]", "[\"x y\"]"),
        ] {
            assert_eq!(
                field_path(&PropertyPath::parse_or_name(property)).to_string(),
                field,
                "{property}"
            );
        }
        assert_eq!(
            property_path("a[\"b c\"][1]"),
            PropertyPath::parse("a[\"b c\"][1]").unwrap()
        );
    }
}
