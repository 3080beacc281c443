//! A folder with a document of Kubernetes objects, and a namespace of the cluster that no other
//! test uses.

use std::cell::RefCell;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::Value as Json;

use crate::place::{Place, Ran, ran};

/// The document of most tests.
pub(crate) const FILE: &str = "shop.blueprint.yaml";

/// A folder and a namespace. The namespace is deleted at the end, without waiting.
pub(crate) struct ClusterPlace {
    pub(crate) place: Place,
    pub(crate) namespace: String,
    /// How `cyan` reaches the cluster.
    pub(crate) kubeconfig: PathBuf,
    /// How the tests reach it.
    connection: PathBuf,
    kubectl: PathBuf,
    /// All that `cyan` has printed so far.
    printed: RefCell<String>,
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

/// A name that no other test of this or a former run has.
fn unique(word: &str) -> String {
    use std::time::{SystemTime, UNIX_EPOCH};
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    format!("{word}-{:x}", now.as_nanos())
}

impl ClusterPlace {
    /// A folder without a document, and the name of a namespace that does not exist yet. Without a
    /// cluster, prints a message and returns `None`.
    pub(crate) fn without_namespace(word: &str) -> Option<ClusterPlace> {
        let connection = variable("CYAN_TEST_KUBECONFIG")?;
        Some(ClusterPlace {
            place: Place::new(),
            namespace: unique(word),
            kubeconfig: connection.clone(),
            connection,
            kubectl: variable("CYAN_TEST_KUBECTL")?,
            printed: RefCell::default(),
        })
    }

    /// A folder with a document, and a namespace. In the document, `NS` is the name of the
    /// namespace. Without a cluster, prints a message and returns `None`.
    pub(crate) fn with(word: &str, document: &str) -> Option<ClusterPlace> {
        let cluster = ClusterPlace::without_namespace(word)?;
        cluster.done(&["create", "namespace", &cluster.namespace]);
        cluster.write(document);
        Some(cluster)
    }

    /// Writes the document. `NS` in it is the name of the namespace.
    pub(crate) fn write(&self, document: &str) {
        self.place
            .write(FILE, document.replace("NS", &self.namespace));
    }

    /// A command that runs `cyan` with the cluster and a key for secrets.
    pub(crate) fn cyan(&self, arguments: &[&str]) -> Command {
        let mut command = self.place.cyan(arguments);
        command
            .env("KUBECONFIG", &self.kubeconfig)
            .env("CYAN_STATE", "sqlite:.cyan/state.db")
            .env("CYAN_KEY", format!("{}=", "A".repeat(43)));
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        let ran = ran(self.cyan(arguments).output().unwrap());
        if arguments.contains(&"--json") {
            crate::machine::fits(arguments, &ran.out);
        }
        self.printed.borrow_mut().push_str(&ran.out);
        self.printed.borrow_mut().push_str(&ran.err);
        ran
    }

    /// Runs a command and checks its exit code.
    #[track_caller]
    pub(crate) fn exits(&self, code: i32, arguments: &[&str]) -> Ran {
        let ran = self.run(arguments);
        let words = arguments.join(" ");
        assert_eq!(ran.code, code, "cyan {words}\n{}{}", ran.out, ran.err);
        ran
    }

    /// Runs a command that must succeed, and checks its last line.
    #[track_caller]
    pub(crate) fn ends(&self, arguments: &[&str], last_line: &str) -> Ran {
        let ran = self.exits(0, arguments);
        let words = arguments.join(" ");
        assert_eq!(
            ran.last_line(),
            last_line,
            "cyan {words}\n{}{}",
            ran.out,
            ran.err
        );
        ran
    }

    /// Runs a command that must fail with exactly one error, whose text contains all words.
    #[track_caller]
    pub(crate) fn refused(&self, arguments: &[&str], words: &[&str]) -> Ran {
        let ran = self.run(arguments);
        let (said, command) = (&ran.err, arguments.join(" "));
        assert_ne!(ran.code, 0, "cyan {command}\n{}{said}", ran.out);
        assert_eq!(said.matches("error[").count(), 1, "cyan {command}\n{said}");
        for word in words {
            assert!(
                said.contains(word),
                "cyan {command}: no `{word}` in\n{said}"
            );
        }
        ran
    }

    /// Checks that a plan finds nothing to do.
    #[track_caller]
    pub(crate) fn is_up_to_date(&self) {
        self.ends(&["stage"], "0 to create, 0 to update, 0 to delete");
    }

    /// Checks that `cyan` has printed none of some texts, and that its state has none of them.
    #[track_caller]
    pub(crate) fn hides(&self, secrets: &[&str]) {
        let mut texts = vec![self.printed.borrow().clone()];
        for entry in std::fs::read_dir(self.place.path().join(".cyan")).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                texts.push(String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned());
            }
        }
        assert!(texts.len() > 1, "there is no state");
        for secret in secrets {
            assert!(
                !texts.iter().any(|text| text.contains(secret)),
                "{secret} is shown"
            );
        }
    }

    /// Runs `kubectl` with a text as its standard input.
    pub(crate) fn kubectl(&self, arguments: &[&str], input: &str) -> Output {
        let mut child = self
            .kubectl_command(arguments)
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

    pub(crate) fn kubectl_command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.kubectl);
        command
            .arg("--kubeconfig")
            .arg(&self.connection)
            .args(arguments);
        command
    }

    /// Runs `kubectl`, which must succeed. Returns its output.
    #[track_caller]
    pub(crate) fn done(&self, arguments: &[&str]) -> String {
        self.fed(arguments, "")
    }

    /// Runs `kubectl` with a text as its standard input, which must succeed.
    #[track_caller]
    pub(crate) fn fed(&self, arguments: &[&str], input: &str) -> String {
        let output = self.kubectl(arguments, input);
        let out = String::from_utf8(output.stdout).unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{arguments:?}: {out}{err}");
        out
    }

    /// An object of the namespace; `None` if it does not exist.
    #[track_caller]
    pub(crate) fn object(&self, object: &str) -> Option<Json> {
        let arguments = [
            "-n",
            &self.namespace,
            "get",
            object,
            "--ignore-not-found",
            "-o=json",
        ];
        let found = self.done(&[&arguments[..], &["--show-managed-fields"]].concat());
        let found = found.trim();
        (!found.is_empty()).then(|| serde_json::from_str(found).unwrap())
    }

    /// Merges a part into an object of the namespace, as another manager.
    #[track_caller]
    pub(crate) fn patch(&self, object: &str, manager: &str, part: &str) {
        let manager = format!("--field-manager={manager}");
        let arguments = [
            "-n",
            &self.namespace,
            "patch",
            object,
            "--type=merge",
            &manager,
        ];
        self.done(&[&arguments[..], &["-p", part]].concat());
    }
}

impl Drop for ClusterPlace {
    fn drop(&mut self) {
        let arguments = ["delete", "namespace", &self.namespace, "--wait=false"];
        self.kubectl(&[&arguments[..], &["--ignore-not-found"]].concat(), "");
    }
}
