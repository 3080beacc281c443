//! `OS::Heat::SoftwareDeployment` and `OS::Heat::StructuredDeployment`.

use ::provider::json::{from_json, to_json};
use ::provider::{
    Applied, ApplyRequest, BoxFuture, CheckFindings, ErrorKind, Observed, PlanRequest, Planned,
    ProviderError, ReadOutcome, ReadRequest, Readiness, Ready, ResourceType,
};
use blueprint::{FieldPath, Map, Value};
use serde_json::{Value as Json, json};

use super::super::signals::{
    NO_SIGNAL, SignalObject, TEMP_URL_SIGNAL, check_transport, need_object_store,
};
use super::derived::{DeploymentFacts, InputReferences, SourceConfig};
use super::outcome::{DeploymentOutcome, outcome};
use super::server_container::{ServerContainer, has_server};
use crate::heat::uuid;
use crate::managed::{CloudCall, Handler, JsonMap, Patience, json_of};

/// The seconds that a deployment before a delete may take.
const DELETION: u64 = 3600;

/// A type of deployments.
#[derive(Debug)]
pub(super) struct Deployment {
    name: &'static str,
    /// Whether its configuration is data with references to inputs.
    structured: bool,
}

pub(super) static SOFTWARE: Deployment = Deployment {
    name: "OS::Heat::SoftwareDeployment",
    structured: false,
};

pub(super) static STRUCTURED: Deployment = Deployment {
    name: "OS::Heat::StructuredDeployment",
    structured: true,
};

/// What the record of a deployment keeps besides its fields.
struct DeploymentRecord {
    /// The container of the server.
    container: ServerContainer,
    /// The object of the signal; `None` without signals.
    signal: Option<SignalObject>,
    /// The outputs of the configuration, each with whether a value in it is an error.
    outputs: Vec<(String, bool)>,
}

impl DeploymentRecord {
    fn to_private(&self) -> Value {
        let signal = self.signal.as_ref().map(SignalObject::container);
        from_json(&json!({
            "container": self.container.name(), "signal": signal, "outputs": self.outputs,
        }))
    }

    /// The record in the private data; `None` if the deployment was never carried out.
    fn of_private(private: &Value) -> Option<DeploymentRecord> {
        let (private, _) = to_json(private).ok()?;
        let outputs = private.get("outputs").cloned();
        let outputs = outputs.and_then(|it| serde_json::from_value(it).ok());
        Some(DeploymentRecord {
            container: ServerContainer::with_name(private["container"].as_str()?),
            signal: private["signal"].as_str().map(SignalObject::of_resource),
            outputs: outputs.unwrap_or_default(),
        })
    }
}

fn text<'s>(spec: &'s JsonMap, name: &str) -> Option<&'s str> {
    spec.get(name)
        .and_then(Json::as_str)
        .filter(|it| !it.is_empty())
}

/// The configuration that a spec names.
///
/// # Errors
/// [`ErrorKind::Document`] if none with the id was created or read in this run.
fn source_of(on: CloudCall<'_>, spec: &JsonMap) -> Result<SourceConfig, ProviderError> {
    let Some(id) = text(spec, "config") else {
        return Ok(SourceConfig::empty());
    };
    let fields = on.heat.config_fields(id).ok_or_else(|| {
        let message = format!("no configuration with the id {id} was created or read in this run");
        ProviderError::new(ErrorKind::Document, message).at("config")
    })?;
    Ok(SourceConfig::of(&fields.revealed()))
}

/// Whether an action triggers a deployment.
fn is_triggered(spec: &JsonMap, source: &SourceConfig, action: &str) -> bool {
    match source.component_actions() {
        Some(actions) => actions.contains(&action),
        None => {
            let actions = spec.get("actions").and_then(Json::as_array);
            actions.is_none_or(|actions| actions.iter().any(|it| it == action))
        }
    }
}

