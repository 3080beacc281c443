//! The trait, and the requests and answers of its calls. Read from top to bottom.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use blueprint::{Address, Name, Value};
use tokio_util::sync::CancellationToken;

use crate::{
    Applied, Catalog, ErrorKind, Operation, Preflight, PreflightRequest, ProviderError, ResourceType, Transform,
};

/// A future that may be sent to another thread.
pub type BoxFuture<'a, T> = futures::future::BoxFuture<'a, T>;

/// Receives lines of progress for the user while a call runs. The provider removes secrets from text that it passes on
/// from outside.
pub type Progress = Arc<dyn Fn(&str) + Send + Sync>;

/// What comes with every call.
#[derive(Clone)]
pub struct Call {
    /// The instance.
    pub instance: Name,
    /// The address of the resource in the instance.
    pub address: Address,
    /// The idempotency token of the step. All tries of one step share it, also a create that is planned again after an
    /// interrupted run; no other step has it. A provider that can look tokens up does not repeat a create that
    /// succeeded.
    pub token: Name,
    /// How long the call may take, if there is a limit. After it the provider gives up with [`ErrorKind::TimedOut`].
    pub deadline: Option<Duration>,
    /// Cancelled when the caller no longer waits. The provider stops as soon as it safely can.
    pub cancel: CancellationToken,
    /// The folder of the root document. Paths of written files are relative to it.
    pub root: PathBuf,
    /// The folder of the document that declares the resource. Paths of files that are read are relative to it.
    pub folder: PathBuf,
    /// The user's settings of the namespace: a map.
    pub settings: Value,
    /// The current time in seconds since 1970 UTC.
    pub now: i64,
    /// Receives progress.
    pub progress: Progress,
}

/// What the state holds of a resource: see [`Provider::recall`].
pub struct Recalled<'a> {
    /// The resource type.
    pub type_name: &'a str,
    /// The provider's own id. `None` after a create that failed or was interrupted.
    pub id: Option<&'a str>,
    /// The inputs as sent.
    pub inputs: &'a Value,
    /// Opaque data of the provider, as last returned; after a create that failed or was interrupted, as `plan` returned
    /// it.
    pub private: &'a Value,
}

/// Asks whether a spec is acceptable, beyond the facts of the catalogue.
#[derive(Clone, Copy, Debug)]
pub struct CheckRequest<'a> {
    /// The resource type.
    pub type_name: &'a str,
    /// The spec with defaults filled in. It may hold unknown values.
    pub spec: &'a Value,
}

/// The provider's findings about a spec.
#[derive(Clone, Debug, Default)]
pub struct Checked {
    /// Refused fields: path (dots, `[n]`; empty for the spec as a whole) and reason.
    pub rejected: Vec<(String, String)>,
    /// Fields whose value has the wrong type given the other fields: path and reason.
    pub mismatched: Vec<(String, String)>,
    /// Fields whose value is outside the limits that other fields set: path and reason.
    pub outside: Vec<(String, String)>,
    /// Warnings: path and message.
    pub warnings: Vec<(String, String)>,
}

/// Asks for the current state of a resource.
#[derive(Clone, Copy, Debug)]
pub struct ReadRequest<'a> {
    /// The resource type.
    pub type_name: &'a str,
    /// The provider's own id, if known.
    pub id: Option<&'a str>,
    /// The inputs as last sent; null if nothing was sent yet (import, lost answer).
    pub inputs: &'a Value,
    /// The fields as last answered; null if unknown.
    pub outputs: &'a Value,
    /// Opaque data of the provider, as last returned; after an interrupted create, as `plan` returned it.
    pub private: &'a Value,
    /// The token of a call whose outcome is unknown: the provider finds out whether it succeeded. `None` for a recorded
    /// resource.
    pub token: Option<&'a str>,
}

