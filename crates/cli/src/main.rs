//! The binary `cyan`: arguments, terminal, signals, exit codes; installs providers, hosts, stores
//! and sources.
//!
//! ```text
//! arguments ──> open (session, document, instance) ──> one command ──> view or json ──> exit
//! ```
//!
//! Not here: decisions about documents, plans and resources, and the pipeline from a document to a
//! plan (`engine`).

mod arguments;
mod ask;
mod bug;
mod commands;
mod exit;
mod fetch;
mod hosts;
mod kept_plan;
mod open;
mod operation;
mod out_file;
mod plugin_log;
mod prompt;
mod registry;
#[cfg(feature = "kubernetes")]
mod rendering;
mod signals;
mod terminal;
mod usage;
mod usage_advice;
mod view;

use std::process::ExitCode;

fn main() -> ExitCode {
    if let Some(ended) = registry::run_as_recorder() {
        return ended;
    }
    bug::report_panics();
    // Fails only if a provider is installed already. That one is used then.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    match std::panic::catch_unwind(commands::run) {
        Ok(exit) => exit.into(),
        Err(_) => exit::Exit::Bug.into(),
    }
}
