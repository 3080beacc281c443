//! A configuration as a session of the contract. It signs in at the first call that needs a cloud.
//!
//! Not here: what a call does (`managed`, `types`, `heat`).

use std::sync::Arc;

use ::provider::{
    Applied, ApplyRequest, BoxFuture, Call, CheckFindings, CheckRequest, ErrorKind, FetchRequest,
    Fetched, InvokeRequest, Operation, PlanRequest, Planned, ProviderError, ReadOutcome,
    ReadRequest, Readiness, ResourceType, Session,
};
use blueprint::{FieldPath, Value};
use tokio::sync::OnceCell;

use crate::client::{Cloud, CloudSettings};
use crate::heat::HeatProvider;
use crate::managed::{CloudCall, Handler, IdTrust, NameCache, json_of, wrong_names};
use crate::provider_types::{CATALOG, resource_type};
use crate::types::constraints::broken_rules;
use crate::{data, functions, types};

/// A configured cloud.
pub(crate) struct OpenStackSession {
    heat: Arc<HeatProvider>,
    settings: CloudSettings,
    /// Whether the session only checks.
    offline: bool,
    /// The cloud, or why it cannot be signed in to. Refused credentials are not tried again, which
    /// could lock the account.
    cloud: OnceCell<Result<Cloud, ProviderError>>,
    names: NameCache,
}

/// A type with its handler.
struct TypeOfCall {
    handler: &'static dyn Handler,
    ty: Arc<ResourceType>,
}

impl OpenStackSession {
    pub(crate) fn new(
        heat: Arc<HeatProvider>,
        settings: CloudSettings,
        offline: bool,
    ) -> OpenStackSession {
        OpenStackSession {
            heat,
            settings,
            offline,
            cloud: OnceCell::new(),
            names: NameCache::default(),
        }
    }

    /// The cloud, which is signed in to now if it is not yet.
    async fn cloud(&self) -> Result<&Cloud, ProviderError> {
        if self.offline {
            let message = "this session only checks documents";
            return Err(ProviderError::new(ErrorKind::Permanent, message));
        }
        let connect = || async {
            match Cloud::connect(&self.settings).await {
                Err(error) if error.kind != ErrorKind::Credentials => Err(error),
                connected => Ok(connected),
            }
        };
        let connected = self.cloud.get_or_try_init(connect).await?;
        connected.as_ref().map_err(Clone::clone)
    }

    /// Refuses names that no object of the cloud has, before anything changes.
    async fn check_names(
        &self,
        call: &Call,
        request: CheckRequest<'_>,
    ) -> Result<CheckFindings, ProviderError> {
        let mut findings = CheckFindings::default();
        let found = found(request.type_name)?;
        if self.offline {
            let checked = found.handler.check(None, request.spec, &mut findings);
            checked.await?;
            return Ok(findings);
        }
        let on = CloudCall {
            ids: IdTrust::Checked,
            ..self.on(call, &found).await?
        };
        let checked = found.handler.check(Some(on), request.spec, &mut findings);
        checked.await?;
        let properties = found
            .handler
            .table()
            .map_or(&[][..], |table| table.properties);
        let wrong = wrong_names(on, properties, request.spec).await?;
        let broken = broken_rules(on, &json_of(request.spec)?).await?;
        // A rule of the catalogue says the same as a reference of the table.
        let is_new = |(path, _): &(FieldPath, String)| wrong.iter().all(|(known, _)| known != path);
        let broken: Vec<_> = broken.into_iter().filter(is_new).collect();
        for (path, reason) in wrong.into_iter().chain(broken) {
            findings.refuse(path, reason);
        }
        Ok(findings)
    }

    async fn on<'a>(
        &'a self,
        call: &'a Call,
        found: &'a TypeOfCall,
    ) -> Result<CloudCall<'a>, ProviderError> {
        Ok(CloudCall {
            cloud: self.cloud().await?,
            call,
            ty: &found.ty,
            names: &self.names,
            heat: &self.heat,
            ids: IdTrust::Taken,
        })
    }
}

