//! What the machine is told and what it wants: its inputs, its effects, and how an operation went.

use std::sync::Arc;
use std::time::Duration;

use blueprint::{Address, Breakpoint, Name, TypeId, Value};
use diag::Diagnostics;
use evaluate::event::Event;
use evaluate::questions::{Question, Reply};
use expr::FunctionTable;
use provider::{Applied, Operation as Verb, ProviderError, Readiness};
use state::{Entry, OperationOutcome};

/// What to do when a step fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnFailure {
    /// Nothing new starts; what runs is waited for.
    #[default]
    Stop,
    /// Only what depends on it is left out.
    KeepGoing,
    /// As `Stop`; then everything goes back to the last generation that ended well (decision 5.3). To the machine itself
    /// it is `Stop`: what follows is another plan (`shell::operate`).
    Rollback,
}

/// How to carry a plan out.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// At most this many calls at once (decision S64).
    pub parallelism: usize,
    /// What to do when a step fails.
    pub on_failure: OnFailure,
    /// How long a thing may take to become stable.
    pub stable_within: Duration,
    /// How long calls in flight are waited for after a stop.
    pub drain: Duration,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            parallelism: 16,
            on_failure: OnFailure::Stop,
            stable_within: Duration::from_secs(30 * 60),
            drain: Duration::from_secs(120),
        }
    }
}

/// What the machine wants done.
#[derive(Debug)]
pub enum Effect {
    /// Commit these entries; answer with [`Happened::Committed`]. At most one commit is under way at a time.
    Commit(Vec<Entry>),
    /// Call the provider; answer with [`Happened::Applied`] under the same number.
    Call(u32, CallRequest),
    /// Ask whether the thing is stable; answer with [`Happened::Looked`].
    Look(u32, CallRequest),
    /// Put these questions to the world; answer with [`Happened::Answered`].
    Ask(Asking),
    /// Wake the machine under this number after this long: [`Happened::Woke`].
    Wake(u64, Duration),
    /// End the calls that are in flight; they still answer.
    Cancel,
    /// End the call of this number; it still answers.
    CancelOne(u32),
    /// Tell people.
    Tell(Event),
    /// The operation is over. Nothing follows.
    Finish(Outcome),
}

/// One call of a provider, complete.
#[derive(Clone, Debug)]
pub struct CallRequest {
    /// On what.
    pub address: Address,
    /// Its type.
    pub type_name: TypeId,
    /// Create, update or delete.
    pub operation: Verb,
    /// The provider's id; none for a create.
    pub id: Option<Name>,
    /// The inputs as last sent; null for a create.
    pub prior_inputs: Value,
    /// The fields as last answered; null for a create.
    pub prior: Value,
    /// The spec wanted, known; null for a delete.
    pub desired: Value,
    /// Opaque data of the provider.
    pub private: Value,
    /// The digests that sources had when the plan was made: see [`provider::ApplyRequest::sources`].
    pub sources: Vec<(Name, Value)>,
    /// The same for every try of this step.
    pub token: Name,
    /// The folder of the document that declares it, as in [`ReadQuestion::folder`](evaluate::world::ReadQuestion::folder).
    pub folder: Name,
    /// How long it may take, where something limits it.
    pub limit: Option<Duration>,
}

/// What happened.
#[derive(Debug)]
pub enum Happened {
    /// The run begins, at this instant (seconds since 1970 UTC).
    Began(i64),
    /// The commit under way is durable, at this instant.
    Committed(i64),
    /// The commit under way was refused: nothing can be written any more. Why, for people.
    CommitFailed(String),
    /// A call was answered.
    Applied(u32, Result<Applied, ProviderError>),
    /// A thing was looked at.
    Looked(u32, Result<Readiness, ProviderError>),
    /// Questions of a task, or of the exported values, were answered, each with what the world said.
    Answered(Option<u32>, Vec<(Question, Reply)>),
    /// A wake-up came.
    Woke(u64),
    /// So long after it began what follows happened. Who never says so learns nothing of how long things take.
    At(Duration),
    /// A person asked to stop: nothing new starts.
    Interrupt,
}

/// How it went.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// How it ended; none if nothing could be recorded any more.
    pub outcome: Option<OperationOutcome>,
    /// Created, updated, deleted, replaced.
    pub counts: [u64; 4],
    /// What went wrong, at the places of the document.
    pub diagnostics: Diagnostics,
    /// Calls that were still in flight when it ended.
    pub left_in_flight: Vec<Address>,
    /// What waits because the operation was to stop before it ([`Options::until`](plan::options::Options)), or stands at a breakpoint
    /// that it waits for.
    pub waiting: Vec<Address>,
    /// Where it stands: the thing or the child, and the breakpoint.
    pub stops: Vec<(Name, Breakpoint)>,
    /// Things that could not be deleted and were forgotten all the same: address, type and the provider's id.
    pub left_behind: Vec<(Address, TypeId, Name)>,
    /// What was to be done and was not: failed, left out, or never begun.
    pub undone: Vec<Address>,
    /// How the rollback went that followed by itself ([`OnFailure::Rollback`]), if one did.
    pub rolled_back: Option<Box<Outcome>>,
}

/// Questions to put to the world, together.
#[derive(Clone, Debug)]
pub struct Asking {
    /// The task that asks; none where the exported values do, at the end.
    pub task: Option<u32>,
    /// The questions.
    pub questions: Vec<Question>,
    /// The instant of the stage: seconds since 1970 UTC.
    pub now: i64,
    /// What expressions can call.
    pub functions: Arc<FunctionTable>,
}
