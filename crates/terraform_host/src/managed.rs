//! A configured package as a session of the contract: the calls about its resources, data sources
//! and functions.
//!
//! Secrets are removed from the provider's messages.

use std::sync::Arc;

use blueprint::{Name, Value};
use plugin_host::{CallEffect, ChangeRequest};
use provider::{
    Applied, ApplyRequest, BoxFuture, Call, Candidate, CheckFindings, CheckRequest, ErrorKind,
    FetchRequest, Fetched, ImportRequest, Imported, InvokeRequest, Observed, Operation,
    PlanRequest, Planned, ProviderDiagnostic, ProviderError, ReadOutcome, ReadRequest, Scrubber,
    UpgradeRequest, Upgraded,
};
use terraform_wire::{SchemaTypes, same};

use crate::change::{AppliedChange as Done, ApplyRequest as Change};
use crate::fields::{Private, id_of, recorded};
use crate::planning::{current, plan_change, plan_contradiction, upgraded};
use crate::problems::{
    contradiction, diagnostic_of, error_of, function_failed, warnings_of, with_path_in_message,
};
use crate::process::PackageProcess;
use crate::{CallFailure, Client, ImportBy, Object, Returned};

/// A configured package.
pub(crate) struct ManagedPackage {
    types: Arc<SchemaTypes>,
    package: Name,
    process: Arc<PackageProcess>,
    settings: Value,
}

impl ManagedPackage {
    pub(crate) fn new(
        types: Arc<SchemaTypes>,
        package: Name,
        process: Arc<PackageProcess>,
        settings: Value,
    ) -> ManagedPackage {
        ManagedPackage {
            types,
            package,
            process,
            settings,
        }
    }

    /// Returns the name in the protocol for the name of a resource type.
    fn resource(&self, type_name: &str) -> Result<Name, ProviderError> {
        self.types
            .resource_in_protocol(type_name)
            .ok_or_else(|| self.no_such("resource type", type_name))
    }

    fn no_such(&self, kind: &str, name: &str) -> ProviderError {
        let message = format!("the provider of `{}` has no {kind} `{name}`", self.package);
        ProviderError::new(ErrorKind::Document, message)
    }

