//! The guarantees under failures of the machine, tested with the real binary: kills, a full disk,
//! concurrent runs.
//!
//! `cargo xtask crashes` runs the kill tests for as long as requested.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "what fails here fails a test; what is skipped is said"
)]
#![cfg(unix)]

#[path = "../binary/kubernetes/cluster.rs"]
#[allow(dead_code, reason = "the tests of the binary need more of it")]
mod cluster;
mod cluster_kills;
mod command_kills;
mod disk;
mod flips;
mod formats;
mod journal;
mod kills;
#[path = "../binary/machine.rs"]
mod machine;
#[path = "../binary/place.rs"]
mod place;
mod plugins;
mod readers;
mod shop;
mod syncs;
mod writers;
