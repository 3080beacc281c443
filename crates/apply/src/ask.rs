//! Questions that could not be put at stage, because what they are about did not exist yet: data sources that search for
//! something made in this run, functions of providers called with it, files named by it.
//!
//! A task that needs an answer lets its place in flight be taken by the question, and begins anew with the answer. What
//! was answered stays answered for the whole run.
//!
//! Not here: which questions there are (`plan::questions`).

use std::time::Duration;

use blueprint::{Address, Name, Value};
use diag::Diagnostics;

use crate::codes;
use crate::inquiries::AT_THE_END;
use crate::machine::Apply;
use crate::model::{Asking, Effect};
use crate::schedule::Progress;
use crate::timers::Wake;
use evaluate::event::Event;
use evaluate::questions::{Place, Question, Reply, Round, take_in};
use evaluate::resolve::{Evaluation, Need, Slot};
use plan::children::needs as export_needs;
use plan::levels::live_locals;
use plan::task::Decided;
use understand::graph::Node;

/// So many times a task may ask before that counts as a circle.
const MOST_ROUNDS: u32 = 1000;

impl Apply {
    /// Asks for what stands in the way of a task; without anything left to ask the task begins again at once.
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
        // What somebody else is asking already is waited for.
        let first = questions.first().map(Question::key).unwrap_or_default();
        questions.retain(|question| !self.inquiries.in_question.contains_key(&question.key()));
        if let (true, Some(parked)) = (questions.is_empty(), self.inquiries.in_question.get_mut(&first)) {
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
        self.inquiries.in_question.extend(questions.iter().map(|question| (question.key(), Vec::new())));
        self.put(task, questions, effects);
    }

    /// Asks what is at the place of a thing that is to be created, where its spec was not known when the plan was made; whether it asks.
    pub(super) fn ask_what_is_there(
        &mut self,
        task: u32,
        decided: &Decided,
        desired: &Value,
        effects: &mut Vec<Effect>,
    ) -> bool {
        let adopts = decided.ty.as_ref().is_some_and(|ty| ty.capabilities.adopts);
        if !adopts || !decided.desired.has_unknown() || self.schedule.running[task as usize].has_looked {
            return false;
        }
        self.schedule.running[task as usize].progress = Progress::Ready;
        let question = Question::Place(Box::new(Place {
            address: decided.address.clone(),
            type_name: decided.type_name.clone(),
            prior_inputs: match decided.prior.as_ref().filter(|record| !record.id.is_empty()) {
                Some(record) => record.inputs.clone(),
                None => Value::Null,
            },
            desired: desired.clone(),
            folder: self.folder_of(decided),
        }));
        let questions = vec![question];
        if self.limits.occupy_asking(task, &questions, &self.schedule.ranks) {
            self.schedule.running[task as usize].has_looked = true;
            self.inquiries.in_question.insert(questions[0].key(), Vec::new());
            self.put(task, questions, effects);
        }
        true
    }

    fn put(&mut self, task: u32, questions: Vec<Question>, effects: &mut Vec<Effect>) {
        debug_assert!(!questions.is_empty(), "who has nothing to ask takes no place in flight");
        self.limits.called();
        self.schedule.running[task as usize].progress = Progress::Asking;
        effects.extend(self.asking(Some(task), questions));
    }

    /// Puts questions again that were refused and may be answered later; whether there are any. There may be no room yet.
    pub(super) fn ask_again(&mut self, task: u32, effects: &mut Vec<Effect>) -> bool {
        let Some(resting) = self.inquiries.resting.remove(&task) else { return false };
        let (questions, replies): (Vec<_>, Vec<_>) = resting.into_iter().unzip();
        if self.limits.occupy_asking(task, &questions, &self.schedule.ranks) {
            self.put(task, questions, effects);
        } else {
            self.inquiries.resting.insert(task, questions.into_iter().zip(replies).collect());
        }
        true
    }

    /// Puts those of the exported values again.
    pub(super) fn ask_again_at_the_end(&mut self, effects: &mut Vec<Effect>) {
        let Some(resting) = self.inquiries.resting.remove(&AT_THE_END) else { return };
        let questions: Vec<Question> = resting.into_iter().map(|(question, _)| question).collect();
        self.limits.spend_asking(&questions);
        effects.extend(self.asking(None, questions));
    }

    fn questions(&mut self, needs: Vec<Need>) -> Vec<Question> {
        let Some(evaluation) = &mut self.evaluation else { return Vec::new() };
        let mut round = Round::new(evaluation, needs);
        round.questions(evaluation, &self.catalogs, &mut self.results.found)
    }

    fn asking(&self, task: Option<u32>, questions: Vec<Question>) -> Option<Effect> {
        let evaluation = self.evaluation.as_ref()?;
        let (now, functions) = (evaluation.answers.now, evaluation.functions.clone());
        Some(Effect::Ask(Asking { task, questions, now, functions }))
    }

