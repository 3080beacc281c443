//! Why a request failed, and the error of the contract that it becomes.
//!
//! Not here: how the services write their errors (`error_body`).

use std::time::Duration;

use ::provider::{ErrorKind, ProviderError, SessionFailure};

use super::Service;
use super::error_body::described;

/// How far a failed request came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Delivery {
    /// It was not sent: nothing happened.
    NotSent,
    /// It was sent, and no answer came: it may have taken effect.
    Lost,
    /// The service answered with this status.
    Answered(u16),
}

/// A request that failed.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub(crate) struct ServiceError {
    pub(crate) service: Service,
    pub(crate) delivery: Delivery,
    /// The service's name for the failure, such as Neutron's `NetworkInUse`.
    pub(crate) name: Option<String>,
    /// The service's message, without secrets.
    pub(crate) message: String,
    pub(crate) request_id: Option<String>,
    /// The time that the service asked to wait.
    pub(crate) retry_after: Option<Duration>,
    /// The class of the error, if it does not follow from how far the request came.
    pub(super) class: Option<ErrorKind>,
    /// The configuration that can no longer be used, if the error concerns all its requests.
    pub(super) session: Option<Box<SessionFailure>>,
}

impl ServiceError {
    /// The status, if the service answered.
    pub(crate) fn status(&self) -> Option<u16> {
        match self.delivery {
            Delivery::Answered(status) => Some(status),
            Delivery::NotSent | Delivery::Lost => None,
        }
    }

    /// Whether the object does not exist.
    pub(crate) fn is_not_found(&self) -> bool {
        self.status() == Some(404)
    }

    /// The error of a request that was not sent.
    pub(super) fn not_sent(service: Service, message: impl Into<String>) -> ServiceError {
        ServiceError {
            service,
            delivery: Delivery::NotSent,
            name: None,
            message: message.into(),
            request_id: None,
            retry_after: None,
            class: None,
            session: None,
        }
    }

    /// The error of a request whose answer did not come, or is not usable.
    pub(super) fn lost(service: Service, message: impl Into<String>) -> ServiceError {
        ServiceError {
            delivery: Delivery::Lost,
            ..ServiceError::not_sent(service, message)
        }
    }

    /// The error of an answer with this status and body.
    pub(super) fn answered(service: Service, status: u16, body: &[u8]) -> ServiceError {
        let described = described(body);
        let message = described.message;
        let message = message.unwrap_or_else(|| format!("the service answered with {status}"));
        ServiceError {
            delivery: Delivery::Answered(status),
            name: described.name,
            ..ServiceError::not_sent(service, message)
        }
    }

    /// Sets the class of the error.
    pub(super) fn of_class(self, class: ErrorKind) -> ServiceError {
        ServiceError {
            class: Some(class),
            ..self
        }
    }

    /// The error of the contract. `changes` says whether the request could change something.
    pub(crate) fn into_provider_error(self, changes: bool) -> ProviderError {
        let kind = self.class.unwrap_or(match self.delivery {
            Delivery::NotSent => ErrorKind::Transient,
            Delivery::Lost if changes => ErrorKind::OutcomeUnknown,
            Delivery::Lost => ErrorKind::Transient,
            Delivery::Answered(status) => self.class_of_answer(status),
        });
        let mut message = format!("{}: {}", self.service, self.message);
        if let Some(id) = &self.request_id {
            message.push_str(&format!(" (request {id})"));
        }
        ProviderError {
            retry_after: self.retry_after,
            did_nothing: self.delivery == Delivery::NotSent,
            session: self.session,
            ..ProviderError::new(kind, message)
        }
    }

