//! A configured package as a session of the contract: the calls about its resources and functions.
//!
//! Secrets are removed from the messages of a plugin. A stopped call that changes something gets
//! some seconds to end. Cancel is not sent then, because it would also end the calls about other
//! resources; it is sent when the session ends.

use std::sync::Arc;

use blueprint::{FieldPath, Name, Value};
use plugin_host::{CallEffect, ChangeRequest};
use provider::{
    Applied, ApplyRequest, Arguments, BoxFuture, Call, Candidate, ErrorKind, FetchRequest, Fetched,
    ImportRequest, Imported, InvokeRequest, Observed, Operation, PlanMode, PlanRequest, Planned,
    ProviderDiagnostic, ProviderError, ReadOutcome, ReadRequest, Ready, Scrubber, TypeSource as _,
};
use pulumi_wire::schema::{PackageTypes, ResourceFacts, read_resource_type};
use pulumi_wire::{Phase, differences, mark_like_inputs};

use crate::failure::CallFailure;
use crate::fields::{Private, complete_fields};
use crate::files::ProgramFiles;
use crate::names::{ResourceName, existing_urn};
use crate::planning::{current, plan_change, plan_with_unknown_settings, target};
use crate::problems::{error_of, refusals};
use crate::process::PackageProcess;
use crate::session::{CallTarget, Desired, Invoked, PluginSession, ReadResult, RecordedResource};

/// A configured package.
pub(crate) struct ManagedPackage {
    types: Arc<PackageTypes>,
    package: Name,
    /// `None` while the settings are unknown.
    process: Option<Arc<PackageProcess>>,
    settings: Value,
}

impl ManagedPackage {
    pub(crate) fn new(
        types: Arc<PackageTypes>,
        package: Name,
        process: Option<Arc<PackageProcess>>,
        settings: Value,
    ) -> ManagedPackage {
        ManagedPackage {
            types,
            package,
            process,
            settings,
        }
    }

    fn facts(&self, type_name: &str) -> Result<Arc<ResourceFacts>, ProviderError> {
        let facts = self.types.resource_facts(type_name);
        let refused =
            |why: &str| ProviderError::new(ErrorKind::Document, format!("`{type_name}` {why}"));
        match facts {
            None => Err(refused("is no resource type of its package")),
            Some(facts) if facts.component => {
                Err(refused("is a component, which only programs can construct"))
            }
            Some(facts) => Ok(facts),
        }
    }

    fn process(&self) -> Result<&Arc<PackageProcess>, ProviderError> {
        self.process.as_ref().ok_or_else(|| {
            let message = format!("the settings of `{}` are not known yet", self.package);
            ProviderError::new(ErrorKind::Permanent, message)
        })
    }

    async fn plan_with(
        &self,
        call: &Call,
        request: PlanRequest<'_>,
    ) -> Result<Planned, ProviderError> {
        if request.mode == PlanMode::Delete {
            return Ok(Planned::default());
        }
        let facts = self.facts(request.type_name)?;
        let Some(process) = &self.process else {
            return Ok(plan_with_unknown_settings(
                &self.package,
                &facts,
                call,
                &request,
            ));
        };
        let asking = async {
            let (_lease, session) = process.session().await?;
            plan_change(&session, &facts, call, &request, &self.settings).await
        };
        process.run_reading(call, asking).await
    }

    async fn apply_with(
        &self,
        call: &Call,
        request: ApplyRequest<'_>,
    ) -> Result<Applied, ProviderError> {
        let facts = self.facts(request.type_name)?;
        let process = self.process()?;
        // A stopped call does not wait for a starting process.
        let (_lease, session) = process.run_reading(call, process.session()).await?;
        let name = ResourceName::of_call(call, &facts.token);
        let files = ProgramFiles::of_call(call);
        let target = target(&name, &facts, Phase::Applying, &call.address, &files);
        let sent = ChangeRequest::default();
        let change = Change {
            session: &session,
            target: &target,
            facts: &facts,
            call,
            request: &request,
            sent: &sent,
        };
        let acting = async {
            match request.operation {
                Operation::Create => self.create(&change).await,
                Operation::Update => self.update(&change).await,
                Operation::Delete => self.delete(&change).await,
            }
        };
        process.run_changing(call, &sent, acting).await
    }

