//! A package whose provider is a separate program, as the configuration describes it.
//!
//! Not here: starting the program (a host crate for each family).

use std::path::PathBuf;
use std::time::Duration;

use blueprint::Name;

/// A hosted package: the data that a host needs to start its plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostedPackage {
    /// Its name in documents: the text of a type before the first `/`.
    pub name: Name,
    /// The absolute path of the program.
    pub program: PathBuf,
    /// Arguments before those of the family's protocol.
    pub arguments: Vec<String>,
    /// Environment variables that are set for it.
    pub environment: Vec<(String, String)>,
    /// Patterns of the variables that it inherits, with `*` for any text. `None` stands for all
    /// except `CYAN_*`.
    pub inherits: Option<Vec<String>>,
    /// The limit of its process's memory in bytes. `None` for no limit.
    pub memory: Option<u64>,
    /// The time within which it must start.
    pub start_within: Duration,
    /// The folder in which its process runs: the folder of the configuration file or of the
    /// document.
    pub folder: PathBuf,
    /// The folder for cached schemas. `None` if nothing is cached.
    pub cache: Option<PathBuf>,
}
