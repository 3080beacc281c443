//! The provider `sim`: one process for all cases.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// The running provider.
pub(crate) struct Sim {
    process: Child,
    commands: ChildStdin,
    answers: BufReader<ChildStdout>,
    /// The port on which it listens.
    pub(crate) port: String,
}

impl Sim {
    /// Starts the provider. `None`, with a message, if Pulumi's framework is not installed.
    pub(crate) fn start(schema: &Path) -> Option<Sim> {
        let (process, commands, mut answers) = start_provider("sim.py", schema)?;
        let mut port = String::new();
        answers.read_line(&mut port).unwrap();
        Some(Sim {
            process,
            commands,
            answers,
            port: port.trim().to_owned(),
        })
    }

    /// Chooses the folder of the world for the calls that follow.
    pub(crate) fn use_world(&mut self, folder: &Path) {
        writeln!(self.commands, "{}", folder.display()).unwrap();
        let mut ready = String::new();
        self.answers.read_line(&mut ready).unwrap();
        assert_eq!(ready.trim(), "ready");
    }
}

/// Starts a provider of this folder with one argument. `None`, with a message, if Pulumi's framework is
/// not installed.
pub(crate) fn start_provider(
    script: &str,
    argument: &Path,
) -> Option<(Child, ChildStdin, BufReader<ChildStdout>)> {
    let Some(python) = std::env::var_os("CYAN_TEST_PULUMI").filter(|path| !path.is_empty()) else {
        assert!(
            std::env::var_os("CYAN_TEST_ALL").is_none(),
            "the provider framework of Pulumi should have been installed: CYAN_TEST_PULUMI is not set"
        );
        println!("skipped: the Python package pulumi is needed; `cargo xtask test` installs it");
        return None;
    };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sequences");
    let mut process = Command::new(python)
        .args([folder.join(script).as_path(), argument])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let commands = process.stdin.take().unwrap();
    let answers = BufReader::new(process.stdout.take().unwrap());
    Some((process, commands, answers))
}

impl Drop for Sim {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}
