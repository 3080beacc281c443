//! Asks questions that could not be asked during planning because their subjects did not exist yet:
//! data sources that search for resources of this run, provider functions called with the values of
//! such resources, files that these values name.
//!
//! A task that needs an answer gives its call slot to the question and restarts when the answer
//! arrives. Answers stay valid for the whole run.
//!
//! Not here: which questions exist (`evaluate::evaluation_question`), the questions that are
//! pending (`inquiries`).

use std::time::Duration;

use blueprint::{Name, Value};
use diag::Diagnostics;
use evaluate::evaluation_question::{EvaluationQuestion, EvaluationReply, Round};
use evaluate::event::Event;
use evaluate::resolve::{Evaluation, Need, Slot};
use plan::children::needs as export_needs;
use plan::levels::live_locals;
use plan::task::Decided;
use provider::PlanMode;
use understand::graph::GraphNode;

use crate::codes;
use crate::failing::{fail_before_call, handle_reply};
use crate::inquiries::{EXPORTS, MOST_ROUNDS, Replies};
use crate::model::{Asking, Effect};
use crate::parts::OperationParts;
use crate::replan;
use crate::run_values::{judges_replacement, provider_decides};
use crate::schedule::TaskProgress;
use crate::timers::Wake;
use crate::values::reopen;

/// Asks the questions that a task needs answered. The task restarts at once if no question remains.
pub(crate) fn ask(
    parts: &mut OperationParts,
    task: u32,
    needs: Vec<Need>,
    effects: &mut Vec<Effect>,
) {
    if parts.schedule.begin_round(task) > MOST_ROUNDS {
        let diagnostic = codes::PROMISE_BROKEN
            .new("the evaluation asks the same questions again and does not end");
        parts.results.report(diagnostic);
        return fail_before_call(parts, task, effects);
    }
    let mut questions = questions(parts, needs);
    if questions.is_empty() {
        parts.schedule.enqueue_first(task);
        return;
    }
    // Wait for the reply if another task has asked the same question.
    if parts.inquiries.share(task, &mut questions) {
        parts.schedule.ask(task);
        return;
    }
    if !parts
        .limits
        .occupy_asking(task, &questions, parts.schedule.ranks())
    {
        parts.schedule.uncount_round(task);
        return;
    }
    parts.inquiries.add(&questions);
    send(parts, task, questions, effects);
}

/// Asks the provider of a resource to plan again, or to report the object that exists at the place
/// of the resource.
pub(crate) fn plan_again(
    parts: &mut OperationParts,
    task: u32,
    decided: &Decided,
    mode: PlanMode,
    desired: Value,
    effects: &mut Vec<Effect>,
) {
    parts.schedule.set_ready(task);
    let kind = parts.facts.task(task).kind;
    let questions = vec![replan::question(
        &parts.facts,
        &parts.known,
        kind,
        decided,
        mode,
        desired,
    )];
    if !parts
        .limits
        .occupy_asking(task, &questions, parts.schedule.ranks())
    {
        return;
    }
    if let Some(evaluation) = parts
        .known
        .evaluation
        .as_mut()
        .filter(|_| provider_decides(decided) || judges_replacement(decided))
    {
        // Drop the earlier opinion, so that none is left if the answer never comes.
        evaluation.answers.opinions.shift_remove(&decided.address);
    }
    parts.known.mark_replanned(&decided.address, mode);
    parts.inquiries.add(&questions);
    send(parts, task, questions, effects);
}

fn send(
    parts: &mut OperationParts,
    task: u32,
    questions: Vec<EvaluationQuestion>,
    effects: &mut Vec<Effect>,
) {
    debug_assert!(
        !questions.is_empty(),
        "a task without questions takes no call slot"
    );
    parts.limits.count_call();
    parts.schedule.ask(task);
    effects.extend(asking(parts, Some(task), questions));
}

/// Asks refused questions of a task again. Returns false if there are none. The questions keep
/// waiting if no call slot is free.
pub(crate) fn ask_again(parts: &mut OperationParts, task: u32, effects: &mut Vec<Effect>) -> bool {
    let Some(retries) = parts.inquiries.take_retries(task) else {
        return false;
    };
    let (questions, replies): (Vec<_>, Vec<_>) = retries.into_iter().unzip();
    if parts
        .limits
        .occupy_asking(task, &questions, parts.schedule.ranks())
    {
        send(parts, task, questions, effects);
    } else {
        parts
            .inquiries
            .retry_later(task, questions.into_iter().zip(replies).collect());
    }
    true
}

/// Asks refused questions of the exports again.
pub(crate) fn retry_exports(parts: &mut OperationParts, effects: &mut Vec<Effect>) {
    let Some(retries) = parts.inquiries.take_retries(EXPORTS) else {
        return;
    };
    let questions: Vec<EvaluationQuestion> =
        retries.into_iter().map(|(question, _)| question).collect();
    parts.limits.spend_asking(&questions);
    effects.extend(asking(parts, None, questions));
}

