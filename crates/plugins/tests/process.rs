//! The life cycle of single processes: handshake, output, end.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "what fails here fails a test")]

mod peer;

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use peer::{Peer, Recorded, STAYS, alive, protocol, shell, until};
use plugins::{
    Endpoint, Inherit, Launch, Level, ListenAddress, Logs, Plugin, PluginError, ProcessEnding,
    attach, start,
};

/// Starts a program that must fail to start, and returns the error.
async fn failure(launch: Launch) -> PluginError {
    match start(launch, protocol(), Logs::default()).await {
        Ok(_) => panic!("the plugin was usable"),
        Err(error) => error,
    }
}

async fn run(folder: &Path, script: &str) -> Plugin {
    start(shell(folder, script), protocol(), Logs::default())
        .await
        .unwrap()
}

#[tokio::test]
async fn handshake_is_found_after_noise_and_with_crlf() {
    let folder = tempfile::tempdir().unwrap();
    let script = r"echo 'warning: noise'; printf '\377\376 garbage\n\n'; printf 'ready 4711 6\r\n'; exec sleep 600";
    let recorded = Recorded::default();
    let plugin = start(shell(folder.path(), script), protocol(), recorded.logs(&[]))
        .await
        .unwrap();
    let expected = Endpoint {
        protocol: Some(6),
        ..Endpoint::new(ListenAddress::Tcp(([127, 0, 0, 1], 4711).into()))
    };
    assert_eq!(*plugin.endpoint(), expected);
    assert!(plugin.exit().is_none() && !plugin.attached());
    plugin.stop().await;
    assert_eq!(
        recorded.texts(),
        ["warning: noise", "\u{fffd}\u{fffd} garbage"]
    );
}

