//! The run after one that was killed by `SIGKILL` ends its plugins before it starts any.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "what fails here fails a test"
)]

mod peer;

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, ChildStdout, Command, Stdio};

use peer::{STAYS, alive, protocol, shell};
use plugins::{Logs, start};

struct Run {
    process: Child,
    plugin: u32,
    _stdout: BufReader<ChildStdout>,
}

/// A failed test leaves no process behind.
impl Drop for Run {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let _ = self.process.kill();
            let _ = self.process.wait();
            let _ = Command::new("kill")
                .args(["-9", &self.plugin.to_string()])
                .status();
        }
    }
}

/// Starts a run as a process of its own, because a run looks for orphans only once.
fn run(folder: &std::path::Path) -> Run {
    let mut run = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "a_run_of_its_own", "--nocapture"])
        .env("TMPDIR", folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdout = BufReader::new(run.stdout.take().unwrap());
    let mut lines = stdout.by_ref().lines().map(Result::unwrap);
    let plugin = lines.find_map(|line| Some(line.split_once("plugin ")?.1.parse().unwrap()));
    Run {
        process: run,
        plugin: plugin.expect("the run prints the number of its plugin"),
        _stdout: stdout,
    }
}

#[test]
fn plugins_of_a_killed_run_are_ended_by_the_next_one() {
    let folder = tempfile::tempdir_in("/tmp").unwrap();
    let mut killed = run(folder.path());
    killed.process.kill().unwrap();
    killed.process.wait().unwrap();
    assert!(
        alive(killed.plugin),
        "nothing tells the plugin that its run was killed"
    );
    let mut next = run(folder.path());
    assert!(!alive(killed.plugin) && alive(next.plugin));
    // The run ends at the end of its input.
    drop(next.process.stdin.take());
    assert!(next.process.wait().unwrap().success());
    assert!(!alive(next.plugin));
    assert_eq!(
        std::fs::read_dir(folder.path()).unwrap().count(),
        0,
        "both private folders are removed"
    );
}

/// Starts a plugin, prints its number and stops it at the end of its input.
#[test]
#[ignore = "a part of the other test"]
fn a_run_of_its_own() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let plugin = start(
            shell(&std::env::temp_dir(), STAYS),
            protocol(),
            Logs::default(),
        )
        .await
        .unwrap();
        println!("plugin {}", plugin.process_id().unwrap());
        let _ = std::io::stdin().lines().count();
        plugin.stop().await;
    });
}
