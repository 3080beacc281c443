//! The log lines of plugins: shown on stderr with `--verbose`, dropped otherwise.
//!
//! Lines arrive from other threads at any time. While a live view redraws the end of stderr, lines
//! are buffered for it.

use std::io::Write as _;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::terminal;

static LOG: Mutex<Log> = Mutex::new(Log {
    shown: false,
    is_buffered: false,
    buffer: String::new(),
});

struct Log {
    /// Whether lines are shown.
    shown: bool,
    /// Whether lines are buffered for a view.
    is_buffered: bool,
    /// The buffered lines.
    buffer: String,
}

fn log() -> MutexGuard<'static, Log> {
    LOG.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Enables the output of lines.
pub(crate) fn show() {
    log().shown = true;
}

/// Logs a line of a provider. The line must contain no secret.
pub(crate) fn line(provider: &str, text: &str) {
    let mut log = log();
    if !log.shown {
        return;
    }
    let mut lines = String::new();
    for line in text.lines() {
        lines.push_str(&format!("{provider}: {line}\n"));
    }
    match log.is_buffered {
        true => log.buffer.push_str(&lines),
        // A failed write to stderr cannot be reported anywhere.
        false => drop(std::io::stderr().write_all(terminal::escape(&lines).as_bytes())),
    }
}

/// A guard that buffers the lines for a view until it is dropped.
pub(crate) struct BufferGuard(());

/// Starts to buffer the lines for a view.
pub(crate) fn buffer_lines() -> BufferGuard {
    log().is_buffered = true;
    BufferGuard(())
}

impl BufferGuard {
    /// Returns the lines since the last call.
    pub(crate) fn take_lines(&self) -> Option<String> {
        Some(std::mem::take(&mut log().buffer)).filter(|lines| !lines.is_empty())
    }
}

impl Drop for BufferGuard {
    fn drop(&mut self) {
        let mut log = log();
        log.is_buffered = false;
        let lines = std::mem::take(&mut log.buffer);
        // A failed write to stderr cannot be reported anywhere.
        let _ = std::io::stderr().write_all(terminal::escape(&lines).as_bytes());
    }
}
