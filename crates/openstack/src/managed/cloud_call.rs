//! A call of the contract with the cloud that it is for.

use std::time::Duration;

use ::provider::{BoxFuture, Call, ErrorKind, ProviderError, ResourceType};
use blueprint::Name;
use serde_json::Value as Json;
use tokio::time::Instant;

use super::names::{NameCache, ObjectKind, Search};
use crate::client::{Cloud, ServiceAnswer, ServiceError, ServiceRequest};
use crate::heat::{HeatProvider, physical_name};

/// The number of pauses, some seconds together, in which the object of a killed process may appear.
const IN_FLIGHT: u32 = 5;

/// A call of the contract with the cloud that it is for.
#[derive(Clone, Copy)]
pub(crate) struct CloudCall<'a> {
    pub(crate) cloud: &'a Cloud,
    pub(crate) call: &'a Call,
    /// The type in the catalogue.
    pub(crate) ty: &'a ResourceType,
    /// The ids that names were resolved to in this session.
    pub(crate) names: &'a NameCache,
    /// The types that live in the state, for texts that name a configuration by its id.
    pub(crate) heat: &'a HeatProvider,
    /// Whether an id that a template names must exist.
    pub(crate) ids: IdTrust,
}

/// Whether an id that a template names must exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IdTrust {
    /// It is taken as it is: the request that uses it finds out.
    Taken,
    /// It is asked for.
    Checked,
}

impl<'a> CloudCall<'a> {
    /// Sends a request.
    ///
    /// # Errors
    /// As [`Cloud::send`].
    pub(crate) async fn send(
        &self,
        request: ServiceRequest,
    ) -> Result<ServiceAnswer, ServiceError> {
        self.cloud.send(request).await
    }

    /// The body of the answer to a request that changes nothing.
    ///
    /// # Errors
    /// The error of the request.
    pub(crate) async fn get(&self, request: ServiceRequest) -> Result<Json, ProviderError> {
        let answer = self.send(request).await;
        answer
            .map(|answer| answer.body)
            .map_err(|error| error.into_provider_error(false))
    }

    /// The body of the answer to a request that changes something.
    ///
    /// # Errors
    /// The error of the request. Without an answer, its outcome is unknown.
    pub(crate) async fn change(&self, request: ServiceRequest) -> Result<Json, ProviderError> {
        let answer = self.send(request).await;
        answer
            .map(|answer| answer.body)
            .map_err(|error| error.into_provider_error(true))
    }

    /// The id of an object that a template names by its id or its name.
    ///
    /// # Errors
    /// [`ErrorKind::Document`] if no object, or more than one, has the name.
    pub(crate) async fn id_of(
        &self,
        kind: &'static ObjectKind,
        text: &str,
    ) -> Result<String, ProviderError> {
        match self.ids {
            // The document selects such an id, so its own run may make the object. The service
            // refuses a wrong one.
            IdTrust::Checked if matches!(kind.search, Search::ByPath(_)) => Ok(text.to_owned()),
            IdTrust::Taken => self.names.id_of(self.cloud, kind, text).await,
            IdTrust::Checked => self.names.existing(self.cloud, kind, text).await,
        }
    }

    /// The body of the answer to a request for an object that attributes of many others show. It is
    /// asked once in a session, so changes made meanwhile may be missing.
    ///
    /// # Errors
    /// The error of the request.
    pub(crate) async fn get_once(&self, request: ServiceRequest) -> Result<Json, ProviderError> {
        self.names.object(self.cloud, request).await
    }

    /// The generated name of an object that a create with this token makes.
    pub(crate) fn physical_name(&self, token: &str) -> Name {
        let create = Call {
            token: token.into(),
            ..self.call.clone()
        };
        physical_name(&create)
    }

    /// Looks for what an interrupted create made. The service may still work on the request of a
    /// process that was killed, so it may appear late.
    ///
    /// # Errors
    /// The error of `find`, or of a wait that ends early.
    pub(crate) async fn find_late<'f, T, E: From<ProviderError>>(
        &self,
        find: impl Fn() -> BoxFuture<'f, Result<Option<T>, E>>,
    ) -> Result<Option<T>, E> {
        for before in 0..IN_FLIGHT {
            let found = find().await?;
            if found.is_some() {
                return Ok(found);
            }
            self.wait(pause(before)).await?;
        }
        find().await
    }

    /// Waits.
    ///
    /// # Errors
    /// [`ErrorKind::Cancelled`] if the call is cancelled meanwhile.
    pub(crate) async fn wait(&self, time: Duration) -> Result<(), ProviderError> {
        tokio::select! {
            () = self.call.cancel.cancelled() => Err(ProviderError::new(
                ErrorKind::Cancelled,
                "cancelled while the cloud was waited for",
            )),
            () = tokio::time::sleep(time) => Ok(()),
        }
    }
}

/// The time that something in the cloud may take, asked for with growing pauses.
pub(crate) struct Patience {
    until: Instant,
    before: u32,
}

impl Patience {
    /// A limit of some seconds.
    pub(crate) fn of_seconds(seconds: u64) -> Patience {
        Patience {
            until: Instant::now() + Duration::from_secs(seconds),
            before: 0,
        }
    }

    /// Waits before the next question. `what` says what is waited for, as a phrase.
    ///
    /// # Errors
    /// [`ErrorKind::TimedOut`] once the limit is reached; as [`CloudCall::wait`].
    pub(crate) async fn pause(
        &mut self,
        on: CloudCall<'_>,
        what: &str,
    ) -> Result<(), ProviderError> {
        if Instant::now() >= self.until {
            let message = format!("gave up waiting until {what}");
            return Err(ProviderError::new(ErrorKind::TimedOut, message));
        }
        on.wait(pause(self.before)).await?;
        self.before += 1;
        Ok(())
    }
}

/// The pause before a question is repeated, which grows with the number of questions before.
pub(crate) fn pause(before: u32) -> Duration {
    let grown = 250_u64.saturating_mul(1 << before.min(4));
    Duration::from_millis(grown.min(3000))
}
