//! The input of an operation, which does not change while it runs: plan, settings, operation and
//! catalogues.

use std::sync::Arc;

use blueprint::{Address, Name};
use evaluate::event::Event;
use plan::model::Action;
use plan::plan::Plan;
use plan::task::{Decided, Task, TaskKind};
use provider::{Catalogs, Operation as Verb};
use state::Operation;

use crate::model::{ApplySettings, OnFailure};

/// The input of an operation: see the module.
pub(crate) struct Facts {
    /// The plan that is carried out.
    pub(crate) plan: Arc<Plan>,
    /// The settings of the operation.
    pub(crate) settings: ApplySettings,
    /// The operation, as the journal names it.
    pub(crate) operation: Arc<Operation>,
    pub(crate) catalogs: Arc<Catalogs>,
}

impl Facts {
    /// A task by its number.
    pub(crate) fn task(&self, task: u32) -> &Task {
        &self.plan.tasks[task as usize]
    }

    /// The decision that a task carries out; `None` for a task without a decision.
    pub(crate) fn decided(&self, task: u32) -> Option<Arc<Decided>> {
        self.plan.tasks.get(task as usize)?.decision.clone()
    }

    /// The number of a task's step in the journal, from 1; 0 for a task without a step.
    pub(crate) fn step_of(&self, task: u32) -> u32 {
        self.task(task).step.map_or(0, |step| step + 1)
    }

    /// The address of a task's step, or else of its decision.
    pub(crate) fn address_of(&self, task: u32) -> Option<Address> {
        self.address_of_step(task)
            .or_else(|| Some(self.task(task).decision.as_ref()?.address.clone()))
    }

    /// The address of a task's step.
    pub(crate) fn address_of_step(&self, task: u32) -> Option<Address> {
        let step = self
            .task(task)
            .step
            .and_then(|step| self.plan.steps.get(step as usize));
        step.map(|step| step.address.clone())
    }

    /// The token of a task's call. A create has another one.
    pub(crate) fn token_of(&self, task: u32) -> Name {
        format!("{}-{task}", self.operation.id).into()
    }

    /// Whether a task belongs to a replacement.
    pub(crate) fn is_replacing(&self, task: u32) -> bool {
        self.task(task)
            .decision
            .as_ref()
            .is_some_and(|decided| decided.action == Action::Replace)
    }

    /// Whether steps that do not depend on a failed step go on.
    pub(crate) fn keeps_going(&self) -> bool {
        self.settings.on_failure == OnFailure::KeepGoing
    }
}

/// Whether tasks of this kind act on the world or the state. Values, pauses and settled tasks do
/// not.
pub(crate) fn acts(kind: TaskKind) -> bool {
    !matches!(
        kind,
        TaskKind::Gather | TaskKind::Pause(_) | TaskKind::Settled
    )
}

/// The operation of a task, for display.
pub(crate) fn verb_of(kind: TaskKind) -> Verb {
    match kind {
        TaskKind::Create => Verb::Create,
        TaskKind::Delete
        | TaskKind::DeleteOld(_)
        | TaskKind::DeleteIfAbsent
        | TaskKind::DeleteTemporary
        | TaskKind::Forget => Verb::Delete,
        TaskKind::Update
        | TaskKind::Record
        | TaskKind::Settled
        | TaskKind::Condition
        | TaskKind::PollUntilReady
        | TaskKind::LinkWrite
        | TaskKind::Link
        | TaskKind::Read(_)
        | TaskKind::Pause(_)
        | TaskKind::Gate(_)
        | TaskKind::Gather => Verb::Update,
    }
}

/// The event that reports a moved or imported resource; `None` for other actions.
pub(crate) fn recorded_event(decided: &Decided) -> Option<Event> {
    let how = match decided.action {
        Action::Move => "moved",
        Action::Import => "imported",
        _ => return None,
    };
    Some(Event::Recorded {
        address: decided.address.clone(),
        how: how.into(),
    })
}
