//! The end of an operation: detects it and builds the last journal entry.

use std::sync::Arc;

use blueprint::{Address, Name, Value};
use diag::Diagnostics;
use state::{EntryKind, Finished, OperationKind, OperationOutcome};

use crate::journal::Durable;
use crate::machine::Apply;
use crate::model::Effect;
use crate::schedule::{Progress, Running};
use plan::model::Purpose;

impl Apply {
    /// Records the last entry if nothing runs and nothing can start.
    pub(super) fn finish_if_over(&mut self, effects: &mut Vec<Effect>) {
        if self.journal.finishing || !self.journal.is_idle() || self.limits.in_flight > 0 && !self.state.abandoned {
            return;
        }
        // Terminal tasks stay terminal, so the scan resumes after them.
        let over = self.schedule.running[self.schedule.over..].iter().take_while(|task| !self.can_go_on(task)).count();
        self.schedule.over += over;
        if self.schedule.over < self.schedule.running.len() {
            return;
        }
        let well = !self.state.failed && !self.unfinished();
        if well && self.ask_at_the_end(effects) {
            return;
        }
        // Reading the values of exports may have failed.
        let well = well && !self.state.failed;
        self.journal.finishing = true;
        let (exports, metadata, declared) = self.exports_after(well);
        let failed_exports = self.results.found.has_errors();
        self.state.failed |= failed_exports;
        let memoised = match (&self.evaluation, self.outcome()) {
            (Some(evaluation), _) => {
                // Keep values that were generated during the run, in branches that the plan could not evaluate.
                let mut memoised = self.plan.answers.memoised.clone();
                memoised.extend(evaluation.memoised());
                if well && !self.plan.untouched.partial {
                    evaluate::answers::finished(&mut memoised);
                }
                memoised
            }
            (None, OperationOutcome::Gone) => blueprint::IndexMap::default(),
            (None, _) => self.snapshot.memoised.clone(),
        };
        let finished = Finished {
            outcome: self.outcome(),
            at: self.timers.now.max(
                self.timers
                    .began
                    .saturating_add(self.timers.elapsed.map_or(0, |elapsed| elapsed.as_secs().cast_signed())),
            ),
            generation: state::Generation(self.snapshot.generation.0 + 1),
            exports,
            memoised,
            groups: if well && !self.plan.untouched.partial { self.plan.groups.clone() } else { self.merged_groups() },
            metadata,
            declared,
            stops: self.stops_after(self.outcome()),
            counts: self.results.counts.into(),
        };
        self.journal.record(0, EntryKind::Finished(Arc::new(finished)), Durable::Nothing);
    }

    /// Whether a task may still progress.
    fn can_go_on(&self, task: &Running) -> bool {
        match task.progress {
            Progress::Ready | Progress::Waiting(_) => !self.state.stopping,
            Progress::Intending | Progress::Recording => true,
            Progress::Calling | Progress::Asking => !self.state.abandoned,
            Progress::Resting | Progress::Configured => !self.state.cancelled,
            Progress::Done | Progress::Failed | Progress::Abandoned | Progress::Skipped | Progress::Held => false,
        }
    }

    /// After a failure both old and new users may exist: keep the dependencies of both.
    fn merged_groups(&self) -> blueprint::IndexMap<Name, Vec<Address>> {
        let mut groups = self.snapshot.groups.clone();
        for (name, uses) in &self.plan.groups {
            let all = groups.entry(name.clone()).or_default();
            let known: indexmap::IndexSet<Address, foldhash::fast::FixedState> =
                all.drain(..).chain(uses.iter().cloned()).collect();
            all.extend(known);
        }
        groups
    }

    /// The exports, metadata and declarations to record: those of this run if it succeeded, else the previous ones.
    fn exports_after(&mut self, well: bool) -> (Option<blueprint::IndexMap<Name, Value>>, Value, state::Declared) {
        if !well {
            return (None, self.snapshot.metadata.clone(), self.snapshot.declared.clone());
        }
        match &mut self.evaluation {
            // A restored state keeps its own exports. A partial destroy leaves them unchanged.
            None if self.plan.kind == OperationKind::State => {
                let before = &self.snapshot;
                (Some(before.exports.clone()), before.metadata.clone(), before.declared.clone())
            }
            None if self.plan.purpose == Purpose::Reconcile || !self.plan.options.targets.is_empty() => {
                (None, self.snapshot.metadata.clone(), self.snapshot.declared.clone())
            }
            None => (Some(blueprint::IndexMap::default()), Value::Null, state::Declared::default()),
            Some(evaluation) => {
                let mut mistakes = Diagnostics::new();
                evaluation.settle_what_was_open(&mut mistakes);
                let values =
                    plan::exports::values(evaluation, &self.plan.untouched, &self.snapshot.exports, &mut mistakes);
                let metadata = match self.plan.untouched.keeps_metadata(0) {
                    true => self.snapshot.metadata.clone(),
                    false => plan::exports::metadata(evaluation, &mut mistakes),
                };
                let (untouched, before) = (&self.plan.untouched, &self.snapshot.declared);
                let declared = plan::children::declared(evaluation, untouched, before, &mut mistakes);
                mistakes.retain(diag::Diagnostic::is_error);
                let fine = !mistakes.has_errors();
                self.results.found.append(mistakes);
                let declared = if fine { declared } else { self.snapshot.declared.clone() };
                (fine.then_some(values), metadata, declared)
            }
        }
    }
}
