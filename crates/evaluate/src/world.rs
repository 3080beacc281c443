//! The access of the core to the outside: a world answers [`Question`]s and describes its
//! [`Environment`]. The core has no other access.
//!
//! Production, an editor or a simulator implements [`World`]. Answers may arrive in any order; the
//! core merges them by address. Implementations need no cache: the core asks each question once per
//! stage. A world that wraps another one handles the questions that concern it and passes all other
//! questions on.
//!
//! Callers use the typed methods of `dyn World`, which wrap a question in the enum and unwrap the
//! answer from the reply.
//!
//! Not here: the questions as data (`question`); the questions of an evaluation, each answered by
//! zero or more questions to a world (`evaluation_question`).

use std::sync::Arc;
use std::time::Duration;

use blueprint::wire::WireDocument;
use blueprint::{DeclarationSite, Name, Package, TypeId, Value};
use dialect::PackageRequest;
use provider::{
    BoxFuture, CheckFindings, CheckRequest, FetchRequest, Fetched, ImportRequest, Imported,
    InvokeRequest, PlanRequest, Planned, Preflight, PreflightRequest, ProviderError, ReadOutcome,
    ReadRequest, SettingsChange, TransformError, UpgradeRequest, Upgraded,
};
use state::Snapshot;

use crate::question::{
    OTHER_KIND, ProviderInstance, ProviderQuestion, ProviderReply, ProviderRequest, Question,
    Reply, ResourceTarget, Retry, SettingsRemark, SourceError, Subject, internal_error,
};

/// Answers the questions of the core.
pub trait World: Send + Sync {
    /// Answers a question. The reply has the kind of the question; a caller treats another kind as
    /// a failure.
    fn ask<'a>(&'a self, question: Question<'a>) -> BoxFuture<'a, Reply>;

    /// The facts that the world knows without asking.
    fn environment(&self) -> &dyn Environment;
}

/// The facts of a world that are known at once.
pub trait Environment: Send + Sync {
    /// The current time in seconds since 1970 UTC.
    fn now(&self) -> i64;

    /// The time since a fixed instant, from a monotonic clock. Zero in a world without time.
    fn elapsed(&self) -> Duration {
        Duration::ZERO
    }

    /// 16 random bytes.
    fn random(&self) -> [u8; 16];

    /// The caller's working directory: absolute, without a trailing slash. `None` if the caller
    /// sent none.
    fn working_directory(&self) -> Option<Name> {
        None
    }

    /// The kinds of sources that an include may name.
    fn source_kinds(&self) -> Vec<&'static source::SourceKind> {
        Vec::new()
    }

    /// Whether a provider manages resources of this type.
    fn manages(&self, type_name: &TypeId) -> bool {
        let _ = type_name;
        true
    }

    /// The user's settings for a namespace: a map, or null.
    fn settings(&self, namespace: &str) -> Value {
        let _ = namespace;
        Value::Null
    }

    /// The remarks of providers about their settings since the previous call of this method.
    fn settings_remarks(&self) -> Vec<SettingsRemark> {
        Vec::new()
    }

    /// Masks the secrets in a value in all later texts of providers.
    fn mask_secrets(&self, value: &Value) {
        let _ = value;
    }
}

