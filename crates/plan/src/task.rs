//! The part of a plan that `apply` carries out: tasks, what they wait for, and the decisions behind
//! them.

use blueprint::{Address, DeleteMode, Name, ReplaceOrder, TypeId, Value};

use crate::linked::Linked;
use crate::model::Action;

impl Decided {
    /// The old object of that number: 0 is the object itself, others are deposed objects, the
    /// newest first.
    pub fn old_object(&self, old: u32) -> Option<&state::Record> {
        let prior = self.prior.as_deref()?;
        match old {
            0 => Some(prior),
            more => prior.deposed_objects().nth(more as usize - 1),
        }
    }
}

/// The kind of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskKind {
    /// Creates the object.
    Create,
    /// Changes it in place.
    Update,
    /// Deletes the object.
    Delete,
    /// Deletes an old object: 0 is the one before the replacement, others are deposed objects of
    /// earlier ones.
    DeleteOld(u32),
    /// Changes its record, without a call.
    Record,
    /// Drops its record, without a call.
    Forget,
    /// Does nothing: the record is written when the operation begins.
    Settled,
    /// Only evaluates its condition.
    Condition,
    /// Polls an object that an earlier operation left accepted but not ready, until it is ready.
    PollUntilReady,
    /// Deletes the object if its condition turns out to be false; waits for everything else.
    DeleteIfAbsent,
    /// Writes the contributions of a link into a target, or removes them.
    LinkWrite,
    /// Writes the record of a link.
    Link,
    /// Does nothing: other tasks wait for it instead of the many tasks that it waits for.
    Gather,
    /// Does nothing: the tasks that wait for it start this long after everything that it waits for.
    Pause(std::time::Duration),
    /// Deletes a temporary member, which only stood in for others.
    DeleteTemporary,
    /// Reads the data source of that number, which could not be read at stage.
    Read(u32),
    /// Does nothing: the operation stops here, at the gate of that number, or an action is over.
    Gate(u32),
}

/// The progress that another task must have made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// The provider has accepted, and its answer is in the state.
    Configured,
    /// The object is stable.
    Ready,
    /// The task is over, whether it succeeded or not: the waiting task only wants to do more in one
    /// call.
    Over,
}

/// A task waits for another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// The number of the other task.
    pub task: u32,
    /// The progress that it must have made.
    pub until: Until,
}

/// One call, or one change of the state alone.
#[derive(Clone, Debug)]
pub struct Task {
    /// Its kind.
    pub kind: TaskKind,
    /// The number of its step; `None` for a gather.
    pub step: Option<u32>,
    /// Its waits for other tasks.
    pub waits: Vec<Wait>,
    /// The decision behind it; `None` for a task that only gathers others.
    pub decision: Option<std::sync::Arc<Decided>>,
}

/// The part of a decision that its tasks need.
#[derive(Clone, Debug)]
pub struct Decided {
    /// Its position among the decisions of the plan.
    pub(crate) number: usize,
    /// The address of the resource.
    pub address: Address,
    /// The declared resource and the position of the member; `None` for links, their parts, and
    /// undeclared resources.
    pub element: Option<(u32, Option<u32>)>,
    /// The link or the part of a link, if the decision is about one.
    pub linked: Option<std::sync::Arc<Linked>>,
    /// Its type.
    pub type_name: TypeId,
    /// The definition of its type; `None` if no catalogue has it.
    pub ty: Option<std::sync::Arc<provider::ResourceType>>,
    /// The action.
    pub action: Action,
    /// Whether a value that becomes known may turn an update into a replacement.
    pub may_replace: bool,
    /// The order of a replacement.
    pub replace_order: ReplaceOrder,
    /// Whether its condition is known only on deploy.
    pub condition_open: bool,
    /// Whether a call is due even if no field differs: the world has drifted, or the last operation
    /// failed.
    pub forces_call: bool,
    /// The desired spec.
    pub desired: Value,
    /// Labels, annotations, display name and custom data.
    pub metadata: Value,
    /// The record; `None` if there is none.
    pub prior: Option<std::sync::Arc<state::Record>>,
    /// The fields as last answered or read.
    pub outputs: Value,
    /// Opaque data of the provider about the object as it was, as last answered or read.
    pub private: Value,
    /// The data that the provider returned when it planned a change; null if it returned none.
    pub planned_private: Value,
    /// The configuration of its provider when the plan was made, if a resource declares it.
    pub provider: Option<std::sync::Arc<evaluate::question::ProviderInstance>>,
    /// Its direct dependencies.
    pub dependencies: Vec<Address>,
    /// Whether it stays in the world when it is no longer declared.
    pub retain: bool,
    /// Whether it must not be deleted.
    pub protect: bool,
    /// How its object is deleted, as its record says from now on. A delete of this plan follows the
    /// record as it is.
    pub delete_mode: DeleteMode,
    /// The abstract resource from which a transform made it; `None` for a resource that the
    /// document itself declares.
    pub made_from: Option<Name>,
    /// The place of its declaration.
    pub span: diag::Span,
}
