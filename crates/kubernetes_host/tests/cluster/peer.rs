//! The cluster of a test: `kubectl`, and a namespace that no other test uses.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// How to reach the cluster.
pub(crate) struct Peer {
    pub(crate) kubeconfig: PathBuf,
    kubectl: PathBuf,
    /// A namespace of its own, which is deleted at the end of the test.
    pub(crate) namespace: String,
}

#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
fn variable(name: &str) -> Option<PathBuf> {
    let value = std::env::var_os(name).filter(|value| !value.is_empty());
    if value.is_none() {
        let all = std::env::var_os("CYAN_TEST_ALL").is_some();
        assert!(
            !all,
            "the cluster should have been started: {name} is not set"
        );
        eprintln!("skipped: a cluster is needed; `cargo xtask test` starts one");
    }
    value.map(PathBuf::from)
}

impl Peer {
    /// The cluster with a new namespace, whose name begins with a word. Without a cluster, prints a
    /// message and returns `None`.
    pub(crate) fn of(word: &str) -> Option<Peer> {
        let peer = Peer {
            kubeconfig: variable("CYAN_TEST_KUBECONFIG")?,
            kubectl: variable("CYAN_TEST_KUBECTL")?,
            namespace: unique(word),
        };
        peer.done(&["create", "namespace", &peer.namespace], "");
        Some(peer)
    }

    /// Runs `kubectl` with a text as its standard input.
    pub(crate) fn kubectl(&self, arguments: &[&str], input: &str) -> Output {
        let mut child = Command::new(&self.kubectl)
            .arg("--kubeconfig")
            .arg(&self.kubeconfig)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(input.as_bytes()).unwrap();
        drop(stdin);
        child.wait_with_output().unwrap()
    }

    /// Runs `kubectl`, which must succeed. Returns its output.
    #[track_caller]
    pub(crate) fn done(&self, arguments: &[&str], input: &str) -> String {
        let output = self.kubectl(arguments, input);
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        assert!(output.status.success(), "{arguments:?}: {out}{err}");
        out
    }

    /// Applies manifests as another manager than `cyan`.
    #[track_caller]
    pub(crate) fn apply(&self, manifests: &str) {
        self.done(&["apply", "--server-side", "--filename=-"], manifests);
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.kubectl(
            &["delete", "namespace", &self.namespace, "--wait=false"],
            "",
        );
    }
}

/// A name that no other test of this or a former run has.
pub(crate) fn unique(word: &str) -> String {
    use std::time::{SystemTime, UNIX_EPOCH};
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    format!("{word}-{:x}", now.as_nanos())
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}
