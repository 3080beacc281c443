//! Carries out a plan: a pure machine that turns inputs into effects.
//!
//! The plan decides what happens to each resource. A task starts when the tasks that it waits for have progressed far
//! enough and the values that it reads are known. Its intent is committed before its call. Its outcome is committed
//! before a call that relies on it: the intent of that call is in the same commit or a later one. During a commit,
//! entries gather for the next one. An intent is written when a call slot is free, so a commit holds at most as many
//! intents as calls may run at once. The machine schedules retries, polls and time limits as wake-ups, so a simulator
//! controls them too.
//!
//! ```text
//! ready ──intent──> committed ──call──> answered ──outcome──> committed ──> dependants
//!                                          │ refused, may go away: wake later, call again
//!                                          └ not stable yet: ask again, later and later
//! ```
//!
//! Not here: clocks, stores, providers (`run` carries out the effects); what to do (the plan decides).

use std::sync::Arc;

use blueprint::{Address, Value};
use evaluate::event::Event;
use evaluate::resolve::Evaluation;
use plan::model::Purpose;
use plan::plan::{Plan, Staged};
use plan::task::TaskKind;
use provider::Catalogs;
use state::{EntryKind, Operation, OperationOutcome, Snapshot};

use crate::inquiries::{EXPORTS, Inquiries};
use crate::journal::{Durable, Journal};
use crate::limits::Limits;
use crate::link_state::LinkState;
use crate::model::{Effect, Happened, Outcome, Settings};
use crate::progress::{Results, RunState};
use crate::schedule::{Progress, Schedule};
use crate::timers::{AFTER_CANCEL, Timers, Wake};

/// The machine.
pub struct Apply {
    /// The plan that is carried out.
    pub(crate) plan: Arc<Plan>,
    /// How it is carried out.
    pub(crate) settings: Settings,
    /// The evaluated document; `None` for a plan without a document.
    pub(crate) evaluation: Option<Evaluation>,
    /// The operation, as the journal names it.
    pub(crate) operation: Arc<Operation>,
    /// The state, with outcomes that are recorded or about to be.
    pub(crate) snapshot: Snapshot,
    pub(crate) schedule: Schedule,
    pub(crate) limits: Limits,
    pub(crate) journal: Journal,
    pub(crate) timers: Timers,
    pub(crate) links: LinkState,
    pub(crate) inquiries: Inquiries,
    pub(crate) state: RunState,
    pub(crate) results: Results,
    pub(crate) catalogs: Arc<Catalogs>,
}

impl Apply {
    /// A machine for a plan that is current. `operation` names the run. Its `stops` are taken from the plan.
    pub fn new(staged: Staged, settings: Settings, mut operation: Operation) -> Apply {
        let Staged { plan, mut snapshot, evaluation, catalogs } = staged;
        operation.stops = (plan.begun != snapshot.stops).then(|| plan.begun.clone());
        let new = plan.tasks.iter().filter(|task| task.kind == TaskKind::Create).count();
        snapshot.records.reserve(new);
        let schedule = Schedule::new(&plan, &snapshot);
        Apply {
            settings: Settings { parallelism: settings.parallelism.max(1), ..settings },
            evaluation,
            operation: Arc::new(operation),
            limits: Limits::new(&catalogs, &schedule.ranks),
            schedule,
            journal: Journal::default(),
            timers: Timers::default(),
            links: LinkState::new(&plan, &snapshot),
            inquiries: Inquiries::default(),
            state: RunState::default(),
            results: Results::default(),
            plan: Arc::new(plan),
            snapshot,
            catalogs,
        }
    }

    /// The plan that is carried out.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The state, with outcomes that are recorded or about to be.
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// Inputs, settled values and records: values that may contain secrets.
    pub fn values(&self) -> impl Iterator<Item = &Value> {
        let given = self.evaluation.iter().flat_map(|evaluation| evaluation.inputs.iter().chain(evaluation.settled()));
        let records = self.snapshot.records.values();
        given.chain(records.flat_map(|record| [&record.inputs, &record.outputs, &record.private]))
    }

    /// The numbers of resources created, updated, deleted and replaced, as far as they are durable.
    pub fn counts(&self) -> [u64; 4] {
        self.results.counts
    }

