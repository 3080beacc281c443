//! Refused requests as conditions.

use crate::conditions::{FALSE, StatusCondition, UNKNOWN};

use super::requests::{ClusterAnswer, Refusal, RefusalReason, Retry};

/// The type of the condition of a resource.
pub(super) const RESOURCE_SUBMITTED: &str = "ResourceSubmitted";

/// Why something did not work, and whether it is tried again by itself.
#[derive(Clone, Debug)]
pub(super) struct Failure {
    /// The status of the condition.
    pub(super) status: &'static str,
    /// The reason of the condition.
    pub(super) reason: &'static str,
    /// What is wrong.
    pub(super) message: String,
    /// Whether time can help.
    pub(super) retry: Retry,
}

impl Failure {
    /// A failure that only a change of something else can end: a watch wakes the object then.
    pub(super) fn lasting(reason: &'static str, message: impl Into<String>) -> Failure {
        Failure {
            status: FALSE,
            reason,
            message: message.into(),
            retry: Retry::No,
        }
    }

    /// Something that is expected to come, with a change that wakes the object.
    pub(super) fn waiting(reason: &'static str, message: impl Into<String>) -> Failure {
        Failure {
            status: UNKNOWN,
            ..Failure::lasting(reason, message)
        }
    }

    /// A refused request that the same request can succeed after.
    pub(super) fn passing(reason: &'static str, what: &str, refusal: &Refusal) -> Failure {
        Failure {
            retry: Retry::Backoff,
            ..Failure::lasting(reason, format!("{what}: {}", refusal.message))
        }
    }

    /// A refused read or write of an object. Only a change of rights helps if they are missing, and
    /// that wakes the object.
    pub(super) fn of_object(reason: &'static str, what: &str, refusal: &Refusal) -> Failure {
        let retry = match refusal.reason {
            RefusalReason::Forbidden => Retry::No,
            _ => Retry::Backoff,
        };
        Failure {
            retry,
            ..Failure::passing(reason, what, refusal)
        }
    }

    /// The condition of a type.
    pub(super) fn condition(&self, condition_type: &str) -> StatusCondition {
        StatusCondition::new(condition_type, self.status, self.reason, &self.message)
    }
}

/// The refusal of an answer; that of an answer which does not fit the request can be repeated.
pub(super) fn refusal_of(answer: ClusterAnswer) -> Refusal {
    match answer {
        ClusterAnswer::Refused(refusal) => refusal,
        ClusterAnswer::Missing => Refusal {
            reason: RefusalReason::Unavailable,
            message: "it does not exist".to_owned(),
        },
        ClusterAnswer::Done | ClusterAnswer::Object(_) | ClusterAnswer::List(_) => Refusal {
            reason: RefusalReason::Unavailable,
            message: "the answer does not fit the request".to_owned(),
        },
    }
}

/// The longer of two waits.
pub(super) fn sooner(one: Retry, other: Retry) -> Retry {
    match (one, other) {
        (Retry::No, Retry::No) => Retry::No,
        _ => Retry::Backoff,
    }
}
