//! Calls to a server in this process: answers, errors, and everything else that can arrive.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "what fails here fails a test")]

mod server;

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use plugins::grpc::{Any, CallError, ConnectError, Connection, ConnectionOptions, GrpcCode};
use plugins::{
    Endpoint, HandshakeLine, Inherit, Launch, ListenAddress, Logs, Plugin, ProcessEnding,
    ProcessLimits, Protocol,
};
use server::Server;
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, UnixListener};
use tokio::task::{AbortHandle, JoinSet};

/// Serves each connection. The server ends with the returned task.
fn serve(listener: UnixListener, server: Server) -> AbortHandle {
    let task = tokio::spawn(async move {
        let mut connections = JoinSet::new();
        while let Ok((stream, _)) = listener.accept().await {
            connections.spawn(server.clone().serve(stream));
        }
    });
    task.abort_handle()
}

fn at(socket: &Path) -> Endpoint {
    Endpoint::new(ListenAddress::Unix(socket.into()))
}

fn options(message_bytes: usize) -> ConnectionOptions {
    ConnectionOptions {
        message_bytes,
        ..ConnectionOptions::default()
    }
}

/// A connection to a server, with the values that keep both alive.
async fn connected(message_bytes: usize) -> (Connection, Server, AbortHandle, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("s");
    let server = Server::default();
    let task = serve(UnixListener::bind(&socket).unwrap(), server.clone());
    let connection = Connection::connect(&at(&socket), &options(message_bytes))
        .await
        .unwrap();
    (connection, server, task, folder)
}

/// Any message.
fn message(text: &str) -> Any {
    Any {
        type_url: text.into(),
        value: vec![7; 100],
    }
}

async fn ask(connection: &Connection, path: &'static str) -> Result<Any, CallError> {
    connection.unary(path, message("x")).await
}

/// The reason of a lost call.
async fn lost(connection: &Connection, path: &'static str) -> String {
    match ask(connection, path).await {
        Err(CallError::Lost(loss)) => loss.to_string(),
        other => panic!("{path}: {other:?}"),
    }
}

async fn until(what: &str, holds: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !holds() {
        assert!(Instant::now() < deadline, "{what}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

#[tokio::test]
async fn many_calls_share_a_connection() {
    let (connection, ..) = connected(1 << 20).await;
    let mut calls = JoinSet::new();
    for number in 0..200 {
        let connection = connection.clone();
        calls.spawn(async move {
            let sent = message(&number.to_string());
            let path = if number % 2 == 0 {
                "/test.Test/Echo"
            } else {
                "/test.Test/Split"
            };
            connection
                .unary::<Any, Any>(path, sent.clone())
                .await
                .unwrap()
                == sent
        });
    }
    assert!(calls.join_all().await.into_iter().all(|same| same));
}

#[tokio::test]
async fn calls_go_over_ports_of_this_machine_only() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = Endpoint::new(ListenAddress::Tcp(listener.local_addr().unwrap()));
    tokio::spawn(async move {
        Server::default()
            .serve(listener.accept().await.unwrap().0)
            .await
    });
    let connection = Connection::connect(&endpoint, &ConnectionOptions::default())
        .await
        .unwrap();
    assert_eq!(
        ask(&connection, "/test.Test/Echo").await.unwrap(),
        message("x")
    );

    let elsewhere = Endpoint::new(ListenAddress::Tcp(([10, 0, 0, 1], 80).into()));
    let error = Connection::connect(&elsewhere, &ConnectionOptions::default())
        .await
        .err()
        .unwrap();
    assert_eq!(
        error.to_string(),
        "the plugin listens at 10.0.0.1:80, which is not on this machine"
    );
    let encrypted = Endpoint {
        tls: true,
        ..endpoint
    };
    let error = Connection::connect(&encrypted, &ConnectionOptions::default())
        .await
        .err()
        .unwrap();
    assert!(matches!(error, ConnectError::Tls), "{error}");
}

#[tokio::test]
async fn connect_waits_for_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("s");
    let endpoint = at(&socket);
    let options = ConnectionOptions::default();
    let connecting = Connection::connect(&endpoint, &options);
    // The first attempt is made before the server listens.
    let listening = async { serve(UnixListener::bind(&socket).unwrap(), Server::default()) };
    let (connection, _server) = tokio::join!(biased; connecting, listening);
    assert_eq!(
        ask(&connection.unwrap(), "/test.Test/Echo").await.unwrap(),
        message("x")
    );
}

#[tokio::test]
async fn connect_ends_at_its_limit() {
    let folder = tempfile::tempdir().unwrap();
    let options = ConnectionOptions {
        connect_timeout: Duration::from_millis(50),
        ..ConnectionOptions::default()
    };
    let error = Connection::connect(&at(&folder.path().join("s")), &options)
        .await
        .err()
        .unwrap();
    assert!(
        matches!(&error, ConnectError::Refused { source, .. } if source.kind() == std::io::ErrorKind::NotFound)
    );
}

#[tokio::test]
async fn an_answered_error_has_code_message_and_long_details() {
    let (connection, ..) = connected(1 << 20).await;
    let Err(CallError::Status(status)) = ask(&connection, "/test.Test/Fail").await else {
        panic!()
    };
    assert_eq!(
        (status.code, status.message.as_str()),
        (GrpcCode::NotFound, "not here")
    );
    let details = status.details().unwrap();
    assert_eq!(
        (details[0].type_name(), details[0].value.len()),
        ("a.B", 300_000)
    );
    let Err(CallError::Status(status)) = ask(&connection, "/test.Test/Other").await else {
        panic!()
    };
    assert_eq!(
        (status.code, status.message.as_str()),
        (GrpcCode::Unimplemented, "unknown method")
    );
    assert!(status.details().unwrap().is_empty());
}

#[tokio::test]
async fn invalid_answer_loses_only_its_call() {
    let (connection, ..) = connected(1 << 20).await;
    for (path, why) in [
        ("/test.Test/Garbage", "its answer cannot be read"),
        ("/test.Test/Large", "the limit is"),
        ("/test.Test/NoStatus", "missing grpc-status"),
        ("/test.Test/NoMessage", ""),
        ("/test.Test/Short", ""),
        ("/test.Test/Break", ""),
    ] {
        let lost = lost(&connection, path).await;
        assert!(lost.contains(why), "{path}: {lost}");
    }
    assert_eq!(
        ask(&connection, "/test.Test/Echo").await.unwrap(),
        message("x")
    );
}

#[tokio::test]
async fn a_message_that_is_too_large_is_not_sent() {
    let (connection, ..) = connected(50).await;
    let error = ask(&connection, "/test.Test/Echo").await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the plugin was not asked: the message has 105 bytes, more than 50"
    );
    let small: Any = connection
        .unary("/test.Test/Echo", Any::default())
        .await
        .unwrap();
    assert_eq!(small, Any::default());
}

