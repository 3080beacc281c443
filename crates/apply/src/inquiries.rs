//! Questions that `Apply` asks because their inputs did not exist at plan time.

use evaluate::evaluation_question::{EvaluationQuestion, EvaluationReply};
use evaluate::resolve::Need;
use understand::links::FixedMap;

/// The number that stands in for a task when exports and metadata ask, after all tasks.
pub(crate) const EXPORTS: u32 = u32::MAX;

/// The questions of an operation.
#[derive(Default)]
pub(crate) struct Inquiries {
    /// What the evaluation of the current task lacks. Cleared before each evaluation and taken after it.
    pub(crate) needed: Vec<Need>,
    /// Pending questions by key, each with the further tasks that wait for the same reply. The asking task is not in
    /// the list.
    pub(crate) pending: FixedMap<String, Vec<u32>>,
    /// Questions whose last reply was a temporary error, with that reply, by asking task. A timer asks them again.
    pub(crate) to_retry: FixedMap<u32, Vec<(EvaluationQuestion, EvaluationReply)>>,
    /// Whether questions of the exports are pending.
    pub(crate) exports_pending: bool,
    /// The number of evaluation rounds of the exports, limited by `MOST_ROUNDS`.
    pub(crate) exports_rounds: u32,
    /// The number of consecutive rounds of replies with a temporary error; 0 after a success.
    pub(crate) exports_retries: u32,
}
