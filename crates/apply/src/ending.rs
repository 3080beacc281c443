//! The end of an operation: detects it, builds the last journal entry, and reports the result.

use std::sync::Arc;

use blueprint::{Address, Breakpoint, Name, Value};
use diag::Diagnostics;
use evaluate::event::Event;
use plan::model::{Gate, Purpose};
use plan::task::TaskKind;
use state::{EntryKind, Finished, Memoised, OperationKind, OperationOutcome, StatusOp, Stops};

use crate::asking::ask_for_exports;
use crate::facts::acts;
use crate::gates::stops_at;
use crate::journal::Durable;
use crate::model::{Effect, Outcome};
use crate::parts::OperationParts;
use crate::progress::RunState;
use crate::schedule::TaskProgress;

/// Records the last entry if nothing runs and nothing can start.
pub(crate) fn finish_if_over(parts: &mut OperationParts, effects: &mut Vec<Effect>) {
    let awaits_calls = parts.limits.in_flight() > 0 && !parts.state.is_abandoned();
    if parts.journal.is_finishing() || !parts.journal.is_idle() || awaits_calls {
        return;
    }
    let state = &parts.state;
    if !parts
        .schedule
        .is_over(|progress| can_go_on(state, progress))
    {
        return;
    }
    let well = !parts.state.has_failed() && !is_unfinished(parts);
    if well && ask_for_exports(parts, effects) {
        return;
    }
    // The evaluation of the exports may have failed.
    let well = well && !parts.state.has_failed();
    parts.journal.finish();
    let (exports, metadata, declared) = exports_after(parts, well);
    if parts.results.has_errors() {
        parts.state.fail();
    }
    let outcome = outcome(parts);
    let plan = &parts.facts.plan;
    let is_whole = well && !plan.untouched.partial;
    let finished = Finished {
        outcome,
        at: parts.timers.now(),
        generation: state::Generation(parts.known.snapshot.generation.0 + 1),
        exports,
        memoised: memoised(parts, outcome, is_whole),
        groups: if is_whole {
            plan.groups.clone()
        } else {
            merged_groups(parts)
        },
        metadata,
        declared,
        stops: stops_after(parts, outcome),
        counts: parts.results.counts(),
    };
    parts
        .journal
        .record(0, EntryKind::Finished(Arc::new(finished)), Durable::Nothing);
}

/// Reports the result of an operation whose last entry is durable.
pub(crate) fn finish(parts: &mut OperationParts, effects: &mut Vec<Effect>) {
    let outcome = outcome(parts);
    let counts = parts.results.counts();
    effects.push(Effect::Report(Event::Finished {
        outcome,
        created: counts.created,
        updated: counts.updated,
        deleted: counts.deleted,
        replaced: counts.replaced,
    }));
    let waiting = waiting(parts);
    let stops = current_stops(parts);
    effects.push(Effect::Finish(report(parts, Some(outcome), waiting, stops)));
}

/// Waits for running calls and then ends the operation, because nothing can be recorded. The
/// intents of those calls stay open in the state.
pub(crate) fn end_broken(parts: &mut OperationParts, effects: &mut Vec<Effect>) {
    let awaits_calls = parts.limits.in_flight() > 0 && !parts.state.is_cancelled();
    if parts.journal.is_finishing() || awaits_calls {
        return;
    }
    parts.journal.finish();
    effects.push(Effect::Finish(report(parts, None, Vec::new(), Vec::new())));
}

fn report(
    parts: &mut OperationParts,
    outcome: Option<OperationOutcome>,
    waiting: Vec<Address>,
    stops: Vec<(Name, Breakpoint)>,
) -> Outcome {
    Outcome {
        outcome,
        counts: parts.results.counts(),
        diagnostics: parts.results.take_diagnostics(),
        left_in_flight: left_in_flight(parts),
        waiting,
        stops,
        unready: parts.results.unready().to_vec(),
        left_behind: parts.results.take_left_behind(),
        undone: undone(parts),
        rolled_back: None,
    }
}

/// Whether a task with this progress can still make progress.
fn can_go_on(state: &RunState, progress: TaskProgress) -> bool {
    match progress {
        TaskProgress::Ready | TaskProgress::Waiting(_) => !state.is_stopping(),
        TaskProgress::Intending | TaskProgress::Recording => true,
        TaskProgress::Calling | TaskProgress::Asking => !state.is_abandoned(),
        TaskProgress::Resting | TaskProgress::Configured => !state.is_cancelled(),
        TaskProgress::Done
        | TaskProgress::Failed
        | TaskProgress::Abandoned
        | TaskProgress::Skipped
        | TaskProgress::Held => false,
    }
}

