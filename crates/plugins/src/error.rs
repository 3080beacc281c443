//! The end of a plugin process, and the reasons why a plugin cannot be used.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// The way in which a process ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProcessEnding {
    /// The process exited with this code.
    Code(i32),
    /// A signal ended the process.
    Signal(i32),
    /// The system does not report how the process ended.
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

/// The end of a plugin process. All callers get the same value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessExit {
    /// The way in which the process ended.
    pub ending: ProcessEnding,
    /// Whether `cyan` asked the process to end.
    pub requested: bool,
    /// The last output of the process, at most 64 KiB, scrubbed. Empty if there is none.
    pub output: String,
}

/// The reason why a plugin cannot be used. The messages are lower-case phrases without the plugin's
/// output and without secrets; [`PluginError::output`] returns the output, scrubbed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum PluginError {
    /// The program does not exist.
    #[error("the program of {name} does not exist: {}", program.display())]
    NotFound {
        /// The plugin.
        name: String,
        /// The file that does not exist.
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
    /// The system refused to start the process.
    #[error("{name} cannot be started: {why}")]
    Start {
        /// The plugin.
        name: String,
        /// The file.
        program: PathBuf,
        /// The error of the system, as a phrase.
        why: String,
    },
    /// The private folder of the process cannot be created.
    #[error("{name} cannot be started: no folder for it can be created in {}: {why}", folder.display())]
    NoPrivateFolder {
        /// The plugin.
        name: String,
        /// The folder for temporary files.
        folder: PathBuf,
        /// The error of the system, as a phrase.
        why: String,
    },
    /// The process ended before its handshake.
    #[error("{name} {} before it was ready", exit.ending)]
    Exited {
        /// The plugin.
        name: String,
        /// The file.
        program: PathBuf,
        /// The end of the process, with its output.
        exit: ProcessExit,
    },
    /// The process made no handshake in time. The process has been ended.
    #[error("{name} did not say within {} s where it listens", limit.as_secs())]
    NoHandshake {
        /// The plugin.
        name: String,
        /// The file.
        program: PathBuf,
        /// The time limit.
        limit: Duration,
        /// The output of the process, scrubbed. Empty if there is none.
        output: String,
    },
    /// The process closed its standard output without a handshake, and went on. The process has
    /// been ended.
    #[error("{name} closed its output before it said where it listens")]
    ClosedOutput {
        /// The plugin.
        name: String,
        /// The file.
        program: PathBuf,
        /// The output of the process, scrubbed. Empty if there is none.
        output: String,
    },
    /// The handshake of the process cannot be accepted. The process has been ended.
    #[error("{name} cannot be used: {why}")]
    Refused {
        /// The plugin.
        name: String,
        /// The file.
        program: PathBuf,
        /// A phrase such as "it uses protocol 4".
        why: String,
    },
    /// The process failed too often in a short time, so it is not started again.
    #[error("{name} failed {times} times within {} s, last: {last}", within.as_secs())]
    CrashedTooOften {
        /// The plugin.
        name: String,
        /// The file.
        program: PathBuf,
        /// The number of failures.
        times: usize,
        /// The time in which the failures were counted.
        within: Duration,
        /// The last failure, as a phrase.
        last: String,
        /// The output before the last failure, scrubbed.
        output: String,
    },
    /// The pool is closed: the run ends.
    #[error("{name} is not started, because this run ends")]
    Closed {
        /// The plugin.
        name: String,
    },
    /// This system cannot host plugins.
    #[error(
        "{name} cannot be started: this version of cyan hosts no plugins on this operating system"
    )]
    Unsupported {
        /// The plugin.
        name: String,
    },
}

impl PluginError {
    /// The last output of the process, scrubbed. Empty if there is none.
    pub fn output(&self) -> &str {
        match self {
            PluginError::Exited { exit, .. } => &exit.output,
            PluginError::NoHandshake { output, .. }
            | PluginError::ClosedOutput { output, .. }
            | PluginError::CrashedTooOften { output, .. } => output,
            _ => "",
        }
    }

    /// Whether a process was started and failed.
    pub(crate) fn started(&self) -> bool {
        use PluginError::{ClosedOutput, Exited, NoHandshake, Refused};
        matches!(
            self,
            Exited { .. } | NoHandshake { .. } | ClosedOutput { .. } | Refused { .. }
        )
    }
}
