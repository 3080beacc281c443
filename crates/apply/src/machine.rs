//! Applies a plan: a pure state machine that turns inputs into effects.
//!
//! The plan decides what happens to each resource. A task starts when the tasks that it waits for
//! have progressed far enough and the values that it reads are known. The intent of a call is
//! committed before the call. Its outcome is committed before a call that depends on it: the intent
//! of that call is in the same commit or a later one. During a commit, entries gather for the next
//! one. An intent is written when a call slot is free, so a commit holds at most as many intents as
//! calls may run at once. The machine schedules retries, polls and time limits as wake-ups, so a
//! simulator controls them too.
//!
//! ```text
//! ready ──intent──> committed ──call──> answered ──outcome──> committed ──> dependants
//!                                          │ refused, may go away: wake later, call again
//!                                          └ not stable yet: ask again, later and later
//! ```
//!
//! Not here: clocks, stores, providers (`run` carries out the effects); the choice of the steps
//! (the plan).

use std::sync::Arc;

use blueprint::{Address, Value};
use evaluate::event::Event;
use plan::plan::{Plan, Staged};
use plan::task::TaskKind;
use state::{Counts, EntryKind, Operation, Snapshot};

use crate::asking::handle_replies;
use crate::calling::{applied, call_after_intent};
use crate::completing::{handle_done, stop_if_reached};
use crate::ending::{self, end_broken, finish, finish_if_over};
use crate::failing::{finish_failed, stop};
use crate::journal::Durable;
use crate::model::{ApplyInput, ApplySettings, Effect};
use crate::parts::OperationParts;
use crate::polling::{configured, polled};
use crate::schedule::TaskProgress;
use crate::starting::start_ready_tasks;
use crate::timers::{AFTER_CANCEL, Wake};
use crate::waking::handle_wake;

/// The state machine.
pub struct Apply {
    parts: OperationParts,
}

impl Apply {
    /// Creates the machine for a current plan. `operation` names the run; its `stops` are taken
    /// from the plan.
    pub fn new(staged: Staged, settings: ApplySettings, mut operation: Operation) -> Apply {
        let begun = &staged.plan.stops_at_start;
        operation.stops = (*begun != staged.snapshot.stops).then(|| begun.clone());
        Apply {
            parts: OperationParts::new(staged, settings, operation),
        }
    }

    /// The plan that is applied.
    pub fn plan(&self) -> &Plan {
        &self.parts.facts.plan
    }

    /// The state, with outcomes that are recorded or about to be.
    pub fn snapshot(&self) -> &Snapshot {
        &self.parts.known.snapshot
    }

    /// Inputs, settled values and the values of the state: values that may contain secrets.
    pub fn values(&self) -> impl Iterator<Item = &Value> {
        let known = &self.parts.known;
        let given = known
            .evaluation
            .iter()
            .flat_map(|evaluation| evaluation.inputs.iter().chain(evaluation.known_locals()));
        given.chain(known.snapshot.values())
    }

    /// The numbers of resources whose changes are durable.
    pub fn counts(&self) -> Counts {
        self.parts.results.counts()
    }

    /// The resources whose step failed, was skipped or never began.
    pub fn undone(&self) -> Vec<Address> {
        ending::undone(&self.parts)
    }

    /// The resources whose calls have not been answered. Their intents stay open in the state.
    pub fn left_in_flight(&self) -> Vec<Address> {
        ending::left_in_flight(&self.parts)
    }

    /// Handles the inputs since the last call and appends the effects that must follow, in order.
    ///
    /// Inputs that arrive together are handled together, so that one commit serves them all.
    pub fn step(
        &mut self,
        happened: impl IntoIterator<Item = ApplyInput>,
        effects: &mut Vec<Effect>,
    ) {
        let parts = &mut self.parts;
        for happened in happened {
            match happened {
                ApplyInput::Began(now) => begin(parts, now, effects),
                ApplyInput::Committed(now) => committed(parts, now, effects),
                ApplyInput::CommitFailed(why) => commit_failed(parts, why, effects),
                ApplyInput::Applied(task, answer) => applied(parts, task, answer, effects),
                ApplyInput::Polled(task, answer) => polled(parts, task, answer, effects),
                ApplyInput::Answered(task, replies) => {
                    handle_replies(parts, task, replies, effects)
                }
                ApplyInput::Woke(number) => handle_wake(parts, number, effects),
                ApplyInput::At(after) => parts.timers.set_elapsed(after),
                ApplyInput::Interrupt => {
                    parts.state.interrupt();
                    stop(parts, effects);
                }
            }
        }
        if parts.journal.is_broken() {
            end_broken(parts, effects);
            return;
        }
        start_ready_tasks(parts, effects);
        parts.limits.set_refills(&mut parts.timers, effects);
        finish_if_over(parts, effects);
        parts.journal.commit(effects);
    }
}

fn begin(parts: &mut OperationParts, now: i64, effects: &mut Vec<Effect>) {
    parts.timers.begin(now);
    parts.journal.record(
        0,
        EntryKind::Began(parts.facts.operation.clone()),
        Durable::Nothing,
    );
    let plan = &parts.facts.plan;
    let calls = plan.tasks.iter().filter(|task| {
        matches!(
            task.kind,
            TaskKind::Create
                | TaskKind::Update
                | TaskKind::Delete
                | TaskKind::DeleteOld(_)
                | TaskKind::DeleteTemporary
                | TaskKind::LinkWrite
        )
    });
    effects.push(Effect::Report(Event::Began {
        instance: plan.instance.clone(),
        calls: calls.count() as u64,
    }));
    for settled in &plan.settled {
        let outcome = state::Outcome {
            address: settled.address.clone(),
            record: settled.record.clone(),
            error: None,
        };
        parts
            .journal
            .record(0, EntryKind::Outcome(Arc::new(outcome)), Durable::Nothing);
    }
    stop_if_reached(parts, effects);
}

fn committed(parts: &mut OperationParts, now: i64, effects: &mut Vec<Effect>) {
    parts.timers.committed(now);
    let Some((durable, later)) = parts.journal.committed() else {
        return;
    };
    if parts.journal.is_finishing() && parts.journal.is_empty() {
        effects.extend(later.into_iter().map(Effect::Report));
        finish(parts, effects);
        return;
    }
    let mut failed = Vec::new();
    for durable in durable {
        match durable {
            Durable::Nothing => {}
            Durable::Intent(task) => call_after_intent(parts, task, effects),
            Durable::Configured(task) => configured(parts, task, effects),
            Durable::Done(task) => handle_done(parts, task, effects),
            Durable::Failed(task) => failed.push(task),
        }
    }
    effects.extend(later.into_iter().map(Effect::Report));
    for task in failed {
        finish_failed(parts, task, effects);
    }
}

fn commit_failed(parts: &mut OperationParts, why: String, effects: &mut Vec<Effect>) {
    if parts.journal.is_broken() {
        return;
    }
    // Report the failure, although it could not be recorded.
    let waiting = parts.journal.give_up();
    let failures = waiting
        .into_iter()
        .filter(|event| matches!(event, Event::Failed { .. }));
    effects.extend(failures.map(Effect::Report));
    // A task whose intent could not be written is not called.
    for task in parts.schedule.all_with(TaskProgress::Intending) {
        parts.vacate(task);
        parts.schedule.skip(task);
    }
    parts.timers.wake(Wake::Drain, AFTER_CANCEL, effects);
    parts.results.report(
        crate::codes::PROVIDER_FAILED
            .new("the state could not be written; nothing more was started")
            .note(why),
    );
    effects.push(Effect::Cancel);
}
