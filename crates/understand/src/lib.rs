//! What a document means and everything that the document alone shows: loading, the graph, links, checks.
//!
//! An editor needs this crate and nothing above it. Values are compared and held against schemas here.
//!
//! Not here: any question to the world, inputs given from outside, plans.
#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod check;
pub mod codes;
pub mod compare;
pub mod documents;
pub mod graph;
pub mod json_schema;
pub mod links;
pub mod load;
pub mod pinned;
