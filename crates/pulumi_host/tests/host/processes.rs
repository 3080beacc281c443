//! Programs that are not plugins.

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use plugins::{Logs, Plugin, PluginError, ProcessLimits, start};
use pulumi_host::{CallFailure, Client, ConnectOptions, PulumiProtocol, launch_with_engine};

use crate::support::program;

/// Runs a shell script as a plugin.
async fn run(script: &str) -> Result<Plugin, PluginError> {
    let folder = tempfile::tempdir().unwrap();
    let arguments: Vec<OsString> = vec!["-c".into(), script.into()];
    let mut program = program(Path::new("/bin/sh"), arguments, folder.path());
    program.limits = ProcessLimits {
        start: Duration::from_secs(1),
        grace: Duration::from_secs(1),
        memory: None,
    };
    start(
        launch_with_engine(program, "test", "127.0.0.1:1"),
        Arc::new(PulumiProtocol),
        Logs::default(),
    )
    .await
}

#[tokio::test]
async fn a_program_that_exits_is_reported_with_its_output() {
    let error = run("echo starting; echo 'no module named shop' >&2; exit 3")
        .await
        .unwrap_err();
    let PluginError::Exited { exit, .. } = &error else {
        panic!("{error}")
    };
    assert_eq!(exit.ending.to_string(), "exited with code 3");
    assert!(
        exit.output.contains("no module named shop") && exit.output.contains("starting"),
        "{}",
        exit.output
    );
}

#[tokio::test]
async fn a_program_without_a_port_is_ended() {
    let error = run("echo hello; sleep 600").await.unwrap_err();
    assert!(
        matches!(&error, PluginError::NoHandshake { output, .. } if output.contains("hello")),
        "{error}"
    );
}

#[tokio::test]
async fn a_port_that_does_not_exist_is_refused() {
    let error = run("echo 70000; sleep 600").await.unwrap_err();
    assert!(
        matches!(&error, PluginError::Refused { why, .. } if why.contains("70000")),
        "{error}"
    );
}

#[tokio::test]
async fn a_program_that_announces_a_port_and_exits_is_not_connected_to() {
    let plugin = run("echo 1; exit 4").await.unwrap();
    let failure = Client::connect(&plugin, &ConnectOptions::default())
        .await
        .err()
        .unwrap();
    assert!(
        matches!(&failure, CallFailure::NotAsked { exit: Some(_), .. }),
        "{failure}"
    );
    assert!(!failure.outcome_is_unknown());
}

#[tokio::test]
async fn something_else_that_listens_is_not_a_plugin() {
    use std::io::Write as _;
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut stream = stream;
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
        }
    });
    let plugin = run(&format!("echo {port}; sleep 600")).await.unwrap();
    let failure = Client::connect(&plugin, &ConnectOptions::default())
        .await
        .err()
        .unwrap();
    assert!(failure.is_crash(), "{failure}");
    plugin.kill().await;
}
