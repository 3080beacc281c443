//! Passes questions of the core to providers. Secrets are removed from the answers.
//!
//! Not here: the sessions of providers (`shell`); calls that change something (`run`).

use std::future::Future;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use blueprint::{Address, DeclarationSite, Name, TypeId, Value};
use futures::FutureExt as _;
use provider::{
    BoxFuture, Call, CheckFindings, CheckRequest, Configured, FetchRequest, Fetched, ImportRequest,
    Imported, InvokeRequest, PlanRequest, Planned, Preflight, PreflightRequest, Progress,
    ProviderError, ReadOutcome, ReadRequest, SessionFailure, SettingsChange, TypeRef,
    UpgradeRequest, Upgraded,
};

use crate::scrub::CallSecrets;
use crate::shell::{PlanningEvent, SessionNeeds, Shell};
use evaluate::question::{
    ProviderInstance, ProviderQuestion, ProviderReply, ProviderRequest, Reply, Subject,
};

/// The time limit for a provider's answer to a question, such as a read, a plan, a data source or a
/// function.
const ANSWERED_WITHIN: Duration = Duration::from_secs(30 * 60);

impl Shell {
    /// Passes a question to its provider.
    pub(crate) fn ask_provider<'a>(
        &'a self,
        question: ProviderQuestion<'a>,
    ) -> BoxFuture<'a, Reply> {
        let ProviderQuestion {
            namespace,
            instance,
            subject,
            site,
            request,
        } = question;
        let target = ProviderTarget {
            shell: self,
            namespace,
            instance,
            subject,
            site,
        };
        let boxed = Boxed(self.catalogs.names().key(namespace));
        match request {
            ProviderRequest::Check(request) => {
                boxed.of(target.check(request), ProviderReply::Checked)
            }
            ProviderRequest::Read(request) => boxed.of(target.read(request), ProviderReply::Read),
            ProviderRequest::Plan(request) => {
                boxed.of(target.plan(request), ProviderReply::Planned)
            }
            ProviderRequest::Preflight(request) => {
                boxed.of(target.preflight(request), ProviderReply::Preflight)
            }
            ProviderRequest::Fetch(request) => {
                boxed.of(target.fetch(request), ProviderReply::Fetched)
            }
            ProviderRequest::Invoke(request) => {
                boxed.of(target.invoke(request), ProviderReply::Returned)
            }
            ProviderRequest::Import(request) => {
                boxed.of(target.import(request), ProviderReply::Imported)
            }
            ProviderRequest::Upgrade(request) => {
                boxed.of(target.upgrade(request), ProviderReply::Upgraded)
            }
            ProviderRequest::Configure => {
                boxed.of(target.settings_change(), ProviderReply::Configured)
            }
        }
    }
}

/// Boxes each request to a provider separately, so that a read does not take the memory of the
/// largest request. Holds the key of the provider.
struct Boxed<'a>(&'a str);

impl<'a> Boxed<'a> {
    fn of<T: 'a>(
        self,
        answer: impl Future<Output = Result<T, ProviderError>> + Send + 'a,
        reply: fn(T) -> ProviderReply,
    ) -> BoxFuture<'a, Reply> {
        let Boxed(provider) = self;
        Box::pin(answer.map(move |answer| {
            let answer = answer.map_err(|error| about_session(provider, error));
            Reply::Provider(answer.map(reply))
        }))
    }
}

/// The end of a provider's process concerns its session: it is reported once, not at each resource.
fn about_session(provider: &str, error: ProviderError) -> ProviderError {
    if !error.process_ended || error.session.is_some() {
        return error;
    }
    let ended = SessionFailure {
        provider: provider.into(),
        settings: None,
    };
    ProviderError {
        session: Some(Box::new(ended)),
        ..error
    }
}

/// The provider and the subject of a question.
#[derive(Clone, Copy)]
struct ProviderTarget<'a> {
    shell: &'a Shell,
    namespace: &'a str,
    instance: Option<&'a ProviderInstance>,
    subject: Subject<'a>,
    site: DeclarationSite<&'a str>,
}

