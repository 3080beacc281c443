//! The operations of a type: the trait of all types.
//!
//! Not here: the handler of the tables (`collection`).

use std::fmt;

use ::provider::{
    Applied, ApplyRequest, BoxFuture, CheckFindings, Observed, Operation, PlanRequest, Planned,
    ProviderError, ReadOutcome, ReadRequest, Readiness, ResourceType,
};
use blueprint::Value;
use tokio::time::Instant;

use super::table::{Busy, Property, Update};
use super::{CloudCall, pause};
use crate::client::{ServiceAnswer, ServiceError, ServiceRequest};

/// A type of resource in a cloud.
pub(crate) trait Handler: Sync + fmt::Debug {
    /// The name of the type.
    fn type_name(&self) -> &'static str;

    /// What becomes of each property; `None` if code alone says it.
    fn table(&self) -> Option<Table> {
        None
    }

    /// Adjusts the type of the catalogue to what the handler does.
    fn adjust(&self, ty: &mut ResourceType) {
        let _ = ty;
    }

    /// Checks a spec beyond the names of objects. Parts that are not known yet count as correct.
    /// Without a cloud, only what the spec alone shows is checked.
    fn check<'a>(
        &'a self,
        on: Option<CloudCall<'a>>,
        spec: &'a Value,
        found: &'a mut CheckFindings,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        let _ = (on, spec, found);
        Box::pin(async { Ok(()) })
    }

    /// Creates the object.
    fn create<'a>(
        &'a self,
        on: CloudCall<'a>,
        request: &'a ApplyRequest<'a>,
    ) -> BoxFuture<'a, Result<Applied, ProviderError>>;

    /// Changes the object.
    fn update<'a>(
        &'a self,
        on: CloudCall<'a>,
        request: &'a ApplyRequest<'a>,
    ) -> BoxFuture<'a, Result<Applied, ProviderError>>;

    /// Deletes the object, and returns when it is gone.
    fn delete<'a>(
        &'a self,
        on: CloudCall<'a>,
        request: &'a ApplyRequest<'a>,
    ) -> BoxFuture<'a, Result<(), ProviderError>>;

    /// Reads the object, or finds it by the token of its create.
    fn read<'a>(
        &'a self,
        on: CloudCall<'a>,
        request: ReadRequest<'a>,
    ) -> BoxFuture<'a, Result<ReadOutcome, ProviderError>>;

    /// Says whether the object is ready.
    fn poll<'a>(
        &'a self,
        on: CloudCall<'a>,
        request: ReadRequest<'a>,
    ) -> BoxFuture<'a, Result<Readiness, ProviderError>> {
        let _ = (on, request);
        Box::pin(async { Ok(Readiness::Ready(Value::Null)) })
    }

    /// Plans a change beyond the catalogue.
    fn plan<'a>(
        &'a self,
        on: CloudCall<'a>,
        request: PlanRequest<'a>,
    ) -> BoxFuture<'a, Result<Planned, ProviderError>> {
        Box::pin(async move { Ok(Planned::by_policy(Some(on.ty), &request)) })
    }
}

/// What becomes of the properties of a type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Table {
    pub(crate) properties: &'static [Property],
    /// How objects are changed.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "tests compare it with the catalogue")
    )]
    pub(crate) update: Update,
}

/// Sends a request again while the service refuses it for a reason that clears with time.
///
/// # Errors
/// The refusal, once it has been awaited; any other error at once.
pub(crate) async fn patiently(
    on: CloudCall<'_>,
    refusals: &[Busy],
    operation: Operation,
    request: ServiceRequest,
) -> Result<ServiceAnswer, ServiceError> {
    let begin = Instant::now();
    let mut before = 0;
    loop {
        let error = match on.send(request.clone()).await {
            Ok(answer) => return Ok(answer),
            Err(error) => error,
        };
        let clears = refusals.iter().any(|busy| {
            busy.operation == operation
                && error.status() == Some(busy.status)
                && (busy.name.is_empty() || error.name.as_deref() == Some(busy.name))
                && error.message.contains(busy.says)
                && begin.elapsed() < busy.patience
        });
        if !clears || on.wait(pause(before)).await.is_err() {
            return Err(error);
        }
        before += 1;
    }
}

/// The call with another token: that of the create that is looked up.
pub(super) fn call_with_token(call: &::provider::Call, token: &str) -> ::provider::Call {
    ::provider::Call {
        token: token.into(),
        ..call.clone()
    }
}

/// The answer for an object that does not exist. If its private data names helper objects, a delete
/// must still remove them, so the resource stays until then.
pub(super) fn absent(request: ReadRequest<'_>) -> ReadOutcome {
    let id = request.id.filter(|id| !id.is_empty());
    let Some(id) = id.filter(|_| !request.private.is_null()) else {
        return ReadOutcome::Absent;
    };
    ReadOutcome::Present(Observed {
        id: id.into(),
        fields: request.outputs.clone(),
        private: request.private.clone(),
        expired: Some("it was deleted, and objects of its own are left".to_owned()),
        ..Observed::default()
    })
}
