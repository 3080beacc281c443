//! Values that an expression needs from its caller: the time and random numbers.

use blueprint::Value;

/// The kind of value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ExternalValue {
    /// The current time, as [`Value::Int`]: microseconds since 1970 UTC.
    Now,
    /// A random number from 0 (inclusive) to 1 (exclusive), as [`Value::Float`].
    Random,
}

/// A place in an expression that needs a value from the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DrawSite {
    /// The index of the call in the expression, in the order of the text, from 0.
    pub call: u32,
    /// The index of the value among the values of this call, from 0: a call that runs for each item
    /// of a list needs several. The time is the same for all of them.
    pub turn: u32,
}

/// A value that the evaluation needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DrawRequest {
    /// The place that needs the value.
    pub site: DrawSite,
    /// The kind of value.
    pub what: ExternalValue,
}

/// Supplies the time and random numbers, and stores them: the same site must get the same value
/// each time (decisions/yaql#now-and-random).
pub trait ExternalValues {
    /// The stored value of a site; `None` stops the evaluation with [`crate::EvaluationStop::Ask`].
    fn stored_value(&mut self, site: DrawSite, what: ExternalValue) -> Option<Value>;
}

/// Supplies nothing: an expression that uses `now` or `random` stops with
/// [`crate::EvaluationStop::Ask`].
#[derive(Clone, Copy, Debug, Default)]
pub struct NoExternalValues;

impl ExternalValues for NoExternalValues {
    fn stored_value(&mut self, _: DrawSite, _: ExternalValue) -> Option<Value> {
        None
    }
}
