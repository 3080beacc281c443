//! Completes tasks, and stops the operation at the point that its options name.

use evaluate::event::Event;
use plan::model::Action;
use plan::task::TaskKind;
use provider::Operation as Verb;

use crate::facts::recorded_event;
use crate::failing::stop;
use crate::model::Effect;
use crate::parts::OperationParts;

/// Completes a task that records nothing.
pub(crate) fn complete(parts: &mut OperationParts, task: u32, effects: &mut Vec<Effect>) {
    parts.schedule.complete(task);
    count_down(parts, task, effects);
}

/// Completes a task that needs neither a call nor a record.
pub(crate) fn complete_unneeded(
    parts: &mut OperationParts,
    task: u32,
    reason: &str,
    effects: &mut Vec<Effect>,
) {
    if let Some(decided) = parts.facts.decided(task) {
        parts.emit(
            Event::Unneeded {
                address: decided.address.clone(),
                reason: reason.into(),
            },
            effects,
        );
    }
    complete(parts, task, effects);
}

/// Handles the durable outcome of a completed task.
pub(crate) fn handle_done(parts: &mut OperationParts, task: u32, effects: &mut Vec<Effect>) {
    let Some(decided) = parts.facts.decided(task) else {
        return;
    };
    let kind = parts.facts.task(task).kind;
    let called = parts.schedule.finish(task);
    let address = decided.address.clone();
    if parts.schedule.is_forgotten(task) {
        let reason = "it could not be deleted, and is forgotten".into();
        effects.push(Effect::Report(Event::Unneeded { address, reason }));
    } else if let Some(request) = called.filter(|_| kind != TaskKind::PollUntilReady) {
        let replacing = decided.action == Action::Replace;
        match (kind, request.operation) {
            (TaskKind::DeleteOld(_), _) if decided.action != Action::None => {}
            (TaskKind::LinkWrite, _) => {}
            (_, Verb::Create) if replacing => parts.results.count_replacement(),
            (_, operation) => parts.results.count(operation),
        }
        effects.push(Effect::Report(Event::Done {
            address,
            operation: request.operation,
            replacing,
        }));
    } else if kind == TaskKind::Record && matches!(decided.action, Action::Move | Action::Import) {
        effects.extend(recorded_event(&decided).map(Effect::Report));
    } else if kind == TaskKind::Record && decided.action == Action::Update {
        parts.results.count(Verb::Update);
    }
    count_down(parts, task, effects);
}

/// Counts a done task. Stops the operation if the task was the last one before the wanted stop.
fn count_down(parts: &mut OperationParts, task: u32, effects: &mut Vec<Effect>) {
    if parts.schedule.remove_before_stop(task) {
        stop_if_reached(parts, effects);
    }
}

/// Stops the operation if everything before the wanted stop is done.
pub(crate) fn stop_if_reached(parts: &mut OperationParts, effects: &mut Vec<Effect>) {
    if parts.schedule.has_reached_stop() && !parts.state.is_stopping() {
        parts.state.stop_at_until();
        stop(parts, effects);
    }
}
