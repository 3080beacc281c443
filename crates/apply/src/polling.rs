//! Polls resources that their providers have accepted until they are ready.

use std::sync::Arc;
use std::time::Duration;

use blueprint::{Name, Value};
use evaluate::event::Event;
use evaluate::resolve::RuledReadiness;
use plan::model::Action;
use plan::task::Decided;
use provider::{ErrorKind, Operation, ProviderError, Readiness};
use state::{Record, StatusWord};
use understand::secret_marks::mark_fields;

use crate::completing::complete;
use crate::failing::{fail_late, fail_poll, fail_unhealthy, pause_after, schedule_retry};
use crate::journal::Durable;
use crate::model::Effect;
use crate::parts::OperationParts;
use crate::run_values::recorded_at;
use crate::schedule::TaskProgress;
use crate::timers::Wake;

/// The time that polling goes on after the limit that a resource has by a field of its own.
const AFTER_OWN_LIMIT: Duration = Duration::from_secs(60);

/// Handles a durable record of a resource that is accepted but not ready: readers go on, other
/// dependants wait (decisions/apply#configured-and-ready).
pub(crate) fn configured(parts: &mut OperationParts, task: u32, effects: &mut Vec<Effect>) {
    let Some(decided) = parts.facts.decided(task) else {
        return;
    };
    parts.schedule.set_configured(task);
    effects.push(Effect::Report(Event::Configured {
        address: decided.address.clone(),
    }));
    poll_until_ready(parts, task, effects);
}

/// Polls a resource until it is ready. The time limit holds even if a poll is never answered.
fn poll_until_ready(parts: &mut OperationParts, task: u32, effects: &mut Vec<Effect>) {
    if parts.schedule.task(task).limit().is_none() {
        let limit = time_limit(parts, task);
        if limit.is_zero() {
            return unready_in_time(parts, task, "it was not waited for", effects);
        }
        parts.timers.wake(Wake::Unready(task), limit, effects);
    }
    poll(parts, task, effects);
}

/// Polls a resource that an earlier operation left accepted but not ready.
pub(crate) fn poll_prior(
    parts: &mut OperationParts,
    task: u32,
    decided: &Decided,
    effects: &mut Vec<Effect>,
) {
    let Some(prior) = decided.prior.clone() else {
        return complete(parts, task, effects);
    };
    let request = parts.calls().poll(task, decided, &prior);
    parts.schedule.poll_prior(task, request, prior);
    poll_until_ready(parts, task, effects);
}

/// Records a resource that needs no call, then polls it until it is ready.
pub(crate) fn record_and_poll(
    parts: &mut OperationParts,
    task: u32,
    decided: &Decided,
    record: Arc<Record>,
) {
    let request = parts.calls().poll(task, decided, &record);
    parts.schedule.only_poll(task, request);
    parts.record(task, decided, Some(record), None, Durable::Configured(task));
}

/// Polls a resource now, or as soon as the limits of its provider allow.
pub(crate) fn poll(parts: &mut OperationParts, task: u32, effects: &mut Vec<Effect>) {
    let state = parts.schedule.task(task);
    let Some(request) = state.request() else {
        return;
    };
    if state.progress() != TaskProgress::Configured
        || !parts.limits.take_poll_token(task, &request.type_name)
    {
        return;
    }
    let Some(record) = state.record() else { return };
    let mut request = request.clone();
    request.id = Some(record.id.clone());
    request.prior_inputs = record.inputs.clone();
    request.prior = record.outputs.clone();
    request.private = record.private.clone();
    request.limit = Some(time_limit(parts, task).saturating_sub(state.polled_for()));
    effects.push(Effect::Poll(task, request));
}

fn time_limit(parts: &OperationParts, task: u32) -> Duration {
    let settings = &parts.facts.settings;
    let declared = parts.schedule.task(task).limit();
    match declared.or_else(|| own_limit(parts, task)) {
        Some(limit) => limit,
        None if is_held_when_late(parts, task) => settings.hold_after,
        None => settings.stable_within,
    }
}

/// The limit that a resource has by a field of its own. The provider ends the wait at the value of
/// the field, so the limit is somewhat longer.
fn own_limit(parts: &OperationParts, task: u32) -> Option<Duration> {
    let decided = parts.facts.decided(task)?;
    let field = decided.ty.as_ref()?.ready_within.as_ref()?;
    let record = parts.schedule.task(task).record()?;
    let seconds = match record.inputs.get(field)?.unmarked() {
        Value::Int(seconds) => *seconds as f64,
        Value::Float(seconds) => *seconds,
        _ => return None,
    };
    let limit = Duration::try_from_secs_f64(seconds).ok()?;
    Some(limit.saturating_add(AFTER_OWN_LIMIT))
}

/// Whether a resource that is not ready in time is held in place of a failure: others than its
/// provider make it ready, and the document sets no limit.
fn is_held_when_late(parts: &OperationParts, task: u32) -> bool {
    let decided = parts.facts.decided(task);
    let ty = decided.as_ref().and_then(|decided| decided.ty.as_ref());
    parts.schedule.task(task).limit().is_none()
        && own_limit(parts, task).is_none()
        && ty.is_some_and(|ty| ty.capabilities.complete_when_ready)
}

