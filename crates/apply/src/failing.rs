//! Failures: refused calls, their retries, and the stop of the operation that follows a failure.
//!
//! A failure may stop the operation, and a stop fails the calls that wait for a retry. Both are
//! therefore in this file.
//!
//! Not here: the text about a refused call (`refusal`), the record of a failed step (`records`).

use std::sync::Arc;
use std::time::Duration;

use blueprint::{Address, Name};
use diag::Diagnostic;
use evaluate::evaluation_question::{EvaluationQuestion, EvaluationReply, store_reply};
use evaluate::event::Event;
use plan::linked::LinkWrite;
use plan::task::{Decided, TaskKind, Until};
use provider::{ErrorKind, Operation as Verb, ProviderError};
use state::{Record, StatusWord};

use crate::codes;
use crate::facts::verb_of;
use crate::inquiries::EXPORTS;
use crate::journal::Durable;
use crate::link_writes::{follows_only_in_order, write_of};
use crate::model::{CallRequest, Effect};
use crate::parts::OperationParts;
use crate::refusal::{RefusedCall, spec_of, with_fields};
use crate::run_values::ObjectOwner;
use crate::schedule::TaskProgress;
use crate::timers::{AFTER_CANCEL, Wake};

/// Stops the operation: nothing new starts. Waits for running calls, up to the drain time unless
/// the options name this stop.
pub(crate) fn stop(parts: &mut OperationParts, effects: &mut Vec<Effect>) {
    if !parts.state.begin_stop() {
        return;
    }
    // Calls that wait for a retry are given up.
    for task in parts.schedule.all_with(TaskProgress::Resting) {
        match parts.facts.task(task).kind {
            // A pause ends early, and the tasks after it do not start.
            TaskKind::Pause(_) => parts.schedule.set_ready(task),
            _ => fail_waiting_call(parts, task, effects),
        }
    }
    give_up_questions(parts, EXPORTS);
    if parts.limits.calling() > 0 {
        effects.push(Effect::Report(Event::Draining {
            running: parts.limits.calling() as u64,
        }));
    }
    if !parts.state.is_at_until() {
        parts
            .timers
            .wake(Wake::Drain, parts.facts.settings.drain, effects);
    }
}

/// Gives up a call that waits for a retry.
pub(crate) fn fail_waiting_call(parts: &mut OperationParts, task: u32, effects: &mut Vec<Effect>) {
    if give_up_questions(parts, task) {
        return;
    }
    let Some(decided) = parts.facts.decided(task) else {
        return;
    };
    let why = if parts.schedule.task(task).is_late() {
        "not tried again, because its time is over"
    } else {
        "not tried again, because the operation is stopping"
    };
    // What the service said last is the cause. The stop only explains why there is no other try.
    let error = match parts.schedule.task(task).last_error() {
        Some(last) => ProviderError {
            kind: ErrorKind::Permanent,
            message: format!("{}; {why}", last.message),
            ..last.clone()
        },
        None => ProviderError::new(ErrorKind::Permanent, why),
    };
    refused(parts, task, &decided, error, effects);
}

/// Stores a final reply and resumes the tasks that wait for it.
pub(crate) fn handle_reply(
    parts: &mut OperationParts,
    question: EvaluationQuestion,
    reply: EvaluationReply,
) {
    let waiting = parts.inquiries.remove(&question);
    if let Some(evaluation) = &mut parts.known.evaluation {
        store_reply(evaluation, question, reply, parts.results.diagnostics());
    }
    for task in waiting {
        parts.schedule.resume(task);
    }
}

