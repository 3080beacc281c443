//! What is promised under failures of the machine, shown with the real binary: killed, out of disk, two at once.
//!
//! `cargo xtask crashes` runs the first of them for as long as one likes.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "what fails here fails a test; what is skipped is said")]
#![cfg(unix)]

mod disk;
mod flips;
mod formats;
mod journal;
mod kills;
#[path = "../binary/machine.rs"]
mod machine;
#[path = "../binary/place.rs"]
mod place;
mod readers;
mod shop;
mod syncs;
mod writers;
