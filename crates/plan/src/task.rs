//! What a plan hands to `apply`: tasks, what they wait for, and the decisions behind them.

use blueprint::{Address, Name, ReplaceOrder, TypeId, Value};

use crate::linked::Linked;
use crate::model::Action;

impl Decided {
    /// The old object of that number: 0 is the object itself, others are deposed objects, the newest first.
    pub fn old_object(&self, old: u32) -> Option<&state::Record> {
        let prior = self.prior.as_deref()?;
        match old {
            0 => Some(prior),
            more => prior.deposed_objects().nth(more as usize - 1),
        }
    }
}

/// What one task does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskKind {
    /// Creates the object.
    Create,
    /// Changes it in place.
    Update,
    /// Takes it away.
    Delete,
    /// Deletes an old object: 0 is the one before the replacement, others are deposed objects of earlier ones.
    DeleteOld(u32),
    /// Changes its record, without a call.
    Record,
    /// Forgets it, without a call.
    Forget,
    /// Nothing: its record is written when the operation begins.
    Settled,
    /// Only finds out whether its condition holds.
    Condition,
    /// Polls an object until it is ready that an earlier operation left accepted but not ready.
    PollUntilReady,
    /// Takes it away if its condition came out false; waits for everything else.
    DeleteIfAbsent,
    /// Writes into a target what a link contributes to it, or takes it out.
    LinkWrite,
    /// A link is made: its record.
    Link,
    /// Nothing: stands for an intermediate value that others wait for.
    Gather,
    /// Nothing: so long after everything it waits for, others go on.
    Pause(std::time::Duration),
    /// Takes away what was made only to stand in for others.
    TakeBack,
    /// Reads the data source of that number, which could not be read at stage.
    Read(u32),
    /// Nothing: the operation stops here, at the gate of that number, or an action is over.
    Gate(u32),
}

/// How far another task must have come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// The provider has accepted, and its answer is in the state.
    Configured,
    /// It is stable.
    Ready,
    /// It is over, well or not: who waits only wants to do more at once.
    Over,
}

/// A task waits for another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// The number of the other task.
    pub task: u32,
    /// How far it must have come.
    pub until: Until,
}

/// One call, or one change of the state alone.
#[derive(Clone, Debug)]
pub struct Task {
    /// What it does.
    pub kind: TaskKind,
    /// The number of its step; none for a gather.
    pub step: Option<u32>,
    /// What it waits for.
    pub waits: Vec<Wait>,
    /// The decision behind it; none for a task that only gathers others.
    pub decision: Option<std::sync::Arc<Decided>>,
}

/// What a task needs to know of the decision behind it.
#[derive(Clone, Debug)]
pub struct Decided {
    /// Its position among the decisions of the plan.
    pub(crate) number: usize,
    /// The address of the resource.
    pub address: Address,
    /// The declared resource and the position of the member; none for what is no longer declared.
    pub element: Option<(u32, Option<u32>)>,
    /// What of a link it is about, if it is.
    pub linked: Option<std::sync::Arc<Linked>>,
    /// Its type.
    pub type_name: TypeId,
    /// The definition of its type; none where no catalogue has it.
    pub ty: Option<std::sync::Arc<provider::ResourceType>>,
    /// What is done.
    pub action: Action,
    /// Whether a value that becomes known may turn an update into a replacement.
    pub may_replace: bool,
    /// In which order a replacement is done.
    pub replace_order: ReplaceOrder,
    /// Whether its condition is known only on deploy.
    pub condition_open: bool,
    /// A call is due even if no field differs: the world has drifted, or the last operation failed.
    pub insist: bool,
    /// The spec wanted.
    pub desired: Value,
    /// Labels, annotations, display name and custom data.
    pub metadata: Value,
    /// The record; none for what does not exist.
    pub prior: Option<std::sync::Arc<state::Record>>,
    /// The fields as last answered or seen.
    pub outputs: Value,
    /// Opaque data of the provider about the object as it was, as last answered or read.
    pub private: Value,
    /// What the provider planned for a change of the object; null if it planned none.
    pub planned_private: Value,
    /// The configuration of its provider when the plan was made, if a resource declares it.
    pub provider: Option<std::sync::Arc<evaluate::question::ProviderInstance>>,
    /// What it depends on directly.
    pub dependencies: Vec<Address>,
    /// Whether it stays when it is no longer declared.
    pub retain: bool,
    /// Whether it must not be deleted.
    pub protect: bool,
    /// The abstract resource that a transform made it from; none for a resource that the document declares itself.
    pub made_from: Option<Name>,
    /// Where it is declared.
    pub span: diag::Span,
}
