//! The inputs, effects and result of the state machine.

use std::sync::Arc;
use std::time::Duration;

use blueprint::{Address, Breakpoint, DeclarationSite, DeleteMode, Name, TypeId, Value};
use diag::Diagnostics;
use evaluate::evaluation_question::{EvaluationQuestion, EvaluationReply};
use evaluate::event::Event;
use evaluate::question::ProviderInstance;
use expr::FunctionTable;
use provider::{Applied, Operation as Verb, ProviderError, Readiness};
use serde::Deserialize;
use state::{Counts, Entry, OperationOutcome};

/// The reaction to a failed step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnFailure {
    /// Nothing new starts. Running calls are awaited.
    #[default]
    Stop,
    /// Only dependants of the failed step are skipped.
    KeepGoing,
    /// Like `Stop`, and the state then returns to the last generation that succeeded
    /// (decisions/apply#failures). The machine treats it as `Stop`: the rollback is a plan of its
    /// own (`run::operate`).
    Rollback,
}

/// The settings for applying a plan.
#[derive(Clone, Copy, Debug)]
pub struct ApplySettings {
    /// The maximum number of concurrent calls (decisions/blueprint#parallel-calls). At least 1.
    pub parallelism: usize,
    /// The reaction to a failed step.
    pub on_failure: OnFailure,
    /// The time in which a resource must become ready.
    pub stable_within: Duration,
    /// The time after which a resource that is not ready is held, for types whose objects are
    /// complete only when they are ready: the operation ends without it, and the next one waits
    /// again.
    pub hold_after: Duration,
    /// The time for which running calls are awaited after a stop.
    pub drain: Duration,
}

impl Default for ApplySettings {
    fn default() -> ApplySettings {
        ApplySettings {
            parallelism: 16,
            on_failure: OnFailure::Stop,
            stable_within: Duration::from_secs(30 * 60),
            hold_after: Duration::from_secs(10 * 60),
            drain: Duration::from_secs(120),
        }
    }
}

/// A request of the machine to its caller.
#[derive(Debug)]
pub enum Effect {
    /// Commit these entries; answer with [`ApplyInput::Committed`]. At most one commit is in
    /// progress at a time.
    Commit(Vec<Entry>),
    /// Call the provider; answer with [`ApplyInput::Applied`] and the same task number.
    Call(u32, CallRequest),
    /// Ask whether the resource is ready; answer with [`ApplyInput::Polled`] and the same task
    /// number.
    Poll(u32, CallRequest),
    /// Ask these questions; answer with [`ApplyInput::Answered`].
    Ask(Asking),
    /// Wake the machine after this duration; answer with [`ApplyInput::Woke`] and the same number.
    Wake(u64, Duration),
    /// Cancel the running calls. They must still be answered.
    Cancel,
    /// Cancel the call of this task. It must still be answered.
    CancelOne(u32),
    /// Report this event to people.
    Report(Event),
    /// The operation is over. No effect follows.
    Finish(Outcome),
}

/// One call of a provider.
#[derive(Clone, Debug)]
pub struct CallRequest {
    /// The address of the resource.
    pub address: Address,
    /// The type of the resource.
    pub type_name: TypeId,
    /// Create, update or delete.
    pub operation: Verb,
    /// The provider's id; `None` for a create.
    pub id: Option<Name>,
    /// The inputs as last sent; null for a create.
    pub prior_inputs: Value,
    /// The fields as last returned; null for a create.
    pub prior: Value,
    /// The wanted spec, without unknown values; null for a delete.
    pub desired: Value,
    /// The version of the schema of the prior values.
    pub schema_version: u32,
    /// The fields as planned, unknown where only the call can tell; null if the provider planned
    /// none.
    pub planned: Value,
    /// Whether `planned` is a forecast that the answer need not keep.
    pub inexact: bool,
    /// The provider's opaque data.
    pub private: Value,
    /// The digests that sources had at plan time: see [`provider::ApplyRequest::sources`].
    pub sources: Vec<(Name, Value)>,
    /// The metadata of the resource, without unknown values; null for a delete.
    pub metadata: Value,
    /// How a delete is made.
    pub delete_mode: DeleteMode,
    /// The idempotency token: the same for every attempt of this step.
    pub token: Name,
    /// The declaration of the resource.
    pub site: DeclarationSite,
    /// The configuration of the provider, if a resource declares it.
    pub provider: Option<ProviderInstance>,
    /// The time limit of the call; `None` without a limit.
    pub limit: Option<Duration>,
}

/// An input of the machine.
#[derive(Debug)]
pub enum ApplyInput {
    /// The run begins at this time (seconds since 1970 UTC).
    Began(i64),
    /// The commit in progress is durable at this time (seconds since 1970 UTC).
    Committed(i64),
    /// The commit in progress failed, and no further commit is possible. The text is the reason,
    /// for people.
    CommitFailed(String),
    /// The call of a task was answered.
    Applied(u32, Result<Applied, ProviderError>),
    /// A readiness poll was answered.
    Polled(u32, Result<Readiness, ProviderError>),
    /// Questions were answered, each with its reply. The task is `None` for questions of the
    /// exported values.
    Answered(Option<u32>, Vec<(EvaluationQuestion, EvaluationReply)>),
    /// The wake-up with this number is due.
    Woke(u64),
    /// The time since the start of the run, for the inputs that follow. Without this input the
    /// machine measures no durations.
    At(Duration),
    /// A person asked to stop. Nothing new starts.
    Interrupt,
}

/// The result of an operation.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The end of the operation; `None` if the journal could not be written.
    pub outcome: Option<OperationOutcome>,
    /// The numbers of resources that it changed.
    pub counts: Counts,
    /// The errors and notes of the run, with their places in the document.
    pub diagnostics: Diagnostics,
    /// The resources whose calls were still running at the end.
    pub left_in_flight: Vec<Address>,
    /// The resources that wait because the operation stopped before them
    /// ([`Options::until`](plan::options::Options)) or at a breakpoint.
    pub waiting: Vec<Address>,
    /// The places at which the operation stands: the resource or child, and the breakpoint.
    pub stops: Vec<(Name, Breakpoint)>,
    /// The resources that were not ready when the time for waiting was over, each with what it
    /// waits for. What needs them is in `waiting`.
    pub unready: Vec<(Address, Name)>,
    /// Resources that could not be deleted and were forgotten: address, type and the provider's id.
    pub left_behind: Vec<(Address, TypeId, Name)>,
    /// Resources whose step failed, was skipped or never began.
    pub undone: Vec<Address>,
    /// The result of the automatic rollback ([`OnFailure::Rollback`]), if there was one.
    pub rolled_back: Option<Box<Outcome>>,
}

/// Questions that are asked together.
#[derive(Clone, Debug)]
pub struct Asking {
    /// The task that asks; `None` for the exported values at the end.
    pub task: Option<u32>,
    /// The questions.
    pub questions: Vec<EvaluationQuestion>,
    /// The time of the plan's evaluation: seconds since 1970 UTC.
    pub now: i64,
    /// The functions that expressions can call.
    pub functions: Arc<FunctionTable>,
}