#[tokio::test]
async fn a_dropped_call_is_cancelled_in_the_plugin() {
    let (connection, server, ..) = connected(1 << 20).await;
    let other = connection.clone();
    let call = tokio::spawn(async move { ask(&other, "/test.Test/Hang").await });
    until("the call arrives", || server.hangs.load(Ordering::SeqCst)).await;
    call.abort();
    until("the call is cancelled", || {
        !server.hangs.load(Ordering::SeqCst)
    })
    .await;
    assert!(ask(&connection, "/test.Test/Echo").await.is_ok());
}

#[tokio::test]
async fn calls_of_a_connection_that_ends_are_lost_and_later_ones_not_sent() {
    let (connection, server, task, _folder) = connected(1 << 20).await;
    let other = connection.clone();
    let call = tokio::spawn(async move { ask(&other, "/test.Test/Hang").await });
    until("the call arrives", || server.hangs.load(Ordering::SeqCst)).await;
    task.abort();
    assert!(matches!(call.await.unwrap(), Err(CallError::Lost(_))));
    connection.ended().await;
    assert!(matches!(
        ask(&connection, "/test.Test/Echo").await,
        Err(CallError::NotSent(_))
    ));
}

#[tokio::test]
async fn server_of_another_protocol_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("s");
    let listener = UnixListener::bind(&socket).unwrap();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream
            .write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
            .await
            .unwrap();
        std::future::pending::<()>().await;
    });
    match Connection::connect(&at(&socket), &ConnectionOptions::default()).await {
        Ok(connection) => {
            let error = ask(&connection, "/test.Test/Echo").await.unwrap_err();
            assert!(
                matches!(error, CallError::Lost(_) | CallError::NotSent(_)),
                "{error:?}"
            );
        }
        Err(error) => assert!(matches!(error, ConnectError::NotGrpc { .. }), "{error:?}"),
    }
}

/// A plugin whose socket is served by this process.
struct Elsewhere(std::path::PathBuf);

impl Protocol for Elsewhere {
    fn environment(&self, _: &Path) -> Vec<(OsString, OsString)> {
        Vec::new()
    }

    fn line(&self, _: &str) -> HandshakeLine {
        HandshakeLine::Endpoint(at(&self.0))
    }
}