#[tokio::test]
async fn programs_that_cannot_be_executed_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let write = |name: &str, text: &str, mode: u32| {
        use std::os::unix::fs::PermissionsExt as _;
        fs::write(path(name), text).unwrap();
        fs::set_permissions(path(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    write("data", "x", 0o600);
    write("lost", "#!/no/such/interpreter\n", 0o700);
    let launch = |name: &str| Launch {
        program: path(name),
        ..shell(folder.path(), "")
    };
    let message = async |name: &str| {
        failure(launch(name))
            .await
            .to_string()
            .replace(path(name).to_str().unwrap(), "P")
    };
    assert_eq!(
        message("none").await,
        "the program of provider `peer` does not exist: P"
    );
    assert_eq!(
        message("data/none").await,
        "the program of provider `peer` does not exist: P"
    );
    assert_eq!(
        message("data").await,
        "the program of provider `peer` cannot be executed: P has no permission to be executed"
    );
    assert_eq!(
        message("").await,
        "the program of provider `peer` cannot be executed: P is a folder"
    );
    assert_eq!(
        message("lost").await,
        "the program of provider `peer` cannot be executed: P needs an interpreter that does not exist"
    );
    let nowhere = failure(shell(&path("none"), "")).await;
    assert!(matches!(nowhere, PluginError::NoFolder { .. }), "{nowhere}");
}

#[tokio::test]
async fn exit_before_the_handshake_reports_code_and_output() {
    let folder = tempfile::tempdir().unwrap();
    let error = failure(shell(folder.path(), "echo 'no cookie' >&2; exit 3")).await;
    assert_eq!(
        error.to_string(),
        "provider `peer` exited with code 3 before it was ready"
    );
    assert_eq!(error.output(), "no cookie");
    let error = failure(shell(folder.path(), "kill -9 $$")).await;
    assert_eq!(
        error.to_string(),
        "provider `peer` was ended by signal 9 before it was ready"
    );
    let error = failure(shell(folder.path(), "head -c 300000 /dev/zero; exit 4")).await;
    assert!(
        matches!(&error, PluginError::Exited { exit, .. } if exit.ending == ProcessEnding::Code(4)),
        "{error}"
    );
    assert_eq!(error.output(), "(a line of 300000 bytes is left out)");
}

#[tokio::test]
async fn a_process_without_handshake_is_ended_at_the_limit() {
    let folder = tempfile::tempdir().unwrap();
    let mut launch = shell(folder.path(), "echo $$ > pid; echo noise; exec sleep 600");
    launch.limits.start = Duration::from_millis(300);
    let error = failure(launch).await;
    assert!(matches!(error, PluginError::NoHandshake { .. }), "{error}");
    if let Ok(pid) = fs::read_to_string(folder.path().join("pid")) {
        assert!(!alive(pid.trim().parse().unwrap()));
    }
}

#[tokio::test]
async fn a_process_that_closes_its_output_is_ended() {
    let folder = tempfile::tempdir().unwrap();
    let error = failure(shell(
        folder.path(),
        "echo $$ > pid; echo 'what now' >&2; exec sleep 600 >&-",
    ))
    .await;
    assert_eq!(
        error.to_string(),
        "provider `peer` closed its output before it said where it listens"
    );
    assert_eq!(error.output(), "what now");
    assert!(!alive(
        fs::read_to_string(folder.path().join("pid"))
            .unwrap()
            .trim()
            .parse()
            .unwrap()
    ));
}

#[tokio::test]
async fn handshakes_that_cannot_be_accepted_are_refused_and_the_process_is_ended() {
    let folder = tempfile::tempdir().unwrap();
    for (line, why) in [
        ("ready x", "`x` is no port"),
        ("ready 99999", "`99999` is no port"),
        (
            "ready 10.0.0.1:80",
            "it listens at 10.0.0.1:80, which is not on this machine",
        ),
    ] {
        let error = failure(shell(
            folder.path(),
            &format!("echo $$ > pid; echo {line}; exec sleep 600"),
        ))
        .await;
        assert_eq!(
            error.to_string(),
            format!("provider `peer` cannot be used: {why}")
        );
        assert!(!alive(
            fs::read_to_string(folder.path().join("pid"))
                .unwrap()
                .trim()
                .parse()
                .unwrap()
        ));
    }
}

#[tokio::test]
async fn a_crash_is_reported_to_everyone_in_the_same_way() {
    let folder = tempfile::tempdir().unwrap();
    let script =
        "echo ready 1; while ! [ -e go ]; do sleep 0.01; done; echo 'panic: boom' >&2; exit 7";
    let plugin = run(folder.path(), script).await;
    let (before, clone) = (plugin.exited(), plugin.clone());
    fs::write(folder.path().join("go"), "").unwrap();
    let exit = before.await;
    assert_eq!(
        (&exit.ending, exit.requested, exit.output.as_str()),
        (&ProcessEnding::Code(7), false, "panic: boom")
    );
    assert_eq!(clone.exited().await, exit);
    assert_eq!(plugin.exit(), Some(exit.clone()));
    // A stop of an ended process changes nothing.
    plugin.stop().await;
    assert_eq!(plugin.exited().await, exit);
}

#[tokio::test]
async fn stop_asks_politely_first() {
    let folder = tempfile::tempdir().unwrap();
    let peer = Peer {
        stop: Some(folder.path().join("stop")),
    };
    let script =
        "trap 'exit 9' TERM; echo ready 1; while ! [ -e stop ]; do sleep 0.01; done; exit 0";
    let plugin = start(
        shell(folder.path(), script),
        Arc::new(peer),
        Logs::default(),
    )
    .await
    .unwrap();
    plugin.stop().await;
    let exit = plugin.exit().unwrap();
    assert_eq!(
        (exit.ending, exit.requested),
        (ProcessEnding::Code(0), true)
    );
}

#[tokio::test]
async fn stop_signals_a_process_that_does_not_follow_and_then_kills_it() {
    let folder = tempfile::tempdir().unwrap();
    let plugin = run(
        folder.path(),
        "trap 'exit 5' TERM; echo ready 1; while :; do sleep 0.01; done",
    )
    .await;
    // Several callers wait for one stop.
    tokio::join!(plugin.stop(), plugin.stop());
    assert_eq!(plugin.exit().unwrap().ending, ProcessEnding::Code(5));

    let peer = Peer {
        stop: Some(folder.path().join("ignored")),
    };
    let mut launch = shell(
        folder.path(),
        "trap '' TERM; echo ready 1; while :; do sleep 0.01; done",
    );
    launch.limits.grace = Duration::from_millis(50);
    let plugin = start(launch, Arc::new(peer), Logs::default())
        .await
        .unwrap();
    plugin.stop().await;
    assert_eq!(plugin.exit().unwrap().ending, ProcessEnding::Signal(9));
}

#[tokio::test]
async fn kill_ends_a_stop_that_waits() {
    let folder = tempfile::tempdir().unwrap();
    let mut launch = shell(
        folder.path(),
        "trap '' TERM; echo ready 1; while :; do sleep 0.01; done",
    );
    launch.limits.grace = Duration::from_secs(3600);
    let plugin = start(launch, protocol(), Logs::default()).await.unwrap();
    tokio::join!(plugin.stop(), plugin.kill());
    let exit = plugin.exit().unwrap();
    assert_eq!(
        (exit.ending, exit.requested),
        (ProcessEnding::Signal(9), true)
    );
}

#[tokio::test]
async fn processes_that_a_plugin_started_end_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let script = "sleep 600 & echo $! > child; echo ready 1; exit 0";
    let plugin = run(folder.path(), script).await;
    plugin.exited().await;
    let child = fs::read_to_string(folder.path().join("child"))
        .unwrap()
        .trim()
        .parse()
        .unwrap();
    until("the child ends", || !alive(child)).await;
}

#[tokio::test]
async fn a_process_is_stopped_when_its_last_handle_is_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let plugin = run(folder.path(), STAYS).await;
    let (process, clone, exited) = (
        plugin.process_id().unwrap(),
        plugin.clone(),
        plugin.exited(),
    );
    drop(plugin);
    assert!(alive(process));
    drop(clone);
    let exit = exited.await;
    assert!(exit.requested && !alive(process));
}

