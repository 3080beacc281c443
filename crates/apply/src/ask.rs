//! Questions that could not be asked during planning because their subjects did not exist yet: data sources that search
//! for resources of this run, provider functions called with their values, files that they name.
//!
//! A task that needs an answer gives its call slot to the question and restarts when the answer arrives. Answers hold
//! for the whole run.
//!
//! Not here: which questions exist (`evaluate::evaluation_question`).

use std::time::Duration;

use blueprint::{Address, Name, Value};
use diag::Diagnostics;

use crate::codes;
use crate::inquiries::EXPORTS;
use crate::machine::Apply;
use crate::model::{Asking, Effect};
use crate::schedule::Progress;
use crate::timers::Wake;
use evaluate::evaluation_question::{EvaluationQuestion, EvaluationReply, Round, take_in};
use evaluate::event::Event;
use evaluate::resolve::{Evaluation, Need, Slot};
use plan::children::needs as export_needs;
use plan::levels::live_locals;
use plan::model::Action;
use plan::task::Decided;
use provider::{PlanMode, Plans};
use understand::graph::Node;

/// A task that asks more rounds than this is in a cycle.
const MOST_ROUNDS: u32 = 1000;

impl Apply {
    /// Asks what a task needs. The task restarts at once if no question remains.
    pub(crate) fn ask(&mut self, task: u32, needs: Vec<Need>, effects: &mut Vec<Effect>) {
        let running = &mut self.schedule.running[task as usize];
        running.rounds += 1;
        let too_often = running.rounds > MOST_ROUNDS;
        running.progress = Progress::Ready;
        let mut questions = if too_often { Vec::new() } else { self.questions(needs) };
        if questions.is_empty() && !too_often {
            self.schedule.enqueue_first(task);
            return;
        }
        // Wait for the answer if another task has asked the same question.
        let first = questions.first().map(EvaluationQuestion::key).unwrap_or_default();
        questions.retain(|question| !self.inquiries.pending.contains_key(&question.key()));
        if let (true, Some(parked)) = (questions.is_empty(), self.inquiries.pending.get_mut(&first)) {
            parked.push(task);
            self.schedule.running[task as usize].progress = Progress::Asking;
            return;
        }
        if too_often {
            self.results
                .found
                .push(codes::PROMISE_BROKEN.new("a question is asked again and again; nothing can answer it"));
            self.schedule.running[task as usize].progress = Progress::Failed;
            self.state.failed = true;
            self.after_failure(task, effects);
            return;
        }
        if !self.limits.occupy_asking(task, &questions, &self.schedule.ranks) {
            self.schedule.running[task as usize].rounds -= 1;
            return;
        }
        self.inquiries.pending.extend(questions.iter().map(|question| (question.key(), Vec::new())));
        self.put(task, questions, effects);
    }

    /// Asks what exists at the place of a resource that is to be created, if its spec was unknown at plan time and its
    /// provider adopts. Returns whether it asks or waits to ask.
    pub(super) fn ask_what_is_there(
        &mut self,
        task: u32,
        decided: &Decided,
        desired: &Value,
        effects: &mut Vec<Effect>,
    ) -> bool {
        let adopts =
            decided.ty.as_ref().is_some_and(|ty| ty.capabilities.adopts && ty.capabilities.plans != Plans::Always);
        if !adopts || !decided.desired.has_unknown() || self.results.replanned.contains_key(&decided.address) {
            return false;
        }
        let mode = if decided.action == Action::Replace { PlanMode::Replace } else { PlanMode::Create };
        self.plan_again(task, decided, mode, desired.clone(), effects);
        true
    }

    pub(crate) fn put(&mut self, task: u32, questions: Vec<EvaluationQuestion>, effects: &mut Vec<Effect>) {
        debug_assert!(!questions.is_empty(), "a task without questions takes no call slot");
        self.limits.called();
        self.schedule.running[task as usize].progress = Progress::Asking;
        effects.extend(self.asking(Some(task), questions));
    }

