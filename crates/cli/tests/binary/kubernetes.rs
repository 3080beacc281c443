//! Tests of the binary on a real cluster of Kubernetes. `cargo xtask test` starts it; without it
//! these tests say that they are skipped.

#![cfg(unix)]

mod cluster;
mod data_sources;
mod edits;
mod existing;
mod faults;
mod life;
mod refusals;
mod requests;
mod rollouts;
mod runs;
mod supply_chains;
