//! The two traits, and the requests and answers of their calls. Read from top to bottom.
//!
//! A [`Provider`] is the object that a program installs for a package: fixed facts, and the way to
//! a [`Session`]. A session is a provider with settings: it manages resources. A provider without
//! settings of its own is its own session.
//!
//! Not here: planning (`planning`), applying (`operation`), the state that an operation would find
//! (`preflight`).

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use blueprint::{Address, DeleteMode, FieldPath, Name, Value};
use tokio_util::sync::CancellationToken;

use crate::{
    Applied, Arguments, CallRecords, Catalog, ErrorKind, Finding, InstanceReader, Operation,
    PlanRequest, Planned, Preflight, PreflightRequest, ProviderDiagnostic, ProviderError,
    Transform,
};

/// A future that may be sent to another thread.
pub type BoxFuture<'a, T> = futures::future::BoxFuture<'a, T>;

/// Receives lines of progress for the user while a call runs. The provider removes secrets from
/// text that it passes on from outside.
pub type Progress = Arc<dyn Fn(&str) + Send + Sync>;

/// The data that comes with every call.
#[derive(Clone)]
pub struct Call {
    /// Where the provider records what became of its calls, if it does
    /// ([`Provider::records_calls`]); `None` if nothing outlives the run.
    pub call_records: Option<Arc<CallRecords>>,
    /// Reads recorded instances; `None` if there is no state.
    pub instances: Option<Arc<dyn InstanceReader>>,
    /// The instance.
    pub instance: Name,
    /// The address of the resource in the instance.
    pub address: Address,
    /// The name of the resource for plugins, as [`blueprint::DeclarationSite::urn`]; empty if its
    /// dialect has no such names.
    pub urn: Name,
    /// The idempotency token of the step. All tries of one step share it, including a create that
    /// is planned again after an interrupted run; no other step has it. A provider that can look
    /// tokens up does not repeat a create that succeeded.
    pub token: Name,
    /// The time that the call may take, if there is a limit. After it the provider fails with
    /// [`ErrorKind::TimedOut`].
    pub deadline: Option<Duration>,
    /// Cancelled when the caller no longer waits. The provider stops as soon as it safely can.
    pub cancel: CancellationToken,
    /// The folder of the root document. Paths of written files are relative to it.
    pub root: Arc<Path>,
    /// The folder of the document that declares the resource. Paths of files that are read are
    /// relative to it.
    pub folder: Arc<Path>,
    /// What the document may read of this machine.
    pub files: FileAccess,
    /// The user's settings of the namespace: a map.
    pub settings: Value,
    /// The current time in seconds since 1970 UTC.
    pub now: i64,
    /// Receives progress.
    pub progress: Progress,
}

/// What a document may read of this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileAccess {
    /// Whether it may read files, environment variables and the output of commands. A document from
    /// a server or a bucket may not, unless the user allows it.
    pub local: bool,
    /// The maximum number of bytes of a file whose content becomes a value.
    pub most_bytes: u64,
}

impl Default for FileAccess {
    /// The access of a document of this machine, with the default limit.
    fn default() -> FileAccess {
        FileAccess {
            local: true,
            most_bytes: FileAccess::MOST_BYTES,
        }
    }
}

impl FileAccess {
    /// The default of [`FileAccess::most_bytes`].
    pub const MOST_BYTES: u64 = 64 << 20;

    /// Fails if the document may not read this machine.
    ///
    /// # Errors
    /// [`ErrorKind::Document`] at `field`.
    pub fn refuse_remote(self, field: &str) -> Result<(), ProviderError> {
        match self.refusal() {
            None => Ok(()),
            Some(why) => Err(ProviderError::new(ErrorKind::Document, why).at(field)),
        }
    }

    /// The reason why the document may not read this machine, as a phrase; `None` if it may.
    pub fn refusal(self) -> Option<&'static str> {
        (!self.local).then_some(
            "a remote document cannot read files, variables or output of commands of this machine; \
             allow it for a source that you trust with `local-access` under `[documents]` in \
             `cyan.toml`",
        )
    }
}