impl Deployment {
    /// The fields of a deployment with these outputs.
    fn fields(id: &str, spec: &Value, outputs: &JsonMap) -> Value {
        let mut fields: Map = spec.as_map().cloned().unwrap_or_default();
        for name in [
            "deploy_stdout",
            "deploy_stderr",
            "deploy_status_code",
            "show",
        ] {
            fields.insert(name.into(), Value::Null);
        }
        // An output does not take the place of a property.
        let own = |name: &str| spec.get(name).is_some();
        let outputs = outputs.iter().filter(|(name, _)| !own(name));
        fields.extend(outputs.map(|(name, value)| (name.as_str().into(), from_json(value))));
        fields.insert("id".into(), Value::text(id));
        Value::Map(fields.into())
    }

    /// Gives the server the configuration of an action. Returns what is recorded.
    async fn deploy(
        &self,
        on: CloudCall<'_>,
        (id, action): (&str, &str),
        spec: &JsonMap,
        source: &SourceConfig,
    ) -> Result<DeploymentRecord, ProviderError> {
        let server = text(spec, "server").unwrap_or_default();
        let container = ServerContainer::of_server(on, server).await?;
        let signal = match text(spec, "signal_transport") {
            Some(NO_SIGNAL) => None,
            _ => Some(SignalObject::of_resource(&format!("cyan-deployment-{id}"))),
        };
        let derived_id = uuid(on.call, "derived").to_string();
        let before = container.deployment(on, id).await?;
        let record = DeploymentRecord {
            container,
            signal,
            outputs: source.outputs(),
        };
        // A try that is repeated must not lose the signal of the first one.
        let before = before.unwrap_or_default();
        if before["id"] == derived_id.as_str() {
            record.container.tell_agent(on).await?;
            return Ok(record);
        }
        let url = match &record.signal {
            Some(signal) => {
                signal.open(on, false).await?;
                Some(signal.url(on).await?)
            }
            None => None,
        };
        let generated = on.physical_name(&on.call.token);
        // Agents carry deployments out by their names, so an update keeps a generated one.
        let former = before["name"].as_str().unwrap_or(&generated);
        let name = text(spec, "name").unwrap_or(former);
        let facts = DeploymentFacts {
            action,
            server,
            stack: &on.call.instance,
            resource: &on.call.address.name,
            transport: if url.is_some() {
                TEMP_URL_SIGNAL
            } else {
                NO_SIGNAL
            },
            signal: url.as_deref(),
        };
        let values = spec.get("input_values").and_then(Json::as_object);
        let values = values.cloned().unwrap_or_default();
        let references = self.structured.then(|| InputReferences {
            key: text(spec, "input_key").unwrap_or("get_input"),
            strict: text(spec, "input_values_validate") == Some("STRICT"),
        });
        let derived = source.derived((&derived_id, name), &values, &facts, references.as_ref());
        let derived = derived.map_err(|input| {
            let message =
                format!("the configuration refers to the input `{input}`, which has no value");
            ProviderError::new(ErrorKind::Document, message).at("input_values")
        })?;
        record.container.set_deployment(on, id, &derived).await?;
        Ok(record)
    }

    async fn apply_action(
        &self,
        on: CloudCall<'_>,
        request: &ApplyRequest<'_>,
        action: &str,
    ) -> Result<Applied, ProviderError> {
        let spec = json_of(request.desired)?;
        let source = source_of(on, &spec)?;
        let id = match request.id.filter(|id| !id.is_empty()) {
            Some(id) => id.to_owned(),
            None => uuid(on.call, "id").to_string(),
        };
        let nothing = JsonMap::new();
        if !is_triggered(&spec, &source, action) {
            let mut applied =
                Applied::ready(id.as_str(), Self::fields(&id, request.desired, &nothing));
            if action != "CREATE" {
                applied.fields = with_former_outputs(applied.fields, request.prior);
                applied.private = request.private.clone();
            }
            return Ok(applied);
        }
        let record = self.deploy(on, (&id, action), &spec, &source).await?;
        let ready = match record.signal {
            Some(_) => Ready::Pending,
            None => Ready::Yes,
        };
        Ok(Applied {
            ready,
            private: record.to_private(),
            ..Applied::ready(id.as_str(), Self::fields(&id, request.desired, &nothing))
        })
    }

