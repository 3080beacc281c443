//! The questions the core may ask: its only window.
//!
//! Production, an editor or a simulator answers. Answers may come in any order; the core merges them by address. Who
//! implements it caches nothing: the core asks each question once per stage.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use blueprint::wire::Document;
use blueprint::{Address, Name, TypeId, Value};
use provider::{
    BoxFuture, Checked, Fetched, Operation, Planned, Preflight, ProviderError, ReadOutcome, TransformError,
};
use state::Snapshot;

/// The world could not give a text or bytes.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct SourceError {
    /// What is wrong, as a phrase.
    pub message: String,
}

/// Read one thing: see [`provider::ReadRequest`].
#[derive(Clone, Debug)]
pub struct ReadQuestion<'a> {
    /// Its address.
    pub address: &'a Address,
    /// Its type.
    pub type_name: &'a TypeId,
    /// The provider's id, if known.
    pub id: Option<&'a str>,
    /// The inputs as last sent.
    pub inputs: &'a Value,
    /// The fields as last answered.
    pub outputs: &'a Value,
    /// Opaque data of the provider.
    pub private: &'a Value,
    /// The token of a call whose outcome is unknown.
    pub token: Option<&'a str>,
    /// The folder of the document that declares it, as seen from that of the root document; empty if it is that.
    pub folder: &'a str,
}

/// What would a create or update do: see [`provider::PlanRequest`].
#[derive(Clone, Debug)]
pub struct PlanQuestion<'a> {
    /// Its address.
    pub address: &'a Address,
    /// Its type.
    pub type_name: &'a TypeId,
    /// The inputs as last sent; null for a create, of a replacement those of the old thing.
    pub prior_inputs: &'a Value,
    /// The fields as last answered or seen; null for a create or replacement.
    pub prior: &'a Value,
    /// The spec wanted.
    pub desired: &'a Value,
    /// The folder of the document that declares it, as in [`ReadQuestion::folder`].
    pub folder: &'a str,
}

/// What would an operation meet: see [`provider::PreflightRequest`].
#[derive(Clone, Debug)]
pub struct PreflightQuestion<'a> {
    /// Its address.
    pub address: &'a Address,
    /// Its type.
    pub type_name: &'a TypeId,
    /// Create, update or delete.
    pub operation: Operation,
    /// The provider's id, if there is one.
    pub id: Option<&'a str>,
    /// The inputs as last sent; null for a create.
    pub prior_inputs: &'a Value,
    /// The spec wanted; null for a delete.
    pub desired: &'a Value,
    /// Ids of things that the plan makes or changes before.
    pub changing: &'a Arc<BTreeSet<Name>>,
    /// The folder of the document that declares it, as in [`ReadQuestion::folder`].
    pub folder: &'a str,
}

/// Everything the core may ask before it applies a plan.
pub trait World: Send + Sync {
    /// Seconds since 1970 UTC.
    fn now(&self) -> i64;

    /// How long ago some instant was, always the same one: what is between two looks has passed. Zero where nobody waits.
    fn elapsed(&self) -> Duration {
        Duration::ZERO
    }

    /// Waits so long; not at all where time does not pass.
    fn pause(&self, duration: Duration) -> BoxFuture<'_, ()> {
        let _ = duration;
        Box::pin(std::future::ready(()))
    }

    /// A provider that is asked about `what` will be asked again after a pause, and why: for people.
    fn waits(&self, what: &str, pause: Duration, why: &str) {
        let _ = (what, pause, why);
    }

    /// The secrets in a value are to be masked in whatever a provider says.
    fn learn(&self, value: &Value) {
        let _ = value;
    }

    /// Providers hear what the state holds of their things ([`provider::Provider::recall`]).
    fn recall(&self, snapshot: &Snapshot) {
        let _ = snapshot;
    }

    /// 16 random bytes.
    fn random(&self) -> [u8; 16];

    /// The caller's working directory: absolute, without a trailing slash. None if it sent none.
    fn working_directory(&self) -> Option<Name>;

    /// The bytes of a file, relative to the folder of the document, or to the address of one from afar; at most 16 MiB.
    fn file<'a>(&'a self, folder: &'a str, path: &'a str) -> BoxFuture<'a, Result<Arc<[u8]>, SourceError>>;

    /// The bytes at an http or https URL: up to 5 redirects, 2xx only, 30 s, 16 MiB.
    fn http<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Result<Arc<[u8]>, SourceError>>;

    /// A document that another one includes, and where it is.
    fn document<'a>(
        &'a self,
        request: &'a source::Request,
    ) -> BoxFuture<'a, Result<source::Document, source::SourceError>> {
        let _ = request;
        Box::pin(async { Err(source::SourceError::broken("other documents cannot be read here")) })
    }

    /// The kinds of places that an include may name.
    fn source_kinds(&self) -> Vec<&'static source::Kind> {
        Vec::new()
    }

    /// The provider's own validation of a spec, which stands in a document of this folder (as in [`ReadQuestion::folder`]).
    fn check<'a>(
        &'a self,
        address: &'a Address,
        type_name: &'a TypeId,
        spec: &'a Value,
        folder: &'a str,
    ) -> BoxFuture<'a, Result<Checked, ProviderError>>;

    /// What is there.
    fn read<'a>(&'a self, question: ReadQuestion<'a>) -> BoxFuture<'a, Result<ReadOutcome, ProviderError>>;

    /// What the provider would do.
    fn plan<'a>(&'a self, question: PlanQuestion<'a>) -> BoxFuture<'a, Result<Planned, ProviderError>>;

    /// What an operation would meet.
    fn preflight<'a>(&'a self, question: PreflightQuestion<'a>) -> BoxFuture<'a, Result<Preflight, ProviderError>> {
        let _ = question;
        Box::pin(async { Ok(Preflight::default()) })
    }

    /// The settings that the user has configured for a namespace: a map, or null.
    fn settings(&self, namespace: &str) -> Value {
        let _ = namespace;
        Value::Null
    }

    /// Candidates of a data source, which stands in a document of this folder (as in [`ReadQuestion::folder`]).
    fn fetch<'a>(
        &'a self,
        type_name: &'a TypeId,
        filters: &'a [(Name, Name, Value)],
        annotations: &'a Value,
        folder: &'a str,
    ) -> BoxFuture<'a, Result<Fetched, ProviderError>>;

    /// A provider's function.
    fn call<'a>(
        &'a self,
        namespace: &'a str,
        function: &'a str,
        arguments: &'a [Value],
    ) -> BoxFuture<'a, Result<Value, ProviderError>>;

    /// Whether anybody here answers for things of this type.
    fn manages(&self, type_name: &TypeId) -> bool {
        let _ = type_name;
        true
    }

    /// What a transform makes of a blueprint.
    fn transform<'a>(&'a self, name: &'a str, document: Document) -> BoxFuture<'a, Result<Document, TransformError>> {
        let _ = document;
        let message = format!("no provider here carries out `{name}`");
        Box::pin(async move { Err(TransformError::whole(message)) })
    }
}