/// The stored data of a resource: see [`Provider::set_recorded_objects`].
pub struct RecordedObject<'a> {
    /// The resource type.
    pub type_name: &'a str,
    /// The provider's own id. `None` after a create that failed or was interrupted.
    pub id: Option<&'a str>,
    /// The inputs as sent.
    pub inputs: &'a Value,
    /// Opaque data of the provider, as last returned; after a create that failed or was
    /// interrupted, as `plan` returned it.
    pub private: &'a Value,
}

/// A request to check a spec beyond the facts of the catalogue.
#[derive(Clone, Copy, Debug)]
pub struct CheckRequest<'a> {
    /// The resource type.
    pub type_name: &'a str,
    /// The spec with defaults filled in. It may hold unknown values.
    pub spec: &'a Value,
}

/// The provider's findings about a spec.
#[derive(Clone, Debug, Default)]
pub struct CheckFindings {
    /// Refusals and warnings.
    pub diagnostics: Vec<ProviderDiagnostic>,
    /// The id that the object will have, if the spec alone shows it. No two resources of a type have
    /// the same.
    pub id: Option<Name>,
}

impl CheckFindings {
    /// Refuses the value at a path, with the reason.
    pub fn refuse(&mut self, path: impl Into<FieldPath>, why: impl Into<String>) {
        self.diagnostics.push(ProviderDiagnostic::error(path, why));
    }

    /// Reports that the value at a path has the wrong type, given the other fields.
    pub fn mismatch(&mut self, path: impl Into<FieldPath>, why: impl Into<String>) {
        self.diagnostics
            .push(ProviderDiagnostic::error(path, why).about(Finding::WrongType));
    }

    /// Reports that the value at a path is outside the limits that other fields set.
    pub fn out_of_range(&mut self, path: impl Into<FieldPath>, why: impl Into<String>) {
        self.diagnostics
            .push(ProviderDiagnostic::error(path, why).about(Finding::OutOfRange));
    }

    /// Warns about the value at a path.
    pub fn warn(&mut self, path: impl Into<FieldPath>, why: impl Into<String>) {
        self.diagnostics
            .push(ProviderDiagnostic::warning(path, why));
    }
}

/// A request for the current state of a resource.
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
    /// The version of the type's schema that the recorded values have.
    pub schema_version: u32,
    /// Opaque data of the provider, as last returned; after an interrupted create, as `plan`
    /// returned it.
    pub private: &'a Value,
    /// The token of a call whose outcome is unknown: the provider must find out whether it
    /// succeeded. `None` for a recorded resource.
    pub token: Option<&'a str>,
}

/// The result of a read.
#[derive(Clone, Debug)]
pub enum ReadOutcome {
    /// The resource exists.
    Present(Observed),
    /// The resource does not exist.
    Absent,
    /// The provider cannot tell whether the call of that token created a resource.
    Unknown,
}

/// An existing resource.
#[derive(Clone, Debug, Default)]
pub struct Observed {
    /// The provider's own id.
    pub id: Name,
    /// All current fields, user-set and computed ones: a map.
    pub fields: Value,
    /// The spec that would create the resource as it is, if the provider returns one. An import
    /// records it.
    pub inputs: Option<Value>,
    /// Opaque data of the provider.
    pub private: Value,
    /// The reason to replace the resource although it matches its spec, for example a certificate
    /// that expires soon.
    pub expired: Option<String>,
    /// Warnings and notes.
    pub diagnostics: Vec<ProviderDiagnostic>,
}

/// A request for an existing resource that is not part of the instance.
#[derive(Clone, Copy, Debug)]
pub struct ImportRequest<'a> {
    /// The resource type.
    pub type_name: &'a str,
    /// The id by which the provider imports: its own id, or another text that the type documents.
    pub id: &'a str,
    /// The desired spec, if a document declares the resource and the capabilities of its type set
    /// `imports_declared`; else null. Values that are not known yet are unknown.
    pub desired: &'a Value,
}