/// Stops asking the refused questions of a task, or of the exports, again. Returns false if there
/// are none.
fn give_up_questions(parts: &mut OperationParts, asker: u32) -> bool {
    let Some(retries) = parts.inquiries.take_retries(asker) else {
        return false;
    };
    if asker == EXPORTS {
        for (question, reply) in retries {
            handle_reply(parts, question, reply);
        }
        parts.inquiries.give_up_exports();
        return true;
    }
    for (question, reply) in retries {
        if let Some(error) = reply.temporary_error()
            && parts.state.is_stopping()
        {
            let diagnostic = unanswered(parts, asker, error);
            parts.results.report(diagnostic);
        }
        for waiting in parts.inquiries.remove(&question) {
            parts.schedule.set_ready(waiting);
        }
    }
    parts.schedule.set_ready(asker);
    true
}

/// The diagnostic of a question that is not asked again because the operation stops.
fn unanswered(parts: &OperationParts, asker: u32, error: &ProviderError) -> Diagnostic {
    let message = match parts.facts.address_of(asker) {
        Some(address) => format!("what `{address}` reads could not be read"),
        None => "what the document reads could not be read".to_owned(),
    };
    codes::PROVIDER_FAILED
        .new(message)
        .note(error.message.clone())
        .note("not tried again, because the operation is stopping")
}

/// Handles a refused call: tries it again, or fails the step.
pub(crate) fn refused(
    parts: &mut OperationParts,
    task: u32,
    decided: &Arc<Decided>,
    error: ProviderError,
    effects: &mut Vec<Effect>,
) {
    let state = parts.schedule.task(task);
    // The provider and the run measure the time limit separately. Either may report the timeout
    // first.
    let gave_up = error.kind == ErrorKind::TimedOut && state.limit().is_some();
    let is_late = gave_up || state.is_late() || state.is_time_over(parts.timers.millis());
    let tries = state.tries();
    let limit = state.limit().unwrap_or_default();
    let may_start = !parts.state.is_stopping();
    if may_start
        && !is_late
        && error.partial.is_none()
        && let Some(after) = pause_after(parts, task, &error)
    {
        parts.schedule.rest(task);
        schedule_retry(
            parts,
            task,
            (&decided.address, &error),
            (after, Wake::Retry(task)),
            effects,
        );
        return;
    }
    if let Some(write) = write_of(decided)
        && let Some(outcome) =
            parts.link(|links, _| links.retry_unshared(task, write, &error, may_start))
    {
        parts.record_only(task, outcome);
        parts.schedule.start_over(task);
        return;
    }
    let Some(request) = parts.schedule.task(task).request().cloned() else {
        return;
    };
    let policy = parts.limits.policy(request.type_name.package_name());
    let refusal = RefusedCall {
        decided,
        request: &request,
        error: &error,
        tries,
        policy,
        late: is_late.then_some(limit),
    };
    let evaluation = parts.known.evaluation.as_ref();
    let diagnostic = refusal.diagnostic(evaluation);
    refusal.report_remarks(evaluation, parts.results.diagnostics());
    if let Some(write) = write_of(decided) {
        return fail_write(parts, task, decided, write, diagnostic, effects);
    }
    if error.kind == ErrorKind::OutcomeUnknown && error.partial.is_none() {
        let diagnostic = diagnostic.note(match request.operation {
            // Not every provider can look up what it created.
            Verb::Create => "the next plan looks it up, or asks what became of it",
            Verb::Update | Verb::Delete => "the next plan reads it",
        });
        return leave_open(parts, task, decided, diagnostic, effects);
    }
    if parts.facts.plan.options.force && request.operation == Verb::Delete && may_start {
        forget(parts, task, decided, &request, diagnostic);
        return;
    }
    // An earlier attempt may also have taken effect. A provider may report that it was cancelled as
    // any error.
    let is_cancelled = parts.state.is_cancelled() && !error.did_nothing;
    let unsure =
        error.leaves_outcome_open() || is_cancelled || parts.schedule.task(task).is_unsure();
    let made = error.partial.is_some();
    let records = parts.records();
    let mut record =
        records.record_after_failure(decided, &request, error.partial.map(|partial| *partial));
    if let Some(failed) = record
        .as_mut()
        .filter(|_| request.operation == Verb::Create && !made)
    {
        records.keep_attempt(failed, decided, &request, unsure);
    }
    fail(parts, task, decided, record, diagnostic, effects);
}

