//! The reason why a call has no result, and whether the call may have changed something.

use std::fmt;

use blueprint::Name;
use plugins::ProcessExit;
use plugins::grpc::{CallError, GrpcCode, GrpcStatus};
use pulumi_wire::{DecodeError, EncodeError, PropertyPath};

use crate::messages::{ConfigureErrorMissingKeys, Empty, InputPropertiesError};

/// A property that the plugin refuses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PropertyFailure {
    /// The path of the property; empty if the plugin does not name one.
    pub path: PropertyPath,
    /// The plugin's reason.
    pub reason: String,
}

/// A setting that the provider needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingSetting {
    /// The name of the setting with the package: `aws:region`.
    pub name: String,
    /// The purpose of the setting.
    pub description: String,
}

/// The reason why a call has no result. Messages of the plugin may repeat secrets.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CallFailure {
    /// A value cannot be sent. The plugin was not called.
    #[error("{0}")]
    Request(#[from] EncodeError),
    /// The plugin was not called, because its connection had ended.
    #[error("the plugin was not asked: {why}")]
    NotAsked {
        /// The reason.
        why: String,
        /// The exit of the process, if it has ended.
        exit: Option<ProcessExit>,
    },
    /// The plugin does not have this method.
    #[error("the plugin does not implement {method}")]
    Unimplemented {
        /// The method.
        method: &'static str,
    },
    /// The plugin refused and changed nothing.
    #[error("{message}")]
    Refused {
        /// The status code.
        code: GrpcCode,
        /// The message of the plugin.
        message: String,
        /// The properties that the plugin names.
        properties: Vec<PropertyFailure>,
        /// The settings that the plugin misses.
        missing: Vec<MissingSetting>,
    },
    /// The plugin failed. It does not say whether it changed something.
    #[error("{message}")]
    Failed {
        /// The status code.
        code: GrpcCode,
        /// The message of the plugin.
        message: String,
    },
    /// The plugin gave no answer. It may have changed something.
    #[error("the plugin gave no answer: {why}")]
    Lost {
        /// The reason.
        why: String,
        /// The exit of the process, if it has ended.
        exit: Option<ProcessExit>,
    },
    /// The answer breaks the protocol.
    #[error("{problem}")]
    Answer {
        /// The violation.
        problem: AnswerProblem,
        /// The id of the resource, if the answer has one.
        id: Option<Name>,
    },
}

/// A violation of the protocol in an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum AnswerProblem {
    /// A value that is not valid.
    Value(DecodeError),
    /// A create without an id.
    NoId,
}

impl fmt::Display for AnswerProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AnswerProblem::Value(error) if error.path.0.is_empty() => error.fmt(f),
            AnswerProblem::Value(error) => write!(f, "{error}, at `{}`", error.path),
            AnswerProblem::NoId => f.write_str("the plugin created a resource and answered no id"),
        }
    }
}

impl CallFailure {
    /// Whether a create, update or delete that failed like this may have been carried out.
    pub fn outcome_is_unknown(&self) -> bool {
        match self {
            CallFailure::Failed { .. } | CallFailure::Lost { .. } | CallFailure::Answer { .. } => {
                true
            }
            CallFailure::Request(_)
            | CallFailure::NotAsked { .. }
            | CallFailure::Unimplemented { .. }
            | CallFailure::Refused { .. } => false,
        }
    }

    /// Whether the plugin did not answer because its process or connection ended. A call that
    /// changes nothing can then be made again on a new process.
    pub fn is_crash(&self) -> bool {
        matches!(
            self,
            CallFailure::NotAsked { .. } | CallFailure::Lost { .. }
        )
    }

    /// The exit of the process, if it is the reason.
    pub fn exit(&self) -> Option<&ProcessExit> {
        match self {
            CallFailure::NotAsked { exit, .. } | CallFailure::Lost { exit, .. } => exit.as_ref(),
            _ => None,
        }
    }

    pub(crate) fn of_call(method: &'static str, error: CallError) -> CallFailure {
        match error {
            CallError::NotSent(loss) => CallFailure::NotAsked {
                why: loss.to_string(),
                exit: loss.exit,
            },
            CallError::Lost(loss) => CallFailure::Lost {
                why: loss.to_string(),
                exit: loss.exit,
            },
            CallError::Status(status) => CallFailure::of_status(method, status),
        }
    }

    fn of_status(method: &'static str, status: GrpcStatus) -> CallFailure {
        // With this detail the plugin says that a create made nothing, or that an update changed
        // nothing, whatever the code is.
        let nothing_happened = status
            .detail::<Empty>("pulumirpc.ErrorResourceAwaitFailed")
            .is_some();
        match status.code {
            GrpcCode::Unimplemented => CallFailure::Unimplemented {
                method: name(method),
            },
            code if !nothing_happened && !refuses(code) => CallFailure::Failed {
                code,
                message: status.message,
            },
            code => {
                let properties =
                    status.detail::<InputPropertiesError>("pulumirpc.InputPropertiesError");
                let properties = properties.into_iter().flat_map(|error| error.errors);
                let missing = status
                    .detail::<ConfigureErrorMissingKeys>("pulumirpc.ConfigureErrorMissingKeys");
                let missing = missing.into_iter().flat_map(|error| error.missing_keys);
                CallFailure::Refused {
                    code,
                    properties: properties
                        .map(|error| property(&error.property_path, error.reason))
                        .collect(),
                    missing: missing
                        .map(|key| MissingSetting {
                            name: key.name,
                            description: key.description,
                        })
                        .collect(),
                    message: status.message,
                }
            }
        }
    }

    pub(crate) fn of_answer(error: DecodeError, id: Option<Name>) -> CallFailure {
        CallFailure::Answer {
            problem: AnswerProblem::Value(error),
            id,
        }
    }
}

/// Whether a code says that the call was refused as it is, so that nothing happened. Any other code
/// can also end a call that was carried out: its time was over, a later step was refused, or
/// something between the plugin and the service gave up.
fn refuses(code: GrpcCode) -> bool {
    match code {
        GrpcCode::InvalidArgument
        | GrpcCode::OutOfRange
        | GrpcCode::NotFound
        | GrpcCode::AlreadyExists
        | GrpcCode::PermissionDenied
        | GrpcCode::Unauthenticated
        | GrpcCode::FailedPrecondition
        | GrpcCode::Unimplemented => true,
        GrpcCode::Ok
        | GrpcCode::Cancelled
        | GrpcCode::Unknown
        | GrpcCode::DeadlineExceeded
        | GrpcCode::ResourceExhausted
        | GrpcCode::Aborted
        | GrpcCode::Internal
        | GrpcCode::Unavailable
        | GrpcCode::DataLoss => false,
    }
}

/// The name of a method without its service.
fn name(method: &'static str) -> &'static str {
    method.rsplit('/').next().unwrap_or(method)
}

pub(crate) fn property(path: &str, reason: String) -> PropertyFailure {
    PropertyFailure {
        path: PropertyPath::parse_or_name(path),
        reason,
    }
}
