//! The log lines of plugins: shown on stderr with `--verbose`, dropped otherwise.
//!
//! Lines come from other threads at any time. While a live view redraws the end of stderr, they wait for it.

use std::io::Write as _;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::terminal;

static LOG: Mutex<Log> = Mutex::new(Log { shown: false, held: false, waiting: String::new() });

struct Log {
    /// Whether lines are shown.
    shown: bool,
    /// Whether a view takes the lines.
    held: bool,
    /// The lines for the view.
    waiting: String,
}

fn log() -> MutexGuard<'static, Log> {
    LOG.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Shows the lines from now on.
pub(crate) fn show() {
    log().shown = true;
}

/// Takes a line of a provider. It contains no secret.
pub(crate) fn line(provider: &str, text: &str) {
    let mut log = log();
    if !log.shown {
        return;
    }
    let mut lines = String::new();
    for line in text.lines() {
        lines.push_str(&format!("{provider}: {line}\n"));
    }
    match log.held {
        true => log.waiting.push_str(&lines),
        // A failed write to stderr cannot be reported anywhere.
        false => drop(std::io::stderr().write_all(terminal::shown(&lines).as_bytes())),
    }
}

/// Keeps the lines for a view, until it is dropped.
pub(crate) struct Held(());

/// Keeps the lines for a view that takes them.
pub(crate) fn hold() -> Held {
    log().held = true;
    Held(())
}

impl Held {
    /// The lines since the last call.
    pub(crate) fn take(&self) -> Option<String> {
        Some(std::mem::take(&mut log().waiting)).filter(|lines| !lines.is_empty())
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut log = log();
        log.held = false;
        let lines = std::mem::take(&mut log.waiting);
        // A failed write to stderr cannot be reported anywhere.
        let _ = std::io::stderr().write_all(terminal::shown(&lines).as_bytes());
    }
}
