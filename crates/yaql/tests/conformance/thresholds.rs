//! The number of correct answers in the project's own pack. It may only increase.

/// The number of correct expressions in `yaql.json`.
pub(crate) const YAQL: usize = 257;
