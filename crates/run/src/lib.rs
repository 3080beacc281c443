//! The runtime: answers the questions of the core, carries effects out, and holds the lease of an operation.
//!
//! Not here: what to do (`plan`), in which order (`apply`).

pub mod codes;
pub mod operate;
pub mod run;
mod scrub;
pub mod shell;