/// The delay before a call or poll is retried; `None` if it is not retried.
pub(crate) fn pause_after(
    parts: &OperationParts,
    task: u32,
    error: &ProviderError,
) -> Option<Duration> {
    let state = parts.schedule.task(task);
    let request = state.request()?;
    parts
        .limits
        .policy(request.type_name.package_name())
        .next_pause(error, state.tries(), &request.token)
}

/// Sets the wake-up after which a call or poll of a resource is retried, and reports its error.
pub(crate) fn schedule_retry(
    parts: &mut OperationParts,
    task: u32,
    (address, error): (&Address, &ProviderError),
    (after, wake): (Duration, Wake),
    effects: &mut Vec<Effect>,
) {
    effects.push(Effect::Report(Event::Retrying {
        address: address.clone(),
        attempt: parts.schedule.count_try(task, Some(error)),
        after_ms: after.as_millis() as u64,
        reason: error.message.as_str().into(),
    }));
    parts.timers.wake(wake, after, effects);
}

/// Handles a permanently refused link write: the target is unchanged, and the link fails at this
/// write.
pub(crate) fn fail_write(
    parts: &mut OperationParts,
    task: u32,
    decided: &Arc<Decided>,
    write: &LinkWrite,
    diagnostic: Diagnostic,
    effects: &mut Vec<Effect>,
) {
    let target = parts.known.record(&write.target).cloned();
    let message: Name = diagnostic.message.as_str().into();
    parts.link(|links, _| links.fail(task, &write.link, &write.name, message));
    fail(parts, task, decided, target, diagnostic, effects);
}

/// Fails a step whose answer has the id of the resource at another address. That id is not recorded
/// a second time, because the delete of one resource would then delete the other.
pub(crate) fn refuse_id(
    parts: &mut OperationParts,
    task: u32,
    decided: &Arc<Decided>,
    request: &CallRequest,
    owner: &ObjectOwner,
    effects: &mut Vec<Effect>,
) {
    let diagnostic = codes::PROVIDER_BROKE_CONTRACT
        .new(format!(
            "the provider's answer about `{}` has the id of another resource",
            decided.address
        ))
        .note(format!("the id belongs to {owner}"));
    let records = parts.records();
    let mut record = records.record_after_failure(decided, request, None);
    if let Some(failed) = record
        .as_mut()
        .filter(|_| request.operation == Verb::Create)
    {
        records.keep_attempt(failed, decided, request, true);
    }
    fail(parts, task, decided, record, diagnostic, effects);
}

/// Forgets a resource that could not be deleted, as the option `force` demands. Reports the object
/// that may still exist as a note.
fn forget(
    parts: &mut OperationParts,
    task: u32,
    decided: &Decided,
    request: &CallRequest,
    mut diagnostic: Diagnostic,
) {
    diagnostic.severity = diag::Severity::Note;
    let message: Name = diagnostic.message.as_str().into();
    parts.results.report(diagnostic);
    let id = request.id.clone().unwrap_or_default();
    let hides = state::hides_id(
        &id,
        [&request.prior_inputs, &request.prior, &request.private],
    );
    let id = if hides { "(secret)".into() } else { id };
    parts
        .results
        .leave_behind((decided.address.clone(), request.type_name.clone(), id));
    parts.schedule.forget(task);
    let left = parts.records().record_after_delete(decided, request);
    parts.record(task, decided, left, Some(message), Durable::Done(task));
}

