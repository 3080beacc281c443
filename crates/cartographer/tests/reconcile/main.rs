//! Runs reconciles in a toy world.

#![expect(clippy::print_stdout, reason = "the report of the replay")]

mod owners;
mod replay;
mod runs;
mod world;
mod yaml;
