//! Templates of ytt: a YAML text whose comments are code, and plain text templates.
//!
//! ```text
//! text ── read ── tree ── compile ── program ── evaluator ── documents
//!           (comments)      │  lexer, blocks, parser, contexts, resolve
//!                           └─ pieces (text templates)
//! ```
//!
//! A template is compiled to a program of ytt's dialect of Starlark: each node is a call of an
//! instruction, each comment `#@` is a line of code. The program is evaluated with limits that are
//! charged at each operation, so that every template ends.
//!
//! Unknown values flow through: what is computed from one is unknown, and a condition or loop over
//! one makes the whole result unknown. A value that is computed from a secret is secret.
//!
//! Not here: schemas, several files, libraries; which values a template gets.

#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

mod access;
mod ast;
mod binding;
mod blocks;
mod compare;
mod compile;
mod containers;
mod contexts;
mod convert;
mod evaluator;
mod expressions;
mod go_float;
mod halt;
mod heap;
mod keys;
mod lexer;
mod limits;
mod methods;
mod mistake;
mod modules;
mod native_call;
mod natives;
mod node_context;
mod operators;
mod overlay;
mod parser;
mod pieces;
mod read;
mod resolve;
mod scalar;
mod statements;
mod string_format;
mod strings;
mod template;
mod text_form;
mod universe;
mod value;
mod yaml_tree;
mod yaml_write;

pub use limits::RenderLimits as Limits;
pub use mistake::TemplateMistake as Mistake;
pub use template::{TextTemplate, YttTemplate as Template};

#[cfg(test)]
mod tests;
