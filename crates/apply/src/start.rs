//! Starts tasks: determines the call of a task once every value that it reads is known.
//!
//! Not here: values (`values`), intents and calls (`intents`).

use std::sync::Arc;

use blueprint::Value;
use provider::{Operation as Verb, PlanMode};
use state::{EntryKind, StatusWord};

use crate::codes;
use crate::journal::Durable;
use crate::machine::Apply;
use crate::model::Effect;
use crate::schedule::Progress;
use evaluate::event::Event;
use plan::linked::Linked;
use plan::model::Action;
use plan::task::{Decided, TaskKind};

/// What a started task has to do.
pub(crate) enum Turn {
    /// Call the provider with this operation and spec.
    Call(Verb, Value),
    /// No call. The record is updated with this spec.
    Remember(Value),
    /// The provider plans again with this spec, because the plan was made with unknown values.
    PlanAgain(PlanMode, Value),
    /// Neither a call nor a record. The text is the reason.
    Unneeded(&'static str),
    /// The task cannot be carried out. The error has been reported.
    Failed,
}

impl Apply {
    /// Starts ready tasks while call slots are free. Their intents share the next commit.
    pub(super) fn start_what_is_ready(&mut self, effects: &mut Vec<Effect>) {
        while !self.state.stopping && self.limits.in_flight < self.settings.parallelism {
            let Some(task) = self.schedule.ready.pop() else { break };
            if self.schedule.running[task as usize].progress != Progress::Ready {
                self.limits.let_next_in(&self.plan.tasks[task as usize], &mut self.schedule);
                continue;
            }
            if self.limits.holds_back(task, &self.plan.tasks[task as usize], &self.schedule.ranks) {
                continue;
            }
            if self.schedule.running[task as usize].request.is_some() {
                self.limits.occupy(&self.plan.tasks[task as usize]);
                self.call(task, effects);
                continue;
            }
            let before = self.limits.in_flight;
            self.start(task, effects);
            if self.limits.in_flight == before {
                self.limits.let_next_in(&self.plan.tasks[task as usize], &mut self.schedule);
            }
        }
    }

    /// Handles a durable intent: makes its call. Withdraws the intent if the operation is stopping.
    pub(crate) fn stated(&mut self, task: u32, effects: &mut Vec<Effect>) {
        let write = self.plan.tasks[task as usize].kind == TaskKind::LinkWrite;
        match self.state.stopping && !write {
            true => self.withdraw(task),
            false => self.call(task, effects),
        }
    }

    /// Withdraws a recorded intent: records an outcome that leaves the resource unchanged.
    fn withdraw(&mut self, task: u32) {
        self.limits.vacate(task, &self.plan.tasks[task as usize], &mut self.schedule);
        self.schedule.running[task as usize].progress = Progress::Ready;
        self.schedule.running[task as usize].request = None;
        let Some(decided) = &self.plan.tasks[task as usize].decision else { return };
        let address = Apply::recorded_at(decided).clone();
        let record = self.snapshot.records.get(&address).cloned();
        let outcome = state::Outcome { address, record, error: None };
        let step = self.step_of(task);
        self.journal.record(step, EntryKind::Outcome(Arc::new(outcome)), Durable::Nothing);
    }

    fn start(&mut self, task: u32, effects: &mut Vec<Effect>) {
        if self.ask_again(task, effects) {
            return;
        }
        let plan = self.plan.clone();
        let of = &plan.tasks[task as usize];
        let Some(decided) = &of.decision else {
            match of.kind {
                TaskKind::Read(number) => self.read(task, number, effects),
                TaskKind::Pause(pause) => self.pause(task, pause, effects),
                TaskKind::Gate(number) => self.at_gate(task, number, effects),
                _ => self.complete(task, effects),
            }
            return;
        };
        if of.kind == TaskKind::Settled {
            if let Some(came) = came(decided) {
                self.journal.emit(came, effects);
            }
            self.complete(task, effects);
            return;
        }
        if of.kind == TaskKind::PollUntilReady {
            self.poll_prior(task, decided, effects);
            return;
        }
        match decided.linked.as_deref() {
            Some(Linked::Write(write)) => return self.start_write(task, decided, write, effects),
            Some(Linked::Whole(whole)) if of.kind == TaskKind::Link => {
                if let Some(link) = whole.link {
                    return self.finish_link(task, decided, link, effects);
                }
            }
            _ => {}
        }
        self.inquiries.needed.clear();
        let turn = self.turn(of.kind, decided);
        let needed = std::mem::take(&mut self.inquiries.needed);
        if !needed.is_empty() {
            self.ask(task, needed, effects);
            return;
        }
        match turn {
            Turn::Call(Verb::Create, desired) if self.ask_what_is_there(task, decided, &desired, effects) => {}
            Turn::Call(verb, desired) => self.intend(task, of.kind, decided, verb, desired),
            Turn::PlanAgain(mode, desired) => self.plan_again(task, decided, mode, desired, effects),
            Turn::Remember(desired) => {
                let record = self.unchanged_record(decided, desired);
                self.set_outputs(decided, &record);
                let goes = matches!(of.kind, TaskKind::Forget | TaskKind::DeleteIfAbsent);
                if record.status.word == StatusWord::Configured && !goes {
                    return self.record_and_poll(task, decided, Arc::new(record));
                }
                let record = (!goes).then(|| Arc::new(record));
                self.record(task, decided, record, None, Durable::Done(task));
            }
            Turn::Unneeded(reason) => {
                self.journal.emit(Event::Unneeded { address: decided.address.clone(), reason: reason.into() }, effects);
                self.complete(task, effects);
            }
            Turn::Failed => {
                self.state.failed = true;
                self.schedule.running[task as usize].progress = Progress::Failed;
                self.journal.emit(
                    Event::Failed {
                        address: decided.address.clone(),
                        operation: verb_of(of.kind),
                        message: "what it reads has no usable value".into(),
                    },
                    effects,
                );
                self.after_failure(task, effects);
            }
        }
    }

