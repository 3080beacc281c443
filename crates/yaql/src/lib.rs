//! yaql: expression and data in, value or error out.
//!
//! The language of section 13 of the reference of the dialect `hot`, as yaql 3.2 evaluates it inside Heat: what Python does to
//! values can be seen in it, so values here follow Python. An expression is compiled once and evaluated often; nothing but what
//! it is given goes into its value, time and chance included, which its caller draws ([`Drawing`]).
//!
//! An evaluation ends: [`Limits`] bounds items, bytes, steps and depth. Sizes are counted so (D17): a text 49 and its bytes, a
//! container that was made here 56 and 8 for each item, an integer beyond 64 bits 24 and 4 for each 30 bits, everything else 28.
//!
//! Not here: secrets, what is not known yet, functions of Heat, settings. The caller takes the first two out of the data.
#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

mod arithmetic;
mod border;
mod dates;
mod datum;
mod drawing;
mod escapes;
mod failure;
mod functions;
mod key;
mod lexer;
mod limits;
mod machine;
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