/// One resource that an import found. An import may find several, of several types.
#[derive(Clone, Debug)]
pub struct Imported {
    /// Its type.
    pub type_name: Name,
    /// The existing resource.
    pub observed: Observed,
}

/// A request to convert recorded values to the current version of their type's schema.
#[derive(Clone, Copy, Debug)]
pub struct UpgradeRequest<'a> {
    /// The resource type.
    pub type_name: &'a str,
    /// The version that the values have.
    pub schema_version: u32,
    /// The inputs as last sent.
    pub inputs: &'a Value,
    /// The fields as last answered.
    pub fields: &'a Value,
    /// Opaque data of the provider.
    pub private: &'a Value,
}

/// Recorded values of a resource.
#[derive(Clone, Debug, PartialEq)]
pub struct Upgraded {
    /// The inputs as last sent.
    pub inputs: Value,
    /// The fields as last answered.
    pub fields: Value,
    /// Opaque data of the provider.
    pub private: Value,
}

/// A request for one operation.
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
    /// The version of the type's schema that the prior values have.
    pub schema_version: u32,
    /// The fields as planned, unknown where only this call can tell; null if the provider planned
    /// none.
    pub planned: &'a Value,
    /// Opaque data: from `plan` if it was asked, else from the record; null for a create without a
    /// plan.
    pub private: &'a Value,
    /// The fields that name sources, each with the digest that the plan saw. The provider does
    /// nothing if a source has another digest. Sources that the plan itself may change are left
    /// out.
    pub sources: &'a [(Name, Value)],
    /// What the document says about the resource besides its spec: a map with `displayName`,
    /// `labels`, `annotations` and `custom` (the `metadata` of a template of Heat), as far as they
    /// are written; null if nothing is. Complete and known; null for a delete.
    pub metadata: &'a Value,
    /// How a delete is made; [`DeleteMode::Delete`] for other operations. Only a type whose
    /// capabilities set `snapshots` gets [`DeleteMode::SnapshotFirst`]. A delete that is tried again
    /// may have taken its snapshot already: the token of the call is the same.
    pub delete_mode: DeleteMode,
}

/// Whether a resource is ready, as `Session::poll_ready` returns it.
#[derive(Clone, Debug)]
pub enum Readiness {
    /// The resource is ready. Holds the fields that changed meanwhile, or null.
    Ready(Value),
    /// The resource is not ready yet.
    NotYet {
        /// What it waits for, as a phrase, if the provider knows that.
        why: Option<Name>,
        /// The fields that changed meanwhile, or null. A document whose dialect has its own rule for
        /// readiness is judged by them.
        fields: Value,
    },
    /// The resource will never be ready, for these reasons. The next plan changes or replaces it.
    Broken(Vec<Name>),
}

impl Readiness {
    /// Not ready yet, for a reason that the provider does not know.
    pub const NOT_YET: Readiness = Readiness::NotYet {
        why: None,
        fields: Value::Null,
    };
}

/// A request for the candidates of a data source.
#[derive(Clone, Copy, Debug)]
pub struct FetchRequest<'a> {
    /// The data source type.
    pub type_name: &'a str,
    /// The filters: field, operator and search value, all known.
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
    /// Warnings, each about the field of a filter.
    pub diagnostics: Vec<ProviderDiagnostic>,
}

/// One candidate of a data source.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Values of filter fields, by path. Fields that are missing here are not checked again.
    pub filter_fields: Value,
    /// The exportable fields.
    pub fields: Value,
}

/// A request for the value of a function.
#[derive(Clone, Copy, Debug)]
pub struct InvokeRequest<'a> {
    /// The function.
    pub function: &'a str,
    /// The arguments, all known: by name if the function is declared with names, otherwise by
    /// position.
    pub arguments: &'a Arguments,
    /// Whether the call is part of a preview. A function with side effects does nothing then.
    pub preview: bool,
}