/// The type of a call with its handler.
fn found(type_name: &str) -> Result<TypeOfCall, ProviderError> {
    let handler = types::handler(type_name);
    let found = handler.zip(resource_type(type_name));
    let found = found.map(|(handler, ty)| TypeOfCall { handler, ty });
    found.ok_or_else(|| {
        let message = format!("no cloud is asked for objects of the type `{type_name}`");
        ProviderError::new(ErrorKind::Document, message)
    })
}

/// Whether a type needs no cloud.
fn is_of_heat(type_name: &str) -> bool {
    type_name.starts_with("OS::Heat::") && types::handler(type_name).is_none()
}

impl Session for OpenStackSession {
    fn check<'a>(
        &'a self,
        call: &'a Call,
        request: CheckRequest<'a>,
    ) -> BoxFuture<'a, Result<CheckFindings, ProviderError>> {
        match is_of_heat(request.type_name) {
            true => self.heat.check(call, request),
            false => Box::pin(self.check_names(call, request)),
        }
    }

    fn read<'a>(
        &'a self,
        call: &'a Call,
        request: ReadRequest<'a>,
    ) -> BoxFuture<'a, Result<ReadOutcome, ProviderError>> {
        if is_of_heat(request.type_name) {
            return self.heat.read(call, request);
        }
        Box::pin(async move {
            let found = found(request.type_name)?;
            let on = self.on(call, &found).await?;
            // The read after a delete that was cut off has no inputs. The fields contain them.
            let inputs = match request.token {
                Some(_) if request.inputs.is_null() => request.outputs,
                _ => request.inputs,
            };
            let request = ReadRequest { inputs, ..request };
            found.handler.read(on, request).await
        })
    }

    fn plan<'a>(
        &'a self,
        call: &'a Call,
        request: PlanRequest<'a>,
    ) -> BoxFuture<'a, Result<Planned, ProviderError>> {
        if is_of_heat(request.type_name) {
            return self.heat.plan(call, request);
        }
        Box::pin(async move {
            let found = found(request.type_name)?;
            let on = self.on(call, &found).await?;
            found.handler.plan(on, request).await
        })
    }

    fn apply<'a>(
        &'a self,
        call: &'a Call,
        request: ApplyRequest<'a>,
    ) -> BoxFuture<'a, Result<Applied, ProviderError>> {
        if is_of_heat(request.type_name) {
            return self.heat.apply(call, request);
        }
        Box::pin(async move {
            if call.cancel.is_cancelled() {
                let message = "cancelled before anything was done";
                return Err(ProviderError::new(ErrorKind::Cancelled, message));
            }
            let found = found(request.type_name)?;
            let on = self.on(call, &found).await?;
            match request.operation {
                Operation::Create => found.handler.create(on, &request).await,
                Operation::Update => found.handler.update(on, &request).await,
                Operation::Delete => {
                    found.handler.delete(on, &request).await?;
                    Ok(Applied::deleted())
                }
            }
        })
    }

    fn fetch<'a>(
        &'a self,
        _call: &'a Call,
        request: FetchRequest<'a>,
    ) -> BoxFuture<'a, Result<Fetched, ProviderError>> {
        Box::pin(async move {
            let ty = CATALOG.data_source_type(request.type_name);
            let schema = ty.map(|ty| ty.schema.clone()).unwrap_or_default();
            data::fetch(self.cloud().await?, &schema, request).await
        })
    }

    fn invoke<'a>(
        &'a self,
        _call: &'a Call,
        request: InvokeRequest<'a>,
    ) -> BoxFuture<'a, Result<Value, ProviderError>> {
        Box::pin(async move { functions::invoke(self.cloud().await?, &self.names, request).await })
    }

    fn poll_ready<'a>(
        &'a self,
        call: &'a Call,
        request: ReadRequest<'a>,
    ) -> BoxFuture<'a, Result<Readiness, ProviderError>> {
        if is_of_heat(request.type_name) {
            return self.heat.poll_ready(call, request);
        }
        Box::pin(async move {
            let found = found(request.type_name)?;
            let on = self.on(call, &found).await?;
            found.handler.poll(on, request).await
        })
    }
}