/// Fails a step: records the known state, reports the diagnostic, and stops the run unless it is to
/// keep going.
pub(crate) fn fail(
    parts: &mut OperationParts,
    task: u32,
    decided: &Decided,
    record: Option<Arc<Record>>,
    diagnostic: Diagnostic,
    effects: &mut Vec<Effect>,
) {
    let diagnostic = placed(diagnostic, decided);
    let message: Name = match diagnostic.notes.as_slice() {
        [] => diagnostic.message.as_str().into(),
        notes => format!("{}: {}", diagnostic.message, notes.join("; ")).into(),
    };
    let operation = verb_of(parts.facts.task(task).kind);
    let failed = Event::Failed {
        address: decided.address.clone(),
        operation,
        message: message.clone(),
    };
    effects.push(Effect::Report(failed));
    parts.results.report(diagnostic);
    parts.state.fail();
    parts.link(|links, _| links.fail_part(task, decided, &message));
    parts.record(task, decided, record, Some(message), Durable::Failed(task));
    stop_unless_keeping_going(parts, effects);
}

/// Places a diagnostic at its resource, unless it has a place.
fn placed(diagnostic: Diagnostic, decided: &Decided) -> Diagnostic {
    if decided.span.is_some() && diagnostic.labels.is_empty() {
        diagnostic.label(decided.span, "declared here")
    } else {
        diagnostic
    }
}

/// Fails a step that has made no call. The error has been reported, also to people.
pub(crate) fn fail_before_call(parts: &mut OperationParts, task: u32, effects: &mut Vec<Effect>) {
    parts.state.fail();
    finish_failed(parts, task, effects);
}

/// Fails a step that has made no call, and reports the failure to people. The error has been
/// reported.
pub(crate) fn fail_with_message(
    parts: &mut OperationParts,
    task: u32,
    decided: &Decided,
    message: Name,
    effects: &mut Vec<Effect>,
) {
    let operation = verb_of(parts.facts.task(task).kind);
    parts.emit(
        Event::Failed {
            address: decided.address.clone(),
            operation,
            message,
        },
        effects,
    );
    fail_before_call(parts, task, effects);
}

/// Handles a failure that is durable, or needs no record: skips the dependants.
pub(crate) fn finish_failed(parts: &mut OperationParts, task: u32, effects: &mut Vec<Effect>) {
    parts.schedule.fail(task);
    stop_unless_keeping_going(parts, effects);
    skip_dependants(parts, task, true, effects);
}

fn stop_unless_keeping_going(parts: &mut OperationParts, effects: &mut Vec<Effect>) {
    if !parts.facts.keeps_going() {
        stop(parts, effects);
    }
}

/// Skips the dependants of a task. If `is_over` is set, dependants that wait only until the task is
/// over go on.
fn skip_dependants(
    parts: &mut OperationParts,
    task: u32,
    is_over: bool,
    effects: &mut Vec<Effect>,
) {
    let facts = &parts.facts;
    let in_order = |task: u32, waiter: u32| {
        let decided = |task: u32| facts.task(task).decision.as_deref();
        decided(task)
            .zip(decided(waiter))
            .is_some_and(|(one, other)| follows_only_in_order(one, other))
    };
    let goes_on = |task, waiter, until| is_over && (until == Until::Over || in_order(task, waiter));
    let skipped = parts.schedule.skip_dependants(task, goes_on);
    for decided in skipped
        .into_iter()
        .filter_map(|waiter| parts.facts.decided(waiter))
    {
        let reason = "something it needs has failed".into();
        effects.push(Effect::Report(Event::Skipped {
            address: decided.address.clone(),
            reason,
        }));
    }
}

/// Abandons a call that does not end after its cancellation. Its intent stays open, so the next
/// plan looks up the result. All dependants are skipped, even those that would go on after a
/// failure, because the call may still be running.
pub(crate) fn abandon(
    parts: &mut OperationParts,
    task: u32,
    decided: &Decided,
    effects: &mut Vec<Effect>,
) {
    let limit = blueprint::format_duration(parts.schedule.task(task).limit().unwrap_or_default());
    let operation = verb_of(parts.facts.task(task).kind);
    let diagnostic = codes::NOT_STABLE
        .new(format!(
            "the {} of `{}` was not done within {limit}",
            operation.word(),
            decided.address
        ))
        .note("it did not end after it was cancelled; the next plan reads its outcome, or asks for it");
    parts.vacate(task);
    parts.limits.count_answer();
    leave_open(parts, task, decided, diagnostic, effects);
}

