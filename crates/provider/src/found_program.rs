//! The program of a package that no table of `cyan.toml` describes: what is asked for, and what is
//! found.
//!
//! Not here: finding it (a host crate for each family).

use std::path::PathBuf;

use blueprint::Name;

/// What a document states about a package whose program is to be found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgramQuery {
    /// The name of the package in its family.
    pub package: Name,
    /// The wanted version. `None` for the newest.
    pub version: Option<Name>,
    /// The absolute path of the program or of its folder. `None` if the document states none.
    pub path: Option<PathBuf>,
}

/// The program of a package, found on the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundProgram {
    /// The absolute path of the program. `None` for a process that already runs and is only
    /// attached to.
    pub program: Option<PathBuf>,
    /// The version, if the place of the program states one. A program without a stated version
    /// serves any wanted version.
    pub version: Option<Name>,
}
