//! What a family of plugins adds to a process: its variables, its handshake line, its polite stop, its log format.

use std::ffi::OsString;
use std::fmt;
use std::future::Future;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::pin::Pin;

use serde_json::Value;

/// A future that a trait object returns.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Where a plugin listens.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ListenAddress {
    /// A Unix domain socket.
    Unix(PathBuf),
    /// A port of this machine.
    Tcp(SocketAddr),
}

impl fmt::Display for ListenAddress {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ListenAddress::Unix(path) => write!(to, "{}", path.display()),
            ListenAddress::Tcp(address) => write!(to, "{address}"),
        }
    }
}

/// What the handshake of a plugin announces.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Endpoint {
    /// Where it listens.
    pub address: ListenAddress,
    /// The version of the protocol that it speaks, if its handshake names one.
    pub protocol: Option<u32>,
    /// Whether it demands TLS: its handshake has a certificate. No client here can do that yet.
    pub tls: bool,
}

impl Endpoint {
    /// An endpoint in plain text without a version.
    pub fn new(address: ListenAddress) -> Endpoint {
        Endpoint { address, protocol: None, tls: false }
    }
}

/// What a line of standard output means before the handshake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recognised {
    /// Not a handshake: a log line.
    Noise,
    /// The handshake. Later lines are log lines.
    Endpoint(Endpoint),
    /// A handshake that this program cannot accept, with the reason: a phrase such as "it speaks protocol 4, not 5 or
    /// 6". The process is ended.
    Refused(String),
}

/// What ends a process after the polite stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AfterStop {
    /// It exits by itself. It is signalled if it still runs after
    /// [`ProcessLimits::grace`](crate::ProcessLimits::grace).
    Exits,
    /// It waits for a signal, which is sent at once.
    Signal,
}

/// The signal that asks a process to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopSignal {
    /// `SIGTERM`.
    Terminate,
    /// `SIGINT`.
    Interrupt,
}

/// How serious a log line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Every step.
    Trace,
    /// For the developer of the plugin.
    Debug,
    /// For its user. Plain text without a level has this one.
    Info,
    /// Something may be wrong.
    Warn,
    /// Something failed.
    Error,
}

/// A line that a plugin wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    /// How serious it is.
    pub level: Level,
    /// Its text without a line break at its end.
    pub text: String,
}

/// The conventions of a family of plugins.
pub trait Protocol: Send + Sync {
    /// Variables for the process. `sockets` is a fresh folder that only this user can open; it exists as long as the
    /// process.
    fn environment(&self, sockets: &Path) -> Vec<(OsString, OsString)>;

    /// Judges a line of standard output, without its line break, until one is the handshake or is refused.
    fn line(&self, line: &str) -> Recognised;

    /// Asks the process to end, for example by a call. Its time is limited by
    /// [`ProcessLimits::grace`](crate::ProcessLimits::grace). Without an own implementation the process is only
    /// signalled.
    fn stop<'a>(&'a self, endpoint: &'a Endpoint) -> BoxFuture<'a, AfterStop> {
        let _ = endpoint;
        Box::pin(std::future::ready(AfterStop::Signal))
    }

    /// The signal that ends a process of this family.
    fn signal(&self) -> StopSignal {
        StopSignal::Terminate
    }

    /// Reads a log line. The default understands JSON objects with `@level` and `@message`, and takes everything else
    /// as text.
    fn log(&self, line: &str) -> LogLine {
        structured(line).unwrap_or_else(|| LogLine { level: Level::Info, text: line.to_owned() })
    }
}

/// The fields of a structured line that say nothing to a reader.
const SILENT: [&str; 5] = ["@level", "@message", "@module", "@timestamp", "@caller"];

/// A line in the JSON form of Go's plugins: `MODULE: MESSAGE KEY=VALUE ..`.
fn structured(line: &str) -> Option<LogLine> {
    if !line.starts_with('{') {
        return None;
    }
    let Ok(Value::Object(fields)) = serde_json::from_str(line) else { return None };
    let message = fields.get("@message")?.as_str()?;
    let level = match fields.get("@level").and_then(Value::as_str).unwrap_or_default() {
        "trace" => Level::Trace,
        "debug" => Level::Debug,
        "warn" => Level::Warn,
        "error" => Level::Error,
        _ => Level::Info,
    };
    let mut text = match fields.get("@module").and_then(Value::as_str) {
        Some(module) if !module.is_empty() => format!("{module}: {message}"),
        _ => message.to_owned(),
    };
    for (name, value) in fields.iter().filter(|(name, _)| !SILENT.contains(&name.as_str())) {
        // A text without its quotes, so that a scrubber finds it.
        text += &match value {
            Value::String(value) => format!(" {name}={value}"),
            value => format!(" {name}={value}"),
        };
    }
    Some(LogLine { level, text })
}