    /// Asks refused questions of a task again. Returns false if there are none. They keep waiting if no call slot is
    /// free.
    pub(super) fn ask_again(&mut self, task: u32, effects: &mut Vec<Effect>) -> bool {
        let Some(resting) = self.inquiries.to_retry.remove(&task) else { return false };
        let (questions, replies): (Vec<_>, Vec<_>) = resting.into_iter().unzip();
        if self.limits.occupy_asking(task, &questions, &self.schedule.ranks) {
            self.put(task, questions, effects);
        } else {
            self.inquiries.to_retry.insert(task, questions.into_iter().zip(replies).collect());
        }
        true
    }

    /// Asks refused questions of the exported values again.
    pub(super) fn retry_exports(&mut self, effects: &mut Vec<Effect>) {
        let Some(resting) = self.inquiries.to_retry.remove(&EXPORTS) else { return };
        let questions: Vec<EvaluationQuestion> = resting.into_iter().map(|(question, _)| question).collect();
        self.limits.spend_asking(&questions);
        effects.extend(self.asking(None, questions));
    }

    fn questions(&mut self, needs: Vec<Need>) -> Vec<EvaluationQuestion> {
        let Some(evaluation) = &mut self.evaluation else { return Vec::new() };
        let mut round = Round::new(evaluation, needs);
        round.questions(evaluation, &self.catalogs, &mut self.results.found)
    }

    fn asking(&self, task: Option<u32>, questions: Vec<EvaluationQuestion>) -> Option<Effect> {
        let evaluation = self.evaluation.as_ref()?;
        let (now, functions) = (evaluation.answers.now, evaluation.functions.clone());
        Some(Effect::Ask(Asking { task, questions, now, functions }))
    }

    /// Handles replies. A question with a retryable error is asked again after a delay.
    pub(crate) fn answered(
        &mut self,
        task: Option<u32>,
        replies: Vec<(EvaluationQuestion, EvaluationReply)>,
        effects: &mut Vec<Effect>,
    ) {
        let asker = task.unwrap_or(EXPORTS);
        let mut again: Vec<(EvaluationQuestion, EvaluationReply)> = Vec::new();
        let mut after = Duration::ZERO;
        let mut reason = Name::default();
        for (question, reply) in replies {
            match self.pause_before(task, &question, &reply) {
                Some((pause, words)) => {
                    (after, reason) = (after.max(pause), words);
                    again.push((question, reply));
                }
                None => self.heard(question, reply),
            }
        }
        let resting = !again.is_empty();
        if resting {
            self.inquiries.to_retry.insert(asker, again);
            self.timers.wake(Wake::Retry(asker), after, effects);
        }
        let Some(task) = task else {
            self.inquiries.exports_retries = if resting { self.inquiries.exports_retries + 1 } else { 0 };
            self.inquiries.exports_pending = resting;
            return;
        };
        self.limits.vacate(task, &self.plan.tasks[task as usize], &mut self.schedule);
        self.limits.answered();
        let running = &mut self.schedule.running[task as usize];
        if running.progress != Progress::Asking {
            return;
        }
        if !resting {
            running.tries = 0;
            running.progress = Progress::Ready;
            self.schedule.enqueue_first(task);
            return;
        }
        running.tries += 1;
        running.progress = Progress::Resting;
        let attempt = running.tries + 1;
        if let Some(address) = self.address_of(task) {
            let after_ms = after.as_millis() as u64;
            effects.push(Effect::Tell(Event::Retrying { address, attempt, after_ms, reason }));
        }
    }

    /// The delay before a question is asked again, and the reason; `None` if it is not asked again.
    fn pause_before(
        &self,
        task: Option<u32>,
        question: &EvaluationQuestion,
        reply: &EvaluationReply,
    ) -> Option<(Duration, Name)> {
        let error = reply.trouble().filter(|_| !self.state.stopping)?;
        let tries = task.map_or(self.inquiries.exports_retries, |task| self.schedule.running[task as usize].tries);
        let policy = self.limits.policy(question.namespace()?);
        let token = format!("{}-{}", self.operation.id, question.key());
        Some((policy.again(error, tries, &token)?, error.message.as_str().into()))
    }

