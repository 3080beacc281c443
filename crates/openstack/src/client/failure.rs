//! Why a request failed, and the error of the contract that it becomes.

use std::time::Duration;

use ::provider::{ErrorKind, ProviderError};
use serde_json::Value as Json;

use super::Service;

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

    /// The error of an answer with this status and body.
    pub(crate) fn answered(service: Service, status: u16, body: &Json) -> ServiceError {
        let (name, message) = described(body);
        ServiceError {
            service,
            delivery: Delivery::Answered(status),
            name,
            message: message.unwrap_or_else(|| format!("the service answered with {status}")),
            request_id: None,
            retry_after: None,
        }
    }

    /// The error of the contract. `changes` says whether the request could change something.
    pub(crate) fn into_provider_error(self, changes: bool) -> ProviderError {
        let kind = match self.delivery {
            Delivery::NotSent => ErrorKind::Transient,
            Delivery::Lost if changes => ErrorKind::OutcomeUnknown,
            Delivery::Lost => ErrorKind::Transient,
            Delivery::Answered(status) => self.kind_of_answer(status),
        };
        let mut message = format!("{}: {}", self.service, self.message);
        if let Some(id) = &self.request_id {
            message.push_str(&format!(" (request {id})"));
        }
        let error = ProviderError::new(kind, message);
        let error = match self.retry_after {
            Some(pause) => error.with_retry_after(pause),
            None => error,
        };
        match self.delivery {
            Delivery::NotSent => error.without_effect(),
            Delivery::Lost | Delivery::Answered(_) => error,
        }
    }

    fn kind_of_answer(&self, status: u16) -> ErrorKind {
        match status {
            401 | 403 => ErrorKind::Credentials,
            404 => ErrorKind::NotFound,
            409 | 412 => ErrorKind::Conflict,
            413 | 429 => ErrorKind::Throttled,
            500..=599 => ErrorKind::Transient,
            _ => ErrorKind::Document,
        }
    }
}

/// The name and the message of an error, in the forms of the services.
fn described(body: &Json) -> (Option<String>, Option<String>) {
    let text = |json: &Json| json.as_str().map(str::to_owned);
    let wrapped = body.as_object().and_then(|entries| entries.iter().next());
    let Some((name, inner)) = wrapped else {
        return (None, None);
    };
    match inner {
        Json::Object(_) => {
            let kind = text(&inner["type"]).or_else(|| Some(name.clone()));
            (kind, text(&inner["message"]))
        }
        _ => (
            None,
            text(&body["message"]).or_else(|| text(&body["faultstring"])),
        ),
    }
}
