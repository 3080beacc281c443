//! From what is wanted, remembered and seen to steps, each with its reason.
//!
//! Not here: running steps (`apply`); words for people (the command line).
#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod addresses;
pub mod batches;
pub mod children;
mod claims;
pub mod codes;
pub mod draft;
pub mod drift;
pub mod exports;
pub mod generation;
pub mod hints;
mod immutable;
mod imports;
mod keyed;
mod ledger;
pub mod links;
mod moves;
pub mod offline;
pub mod options;
pub mod plan;
pub mod plan_file;
mod policies;
mod reconcile;
mod refresh;
pub mod resolved;
mod staged;
pub mod stops;
pub mod surgery;
mod targets;
pub mod task;
pub mod tasks;
pub mod unchanged;
mod unsupported;
