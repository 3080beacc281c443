//! A cluster on a port, and `kubectl` for it.

use std::ffi::OsString;
use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::thread::JoinHandle;

use local_cluster::server::{ServerAccess, serve};
use local_cluster::{ClusterOptions, LocalCluster};
use serde_json::Value as Json;
use tokio_util::sync::CancellationToken;

/// A cluster that is served until the end of the test.
pub(crate) struct Served {
    kubectl: OsString,
    /// Holds the kubeconfig and the cache of `kubectl`.
    folder: tempfile::TempDir,
    stop: CancellationToken,
    server: Option<JoinHandle<()>>,
}

/// The output of a program that runs on.
pub(crate) struct RunningLines {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
fn kubectl() -> Option<OsString> {
    let named = std::env::var_os("CYAN_TEST_KUBECTL").filter(|value| !value.is_empty());
    let program = named.unwrap_or_else(|| "kubectl".into());
    let version = Command::new(&program)
        .args(["version", "--client"])
        .output();
    if version.is_ok_and(|output| output.status.success()) {
        return Some(program);
    }
    let all = std::env::var_os("CYAN_TEST_ALL").is_some();
    assert!(!all, "kubectl is needed: CYAN_TEST_KUBECTL may name it");
    eprintln!("skipped: kubectl is needed");
    None
}

impl Served {
    /// A new cluster. Without `kubectl`, prints a message and returns `None`.
    pub(crate) fn start() -> Option<Served> {
        let kubectl = kubectl()?;
        let folder = tempfile::tempdir().unwrap();
        let access = ServerAccess::generate().unwrap();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let kubeconfig = access.kubeconfig(listener.local_addr().unwrap());
        std::fs::write(folder.path().join("kubeconfig"), kubeconfig).unwrap();
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        let server = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            let cluster = LocalCluster::new(ClusterOptions::default());
            runtime.unwrap().block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                serve(cluster, listener, access, stopped).await.unwrap();
            });
        });
        Some(Served {
            kubectl,
            folder,
            stop,
            server: Some(server),
        })
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.kubectl);
        command
            .arg("--kubeconfig")
            .arg(self.folder.path().join("kubeconfig"))
            .arg("--cache-dir")
            .arg(self.folder.path().join("cache"))
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs `kubectl` with a text as its standard input.
    pub(crate) fn run(&self, arguments: &[&str], input: &str) -> Output {
        let mut child = self.command(arguments).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(input.as_bytes()).unwrap();
        drop(stdin);
        child.wait_with_output().unwrap()
    }

    /// Runs `kubectl`, which must succeed. Returns its output.
    #[track_caller]
    pub(crate) fn done(&self, arguments: &[&str], input: &str) -> String {
        let output = self.run(arguments, input);
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let (out, err) = (text(output.stdout), text(output.stderr));
        assert!(output.status.success(), "{arguments:?}: {out}{err}");
        out
    }

    /// Runs `kubectl`, which must fail. Returns what it says.
    #[track_caller]
    pub(crate) fn refused(&self, arguments: &[&str], input: &str) -> String {
        let output = self.run(arguments, input);
        assert!(!output.status.success(), "{arguments:?}");
        String::from_utf8(output.stderr).unwrap()
    }

    /// Runs `kubectl`, which must succeed and print JSON.
    #[track_caller]
    pub(crate) fn json(&self, arguments: &[&str]) -> Json {
        let text = self.done(&[arguments, &["-ojson"]].concat(), "");
        serde_json::from_str(&text).unwrap()
    }

    /// Starts `kubectl`, whose output is read while it runs.
    pub(crate) fn lines(&self, arguments: &[&str]) -> RunningLines {
        let mut child = self.command(arguments).spawn().unwrap();
        let stdout = child.stdout.take().unwrap();
        RunningLines {
            child,
            lines: BufReader::new(stdout).lines(),
        }
    }

    /// Stops the server and waits for its end.
    pub(crate) fn stop(mut self) {
        self.stop.cancel();
        self.server.take().unwrap().join().unwrap();
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

impl RunningLines {
    /// The next line, when it comes.
    pub(crate) fn next_line(&mut self) -> String {
        self.lines.next().unwrap().unwrap()
    }

    /// All further lines, to the end of the program.
    pub(crate) fn all(mut self) -> Vec<String> {
        let lines = self.lines.by_ref().map(Result::unwrap).collect();
        self.child.wait().unwrap();
        lines
    }
}

impl Drop for RunningLines {
    fn drop(&mut self) {
        // The program may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