    fn operation_error(&self, request: &ApplyRequest<'_>) -> impl Fn(CallFailure) -> ProviderError {
        let values = [
            request.prior_inputs,
            request.prior,
            request.desired,
            request.private,
            &self.settings,
        ];
        let values = values.map(Value::clone);
        move |failure| error_of(failure, CallEffect::Changes, &Scrubber::of(&values))
    }

    async fn create(&self, change: &Change<'_>) -> Result<Applied, ProviderError> {
        let Change {
            session,
            target,
            facts,
            call,
            request,
            sent: message,
        } = *change;
        let inputs = facts.complete_inputs(request.desired);
        let desired = Desired {
            inputs: &inputs,
            ignored: &[],
            timeout: call.deadline,
        };
        ProgramFiles::of_call(call).refuse_changed(&inputs)?;
        message.sending();
        let made = match session.create(target, &desired).await {
            Ok(made) => made,
            Err(failure) => {
                let id = if let CallFailure::Answer { id, .. } = &failure {
                    id.clone()
                } else {
                    None
                };
                let error = self.operation_error(request)(failure);
                // The resource exists, although the plugin's answer about it is not valid.
                let partial = id.map(|id| {
                    let (fields, private) =
                        complete_fields(facts, inputs.clone(), Value::Text(id.clone()));
                    Box::new(Applied::ready(id, fields).with_private(private.value()))
                });
                return Err(ProviderError { partial, ..error });
            }
        };
        let id = made.id.unwrap_or_default();
        let sent = (inputs, request, &self.settings);
        Ok(applied(
            facts,
            id,
            made.outputs,
            made.problems,
            made.refresh_before_update,
            made.inputs,
            sent,
        ))
    }

    async fn update(&self, change: &Change<'_>) -> Result<Applied, ProviderError> {
        let Change {
            session,
            target,
            facts,
            call,
            request,
            sent: message,
        } = *change;
        let id = id_of(request)?;
        let private = Private::of(request.private);
        let inputs = facts.complete_inputs(request.desired);
        let outputs = private.outputs(facts, request.prior);
        let old_inputs = private.read_inputs.as_ref().unwrap_or(request.prior_inputs);
        let recorded = RecordedResource {
            id,
            inputs: old_inputs,
            outputs: &outputs,
        };
        let outputs = current(session, target, &recorded, &private, call, &self.settings).await?;
        let recorded = RecordedResource {
            outputs: outputs.as_ref().unwrap_or(recorded.outputs),
            ..recorded
        };
        let desired = Desired {
            inputs: &inputs,
            ignored: &[],
            timeout: call.deadline,
        };
        ProgramFiles::of_call(call).refuse_changed(&inputs)?;
        message.sending();
        let made = session
            .update(target, &recorded, &desired)
            .await
            .map_err(self.operation_error(request))?;
        let id = Name::from(id);
        let sent = (inputs, request, &self.settings);
        Ok(applied(
            facts,
            id,
            made.outputs,
            made.problems,
            made.refresh_before_update,
            made.inputs,
            sent,
        ))
    }

    async fn delete(&self, change: &Change<'_>) -> Result<Applied, ProviderError> {
        let Change {
            session,
            target,
            facts,
            call,
            request,
            sent: message,
        } = *change;
        let id = id_of(request)?;
        let outputs = Private::of(request.private).outputs(facts, request.prior);
        let recorded = RecordedResource {
            id,
            inputs: request.prior_inputs,
            outputs: &outputs,
        };
        message.sending();
        match session
            .delete(target, &recorded, call.deadline)
            .await
            .map_err(self.operation_error(request))
        {
            // The object does not exist, which is the wanted state.
            Err(error) if error.kind == ErrorKind::NotFound => Ok(Applied::deleted()),
            answer => answer.map(|()| Applied::deleted()),
        }
    }

