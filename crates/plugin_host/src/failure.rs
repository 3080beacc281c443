//! Failures that are the same for all families.

use plugins::PluginError;
use provider::{ErrorKind, ProviderDiagnostic, ProviderError};

/// The number of last output lines that are shown of an ended process.
const LINES: usize = 20;

/// Whether a call may change something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallEffect {
    /// The call only reads, so it can be made again.
    Reads,
    /// The call may change something. Without an answer its outcome is unknown.
    Changes,
}

/// Returns the error of a plugin that cannot be used.
pub(crate) fn not_started(error: &PluginError) -> ProviderError {
    let kind = match error {
        PluginError::NotFound { .. }
        | PluginError::NotExecutable { .. }
        | PluginError::NoFolder { .. } => ErrorKind::Document,
        PluginError::Closed { .. } => ErrorKind::Cancelled,
        // The pool counts processes that exit at their start, and refuses to start more after a
        // few.
        PluginError::Exited { .. } => ErrorKind::Transient,
        _ => ErrorKind::Permanent,
    };
    let said =
        ProviderDiagnostic::error("", error.to_string()).detailed(last_lines(error.output()));
    ProviderError {
        // There is no process that a request was sent to.
        did_nothing: true,
        process_ended: matches!(
            error,
            PluginError::Exited { .. } | PluginError::CrashedTooOften { .. }
        ),
        ..ProviderError::of_diagnostics(kind, vec![said])
    }
}

/// Returns the last lines of the output of an ended process.
pub fn last_lines(output: &str) -> String {
    let lines: Vec<&str> = output.lines().collect();
    lines[lines.len().saturating_sub(LINES)..].join("\n")
}
