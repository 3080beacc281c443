//! The contract of providers on the API of a real cluster. `cargo xtask test` starts the cluster;
//! without it these tests say that they are skipped.

#![allow(clippy::unwrap_used, reason = "what fails here fails a test")]

mod contract;
mod cut_off;
mod peer;
mod rollouts;
mod runs;