/// Holds or fails a resource whose time for becoming ready is over.
pub(crate) fn unready_in_time(
    parts: &mut OperationParts,
    task: u32,
    why: &str,
    effects: &mut Vec<Effect>,
) {
    let record = parts.schedule.task(task).record().cloned();
    let (Some(record), Some(decided)) = (record, parts.facts.decided(task)) else {
        return;
    };
    if !is_held_when_late(parts, task) {
        return fail_late(parts, task, &decided, &record, why, effects);
    }
    let why: Name = match parts.schedule.task(task).waits_for() {
        Some(waits_for) => waits_for.clone(),
        None => why.into(),
    };
    // What was made counts, although it is not ready. A resource that was only waited for was not made.
    let operation = parts.schedule.task(task).operation();
    match operation.filter(|_| decided.action != Action::None) {
        Some(Operation::Create) if decided.action == Action::Replace => {
            parts.results.count_replacement();
        }
        Some(operation) => parts.results.count(operation),
        None => {}
    }
    let address = decided.address.clone();
    parts.results.hold((address.clone(), why.clone()));
    parts.state.hold_tasks();
    parts.emit(Event::Held { address, why }, effects);
    parts.schedule.hold(task);
}

/// Handles the answer to a poll.
pub(crate) fn polled(
    parts: &mut OperationParts,
    task: u32,
    answer: Result<Readiness, ProviderError>,
    effects: &mut Vec<Effect>,
) {
    let Some(decided) = parts.facts.decided(task) else {
        return;
    };
    let state = parts.schedule.task(task);
    if state.progress() != TaskProgress::Configured {
        return;
    }
    let Some(record) = state.record().cloned() else {
        return;
    };
    // A link may have written into the resource since the record was made.
    let now = parts.known.record(recorded_at(&decided));
    let record = now
        .filter(|now| now.id == record.id)
        .cloned()
        .unwrap_or(record);
    match judged(parts, &decided, &record, answer) {
        Ok(Readiness::Ready(fields)) => {
            let mut record = Record::clone(&record);
            record.status.word = StatusWord::Ready;
            record.unhealthy.clear();
            record.duration_ms = parts.duration_ms(task).unwrap_or(record.duration_ms);
            record.outputs = with_fields(&decided, &record, &fields);
            parts.record(
                task,
                &decided,
                Some(Arc::new(record)),
                None,
                Durable::Done(task),
            );
        }
        Ok(Readiness::Broken(why)) => fail_unhealthy(parts, task, &decided, &record, why, effects),
        Ok(Readiness::NotYet { why, .. }) => {
            let after = poll_delay(state.polls());
            // In a rehearsal no other controller makes the object ready.
            let is_over = state.polled_for() + after > time_limit(parts, task);
            if is_over || parts.known.is_simulated() && is_held_when_late(parts, task) {
                let still = match &why {
                    Some(why) => format!("it is still not ready: {why}"),
                    None => "it is still not ready".to_owned(),
                };
                parts.schedule.set_waits_for(task, why);
                return unready_in_time(parts, task, &still, effects);
            }
            parts.schedule.set_waits_for(task, why);
            parts.schedule.count_poll(task, after);
            parts.timers.wake(Wake::Poll(task), after, effects);
        }
        // The poll was cancelled. The resource is unchanged.
        Err(error) if error.kind == ErrorKind::Cancelled && parts.state.is_cancelled() => {}
        Err(error) => match pause_after(parts, task, &error) {
            Some(after) => {
                schedule_retry(
                    parts,
                    task,
                    (&decided.address, &error),
                    (after, Wake::Poll(task)),
                    effects,
                );
            }
            None => fail_poll(parts, task, &decided, &record, &error, effects),
        },
    }
}

/// The answer to a poll, by the rule of the document if it states one.
fn judged(
    parts: &OperationParts,
    decided: &Decided,
    record: &Record,
    answer: Result<Readiness, ProviderError>,
) -> Result<Readiness, ProviderError> {
    let fields = match &answer {
        Ok(Readiness::Ready(fields) | Readiness::NotYet { fields, .. }) => fields,
        Ok(Readiness::Broken(_)) | Err(_) => return answer,
    };
    let now = with_fields(decided, record, fields);
    let verdict = parts.known.ruled_readiness(decided, &record.inputs, &now);
    Ok(match verdict {
        None => return answer,
        Some(RuledReadiness::Ready) => Readiness::Ready(fields.clone()),
        Some(RuledReadiness::NotYet(why)) => Readiness::NotYet {
            why: Some(why),
            fields: fields.clone(),
        },
    })
}

/// The recorded fields of a resource with those that changed meanwhile.
fn with_fields(decided: &Decided, record: &Record, fields: &Value) -> Value {
    let (Some(now), Some(ty)) = (fields.as_map(), &decided.ty) else {
        return record.outputs.clone();
    };
    let mut all = record.outputs.as_map().cloned().unwrap_or_default();
    let changed = now.iter();
    all.extend(changed.map(|(name, value)| (name.clone(), value.clone())));
    mark_fields(&ty.schema, &Value::Map(Arc::new(all)), &record.outputs)
}

/// The delay before the next poll: 0.5 s at first, growing by a factor of 1.5 up to 10 s
/// (decisions/blueprint#polling).
fn poll_delay(polls: u32) -> Duration {
    let ms = 500.0 * 1.5_f64.powi(polls.min(20) as i32);
    Duration::from_millis(ms.min(10_000.0) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn poll_delay_grows_up_to_ten_seconds() {
        assert_eq!(poll_delay(0), Duration::from_millis(500));
        assert_eq!(poll_delay(1), Duration::from_millis(750));
        assert_eq!(poll_delay(50), Duration::from_millis(10_000));
    }
}