    /// Stores a final reply and resumes the tasks that wait for it.
    fn heard(&mut self, question: EvaluationQuestion, reply: EvaluationReply) {
        let parked = self.inquiries.pending.remove(&question.key()).unwrap_or_default();
        if let Some(evaluation) = &mut self.evaluation {
            take_in(evaluation, question, reply, &mut self.results.found);
        }
        for task in parked {
            let running = &mut self.schedule.running[task as usize];
            if running.progress == Progress::Asking {
                running.progress = Progress::Ready;
                self.schedule.enqueue(task);
            }
        }
    }

    /// Stops asking the refused questions of a task again. Returns false if there are none.
    pub(super) fn ask_no_more(&mut self, task: u32) -> bool {
        let Some(resting) = self.inquiries.to_retry.remove(&task) else { return false };
        for (question, reply) in resting {
            match task {
                EXPORTS => self.heard(question, reply),
                _ => {
                    for parked in self.inquiries.pending.remove(&question.key()).unwrap_or_default() {
                        self.schedule.running[parked as usize].progress = Progress::Ready;
                    }
                }
            }
        }
        match task {
            EXPORTS => self.inquiries.exports_pending = false,
            _ => self.schedule.running[task as usize].progress = Progress::Ready,
        }
        true
    }

    fn address_of(&self, task: u32) -> Option<Address> {
        let of = &self.plan.tasks[task as usize];
        let step = of.step.and_then(|step| self.plan.steps.get(step as usize));
        step.map(|step| step.address.clone()).or_else(|| Some(of.decision.as_ref()?.address.clone()))
    }

    /// Asks what exported values and metadata still need. Returns whether questions are pending.
    pub(super) fn ask_for_exports(&mut self, effects: &mut Vec<Effect>) -> bool {
        if self.inquiries.exports_pending || self.inquiries.exports_rounds >= MOST_ROUNDS {
            return self.inquiries.exports_pending;
        }
        loop {
            let Some(evaluation) = &mut self.evaluation else { return false };
            self.inquiries.exports_rounds += 1;
            if self.inquiries.exports_rounds == 1 {
                reopen(evaluation, |_| true);
            }
            let mut mistakes = Diagnostics::new();
            let needs = needs_of_exports(evaluation, &mut mistakes);
            mistakes.retain(diag::Diagnostic::is_error);
            self.state.failed |= mistakes.has_errors();
            self.results.found.append(mistakes);
            if needs.is_empty() || self.inquiries.exports_rounds >= MOST_ROUNDS {
                return false;
            }
            let questions = self.questions(needs);
            if !questions.is_empty() {
                self.inquiries.exports_pending = true;
                self.limits.spend_asking(&questions);
                effects.extend(self.asking(None, questions));
                return true;
            }
        }
    }
}

/// Reopens data sources that were left open because what they search for did not exist: they are read in this run.
pub(super) fn reopen(evaluation: &mut Evaluation, which: impl Fn(u32) -> bool) {
    for (at, slot) in evaluation.data.iter_mut().enumerate() {
        if matches!(slot, Slot::Partial(_)) && which(at as u32) {
            *slot = Slot::Open;
        }
    }
}

/// What the exported values still need. Errors of the values that they read go to `found`.
fn needs_of_exports(evaluation: &mut Evaluation, found: &mut Diagnostics) -> Vec<Need> {
    let documents = evaluation.documents.clone();
    let live = live_locals(&documents);
    let mut needs: Vec<Need> = Vec::new();
    for node in documents.graph().order() {
        let Node::Local(index) = node else { continue };
        let open = matches!(evaluation.locals[index as usize], Slot::Partial(_) | Slot::Open);
        if !open || !live[index as usize] {
            continue;
        }
        // A value that is still unknown stays as it is. Its reader reports it.
        if let Err(need) = evaluation.settle_local(index, found)
            && !needs.contains(&need)
        {
            needs.push(need);
        }
    }
    needs.extend(export_needs(evaluation));
    needs
}
