//! Runs gates and pauses. A gate is a task without a call, at a breakpoint. When the operation
//! stops at a gate, it holds all tasks that wait for the gate, directly or indirectly; the next
//! operation runs them. All other tasks continue, as do tasks that wait only until the gate is over
//! (`Until::Over`).
//!
//! Not here: the positions of gates (`plan::stops`), which tasks wait for them (`plan::tasks`), the
//! stops that the state records (`ending`).

use std::time::Duration;

use evaluate::event::Event;
use plan::model::{Action, Gate};
use plan::task::TaskKind;
use provider::Operation as Verb;

use crate::completing::complete;
use crate::facts::Facts;
use crate::model::Effect;
use crate::parts::OperationParts;
use crate::schedule::Schedule;
use crate::timers::Wake;

/// Runs a gate whose predecessors are done: either completes the gate, or stops at it and holds the
/// tasks that wait for it.
pub(crate) fn run_gate(
    parts: &mut OperationParts,
    task: u32,
    number: u32,
    effects: &mut Vec<Effect>,
) {
    let plan = parts.facts.plan.clone();
    let gate = plan.gates.get(number as usize);
    let Some(gate) = gate.filter(|gate| stops_at(&parts.facts, &parts.schedule, task, gate)) else {
        return complete(parts, task, effects);
    };
    parts.state.hold_tasks();
    parts.emit(
        Event::Waiting {
            address: gate.place.trim_end_matches('/').into(),
            at: gate.at,
        },
        effects,
    );
    parts.schedule.stop_at_gate(task);
}

/// Whether the operation stops at a gate. A gate with `after_update` stops only if a predecessor
/// updated the resource or its record in this operation.
pub(crate) fn stops_at(facts: &Facts, schedule: &Schedule, task: u32, gate: &Gate) -> bool {
    let updated = |on: u32| {
        let of = facts.task(on);
        let only_recorded = of.kind == TaskKind::Record
            && of
                .decision
                .as_ref()
                .is_some_and(|decided| decided.action == Action::Update);
        only_recorded || schedule.task(on).operation() == Some(Verb::Update)
    };
    gate.stops
        && (!gate.after_update || facts.task(task).waits.iter().any(|wait| updated(wait.task)))
}

/// Starts a pause: the task rests until a timer wakes it.
pub(crate) fn pause(
    parts: &mut OperationParts,
    task: u32,
    pause: Duration,
    effects: &mut Vec<Effect>,
) {
    parts.schedule.rest(task);
    let for_ms = u64::try_from(pause.as_millis()).unwrap_or(u64::MAX);
    parts.emit(Event::Pausing { for_ms }, effects);
    parts.timers.wake(Wake::Pause(task), pause, effects);
}
