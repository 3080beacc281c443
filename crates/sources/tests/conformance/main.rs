//! The conformance suite of `source` on every source, and what only one kind of place can suffer.

#![allow(clippy::unwrap_used, reason = "what fails here fails a test")]

mod disk;