/// Fails a step and leaves its intent open, because the outcome of its call is not known. All
/// dependants are skipped.
fn leave_open(
    parts: &mut OperationParts,
    task: u32,
    decided: &Decided,
    diagnostic: Diagnostic,
    effects: &mut Vec<Effect>,
) {
    let operation = verb_of(parts.facts.task(task).kind);
    let message: Name = diagnostic.message.as_str().into();
    parts.results.report(placed(diagnostic, decided));
    effects.push(Effect::Report(Event::Failed {
        address: decided.address.clone(),
        operation,
        message,
    }));
    parts.state.fail();
    parts.schedule.abandon(task);
    skip_dependants(parts, task, false, effects);
    stop_unless_keeping_going(parts, effects);
}

/// Fails a step whose readiness cannot be determined. The resource stays accepted, and the next run
/// polls it again.
pub(crate) fn fail_poll(
    parts: &mut OperationParts,
    task: u32,
    decided: &Decided,
    record: &Record,
    error: &ProviderError,
    effects: &mut Vec<Effect>,
) {
    let message = format!(
        "the provider could not tell whether `{}` is ready",
        decided.address
    );
    let diagnostic = match (error.kind.is_retryable(), parts.schedule.task(task).tries()) {
        (true, tries) => {
            codes::RETRIES_EXHAUSTED.new(format!("{message} after {tries} more tries"))
        }
        (false, _) => codes::PROVIDER_FAILED.new(message),
    };
    let mut record = record.clone();
    record.unhealthy = vec![error.message.as_str().into()];
    let spec = spec_of(decided, parts.known.evaluation.as_ref());
    let diagnostic = with_fields(diagnostic.note(error.message.clone()), error, spec);
    fail(
        parts,
        task,
        decided,
        Some(Arc::new(record)),
        diagnostic,
        effects,
    );
}

/// Fails a step whose resource did not become ready in time.
pub(crate) fn fail_late(
    parts: &mut OperationParts,
    task: u32,
    decided: &Decided,
    record: &Record,
    why: &str,
    effects: &mut Vec<Effect>,
) {
    let mut diagnostic = codes::NOT_STABLE
        .new(format!(
            "`{}` did not become ready in time",
            decided.address
        ))
        .note(why);
    let mut causes: Vec<Name> = vec![why.into()];
    if let Some(last) = parts.schedule.task(task).last_error() {
        diagnostic = diagnostic.note(last.message.clone());
        causes.push(last.message.as_str().into());
    }
    let record = unhealthy(record, causes);
    fail(parts, task, decided, Some(record), diagnostic, effects);
}

/// Fails a step whose resource exists, but never becomes healthy.
pub(crate) fn fail_unhealthy(
    parts: &mut OperationParts,
    task: u32,
    decided: &Decided,
    record: &Record,
    why: Vec<Name>,
    effects: &mut Vec<Effect>,
) {
    let diagnostic =
        codes::NOT_STABLE.new(format!("`{}` exists, but is not healthy", decided.address));
    let diagnostic = why
        .iter()
        .fold(diagnostic, |diagnostic, why| diagnostic.note(why.as_ref()));
    fail(
        parts,
        task,
        decided,
        Some(unhealthy(record, why)),
        diagnostic,
        effects,
    );
}

fn unhealthy(record: &Record, why: Vec<Name>) -> Arc<Record> {
    let mut record = record.clone();
    record.status.word = StatusWord::Failed;
    record.unhealthy = why;
    Arc::new(record)
}

/// Cancels the calls that have not ended in the drain time.
pub(crate) fn drain(parts: &mut OperationParts, effects: &mut Vec<Effect>) {
    parts.state.cancel();
    if parts.limits.in_flight() > 0 {
        effects.push(Effect::Cancel);
        parts.timers.wake(Wake::AbandonAll, AFTER_CANCEL, effects);
    }
}
