//! The handshake and the shutdown of Terraform's plugins: the conventions of `go-plugin`.
//!
//! The process gets no client certificate, so its socket is in plain text; the folder of the socket
//! protects it.

use std::ffi::{OsStr, OsString};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use plugins::grpc::{CallError, Connection, ConnectionOptions};
use plugins::{BoxFuture, Endpoint, HandshakeLine, ListenAddress, Protocol, StopOutcome};

use crate::ProtocolVersion;
use crate::messages::Empty;
use crate::version::SHUTDOWN;

/// The variable that tells a plugin that it is started by a host, and its value. It is public and
/// protects nothing.
const COOKIE: (&str, &str) = (
    "TF_PLUGIN_MAGIC_COOKIE",
    "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2",
);

/// The only supported version of the handshake line.
const LINE_VERSION: &str = "1";

/// The minimum number of fields of a handshake line: the version of the line, the version of the
/// protocol, the network, the address and the kind of calls. A certificate and further fields may
/// follow.
const LEAST_FIELDS: usize = 5;

/// The log level of the libraries of a provider, unless the user sets levels. By default they write
/// several lines for each call, which hide the provider's own output.
const LIBRARY_LOG: (&str, &str) = ("TF_LOG_SDK", "WARN");

/// Whether a variable of the user sets a log level of providers.
fn is_log_level(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| name.starts_with("TF_LOG"))
}

/// The conventions of Terraform's plugins.
#[derive(Clone, Copy, Debug, Default)]
pub struct Handshake;

impl Protocol for Handshake {
    fn environment(&self, sockets: &Path) -> Vec<(OsString, OsString)> {
        let versions = ProtocolVersion::ALL
            .map(|version| version.to_string())
            .join(",");
        let mut variables: Vec<(OsString, OsString)> = vec![
            (COOKIE.0.into(), COOKIE.1.into()),
            ("PLUGIN_PROTOCOL_VERSIONS".into(), versions.into()),
            ("PLUGIN_UNIX_SOCKET_DIR".into(), sockets.into()),
            // An inherited certificate would make the plugin demand an encrypted connection.
            ("PLUGIN_CLIENT_CERT".into(), OsString::new()),
        ];
        if !std::env::vars_os().any(|(name, _)| is_log_level(&name)) {
            variables.push((LIBRARY_LOG.0.into(), LIBRARY_LOG.1.into()));
        }
        variables
    }

    fn line(&self, line: &str) -> HandshakeLine {
        let fields: Vec<&str> = line.trim().split('|').collect();
        if fields.len() < LEAST_FIELDS
            || fields[0].is_empty()
            || !fields[0].bytes().all(|one| one.is_ascii_digit())
        {
            return HandshakeLine::NotHandshake;
        }
        match endpoint(&fields) {
            Ok(endpoint) => HandshakeLine::Endpoint(endpoint),
            Err(why) => HandshakeLine::Refused(why),
        }
    }

    fn stop<'a>(&'a self, endpoint: &'a Endpoint) -> BoxFuture<'a, StopOutcome> {
        Box::pin(async move {
            let Ok(connection) = Connection::connect(endpoint, &ConnectionOptions::default()).await
            else {
                return StopOutcome::Signal;
            };
            // The process often ends before it answers.
            match connection.unary::<Empty, Empty>(SHUTDOWN, Empty {}).await {
                Ok(Empty {}) | Err(CallError::Lost(_)) => StopOutcome::Exits,
                Err(CallError::Status(_) | CallError::NotSent(_)) => StopOutcome::Signal,
            }
        })
    }
}

