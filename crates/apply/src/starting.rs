//! Starts ready tasks while call slots are free.
//!
//! Not here: the decision about a task whose values became known (`decide`), the call of a task
//! (`calling`).

use std::sync::Arc;

use plan::linked::Linked;
use plan::task::{Decided, TaskKind};
use provider::Operation as Verb;
use state::StatusWord;

use crate::asking::{ask, ask_again, plan_again};
use crate::calling::{call, record_intent};
use crate::completing::{complete, complete_unneeded};
use crate::decide::decide;
use crate::facts::recorded_event;
use crate::failing::fail_with_message;
use crate::journal::Durable;
use crate::linking::{finish_link, start_write};
use crate::model::Effect;
use crate::parts::OperationParts;
use crate::polling::{poll_prior, record_and_poll};
use crate::schedule::TaskProgress;
use crate::values::Values;
use crate::work::TaskWork;
use crate::{gates, reads, replan};

/// Starts ready tasks while call slots are free. Their intents share the next commit.
pub(crate) fn start_ready_tasks(parts: &mut OperationParts, effects: &mut Vec<Effect>) {
    while !parts.state.is_stopping() && parts.limits.in_flight() < parts.facts.settings.parallelism
    {
        let Some(task) = parts.schedule.next() else {
            break;
        };
        if parts.schedule.progress(task) != TaskProgress::Ready {
            parts
                .limits
                .release_next(parts.facts.task(task), &mut parts.schedule);
            continue;
        }
        if parts
            .limits
            .queue_if_full(task, parts.facts.task(task), parts.schedule.ranks())
        {
            continue;
        }
        if parts.schedule.task(task).request().is_some() {
            parts.limits.occupy(parts.facts.task(task));
            call(parts, task, effects);
            continue;
        }
        let before = parts.limits.in_flight();
        start(parts, task, effects);
        if parts.limits.in_flight() == before {
            parts
                .limits
                .release_next(parts.facts.task(task), &mut parts.schedule);
        }
    }
}

fn start(parts: &mut OperationParts, task: u32, effects: &mut Vec<Effect>) {
    if ask_again(parts, task, effects) {
        return;
    }
    let kind = parts.facts.task(task).kind;
    let Some(decided) = parts.facts.decided(task) else {
        match kind {
            TaskKind::Read(number) => reads::read(parts, task, number, effects),
            TaskKind::Pause(pause) => gates::pause(parts, task, pause, effects),
            TaskKind::Gate(number) => gates::run_gate(parts, task, number, effects),
            _ => complete(parts, task, effects),
        }
        return;
    };
    match (kind, decided.linked.as_deref()) {
        (TaskKind::Settled, _) => {
            if let Some(event) = recorded_event(&decided) {
                parts.emit(event, effects);
            }
            complete(parts, task, effects);
        }
        (TaskKind::PollUntilReady, _) => poll_prior(parts, task, &decided, effects),
        (_, Some(Linked::Write(write))) => start_write(parts, task, &decided, write, effects),
        (TaskKind::Link, Some(Linked::Record(whole))) if whole.link.is_some() => {
            if let Some(link) = whole.link {
                finish_link(parts, task, &decided, link, effects);
            }
        }
        _ => start_decided(parts, task, kind, &decided, effects),
    }
}

/// Evaluates the parts that the plan left open, and carries out the resulting work.
fn start_decided(
    parts: &mut OperationParts,
    task: u32,
    kind: TaskKind,
    decided: &Arc<Decided>,
    effects: &mut Vec<Effect>,
) {
    let mut values = Values::new(&mut parts.known, &mut parts.results);
    let work = decide(&parts.facts.plan, &mut values, kind, decided);
    let needed = values.needed();
    if !needed.is_empty() {
        return ask(parts, task, needed, effects);
    }
    match work {
        TaskWork::Call(verb, desired) => {
            let mode =
                replan::mode_before_create(&parts.known, decided).filter(|_| verb == Verb::Create);
            if let Some(mode) = mode {
                return plan_again(parts, task, decided, mode, desired, effects);
            }
            let (intent, request) = parts.calls().call(task, kind, decided, verb, desired);
            record_intent(parts, task, intent, request);
        }
        TaskWork::PlanAgain(mode, desired) => {
            plan_again(parts, task, decided, mode, desired, effects)
        }
        TaskWork::Record(desired) => {
            let record = parts.records().record_without_call(decided, desired);
            parts.known.publish(decided, &record);
            let removes_record = matches!(kind, TaskKind::Forget | TaskKind::DeleteIfAbsent);
            if record.status.word == StatusWord::Configured && !removes_record {
                return record_and_poll(parts, task, decided, Arc::new(record));
            }
            let record = (!removes_record).then(|| Arc::new(record));
            parts.record(task, decided, record, None, Durable::Done(task));
        }
        TaskWork::PollPrior => {
            parts.schedule.set_only_polls(task);
            poll_prior(parts, task, decided, effects);
        }
        TaskWork::Unneeded(reason) => complete_unneeded(parts, task, reason, effects),
        TaskWork::Failed => {
            fail_with_message(
                parts,
                task,
                decided,
                "what it reads has no usable value".into(),
                effects,
            );
        }
    }
}