impl<'a> ProviderTarget<'a> {
    fn address(&self) -> &'a Address {
        static NO_RESOURCE: LazyLock<[Address; 2]> =
            LazyLock::new(|| [Address::root("data"), Address::root("function")]);
        match self.subject {
            Subject::Resource(address) => address,
            Subject::DataSource(_) => &NO_RESOURCE[0],
            Subject::Function(_) => &NO_RESOURCE[1],
        }
    }

    /// Returns the context of the call. Its progress is not reported.
    fn call(&self) -> Call {
        static NO_PROGRESS: LazyLock<Progress> = LazyLock::new(|| Arc::new(|_| {}));
        let token = Name::default();
        let progress = NO_PROGRESS.clone();
        let mut call = self.shell.call_of(
            self.address(),
            self.namespace,
            self.instance,
            token,
            progress,
            self.site,
        );
        call.deadline = Some(ANSWERED_WITHIN);
        call
    }

    /// Returns the session. An error names `what`.
    async fn session(&self, what: &str) -> Result<Arc<Configured>, ProviderError> {
        let needs = SessionNeeds::Settings(self.instance);
        self.shell.session_for(self.namespace, needs, what).await
    }

    /// Returns the session for resources of a type.
    async fn session_of(&self, type_name: &str) -> Result<Arc<Configured>, ProviderError> {
        let id = TypeId::parse(type_name);
        self.shell.session_of(&id, self.instance).await
    }

    /// Returns the secrets of a call with these values.
    fn secrets<'v>(&self, sent: impl IntoIterator<Item = &'v Value>) -> Arc<CallSecrets> {
        CallSecrets::of(&self.shell.secrets, sent)
    }

    async fn check(self, request: CheckRequest<'_>) -> Result<CheckFindings, ProviderError> {
        let call = self.call();
        let secrets = self.secrets([request.spec, &call.settings]);
        let checked = self
            .session_of(request.type_name)
            .await?
            .session
            .check(&call, request)
            .await;
        checked
            .map(|checked| secrets.scrub_check(checked))
            .map_err(|error| secrets.scrub_error(error))
    }

    async fn read(self, request: ReadRequest<'_>) -> Result<ReadOutcome, ProviderError> {
        if let Some(planning) = &self.shell.planning {
            planning(PlanningEvent::Reading(self.address().clone()));
        }
        let call = self.call();
        let read = self
            .session_of(request.type_name)
            .await?
            .session
            .read(&call, request)
            .await;
        if let Ok(ReadOutcome::Present(observed)) = &read {
            let (secrets, catalogs) = (&self.shell.secrets, &self.shell.catalogs);
            secrets.note_fields(catalogs, request.type_name, &observed.fields);
        }
        let sent = [
            request.inputs,
            request.outputs,
            request.private,
            &call.settings,
        ];
        CallSecrets::read(&self.shell.secrets, sent, read)
    }

    async fn plan(self, request: PlanRequest<'_>) -> Result<Planned, ProviderError> {
        let call = self.call();
        let secrets = self.secrets([
            request.prior_inputs,
            request.prior,
            request.desired,
            &call.settings,
        ]);
        let planned = self
            .session_of(request.type_name)
            .await?
            .session
            .plan(&call, request)
            .await;
        planned
            .map(|planned| secrets.scrub_plan(planned))
            .map_err(|error| secrets.scrub_error(error))
    }

    async fn preflight(self, request: PreflightRequest<'_>) -> Result<Preflight, ProviderError> {
        let call = self.call();
        let secrets = self.secrets([request.prior_inputs, request.desired, &call.settings]);
        let answer = self
            .session_of(request.type_name)
            .await?
            .session
            .preflight(&call, request)
            .await;
        answer
            .map(|answer| secrets.scrub_preflight(answer))
            .map_err(|error| secrets.scrub_error(error))
    }

    async fn fetch(self, request: FetchRequest<'_>) -> Result<Fetched, ProviderError> {
        let call = self.call();
        let searched = request.filters.iter().map(|filter| &filter.2);
        let secrets = self.secrets(searched.chain([request.annotations, &call.settings]));
        let fetched = self
            .session(request.type_name)
            .await?
            .session
            .fetch(&call, request)
            .await;
        if let Ok(fetched) = &fetched
            && let TypeRef::Known(ty) = self
                .shell
                .catalogs
                .data_source_type(&TypeId::parse(request.type_name))
        {
            for candidate in &fetched.candidates {
                let known = &self.shell.secrets;
                known.add_sensitive_fields(&ty.schema, &candidate.fields);
            }
        }
        fetched
            .map(|fetched| secrets.scrub_fetched(fetched))
            .map_err(|error| secrets.scrub_error(error))
    }

    async fn invoke(self, request: InvokeRequest<'_>) -> Result<Value, ProviderError> {
        let call = self.call();
        let secrets = self.secrets(request.arguments.values().chain([&call.settings]));
        let answer = self
            .session(self.namespace)
            .await?
            .session
            .invoke(&call, request)
            .await;
        answer.map_err(|error| secrets.scrub_error(error))
    }

    async fn import(self, request: ImportRequest<'_>) -> Result<Vec<Imported>, ProviderError> {
        let call = self.call();
        let secrets = self.secrets([request.desired, &call.settings]);
        let found = self
            .session_of(request.type_name)
            .await?
            .session
            .import(&call, request)
            .await;
        for found in found.iter().flatten() {
            let (known, catalogs) = (&self.shell.secrets, &self.shell.catalogs);
            known.note_fields(catalogs, &found.type_name, &found.observed.fields);
        }
        let clean = |found: Imported| Imported {
            observed: secrets.scrub_observed(found.observed),
            ..found
        };
        found
            .map(|found| found.into_iter().map(clean).collect())
            .map_err(|error| secrets.scrub_error(error))
    }

    async fn upgrade(self, request: UpgradeRequest<'_>) -> Result<Upgraded, ProviderError> {
        let call = self.call();
        let secrets = self.secrets([
            request.inputs,
            request.fields,
            request.private,
            &call.settings,
        ]);
        let upgraded = self
            .session_of(request.type_name)
            .await?
            .session
            .upgrade(&call, request)
            .await;
        upgraded.map_err(|error| secrets.scrub_error(error))
    }

    async fn settings_change(self) -> Result<SettingsChange, ProviderError> {
        self.session(self.namespace)
            .await
            .map(|configured| configured.change.clone())
    }
}
