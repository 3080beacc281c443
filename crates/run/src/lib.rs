//! The runtime: answers the core's questions, carries out effects, and holds the lease of an
//! operation.
//!
//! Not here: planning (`plan`), the order of steps (`apply`).

mod ask_provider;
pub mod call_records;
pub mod codes;
pub mod operate;
mod remarks;
pub mod run;
mod scrub;
pub mod shell;
pub mod takeover;
