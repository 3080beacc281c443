//! The binary as a person or a script runs it.

mod input;
mod life;
mod output;
mod place;
