//! A package whose provider is a program of its own, as the configuration describes it.
//!
//! Not here: starting the program (a host crate for each family).

use std::path::PathBuf;
use std::time::Duration;

use blueprint::Name;

/// A hosted package: what a host needs to start its plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostedPackage {
    /// Its name in documents: the text of a type before the first `/`.
    pub name: Name,
    /// The program: absolute.
    pub program: PathBuf,
    /// Arguments before those of the family's protocol.
    pub arguments: Vec<String>,
    /// Environment variables that are set for it.
    pub environment: Vec<(String, String)>,
    /// Patterns of the variables that it inherits, with `*` for any text. `None`: all but `CYAN_*`.
    pub inherits: Option<Vec<String>>,
    /// How many bytes of memory its process may use. `None` without a limit.
    pub memory: Option<u64>,
    /// How long it may take to start.
    pub start_within: Duration,
    /// The folder in which its process runs: that of the configuration file or of the document.
    pub folder: PathBuf,
    /// The folder for cached schemas. `None`: nothing is cached.
    pub cache: Option<PathBuf>,
}
