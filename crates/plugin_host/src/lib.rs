//! What the hosts of all families of plugins share.
//!
//! * `program.rs`: the identity of a package's program, and the files that are cached for it.
//! * `failure.rs`: the error of a plugin that cannot be used, and the output of an ended process.
//!
//! Not here: processes and their pool (`plugins`), the calls and messages of a family (its host).

mod failure;
mod program;

pub use failure::{CallEffect, last_lines, not_started};
pub use program::{CacheError, ProgramDigest, cache_file, command_line, identity, write_file};
