//! The `${..}` language: lexer, recovering parser, functions, and evaluator of expression trees.
//!
//! The parser turns a scalar's text into an [`Expr`](blueprint::Expr) with exact spans and never
//! fails. The evaluator turns an expression into a [`Value`](blueprint::Value) and uses a [`Scope`]
//! to resolve names. Both are pure: external data is requested with an [`Ask`], as data.
//!
//! Not here: declared names and their types (`understand::check`), the places where substitutions
//! are allowed (`dialect`), answering questions (`evaluate`).
#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

mod arguments;
pub mod codes;
mod convert;
mod evaluate;
mod function;
mod functions;
mod lexer;
mod parser;
mod probe;
mod scope;

pub use arguments::{Arguments, CallConfiguration};
pub use convert::{Mismatch, ValueOrigin, convert, convert_type, parse_as, to_text};
pub use evaluate::{
    LimitExceeded, MAX_VALUE_BYTES, Meter, access, evaluate, may_omit, omitted, part_of, size,
    span_at_path, weight,
};
pub use function::{
    Callback, Example, FunctionDef, FunctionTable, Native, Parameter, Purity, Refusal, Returns,
    Signature, ValueStep, part_at, refused_by_known_parts,
};
pub use functions::{core_functions, new_memoised_value};
pub use parser::{parse_reference, parse_text, parse_text_scoped};
pub use probe::refused_regardless;
pub use scope::{Ask, AskFailure, EvaluationStop, ResolvedHead, Scope, Warnings};
