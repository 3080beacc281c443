//! The test kit: the harness in which documents are staged and deployed, and code that the tests of
//! several crates share.
//!
//! `harness` simulates a cloud, `faults` injects faults. `scenario` runs scripts, `simulation`
//! generates them, `conformance` and `pages` run the conformance packs and the specification pages,
//! `policies` scripts the faults of single calls, `single_document` has short forms for tests of one
//! document, `fuzz` has the fuzz targets,
//! `random_programs` generates programs of Pulumi YAML, `toy` is a minimal dialect and a minimal store.
//!
//! Not here: code that the product needs.

pub mod conformance;
pub mod document_sources;
pub mod faults;
pub mod fuzz;
pub mod harness;
mod installed;
mod json_values;
pub mod pages;
pub mod policies;
pub mod random_programs;
mod runtime;
pub mod scenario;
pub mod simulation;
pub mod single_document;
pub mod toy;

pub use installed::{dialects, installed, installed_with};
