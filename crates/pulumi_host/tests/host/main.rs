//! The client against real plugins: providers written in Python, and programs that misbehave.

#![allow(clippy::unwrap_used, reason = "what fails here fails a test")]

mod bare;
mod contract;
mod contract_support;
mod life;
mod processes;
mod support;
