//! Makes calls after their intents are durable, and handles their answers.
//!
//! Not here: the choice of the call (`decide`), refused calls (`failing`).

use std::sync::Arc;

use blueprint::Value;
use evaluate::event::Event;
use evaluate::resolve::RuledReadiness;
use plan::task::{Decided, TaskKind};
use provider::{Applied, Operation as Verb, ProviderError, Ready};
use state::{EntryKind, Intent, Outcome, StatusWord};

use crate::breach::breach;
use crate::failing::{fail, fail_unhealthy, fail_write, refuse_id, refused};
use crate::journal::Durable;
use crate::link_writes::write_of;
use crate::model::{CallRequest, Effect};
use crate::parts::OperationParts;
use crate::run_values::recorded_at;
use crate::schedule::TaskProgress;
use crate::timers::Wake;

/// Records an intent. The call follows once the intent is durable.
pub(crate) fn record_intent(
    parts: &mut OperationParts,
    task: u32,
    intent: Intent,
    request: CallRequest,
) {
    parts.schedule.intend(task, request);
    parts.limits.occupy(parts.facts.task(task));
    parts.journal.record(
        parts.facts.step_of(task),
        EntryKind::Intent(Arc::new(intent)),
        Durable::Intent(task),
    );
}

/// Handles a durable intent: makes its call. Withdraws the intent if the operation is stopping.
pub(crate) fn call_after_intent(parts: &mut OperationParts, task: u32, effects: &mut Vec<Effect>) {
    let writes = parts.facts.task(task).kind == TaskKind::LinkWrite;
    if parts.state.is_stopping() && !writes {
        withdraw(parts, task)
    } else {
        call(parts, task, effects)
    }
}

/// Withdraws a recorded intent: records an outcome that leaves the resource unchanged.
fn withdraw(parts: &mut OperationParts, task: u32) {
    parts.vacate(task);
    parts.schedule.withdraw(task);
    let Some(decided) = parts.facts.decided(task) else {
        return;
    };
    let address = recorded_at(&decided).clone();
    let record = parts.known.record(&address).cloned();
    parts.record_only(
        task,
        Outcome {
            address,
            record,
            error: None,
        },
    );
}

/// Makes the call of a task, for the first time or again.
pub(crate) fn call(parts: &mut OperationParts, task: u32, effects: &mut Vec<Effect>) {
    let Some(request) = parts.schedule.task(task).request().cloned() else {
        return;
    };
    let is_first = parts.schedule.task(task).tries() == 0;
    let decided = parts.facts.decided(task);
    if is_first
        && let Some(decided) = &decided
        && let Some(limit) = parts.calls().limit(decided, request.operation)
    {
        parts.schedule.set_limit(task, limit);
        parts.timers.wake(Wake::Deadline(task), limit, effects);
    }
    let limit = parts.schedule.call(task, parts.timers.millis());
    parts.limits.count_call();
    if is_first {
        effects.push(Effect::Report(Event::Started {
            address: decided
                .as_ref()
                .map_or(&request.address, |decided| &decided.address)
                .clone(),
            operation: request.operation,
            replacing: parts.facts.is_replacing(task),
        }));
    }
    effects.push(Effect::Call(task, CallRequest { limit, ..request }));
}

/// Handles the answer to a call.
pub(crate) fn applied(
    parts: &mut OperationParts,
    task: u32,
    answer: Result<Applied, ProviderError>,
    effects: &mut Vec<Effect>,
) {
    let Some(decided) = parts.facts.decided(task) else {
        return;
    };
    if parts.schedule.progress(task) != TaskProgress::Calling {
        return;
    }
    parts.vacate(task);
    parts.limits.count_answer();
    let Some(request) = parts.schedule.task(task).request().cloned() else {
        return;
    };
    match answer {
        Ok(applied) => {
            report_provider_remarks(&decided, &applied, effects);
            succeeded(parts, task, &decided, &request, applied, effects);
        }
        Err(mut error) => {
            error
                .partial
                .iter()
                .for_each(|partial| report_provider_remarks(&decided, partial, effects));
            // The object of another resource is not recorded a second time.
            let is_owned = |partial: &Applied| parts.known.owner_of_id(&decided, partial).is_some();
            if error.partial.as_deref().is_some_and(is_owned) {
                error.partial = None;
            }
            refused(parts, task, &decided, error, effects);
        }
    }
}

/// Reports the provider's remarks on a successful call.
fn report_provider_remarks(decided: &Decided, applied: &Applied, effects: &mut Vec<Effect>) {
    for diagnostic in &applied.diagnostics {
        let address = decided.address.clone();
        effects.push(Effect::Report(Event::Progress {
            address,
            text: diagnostic.text().into(),
        }));
    }
}

/// Lets the document's rule for readiness decide, if it states one and the object is not broken.
fn judge_by_rule(parts: &OperationParts, decided: &Decided, spec: &Value, applied: &mut Applied) {
    if matches!(applied.ready, Ready::Broken(_)) {
        return;
    }
    match parts.known.ruled_readiness(decided, spec, &applied.fields) {
        Some(RuledReadiness::Ready) => applied.ready = Ready::Yes,
        Some(RuledReadiness::NotYet(_)) => applied.ready = Ready::Pending,
        None => {}
    }
}

fn succeeded(
    parts: &mut OperationParts,
    task: u32,
    decided: &Arc<Decided>,
    request: &CallRequest,
    mut applied: Applied,
    effects: &mut Vec<Effect>,
) {
    if request.operation != Verb::Delete {
        judge_by_rule(parts, decided, &request.desired, &mut applied);
    }
    let durable = if applied.ready == Ready::Yes {
        Durable::Done(task)
    } else {
        Durable::Configured(task)
    };
    if request.operation == Verb::Delete {
        let left = parts.records().record_after_delete(decided, request);
        return parts.record(task, decided, left, None, Durable::Done(task));
    }
    if let Some(write) = write_of(decided) {
        match parts.link(|links, _| links.applied(task, decided, write, request, applied)) {
            Ok(Some(record)) => parts.record(task, decided, Some(Arc::new(record)), None, durable),
            Ok(None) => {}
            Err(diagnostic) => fail_write(parts, task, decided, write, *diagnostic, effects),
        }
        return;
    }
    if let Some(owner) = parts.known.owner_of_id(decided, &applied) {
        return refuse_id(parts, task, decided, request, &owner, effects);
    }
    let wrong = decided
        .ty
        .as_ref()
        .and_then(|ty| breach(ty, request, &applied));
    let ready = applied.ready.clone();
    let mut record = parts.records().record_after_call(decided, request, applied);
    record.duration_ms = parts.duration_ms(task).unwrap_or(record.duration_ms);
    if let Some(wrong) = wrong {
        record.status.word = StatusWord::Failed;
        return fail(
            parts,
            task,
            decided,
            Some(Arc::new(record)),
            wrong.diagnostic(&decided.address),
            effects,
        );
    }
    if let Ready::Broken(why) = ready {
        return fail_unhealthy(parts, task, decided, &record, why, effects);
    }
    parts.record(task, decided, Some(Arc::new(record)), None, durable);
}
