//! The limits of an evaluation and their use so far.

use crate::failure::{Evaluated, Halt};
use crate::limits::EvaluationLimits;

/// The limits of an evaluation with its counters.
pub(crate) struct Budget<'a> {
    pub(crate) limits: &'a EvaluationLimits,
    /// The steps taken so far.
    pub(crate) steps: u64,
    /// The current level of nesting: a call counts two levels, the evaluation of an item one.
    pub(crate) depth: u32,
}

impl<'a> Budget<'a> {
    pub(crate) fn new(limits: &'a EvaluationLimits) -> Budget<'a> {
        Budget {
            limits,
            steps: 0,
            depth: 0,
        }
    }

    /// Counts steps. Fails if they exceed the limit.
    pub(crate) fn step(&mut self, count: u64) -> Evaluated<()> {
        self.steps += count;
        if self.steps > self.limits.steps {
            return Err(Halt::limit(format!(
                "Expression takes more than {} steps",
                self.limits.steps
            )));
        }
        Ok(())
    }

    fn enter(&mut self, levels: u32) -> Evaluated<()> {
        self.depth += levels;
        if self.depth > self.limits.depth.saturating_mul(2) {
            return Err(Halt::limit(format!(
                "Expression is nested more than {} levels deep",
                self.limits.depth
            )));
        }
        Ok(())
    }

    /// Enters a call. Fails if the nesting exceeds the limit.
    pub(crate) fn enter_call(&mut self) -> Evaluated<()> {
        self.enter(2)
    }

    /// Leaves a call.
    pub(crate) fn leave_call(&mut self) {
        self.depth -= 2;
    }

    /// Begins the evaluation of an item of a sequence. Fails if the nesting exceeds the limit.
    pub(crate) fn enter_item(&mut self) -> Evaluated<()> {
        self.enter(1)
    }

    /// Ends the evaluation of an item.
    pub(crate) fn leave_item(&mut self) {
        self.depth -= 1;
    }

    /// Fails if a size in bytes exceeds the limit.
    pub(crate) fn weigh(&self, bytes: usize) -> Evaluated<()> {
        if bytes > self.limits.bytes {
            Err(Halt::memory())
        } else {
            Ok(())
        }
    }
}
