//! A folder for one test, in which the binary runs isolated from the environment of the test run.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// A folder for one test.
pub(crate) struct Place {
    folder: TempDir,
}

/// The output of a run, and its exit code.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Place {
    pub(crate) fn new() -> Place {
        Place {
            folder: TempDir::new().unwrap(),
        }
    }

    /// Creates a folder with one document.
    pub(crate) fn with(name: &str, text: &str) -> Place {
        let place = Place::new();
        place.write(name, text);
        place
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path().join(name)).unwrap()
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.path().join(name).exists()
    }

    /// Returns a command that runs the binary in this folder.
    pub(crate) fn cyan(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cyan"));
        command
            .args(arguments)
            .current_dir(self.path())
            .env_clear()
            .stdin(Stdio::null());
        command
            .env("HOME", self.path().join("home"))
            .env("USER", "tester")
            .env("PATH", std::env::var("PATH").unwrap_or_default());
        command
    }

    /// Runs a command to its end. Checks machine output against its schema.
    #[track_caller]
    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        let ran = ran(self.cyan(arguments).output().unwrap());
        let mut options = arguments.iter().take_while(|argument| **argument != "--");
        if options.any(|argument| *argument == "--json") {
            crate::machine::fits(arguments, &ran.out);
        }
        ran
    }

    /// Runs a command and checks its exit code.
    #[track_caller]
    pub(crate) fn ends(&self, code: i32, arguments: &[&str]) -> Ran {
        let ran = self.run(arguments);
        assert_eq!(
            ran.code,
            code,
            "cyan {}\n{}{}",
            arguments.join(" "),
            ran.out,
            ran.err
        );
        ran
    }
}

pub(crate) fn ran(output: Output) -> Ran {
    Ran {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

impl Ran {
    pub(crate) fn last_line(&self) -> &str {
        self.out.lines().last().unwrap_or_default()
    }
}
