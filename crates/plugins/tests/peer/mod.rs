//! Peers for the tests: small shell scripts, and their protocol.

#![allow(dead_code, reason = "each test file uses a part of it")]

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use plugins::{
    BoxFuture, Endpoint, HandshakeLine, Inherit, Launch, Level, ListenAddress, LogLine, Logs,
    ProcessLimits, Protocol, StopOutcome,
};

/// The protocol of the peers: the handshake is `ready PORT [VERSION]`, and the variable `SOCKETS`
/// has the folder of sockets.
#[derive(Default)]
pub(crate) struct Peer {
    /// A file that the polite stop writes.
    pub(crate) stop: Option<PathBuf>,
}

impl Protocol for Peer {
    fn environment(&self, sockets: &Path) -> Vec<(OsString, OsString)> {
        vec![("SOCKETS".into(), sockets.into())]
    }

    fn line(&self, line: &str) -> HandshakeLine {
        let mut words = line.split(' ');
        let (Some("ready"), Some(port)) = (words.next(), words.next()) else {
            return HandshakeLine::NotHandshake;
        };
        let (host, port) = port.split_once(':').unwrap_or(("127.0.0.1", port));
        let (Ok(host), Ok(port)) = (host.parse::<std::net::IpAddr>(), port.parse::<u16>()) else {
            return HandshakeLine::Refused(format!("`{port}` is no port"));
        };
        let protocol = words.next().and_then(|version| version.parse().ok());
        HandshakeLine::Endpoint(Endpoint {
            protocol,
            ..Endpoint::new(ListenAddress::Tcp((host, port).into()))
        })
    }

    fn stop<'a>(&'a self, _: &'a Endpoint) -> BoxFuture<'a, StopOutcome> {
        Box::pin(async {
            match &self.stop {
                Some(file) => {
                    std::fs::write(file, "").unwrap();
                    StopOutcome::Exits
                }
                None => StopOutcome::Signal,
            }
        })
    }
}

pub(crate) fn protocol() -> Arc<dyn Protocol> {
    Arc::new(Peer::default())
}

/// The launch of a shell script in a folder.
pub(crate) fn shell(folder: &Path, script: &str) -> Launch {
    Launch {
        name: "provider `peer`".into(),
        program: "/bin/sh".into(),
        arguments: vec!["-c".into(), script.into()],
        folder: folder.into(),
        environment: Vec::new(),
        inherit: Inherit::All,
        limits: ProcessLimits {
            start: Duration::from_secs(30),
            grace: Duration::from_secs(20),
            memory: None,
        },
    }
}

/// A peer that makes its handshake and runs until it gets a signal.
pub(crate) const STAYS: &str = "echo ready 1; exec sleep 600";

/// All lines that a sink received.
#[derive(Clone, Default)]
pub(crate) struct Recorded(Arc<Mutex<Vec<LogLine>>>);

impl Recorded {
    /// Logs that are recorded, with these secrets removed.
    pub(crate) fn logs(&self, secrets: &'static [&'static str]) -> Logs {
        let lines = Arc::clone(&self.0);
        Logs {
            sink: Arc::new(move |name, line| {
                assert_eq!(name, "provider `peer`");
                lines.lock().unwrap().push(line.clone());
            }),
            scrub: Arc::new(|text| {
                secrets
                    .iter()
                    .fold(text.to_owned(), |text, secret| text.replace(secret, "***"))
            }),
        }
    }

    pub(crate) fn lines(&self) -> Vec<(Level, String)> {
        self.0
            .lock()
            .unwrap()
            .iter()
            .map(|line| (line.level, line.text.clone()))
            .collect()
    }

    pub(crate) fn texts(&self) -> Vec<String> {
        self.lines().into_iter().map(|(_, text)| text).collect()
    }
}

/// Waits for a condition.
pub(crate) async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !holds() {
        assert!(Instant::now() < deadline, "{what}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// Whether a process exists. A process that has ended and is not reaped does not exist.
pub(crate) fn alive(process: u32) -> bool {
    let output = std::process::Command::new("ps")
        .args(["-o", "stat=", "-p", &process.to_string()])
        .output()
        .unwrap();
    let state = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    !state.is_empty() && !state.starts_with('Z')
}