impl dyn World + '_ {
    /// Waits for `duration`: see [`Question::Pause`].
    pub async fn pause(&self, duration: Duration, retry: Option<Retry<'_>>) {
        self.ask(Question::Pause { duration, retry }).await;
    }

    /// Masks the secrets in values: see [`Environment::mask_secrets`].
    pub fn mask_all<'v>(&self, values: impl IntoIterator<Item = &'v Value>) {
        let environment = self.environment();
        values
            .into_iter()
            .for_each(|value| environment.mask_secrets(value));
    }

    /// Passes the recorded resources to their providers: see [`Question::Recall`].
    pub async fn recall(&self, snapshot: &Snapshot) {
        self.ask(Question::Recall(snapshot)).await;
    }

    /// The bytes of a file: see [`Question::File`].
    pub async fn file(&self, folder: &str, path: &str) -> Result<Arc<[u8]>, SourceError> {
        bytes_of(self.ask(Question::File { folder, path }).await)
    }

    /// The bytes at a URL: see [`Question::Http`].
    pub async fn http(&self, url: &str) -> Result<Arc<[u8]>, SourceError> {
        bytes_of(self.ask(Question::Http { url }).await)
    }

    /// An included document, with its location.
    pub async fn document(
        &self,
        request: &source::Request,
    ) -> Result<source::FetchedDocument, source::SourceError> {
        match self.ask(Question::Document(request)).await {
            Reply::Document(document) => document,
            _ => Err(source::SourceError::broken(OTHER_KIND)),
        }
    }

    /// Opens a hosted package, so that its types can be looked up. The error is the reason as a
    /// phrase.
    pub async fn open_package(&self, request: &PackageRequest) -> Result<Arc<Package>, Name> {
        match self.ask(Question::Package(request)).await {
            Reply::Package(package) => package,
            _ => Err("there are no hosted packages here".into()),
        }
    }

    /// Applies a transform to a document.
    pub async fn transform(
        &self,
        name: &str,
        document: WireDocument,
    ) -> Result<WireDocument, TransformError> {
        match self
            .ask(Question::Transform {
                name,
                document: Box::new(document),
            })
            .await
        {
            Reply::Transformed(document) => document.map(|document| *document),
            _ => Err(TransformError::whole(OTHER_KIND)),
        }
    }

    /// The provider's own validation of a spec.
    pub async fn check(
        &self,
        target: ResourceTarget<'_>,
        request: CheckRequest<'_>,
    ) -> Result<CheckFindings, ProviderError> {
        match self
            .ask_provider(target.question(ProviderRequest::Check(request)))
            .await?
        {
            ProviderReply::Checked(checked) => Ok(checked),
            _ => Err(internal_error()),
        }
    }

    /// Reads a resource.
    pub async fn read(
        &self,
        target: ResourceTarget<'_>,
        request: ReadRequest<'_>,
    ) -> Result<ReadOutcome, ProviderError> {
        match self
            .ask_provider(target.question(ProviderRequest::Read(request)))
            .await?
        {
            ProviderReply::Read(outcome) => Ok(outcome),
            _ => Err(internal_error()),
        }
    }

    /// Asks a provider for its plan.
    pub async fn plan(
        &self,
        target: ResourceTarget<'_>,
        request: PlanRequest<'_>,
    ) -> Result<Planned, ProviderError> {
        match self
            .ask_provider(target.question(ProviderRequest::Plan(request)))
            .await?
        {
            ProviderReply::Planned(planned) => Ok(planned),
            _ => Err(internal_error()),
        }
    }

    /// Asks a provider for the preflight of an operation.
    pub async fn preflight(
        &self,
        target: ResourceTarget<'_>,
        request: PreflightRequest<'_>,
    ) -> Result<Preflight, ProviderError> {
        match self
            .ask_provider(target.question(ProviderRequest::Preflight(request)))
            .await?
        {
            ProviderReply::Preflight(preflight) => Ok(preflight),
            _ => Err(internal_error()),
        }
    }

    /// The candidates of a data source. `instance` and `folder` are as in [`ResourceTarget`].
    pub async fn fetch(
        &self,
        type_name: &TypeId,
        instance: Option<&ProviderInstance>,
        folder: &str,
        request: FetchRequest<'_>,
    ) -> Result<Fetched, ProviderError> {
        let namespace = type_name.package_name();
        let subject = Subject::DataSource(type_name);
        let question = ProviderQuestion {
            namespace,
            instance,
            subject,
            site: DeclarationSite { folder, urn: "" },
            request: ProviderRequest::Fetch(request),
        };
        match self.ask_provider(question).await? {
            ProviderReply::Fetched(fetched) => Ok(fetched),
            _ => Err(internal_error()),
        }
    }

    /// Calls a provider's function. `instance` and `folder` are as in [`ResourceTarget`].
    pub async fn invoke(
        &self,
        namespace: &str,
        instance: Option<&ProviderInstance>,
        folder: &str,
        request: InvokeRequest<'_>,
    ) -> Result<Value, ProviderError> {
        let subject = Subject::Function(request.function);
        let request = ProviderRequest::Invoke(request);
        let question = ProviderQuestion {
            namespace,
            instance,
            subject,
            site: DeclarationSite { folder, urn: "" },
            request,
        };
        match self.ask_provider(question).await? {
            ProviderReply::Returned(value) => Ok(value),
            _ => Err(internal_error()),
        }
    }

    /// Finds existing resources by the id of an import.
    pub async fn import(
        &self,
        target: ResourceTarget<'_>,
        request: ImportRequest<'_>,
    ) -> Result<Vec<Imported>, ProviderError> {
        match self
            .ask_provider(target.question(ProviderRequest::Import(request)))
            .await?
        {
            ProviderReply::Imported(found) => Ok(found),
            _ => Err(internal_error()),
        }
    }

    /// Converts recorded values to the current version of their schema.
    pub async fn upgrade(
        &self,
        target: ResourceTarget<'_>,
        request: UpgradeRequest<'_>,
    ) -> Result<Upgraded, ProviderError> {
        match self
            .ask_provider(target.question(ProviderRequest::Upgrade(request)))
            .await?
        {
            ProviderReply::Upgraded(values) => Ok(values),
            _ => Err(internal_error()),
        }
    }

    /// Asks a provider for the effect of its settings on a resource that was managed with its
    /// former settings.
    pub async fn settings_change(
        &self,
        target: ResourceTarget<'_>,
    ) -> Result<SettingsChange, ProviderError> {
        match self
            .ask_provider(target.question(ProviderRequest::Configure))
            .await?
        {
            ProviderReply::Configured(change) => Ok(change),
            _ => Err(internal_error()),
        }
    }

    /// Asks a provider a question of any kind.
    pub async fn ask_provider(
        &self,
        question: ProviderQuestion<'_>,
    ) -> Result<ProviderReply, ProviderError> {
        match self.ask(Question::Provider(question)).await {
            Reply::Provider(reply) => reply,
            _ => Err(internal_error()),
        }
    }
}

fn bytes_of(reply: Reply) -> Result<Arc<[u8]>, SourceError> {
    match reply {
        Reply::Bytes(bytes) => bytes,
        _ => Err(SourceError {
            message: OTHER_KIND.to_owned(),
        }),
    }
}