/// The configuration of a session.
pub struct Configuration {
    /// The name of the provider instance: the package, or the address of the resource that declares
    /// it.
    pub name: Name,
    /// The settings: a map, or null. They may hold unknown values while a plan is made.
    pub settings: Value,
    /// The settings that the recorded resources were last managed with; null if there are none.
    pub former: Value,
    /// Whether nothing may be contacted. The settings are not known then. The session only checks
    /// specs, as for `validate`, and manages resources whose types live in the state
    /// ([`Capabilities::state_only`](crate::Capabilities::state_only)).
    pub offline: bool,
    /// The folder of the root document.
    pub root: Arc<Path>,
    /// Receives log lines of the provider's process, without secrets.
    pub log: Progress,
}

/// The effect of a change of settings on the resources that were managed with the former ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SettingsChange {
    /// No effect.
    #[default]
    Same,
    /// The resources stay and are managed with the new settings.
    Update,
    /// The resources must be replaced, because these settings changed: another account or region,
    /// for example.
    Replace(Vec<FieldPath>),
}

/// A configured provider.
pub struct Configured {
    /// The session.
    pub session: Arc<dyn Session>,
    /// The effect of the change from the former settings.
    pub change: SettingsChange,
    /// Warnings and notes about the settings.
    pub diagnostics: Vec<ProviderDiagnostic>,
}

/// Returns the answer of a provider that needs no settings and is its own session.
pub fn configured<S: Session + 'static>(
    session: Arc<S>,
) -> BoxFuture<'static, Result<Configured, ProviderError>> {
    let configured = Configured {
        session,
        change: SettingsChange::Same,
        diagnostics: Vec::new(),
    };
    Box::pin(std::future::ready(Ok(configured)))
}

/// The object that a program installs for a package.
pub trait Provider: Send + Sync {
    /// All fixed facts. Returns the same catalogue each time; cheap to call.
    fn catalog(&self) -> &Arc<Catalog>;

