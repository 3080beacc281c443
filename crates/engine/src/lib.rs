//! Load, check, resolve, refresh, plan, apply: the whole pipeline.

pub mod check;
pub mod codes;
mod graph;

pub use check::{Checked, check};
pub use graph::{Edge, EdgeKind, Graph, Node};
