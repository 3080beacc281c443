//! The receiver of a plugin's lines, and the last lines for a crash report.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::LogLine;

/// Receives the name of a plugin and one of its lines.
pub type Sink = Arc<dyn Fn(&str, &LogLine) + Send + Sync>;
/// Replaces secrets in a text.
pub type LogScrub = Arc<dyn Fn(&str) -> String + Send + Sync>;

/// The receiver of log lines, and the scrubber for secrets in them. The default drops the lines and
/// removes nothing.
#[derive(Clone)]
pub struct Logs {
    /// Receives each line, scrubbed, in the order of its stream. It must not block.
    pub sink: Sink,
    /// Scrubs single lines, and the last lines together when they are reported.
    pub scrub: LogScrub,
}

impl Default for Logs {
    fn default() -> Logs {
        Logs {
            sink: Arc::new(|_, _| ()),
            scrub: Arc::new(str::to_owned),
        }
    }
}

/// The number of bytes of the last lines that are kept for a crash report.
const KEPT: usize = 64 * 1024;

/// The last lines of a plugin.
#[derive(Debug, Default)]
pub(crate) struct LogTail {
    lines: VecDeque<String>,
    bytes: usize,
}

impl LogTail {
    pub(crate) fn push(&mut self, line: String) {
        self.bytes += line.len() + 1;
        self.lines.push_back(line);
        while self.bytes > KEPT {
            let Some(first) = self.lines.pop_front() else {
                break;
            };
            self.bytes -= first.len() + 1;
        }
    }

    /// The lines as one text.
    pub(crate) fn text(&self) -> String {
        self.lines
            .iter()
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join("\n")
    }
}
