//! The trait, and the data that goes in and out of it. Read from top to bottom.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use blueprint::{Address, Name, Value};
use tokio_util::sync::CancellationToken;

use crate::{Catalog, Operation, Preflight, PreflightRequest, ResourceType, Transform};

/// A future that may be sent to another thread.
pub type BoxFuture<'a, T> = futures::future::BoxFuture<'a, T>;

/// Takes lines of progress while a call runs: what a person would like to see. Never secrets in clear: the provider
/// scrubs what it passes on from outside.
pub type Progress = Arc<dyn Fn(&str) + Send + Sync>;

/// What comes with every call.
#[derive(Clone)]
pub struct Call {
    /// The instance.
    pub instance: Name,
    /// The thing's address in it.
    pub address: Address,
    /// The same for every try of one step, also when a create is planned again after a run that was cut off, and for nothing
    /// else: a create that was done under it is not done again, where the provider can tell (idempotency).
    pub token: Name,
    /// How long the call may take, where something limits it: past it the provider gives up with [`ErrorKind::TimedOut`].
    pub deadline: Option<Duration>,
    /// Ended when nobody waits any more; the provider stops as soon as it safely can.
    pub cancel: CancellationToken,
    /// The folder of the root document: what is written is relative to it.
    pub root: PathBuf,
    /// The folder of the document that declares the thing: what is read is relative to it.
    pub folder: PathBuf,
    /// Settings of the namespace, as configured by the user: a map.
    pub settings: Value,
    /// Seconds since 1970 UTC, now.
    pub now: i64,
    /// Where progress goes.
    pub progress: Progress,
}

/// What the state holds of a thing: see [`Provider::recall`].
pub struct Recalled<'a> {
    /// The resource type.
    pub type_name: &'a str,
    /// The provider's own id; none of a create that failed or was cut off.
    pub id: Option<&'a str>,
    /// The inputs as sent.
    pub inputs: &'a Value,
    /// Opaque data of the provider, as last given; of a create that failed or was cut off what `plan` gave.
    pub private: &'a Value,
}

/// Ask whether a spec is acceptable, beyond what the catalogue says.
pub struct CheckRequest<'a> {
    /// The resource type.
    pub type_name: &'a str,
    /// The spec with defaults filled in; unknown parts may stand in it.
    pub spec: &'a Value,
}

/// What the provider says about a spec.
#[derive(Clone, Debug, Default)]
pub struct Checked {
    /// Field path (dots, `[n]`; empty for the spec as a whole) and why it is refused.
    pub rejected: Vec<(String, String)>,
    /// Field path and why its value is of the wrong kind, where that depends on other fields.
    pub mismatched: Vec<(String, String)>,
    /// Field path and why its value is outside the limits that other fields set it.
    pub outside: Vec<(String, String)>,
    /// Field path and what is worth knowing.
    pub warnings: Vec<(String, String)>,
}

/// Ask what is there.
pub struct ReadRequest<'a> {
    /// The resource type.
    pub type_name: &'a str,
    /// The provider's own id, if known.
    pub id: Option<&'a str>,
    /// The inputs as last sent; null where nothing was sent yet (import, lost answer).
    pub inputs: &'a Value,
    /// The fields as last answered; null where unknown.
    pub outputs: &'a Value,
    /// Opaque data of the provider, as last given; of a create that was cut off what `plan` gave.
    pub private: &'a Value,
    /// The token of a call whose outcome is unknown: look for what became of it. None where what is recorded is looked at.
    pub token: Option<&'a str>,
}

/// What was seen.
#[derive(Clone, Debug)]
pub enum Seen {
    /// It is there.
    There {
        /// The provider's own id.
        id: Name,
        /// All fields as they are now, user-set and computed ones: a map.
        fields: Value,
        /// Opaque data of the provider.
        private: Value,
        /// Should be made anew although it is as described (a certificate near its end): why.
        expired: Option<String>,
    },
    /// It is not there.
    Gone,
    /// The provider cannot tell whether the thing of that token exists.
    CannotTell,
}

