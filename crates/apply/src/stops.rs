//! Runs gates and pauses. A gate is a task without a call, at a breakpoint. When the operation stops at a gate, it
//! holds all tasks that wait for the gate, directly or indirectly; the next operation runs them. All other tasks
//! continue, also a task that only waits until the gate is over (`Until::Over`).
//!
//! Not here: where gates are (`plan::stops`), which tasks wait for them (`plan::tasks`).

use std::time::Duration;

use blueprint::{Breakpoint, Name};
use provider::Operation as Verb;
use state::{OperationOutcome, StatusOp, Stops};

use crate::machine::Apply;
use crate::model::Effect;
use crate::schedule::Progress;
use crate::timers::Wake;
use evaluate::event::Event;
use plan::model::Action;
use plan::model::Gate;
use plan::task::{TaskKind, Until};

impl Apply {
    /// Runs a gate whose predecessors are done: either completes it, or stops there and holds the tasks that wait for
    /// it.
    pub(super) fn at_gate(&mut self, task: u32, number: u32, effects: &mut Vec<Effect>) {
        let plan = self.plan.clone();
        let Some(gate) = plan.gates.get(number as usize).filter(|gate| self.stops_at(task, gate)) else {
            self.complete(task, effects);
            return;
        };
        self.schedule.running[task as usize].progress = Progress::Held;
        self.schedule.running[task as usize].turn = true;
        self.state.stands = true;
        let address = gate.place.trim_end_matches('/').into();
        self.journal.emit(Event::Waiting { address, at: gate.at }, effects);
        let mut stack = vec![task];
        while let Some(task) = stack.pop() {
            for (waiter, until) in std::mem::take(&mut self.schedule.after[task as usize]) {
                if until == Until::Over {
                    self.schedule.waited(waiter);
                    continue;
                }
                let running = &mut self.schedule.running[waiter as usize];
                if matches!(running.progress, Progress::Waiting(_)) {
                    running.progress = Progress::Held;
                    stack.push(waiter);
                }
            }
        }
    }

    /// Whether the operation stops at a gate. A gate with `after_update` stops only if a predecessor updated the
    /// resource or its record in this operation.
    fn stops_at(&self, task: u32, gate: &Gate) -> bool {
        let updated = |on: u32| {
            let (of, running) = (&self.plan.tasks[on as usize], &self.schedule.running[on as usize]);
            let only_recorded = of.kind == TaskKind::Record
                && of.decision.as_ref().is_some_and(|decided| decided.action == Action::Update);
            let called = running.request.as_ref().filter(|_| !running.only_polls).map(|request| request.operation);
            only_recorded || called.or(running.did) == Some(Verb::Update)
        };
        gate.stops && (!gate.after_update || self.plan.tasks[task as usize].waits.iter().any(|wait| updated(wait.task)))
    }

    /// The gates at which the operation has stopped.
    fn reached(&self) -> impl Iterator<Item = &Gate> {
        let tasks = self.schedule.running.iter().zip(&self.plan.tasks);
        tasks.filter(|(running, _)| running.progress == Progress::Held).filter_map(|(running, task)| match task.kind {
            // A held gate without `turn` waits for another gate: the operation has not reached it.
            TaskKind::Gate(number) if running.turn => self.plan.gates.get(number as usize),
            _ => None,
        })
    }

    /// The addresses and breakpoints at which the operation has stopped, for display. Empty if a user interrupted the
    /// operation.
    pub(super) fn standing_at(&self) -> Vec<(Name, Breakpoint)> {
        if self.state.interrupted {
            return Vec::new();
        }
        self.reached().map(|gate| (gate.place.trim_end_matches('/').into(), gate.at)).collect()
    }

    /// Returns the stops that the state records when the operation ends with this outcome. None remain after a complete
    /// destroy.
    pub(crate) fn stops_after(&self, outcome: OperationOutcome) -> Stops {
        if outcome == OperationOutcome::Gone {
            return Stops::default();
        }
        let mut stops = self.plan.begun.clone();
        for (running, task) in self.schedule.running.iter().zip(&self.plan.tasks) {
            let TaskKind::Gate(number) = task.kind else { continue };
            let Some(gate) = self.plan.gates.get(number as usize) else { continue };
            let action = StatusOp::of(gate.at);
            let Some(stop) = stops.get_mut(&gate.place) else { continue };
            match running.progress {
                Progress::Held if running.turn => (stop.action, stop.waiting) = (Some(action), Some(gate.at)),
                Progress::Done if action == StatusOp::Delete => drop(stops.shift_remove(&gate.place)),
                Progress::Done => stop.action = None,
                _ => {}
            }
        }
        stops
    }

    /// Starts a pause: the task rests until a timer wakes it.
    pub(crate) fn pause(&mut self, task: u32, pause: Duration, effects: &mut Vec<Effect>) {
        self.schedule.running[task as usize].progress = Progress::Resting;
        let for_ms = u64::try_from(pause.as_millis()).unwrap_or(u64::MAX);
        self.journal.emit(Event::Pausing { for_ms }, effects);
        self.timers.wake(Wake::Pause(task), pause, effects);
    }

    /// Ends a pause early, because the operation is stopping and starts no more tasks. Returns false, and does nothing,
    /// if the task is not a pause.
    pub(super) fn end_pause(&mut self, task: u32) -> bool {
        let is_pause = matches!(self.plan.tasks[task as usize].kind, TaskKind::Pause(_));
        if is_pause {
            self.schedule.running[task as usize].progress = Progress::Ready;
        }
        is_pause
    }
}
