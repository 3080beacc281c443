//! yaql: evaluates an expression on data.
//!
//! The language is that of yaql 3.2 inside Heat (decisions/yaql#the-language). Users can see
//! Python's semantics, so values follow Python. An expression is compiled once and evaluated often.
//! The value depends on the arguments only: the caller supplies time and random numbers
//! ([`ExternalValues`]).
//!
//! Every evaluation ends: [`EvaluationLimits`] bounds items, bytes, steps and depth. Sizes in bytes
//! (decisions/yaql#sizes-in-memory): a text has 49 plus its bytes, a container 56 plus 8 for each
//! item, an integer beyond 64 bits 24 plus 4 for each 30 bits, everything else 28.
//!
//! Differences from yaql 3.2:
//! * `$name` in the function of a match is the group of that name; yaql fails
//!   (decisions/yaql#named-groups).
//! * Sizes do not depend on the Python version (decisions/yaql#sizes-in-memory). Steps, depth and
//!   the work of regular expressions are bounded (decisions/yaql#steps-and-depth). An expression
//!   has at most 200 levels of brackets.
//! * `now` and `random` are stored by the caller (decisions/yaql#now-and-random). There is no local
//!   time: `localtz` is zero, and an incomplete date such as `datetime('10:30')` is refused; yaql
//!   completes it from today.
//! * A set keeps the order of insertion; yaql's order is arbitrary.
//! * The text of a lazy sequence is `<generator object>`; yaql's text has a memory address.
//! * Half of a surrogate pair becomes U+FFFD, because text is UTF-8. `\N{..}` knows the names of
//!   common scripts, signs and pictographs only.
//!
//! Not here: secrets and unknown values, which the caller removes from the data; functions of Heat;
//! settings.
#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

mod arithmetic;
mod budget;
mod convert;
mod dates;
mod datum;
mod drawing;
mod escapes;
mod evaluate;
mod failure;
mod functions;
mod key;
mod lexer;
mod limits;
mod machine;
mod model;
mod parser;
mod program;
mod regex;
mod resolve;
mod scope;
mod signature;
mod sorting;
mod stream;
mod text;
mod tree;

pub use drawing::{DrawRequest, DrawSite, ExternalValue, ExternalValues, NoExternalValues};
pub use failure::{EvaluationStop, Failure, FailureKind};
pub use functions::{CallForm, YaqlFunction, functions};
pub use limits::EvaluationLimits;
pub use program::Program;
pub use signature::{DefaultValue, Parameter, ParameterPlace, ParameterType};
