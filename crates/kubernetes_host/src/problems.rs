//! Failed requests as errors of the contract.

use ::kubernetes::{ApiFailure, FailureReason, FieldProblem};
use ::provider::{ErrorKind, ProviderDiagnostic, ProviderError};
use blueprint::Name;
use std::time::Duration;

use crate::cluster::{Cluster, RequestError};

/// The error for a failed request that changes nothing.
pub(crate) fn error_of(error: RequestError, cluster: &Cluster) -> ProviderError {
    match error {
        RequestError::NotSent(why) | RequestError::Lost(why) => {
            let message = format!("the cluster {} cannot be reached: {why}", cluster.title);
            ProviderError::new(ErrorKind::Transient, message)
        }
        other => refusal_of(other, cluster),
    }
}

/// The error for a failed request that changes something.
pub(crate) fn change_failed(error: RequestError, cluster: &Cluster) -> ProviderError {
    match error {
        RequestError::NotSent(why) => {
            let message = format!("the cluster {} cannot be reached: {why}", cluster.title);
            ProviderError::new(ErrorKind::Transient, message).without_effect()
        }
        RequestError::Lost(why) => {
            let message = format!(
                "the connection to the cluster {} was lost, so it is not known whether the change was made: {why}",
                cluster.title
            );
            ProviderError::new(ErrorKind::OutcomeUnknown, message)
        }
        RequestError::Refused(failure)
            if matches!(
                failure.reason,
                FailureReason::Timeout | FailureReason::Internal
            ) =>
        {
            let message = format!(
                "the server failed, and it is not known whether the change was made: {}",
                failure.message
            );
            ProviderError::new(ErrorKind::OutcomeUnknown, message)
        }
        other => refusal_of(other, cluster),
    }
}

/// Fails if the connected cluster is none of those that objects were recorded in: each with the
/// uid of its namespace `kube-system`, and its context and server.
pub(crate) fn refuse_other_cluster(
    cluster: &Cluster,
    identity: Option<&Name>,
    recorded: &[(&Name, &Option<Name>)],
) -> Result<(), ProviderError> {
    let Some(identity) = identity else {
        return Ok(());
    };
    let Some((uid, server)) = recorded.first() else {
        return Ok(());
    };
    if recorded.iter().any(|(uid, _)| *uid == identity) {
        return Ok(());
    }
    let message = format!(
        "the recorded objects are in the cluster {} (its `kube-system` is {uid}), and {} is another \
         cluster (its `kube-system` is {identity}); choose the context of that cluster, or another \
         instance",
        server.as_deref().unwrap_or("of another name"),
        cluster.title,
    );
    Err(ProviderError::new(ErrorKind::Document, message).at("context"))
}

fn refusal_of(error: RequestError, cluster: &Cluster) -> ProviderError {
    match error {
        RequestError::Credentials(why) => {
            let message = format!(
                "the credentials for the cluster {} cannot be used: {why}",
                cluster.title
            );
            ProviderError::new(ErrorKind::Credentials, message).without_effect()
        }
        RequestError::Refused(failure) => of_failure(*failure, cluster),
        RequestError::NotSent(why) | RequestError::Lost(why) => {
            ProviderError::new(ErrorKind::Transient, why)
        }
    }
}

/// The error for an answer of the server.
fn of_failure(failure: ApiFailure, cluster: &Cluster) -> ProviderError {
    let pause = failure.retry_after_seconds.map(Duration::from_secs);
    let message = failure.message;
    let error = match failure.reason {
        FailureReason::FieldConflicts(conflicts) => {
            let said = conflicts.into_iter().map(|conflict| {
                let summary = format!(
                    "`{}` is managed by `{}`, with another value",
                    conflict.written.trim_start_matches('.'),
                    conflict.manager
                );
                ProviderDiagnostic::error(conflict.path, summary).detailed(
                    "Leave the field out, give it the same value, or set `conflicts = \"take-over\"` \
                     under `[providers.kubernetes]` in `cyan.toml`.",
                )
            });
            ProviderError::of_diagnostics(ErrorKind::Conflict, said.collect())
        }
        FailureReason::Invalid(fields) if !fields.is_empty() => {
            let said = fields.into_iter().map(|field| {
                let summary = match field.problem {
                    FieldProblem::Undeclared => {
                        format!("the kind has no field `{}`", field.written)
                    }
                    FieldProblem::Immutable | FieldProblem::Value => field.message,
                };
                ProviderDiagnostic::error(field.path, summary)
            });
            ProviderError::of_diagnostics(ErrorKind::Document, said.collect())
        }
        FailureReason::Unauthorized => {
            let message = format!(
                "the cluster {} does not accept the credentials: {message}",
                cluster.title
            );
            ProviderError::new(ErrorKind::Credentials, message)
        }
        reason => ProviderError::new(kind_of(&reason), message),
    };
    match pause {
        Some(pause) => error.with_retry_after(pause),
        None => error,
    }
}

fn kind_of(reason: &FailureReason) -> ErrorKind {
    match reason {
        FailureReason::ObjectMissing
        | FailureReason::NamespaceMissing(_)
        | FailureReason::KindMissing
        | FailureReason::Vanished => ErrorKind::NotFound,
        FailureReason::NamespaceTerminating
        | FailureReason::AlreadyExists { .. }
        | FailureReason::FieldConflicts(_)
        | FailureReason::Modified
        | FailureReason::MadeAnew => ErrorKind::Conflict,
        FailureReason::NoRight | FailureReason::Unauthorized => ErrorKind::Credentials,
        FailureReason::TooManyRequests => ErrorKind::Throttled,
        FailureReason::Timeout
        | FailureReason::Unavailable
        | FailureReason::WebhookFailed(_)
        | FailureReason::Internal => ErrorKind::Transient,
        FailureReason::Invalid(_)
        | FailureReason::Denied { .. }
        | FailureReason::Refused
        | FailureReason::NoDryRun(_)
        | FailureReason::NotSupported
        | FailureReason::BadRequest => ErrorKind::Document,
        FailureReason::Expired | FailureReason::Other(_) => ErrorKind::Permanent,
    }
}
