//! The questions that the core may ask. It has no other access to the outside.
//!
//! Production, an editor or a simulator implements [`World`]. Answers may arrive in any order; the core merges them by
//! address. Implementations need no cache: the core asks each question once per stage.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use blueprint::wire::Document;
use blueprint::{Address, Name, TypeId, Value};
use provider::{
    BoxFuture, Checked, Fetched, Operation, Planned, Preflight, ProviderError, ReadOutcome, TransformError,
};
use state::Snapshot;

/// The error of a failed read of a text or of bytes.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct SourceError {
    /// The error, as a phrase.
    pub message: String,
}

/// Reads one resource: see [`provider::ReadRequest`].
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
    /// The fields of the last answer.
    pub outputs: &'a Value,
    /// Opaque data of the provider.
    pub private: &'a Value,
    /// The token of a call with an unknown outcome.
    pub token: Option<&'a str>,
    /// The folder of the declaring document, relative to that of the root document; empty for the root's own folder.
    pub folder: &'a str,
}

/// Asks what a create or update would do: see [`provider::PlanRequest`].
#[derive(Clone, Debug)]
pub struct PlanQuestion<'a> {
    /// Its address.
    pub address: &'a Address,
    /// Its type.
    pub type_name: &'a TypeId,
    /// The inputs as last sent. Null for a create; for a replacement, those of the old resource.
    pub prior_inputs: &'a Value,
    /// The fields as last answered or read; null for a create or replacement.
    pub prior: &'a Value,
    /// The desired spec.
    pub desired: &'a Value,
    /// The folder of the declaring document, as in [`ReadQuestion::folder`].
    pub folder: &'a str,
}

/// Asks what an operation would meet: see [`provider::PreflightRequest`].
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
    /// The desired spec; null for a delete.
    pub desired: &'a Value,
    /// Ids of resources that the plan creates or changes before.
    pub changing: &'a Arc<BTreeSet<Name>>,
    /// The folder of the declaring document, as in [`ReadQuestion::folder`].
    pub folder: &'a str,
}

/// All questions that the core may ask before it applies a plan.
pub trait World: Send + Sync {
    /// The current time in seconds since 1970 UTC.
    fn now(&self) -> i64;

    /// The time since a fixed instant, from a monotonic clock. Zero in a world without time.
    fn elapsed(&self) -> Duration {
        Duration::ZERO
    }

    /// Waits for `duration`. Returns at once in a world without time.
    fn pause(&self, duration: Duration) -> BoxFuture<'_, ()> {
        let _ = duration;
        Box::pin(std::future::ready(()))
    }

    /// Reports that a provider will be asked about `what` again after `pause`, with the reason, for display.
    fn waits(&self, what: &str, pause: Duration, why: &str) {
        let _ = (what, pause, why);
    }

    /// Masks the secrets in a value in all later texts of providers.
    fn learn(&self, value: &Value) {
        let _ = value;
    }

    /// Passes the recorded resources to their providers ([`provider::Provider::recall`]).
    fn recall(&self, snapshot: &Snapshot) {
        let _ = snapshot;
    }

    /// 16 random bytes.
    fn random(&self) -> [u8; 16];

    /// The caller's working directory: absolute, without a trailing slash. `None` if the caller sent none.
    fn working_directory(&self) -> Option<Name>;

    /// The bytes of a file, at most 16 MiB. The path is relative to the folder of the document, or to the address of a
    /// remote document.
    fn file<'a>(&'a self, folder: &'a str, path: &'a str) -> BoxFuture<'a, Result<Arc<[u8]>, SourceError>>;

    /// The bytes at an http or https URL: up to 5 redirects, status 2xx only, 30 s, 16 MiB.
    fn http<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Result<Arc<[u8]>, SourceError>>;

    /// An included document, with its location.
    fn document<'a>(
        &'a self,
        request: &'a source::Request,
    ) -> BoxFuture<'a, Result<source::Document, source::SourceError>> {
        let _ = request;
        Box::pin(async { Err(source::SourceError::broken("other documents cannot be read here")) })
    }

    /// The kinds of sources that an include may name.
    fn source_kinds(&self) -> Vec<&'static source::Kind> {
        Vec::new()
    }

    /// The provider's own validation of a spec. `folder` is that of the document (as in [`ReadQuestion::folder`]).
    fn check<'a>(
        &'a self,
        address: &'a Address,
        type_name: &'a TypeId,
        spec: &'a Value,
        folder: &'a str,
    ) -> BoxFuture<'a, Result<Checked, ProviderError>>;

    /// Reads a resource.
    fn read<'a>(&'a self, question: ReadQuestion<'a>) -> BoxFuture<'a, Result<ReadOutcome, ProviderError>>;

    /// Asks a provider for its plan.
    fn plan<'a>(&'a self, question: PlanQuestion<'a>) -> BoxFuture<'a, Result<Planned, ProviderError>>;

    /// Asks a provider for a preflight.
    fn preflight<'a>(&'a self, question: PreflightQuestion<'a>) -> BoxFuture<'a, Result<Preflight, ProviderError>> {
        let _ = question;
        Box::pin(async { Ok(Preflight::default()) })
    }

    /// The user's settings for a namespace: a map, or null.
    fn settings(&self, namespace: &str) -> Value {
        let _ = namespace;
        Value::Null
    }

    /// The candidates of a data source. `folder` is that of the document (as in [`ReadQuestion::folder`]).
    fn fetch<'a>(
        &'a self,
        type_name: &'a TypeId,
        filters: &'a [(Name, Name, Value)],
        annotations: &'a Value,
        folder: &'a str,
    ) -> BoxFuture<'a, Result<Fetched, ProviderError>>;

    /// Calls a provider's function.
    fn call<'a>(
        &'a self,
        namespace: &'a str,
        function: &'a str,
        arguments: &'a [Value],
    ) -> BoxFuture<'a, Result<Value, ProviderError>>;

    /// Whether a provider manages resources of this type.
    fn manages(&self, type_name: &TypeId) -> bool {
        let _ = type_name;
        true
    }

    /// Applies a transform to a document.
    fn transform<'a>(&'a self, name: &'a str, document: Document) -> BoxFuture<'a, Result<Document, TransformError>> {
        let _ = document;
        let message = format!("no provider here carries out `{name}`");
        Box::pin(async move { Err(TransformError::whole(message)) })
    }
}
