//! The program that evaluates templates with client-go.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::json;

use crate::RandomCase;
use crate::outcome::Outcome;

/// The variable with the path of the program.
const PROGRAM: &str = "CYAN_TEST_JSONPATH_PEER";

/// The running program. It ends when its input ends.
pub(crate) struct Peer {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Peer {
    /// Starts the program. `None`, with a message, if it was not built.
    pub(crate) fn start() -> Option<Peer> {
        let Some(program) = std::env::var_os(PROGRAM).filter(|path| !path.is_empty()) else {
            assert!(
                std::env::var_os("CYAN_TEST_ALL").is_none(),
                "the program with client-go should have been built: {PROGRAM} is not set"
            );
            println!(
                "skipped: a program with client-go is needed; `cargo xtask plugins` builds it"
            );
            return None;
        };
        let mut child = Command::new(program)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        Some(Peer {
            input: child.stdin.take(),
            output: BufReader::new(child.stdout.take().unwrap()),
            child,
        })
    }

    /// What client-go makes of a case.
    pub(crate) fn ask(&mut self, case: &RandomCase) -> Outcome {
        let question = json!({
            "template": case.template,
            "document": case.document,
            "allowMissingKeys": case.allows_missing_keys,
        });
        let input = self.input.as_mut().unwrap();
        writeln!(input, "{question}").unwrap();
        input.flush().unwrap();
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        let answer = serde_json::from_str(&line)
            .unwrap_or_else(|error| panic!("{case:?} ends the program: {error}"));
        Outcome::of_answer(&answer)
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.child.wait();
    }
}