    async fn read_with(
        &self,
        call: &Call,
        request: ReadRequest<'_>,
    ) -> Result<ReadOutcome, ProviderError> {
        let facts = self.facts(request.type_name)?;
        // A plugin cannot find an object by the token of a create.
        let Some(id) = request.id.filter(|id| !id.is_empty()) else {
            return Ok(ReadOutcome::Unknown);
        };
        let private = Private::of(request.private);
        let Some(process) = &self.process else {
            if request.outputs.is_null() {
                return self.process().map(|_| ReadOutcome::Unknown);
            }
            // The record counts, because the plugin cannot be asked.
            let (fields, private) = (request.outputs.clone(), request.private.clone());
            return Ok(ReadOutcome::Present(Observed {
                id: id.into(),
                fields,
                private,
                ..Observed::default()
            }));
        };
        let outputs = private.outputs(&facts, request.outputs);
        let reading = async {
            let (_lease, session) = process.session().await?;
            let name = ResourceName::of_call(call, &facts.token);
            let files = ProgramFiles::of_call(call);
            let target = target(&name, &facts, Phase::Applying, &call.address, &files);
            let recorded = RecordedResource {
                id,
                inputs: request.inputs,
                outputs: &outputs,
            };
            session
                .read(&target, &recorded, call.deadline)
                .await
                .map_err(|failure| {
                    let secrets = Scrubber::of([
                        request.inputs,
                        request.outputs,
                        request.private,
                        &self.settings,
                    ]);
                    error_of(failure, CallEffect::Reads, &secrets)
                })
        };
        let read = process.run_reading(call, reading).await?;
        Ok(match read {
            ReadResult::Absent => ReadOutcome::Absent,
            ReadResult::Unknown => ReadOutcome::Unknown,
            ReadResult::Present {
                id,
                outputs,
                inputs,
                problems,
                refresh_before_update,
            } => {
                // A plugin that accepts secrets may still lose their marks in a read.
                let outputs =
                    mark_like_inputs(mark_like_inputs(outputs, request.inputs), request.outputs);
                let inputs = inputs
                    .map(|inputs| facts.complete_inputs(&mark_like_inputs(inputs, request.inputs)));
                let (fields, own) = complete_fields(&facts, outputs, Value::Text(id.clone()));
                // Comparison by inputs, for plugins that cannot compare, needs the inputs as
                // read.
                let drifted = |inputs: &&Value| {
                    !request.inputs.is_null()
                        && !differences(request.inputs, inputs, &[]).is_empty()
                };
                let read_inputs = inputs.as_ref().filter(drifted).cloned();
                let private = Private {
                    read_first: refresh_before_update,
                    read_inputs,
                    ..own
                };
                let secrets = Scrubber::of([&fields, &self.settings]);
                let diagnostics = problems.iter().map(|why| {
                    ProviderDiagnostic::warning(
                        "",
                        format!("it is not healthy: {}", secrets.clean(why)),
                    )
                });
                let diagnostics = diagnostics.collect();
                ReadOutcome::Present(Observed {
                    id,
                    fields,
                    inputs,
                    private: private.value(),
                    expired: None,
                    diagnostics,
                })
            }
        })
    }

    /// Reads an object by its id, for the function that reads objects of a type. Returns an unknown
    /// value if the package is not configured yet.
    async fn read_existing(
        &self,
        call: &Call,
        type_name: &str,
        arguments: &Value,
    ) -> Result<Value, ProviderError> {
        let refused = |message: String| Err(ProviderError::new(ErrorKind::Document, message));
        let Some(id) = arguments
            .get("id")
            .map(Value::unmarked)
            .and_then(Value::as_text)
        else {
            return refused("the id of a resource is a text".to_owned());
        };
        if self.process.is_none() {
            return Ok(Value::unknown(None, None));
        }
        let state = arguments.get("state").unwrap_or(&Value::Null);
        let token = self.facts(type_name)?.token.clone();
        let text = |name: &str| arguments.get(name).and_then(Value::as_text);
        let named = text("project")
            .zip(text("name"))
            .map(|(project, name)| Call {
                urn: existing_urn(&call.instance, project, &token, name),
                ..call.clone()
            });
        let call = named.as_ref().unwrap_or(call);
        let read = ReadRequest {
            type_name,
            id: Some(id),
            inputs: &Value::Null,
            outputs: state,
            schema_version: 0,
            private: &Value::Null,
            token: None,
        };
        let found = self.existing(call, read).await?;
        if named.is_none() {
            return Ok(found);
        }
        let (fields, secret) = found.split_secret();
        let mut fields = fields.as_map().cloned().unwrap_or_default();
        fields.insert("urn".into(), Value::Text(call.urn.clone()));
        Ok(Value::Map(Arc::new(fields)).tainted(secret))
    }

