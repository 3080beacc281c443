//! JSONPath as client-go of Kubernetes reads it, in its version 0.25.6: parser and evaluator over
//! values. [`PathTemplate`] is a whole template of client-go; [`Path`] is one path the way that
//! Cartographer evaluates it (decisions/cartographer#tags).
//!
//! Unlike the original, the children of a map are sorted by key and integers are exact. A step into
//! an unknown value gives an unknown value, and what a secret decides is secret.
//!
//! Not here: tags in strings, and what the objects of Cartographer look like (`cartographer`).

#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

mod compare;
mod evaluate;
mod failure;
mod item;
mod parse;
mod print;
mod quote;
mod shape;
mod single;
mod slice;
mod syntax;
mod template;

pub use evaluate::MissingKeys;
pub use failure::{FailureClass, ParseMistake, PathFailure};
pub use print::{float_text, json_text};
pub use shape::{FieldShape, StructShape, ValueShape};
pub use single::Path;
pub use template::PathTemplate;