/// What a read found.
#[derive(Clone, Debug)]
pub enum ReadOutcome {
    /// The resource exists.
    Present {
        /// The provider's own id.
        id: Name,
        /// All current fields, user-set and computed ones: a map.
        fields: Value,
        /// Opaque data of the provider.
        private: Value,
        /// Why the resource should be replaced although it matches its spec, for example a certificate that expires
        /// soon.
        expired: Option<String>,
    },
    /// The resource does not exist.
    Absent,
    /// The provider cannot tell whether the call of that token created a resource.
    Unknown,
}

/// Asks what an update would do, if the type's [`Capabilities`](crate::Capabilities) set `plans`; or what exists at the
/// place of a resource before its create, if they set `adopts`.
#[derive(Clone, Copy, Debug)]
pub struct PlanRequest<'a> {
    /// The resource type.
    pub type_name: &'a str,
    /// The inputs as last sent; null for a create.
    pub prior_inputs: &'a Value,
    /// The fields as last answered or read; null for a create.
    pub prior: &'a Value,
    /// The desired spec with defaults filled in. It may hold unknown values.
    pub desired: &'a Value,
}

/// What an operation would do.
#[derive(Clone, Debug, Default)]
pub struct Planned {
    /// Field paths that force a replacement, in addition to those of the catalogue.
    pub replaces: Vec<String>,
    /// Computed fields that will change, in addition to those of the catalogue.
    pub changes: Vec<String>,
    /// Field paths whose change does not affect the resource: the new value is only recorded.
    pub only_recorded: Vec<String>,
    /// Whether a matching resource exists already. The create then takes it under management, and a delete keeps it.
    pub adopts: bool,
    /// Opaque data that `apply` receives. The engine keeps that of a create with the intent, so
    /// [`ReadRequest::private`] holds it after an interrupted create.
    pub private: Value,
}

impl Planned {
    /// The replacements that the catalogue demands depending on the value of another field.
    pub fn by_policy(resource_type: Option<&ResourceType>, request: &PlanRequest<'_>) -> Planned {
        let replaced = resource_type.map(|ty| ty.replaced_by_policy(request.prior_inputs, request.desired));
        let replaces = replaced.iter().flatten().map(|field| field.to_string()).collect();
        Planned { replaces, ..Planned::default() }
    }
}

/// Asks for one operation.
pub struct ApplyRequest<'a> {
    /// Create, update or delete.
    pub operation: Operation,
    /// The resource type.
    pub type_name: &'a str,
    /// The provider's own id; `None` for a create.
    pub id: Option<&'a str>,
    /// The inputs as last sent; null for a create.
    pub prior_inputs: &'a Value,
    /// The fields as last answered; null for a create.
    pub prior: &'a Value,
    /// The desired spec, complete and known; null for a delete.
    pub desired: &'a Value,
    /// Opaque data: from `plan` if it was asked, else from the record; null for a create without a plan.
    pub private: &'a Value,
    /// The fields that name sources, each with the digest that the plan saw. The provider does nothing if a source has
    /// another digest. Sources that the plan itself may change are left out.
    pub sources: &'a [(Name, Value)],
}

/// The answer to the question whether a resource is ready.
#[derive(Clone, Debug)]
pub enum Readiness {
    /// It is. Holds the fields that changed meanwhile, or null.
    Ready(Value),
    /// Not yet.
    NotYet,
}

/// Asks for the candidates of a data source.
#[derive(Clone, Copy, Debug)]
pub struct FetchRequest<'a> {
    /// The data source type.
    pub type_name: &'a str,
    /// Field, operator, search value; all known.
    pub filters: &'a [(Name, Name, Value)],
    /// Annotations of the data source, evaluated.
    pub annotations: &'a Value,
}

/// The candidates, in a stable order that the type documents.
#[derive(Clone, Debug, Default)]
pub struct Fetched {
    /// The candidates.
    pub candidates: Vec<Candidate>,
    /// Positions of the filters that the provider has applied.
    pub applied: Vec<usize>,
    /// Warnings: the field of a filter and a message about its value.
    pub warnings: Vec<(String, String)>,
}

