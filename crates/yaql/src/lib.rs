//! yaql: expression and data in, value or error out.
//!
//! The language of section 13 of the reference of the dialect `hot`, as yaql 3.2 evaluates it inside Heat: what Python does to
//! values can be seen in it, so values here follow Python. An expression is compiled once and evaluated often; nothing but what
//! it is given goes into its value, time and chance included, which its caller draws ([`Drawing`]).
//!
//! An evaluation ends: [`Limits`] bounds items, bytes, steps and depth. Sizes are counted so (D17): a text 49 and its bytes, a
//! container that was made here 56 and 8 for each item, an integer beyond 64 bits 24 and 4 for each 30 bits, everything else 28.
//!
//! Where this differs from yaql 3.2, and why:
//! * `$name` in what is done with a match is the group of that name; yaql fails over it (D13).
//! * Sizes are counted as said above, not as one Python's objects have them (D17); steps, depth and what a regular expression
//!   takes are bounded (D18). Compiling refuses more than 200 levels of brackets.
//! * `now` and `random` are drawn and remembered (D15). There is no local time: `localtz` is no offset, and a date that is
//!   not whole, `datetime('10:30')`, is refused where yaql completes it from today.
//! * A set keeps the order in which its items came; yaql's order is any.
//! * The text of a lazy sequence is `<generator object>`; yaql's holds an address of memory.
//! * Half of a surrogate pair becomes U+FFFD, as no text here can hold it. `\N{..}` knows the names of the usual scripts, signs
//!   and pictures only.
//!
//! Not here: secrets, what is not known yet, functions of Heat, settings. The caller takes the first two out of the data.
#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

mod arithmetic;
mod border;
mod budget;
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
mod tree;
mod words;

pub use drawing::{Draw, Drawing, NothingDrawn, Question, Site};
pub use failure::{Failure, FailureKind, Stop};
pub use functions::{Function, How, functions};
pub use limits::Limits;
pub use program::Program;
pub use signature::{Default, Kind, Parameter, Place};