    fn secrets<'a>(&'a self, values: impl IntoIterator<Item = &'a Value>) -> Scrubber {
        Scrubber::of(values.into_iter().chain([&self.settings]))
    }

    /// Makes a call that changes nothing.
    async fn read_only_call<T, F>(
        &self,
        call: &Call,
        secrets: impl Fn() -> Scrubber,
        question: impl FnOnce(Client) -> F,
    ) -> Result<T, ProviderError>
    where
        F: Future<Output = Result<T, CallFailure>>,
    {
        let asked = async {
            let (_lease, session) = self.process.session().await?;
            question(session.client)
                .await
                .map_err(|failure| error_of(failure, CallEffect::Reads, &secrets()))
        };
        self.process.run_reading(call, asked).await
    }

    async fn check_with(
        &self,
        call: &Call,
        request: CheckRequest<'_>,
    ) -> Result<CheckFindings, ProviderError> {
        let type_name = self.resource(request.type_name)?;
        let secrets = || self.secrets([request.spec]);
        let checking = async {
            // Specs can be validated before the provider is configured.
            let (_lease, client) = self.process.client().await?;
            match client.validate_resource(&type_name, request.spec).await {
                Ok(answer) => Ok(warnings_of(&answer.warnings, &secrets())),
                Err(failure @ (CallFailure::Rejected(_) | CallFailure::Unfit(_))) => {
                    Ok(error_of(failure, CallEffect::Reads, &secrets()).diagnostics)
                }
                Err(failure) => Err(error_of(failure, CallEffect::Reads, &secrets())),
            }
        };
        let diagnostics = self.process.run_reading(call, checking).await?;
        Ok(CheckFindings {
            diagnostics,
            ..CheckFindings::default()
        })
    }

    async fn plan_with(
        &self,
        call: &Call,
        request: PlanRequest<'_>,
    ) -> Result<Planned, ProviderError> {
        let type_name = self.resource(request.type_name)?;
        let secrets = || {
            self.secrets([
                request.prior_inputs,
                request.prior,
                request.desired,
                request.private,
            ])
        };
        let asked = &request;
        let planning = self.read_only_call(call, secrets, |client| async move {
            plan_change(&client, &type_name, call, asked).await
        });
        let answer = planning.await?;
        Ok(Planned {
            diagnostics: warnings_of(&answer.warnings, &secrets()),
            ..answer.value
        })
    }

    async fn read_with(
        &self,
        call: &Call,
        request: ReadRequest<'_>,
    ) -> Result<ReadOutcome, ProviderError> {
        let type_name = self.resource(request.type_name)?;
        // A provider cannot find an object by the token of a create.
        let Some(id) = request.id.filter(|id| !id.is_empty()) else {
            return Ok(ReadOutcome::Unknown);
        };
        if request.outputs.is_null() {
            let import = ImportRequest {
                type_name: request.type_name,
                id,
                desired: &Value::Null,
            };
            let found = self.import_with(call, import).await?;
            let own = found
                .into_iter()
                .find(|one| &*one.type_name == request.type_name);
            return Ok(own.map_or(ReadOutcome::Absent, |own| {
                ReadOutcome::Present(own.observed)
            }));
        }
        let secrets = || self.secrets([request.inputs, request.outputs, request.private]);
        let envelope = Private::of(request.private, request.schema_version).recorded;
        let reading = self.read_only_call(call, secrets, |client| async move {
            let object = upgraded(&client, &type_name, request.outputs, &envelope).await?;
            let mut found = client.read(&type_name, &object.value).await?;
            found.warnings.splice(0..0, object.warnings);
            if found.value.is_absent() {
                return Ok(ReadOutcome::Absent);
            }
            let diagnostics = warnings_of(&found.warnings, &secrets());
            observed(&client, &type_name, &found.value, id, diagnostics).map(ReadOutcome::Present)
        });
        reading.await
    }

    async fn import_with(
        &self,
        call: &Call,
        request: ImportRequest<'_>,
    ) -> Result<Vec<Imported>, ProviderError> {
        let type_name = self.resource(request.type_name)?;
        let secrets = || self.secrets([request.desired]);
        let importing = self.read_only_call(call, secrets, |client| async move {
            let found = match client.import(&type_name, ImportBy::Id(request.id)).await {
                Ok(found) => found,
                Err(CallFailure::NothingImported) => return Ok(Vec::new()),
                Err(failure) => return Err(failure),
            };
            let mut diagnostics = warnings_of(&found.warnings, &secrets());
            let each = found.value.iter().map(|one| {
                // The diagnostics of the whole import belong to the first object.
                let said = std::mem::take(&mut diagnostics);
                let observed = observed(&client, &one.type_name, &one.object, request.id, said)?;
                Ok(Imported {
                    type_name: self.types.names().in_documents(&one.type_name),
                    observed,
                })
            });
            each.collect()
        });
        importing.await
    }

    async fn upgrade_with(
        &self,
        call: &Call,
        request: UpgradeRequest<'_>,
    ) -> Result<Upgraded, ProviderError> {
        let type_name = self.resource(request.type_name)?;
        let secrets = || self.secrets([request.inputs, request.fields, request.private]);
        let envelope = Private::of(request.private, request.schema_version).recorded;
        let inputs = request.inputs.clone();
        let upgrading = self.read_only_call(call, secrets, |client| async move {
            let object = upgraded(&client, &type_name, request.fields, &envelope)
                .await?
                .value;
            let private = client.envelope(&type_name, &object)?;
            Ok(Upgraded {
                inputs,
                fields: object.value,
                private,
            })
        });
        upgrading.await
    }

    async fn fetch_with(
        &self,
        call: &Call,
        request: FetchRequest<'_>,
    ) -> Result<Fetched, ProviderError> {
        let type_name = self.types.data_source_in_protocol(request.type_name);
        let type_name = type_name.ok_or_else(|| self.no_such("data source", request.type_name))?;
        let equal =
            |(_, (_, operator, _)): &(usize, &(Name, Name, Value))| operator.as_ref() == "=";
        let filters: Vec<(usize, &(Name, Name, Value))> =
            request.filters.iter().enumerate().filter(equal).collect();
        let config = Value::map(
            filters
                .iter()
                .map(|(_, (field, _, value))| (field.clone(), value.clone())),
        );
        let applied = filters.iter().map(|(at, _)| *at).collect();
        let (config, secrets) = (&config, || self.secrets([&config]));
        let fetching = self.read_only_call(call, secrets, |client| async move {
            let mut warnings = client.validate_data(&type_name, config).await?.warnings;
            let read = client.read_data(&type_name, config).await?;
            warnings.extend(
                read.warnings
                    .into_iter()
                    .filter(|one| !warnings.contains(one))
                    .collect::<Vec<_>>(),
            );
            let candidates = vec![Candidate {
                filter_fields: read.value.clone(),
                fields: read.value,
            }];
            Ok(Fetched {
                candidates,
                applied,
                diagnostics: warnings_of(&warnings, &secrets()),
            })
        });
        fetching.await
    }

    async fn invoke_with(
        &self,
        call: &Call,
        request: InvokeRequest<'_>,
    ) -> Result<Value, ProviderError> {
        let Some(arguments) = request.arguments.positional() else {
            let message = format!("`{}` takes its arguments by position", request.function);
            return Err(ProviderError::new(ErrorKind::Document, message));
        };
        let secrets = || self.secrets(arguments);
        let invoking = self.read_only_call(call, secrets, |client| async move {
            client.call_function(request.function, arguments).await
        });
        match invoking.await? {
            Returned::Value(value) => Ok(value),
            Returned::Failed(failed) => Err(function_failed(&failed, &secrets())),
        }
    }

    async fn apply_with(
        &self,
        call: &Call,
        request: ApplyRequest<'_>,
    ) -> Result<Applied, ProviderError> {
        let type_name = self.resource(request.type_name)?;
        // A stopped call does not wait for a process to start.
        let (_lease, session) = self
            .process
            .run_reading(call, self.process.session())
            .await?;
        let values = [
            request.prior_inputs,
            request.prior,
            request.desired,
            request.private,
        ];
        let sent = ChangeRequest::default();
        let acting = RunningOperation {
            client: session.client,
            sent: &sent,
            type_name,
            call,
            request: &request,
            secrets: self.secrets(values),
        };
        let work = async {
            match request.operation {
                Operation::Create => acting.change(None).await,
                Operation::Update => {
                    let prior = acting.prior().await?;
                    acting.change(prior.as_ref()).await
                }
                Operation::Delete => acting.delete().await,
            }
        };
        self.process
            .run_changing(call, &sent, work)
            .await
            .map_err(with_path_in_message)
    }
}