#[tokio::test]
async fn a_dropped_start_ends_its_process() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pid");
    let script = "echo $$ > pid.new; mv pid.new pid; exec sleep 600";
    let starting = tokio::spawn(start(
        shell(folder.path(), script),
        protocol(),
        Logs::default(),
    ));
    until("the process runs", || file.exists()).await;
    starting.abort();
    let process = fs::read_to_string(file).unwrap().trim().parse().unwrap();
    until("the process ends", || !alive(process)).await;
}

#[test]
fn processes_are_killed_with_their_runtime() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let script = "sleep 600 & echo $! > child; trap '' TERM; echo ready 1; wait";
    let plugin = runtime.block_on(run(folder.path(), script));
    drop(runtime);
    let child = fs::read_to_string(folder.path().join("child"))
        .unwrap()
        .trim()
        .parse()
        .unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(until("both end", || {
        !alive(plugin.process_id().unwrap()) && !alive(child)
    }));
    // The exit is not known, and `stop` does not wait for it.
    runtime.block_on(plugin.stop());
}

#[tokio::test]
async fn output_is_scrubbed_line_by_line_and_as_a_whole() {
    let folder = tempfile::tempdir().unwrap();
    let script = r#"echo 'token hunter2'; echo ready 1
        echo '{"@level":"warn","@message":"pass hunter2 \"quoted\"","@module":"m","@timestamp":"t","n":1,"k":"a\"b"}' >&2
        echo '{"@level": 3, "broken' >&2; exit 1"#;
    let recorded = Recorded::default();
    let logs = recorded.logs(&["hunter2", "a\"b"]);
    let plugin = start(shell(folder.path(), script), protocol(), logs)
        .await
        .unwrap();
    let exit = plugin.exited().await;
    let lines = recorded.lines();
    for expected in [
        (Level::Info, "token ***"),
        (Level::Warn, "m: pass *** \"quoted\" n=1 k=***"),
        (Level::Info, "{\"@level\": 3, \"broken"),
    ] {
        assert!(
            lines.contains(&(expected.0, expected.1.to_owned())),
            "{expected:?} in {lines:?}"
        );
    }
    assert!(
        !exit.output.contains("hunter2") && !exit.output.contains("a\"b"),
        "{}",
        exit.output
    );
    assert!(exit.output.contains("token ***"), "{}", exit.output);

    // A secret that spans several lines.
    let logs = Recorded::default().logs(&["first\nsecond"]);
    let script = "echo ready 1; echo first; echo second; echo third; exit 1";
    let plugin = start(shell(folder.path(), script), protocol(), logs)
        .await
        .unwrap();
    assert_eq!(plugin.exited().await.output, "***\nthird");
}

