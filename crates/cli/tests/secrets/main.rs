//! Puts secrets at every possible place, runs every command of the binary with them, and searches
//! all results: output, plans, the database with its log, temporary files.
//!
//! The search leaves out secrets that a document itself writes: a file that contains the secret, or
//! the resource itself.

#![allow(clippy::unwrap_used, reason = "what fails here fails a test")]

mod changes;
mod encodings;
mod everywhere;
mod examples;
mod hunt;
#[path = "../binary/machine.rs"]
mod machine;
#[path = "../binary/place.rs"]
mod place;
mod positions;
mod ways;