async fn plugin(folder: &Path, script: &str) -> Plugin {
    let launch = Launch {
        name: "provider `peer`".into(),
        program: "/bin/sh".into(),
        arguments: vec!["-c".into(), script.into()],
        folder: folder.into(),
        environment: Vec::new(),
        inherit: Inherit::All,
        limits: ProcessLimits::default(),
    };
    plugins::start(
        launch,
        Arc::new(Elsewhere(folder.join("s"))),
        Logs::default(),
    )
    .await
    .unwrap()
}

#[tokio::test]
async fn connect_ends_with_the_process() {
    let folder = tempfile::tempdir().unwrap();
    let plugin = plugin(folder.path(), "echo ready; exit 3").await;
    let options = ConnectionOptions {
        connect_timeout: Duration::from_secs(3600),
        ..ConnectionOptions::default()
    };
    let error = Connection::connect_to_plugin(&plugin, &options)
        .await
        .err()
        .unwrap();
    assert!(
        matches!(&error, ConnectError::Exited(exit) if exit.ending == ProcessEnding::Code(3)),
        "{error}"
    );
}

#[tokio::test]
async fn call_reports_the_exit_of_the_process() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::default();
    let task = serve(
        UnixListener::bind(folder.path().join("s")).unwrap(),
        server.clone(),
    );
    let script =
        "echo ready; while ! [ -e go ]; do sleep 0.01; done; echo 'panic: boom' >&2; exit 7";
    let plugin = plugin(folder.path(), script).await;
    let connection = Connection::connect_to_plugin(&plugin, &ConnectionOptions::default())
        .await
        .unwrap();
    let answered = Arc::new(AtomicBool::new(false));
    let (other, done) = (connection.clone(), Arc::clone(&answered));
    let call = tokio::spawn(async move {
        let answer = ask(&other, "/test.Test/Hang").await;
        done.store(true, Ordering::SeqCst);
        answer
    });
    until("the call arrives", || server.hangs.load(Ordering::SeqCst)).await;
    assert!(!answered.load(Ordering::SeqCst));
    std::fs::write(folder.path().join("go"), "").unwrap();
    plugin.exited().await;
    // The sockets of a process are closed when it ends.
    task.abort();
    let error = call.await.unwrap().unwrap_err();
    assert_eq!(
        error.to_string(),
        "the plugin gave no answer: it exited with code 7"
    );
    let CallError::Lost(loss) = error else {
        panic!("{error}")
    };
    assert_eq!(loss.exit.unwrap().output, "panic: boom");
    let CallError::NotSent(loss) = ask(&connection, "/test.Test/Echo").await.unwrap_err() else {
        panic!()
    };
    assert_eq!(loss.exit.unwrap().ending, ProcessEnding::Code(7));
}

#[tokio::test]
async fn a_call_ends_with_the_process_although_its_socket_stays_open() {
    let folder = tempfile::tempdir().unwrap();
    let _server = serve(
        UnixListener::bind(folder.path().join("s")).unwrap(),
        Server::default(),
    );
    let plugin = plugin(folder.path(), "echo ready; exec sleep 600").await;
    let connection = Connection::connect_to_plugin(&plugin, &ConnectionOptions::default())
        .await
        .unwrap();
    let (call, ()) = tokio::join!(ask(&connection, "/test.Test/Hang"), plugin.kill());
    assert_eq!(
        call.unwrap_err().to_string(),
        "the plugin gave no answer: it was ended by signal 9"
    );
}

#[tokio::test]
async fn messages_of_a_stream_are_passed_on_until_it_ends() {
    let (connection, _server, _task, _folder) = connected(1 << 20).await;
    for (path, expected) in [
        ("/test.Test/Twice", (2, None)),
        ("/test.Test/TwiceFail", (2, Some("not here"))),
        ("/test.Test/Fail", (0, Some("not here"))),
    ] {
        let mut count = 0;
        let ended = connection.server_streaming(path, message("x"), |one: Any| {
            assert_eq!(one, message("x"));
            count += 1;
        });
        let status = match ended.await {
            Ok(()) => None,
            Err(CallError::Status(status)) => Some(status.message),
            Err(error) => panic!("{path}: {error}"),
        };
        assert_eq!((count, status.as_deref()), expected, "{path}");
    }
    let garbage = connection
        .server_streaming("/test.Test/Garbage", message("x"), |_: Any| {
            panic!("garbage was passed on")
        })
        .await;
    assert!(matches!(garbage, Err(CallError::Lost(_))), "{garbage:?}");
    let broken = connection
        .server_streaming("/test.Test/Break", message("x"), |_: Any| ())
        .await;
    assert!(matches!(broken, Err(CallError::Lost(_))), "{broken:?}");
}
