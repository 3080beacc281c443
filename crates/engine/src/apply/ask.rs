//! Questions that could not be put at stage, because what they are about did not exist yet: data sources that search for
//! something made in this run, functions of providers called with it, files named by it.
//!
//! A task that needs an answer lets its place in flight be taken by the question, and begins anew with the answer. What
//! was answered stays answered for the whole run.
//!
//! Not here: which questions there are (`plan::questions`).

use std::sync::Arc;

use diag::Diagnostics;
use expr::FunctionTable;

use super::{Apply, Effect, Progress};
use crate::Node;
use crate::codes;
use crate::plan::questions::{Question, Reply, Round, take_in};
use crate::plan::{export_needs, live_locals};
use crate::resolve::{Evaluation, Need, Slot};

/// So many times a task may ask before that counts as a circle.
const MOST_ROUNDS: u32 = 1000;

/// Questions to put to the world, together.
#[derive(Clone, Debug)]
pub struct Asking {
    /// The task that asks; none where the exported values do, at the end.
    pub task: Option<u32>,
    /// The questions.
    pub questions: Vec<Question>,
    /// The instant of the stage: seconds since 1970 UTC.
    pub now: i64,
    /// What expressions can call.
    pub functions: Arc<FunctionTable>,
}

impl Apply {
    /// Asks for what stands in the way of a task; without anything left to ask the task begins again at once.
    pub(super) fn ask(&mut self, task: u32, needs: Vec<Need>, effects: &mut Vec<Effect>) {
        let running = &mut self.running[task as usize];
        running.rounds += 1;
        let too_often = running.rounds > MOST_ROUNDS;
        running.progress = Progress::Ready;
        let mut questions = if too_often { Vec::new() } else { self.questions(needs) };
        if questions.is_empty() && !too_often {
            self.ready.push_front(task);
            return;
        }
        // What somebody else is asking already is waited for.
        let asked = questions.len();
        questions.retain(|question| !self.in_question.contains(&question.key()));
        if questions.is_empty() && asked > 0 {
            self.running[task as usize].progress = Progress::Asking;
            self.parked.push(task);
            return;
        }
        if too_often {
            self.found.push(codes::PROMISE_BROKEN.new("a question is asked again and again; nothing can answer it"));
            self.running[task as usize].progress = Progress::Failed;
            self.failed = true;
            self.after_failure(task, effects);
            return;
        }
        self.in_question.extend(questions.iter().map(Question::key));
        self.occupy(task);
        self.calling += 1;
        self.running[task as usize].progress = Progress::Asking;
        effects.extend(self.asking(Some(task), questions));
    }

    fn questions(&mut self, needs: Vec<Need>) -> Vec<Question> {
        let Some(evaluation) = &mut self.evaluation else { return Vec::new() };
        let mut round = Round::new(evaluation, needs);
        round.questions(evaluation, &self.catalogs, &mut self.found)
    }

    fn asking(&self, task: Option<u32>, questions: Vec<Question>) -> Option<Effect> {
        let evaluation = self.evaluation.as_ref()?;
        let (now, functions) = (evaluation.answers.now, evaluation.functions.clone());
        Some(Effect::Ask(Asking { task, questions, now, functions }))
    }

    /// Takes answers in.
    pub(super) fn answered(&mut self, task: Option<u32>, replies: Vec<(Question, Reply)>) {
        if let Some(evaluation) = &mut self.evaluation {
            for (question, reply) in replies {
                self.in_question.remove(&question.key());
                take_in(evaluation, question, reply, &mut self.found);
            }
        }
        for task in std::mem::take(&mut self.parked) {
            let running = &mut self.running[task as usize];
            if running.progress == Progress::Asking {
                running.progress = Progress::Ready;
                self.ready.push_back(task);
            }
        }
        match task {
            None => self.asks_at_the_end = false,
            Some(task) => {
                self.vacate(task);
                self.calling = self.calling.saturating_sub(1);
                let running = &mut self.running[task as usize];
                if running.progress == Progress::Asking {
                    running.progress = Progress::Ready;
                    self.ready.push_front(task);
                }
            }
        }
    }

    /// Asks for what exported values and metadata still need; whether there was anything.
    pub(super) fn ask_at_the_end(&mut self, effects: &mut Vec<Effect>) -> bool {
        if self.asks_at_the_end || self.rounds_at_the_end >= MOST_ROUNDS {
            return self.asks_at_the_end;
        }
        loop {
            let Some(evaluation) = &mut self.evaluation else { return false };
            self.rounds_at_the_end += 1;
            if self.rounds_at_the_end == 1 {
                reopen(evaluation, |_| true);
            }
            let needs = needs_at_the_end(evaluation);
            if needs.is_empty() || self.rounds_at_the_end >= MOST_ROUNDS {
                return false;
            }
            let questions = self.questions(needs);
            if !questions.is_empty() {
                self.asks_at_the_end = true;
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

fn needs_at_the_end(evaluation: &mut Evaluation) -> Vec<Need> {
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
        if let Err(need) = evaluation.settle_local(index, &mut Diagnostics::new())
            && !needs.contains(&need)
        {
            needs.push(need);
        }
    }
    needs.extend(export_needs(evaluation));
    needs
}