/// Ask what an update would do, where the type's [`Capabilities`](crate::Capabilities) say `plans`; or what is at the place of a
/// thing before it is created, where they say `adopts`.
pub struct PlanRequest<'a> {
    /// The resource type.
    pub type_name: &'a str,
    /// The inputs as last sent; null for a create.
    pub prior_inputs: &'a Value,
    /// The fields as last answered or seen; null for a create.
    pub prior: &'a Value,
    /// The spec wanted, defaults filled in, unknown parts in it.
    pub desired: &'a Value,
}

/// What the provider would do.
#[derive(Clone, Debug, Default)]
pub struct Planned {
    /// Field paths that force a replacement, beside those of the catalogue.
    pub replaces: Vec<String>,
    /// Computed fields that will change, beside those of the catalogue.
    pub changes: Vec<String>,
    /// Field paths whose difference does not matter to the thing itself: the new value is only recorded.
    pub only_recorded: Vec<String>,
    /// A thing that exists already and is as wanted: the create takes it under management, and a delete leaves it.
    pub adopts: bool,
    /// Opaque data that `apply` gets back. Of a create it is kept with the intent: [`ReadRequest::private`] of a create that was
    /// cut off holds it.
    pub private: Value,
}

impl Planned {
    /// What the catalogue says of fields that replace the thing where another field says so.
    pub fn by_policy(resource_type: Option<&ResourceType>, request: &PlanRequest<'_>) -> Planned {
        let replaced = resource_type.map(|ty| ty.replaced_by_policy(request.prior_inputs, request.desired));
        let replaces = replaced.iter().flatten().map(|field| field.to_string()).collect();
        Planned { replaces, ..Planned::default() }
    }
}

/// Do one thing.
pub struct ApplyRequest<'a> {
    /// Create, update or delete.
    pub operation: Operation,
    /// The resource type.
    pub type_name: &'a str,
    /// The provider's own id; none for a create.
    pub id: Option<&'a str>,
    /// The inputs as last sent; null for a create.
    pub prior_inputs: &'a Value,
    /// The fields as last answered; null for a create.
    pub prior: &'a Value,
    /// The spec wanted, complete and known; null for a delete.
    pub desired: &'a Value,
    /// Opaque data: from `plan` if it was asked, else from the record; null for a create without a plan.
    pub private: &'a Value,
    /// The fields that name sources, and the digests that the sources had when the plan was made: what is read has these, or
    /// nothing is done. Nothing of a source that the plan may change before.
    pub sources: &'a [(Name, Value)],
}

/// What was done.
#[derive(Clone, Debug)]
pub struct Applied {
    /// The provider's own id. Empty after a delete.
    pub id: Name,
    /// All fields of the thing as they are now, user-set and computed ones: a map. Null after a delete.
    pub fields: Value,
    /// Opaque data of the provider, kept with the record.
    pub private: Value,
    /// Whether it is stable already; if not, `stable` is asked until it is.
    pub stable: bool,
    /// What is worth knowing about it, such as files left in a folder.
    pub warnings: Vec<String>,
}

/// Whether a thing has settled.
#[derive(Clone, Debug)]
pub enum Stability {
    /// It has. Fields that changed meanwhile, or null.
    Stable(Value),
    /// Not yet.
    NotYet,
}

/// Fetch what a data source asks for.
pub struct FetchRequest<'a> {
    /// The data source type.
    pub type_name: &'a str,
    /// Field, operator, search value; all known.
    pub filters: &'a [(Name, Name, Value)],
    /// Annotations of the data source, evaluated.
    pub annotations: &'a Value,
}

/// The candidates, in a stable order that is documented with the type.
#[derive(Clone, Debug, Default)]
pub struct Fetched {
    /// The candidates.
    pub candidates: Vec<Candidate>,
    /// Positions of the filters that have been applied already.
    pub applied: Vec<usize>,
    /// The field of a filter and what is worth knowing about its value.
    pub warnings: Vec<(String, String)>,
}

/// One candidate of a data source.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Values of filter fields, by path; those that are not here are not checked again.
    pub filter_fields: Value,
    /// The fields that may be exported.
    pub fields: Value,
}

