//! Questions that `Apply` asks because their inputs did not exist at plan time.

use evaluate::evaluation_question::{EvaluationQuestion, EvaluationReply};
use understand::links::DeterministicMap;

/// The number that is used instead of a task number when exports and metadata ask questions, after
/// all tasks.
pub(crate) const EXPORTS: u32 = u32::MAX;

/// The maximum number of rounds of questions of a task, or of the exports. A task that needs more
/// is in a cycle.
pub(crate) const MOST_ROUNDS: u32 = 1000;

/// Questions with their last replies.
pub(crate) type Replies = Vec<(EvaluationQuestion, EvaluationReply)>;

/// The questions of an operation.
#[derive(Default)]
pub(crate) struct Inquiries {
    /// Pending questions by key, each with the further tasks that wait for the same reply. The
    /// asking task is not in the list.
    pending: DeterministicMap<String, Vec<u32>>,
    /// Questions whose last reply was a temporary error, with that reply, by asking task. A timer
    /// asks them again.
    to_retry: DeterministicMap<u32, Replies>,
    /// Whether questions of the exports are pending.
    exports_pending: bool,
    /// The number of evaluation rounds of the exports, limited by `MOST_ROUNDS`.
    exports_rounds: u32,
    /// The number of consecutive rounds of replies with a temporary error; 0 after a success.
    exports_retries: u32,
}

impl Inquiries {
    /// Adds questions that a task asks.
    pub(crate) fn add(&mut self, questions: &[EvaluationQuestion]) {
        self.pending.extend(
            questions
                .iter()
                .map(|question| (question.key(), Vec::new())),
        );
    }

    /// Removes the questions that are pending already. If no other question remains, the task waits
    /// for the reply to the first one, and the result is true.
    pub(crate) fn share(&mut self, task: u32, questions: &mut Vec<EvaluationQuestion>) -> bool {
        let first = questions
            .first()
            .map(EvaluationQuestion::key)
            .unwrap_or_default();
        questions.retain(|question| !self.pending.contains_key(&question.key()));
        match self.pending.get_mut(&first) {
            Some(waiting) if questions.is_empty() => {
                waiting.push(task);
                true
            }
            _ => false,
        }
    }

    /// Removes a question that has its final reply or is given up. Returns the further tasks that
    /// wait for it.
    pub(crate) fn remove(&mut self, question: &EvaluationQuestion) -> Vec<u32> {
        self.pending.remove(&question.key()).unwrap_or_default()
    }

    /// Keeps questions of a task, or of the exports, until a timer asks them again.
    pub(crate) fn retry_later(&mut self, asker: u32, replies: Replies) {
        self.to_retry.insert(asker, replies);
    }

    /// Takes the questions of a task, or of the exports, that a timer asks again.
    pub(crate) fn take_retries(&mut self, asker: u32) -> Option<Replies> {
        self.to_retry.remove(&asker)
    }

    /// Whether questions of the exports are pending.
    pub(crate) fn are_exports_pending(&self) -> bool {
        self.exports_pending
    }

    /// Whether the exports have reached the maximum number of rounds.
    pub(crate) fn have_exports_ended(&self) -> bool {
        self.exports_rounds >= MOST_ROUNDS
    }

    /// Begins an evaluation round of the exports. Returns its number, from 1.
    pub(crate) fn begin_exports_round(&mut self) -> u32 {
        self.exports_rounds += 1;
        self.exports_rounds
    }

    /// Marks questions of the exports as pending.
    pub(crate) fn ask_for_exports(&mut self) {
        self.exports_pending = true;
    }

    /// Handles the replies to questions of the exports. If `retries` is set, some questions are
    /// retried and stay pending.
    pub(crate) fn exports_answered(&mut self, retries: bool) {
        self.exports_retries = if retries { self.exports_retries + 1 } else { 0 };
        self.exports_pending = retries;
    }

    /// Gives up the questions of the exports.
    pub(crate) fn give_up_exports(&mut self) {
        self.exports_pending = false;
    }

    /// The number of consecutive rounds of the exports whose replies had a temporary error.
    pub(crate) fn exports_retries(&self) -> u32 {
        self.exports_retries
    }
}
