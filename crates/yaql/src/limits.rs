//! Limits of an evaluation.

/// Limits of an evaluation. The defaults are Heat's, where Heat has a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EvaluationLimits {
    /// The largest number of items of a collection that is an argument or a result, and of a
    /// sequence while it is iterated.
    pub items: usize,
    /// The largest size in bytes of a text or container, counted as described in [`crate`].
    pub bytes: usize,
    /// The largest number of steps: one for each evaluated expression and each item, more for long
    /// texts.
    pub steps: u64,
    /// The largest number of levels of nested calls; values may have twice as many levels.
    pub depth: u32,
    /// Whether text has the method `format`, with positions and names but without access to
    /// attributes (decisions/yaql#the-method-format).
    pub text_format: bool,
}

impl Default for EvaluationLimits {
    fn default() -> EvaluationLimits {
        EvaluationLimits {
            items: 200,
            bytes: 10_000,
            steps: 1_000_000,
            depth: 200,
            text_format: false,
        }
    }
}
