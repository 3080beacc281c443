//! Runs reconciles in a toy world.

#![expect(clippy::print_stdout, reason = "the report of the replay")]

mod replay;
mod world;
