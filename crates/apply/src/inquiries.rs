//! Questions of a run: which are out, who waits for their answers, and which are put again later.

use evaluate::questions::{Question, Reply};
use evaluate::resolve::Need;
use understand::links::FixedMap;

/// The exported values ask under this number; no task has it.
pub(crate) const AT_THE_END: u32 = u32::MAX;

/// The questions of an operation.
#[derive(Default)]
pub(crate) struct Inquiries {
    /// What stands in the way of the task that is being started.
    pub(crate) needed: Vec<Need>,
    /// Questions that are out, and the tasks that wait for the answer to a question of another task.
    pub(crate) in_question: FixedMap<String, Vec<u32>>,
    /// Questions that are put again at a wake-up, with the last reply, by the task that asks.
    pub(crate) resting: FixedMap<u32, Vec<(Question, Reply)>>,
    /// Questions of the exported values are out.
    pub(crate) asks_at_the_end: bool,
    /// How often the exported values have asked.
    pub(crate) rounds_at_the_end: u32,
    /// How often their questions were put in this round.
    pub(crate) tries_at_the_end: u32,
}
