//! `OS::Heat::DeployedServer`: a machine that exists already, for deployments. Its agent reads the URL
//! of the attribute `os_collect_config`.

use std::sync::Arc;

use ::provider::json::from_json;
use ::provider::{
    Applied, ApplyRequest, BoxFuture, CheckFindings, Observed, ProviderError, ReadOutcome,
    ReadRequest, ResourceType,
};
use blueprint::{Map, Value};

use super::super::signals::need_object_store;
use super::{ServerContainer, TRANSPORT, agent_metadata, check_server_transport};
use crate::heat::uuid;
use crate::managed::{CloudCall, Handler, json_of};
use crate::object_store;

/// The type of machines that exist already.
#[derive(Debug)]
pub(super) struct DeployedServer;

/// The attribute with the URL of the agent.
const AGENT: &str = "os_collect_config";

async fn fields_of(
    on: CloudCall<'_>,
    id: &str,
    inputs: &Value,
    former_name: Option<&Value>,
) -> Result<Value, ProviderError> {
    let spec = json_of(inputs)?;
    let url = ServerContainer::of_create(id).agent_url(on, &spec).await?;
    let mut fields: Map = inputs.as_map().cloned().unwrap_or_default();
    let given = inputs.get("name").filter(|name| !name.is_null());
    let generated = || Value::Text(on.physical_name(&on.call.token));
    let name = given.or(former_name).cloned().unwrap_or_else(generated);
    fields.insert("name".into(), name.clone());
    for (attribute, field) in on.ty.attribute_names() {
        let value = match attribute.as_ref() {
            "name" => name.clone(),
            AGENT => from_json(&agent_metadata(&url)).tainted(true),
            _ => Value::Null,
        };
        fields.insert(field.clone(), value);
    }
    fields.insert("id".into(), Value::text(id));
    Ok(Value::Map(fields.into()))
}

async fn apply(on: CloudCall<'_>, request: &ApplyRequest<'_>) -> Result<Applied, ProviderError> {
    let spec = json_of(request.desired)?;
    let id = match request.id.filter(|id| !id.is_empty()) {
        Some(id) => id.to_owned(),
        None => uuid(on.call, "id").to_string(),
    };
    let container = ServerContainer::of_create(&id);
    let before = json_of(request.prior_inputs)?;
    if before.get("deployment_swift_data") != spec.get("deployment_swift_data")
        && !before.is_empty()
    {
        container.forget_location(on).await?;
    }
    container.record_location(on, &spec).await?;
    container.tell_agent(on).await?;
    let fields = fields_of(on, &id, request.desired, request.prior.get("name")).await?;
    Ok(Applied::ready(id, fields))
}

async fn read(on: CloudCall<'_>, request: ReadRequest<'_>) -> Result<ReadOutcome, ProviderError> {
    // A create without a record is repeated, which changes nothing.
    let Some(id) = request.id.filter(|id| !id.is_empty()) else {
        return Ok(ReadOutcome::Absent);
    };
    let container = ServerContainer::of_create(id);
    if object_store::container(on, container.name())
        .await?
        .is_none()
    {
        return Ok(ReadOutcome::Absent);
    }
    let fields = match request.outputs.is_null() {
        true => fields_of(on, id, request.inputs, None).await?,
        false => request.outputs.clone(),
    };
    Ok(ReadOutcome::Present(Observed {
        id: id.into(),
        fields,
        private: request.private.clone(),
        ..Observed::default()
    }))
}

impl Handler for DeployedServer {
    fn type_name(&self) -> &'static str {
        "OS::Heat::DeployedServer"
    }

    /// The URL of the agent is secret.
    fn adjust(&self, ty: &mut ResourceType) {
        ty.capabilities.finds = true;
        ty.capabilities.imports = false;
        let schema = Arc::make_mut(&mut ty.schema);
        if let Some(field) = schema.fields.get_mut(AGENT) {
            field.sensitive = true;
        }
    }

    fn check<'a>(
        &'a self,
        on: Option<CloudCall<'a>>,
        spec: &'a Value,
        found: &'a mut CheckFindings,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        if let Some(transport) = spec.get(TRANSPORT).and_then(Value::as_text) {
            check_server_transport(on, transport, found);
            if found.diagnostics.is_empty() || transport == "POLL_SERVER_CFN" {
                let way_out = "remove the server, and its deployments";
                need_object_store(on, "", way_out, found);
            }
        }
        Box::pin(std::future::ready(Ok(())))
    }

    fn create<'a>(
        &'a self,
        on: CloudCall<'a>,
        request: &'a ApplyRequest<'a>,
    ) -> BoxFuture<'a, Result<Applied, ProviderError>> {
        Box::pin(apply(on, request))
    }

    fn update<'a>(
        &'a self,
        on: CloudCall<'a>,
        request: &'a ApplyRequest<'a>,
    ) -> BoxFuture<'a, Result<Applied, ProviderError>> {
        Box::pin(apply(on, request))
    }

    fn delete<'a>(
        &'a self,
        on: CloudCall<'a>,
        request: &'a ApplyRequest<'a>,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        let container = ServerContainer::of_create(request.id.unwrap_or_default());
        Box::pin(async move { container.delete(on).await })
    }

    fn read<'a>(
        &'a self,
        on: CloudCall<'a>,
        request: ReadRequest<'a>,
    ) -> BoxFuture<'a, Result<ReadOutcome, ProviderError>> {
        Box::pin(read(on, request))
    }
}