/// One candidate of a data source.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Values of filter fields, by path. Fields that are missing here are not checked again.
    pub filter_fields: Value,
    /// The exportable fields.
    pub fields: Value,
}

/// Manages the resources of some namespaces.
///
/// Calls for different resources run concurrently; calls for one resource never do. A call does not block its thread
/// for long: blocking work goes to a thread of its own. Incoming values may be marked secret at any depth. Answers need
/// no marks, because the catalogue says which fields are sensitive.
pub trait Provider: Send + Sync {
    /// All fixed facts. Returns the same catalogue each time; cheap to call.
    fn catalog(&self) -> &Arc<Catalog>;

    /// Tells the provider what the state holds of its resources, before a plan is made or applied. `root` is the folder
    /// of the root document. The provider may learn what earlier processes created; it calls nothing and changes
    /// nothing.
    fn recall(&self, root: &Path, things: &[Recalled<'_>]) {
        let _ = (root, things);
    }

    /// Checks a spec beyond the catalogue. Only called if the type's capabilities set `checks`.
    fn check<'a>(&'a self, call: &'a Call, request: CheckRequest<'a>) -> BoxFuture<'a, Result<Checked, ProviderError>> {
        let _ = (call, request);
        Box::pin(async { Ok(Checked::default()) })
    }

    /// Reads one resource. A resource that does not exist is [`ReadOutcome::Absent`], not an error.
    fn read<'a>(
        &'a self,
        call: &'a Call,
        request: ReadRequest<'a>,
    ) -> BoxFuture<'a, Result<ReadOutcome, ProviderError>>;

    /// Returns what a create or update would do. [`PlanRequest`] says when it is called.
    fn plan<'a>(&'a self, call: &'a Call, request: PlanRequest<'a>) -> BoxFuture<'a, Result<Planned, ProviderError>> {
        let _ = (call, request);
        Box::pin(async { Ok(Planned::default()) })
    }

    /// Returns what an operation would meet, and changes nothing. Only called if the type's capabilities set
    /// `preflights`.
    fn preflight<'a>(
        &'a self,
        call: &'a Call,
        request: PreflightRequest<'a>,
    ) -> BoxFuture<'a, Result<Preflight, ProviderError>> {
        let _ = (call, request);
        Box::pin(async { Ok(Preflight::default()) })
    }

    /// Creates, updates or deletes one resource. Deleting a resource that does not exist succeeds.
    fn apply<'a>(&'a self, call: &'a Call, request: ApplyRequest<'a>) -> BoxFuture<'a, Result<Applied, ProviderError>>;

    /// Returns whether a resource is ready. Only called after an `apply` whose answer was not stable.
    fn poll_ready<'a>(
        &'a self,
        call: &'a Call,
        request: ReadRequest<'a>,
    ) -> BoxFuture<'a, Result<Readiness, ProviderError>> {
        let _ = (call, request);
        Box::pin(async { Ok(Readiness::Ready(Value::Null)) })
    }

    /// Fetches the candidates of a data source.
    fn fetch<'a>(&'a self, call: &'a Call, request: FetchRequest<'a>) -> BoxFuture<'a, Result<Fetched, ProviderError>> {
        let _ = call;
        let message = format!("there is no data source `{}` here", request.type_name);
        Box::pin(async move { Err(ProviderError::new(ErrorKind::Document, message)) })
    }

    /// The transform of that name, for each that the catalogue lists.
    fn transform(&self, name: &str) -> Option<&dyn Transform> {
        let _ = name;
        None
    }

    /// Calls one of the provider's functions.
    fn call<'a>(
        &'a self,
        call: &'a Call,
        function: &'a str,
        arguments: &'a [Value],
    ) -> BoxFuture<'a, Result<Value, ProviderError>> {
        let _ = (call, arguments);
        let message = format!("there is no function `{function}` here");
        Box::pin(async move { Err(ProviderError::new(ErrorKind::Document, message)) })
    }
}