/// Converts an object to the form of the contract.
fn observed(
    client: &Client,
    type_name: &str,
    object: &Object,
    id: &str,
    diagnostics: Vec<ProviderDiagnostic>,
) -> Result<Observed, CallFailure> {
    let found = recorded(client, type_name, object, id_of(object, Some(id), ""))?;
    let Applied {
        id,
        fields,
        private,
        ..
    } = found;
    Ok(Observed {
        id,
        fields,
        private,
        diagnostics,
        ..Observed::default()
    })
}

/// A running operation.
struct RunningOperation<'a> {
    client: Client,
    sent: &'a ChangeRequest,
    type_name: Name,
    call: &'a Call,
    request: &'a ApplyRequest<'a>,
    secrets: Scrubber,
}

impl RunningOperation<'_> {
    /// Converts the failure of a call before the operation.
    fn error_before_operation(&self, failure: CallFailure) -> ProviderError {
        error_of(failure, CallEffect::Reads, &self.secrets)
    }

    fn private(&self) -> Private {
        Private::of(self.request.private, self.request.schema_version)
    }

    /// The existing object. `None` if it is neither recorded nor found.
    async fn prior(&self) -> Result<Option<Object>, ProviderError> {
        if self.request.prior.is_null() {
            let Some(id) = self.request.id.filter(|id| !id.is_empty()) else {
                return Ok(None);
            };
            return match self.client.import(&self.type_name, ImportBy::Id(id)).await {
                Ok(found) => Ok(found
                    .value
                    .into_iter()
                    .find(|one| one.type_name == self.type_name)
                    .map(|it| it.object)),
                Err(CallFailure::NothingImported) => Ok(None),
                Err(failure) => Err(self.error_before_operation(failure)),
            };
        }
        let prior = current(
            &self.client,
            &self.type_name,
            self.request.prior,
            &self.private().recorded,
        )
        .await;
        Ok(Some(
            prior
                .map_err(|failure| self.error_before_operation(failure))?
                .value,
        ))
    }

    /// Creates an object, or changes the existing one.
    async fn change(&self, prior: Option<&Object>) -> Result<Applied, ProviderError> {
        let config = self.request.desired;
        if self.request.operation == Operation::Update && prior.is_none() {
            return Err(ProviderError::new(
                ErrorKind::NotFound,
                "the resource does not exist",
            ));
        }
        let planned = match self.planned_before(prior)? {
            Some(planned) => planned,
            None => self.plan_again(prior).await?,
        };
        if let Some(prior) = prior.filter(|prior| same(&prior.value, &planned.value)) {
            // A provider is never called without a change.
            let id = id_of(prior, self.request.id, &self.call.token);
            return recorded(&self.client, &self.type_name, prior, id)
                .map_err(|failure| self.error_before_operation(failure));
        }
        let change = Change {
            type_name: &self.type_name,
            prior,
            planned: &planned,
            config,
        };
        self.sent.sending();
        let done = self.client.apply(change).await;
        let done = done.map_err(|failure| error_of(failure, CallEffect::Changes, &self.secrets))?;
        self.answer(done)
    }

    /// The planned object, if the plan was made for these inputs.
    fn planned_before(&self, prior: Option<&Object>) -> Result<Option<Object>, ProviderError> {
        let Some(envelope) = self
            .private()
            .planned
            .filter(|_| !self.request.planned.is_null())
        else {
            return Ok(None);
        };
        let failed = |failure| self.error_before_operation(failure);
        let planned = self
            .client
            .restored(&self.type_name, self.request.planned, &envelope)
            .map_err(failed)?;
        let Some(planned) = planned else {
            return Ok(None);
        };
        let unasked = self
            .client
            .contradictions_to_config(&self.type_name, prior, self.request.desired, &planned)
            .map_err(failed)?;
        Ok(Some(planned).filter(|_| unasked.is_empty()))
    }

    /// Plans the change again, if it was not planned for these inputs.
    async fn plan_again(&self, prior: Option<&Object>) -> Result<Object, ProviderError> {
        let (type_name, config) = (&self.type_name, self.request.desired);
        let again = match prior {
            Some(prior) => self.client.plan_in_place(type_name, prior, config).await,
            None => {
                self.client
                    .plan_new(type_name, &self.private().planned_bytes(), config)
                    .await
            }
        };
        let again = again
            .map_err(|failure| self.error_before_operation(failure))?
            .value;
        let broken = plan_contradiction(&self.client, type_name, self.request.planned, &again);
        match broken.map_err(|failure| self.error_before_operation(failure))? {
            Some(said) => Err(ProviderError::of_diagnostics(
                ErrorKind::Permanent,
                vec![said],
            )),
            None => Ok(again.object),
        }
    }

    async fn delete(&self) -> Result<Applied, ProviderError> {
        let Some(prior) = self.prior().await? else {
            return Ok(Applied::deleted());
        };
        let envelope = self.private().deleted;
        let planned = match &envelope {
            Some(envelope) => self
                .client
                .restored(&self.type_name, &Value::Null, envelope),
            None => Ok(None),
        };
        let planned = match planned.map_err(|failure| self.error_before_operation(failure))? {
            Some(planned) => planned,
            None => {
                let plan = self.client.plan_delete(&self.type_name, &prior).await;
                plan.map_err(|failure| self.error_before_operation(failure))?
                    .value
                    .object
            }
        };
        let change = Change {
            type_name: &self.type_name,
            prior: Some(&prior),
            planned: &planned,
            config: &Value::Null,
        };
        self.sent.sending();
        let done = self.client.apply(change).await;
        let error =
            match done.map_err(|failure| error_of(failure, CallEffect::Changes, &self.secrets)) {
                Ok(done) if done.is_done() => {
                    let diagnostics = warnings_of(&done.diagnostics, &self.secrets);
                    return Ok(Applied {
                        diagnostics,
                        ..Applied::deleted()
                    });
                }
                Ok(done) => self.refused(&done),
                Err(error) => error,
            };
        // Some providers fail if the object does not exist.
        match self.client.read(&self.type_name, &prior).await {
            Ok(found) if found.value.is_absent() => Ok(Applied::deleted()),
            _ => Err(error),
        }
    }

    /// Converts the answer of the protocol to that of the contract. An existing object is always
    /// recorded.
    fn answer(&self, done: Done) -> Result<Applied, ProviderError> {
        let exists = (!done.object.is_absent()).then(|| {
            let id = id_of(&done.object, self.request.id, &self.call.token);
            recorded(&self.client, &self.type_name, &done.object, id)
        });
        let exists = exists
            .transpose()
            .map_err(|failure| error_of(failure, CallEffect::Changes, &self.secrets))?;
        match exists {
            Some(applied) if done.is_done() => Ok(Applied {
                diagnostics: warnings_of(&done.diagnostics, &self.secrets),
                ..applied
            }),
            exists => Err(ProviderError {
                partial: exists.map(Box::new),
                ..self.refused(&done)
            }),
        }
    }

    /// Returns the error of an operation that failed.
    fn refused(&self, done: &Done) -> ProviderError {
        let failed = done
            .diagnostics
            .iter()
            .any(crate::TerraformDiagnostic::is_error);
        let kind = match failed {
            true if self.call.cancel.is_cancelled() => ErrorKind::Cancelled,
            true => ErrorKind::Permanent,
            // The provider reports success, but returns no object.
            false if done.object.is_absent() => ErrorKind::OutcomeUnknown,
            false => ErrorKind::Permanent,
        };
        let said = done
            .diagnostics
            .iter()
            .map(|one| diagnostic_of(one, &self.secrets));
        let method = "ApplyResourceChange";
        let contradictions = done
            .violations
            .iter()
            .map(|one| contradiction(method, one, &self.secrets));
        ProviderError::of_diagnostics(kind, said.chain(contradictions).collect())
    }
}

impl provider::Session for ManagedPackage {
    fn check<'a>(
        &'a self,
        call: &'a Call,
        request: CheckRequest<'a>,
    ) -> BoxFuture<'a, Result<CheckFindings, ProviderError>> {
        Box::pin(self.check_with(call, request))
    }

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
        Box::pin(self.import_with(call, request))
    }

    fn upgrade<'a>(
        &'a self,
        call: &'a Call,
        request: UpgradeRequest<'a>,
    ) -> BoxFuture<'a, Result<Upgraded, ProviderError>> {
        Box::pin(self.upgrade_with(call, request))
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
        Box::pin(self.invoke_with(call, request))
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.process.end_session())
    }
}
