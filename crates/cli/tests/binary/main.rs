//! The binary as a person or a script runs it.

#![allow(clippy::unwrap_used, reason = "what fails here fails a test")]

mod abandon;
mod aws;
mod batches;
mod checks;
mod children;
mod configuration;
mod console;
mod fmt;
mod input;
mod life;
mod output;
mod place;
mod rehearsal;
mod remote;
mod rollback;
mod spec_examples;
mod stuck;
mod surgery;
mod types;