fn questions(parts: &mut OperationParts, needs: Vec<Need>) -> Vec<EvaluationQuestion> {
    let Some(evaluation) = &mut parts.known.evaluation else {
        return Vec::new();
    };
    let mut round = Round::new(evaluation, needs);
    round.questions(
        evaluation,
        &parts.facts.catalogs,
        parts.results.diagnostics(),
    )
}

fn asking(
    parts: &OperationParts,
    task: Option<u32>,
    questions: Vec<EvaluationQuestion>,
) -> Option<Effect> {
    let evaluation = parts.known.evaluation.as_ref()?;
    let now = evaluation.answers.now;
    let functions = evaluation.functions.clone();
    Some(Effect::Ask(Asking {
        task,
        questions,
        now,
        functions,
    }))
}

/// Handles replies. A question with a retryable error is asked again after a delay.
pub(crate) fn handle_replies(
    parts: &mut OperationParts,
    task: Option<u32>,
    replies: Replies,
    effects: &mut Vec<Effect>,
) {
    let asker = task.unwrap_or(EXPORTS);
    let mut again = Replies::new();
    let mut after = Duration::ZERO;
    let mut reason = Name::default();
    for (question, reply) in replies {
        match pause_before(parts, task, &question, &reply) {
            Some((pause, words)) => {
                (after, reason) = (after.max(pause), words);
                again.push((question, reply));
            }
            None => handle_reply(parts, question, reply),
        }
    }
    let retries = !again.is_empty();
    if retries {
        parts.inquiries.retry_later(asker, again);
        parts.timers.wake(Wake::Retry(asker), after, effects);
    }
    let Some(task) = task else {
        parts.inquiries.exports_answered(retries);
        return;
    };
    parts.vacate(task);
    parts.limits.count_answer();
    if parts.schedule.progress(task) != TaskProgress::Asking {
        return;
    }
    if !retries {
        parts.schedule.answered(task);
        return;
    }
    let attempt = parts.schedule.count_try(task, None);
    parts.schedule.rest(task);
    if let Some(address) = parts.facts.address_of(task) {
        let after_ms = after.as_millis() as u64;
        effects.push(Effect::Report(Event::Retrying {
            address,
            attempt,
            after_ms,
            reason,
        }));
    }
}

/// The delay before a question is asked again, and the reason; `None` if it is not asked again.
fn pause_before(
    parts: &OperationParts,
    task: Option<u32>,
    question: &EvaluationQuestion,
    reply: &EvaluationReply,
) -> Option<(Duration, Name)> {
    let error = reply
        .temporary_error()
        .filter(|_| !parts.state.is_stopping())?;
    let tries = task.map_or(parts.inquiries.exports_retries(), |task| {
        parts.schedule.task(task).tries()
    });
    let policy = parts.limits.policy(question.namespace()?);
    let token = format!("{}-{}", parts.facts.operation.id, question.key());
    Some((
        policy.next_pause(error, tries, &token)?,
        error.message.as_str().into(),
    ))
}

/// Asks the questions that exports and metadata still need answered. Returns whether questions are
/// pending.
pub(crate) fn ask_for_exports(parts: &mut OperationParts, effects: &mut Vec<Effect>) -> bool {
    if parts.inquiries.are_exports_pending() || parts.inquiries.have_exports_ended() {
        return parts.inquiries.are_exports_pending();
    }
    loop {
        let Some(evaluation) = &mut parts.known.evaluation else {
            return false;
        };
        if parts.inquiries.begin_exports_round() == 1 {
            reopen(evaluation, |_| true);
        }
        let mut mistakes = Diagnostics::new();
        let needs = needs_of_exports(evaluation, &mut mistakes);
        if parts.results.report_errors(mistakes) {
            parts.state.fail();
        }
        if needs.is_empty() || parts.inquiries.have_exports_ended() {
            return false;
        }
        let questions = questions(parts, needs);
        if !questions.is_empty() {
            parts.inquiries.ask_for_exports();
            parts.limits.spend_asking(&questions);
            effects.extend(asking(parts, None, questions));
            return true;
        }
    }
}

/// Returns the needs of the exported values. Errors of the values that the exports read go to
/// `found`.
fn needs_of_exports(evaluation: &mut Evaluation, found: &mut Diagnostics) -> Vec<Need> {
    let documents = evaluation.documents.clone();
    let live = live_locals(&documents);
    let mut needs: Vec<Need> = Vec::new();
    for node in documents.graph().order() {
        let GraphNode::Local(index) = node else {
            continue;
        };
        let open = matches!(
            evaluation.locals[index as usize],
            Slot::Partial(_) | Slot::Open
        );
        if !open || !live[index as usize] {
            continue;
        }
        // A value that is still unknown keeps its result. The element that reads it reports the
        // error.
        if let Err(need) = evaluation.settle_local(index, found)
            && !needs.contains(&need)
        {
            needs.push(need);
        }
    }
    needs.extend(export_needs(evaluation));
    needs
}
