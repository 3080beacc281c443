//! How a plugin ends, and why one cannot be used.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// How a process ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProcessEnding {
    /// It exited with this code.
    Code(i32),
    /// A signal ended it.
    Signal(i32),
    /// The system does not say how it ended.
    Unknown,
}

impl fmt::Display for ProcessEnding {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProcessEnding::Code(code) => write!(to, "exited with code {code}"),
            ProcessEnding::Signal(signal) => write!(to, "was ended by signal {signal}"),
            ProcessEnding::Unknown => to.write_str("ended"),
        }
    }
}

/// The end of a plugin process. It is the same for everyone who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessExit {
    /// How it ended.
    pub ending: ProcessEnding,
    /// Whether this process asked it to end.
    pub requested: bool,
    /// What it wrote last, at most 64 KiB, scrubbed. Empty if it wrote nothing.
    pub output: String,
}

/// Why a plugin cannot be used. The messages are lower-case phrases without the plugin's output and without secrets;
/// [`PluginError::output`] has the output, scrubbed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum PluginError {
    /// The program does not exist.
    #[error("the program of {name} does not exist: {}", program.display())]
    NotFound {
        /// The plugin.
        name: String,
        /// The file that was looked for.
        program: PathBuf,
    },
    /// The program cannot be executed.
    #[error("the program of {name} cannot be executed: {} {why}", program.display())]
    NotExecutable {
        /// The plugin.
        name: String,
        /// The file.
        program: PathBuf,
        /// A phrase that continues the name of the file, such as "is a folder".
        why: &'static str,
    },
    /// The working folder does not exist.
    #[error("the working folder of {name} does not exist: {}", folder.display())]
    NoFolder {
        /// The plugin.
        name: String,
        /// The folder.
        folder: PathBuf,
    },
    /// The system refused to start the process or to make its folder.
    #[error("{name} cannot be started: {kind}")]
    Start {
        /// The plugin.
        name: String,
        /// The file.
        program: PathBuf,
        /// What the system said.
        kind: io::ErrorKind,
    },
    /// It ended before its handshake.
    #[error("{name} {} before it was ready", exit.ending)]
    Exited {
        /// The plugin.
        name: String,
        /// The file.
        program: PathBuf,
        /// How, and what it wrote.
        exit: ProcessExit,
    },
    /// It was not ready in time, or closed its standard output. The process is ended.
    #[error("{name} did not say within {} s where it listens", limit.as_secs())]
    NoHandshake {
        /// The plugin.
        name: String,
        /// The file.
        program: PathBuf,
        /// The time that it had.
        limit: Duration,
        /// What it wrote instead, scrubbed. Empty if it wrote nothing.
        output: String,
    },
    /// Its handshake cannot be accepted. The process is ended.
    #[error("{name} cannot be used: {why}")]
    Refused {
        /// The plugin.
        name: String,
        /// The file.
        program: PathBuf,
        /// A phrase such as "it speaks protocol 4".
        why: String,
    },
    /// It failed too often in a short time, so it is not started again.
    #[error("{name} failed {times} times within {} s, last: {last}", within.as_secs())]
    CrashedTooOften {
        /// The plugin.
        name: String,
        /// The file.
        program: PathBuf,
        /// How often it failed.
        times: usize,
        /// In which time.
        within: Duration,
        /// The last failure, as a phrase.
        last: String,
        /// What it wrote before the last failure, scrubbed.
        output: String,
    },
    /// The pool is closed: the run ends.
    #[error("{name} is not started, because this run ends")]
    Closed {
        /// The plugin.
        name: String,
    },
    /// This system cannot host plugins.
    #[error("{name} cannot be started: this version of cyan hosts no plugins on this operating system")]
    Unsupported {
        /// The plugin.
        name: String,
    },
}

impl PluginError {
    /// What the process wrote last, scrubbed. Empty if there is nothing.
    pub fn output(&self) -> &str {
        match self {
            PluginError::Exited { exit, .. } => &exit.output,
            PluginError::NoHandshake { output, .. } | PluginError::CrashedTooOften { output, .. } => output,
            _ => "",
        }
    }

    /// Whether a process was started and failed.
    pub(crate) fn started(&self) -> bool {
        use PluginError::{Exited, NoHandshake, Refused};
        matches!(self, Exited { .. } | NoHandshake { .. } | Refused { .. })
    }
}