    async fn poll_signal(
        &self,
        on: CloudCall<'_>,
        request: ReadRequest<'_>,
    ) -> Result<Readiness, ProviderError> {
        let Some(record) = DeploymentRecord::of_private(request.private) else {
            return Ok(Readiness::Ready(Value::Null));
        };
        Ok(match answer_of(on, &record).await? {
            Some(DeploymentOutcome::Complete(outputs)) => {
                let id = request.id.unwrap_or_default();
                Readiness::Ready(Self::fields(id, request.inputs, &outputs))
            }
            Some(DeploymentOutcome::Failed(reason)) => Readiness::Broken(vec![reason.into()]),
            None => Readiness::NotYet {
                why: Some("the server has not answered yet".into()),
                fields: Value::Null,
            },
        })
    }

    /// Lets the server carry out the deployment for the deletion, if the spec wants that.
    async fn deploy_deletion(
        on: CloudCall<'_>,
        (id, spec): (&str, &JsonMap),
        record: &DeploymentRecord,
    ) -> Result<(), ProviderError> {
        let Some(mut config) = record.container.deployment(on, id).await? else {
            return Ok(());
        };
        let wants = is_triggered(
            spec,
            &SourceConfig::of(&from_json(&config["config"])),
            "DELETE",
        );
        let server = text(spec, "server").unwrap_or_default();
        if !wants || !has_server(on, server).await? {
            return Ok(());
        }
        let derived_id = uuid(on.call, "derived").to_string();
        if config["id"] != derived_id.as_str() {
            config["id"] = json!(derived_id);
            let inputs = config["inputs"].as_array_mut().into_iter().flatten();
            for input in inputs.filter(|input| input["name"] == "deploy_action") {
                input["value"] = json!("DELETE");
            }
            if let Some(signal) = &record.signal {
                signal.open(on, false).await?;
            }
            record.container.set_deployment(on, id, &config).await?;
        }
        let mut patience = Patience::of_seconds(DELETION);
        while record.signal.is_some() && has_server(on, server).await? {
            match answer_of(on, record).await? {
                Some(DeploymentOutcome::Complete(_)) => break,
                Some(DeploymentOutcome::Failed(reason)) => {
                    return Err(ProviderError::new(ErrorKind::Permanent, reason));
                }
                None => {
                    let what = "the server has carried out the deployment for the deletion";
                    patience.pause(on, what).await?;
                }
            }
        }
        Ok(())
    }

    async fn delete_deployment(
        on: CloudCall<'_>,
        request: &ApplyRequest<'_>,
    ) -> Result<(), ProviderError> {
        let id = request.id.unwrap_or_default();
        let spec = json_of(request.prior_inputs)?;
        let Some(record) = DeploymentRecord::of_private(request.private) else {
            return Ok(());
        };
        Self::deploy_deletion(on, (id, &spec), &record).await?;
        record.container.remove_deployment(on, id).await?;
        match &record.signal {
            Some(signal) => signal.close(on).await,
            None => Ok(()),
        }
    }
}

/// What the server has answered; `None` if it has not yet.
async fn answer_of(
    on: CloudCall<'_>,
    record: &DeploymentRecord,
) -> Result<Option<DeploymentOutcome>, ProviderError> {
    let Some(signal) = &record.signal else {
        return Ok(Some(DeploymentOutcome::Complete(JsonMap::new())));
    };
    let Some(signals) = signal.signals(on).await? else {
        let reason = "the container for the answer of the server was deleted";
        return Ok(Some(DeploymentOutcome::Failed(reason.to_owned())));
    };
    let last = signals.last();
    Ok(last.map(|last| outcome(&record.outputs, last)))
}

