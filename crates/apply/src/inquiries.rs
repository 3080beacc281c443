//! The questions of a run: which are pending, which tasks wait for them, and which are asked again later.

use evaluate::evaluation_question::{EvaluationQuestion, EvaluationReply};
use evaluate::resolve::Need;
use understand::links::DeterministicMap;

/// The exported values ask under this number. No task has it.
pub(crate) const AT_THE_END: u32 = u32::MAX;

/// The questions of an operation.
#[derive(Default)]
pub(crate) struct Inquiries {
    /// What the task that is being started still needs.
    pub(crate) needed: Vec<Need>,
    /// Pending questions by key, and the other tasks that wait for their replies.
    pub(crate) in_question: DeterministicMap<String, Vec<u32>>,
    /// Questions that a wake-up asks again, with their last replies, by the asking task.
    pub(crate) resting: DeterministicMap<u32, Vec<(EvaluationQuestion, EvaluationReply)>>,
    /// Whether questions of the exported values are pending.
    pub(crate) asks_at_the_end: bool,
    /// The number of rounds in which the exported values have asked.
    pub(crate) rounds_at_the_end: u32,
    /// The number of attempts in the current round of the exported values.
    pub(crate) tries_at_the_end: u32,
}
