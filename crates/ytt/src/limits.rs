//! Limits of a rendering, and the work that is charged to them.

use std::cell::Cell;

use crate::halt::{Evaluated, limit};

/// Limits of a rendering. They end every template, whatever it does. The defaults fit templates of
/// some hundred lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RenderLimits {
    /// The largest number of steps: one for each evaluated expression and each item, more for long
    /// texts.
    pub steps: u64,
    /// The largest number of bytes of all texts and containers that are made.
    pub bytes: u64,
    /// The largest number of nested levels of evaluation: expressions, blocks and calls. Values may
    /// have as many levels. A level takes up to 5 KiB of the stack without optimisation.
    pub depth: u32,
}

impl Default for RenderLimits {
    fn default() -> RenderLimits {
        RenderLimits {
            steps: 5_000_000,
            bytes: 64 << 20,
            depth: 350,
        }
    }
}

/// The work of one rendering so far.
#[derive(Debug)]
pub(crate) struct Work {
    limits: RenderLimits,
    steps: Cell<u64>,
    bytes: Cell<u64>,
    depth: Cell<u32>,
}

impl Work {
    /// No work so far.
    pub(crate) fn new(limits: RenderLimits) -> Work {
        Work {
            limits,
            steps: Cell::new(0),
            bytes: Cell::new(0),
            depth: Cell::new(0),
        }
    }

    /// Charges steps.
    ///
    /// # Errors
    /// If the limit is reached.
    pub(crate) fn steps(&self, more: usize) -> Evaluated<()> {
        let steps = self.steps.get().saturating_add(more as u64);
        self.steps.set(steps);
        if steps > self.limits.steps {
            let most = self.limits.steps;
            return Err(limit(format!("a rendering may have {most} steps")));
        }
        Ok(())
    }

    /// Charges bytes of something that is about to be made, and a step for each 16 of them.
    ///
    /// # Errors
    /// If a limit is reached.
    pub(crate) fn bytes(&self, more: usize) -> Evaluated<()> {
        let bytes = self.bytes.get().saturating_add(more as u64);
        self.bytes.set(bytes);
        if bytes > self.limits.bytes {
            let most = self.limits.bytes;
            let words = format!("a rendering may make {most} bytes of texts and containers");
            return Err(limit(words));
        }
        self.steps(more / 16)
    }

    /// Charges the items of a container that is about to be made.
    ///
    /// # Errors
    /// If a limit is reached.
    pub(crate) fn items(&self, more: usize) -> Evaluated<()> {
        self.steps(more)?;
        self.bytes(more.saturating_mul(32).saturating_add(64))
    }

    /// Enters a level; [`Work::leave`] follows.
    ///
    /// # Errors
    /// If there are too many levels.
    pub(crate) fn enter(&self) -> Evaluated<()> {
        let depth = self.depth.get() + 1;
        if depth > self.limits.depth {
            let most = self.limits.depth;
            return Err(limit(format!("more than {most} nested levels")));
        }
        self.depth.set(depth);
        self.steps(1)
    }

    /// Leaves a level.
    pub(crate) fn leave(&self) {
        self.depth.set(self.depth.get().saturating_sub(1));
    }

    /// The result of `inside` at the next level.
    ///
    /// # Errors
    /// If there are too many levels, or `inside` fails.
    pub(crate) fn nested<T>(&self, inside: impl FnOnce() -> Evaluated<T>) -> Evaluated<T> {
        self.enter()?;
        let result = inside();
        self.leave();
        result
    }
}
