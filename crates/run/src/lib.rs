//! The runtime: answers the core's questions, carries out effects, and holds the lease of an operation.
//!
//! Not here: what to do (`plan`), in which order (`apply`).

mod ask_provider;
pub mod codes;
pub mod operate;
mod remarks;
pub mod run;
mod scrub;
pub mod shell;
