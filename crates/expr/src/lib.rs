//! The `${..}` language: its lexer, its recovering parser, its functions, and the evaluator of expression trees.
//!
//! The parser turns a scalar's text into an [`Expr`](blueprint::Expr) with exact spans and never fails; the evaluator
//! turns an expression into a [`Value`](blueprint::Value), asking a [`Scope`] for what names mean here. Both are pure:
//! what an expression needs from the world it asks for with an [`Ask`], as data.
//!
//! Not here: which names are declared and what their types are (`engine::check`), where substitutions may stand
//! (`dialects`), putting questions to the world (`engine`).
#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod codes;
mod convert;
mod evaluate;
mod function;
mod functions;
mod lexer;
mod parser;
mod scope;

pub use convert::{Mismatch, Source, convert, convert_type, parse_as, to_text};
pub use evaluate::{Full, MOST, Meter, access, evaluate, may_omit, omitted, part_of, size, weight, within};
pub use function::{
    Callback, Example, FunctionDef, FunctionTable, Native, Parameter, Purity, Refusal, Returns, Signature, Step,
};
pub use functions::{core_functions, remembered_value};
pub use parser::{parse_reference, parse_text, parse_text_scoped};
pub use scope::{Ask, AskFailure, Read, Scope, Stop, Warnings};