fn outcome(parts: &OperationParts) -> OperationOutcome {
    let state = &parts.state;
    let stopped = state.is_at_until() || state.is_at_breakpoint();
    let is_early = (state.is_interrupted() || stopped) && is_unfinished(parts);
    match (state.has_failed(), is_early, parts.facts.plan.purpose) {
        (false, true, _) if stopped => OperationOutcome::Interrupted,
        (_, true, _) if state.is_interrupted() => OperationOutcome::Interrupted,
        (true, ..) => OperationOutcome::Failed,
        (.., Purpose::Destroy) if parts.facts.plan.options.targets.is_empty() => {
            OperationOutcome::Gone
        }
        _ => OperationOutcome::Ready,
    }
}

fn is_unfinished(parts: &OperationParts) -> bool {
    let mut tasks = parts.schedule.tasks().zip(&parts.facts.plan.tasks);
    tasks.any(|(state, task)| state.progress() != TaskProgress::Done && acts(task.kind))
}

/// The resources whose tasks have not begun because the operation stopped.
fn waiting(parts: &OperationParts) -> Vec<Address> {
    let is_at_until = parts.state.is_at_until();
    let is_at_breakpoint = parts.state.is_at_breakpoint() && !parts.state.is_interrupted();
    if !is_at_until && !is_at_breakpoint {
        return Vec::new();
    }
    // A breakpoint holds what is behind it. `until` holds everything that has not begun.
    let mut waiting = acting(parts, |progress| match progress {
        TaskProgress::Waiting(_) | TaskProgress::Ready => is_at_until,
        progress => progress == TaskProgress::Held,
    });
    let unready = parts.results.unready();
    waiting.retain(|address| !unready.iter().any(|(held, _)| held == address));
    waiting
}

/// The resources whose step failed, was skipped or never began.
pub(crate) fn undone(parts: &OperationParts) -> Vec<Address> {
    acting(parts, |progress| progress != TaskProgress::Done)
}

/// The addresses of the tasks that act on the world or the state and whose progress satisfies
/// `so_far`.
fn acting(parts: &OperationParts, so_far: impl Fn(TaskProgress) -> bool) -> Vec<Address> {
    let tasks = parts.schedule.tasks().zip(&parts.facts.plan.tasks);
    let left = tasks.filter(|(state, task)| acts(task.kind) && so_far(state.progress()));
    let addresses = left.filter_map(|(_, task)| {
        task.decision
            .as_ref()
            .map(|decided| decided.address.clone())
    });
    addresses
        .collect::<indexmap::IndexSet<Address, foldhash::fast::FixedState>>()
        .into_iter()
        .collect()
}

/// The resources whose calls have not been answered. Their intents stay open in the state.
pub(crate) fn left_in_flight(parts: &OperationParts) -> Vec<Address> {
    let left = parts.schedule.tasks().zip(&parts.facts.plan.tasks);
    let left = left.filter(|(state, _)| {
        matches!(
            state.progress(),
            TaskProgress::Calling | TaskProgress::Abandoned
        )
    });
    left.filter_map(|(_, task)| {
        task.decision
            .as_ref()
            .map(|decided| decided.address.clone())
    })
    .collect()
}

/// The addresses and breakpoints at which the operation has stopped, for display. Empty if a user
/// interrupted the operation.
fn current_stops(parts: &OperationParts) -> Vec<(Name, Breakpoint)> {
    if parts.state.is_interrupted() {
        return Vec::new();
    }
    let tasks = parts
        .schedule
        .tasks()
        .zip(&parts.facts.plan.tasks)
        .filter(|(state, _)| state.is_current_stop());
    let gates = tasks.filter_map(|(_, task)| gate_of(parts, task.kind));
    gates
        .map(|gate| (gate.place.trim_end_matches('/').into(), gate.at))
        .collect()
}

fn gate_of(parts: &OperationParts, kind: TaskKind) -> Option<&Gate> {
    match kind {
        TaskKind::Gate(number) => parts.facts.plan.gates.get(number as usize),
        _ => None,
    }
}

