//! The tests, run against one change after another.
//!
//! Each executable first runs without a change, which gives its duration and the changed functions
//! that it reaches. A change is then run only by the executables that reach its function, the
//! quickest first, until a test fails. A change that no executable reaches is missed at once.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Error, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use crate::building::{Executable, Tree};

/// The time limit of a run with a change: a multiple of the time of a run without one, plus a
/// constant.
const TIME_LIMIT: (u32, Duration) = (10, Duration::from_secs(20));
/// The memory limit of a test in kilobytes. A change that allocates without end fails at it.
const MEMORY: u32 = 8_000_000;
/// Bytes of stack for each thread of a test: a function that holds many bodies needs more stack.
const STACK: usize = 64 << 20;

/// Executables of which only a part runs, because they take long: name, test, and an environment
/// variable for it.
const PARTS: [(&str, &str, (&str, &str)); 1] = [(
    "testkit::simulation",
    "every_trace_keeps_the_invariants",
    ("CYAN_SEEDS", "0..300"),
)];

/// The result of a change.
pub(crate) enum Verdict {
    /// This test detected it.
    Caught(String),
    /// This executable did not end within its time limit.
    Timeout(String),
    /// No test detected it.
    Missed,
    /// It does not compile.
    Unviable,
    /// The code no longer exists.
    Gone,
}

/// An executable, its duration, and the functions that it reaches.
struct Test {
    executable: Executable,
    takes: Duration,
    reaches: BTreeSet<usize>,
}

/// All tests that pass without a change, the quickest first.
pub(crate) struct Tests(Vec<Test>);

/// How a run ended.
enum Ended {
    Passed,
    /// Failed, with the name of the test if the output has one.
    Failed(Option<String>),
    Late,
}

impl Tests {
    /// Builds the tests in the copy of the tree, and runs each once.
    ///
    /// # Errors
    /// If they do not compile, or one fails without a change.
    pub(crate) fn built(tree: &Tree) -> Result<Tests, Error> {
        let mut tests = Vec::new();
        let note = tree.file("reached");
        for executable in tree.executables()? {
            // The file may be missing.
            let _ = std::fs::remove_file(&note);
            let begun = Instant::now();
            let mut command = command(&executable);
            command.env("MUTANTS_REACHED", &note);
            if let Ended::Failed(test) = ended(command, Duration::from_secs(3600))? {
                let test = test.unwrap_or_default();
                return Err(Error::other(format!(
                    "{} {test} fails without a change",
                    executable.name
                )));
            }
            let takes = begun.elapsed();
            let reached = std::fs::read_to_string(&note).unwrap_or_default();
            let reaches: BTreeSet<usize> = reached
                .lines()
                .filter_map(|line| line.parse().ok())
                .collect();
            println!(
                "{:>6.1} s, {:>3} functions: {}",
                takes.as_secs_f64(),
                reaches.len(),
                executable.name
            );
            tests.push(Test {
                executable,
                takes,
                reaches,
            });
        }
        tests.sort_by_key(|test| test.takes);
        Ok(Tests(tests))
    }

    /// Runs the tests on a change, given by its number and that of its function; `None`: the change
    /// that the copy was built with.
    ///
    /// # Errors
    /// If a test cannot be started.
    pub(crate) fn judge(&self, change: Option<(usize, usize)>) -> Result<Verdict, Error> {
        for test in &self.0 {
            if change.is_some_and(|(_, function)| !test.reaches.contains(&function)) {
                continue;
            }
            let mut command = command(&test.executable);
            if let Some((number, _)) = change {
                command.env("MUTANT", number.to_string());
            }
            let name = &test.executable.name;
            match ended(command, test.takes * TIME_LIMIT.0 + TIME_LIMIT.1)? {
                Ended::Passed => {}
                Ended::Failed(Some(test)) => return Ok(Verdict::Caught(format!("{name} {test}"))),
                Ended::Failed(None) => return Ok(Verdict::Caught(name.clone())),
                Ended::Late => return Ok(Verdict::Timeout(name.clone())),
            }
        }
        Ok(Verdict::Missed)
    }
}

/// The command for an executable: with limited memory, fixed random numbers, and no recorded
/// failures or snapshots.
fn command(executable: &Executable) -> Command {
    let mut command = Command::new("sh");
    let bounded = format!("ulimit -v {MEMORY}; exec \"$0\" \"$@\"");
    command
        .arg("-c")
        .arg(bounded)
        .arg(&executable.path)
        .args(["--color", "never"])
        .current_dir(&executable.folder);
    for (name, part, (key, value)) in PARTS {
        if name == executable.name {
            command.arg(part).env(key, value);
        }
    }
    command.env("CARGO_MANIFEST_DIR", &executable.folder);
    command
        .env("RUST_BACKTRACE", "0")
        .env("RUST_MIN_STACK", STACK.to_string())
        .env("INSTA_UPDATE", "no");
    command
        .env("PROPTEST_RNG_SEED", "1")
        .env("PROPTEST_MAX_SHRINK_ITERS", "0");
    command.env("PROPTEST_DISABLE_FAILURE_PERSISTENCE", "1");
    // The tests may start programs, which must be killed with them.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    command
}

/// Waits until a run ends, one of its tests fails, or the time limit passes.
fn ended(mut command: Command, limit: Duration) -> Result<Ended, Error> {
    let mut child = command.spawn()?;
    let (sender, receiver) = mpsc::channel();
    let output = child.stdout.take();
    let reader = std::thread::spawn(move || {
        if let Some(failed) = output.and_then(first_failed) {
            // The receiver is gone after the time limit.
            let _ = sender.send(failed);
        }
    });
    let ended = match receiver.recv_timeout(limit) {
        Ok(test) => {
            killed(&mut child)?;
            Ended::Failed(Some(test))
        }
        Err(mpsc::RecvTimeoutError::Timeout) => {
            killed(&mut child)?;
            Ended::Late
        }
        // The output has ended, so the run has ended.
        Err(mpsc::RecvTimeoutError::Disconnected) if child.wait()?.success() => Ended::Passed,
        Err(mpsc::RecvTimeoutError::Disconnected) => Ended::Failed(None),
    };
    // The thread ends when the output ends.
    let _ = reader.join();
    Ok(ended)
}

/// The first test that the output reports as failed.
fn first_failed(output: impl Read) -> Option<String> {
    let mut lines = BufReader::new(output).split(b'\n').map_while(Result::ok);
    lines.find_map(|line| {
        let line = String::from_utf8_lossy(&line);
        Some(
            line.strip_prefix("test ")?
                .strip_suffix(" ... FAILED")?
                .to_owned(),
        )
    })
}

/// Kills a run with all processes that it started.
fn killed(child: &mut Child) -> Result<(), Error> {
    let group = format!("-{}", child.id());
    if !Command::new("kill")
        .args(["-KILL", "--", &group])
        .status()
        .is_ok_and(|status| status.success())
    {
        child.kill()?;
    }
    child.wait()?;
    Ok(())
}