    /// Completes what the plan left open and returns the work of the task. Takes no decision that the plan has not
    /// named.
    fn turn(&mut self, kind: TaskKind, decided: &Arc<Decided>) -> Turn {
        match kind {
            TaskKind::Gather
            | TaskKind::Pause(_)
            | TaskKind::Read(_)
            | TaskKind::Gate(_)
            | TaskKind::PollUntilReady
            | TaskKind::Settled
            | TaskKind::LinkWrite
            | TaskKind::Link => Turn::Unneeded("nothing to call"),
            TaskKind::Forget => Turn::Remember(Value::Null),
            TaskKind::Delete => Turn::Call(Verb::Delete, Value::Null),
            TaskKind::TakeBack => match self.snapshot.records.contains_key(&decided.address) {
                true => Turn::Call(Verb::Delete, Value::Null),
                false => Turn::Unneeded("it was not made"),
            },
            TaskKind::DeleteIfAbsent if !self.results.absent.contains(&decided.address) => {
                Turn::Unneeded("its condition holds")
            }
            TaskKind::DeleteIfAbsent if matches!(decided.linked.as_deref(), Some(Linked::Whole(_))) => {
                Turn::Remember(Value::Null)
            }
            TaskKind::DeleteIfAbsent if decided.protect => {
                self.results.found.push(
                    codes::PROTECTED
                        .new(format!("`{}` is protected, and its condition has come out false", decided.address))
                        .label(decided.span, "protected by `cyan.protect`"),
                );
                Turn::Failed
            }
            TaskKind::DeleteIfAbsent if decided.retain => Turn::Remember(Value::Null),
            TaskKind::DeleteIfAbsent => Turn::Call(Verb::Delete, Value::Null),
            TaskKind::Condition => match self.holds(decided) {
                Some(true) => Turn::Unneeded("its condition holds"),
                Some(false) => Turn::Unneeded("its condition is false"),
                None => Turn::Failed,
            },
            TaskKind::DeleteOld(old) => self.delete_deposed(decided, old),
            TaskKind::Record | TaskKind::Create | TaskKind::Update => {
                if decided.condition_open {
                    match self.holds(decided) {
                        Some(true) => {}
                        Some(false) => return Turn::Unneeded("its condition is false"),
                        None => return Turn::Failed,
                    }
                }
                let Some(desired) = self.spec(decided) else { return Turn::Failed };
                if kind != TaskKind::Record && self.may_be_linked(decided).is_none() {
                    return Turn::Failed;
                }
                self.fill_metadata(decided);
                if Apply::provider_decides(decided) {
                    return self.turn_by_provider(kind, decided, desired);
                }
                match kind {
                    TaskKind::Record => Turn::Remember(desired),
                    TaskKind::Update => match self.differs(decided, &desired) {
                        (false, _) if !decided.insist => Turn::Remember(desired),
                        _ => Turn::Call(Verb::Update, desired),
                    },
                    _ if decided.action == Action::Replace && decided.may_replace => {
                        match self.differs(decided, &desired) {
                            (_, true) => Turn::Call(Verb::Create, desired),
                            (true, false) => Turn::Call(Verb::Update, desired),
                            (false, false) if decided.insist => Turn::Call(Verb::Update, desired),
                            (false, false) => Turn::Remember(desired),
                        }
                    }
                    _ => Turn::Call(Verb::Create, desired),
                }
            }
        }
    }

    /// Returns the delete of a deposed resource. Nothing is deleted if the evaluated values need no replacement.
    fn delete_deposed(&mut self, decided: &Arc<Decided>, old: u32) -> Turn {
        if old == 0 && decided.may_replace {
            let Some(desired) = self.spec(decided) else { return Turn::Failed };
            let replaced = match Apply::provider_decides(decided) {
                false => self.differs(decided, &desired).1,
                true => match self.is_replaced_by_provider(decided) {
                    Some(replaced) => replaced,
                    None => return Turn::PlanAgain(PlanMode::Update, desired),
                },
            };
            if !replaced {
                return Turn::Unneeded("the values turned out equal");
            }
        }
        match decided.old_object(old) {
            Some(_) => Turn::Call(Verb::Delete, Value::Null),
            None => Turn::Unneeded("nothing is left of it"),
        }
    }

    /// Completes a task that records nothing.
    pub(crate) fn complete(&mut self, task: u32, effects: &mut Vec<Effect>) {
        self.schedule.running[task as usize].progress = Progress::Done;
        self.schedule.release(task, None);
        self.count_down(task, effects);
    }
}

/// The operation of a task, as shown to people.
pub(super) fn verb_of(kind: TaskKind) -> Verb {
    match kind {
        TaskKind::Create => Verb::Create,
        TaskKind::Delete
        | TaskKind::DeleteOld(_)
        | TaskKind::DeleteIfAbsent
        | TaskKind::TakeBack
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
pub(crate) fn came(decided: &Decided) -> Option<Event> {
    let how = match decided.action {
        Action::Move => "moved",
        Action::Import => "imported",
        _ => return None,
    };
    Some(Event::Recorded { address: decided.address.clone(), how: how.into() })
}
