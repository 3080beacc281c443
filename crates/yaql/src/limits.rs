//! How much an expression may use.

/// How much an expression may use, and what it may do besides. The defaults are Heat's where Heat has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Items of a collection that is passed on or given as result, and of a sequence while it is iterated.
    pub items: usize,
    /// Bytes of a text or container, by the sizes of [`crate`]'s page.
    pub bytes: usize,
    /// Steps of evaluation in all: one for each expression evaluated and each item taken, more for long texts.
    pub steps: u64,
    /// How deeply calls may be nested while they are evaluated; values may be nested twice as deeply.
    pub depth: u32,
    /// Whether texts have the method `format`, with positions and names but without looking into the arguments (D16).
    pub text_format: bool,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { items: 200, bytes: 10_000, steps: 1_000_000, depth: 200, text_format: false }
    }
}
