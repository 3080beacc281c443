//! The conventions for processes of this family: arguments, port, stop, log lines.

use std::ffi::OsString;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::time::Duration;

use plugins::grpc::{Connection, ConnectionOptions};
use plugins::{
    BoxFuture, Endpoint, HandshakeLine, Launch, Level, ListenAddress, LogLine, Protocol,
    StopOutcome, StopSignal,
};

use crate::messages::{Empty, method};

/// The environment variable that lists running providers: `PACKAGE:PORT`, separated by commas.
pub const DEBUG_PROVIDERS: &str = "PULUMI_DEBUG_PROVIDERS";

/// Terminal progress codes that some language runtimes print before the port.
const PROGRESS: [&str; 2] = ["\u{1b}]9;4;3;\u{1b}\\", "\u{1b}]9;4;0;\u{1b}\\"];

/// The maximum time to connect for Cancel when a process is stopped.
const CONNECT: Duration = Duration::from_secs(2);

/// The conventions of Pulumi's plugins: the first line of output that is a number is the port.
#[derive(Clone, Copy, Debug, Default)]
pub struct PulumiProtocol;

impl Protocol for PulumiProtocol {
    fn environment(&self, _sockets: &Path) -> Vec<(OsString, OsString)> {
        Vec::new()
    }

    fn line(&self, line: &str) -> HandshakeLine {
        let mut rest = line.to_owned();
        for code in PROGRESS {
            rest = rest.replace(code, "");
        }
        let text = rest.trim();
        if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return HandshakeLine::NotHandshake;
        }
        match text.parse::<u16>() {
            Ok(port) if port > 0 => HandshakeLine::Endpoint(local(port)),
            _ => HandshakeLine::Refused(format!(
                "it announced the port {}, which does not exist",
                shortened(text)
            )),
        }
    }

    fn stop<'a>(&'a self, endpoint: &'a Endpoint) -> BoxFuture<'a, StopOutcome> {
        Box::pin(async move {
            let options = ConnectionOptions {
                connect_timeout: CONNECT,
                ..ConnectionOptions::default()
            };
            if let Ok(connection) = Connection::connect(endpoint, &options).await {
                // A plugin that does not know the call gets a signal, like any other plugin.
                let _ = connection
                    .unary::<Empty, Empty>(method::CANCEL, Empty {})
                    .await;
            }
            StopOutcome::Signal
        })
    }

    fn signal(&self) -> StopSignal {
        StopSignal::Interrupt
    }

    fn parse_log_line(&self, line: &str) -> LogLine {
        LogLine {
            level: glog_level(line),
            text: line.to_owned(),
        }
    }
}

/// The level of a line in the format of Go's `glog`: a letter and the date, `W1124 18:36:27.1 ..`.
fn glog_level(line: &str) -> Level {
    let bytes = line.as_bytes();
    let dated = bytes
        .get(1..6)
        .is_some_and(|date| date[..4].iter().all(u8::is_ascii_digit) && date[4] == b' ');
    match bytes.first() {
        Some(b'W') if dated => Level::Warn,
        Some(b'E' | b'F') if dated => Level::Error,
        _ => Level::Info,
    }
}

fn shortened(digits: &str) -> &str {
    digits.get(..12).unwrap_or(digits)
}

fn local(port: u16) -> Endpoint {
    Endpoint::new(ListenAddress::Tcp(SocketAddr::from((
        Ipv4Addr::LOCALHOST,
        port,
    ))))
}

/// Adds to a launch what every plugin of this family gets: the address of an engine as its last
/// argument, and the name of the instance's project.
pub fn launch_with_engine(mut launch: Launch, project: &str, engine_address: &str) -> Launch {
    launch.arguments.push(engine_address.into());
    // A variable of the package takes precedence.
    let project = ("PULUMI_PROJECT".into(), project.into());
    launch.environment.insert(0, project);
    launch
}

/// An entry of [`DEBUG_PROVIDERS`] that is not `PACKAGE:PORT`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{entry}` in PULUMI_DEBUG_PROVIDERS is not PACKAGE:PORT")]
pub struct AttachError {
    /// The entry.
    pub entry: String,
}

/// The address of a running provider of a package, from the value of [`DEBUG_PROVIDERS`]. `None` if
/// it is not listed.
///
/// # Errors
/// If an entry cannot be read.
pub fn attached(package: &str, variable: &str) -> Result<Option<Endpoint>, AttachError> {
    let mut found = None;
    for entry in variable
        .split(',')
        .map(str::trim)
        .filter(|entry| !entry.is_empty())
    {
        let port = entry
            .rsplit_once(':')
            .and_then(|(name, port)| Some((name, port.parse::<u16>().ok()?)));
        match port {
            Some((name, port)) if port > 0 && !name.is_empty() => {
                if name == package && found.is_none() {
                    found = Some(local(port));
                }
            }
            _ => {
                return Err(AttachError {
                    entry: entry.to_owned(),
                });
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_the_port_and_other_lines_are_noise() {
        for line in [
            "50123",
            " 50123\r",
            "\u{1b}]9;4;3;\u{1b}\\50123",
            "\u{1b}]9;4;3;\u{1b}\\\u{1b}]9;4;0;\u{1b}\\50123",
        ] {
            assert_eq!(
                PulumiProtocol.line(line),
                HandshakeLine::Endpoint(local(50123)),
                "{line:?}"
            );
        }
        for line in [
            "",
            "\r",
            "port 50123",
            "-1",
            "0x10",
            "\u{1b}]9;4;3;\u{1b}\\",
            "１２",
        ] {
            assert_eq!(
                PulumiProtocol.line(line),
                HandshakeLine::NotHandshake,
                "{line:?}"
            );
        }
        for line in ["0", "65536", "99999999999999999999999"] {
            assert!(
                matches!(PulumiProtocol.line(line), HandshakeLine::Refused(_)),
                "{line}"
            );
        }
    }

    #[test]
    fn a_provider_to_attach_to_is_found_by_its_package() {
        assert_eq!(attached("shop", "aws:1,shop:5000"), Ok(Some(local(5000))));
        assert_eq!(attached("other", "aws:1, shop:5000,"), Ok(None));
        for variable in [
            "shop",
            "shop:",
            ":1",
            "shop:0",
            "aws:x,shop:1",
            "shop:70000",
        ] {
            assert!(attached("shop", variable).is_err(), "{variable}");
        }
    }

    #[test]
    fn log_levels_follow_the_form_of_glog() {
        assert_eq!(
            PulumiProtocol
                .parse_log_line("W1124 18:36:27.1 1 x.go:1] m")
                .level,
            Level::Warn
        );
        assert_eq!(
            PulumiProtocol.parse_log_line("E1124 18:36").level,
            Level::Error
        );
        assert_eq!(PulumiProtocol.parse_log_line("Warning").level, Level::Info);
        assert_eq!(PulumiProtocol.parse_log_line("").level, Level::Info);
    }
}