    /// Takes answers in. What was refused and may be answered later is asked again after a pause.
    pub(crate) fn answered(&mut self, task: Option<u32>, replies: Vec<(Question, Reply)>, effects: &mut Vec<Effect>) {
        let asker = task.unwrap_or(AT_THE_END);
        let mut again: Vec<(Question, Reply)> = Vec::new();
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
            self.inquiries.resting.insert(asker, again);
            self.timers.wake(Wake::Retry(asker), after, effects);
        }
        let Some(task) = task else {
            self.inquiries.tries_at_the_end = if resting { self.inquiries.tries_at_the_end + 1 } else { 0 };
            self.inquiries.asks_at_the_end = resting;
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

    /// How long to wait before a question is put again, and why; none where it is not.
    fn pause_before(&self, task: Option<u32>, question: &Question, reply: &Reply) -> Option<(Duration, Name)> {
        let error = reply.trouble().filter(|_| !self.state.stopping)?;
        let tries = task.map_or(self.inquiries.tries_at_the_end, |task| self.schedule.running[task as usize].tries);
        let policy = self.limits.policy(question.namespace()?);
        let token = format!("{}-{}", self.operation.id, question.key());
        Some((policy.again(error, tries, &token)?, error.message.as_str().into()))
    }

    /// An answer that counts: those who waited for it go on.
    fn heard(&mut self, question: Question, reply: Reply) {
        let parked = self.inquiries.in_question.remove(&question.key()).unwrap_or_default();
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

    /// Questions that wait to be put again are not: their task has not begun.
    pub(super) fn ask_no_more(&mut self, task: u32) -> bool {
        let Some(resting) = self.inquiries.resting.remove(&task) else { return false };
        for (question, reply) in resting {
            match task {
                AT_THE_END => self.heard(question, reply),
                _ => {
                    for parked in self.inquiries.in_question.remove(&question.key()).unwrap_or_default() {
                        self.schedule.running[parked as usize].progress = Progress::Ready;
                    }
                }
            }
        }
        match task {
            AT_THE_END => self.inquiries.asks_at_the_end = false,
            _ => self.schedule.running[task as usize].progress = Progress::Ready,
        }
        true
    }

    fn address_of(&self, task: u32) -> Option<Address> {
        let of = &self.plan.tasks[task as usize];
        let step = of.step.and_then(|step| self.plan.steps.get(step as usize));
        step.map(|step| step.address.clone()).or_else(|| Some(of.decision.as_ref()?.address.clone()))
    }

    /// Asks for what exported values and metadata still need; whether there was anything.
    pub(super) fn ask_at_the_end(&mut self, effects: &mut Vec<Effect>) -> bool {
        if self.inquiries.asks_at_the_end || self.inquiries.rounds_at_the_end >= MOST_ROUNDS {
            return self.inquiries.asks_at_the_end;
        }
        loop {
            let Some(evaluation) = &mut self.evaluation else { return false };
            self.inquiries.rounds_at_the_end += 1;
            if self.inquiries.rounds_at_the_end == 1 {
                reopen(evaluation, |_| true);
            }
            let mut mistakes = Diagnostics::new();
            let needs = needs_at_the_end(evaluation, &mut mistakes);
            mistakes.retain(diag::Diagnostic::is_error);
            self.state.failed |= mistakes.has_errors();
            self.results.found.append(mistakes);
            if needs.is_empty() || self.inquiries.rounds_at_the_end >= MOST_ROUNDS {
                return false;
            }
            let questions = self.questions(needs);
            if !questions.is_empty() {
                self.inquiries.asks_at_the_end = true;
                self.limits.spend_asking(&questions);
                effects.extend(self.asking(None, questions));
                return true;
            }
        }
    }
}

/// Data sources that were left open because what they search for did not exist are to be read now.
pub(super) fn reopen(evaluation: &mut Evaluation, which: impl Fn(u32) -> bool) {
    for (at, slot) in evaluation.data.iter_mut().enumerate() {
        if matches!(slot, Slot::Partial(_)) && which(at as u32) {
            *slot = Slot::Open;
        }
    }
}

/// What is still to be asked for exported values; what turns out to be wrong with values behind them goes to `found`.
fn needs_at_the_end(evaluation: &mut Evaluation, found: &mut Diagnostics) -> Vec<Need> {
    let documents = evaluation.documents.clone();
    let live = live_locals(&documents);
    let mut needs: Vec<Need> = Vec::new();
    for node in documents.graph().order() {
        let Node::Local(index) = node else { continue };
        let open = matches!(evaluation.locals[index as usize], Slot::Partial(_) | Slot::Open);
        if !open || !live[index as usize] {
            continue;
        }
        // One that still cannot be told stays as it is; who reads it reports that.
        if let Err(need) = evaluation.settle_local(index, found)
            && !needs.contains(&need)
        {
            needs.push(need);
        }
    }
    needs.extend(export_needs(evaluation));
    needs
}
