//! A package whose types and calls come from a plugin or a server, as the configuration describes
//! it.
//!
//! Not here: starting the plugin (a host crate for each family).

use std::path::{Path, PathBuf};
use std::time::Duration;

use blueprint::{Name, Value};

/// A hosted package: the data that a host needs to open it.
#[derive(Clone, Debug, PartialEq)]
pub struct HostedPackage {
    /// Its name in documents: the text of a type before the first `/`.
    pub name: Name,
    /// The absolute path of the program; `None` for a family whose packages have none, and for a
    /// package of which only the schema is there or whose process already runs.
    pub program: Option<PathBuf>,
    /// The absolute path of a file with the schema, which is read in place of asking the program.
    /// `None` if the program has the schema.
    pub schema: Option<PathBuf>,
    /// The settings of the default configuration: a map, or null. A host whose types come from a
    /// server reads them to find it. They are not checked, because the catalogue is not known yet.
    pub settings: Value,
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

impl HostedPackage {
    /// The path of the program; empty for a package without one.
    pub fn program_path(&self) -> &Path {
        self.program.as_deref().unwrap_or(Path::new(""))
    }
}
