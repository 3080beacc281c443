//! The deletion of the objects of tables.

use std::time::Duration;

use ::provider::json::to_json;
use ::provider::{ApplyRequest, ErrorKind, Operation, ProviderError};
use blueprint::DeleteMode;
use tokio::time::Instant;

use super::collection::{Managed, Status};
use super::handler::patiently;
use super::hooks::Deletion;
use super::mapping::json_of;
use super::table::JsonMap;
use super::{CloudCall, pause};
use crate::client::{Service, ServiceRequest};

/// The time that an object may take until it is gone.
const DELETION: Duration = Duration::from_secs(600);

impl Managed {
    /// Deletes the object of a request, after a snapshot if the request asks for one.
    pub(super) async fn delete_object(
        &self,
        on: CloudCall<'_>,
        request: &ApplyRequest<'_>,
    ) -> Result<(), ProviderError> {
        let id = request.id.unwrap_or_default();
        let spec = json_of(request.prior_inputs)?;
        if request.delete_mode == DeleteMode::SnapshotFirst
            && let Some(object) = self.object(on, &spec, id).await?
        {
            self.hooks.snapshot(on, &object).await?;
        }
        self.hooks.before_delete(on, id, &spec).await?;
        let path = match self.one(on, &spec, id).await {
            Ok(path) => path,
            // The parent is gone, and the object with it.
            Err(error) if self.parent.is_some() && error.kind == ErrorKind::Document => {
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        let call = ServiceRequest::delete(self.service, path);
        match patiently(on, self.busy, Operation::Delete, call).await {
            Ok(_) if self.deletes_later() => self.wait_until_gone(on, &spec, id).await?,
            Ok(_) => {}
            Err(error) if error.is_not_found() => {}
            Err(error) => {
                let in_use = error.status() == Some(409);
                let mut error = error.into_provider_error(true);
                let blockers = match in_use {
                    true => self.hooks.blockers(on, id).await.unwrap_or_default(),
                    false => Vec::new(),
                };
                if !blockers.is_empty() {
                    error.message = format!("{}; used by {}", error.message, blockers.join(", "));
                }
                return Err(error);
            }
        }
        let (private, _) = to_json(request.private).unwrap_or_default();
        self.hooks.after_delete(on, &private).await
    }

    /// Waits until a deleted object does not exist any more.
    async fn wait_until_gone(
        &self,
        on: CloudCall<'_>,
        spec: &JsonMap,
        id: &str,
    ) -> Result<(), ProviderError> {
        let until = Instant::now() + DELETION;
        for before in 0.. {
            let Some(object) = self.object(on, spec, id).await? else {
                break;
            };
            match self.hooks.deletion(on, &object).await? {
                Deletion::Going => {}
                Deletion::ByStatus => {
                    if let Status::Broken(reason) = self.status_of(&object) {
                        return Err(ProviderError::new(ErrorKind::Permanent, reason));
                    }
                }
            }
            if Instant::now() >= until {
                let message = format!("{} has not deleted {id} in time", self.service);
                return Err(ProviderError::new(ErrorKind::TimedOut, message));
            }
            on.wait(pause(before)).await?;
        }
        Ok(())
    }

    /// Whether a deleted object is there for a while.
    fn deletes_later(&self) -> bool {
        !self.state.field.is_empty() && self.service != Service::Network
    }
}
