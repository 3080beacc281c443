//! Admission: the verdicts against recorded ones, on a local cluster, and as a webhook over TLS.

#![allow(clippy::unwrap_used, reason = "what fails here fails a test")]
#![allow(clippy::print_stdout, reason = "tests say aloud what is missing")]

mod local;
mod real;
mod setup;
mod verdicts;
mod webhook;
