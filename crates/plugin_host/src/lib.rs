//! What the hosts of all families of plugins share.
//!
//! * `family.rs`: what a [`Family`] of plugins decides, and what the processes of a package share.
//! * `processes.rs`: the processes of a package, one for each configuration.
//! * `process.rs`: one process with its sessions and calls, and its restart after a crash.
//! * `program.rs`: the identity of a package's program, and the files that are cached for it.
//! * `failure.rs`: the error of a plugin that cannot be used, and the output of an ended process.
//!
//! Not here: starting and watching processes (`plugins`), the calls and messages of a family, and
//! the catalogue and settings of a package (the host of the family).

mod failure;
mod family;
mod process;
mod processes;
mod program;

use std::sync::{Mutex, MutexGuard, PoisonError};

pub use failure::{CallEffect, last_lines};
pub use family::{Family, PackageHost};
pub use process::{ChangeRequest, PluginProcess};
pub use processes::Processes;
pub use program::{
    CacheError, ProgramDigest, cache_file, command_line, file_fingerprint, identity, noted_digest,
    write_file,
};

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