    /// The fields of an object that must exist.
    async fn existing(&self, call: &Call, read: ReadRequest<'_>) -> Result<Value, ProviderError> {
        match self.read_with(call, read).await? {
            ReadOutcome::Present(observed) => Ok(observed.fields),
            ReadOutcome::Absent | ReadOutcome::Unknown => {
                let message = format!("there is no `{}` with this id", read.type_name);
                Err(ProviderError::new(ErrorKind::Document, message))
            }
        }
    }

    /// Calls a function. Returns an unknown value if it cannot be called yet.
    async fn call_function(
        &self,
        call: &Call,
        function: &str,
        arguments: Value,
        phase: Phase,
    ) -> Result<Value, ProviderError> {
        let Some(facts) = self.types.function_facts(function) else {
            let message = format!("there is no function `{function}` here");
            return Err(ProviderError::new(ErrorKind::Document, message));
        };
        let Some(process) = self.process.as_ref() else {
            if phase == Phase::Planning {
                return Ok(Value::unknown(None, None));
            }
            return self.process().map(|_| Value::Null);
        };
        let secret_inputs = ResourceFacts {
            secret_inputs: facts.secret_inputs.clone(),
            ..ResourceFacts::default()
        };
        let arguments = secret_inputs.complete_inputs(&arguments);
        let secrets = || Scrubber::of([&arguments, &self.settings]);
        let asking = async {
            let (_lease, session) = process.session().await?;
            let invoked = session
                .invoke(
                    &facts.token,
                    &arguments,
                    phase,
                    &ProgramFiles::of_call(call),
                )
                .await;
            invoked.map_err(|failure| error_of(failure, CallEffect::Reads, &secrets()))
        };
        let Invoked { result, failures } = process.run_reading(call, asking).await?;
        if failures.is_empty() {
            return Ok(facts.unwrapped(result));
        }
        Err(ProviderError::of_diagnostics(
            ErrorKind::Document,
            refusals(&failures, &secrets()),
        ))
    }

    async fn fetch_with(
        &self,
        call: &Call,
        request: FetchRequest<'_>,
    ) -> Result<Fetched, ProviderError> {
        let equal =
            |(_, (_, operator, _)): &(usize, &(Name, Name, Value))| operator.as_ref() == "=";
        let filters: Vec<(usize, &(Name, Name, Value))> =
            request.filters.iter().enumerate().filter(equal).collect();
        let arguments = filters
            .iter()
            .map(|(_, (field, _, value))| (field.clone(), value.clone()));
        // Data sources are read while a plan is made.
        let result = self
            .call_function(
                call,
                request.type_name,
                Value::map(arguments),
                Phase::Planning,
            )
            .await?;
        let result = if result.is_unknown() {
            self.unknown_result(request.type_name)
        } else {
            result
        };
        let applied = filters.iter().map(|(at, _)| *at).collect();
        let candidates = vec![Candidate {
            filter_fields: result.clone(),
            fields: result,
        }];
        Ok(Fetched {
            candidates,
            applied,
            diagnostics: Vec::new(),
        })
    }

    fn unknown_result(&self, function: &str) -> Value {
        let ty = self.types.data_source_type(function);
        let fields = ty
            .iter()
            .flat_map(|ty| &ty.schema.fields)
            .filter(|(_, field)| field.computed);
        Value::map(
            fields.map(|(name, field)| (name.clone(), Value::unknown(Some(field.ty()), None))),
        )
    }
}

/// A call that changes a resource.
#[derive(Clone, Copy)]
struct Change<'a> {
    session: &'a PluginSession,
    target: &'a CallTarget<'a>,
    facts: &'a ResourceFacts,
    call: &'a Call,
    request: &'a ApplyRequest<'a>,
    sent: &'a ChangeRequest,
}