/// Fields with the outputs of the last deployment.
fn with_former_outputs(fields: Value, former: &Value) -> Value {
    let mut all: Map = former.as_map().cloned().unwrap_or_default();
    let fields = fields.as_map().cloned().unwrap_or_default();
    let known = fields.into_iter().filter(|(_, value)| !value.is_null());
    all.extend(known);
    Value::Map(all.into())
}

/// The inputs whose changed values replace a deployment.
fn replacing_inputs(source: &SourceConfig, prior: &JsonMap, desired: &JsonMap) -> bool {
    let value = |spec: &JsonMap, name: &str| {
        let values = spec.get("input_values").and_then(Json::as_object);
        values.and_then(|values| values.get(name)).cloned()
    };
    let mut inputs = source.replacing_inputs();
    inputs.any(|name| value(prior, name) != value(desired, name))
}

impl Handler for Deployment {
    fn type_name(&self) -> &'static str {
        self.name
    }

    fn adjust(&self, ty: &mut ResourceType) {
        ty.capabilities.finds = true;
        ty.capabilities.imports = false;
    }

    fn check<'a>(
        &'a self,
        on: Option<CloudCall<'a>>,
        spec: &'a Value,
        found: &'a mut CheckFindings,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        let transport = spec.get("signal_transport").and_then(Value::as_text);
        match transport {
            // The agent reads its deployments through Swift in any case.
            Some(NO_SIGNAL) => {
                let way_out = "put the configuration into `user_data`";
                need_object_store(on, "", way_out, found);
            }
            Some(transport) => check_transport(on, "signal_transport", transport, found),
            None => {}
        }
        Box::pin(std::future::ready(Ok(())))
    }

    fn create<'a>(
        &'a self,
        on: CloudCall<'a>,
        request: &'a ApplyRequest<'a>,
    ) -> BoxFuture<'a, Result<Applied, ProviderError>> {
        Box::pin(self.apply_action(on, request, "CREATE"))
    }

    fn update<'a>(
        &'a self,
        on: CloudCall<'a>,
        request: &'a ApplyRequest<'a>,
    ) -> BoxFuture<'a, Result<Applied, ProviderError>> {
        Box::pin(self.apply_action(on, request, "UPDATE"))
    }

    fn delete<'a>(
        &'a self,
        on: CloudCall<'a>,
        request: &'a ApplyRequest<'a>,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(Self::delete_deployment(on, request))
    }

    /// Returns the record. A create without one is repeated, which changes nothing.
    fn read<'a>(
        &'a self,
        _on: CloudCall<'a>,
        request: ReadRequest<'a>,
    ) -> BoxFuture<'a, Result<ReadOutcome, ProviderError>> {
        let id = request.id.filter(|id| !id.is_empty());
        let read = match id.filter(|_| !request.outputs.is_null()) {
            None => ReadOutcome::Absent,
            Some(id) => ReadOutcome::Present(Observed {
                id: id.into(),
                fields: request.outputs.clone(),
                private: request.private.clone(),
                ..Observed::default()
            }),
        };
        Box::pin(std::future::ready(Ok(read)))
    }

    fn poll<'a>(
        &'a self,
        on: CloudCall<'a>,
        request: ReadRequest<'a>,
    ) -> BoxFuture<'a, Result<Readiness, ProviderError>> {
        Box::pin(self.poll_signal(on, request))
    }

    fn plan<'a>(
        &'a self,
        on: CloudCall<'a>,
        request: PlanRequest<'a>,
    ) -> BoxFuture<'a, Result<Planned, ProviderError>> {
        Box::pin(async move {
            let mut planned = Planned::by_policy(Some(on.ty), &request);
            let (prior, desired) = (json_of(request.prior_inputs)?, json_of(request.desired)?);
            // A configuration that is not known yet says nothing about its inputs.
            let source = source_of(on, &desired);
            if source.is_ok_and(|source| replacing_inputs(&source, &prior, &desired)) {
                planned.replaces.push(FieldPath::from("input_values"));
            }
            Ok(planned)
        })
    }
}
