//! The parts of an operation, and the steps that need several parts: recording outcomes, and
//! sending events.
//!
//! Each part owns its fields. The steps (`starting`, `calling`, `failing`, ...) take the parts, and
//! call each other in one direction only.

use std::sync::Arc;

use blueprint::Name;
use evaluate::event::Event;
use plan::plan::Staged;
use plan::task::{Decided, TaskKind, Until};
use state::{EntryKind, Operation, OperationKind, Outcome, Record};

use crate::calls::Calls;
use crate::facts::Facts;
use crate::inquiries::Inquiries;
use crate::journal::{Durable, RunJournal};
use crate::limits::CallLimits;
use crate::link_records::LinkExecutor;
use crate::link_state::LinkState;
use crate::model::{ApplySettings, Effect};
use crate::progress::{Results, RunState};
use crate::records::{Records, rounded};
use crate::run_values::{RunValues, recorded_at};
use crate::schedule::Schedule;
use crate::timers::Timers;

/// The parts of an operation.
pub(crate) struct OperationParts {
    pub(crate) facts: Facts,
    pub(crate) known: RunValues,
    pub(crate) schedule: Schedule,
    pub(crate) limits: CallLimits,
    pub(crate) journal: RunJournal,
    pub(crate) timers: Timers,
    pub(crate) links: LinkState,
    pub(crate) inquiries: Inquiries,
    pub(crate) state: RunState,
    pub(crate) results: Results,
}

impl OperationParts {
    /// Creates the parts of an operation that applies a plan.
    pub(crate) fn new(
        staged: Staged,
        settings: ApplySettings,
        operation: Operation,
    ) -> OperationParts {
        let Staged {
            plan,
            mut snapshot,
            evaluation,
            catalogs,
        } = staged;
        let new = plan
            .tasks
            .iter()
            .filter(|task| task.kind == TaskKind::Create)
            .count();
        snapshot.records.reserve(new);
        let schedule = Schedule::new(&plan, &snapshot);
        OperationParts {
            limits: CallLimits::new(&catalogs, schedule.ranks()),
            schedule,
            journal: RunJournal::default(),
            timers: Timers::default(),
            links: LinkState::new(&plan, &snapshot),
            inquiries: Inquiries::default(),
            state: RunState::default(),
            results: Results::default(),
            known: RunValues::new(snapshot, evaluation),
            facts: Facts {
                plan: Arc::new(plan),
                settings: ApplySettings {
                    parallelism: settings.parallelism.max(1),
                    ..settings
                },
                operation: Arc::new(operation),
                catalogs,
            },
        }
    }

    /// The builder of records.
    pub(crate) fn records(&self) -> Records<'_> {
        Records {
            facts: &self.facts,
            known: &self.known,
        }
    }

    /// The builder of calls.
    pub(crate) fn calls(&self) -> Calls<'_> {
        Calls {
            facts: &self.facts,
            known: &self.known,
        }
    }

    /// Runs one step of the link executor, and records the outcomes of links.
    pub(crate) fn link<T>(
        &mut self,
        step: impl FnOnce(&mut LinkExecutor<'_>, &Schedule) -> T,
    ) -> T {
        let OperationParts {
            facts,
            known,
            links,
            results,
            schedule,
            ..
        } = self;
        let mut executor = LinkExecutor {
            facts,
            known,
            links,
            results,
            outcomes: Vec::new(),
        };
        let result = step(&mut executor, schedule);
        for (task, outcome) in executor.outcomes {
            self.journal.record(
                self.facts.step_of(task),
                EntryKind::Outcome(Arc::new(outcome)),
                Durable::Nothing,
            );
        }
        result
    }

    /// Emits an event after the events of everything that was recorded before it.
    pub(crate) fn emit(&mut self, event: Event, effects: &mut Vec<Effect>) {
        self.journal.emit(event, effects);
    }

    /// Releases the slots of a task.
    pub(crate) fn vacate(&mut self, task: u32) {
        self.limits
            .vacate(task, self.facts.task(task), &mut self.schedule);
    }

    /// The time since the first call of a task in milliseconds, rounded as in a record.
    pub(crate) fn duration_ms(&self, task: u32) -> Option<u32> {
        self.schedule
            .task(task)
            .millis_since_call(self.timers.millis())
            .map(rounded)
    }

    /// Adds an outcome to the next commit. The durable entry has no consequence for the task.
    pub(crate) fn record_only(&mut self, task: u32, outcome: Outcome) {
        self.journal.record(
            self.facts.step_of(task),
            EntryKind::Outcome(Arc::new(outcome)),
            Durable::Nothing,
        );
    }

    /// Adds an outcome to the next commit and to the snapshot of this run.
    ///
    /// Dependants go on at once. Their intents follow in the same commit or a later one, and their
    /// calls wait until both are durable.
    pub(crate) fn record(
        &mut self,
        task: u32,
        decided: &Decided,
        mut record: Option<Arc<Record>>,
        error: Option<Name>,
        durable: Durable,
    ) {
        let undo = self.facts.plan.kind == OperationKind::Rollback;
        if let Some(record) = record.as_mut().filter(|record| record.status.undo != undo) {
            Arc::make_mut(record).status.undo = undo;
        }
        self.schedule.record(task, record.clone());
        let address = recorded_at(decided).clone();
        let kind = self.facts.task(task).kind;
        if kind == TaskKind::LinkWrite {
            self.known.mark_written(&address);
        }
        self.known.set_record(&address, record.as_ref());
        let publishes = matches!(
            kind,
            TaskKind::Create
                | TaskKind::Update
                | TaskKind::Record
                | TaskKind::LinkWrite
                | TaskKind::PollUntilReady
        );
        if let (Some(record), Durable::Done(_) | Durable::Configured(_)) = (&record, durable)
            && publishes
        {
            self.known.publish(decided, record);
        }
        let outcome = Outcome {
            address,
            record,
            error,
        };
        self.journal.record(
            self.facts.step_of(task),
            EntryKind::Outcome(Arc::new(outcome)),
            durable,
        );
        match durable {
            Durable::Done(_) => self.schedule.release(task, None),
            Durable::Configured(_) => self.schedule.release(task, Some(Until::Configured)),
            Durable::Failed(_) | Durable::Intent(_) | Durable::Nothing => {}
        }
    }
}