fn id_of<'a>(request: &ApplyRequest<'a>) -> Result<&'a str, ProviderError> {
    let missing =
        || ProviderError::new(ErrorKind::Permanent, "the id of the resource is not known");
    request.id.filter(|id| !id.is_empty()).ok_or_else(missing)
}

/// Converts an answer of the protocol to an answer of the contract.
fn applied(
    facts: &ResourceFacts,
    id: Name,
    outputs: Value,
    problems: Vec<String>,
    refresh_before_update: bool,
    answered: Option<Value>,
    (sent, request, settings): (Value, &ApplyRequest<'_>, &Value),
) -> Applied {
    let (fields, own) = complete_fields(facts, outputs, Value::Text(id.clone()));
    let secrets = Scrubber::of([&fields, &sent, settings]);
    let inputs = answered
        .map(|inputs| facts.complete_inputs(&inputs))
        .or(Some(sent));
    Applied {
        id,
        fields,
        private: Private {
            read_first: refresh_before_update,
            ..own
        }
        .value(),
        ready: match problems.is_empty() {
            true => Ready::Yes,
            false => Ready::Broken(
                problems
                    .iter()
                    .map(|why| secrets.clean(why).into())
                    .collect(),
            ),
        },
        inputs: inputs.filter(|inputs| inputs != request.desired),
        diagnostics: Vec::new(),
    }
}

impl provider::Session for ManagedPackage {
    fn read<'a>(
        &'a self,
        call: &'a Call,
        request: ReadRequest<'a>,
    ) -> BoxFuture<'a, Result<ReadOutcome, ProviderError>> {
        Box::pin(self.read_with(call, request))
    }

    fn plan<'a>(
        &'a self,
        call: &'a Call,
        request: PlanRequest<'a>,
    ) -> BoxFuture<'a, Result<Planned, ProviderError>> {
        Box::pin(self.plan_with(call, request))
    }

    fn apply<'a>(
        &'a self,
        call: &'a Call,
        request: ApplyRequest<'a>,
    ) -> BoxFuture<'a, Result<Applied, ProviderError>> {
        Box::pin(self.apply_with(call, request))
    }

    fn import<'a>(
        &'a self,
        call: &'a Call,
        request: ImportRequest<'a>,
    ) -> BoxFuture<'a, Result<Vec<Imported>, ProviderError>> {
        Box::pin(async move {
            let read = ReadRequest {
                type_name: request.type_name,
                id: Some(request.id),
                inputs: &Value::Null,
                outputs: &Value::Null,
                schema_version: 0,
                private: &Value::Null,
                token: None,
            };
            Ok(match self.read_with(call, read).await? {
                ReadOutcome::Present(observed) => vec![Imported {
                    type_name: request.type_name.into(),
                    observed,
                }],
                ReadOutcome::Absent | ReadOutcome::Unknown => Vec::new(),
            })
        })
    }

    fn fetch<'a>(
        &'a self,
        call: &'a Call,
        request: FetchRequest<'a>,
    ) -> BoxFuture<'a, Result<Fetched, ProviderError>> {
        Box::pin(self.fetch_with(call, request))
    }

    fn invoke<'a>(
        &'a self,
        call: &'a Call,
        request: InvokeRequest<'a>,
    ) -> BoxFuture<'a, Result<Value, ProviderError>> {
        Box::pin(async move {
            let Arguments::Named(arguments) = request.arguments else {
                let message = format!("`{}` takes its arguments by name", request.function);
                return Err(
                    ProviderError::new(ErrorKind::Document, message).at(FieldPath::default())
                );
            };
            let arguments = Value::Map(arguments.clone());
            if let Some(type_name) = read_resource_type(request.function) {
                return self.read_existing(call, &type_name, &arguments).await;
            }
            let phase = if request.preview {
                Phase::Planning
            } else {
                Phase::Applying
            };
            self.call_function(call, request.function, arguments, phase)
                .await
        })
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            if let Some(process) = &self.process {
                process.end_session().await;
            }
        })
    }
}