    /// Handles the inputs since the last call and appends the effects that must follow, in order.
    ///
    /// Inputs that arrive together are handled together, so that one commit serves them all.
    pub fn step(&mut self, happened: impl IntoIterator<Item = Happened>, effects: &mut Vec<Effect>) {
        for happened in happened {
            match happened {
                Happened::Began(now) => self.begin(now, effects),
                Happened::Committed(now) => self.committed(now, effects),
                Happened::CommitFailed(why) => self.commit_failed(why, effects),
                Happened::Applied(task, answer) => self.applied(task, answer, effects),
                Happened::Polled(task, answer) => self.polled(task, answer, effects),
                Happened::Answered(task, replies) => self.answered(task, replies, effects),
                Happened::Woke(number) => self.woke(number, effects),
                Happened::At(after) => self.timers.elapsed = Some(after),
                Happened::Interrupt => {
                    self.state.interrupted = true;
                    self.stop(effects);
                }
            }
        }
        if self.journal.broken {
            self.end_broken(effects);
            return;
        }
        self.start_what_is_ready(effects);
        self.limits.set_refills(&mut self.timers, effects);
        self.finish_if_over(effects);
        self.journal.commit(effects);
    }

    fn begin(&mut self, now: i64, effects: &mut Vec<Effect>) {
        (self.timers.began, self.timers.now) = (now, now);
        self.journal.record(0, EntryKind::Began(self.operation.clone()), Durable::Nothing);
        let calls = self.plan.tasks.iter().filter(|task| {
            matches!(
                task.kind,
                TaskKind::Create
                    | TaskKind::Update
                    | TaskKind::Delete
                    | TaskKind::DeleteOld(_)
                    | TaskKind::TakeBack
                    | TaskKind::LinkWrite
            )
        });
        effects.push(Effect::Tell(Event::Began { instance: self.plan.instance.clone(), calls: calls.count() as u64 }));
        for settled in &self.plan.settled {
            let outcome =
                state::Outcome { address: settled.address.clone(), record: settled.record.clone(), error: None };
            self.journal.record(0, EntryKind::Outcome(Arc::new(outcome)), Durable::Nothing);
        }
        self.stop_if_there(effects);
    }

    fn committed(&mut self, now: i64, effects: &mut Vec<Effect>) {
        self.timers.now = now;
        let Some((durable, later)) = self.journal.committed() else { return };
        if self.journal.finishing && self.journal.is_empty() {
            effects.extend(later.into_iter().map(Effect::Tell));
            let outcome = self.outcome();
            effects.push(Effect::Tell(Event::Finished {
                outcome,
                created: self.results.counts[0],
                updated: self.results.counts[1],
                deleted: self.results.counts[2],
                replaced: self.results.counts[3],
            }));
            effects.push(Effect::Finish(Outcome {
                outcome: Some(outcome),
                counts: self.results.counts,
                diagnostics: std::mem::take(&mut self.results.found),
                left_in_flight: self.left_in_flight(),
                waiting: self.waiting(),
                stops: self.standing_at(),
                left_behind: std::mem::take(&mut self.results.left_behind),
                undone: self.undone(),
                rolled_back: None,
            }));
            return;
        }
        let mut failed = Vec::new();
        for durable in durable {
            match durable {
                Durable::Nothing => {}
                Durable::Intent(task) => self.stated(task, effects),
                Durable::Configured(task) => self.configured(task, effects),
                Durable::Done(task) => self.done(task, effects),
                Durable::Failed(task) => failed.push(task),
            }
        }
        effects.extend(later.into_iter().map(Effect::Tell));
        for task in failed {
            self.settle_failed(task, effects);
        }
    }

    fn commit_failed(&mut self, why: String, effects: &mut Vec<Effect>) {
        if self.journal.broken {
            return;
        }
        // Report the failure although it could not be recorded.
        let waiting = self.journal.give_up();
        let failures = waiting.into_iter().filter(|event| matches!(event, Event::Failed { .. }));
        effects.extend(failures.map(Effect::Tell));
        // A task whose intent could not be written is not called.
        for task in 0..self.schedule.running.len() as u32 {
            if self.schedule.running[task as usize].progress == Progress::Intending {
                self.limits.vacate(task, &self.plan.tasks[task as usize], &mut self.schedule);
                self.schedule.running[task as usize].progress = Progress::Skipped;
            }
        }
        self.timers.wake(Wake::Drain, AFTER_CANCEL, effects);
        self.results.found.push(
            crate::codes::PROVIDER_FAILED.new("the state could not be written; nothing more was started").note(why),
        );
        effects.push(Effect::Cancel);
    }

