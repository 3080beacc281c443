//! The meaning of a document, and all errors that the document alone shows: loading, the graph,
//! links, checks.
//!
//! An editor needs only this crate and those below it. Comparing and converting values by schemas
//! is here too.
//!
//! Not here: questions to the world, inputs given from outside, plans.
#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

mod change;
pub mod check;
pub mod codes;
pub mod compare;
pub mod documents;
pub mod graph;
pub mod json_schema;
pub mod links;
pub mod load;
pub mod partial;
pub mod pinned;
pub mod secret_marks;
