//! Random programs of Pulumi YAML beside Pulumi's own interpreter: a program of this repository
//! (`crates/pulumi/tests/peer`) runs it and says what a program registers, reads, calls and gives.
//!
//! Not here: the programs (`random_programs`).

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value as Json, json};

use super::monitor::Behaviours;
use super::{guarded, programs};
use crate::random_programs::assumptions;
use crate::runtime::in_runtime;

/// The comparison of one program.
#[derive(Debug)]
pub enum Agreement {
    /// Registrations, reads, calls and outputs are the same, or both refuse the program.
    Same { is_refused: bool },
    /// A difference that a page names.
    Named(&'static str),
    /// The interpreter ended with a crash.
    Crash,
    /// Another difference.
    Different(String),
}

/// Pulumi's interpreter beside the dialect, with the packages of random programs.
pub struct ProgramOracle {
    program: PathBuf,
    running: Option<(Child, ChildStdin, BufReader<ChildStdout>)>,
    behaviours: Behaviours,
}

impl ProgramOracle {
    /// The oracle whose program stands at this path. `Err` if the packages cannot be read.
    pub fn new(program: &Path) -> Result<ProgramOracle, String> {
        let (packages, answers) = assumptions();
        Ok(ProgramOracle {
            program: program.to_owned(),
            running: None,
            behaviours: Behaviours::read(&packages, Some(&answers))?,
        })
    }

    /// What the interpreter answers for a program. `None` if it ends without an answer. `Err` if it
    /// cannot be started.
    pub fn ask(&mut self, case: &Json) -> Result<Option<Json>, String> {
        let failed = |error: std::io::Error| format!("{}: {error}", self.program.display());
        let (_, input, answers) = match &mut self.running {
            Some(running) => running,
            none => {
                let (packages, behaviours) = assumptions();
                let mut process = Command::new(&self.program)
                    .args([packages, behaviours])
                    .stdin(Stdio::piped())
                    .stdout(Stdio::piped())
                    .stderr(Stdio::null())
                    .spawn()
                    .map_err(failed)?;
                let (input, output) = (process.stdin.take(), process.stdout.take());
                let pipes = input.zip(output).ok_or("the oracle has no pipes")?;
                none.insert((process, pipes.0, BufReader::new(pipes.1)))
            }
        };
        let mut line = String::new();
        let asked = writeln!(input, "{case}");
        let read = asked.and_then(|()| answers.read_line(&mut line));
        if read.is_err() || line.is_empty() {
            self.stop();
            return Ok(None);
        }
        let answer: Json = serde_json::from_str(&line).map_err(|error| error.to_string())?;
        Ok(Some(answer["expect"].clone()))
    }

    /// Runs a program with both and compares what comes of it. `Err` if the interpreter cannot be
    /// started.
    pub fn compare(&mut self, case: &Json) -> Result<Agreement, String> {
        let Some(expect) = self.ask(case)? else {
            return Ok(Agreement::Crash);
        };
        let mut case = case.clone();
        case["expect"] = expect.clone();
        let Err(difference) = self.run(&case) else {
            return Ok(Agreement::Same {
                is_refused: expect["preview"]["ok"] != true,
            });
        };
        case["compat"] = json!(true);
        let is_same_with_compat = self.run(&case).is_ok();
        if is_same_with_compat {
            return Ok(Agreement::Named("decisions/pulumi#compat"));
        }
        Ok(match named(&case, &expect, &difference) {
            Some(page) => Agreement::Named(page),
            None => Agreement::Different(difference),
        })
    }

    fn run(&self, case: &Json) -> Result<(), String> {
        let (case, behaviours) = (case.clone(), self.behaviours.clone());
        guarded(Box::new(move || {
            in_runtime(async move { programs::run(&case, &behaviours).await })?
        }))
    }

    fn stop(&mut self) {
        if let Some((mut process, ..)) = self.running.take() {
            // It may have ended by itself.
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

impl Drop for ProgramOracle {
    fn drop(&mut self) {
        self.stop();
    }
}

/// The page that names a difference.
fn named(_: &Json, _: &Json, _: &str) -> Option<&'static str> {
    None
}
