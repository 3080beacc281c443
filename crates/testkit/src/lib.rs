//! What tests of several rooms share: a small world of its own in which documents are staged and deployed, the runner
//! of the conformance pack, the runner of specification pages, the runner of scenarios, and the simulation that makes
//! scenarios up.
//!
//! Not here: anything the product needs.

pub mod conformance;
pub mod fuzz;
pub mod lab;
pub mod pages;
pub mod scenario;
pub mod shelf;
pub mod simulation;
pub mod toy;