/// The stops that the state records when the operation ends with this outcome. A complete destroy
/// leaves none.
fn stops_after(parts: &OperationParts, outcome: OperationOutcome) -> Stops {
    if outcome == OperationOutcome::Gone {
        return Stops::default();
    }
    let mut stops = parts.facts.plan.stops_at_start.clone();
    for (number, (state, task)) in (0..).zip(parts.schedule.tasks().zip(&parts.facts.plan.tasks)) {
        let Some(gate) = gate_of(parts, task.kind) else {
            continue;
        };
        let action = StatusOp::of(gate.at);
        // After a failure no task passes a gate, but the action before this gate has ended.
        let is_over = match state.progress() {
            TaskProgress::Done => true,
            TaskProgress::Ready => !stops_at(&parts.facts, &parts.schedule, number, gate),
            _ => false,
        };
        let Some(stop) = stops.get_mut(&gate.place) else {
            continue;
        };
        match state.progress() {
            TaskProgress::Held if state.is_current_stop() => {
                (stop.action, stop.waiting) = (Some(action), Some(gate.at))
            }
            _ if is_over && action == StatusOp::Delete => drop(stops.shift_remove(&gate.place)),
            _ if is_over => stop.action = None,
            _ => {}
        }
    }
    stops
}

/// The generated values that the state keeps.
fn memoised(
    parts: &OperationParts,
    outcome: OperationOutcome,
    is_whole: bool,
) -> blueprint::IndexMap<Name, Memoised> {
    match (&parts.known.evaluation, outcome) {
        (Some(evaluation), _) => {
            // Keep values that were generated during the run, in branches that the plan could not
            // evaluate.
            let mut memoised = parts.facts.plan.answers.memoised.clone();
            memoised.extend(evaluation.memoised());
            if is_whole {
                evaluate::answers::drop_unfinished_groups(&mut memoised);
            }
            memoised
        }
        (None, OperationOutcome::Gone) => blueprint::IndexMap::default(),
        (None, _) => parts.known.snapshot.memoised.clone(),
    }
}

/// Merges the groups of the state and the plan. After a failure both old and new users may exist.
fn merged_groups(parts: &OperationParts) -> blueprint::IndexMap<Name, Vec<Address>> {
    let mut groups = parts.known.snapshot.groups.clone();
    for (name, uses) in &parts.facts.plan.groups {
        let all = groups.entry(name.clone()).or_default();
        let known: indexmap::IndexSet<Address, foldhash::fast::FixedState> =
            all.drain(..).chain(uses.iter().cloned()).collect();
        all.extend(known);
    }
    groups
}

/// The exports, metadata and declarations to record: those of this run if it succeeded, else the
/// previous ones.
fn exports_after(
    parts: &mut OperationParts,
    well: bool,
) -> (
    Option<blueprint::IndexMap<Name, Value>>,
    Value,
    state::Declared,
) {
    if !well {
        return (
            None,
            parts.known.snapshot.metadata.clone(),
            parts.known.snapshot.declared.clone(),
        );
    }
    match &mut parts.known.evaluation {
        // A restored state keeps its own exports. A partial destroy leaves them unchanged.
        None if parts.facts.plan.kind == OperationKind::State => {
            let before = &parts.known.snapshot;
            (
                Some(before.exports.clone()),
                before.metadata.clone(),
                before.declared.clone(),
            )
        }
        None if parts.facts.plan.purpose == Purpose::Reconcile
            || !parts.facts.plan.options.targets.is_empty() =>
        {
            (
                None,
                parts.known.snapshot.metadata.clone(),
                parts.known.snapshot.declared.clone(),
            )
        }
        None => (
            Some(blueprint::IndexMap::default()),
            Value::Null,
            state::Declared::default(),
        ),
        Some(evaluation) => {
            let mut mistakes = Diagnostics::new();
            evaluation.settle_open_values(&mut mistakes);
            let values = plan::exports::values(
                evaluation,
                &parts.facts.plan.untouched,
                &parts.known.snapshot.exports,
                &mut mistakes,
            );
            let metadata = if parts.facts.plan.untouched.keeps_metadata(0) {
                parts.known.snapshot.metadata.clone()
            } else {
                plan::exports::metadata(evaluation, &mut mistakes)
            };
            let untouched = &parts.facts.plan.untouched;
            let before = &parts.known.snapshot.declared;
            let declared = plan::children::declared(evaluation, untouched, before, &mut mistakes);
            let fine = !parts.results.report_errors(mistakes);
            let declared = if fine {
                declared
            } else {
                parts.known.snapshot.declared.clone()
            };
            (fine.then_some(values), metadata, declared)
        }
    }
}
