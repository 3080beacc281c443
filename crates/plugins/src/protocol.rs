//! The conventions of a family of plugins: variables, handshake line, polite stop, log format.

use std::ffi::OsString;
use std::fmt;
use std::future::Future;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::pin::Pin;

use serde_json::Value;

/// A future that a trait object returns.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The address of a plugin.
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

/// The content of a plugin's handshake.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Endpoint {
    /// The address of the plugin.
    pub address: ListenAddress,
    /// The version of the protocol, if the handshake contains one.
    pub protocol: Option<u32>,
    /// Whether the plugin demands TLS: its handshake has a certificate. Clients do not support TLS
    /// yet.
    pub tls: bool,
}

impl Endpoint {
    /// Creates an endpoint in plain text without a version.
    pub fn new(address: ListenAddress) -> Endpoint {
        Endpoint {
            address,
            protocol: None,
            tls: false,
        }
    }
}

/// The meaning of a line of standard output before the handshake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HandshakeLine {
    /// Not a handshake: a log line.
    NotHandshake,
    /// The handshake. Later lines are log lines.
    Endpoint(Endpoint),
    /// A handshake that `cyan` cannot accept, with the reason: a phrase such as "it uses protocol
    /// 4, not 5 or 6". The process is ended.
    Refused(String),
}

/// The step after the polite stop of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopOutcome {
    /// The process exits by itself. It gets a signal if it still runs after
    /// [`ProcessLimits::grace`](crate::ProcessLimits::grace).
    Exits,
    /// The process waits for a signal, which is sent at once.
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

/// The severity of a log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// A single step.
    Trace,
    /// A message for the developer of the plugin.
    Debug,
    /// A message for the user of the plugin. Plain text without a level has this one.
    Info,
    /// A possible problem.
    Warn,
    /// A failure.
    Error,
}

/// A line of a plugin's output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    /// The severity of the line.
    pub level: Level,
    /// The text without a line break at its end.
    pub text: String,
}

/// The conventions of a family of plugins.
pub trait Protocol: Send + Sync {
    /// Returns variables for the process. `sockets` is a new folder that only this user can open;
    /// it exists as long as the process.
    fn environment(&self, sockets: &Path) -> Vec<(OsString, OsString)>;

    /// Interprets a line of standard output, without its line break. Called until a line is the
    /// handshake or is refused.
    fn line(&self, line: &str) -> HandshakeLine;

    /// Asks the process to end, for example by a call. The time is limited by
    /// [`ProcessLimits::grace`](crate::ProcessLimits::grace). The default only leads to the signal.
    fn stop<'a>(&'a self, endpoint: &'a Endpoint) -> BoxFuture<'a, StopOutcome> {
        let _ = endpoint;
        Box::pin(std::future::ready(StopOutcome::Signal))
    }

    /// The signal that ends a process of this family.
    fn signal(&self) -> StopSignal {
        StopSignal::Terminate
    }

    /// Parses a log line. The default understands JSON objects with `@level` and `@message`, and
    /// treats all other lines as text.
    fn parse_log_line(&self, line: &str) -> LogLine {
        structured(line).unwrap_or_else(|| LogLine {
            level: Level::Info,
            text: line.to_owned(),
        })
    }
}

/// The fields of a structured line that are not shown.
const SILENT: [&str; 5] = ["@level", "@message", "@module", "@timestamp", "@caller"];

/// Parses a line in the JSON form of Go's plugins to `MODULE: MESSAGE KEY=VALUE ..`.
fn structured(line: &str) -> Option<LogLine> {
    if !line.starts_with('{') {
        return None;
    }
    let Ok(Value::Object(fields)) = serde_json::from_str(line) else {
        return None;
    };
    let message = fields.get("@message")?.as_str()?;
    let level = match fields
        .get("@level")
        .and_then(Value::as_str)
        .unwrap_or_default()
    {
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
    for (name, value) in fields
        .iter()
        .filter(|(name, _)| !SILENT.contains(&name.as_str()))
    {
        // A text is written without quotes, so that a scrubber finds secrets in it.
        text += &match value {
            Value::String(value) => format!(" {name}={value}"),
            value => format!(" {name}={value}"),
        };
    }
    Some(LogLine { level, text })
}
