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
mod exit;
mod fetch;
mod foreign;
mod inputs;
mod json;
mod key;
mod operation;
mod registry;
mod setup;
mod terminal;
mod view;

use std::process::ExitCode;

/// A document of many resources is many small things: an allocator made for them takes a good part off every run.
///
/// On Linux it is there under the C library's names (`override`), where the standard library finds it. Asked by its own, it would be
/// told an alignment each time, and look for room with more around it for every size that is no power of two.
#[cfg(target_os = "linux")]
use mimalloc as _;
#[cfg(not(target_os = "linux"))]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    bug::report_panics();
    // Fails only if one is installed already, which is as good.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    match std::panic::catch_unwind(commands::run) {
        Ok(exit) => exit.into(),
        Err(_) => exit::Exit::Bug.into(),
    }
}