/// Whose fault it is, and what may be done about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorKind {
    /// What was asked for is refused as it is.
    Document,
    /// Credentials are missing or refused.
    Credentials,
    /// Too many calls; may be tried again.
    Throttled,
    /// Something else is in the way.
    Conflict,
    /// The thing is not there.
    NotFound,
    /// May go away; may be tried again.
    Transient,
    /// The [deadline](Call::deadline) of the call is over; may be tried again.
    TimedOut,
    /// Will not go away by trying again.
    Permanent,
    /// The call was cancelled.
    Cancelled,
}

impl ErrorKind {
    /// Whether the same call may be tried again.
    pub fn is_retryable(self) -> bool {
        matches!(self, ErrorKind::Throttled | ErrorKind::Transient | ErrorKind::TimedOut)
    }
}

/// The provider could not do it.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct ProviderError {
    /// Whose fault, and whether to try again.
    pub kind: ErrorKind,
    /// The provider's own words, without secrets.
    pub message: String,
    /// Path of the field at fault, if one is.
    pub field: Option<String>,
    /// What exists by now although the call failed; it is recorded before the error is reported.
    pub partial: Option<Box<Applied>>,
    /// How long the server has asked to wait before the call is made again.
    pub retry_after: Option<Duration>,
}

impl ProviderError {
    /// An error of a kind, in the provider's words.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> ProviderError {
        ProviderError { kind, message: message.into(), field: None, partial: None, retry_after: None }
    }

    /// What the server asked to wait before the next try.
    pub fn after(mut self, pause: Duration) -> ProviderError {
        self.retry_after = Some(pause);
        self
    }

    /// The field at fault.
    pub fn at(mut self, field: impl Into<String>) -> ProviderError {
        self.field = Some(field.into());
        self
    }
}

/// Something that manages real things.
///
/// Calls for different things run at the same time; calls for one thing never do. A call never blocks the thread for
/// long: blocking work goes to a thread of its own. Values that come in may be marked secret at any depth; values that
/// go out need no marks, the catalogue says what is sensitive.
pub trait Provider: Send + Sync {
    /// All fixed facts. The same every time; cheap to call.
    fn catalog(&self) -> &Arc<Catalog>;

    /// Tells the provider what the state holds of its things, before a plan is made or carried out. `root` is the folder of the
    /// root document. Nothing is asked and nothing is changed: the provider may learn what earlier processes made.
    fn recall(&self, root: &Path, things: &[Recalled<'_>]) {
        let _ = (root, things);
    }

    /// Checks a spec beyond the catalogue. Only asked where the type says `checks`.
    fn check<'a>(&'a self, call: &'a Call, request: CheckRequest<'a>) -> BoxFuture<'a, Result<Checked, ProviderError>> {
        let _ = (call, request);
        Box::pin(async { Ok(Checked::default()) })
    }

    /// Reads one thing. Something that is not there is [`Seen::Gone`], not an error.
    fn read<'a>(&'a self, call: &'a Call, request: ReadRequest<'a>) -> BoxFuture<'a, Result<Seen, ProviderError>>;

    /// Says what a create or update would do: [`PlanRequest`] says when it is asked.
    fn plan<'a>(&'a self, call: &'a Call, request: PlanRequest<'a>) -> BoxFuture<'a, Result<Planned, ProviderError>> {
        let _ = (call, request);
        Box::pin(async { Ok(Planned::default()) })
    }

    /// Says what an operation would meet, and changes nothing. Only asked where the type says `preflights`.
    fn preflight<'a>(
        &'a self,
        call: &'a Call,
        request: PreflightRequest<'a>,
    ) -> BoxFuture<'a, Result<Preflight, ProviderError>> {
        let _ = (call, request);
        Box::pin(async { Ok(Preflight::default()) })
    }

    /// Creates, updates or deletes one thing. Deleting what is not there succeeds.
    fn apply<'a>(&'a self, call: &'a Call, request: ApplyRequest<'a>) -> BoxFuture<'a, Result<Applied, ProviderError>>;

    /// Whether a thing that was not stable has settled. Only asked after an `apply` that said so.
    fn stable<'a>(
        &'a self,
        call: &'a Call,
        request: ReadRequest<'a>,
    ) -> BoxFuture<'a, Result<Stability, ProviderError>> {
        let _ = (call, request);
        Box::pin(async { Ok(Stability::Stable(Value::Null)) })
    }

    /// Fetches candidates for a data source.
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