/// Reads the endpoint from a line with enough fields.
fn endpoint(fields: &[&str]) -> Result<Endpoint, String> {
    let [line, version, network, address, calls, rest @ ..] = fields else {
        return Err("its handshake is incomplete".into());
    };
    if *line != LINE_VERSION {
        return Err(format!(
            "its handshake has version {line}, not {LINE_VERSION}"
        ));
    }
    let number: Option<u32> = version.parse().ok();
    if number.and_then(ProtocolVersion::of).is_none() {
        return Err(format!("it uses protocol {version}, not 5 or 6"));
    }
    if *calls != "grpc" {
        return Err(format!("it is called by `{calls}`, not by gRPC"));
    }
    let address = match *network {
        "unix" => ListenAddress::Unix(PathBuf::from(address)),
        "tcp" => {
            let parsed: Result<SocketAddr, _> = address.parse();
            ListenAddress::Tcp(parsed.map_err(|_| format!("its address `{address}` is none"))?)
        }
        other => return Err(format!("it listens on a network of kind `{other}`")),
    };
    let tls = rest
        .first()
        .is_some_and(|certificate| !certificate.is_empty());
    Ok(Endpoint {
        address,
        protocol: number,
        tls,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(line: &str) -> String {
        match Handshake.line(line) {
            HandshakeLine::Refused(why) => why,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn a_handshake_names_a_socket_and_a_version() {
        for line in [
            "1|5|unix|/tmp/p1|grpc|",
            "1|5|unix|/tmp/p1|grpc\r",
            "1|5|unix|/tmp/p1|grpc||more|and more",
        ] {
            let endpoint = Endpoint {
                address: ListenAddress::Unix("/tmp/p1".into()),
                protocol: Some(5),
                tls: false,
            };
            assert_eq!(
                Handshake.line(line),
                HandshakeLine::Endpoint(endpoint),
                "{line}"
            );
        }
        let HandshakeLine::Endpoint(endpoint) = Handshake.line("1|6|tcp|127.0.0.1:1234|grpc|MIIB")
        else {
            panic!()
        };
        assert_eq!((endpoint.protocol, endpoint.tls), (Some(6), true));
        assert_eq!(
            endpoint.address,
            ListenAddress::Tcp(([127, 0, 0, 1], 1234).into())
        );
    }

    #[test]
    fn a_handshake_of_another_kind_is_refused_with_the_reason() {
        assert_eq!(
            refused("1|4|unix|/tmp/p1|grpc|"),
            "it uses protocol 4, not 5 or 6"
        );
        assert_eq!(
            refused("1|x|unix|/tmp/p1|grpc|"),
            "it uses protocol x, not 5 or 6"
        );
        assert_eq!(
            refused("2|5|unix|/tmp/p1|grpc|"),
            "its handshake has version 2, not 1"
        );
        assert_eq!(
            refused("1|5|unix|/tmp/p1|netrpc|"),
            "it is called by `netrpc`, not by gRPC"
        );
        assert_eq!(
            refused("1|5|tcp|nowhere|grpc|"),
            "its address `nowhere` is none"
        );
        assert_eq!(
            refused("1|5|pipe|x|grpc|"),
            "it listens on a network of kind `pipe`"
        );
    }

    #[test]
    fn other_lines_are_noise() {
        for line in [
            "",
            "hello",
            "a|b|c|d|e",
            "|||||",
            "{\"@level\":\"info\"}",
            "1|5|unix",
        ] {
            assert_eq!(Handshake.line(line), HandshakeLine::NotHandshake, "{line}");
        }
    }

    #[test]
    fn environment_contains_folder_and_protocol_versions() {
        let environment = Handshake.environment(Path::new("/run/x"));
        let value = |name: &str| {
            environment
                .iter()
                .find(|(key, _)| key == name)
                .map(|(_, value)| value.clone())
        };
        assert_eq!(value("PLUGIN_UNIX_SOCKET_DIR"), Some("/run/x".into()));
        assert_eq!(value("PLUGIN_PROTOCOL_VERSIONS"), Some("5,6".into()));
        assert_eq!(value("PLUGIN_CLIENT_CERT"), Some("".into()));
    }
}