    /// Passes the stored data of its resources to the provider, before a plan is made or applied.
    /// `root` is the folder of the root document. The provider may learn which objects earlier
    /// processes created; it calls nothing and changes nothing.
    fn set_recorded_objects(&self, root: &Path, objects: &[RecordedObject<'_>]) {
        let _ = (root, objects);
    }

    /// Whether the provider records what becomes of the calls on resources of this type in
    /// [`Call::call_records`]. The runtime announces each such call there before it commits the
    /// intent, and removes the files once the outcome is committed. A read with the token of a call
    /// then tells how the call ended, and waits for a call that still runs.
    fn records_calls(&self, type_name: &str) -> bool {
        let _ = type_name;
        false
    }

    /// The transform of that name. The catalogue lists the names.
    fn transform(&self, name: &str) -> Option<&dyn Transform> {
        let _ = name;
        None
    }

    /// Connects and configures a session. Called once for each configuration of a run; starts a
    /// process if the provider needs one.
    ///
    /// Fails if the settings are refused ([`ErrorKind::Credentials`], [`ErrorKind::Document`] with
    /// the path of the setting) or the provider cannot be reached.
    fn configure(
        self: Arc<Self>,
        with: Configuration,
    ) -> BoxFuture<'static, Result<Configured, ProviderError>>;
}

/// A configured provider: manages the resources of a package.
///
/// Calls for different resources run concurrently; calls for one resource never do. A call does not
/// block its thread for long: blocking work goes to a thread of its own. Incoming values may be
/// marked secret at any depth. Answers need no marks in fields that the catalogue declares
/// sensitive; marks in answers are kept.
pub trait Session: Send + Sync {
    /// Checks a spec beyond the catalogue. Only called if the type's capabilities set `checks`.
    fn check<'a>(
        &'a self,
        call: &'a Call,
        request: CheckRequest<'a>,
    ) -> BoxFuture<'a, Result<CheckFindings, ProviderError>> {
        let _ = (call, request);
        Box::pin(async { Ok(CheckFindings::default()) })
    }

    /// Reads one resource. A resource that does not exist is [`ReadOutcome::Absent`], not an error.
    fn read<'a>(
        &'a self,
        call: &'a Call,
        request: ReadRequest<'a>,
    ) -> BoxFuture<'a, Result<ReadOutcome, ProviderError>>;

    /// Returns the effects of a change. The type's [`Plans`](crate::Plans) determine when it is
    /// called.
    fn plan<'a>(
        &'a self,
        call: &'a Call,
        request: PlanRequest<'a>,
    ) -> BoxFuture<'a, Result<Planned, ProviderError>> {
        let _ = (call, request);
        Box::pin(async { Ok(Planned::default()) })
    }

    /// Returns the state that an operation would find, and changes nothing. Only called if the
    /// type's capabilities set `preflights`.
    fn preflight<'a>(
        &'a self,
        call: &'a Call,
        request: PreflightRequest<'a>,
    ) -> BoxFuture<'a, Result<Preflight, ProviderError>> {
        let _ = (call, request);
        Box::pin(async { Ok(Preflight::default()) })
    }

    /// Creates, updates or deletes one resource. Deleting a resource that does not exist succeeds.
    fn apply<'a>(
        &'a self,
        call: &'a Call,
        request: ApplyRequest<'a>,
    ) -> BoxFuture<'a, Result<Applied, ProviderError>>;

    /// Returns whether a resource is ready. Only called after an `apply` whose answer was
    /// [`Ready::Pending`](crate::Ready::Pending).
    fn poll_ready<'a>(
        &'a self,
        call: &'a Call,
        request: ReadRequest<'a>,
    ) -> BoxFuture<'a, Result<Readiness, ProviderError>> {
        let _ = (call, request);
        Box::pin(async { Ok(Readiness::Ready(Value::Null)) })
    }

    /// Finds an existing resource for import. By default it reads the resource of that id.
    fn import<'a>(
        &'a self,
        call: &'a Call,
        request: ImportRequest<'a>,
    ) -> BoxFuture<'a, Result<Vec<Imported>, ProviderError>> {
        Box::pin(async move {
            let read = ReadRequest {
                type_name: request.type_name,
                id: Some(request.id),
                inputs: request.desired,
                outputs: &Value::Null,
                schema_version: 0,
                private: &Value::Null,
                token: None,
            };
            Ok(match self.read(call, read).await? {
                ReadOutcome::Present(observed) => vec![Imported {
                    type_name: request.type_name.into(),
                    observed,
                }],
                ReadOutcome::Absent | ReadOutcome::Unknown => Vec::new(),
            })
        })
    }

    /// Converts recorded values to the current version of their schema. Called before a plan is
    /// made if a record has an older version than the catalogue, and again until an operation has
    /// written the record. By default the values stay unchanged.
    fn upgrade<'a>(
        &'a self,
        call: &'a Call,
        request: UpgradeRequest<'a>,
    ) -> BoxFuture<'a, Result<Upgraded, ProviderError>> {
        let _ = call;
        let UpgradeRequest {
            inputs,
            fields,
            private,
            ..
        } = request;
        let kept = Upgraded {
            inputs: inputs.clone(),
            fields: fields.clone(),
            private: private.clone(),
        };
        Box::pin(async { Ok(kept) })
    }

    /// Fetches the candidates of a data source.
    fn fetch<'a>(
        &'a self,
        call: &'a Call,
        request: FetchRequest<'a>,
    ) -> BoxFuture<'a, Result<Fetched, ProviderError>> {
        let _ = call;
        let message = format!("there is no data source `{}` here", request.type_name);
        Box::pin(async move { Err(ProviderError::new(ErrorKind::Document, message)) })
    }

    /// Calls one of the provider's functions.
    fn invoke<'a>(
        &'a self,
        call: &'a Call,
        request: InvokeRequest<'a>,
    ) -> BoxFuture<'a, Result<Value, ProviderError>> {
        let _ = call;
        let message = format!("there is no function `{}` here", request.function);
        Box::pin(async move { Err(ProviderError::new(ErrorKind::Document, message)) })
    }

    /// Ends the session: stops its process, closes its connections. No call follows.
    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}
