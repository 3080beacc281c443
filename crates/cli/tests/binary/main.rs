//! Tests of the binary as users and scripts run it.

#![allow(clippy::unwrap_used, reason = "what fails here fails a test")]

mod abandon;
mod aws;
mod batches;
mod checks;
mod children;
#[cfg(feature = "kubernetes")]
mod cluster;
mod configuration;
mod console;
mod deployments;
mod document_tests;
mod event_kinds;
mod exhaustion;
mod fmt;
mod folders;
mod found_plugins;
mod heat_field;
mod help;
mod hosted;
mod hostile;
mod identity;
mod input;
mod kubernetes;
mod language;
mod life;
mod local;
mod machine;
mod manifests;
mod moves;
mod named_files;
mod other_stacks;
mod output;
mod parts;
mod place;
mod plugins;
mod programs;
mod pruning;
mod recorded;
mod rehearsal;
mod remote;
#[cfg(feature = "kubernetes")]
mod render;
mod rollback;
mod saved_plans;
mod schemas;
mod shown_changes;
mod shown_plans;
mod spec_examples;
mod stacks;
mod state_edits;
mod stops;
mod stuck;
mod terminal;
mod terraform;
mod types;
mod wrong_usage;