    /// The class of an answer. A refusal by policy (403) or by a quota (Nova 403, Neutron 409, Cinder
    /// 413) does not clear by itself, and another sign-in does not help.
    fn class_of_answer(&self, status: u16) -> ErrorKind {
        match status {
            401 => ErrorKind::Credentials,
            404 => ErrorKind::NotFound,
            409 if self.is_quota() => ErrorKind::Permanent,
            409 | 412 => ErrorKind::Conflict,
            413 if self.is_rate_limit() => ErrorKind::Throttled,
            429 => ErrorKind::Throttled,
            300..=399 | 403 | 405 | 406 | 413 | 501 => ErrorKind::Permanent,
            408 | 425 | 500..=599 => ErrorKind::Transient,
            _ => ErrorKind::Document,
        }
    }

    /// Whether a quota refuses the request.
    fn is_quota(&self) -> bool {
        let name = self.name.as_deref().unwrap_or_default();
        name == "OverQuota" || self.message.to_lowercase().contains("quota exceeded")
    }

    /// Whether the service limits the rate. Services before 2014 answered so with 413.
    fn is_rate_limit(&self) -> bool {
        let message = self.message.to_lowercase();
        message.contains("rate-limit") || message.contains("rate limit")
    }

    /// The error with each of the texts replaced, because a service or a proxy may repeat what it was
    /// sent.
    pub(super) fn without(mut self, secrets: &[String]) -> ServiceError {
        // Short texts occur in words by chance.
        for secret in secrets.iter().filter(|secret| secret.len() >= 4) {
            if self.message.contains(secret) {
                self.message = self.message.replace(secret, "(secret)");
            }
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_give_the_class_of_the_error() {
        let quota = r#"{"overLimit": {"code": 413, "message": "VolumeLimitExceeded: Maximum number of volumes allowed (10) exceeded for quota 'volumes'.", "retryAfter": "0"}}"#;
        let rate = r#"{"overLimit": {"code": 413, "message": "This request was rate-limited."}}"#;
        let over = r#"{"NeutronError": {"type": "OverQuota", "message": "Quota exceeded for resources: ['port'].", "detail": ""}}"#;
        let busy =
            r#"{"NeutronError": {"type": "NetworkInUse", "message": "in use", "detail": ""}}"#;
        let nova = r#"{"forbidden": {"code": 403, "message": "Quota exceeded for instances: Requested 1, but already used 10 of 10 instances"}}"#;
        for (status, body, class) in [
            (400, "", ErrorKind::Document),
            (401, "", ErrorKind::Credentials),
            (403, nova, ErrorKind::Permanent),
            (404, "", ErrorKind::NotFound),
            (409, over, ErrorKind::Permanent),
            (409, busy, ErrorKind::Conflict),
            (413, quota, ErrorKind::Permanent),
            (413, rate, ErrorKind::Throttled),
            (429, "", ErrorKind::Throttled),
            (500, "", ErrorKind::Transient),
            (503, "", ErrorKind::Transient),
        ] {
            let error = ServiceError::answered(Service::Network, status, body.as_bytes());
            let error = error.into_provider_error(true);
            assert_eq!(error.kind, class, "{status} {body}");
            assert!(!error.did_nothing);
        }
    }

    #[test]
    fn a_lost_change_has_an_unknown_outcome() {
        let lost = ServiceError::lost(Service::Compute, "reset");
        assert_eq!(
            lost.clone().into_provider_error(true).kind,
            ErrorKind::OutcomeUnknown
        );
        assert_eq!(lost.into_provider_error(false).kind, ErrorKind::Transient);
        let not_sent = ServiceError::not_sent(Service::Compute, "refused");
        let not_sent = not_sent.into_provider_error(true);
        assert_eq!(
            (not_sent.kind, not_sent.did_nothing),
            (ErrorKind::Transient, true)
        );
    }

    #[test]
    fn secrets_are_replaced_in_messages() {
        let error = ServiceError::answered(Service::Image, 400, b"bad token hunter22");
        let error = error.without(&["hunter22".to_owned(), "a".to_owned()]);
        assert_eq!(error.message, "bad token (secret)");
    }
}
