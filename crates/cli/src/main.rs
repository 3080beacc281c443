//! The binary `cyan`: arguments, configuration, terminal; picks providers and stores.
//!
//! ```text
//! arguments ──> setup (document, instance, state, key, providers) ──> one command ──> view or json ──> exit
//! ```
//!
//! Not here: any decision about a document, a plan or a thing; those are the engine's.

mod arguments;
mod bug;
mod catalogs;
mod commands;
mod config;
mod course;
mod exit;
mod fetch;
mod folder;
mod foreign;
mod identity;
mod inputs;
mod json;
mod key;
mod operation;
mod registry;
mod retention;
mod setup;
mod signals;
mod terminal;
mod usage;
mod view;

use std::process::ExitCode;

fn main() -> ExitCode {
    bug::report_panics();
    // Fails only if one is installed already, which is as good.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    match std::panic::catch_unwind(commands::run) {
        Ok(exit) => exit.into(),
        Err(_) => exit::Exit::Bug.into(),
    }
}
