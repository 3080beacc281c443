//! Handles wake-ups: retries, polls, time limits, refills of rate limiters, and the end of the
//! drain time.

use crate::asking::retry_exports;
use crate::completing::complete;
use crate::failing::{abandon, drain, fail_waiting_call};
use crate::inquiries::EXPORTS;
use crate::model::Effect;
use crate::parts::OperationParts;
use crate::polling::{poll, unready_in_time};
use crate::schedule::TaskProgress;
use crate::timers::{AFTER_CANCEL, Wake};

/// Handles the wake-up with this number.
pub(crate) fn handle_wake(parts: &mut OperationParts, number: u64, effects: &mut Vec<Effect>) {
    let Some(wake) = parts.timers.take(number) else {
        return;
    };
    let is = |parts: &OperationParts, task: u32, progress: TaskProgress| {
        parts.schedule.progress(task) == progress
    };
    match wake {
        Wake::Retry(EXPORTS) => retry_exports(parts, effects),
        Wake::Retry(task) if is(parts, task, TaskProgress::Resting) => parts.schedule.restart(task),
        Wake::Pause(task) if is(parts, task, TaskProgress::Resting) => {
            complete(parts, task, effects)
        }
        Wake::Poll(task) if is(parts, task, TaskProgress::Configured) => poll(parts, task, effects),
        Wake::AbandonCall(task) if is(parts, task, TaskProgress::Calling) => {
            if let Some(decided) = parts.facts.decided(task) {
                abandon(parts, task, &decided, effects);
            }
        }
        Wake::Unready(task) if is(parts, task, TaskProgress::Configured) => {
            unready_in_time(parts, task, "it is still not ready", effects);
        }
        Wake::Deadline(task) => deadline(parts, task, effects),
        Wake::Refill(queue) => {
            let may_start = !parts.state.is_stopping();
            for task in parts.limits.refill(queue, &mut parts.schedule, may_start) {
                poll(parts, task, effects);
            }
        }
        Wake::Drain => drain(parts, effects),
        Wake::AbandonAll => parts.state.abandon(),
        Wake::Retry(_)
        | Wake::Pause(_)
        | Wake::Poll(_)
        | Wake::AbandonCall(_)
        | Wake::Unready(_) => {}
    }
}

/// Handles the end of a task's time limit.
fn deadline(parts: &mut OperationParts, task: u32, effects: &mut Vec<Effect>) {
    parts.schedule.set_late(task);
    match parts.schedule.progress(task) {
        TaskProgress::Calling => {
            effects.push(Effect::CancelOne(task));
            parts
                .timers
                .wake(Wake::AbandonCall(task), AFTER_CANCEL, effects);
        }
        TaskProgress::Resting => fail_waiting_call(parts, task, effects),
        // The task was waiting for a free call slot.
        TaskProgress::Ready if parts.schedule.task(task).request().is_some() => {
            fail_waiting_call(parts, task, effects)
        }
        TaskProgress::Configured => unready_in_time(parts, task, "its time is over", effects),
        _ => {}
    }
}