#[tokio::test]
async fn the_last_output_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let script =
        "echo ready 1; i=0; while [ $i -lt 20000 ]; do echo line-$i; i=$((i+1)); done; exit 1";
    let exit = run(folder.path(), script).await.exited().await;
    assert!(
        exit.output.len() <= 64 * 1024 && exit.output.len() > 60 * 1024,
        "{}",
        exit.output.len()
    );
    assert!(exit.output.ends_with("line-19999") && !exit.output.contains("line-0\n"));
}

#[tokio::test]
async fn environment_has_what_is_inherited_and_what_is_added() {
    let folder = tempfile::tempdir().unwrap();
    let script = "env > env.new; ls -ld \"$SOCKETS\" > mode; pwd > pwd; mv env.new env; echo ready 1; exec sleep 600";
    let mut launch = shell(folder.path(), script);
    launch.inherit = Inherit::Only(vec!["CARGO_PKG_NAM*".into(), "CYAN_*".into()]);
    launch.environment = vec![
        ("ADDED".into(), "1".into()),
        ("CARGO_PKG_NAME".into(), "mine".into()),
    ];
    let plugin = start(launch, protocol(), Logs::default()).await.unwrap();
    let environment = fs::read_to_string(folder.path().join("env")).unwrap();
    let has = |line: &str| environment.lines().any(|one| one == line);
    assert!(
        has("ADDED=1") && has("CARGO_PKG_NAME=mine"),
        "{environment}"
    );
    assert!(!environment.contains("CARGO_PKG_VERSION="), "{environment}");
    assert!(environment.contains("PATH="), "{environment}");
    let working = fs::read_to_string(folder.path().join("pwd")).unwrap();
    assert_eq!(
        fs::canonicalize(working.trim()).unwrap(),
        fs::canonicalize(folder.path()).unwrap()
    );
    assert!(
        fs::read_to_string(folder.path().join("mode"))
            .unwrap()
            .starts_with("drwx------")
    );
    let sockets = environment
        .lines()
        .find_map(|line| line.strip_prefix("SOCKETS="))
        .unwrap();
    assert!(Path::new(sockets).exists());
    plugin.stop().await;
    assert!(!Path::new(sockets).parent().unwrap().exists());
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn memory_limit_ends_a_process_that_takes_more() {
    let folder = tempfile::tempdir().unwrap();
    let script = "echo ready 1; while ! [ -e go ]; do sleep 0.01; done
        text=$(head -c 200000000 /dev/zero | tr '\\0' a); echo survived; exit 0";
    let mut launch = shell(folder.path(), script);
    launch.limits.memory = Some(64 << 20);
    let plugin = start(launch, protocol(), Logs::default()).await.unwrap();
    fs::write(folder.path().join("go"), "").unwrap();
    let exit = plugin.exited().await;
    assert!(
        exit.ending != ProcessEnding::Code(0) && !exit.output.contains("survived"),
        "{exit:?}"
    );
}

#[tokio::test]
async fn an_attached_process_is_left_alone() {
    let mut process = std::process::Command::new("/bin/sleep")
        .arg("600")
        .spawn()
        .unwrap();
    let endpoint = Endpoint::new(ListenAddress::Tcp(([127, 0, 0, 1], 9).into()));
    let plugin = attach("provider `peer`", endpoint.clone());
    assert_eq!(
        (plugin.endpoint(), plugin.attached(), plugin.process_id()),
        (&endpoint, true, None)
    );
    plugin.stop().await;
    plugin.kill().await;
    assert!(plugin.exit().is_none());
    tokio::select! {
        biased;
        exit = plugin.exited() => panic!("{exit:?}"),
        () = tokio::task::yield_now() => (),
    }
    assert!(process.try_wait().unwrap().is_none());
    process.kill().unwrap();
    process.wait().unwrap();
}

#[test]
fn debug_output_of_a_launch_has_no_values_of_variables() {
    let mut launch = shell(Path::new("/"), "");
    launch.environment = vec![("TOKEN".into(), "hunter2".into())];
    let text = format!("{launch:?}");
    assert!(
        text.contains("TOKEN") && !text.contains("hunter2"),
        "{text}"
    );
}