    /// Waits for running calls and then ends, because nothing can be recorded. The intents of those calls stay open in
    /// the state.
    fn end_broken(&mut self, effects: &mut Vec<Effect>) {
        if self.journal.finishing || self.limits.in_flight > 0 && !self.state.cancelled {
            return;
        }
        self.journal.finishing = true;
        effects.push(Effect::Finish(Outcome {
            outcome: None,
            counts: self.results.counts,
            diagnostics: std::mem::take(&mut self.results.found),
            left_in_flight: self.left_in_flight(),
            waiting: Vec::new(),
            stops: Vec::new(),
            left_behind: std::mem::take(&mut self.results.left_behind),
            undone: self.undone(),
            rolled_back: None,
        }));
    }

    /// The resources whose tasks have not begun because the operation stopped.
    fn waiting(&self) -> Vec<Address> {
        match (self.state.held, self.state.stands && !self.state.interrupted) {
            (false, false) => Vec::new(),
            (held, _) => self.acting(|progress| match progress {
                Progress::Waiting(_) | Progress::Ready => held,
                progress => progress == Progress::Held,
            }),
        }
    }

    /// The resources whose step failed, was skipped or never began.
    pub fn undone(&self) -> Vec<Address> {
        self.acting(|progress| progress != Progress::Done)
    }

    /// The addresses of the tasks that act on the world or the state and whose progress satisfies `so_far`.
    fn acting(&self, so_far: impl Fn(Progress) -> bool) -> Vec<Address> {
        let left = self.schedule.running.iter().zip(&self.plan.tasks).filter(|(running, task)| {
            let acts = !matches!(task.kind, TaskKind::Gather | TaskKind::Pause(_) | TaskKind::Settled);
            acts && so_far(running.progress)
        });
        let addresses = left.filter_map(|(_, task)| task.decision.as_ref().map(|decided| decided.address.clone()));
        addresses.collect::<indexmap::IndexSet<Address, foldhash::fast::FixedState>>().into_iter().collect()
    }

    /// Counts a done task. Stops the operation if it was the last one before the wanted stop.
    pub(crate) fn count_down(&mut self, task: u32, effects: &mut Vec<Effect>) {
        if self.schedule.count_down(task) {
            self.stop_if_there(effects);
        }
    }

    fn stop_if_there(&mut self, effects: &mut Vec<Effect>) {
        if self.schedule.has_reached_stop() && !self.state.stopping {
            self.state.held = true;
            self.stop(effects);
        }
    }

    /// The resources whose calls have not been answered. Their intents stay open in the state.
    pub fn left_in_flight(&self) -> Vec<Address> {
        let left = self.schedule.running.iter().zip(&self.plan.tasks);
        let left = left.filter(|(running, _)| matches!(running.progress, Progress::Calling | Progress::Abandoned));
        left.filter_map(|(_, task)| task.decision.as_ref().map(|decided| decided.address.clone())).collect()
    }

    /// Stops: nothing new starts. Running calls are awaited, up to the drain time unless the plan itself stops here.
    pub(crate) fn stop(&mut self, effects: &mut Vec<Effect>) {
        if self.state.stopping {
            return;
        }
        self.state.stopping = true;
        // Calls that wait for a retry are given up.
        let resting: Vec<u32> = (0..self.schedule.running.len() as u32)
            .filter(|task| self.schedule.running[*task as usize].progress == Progress::Resting)
            .collect();
        for task in resting {
            if !self.end_pause(task) {
                self.give_up(task, effects);
            }
        }
        self.ask_no_more(EXPORTS);
        if self.limits.calling() > 0 {
            effects.push(Effect::Tell(Event::Draining { running: self.limits.calling() as u64 }));
        }
        if !self.state.held {
            self.timers.wake(Wake::Drain, self.settings.drain, effects);
        }
    }

    pub(crate) fn outcome(&self) -> OperationOutcome {
        let stopped = self.state.held || self.state.stands;
        match (self.state.failed, (self.state.interrupted || stopped) && self.unfinished(), self.plan.purpose) {
            (false, true, _) if stopped => OperationOutcome::Interrupted,
            (_, true, _) if self.state.interrupted => OperationOutcome::Interrupted,
            (true, ..) => OperationOutcome::Failed,
            (.., Purpose::Destroy) if self.plan.options.targets.is_empty() => OperationOutcome::Gone,
            _ => OperationOutcome::Ready,
        }
    }

    pub(crate) fn unfinished(&self) -> bool {
        // Value tasks, pauses and settled tasks do not act.
        let acts = |kind| !matches!(kind, TaskKind::Gather | TaskKind::Pause(_) | TaskKind::Settled);
        let running = self.schedule.running.iter().zip(&self.plan.tasks);
        running.into_iter().any(|(running, task)| running.progress != Progress::Done && acts(task.kind))
    }
}
