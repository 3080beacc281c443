//! From what is wanted, remembered and seen to steps, each with its reason.
//!
//! Not here: running steps (`apply`); words for people (the command line).
#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod addresses;
pub mod batches;
pub mod children;
mod claims;
pub mod codes;
mod decision;
mod draft;
mod drafting;
pub mod drift;
mod each_keys;
pub mod exports;
pub mod generation;
mod immutable;
mod imports;
pub mod levels;
pub mod linked;
pub mod links;
pub mod model;
mod moves;
pub mod offline;
pub mod options;
pub mod plan;
pub mod plan_file;
mod policies;
mod reconcile;
mod refresh;
pub mod resolved;
mod settled;
pub mod staging;
mod state_edit;
pub mod stops;
mod target_set;
mod targets;
pub mod task;
pub mod tasks;
pub mod unchanged;
