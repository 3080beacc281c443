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
    Same {
        /// Both refuse it.
        is_refused: bool,
    },
    /// Differences that these pages name.
    Named(Vec<&'static str>),
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
            // There is nothing to compare with, but the dialect has an answer.
            let ended = self.run(case).err();
            let broke = ended.filter(|end| end.starts_with("panicked") || end == "hung");
            return Ok(broke.map_or(Agreement::Crash, Agreement::Different));
        };
        let mut case = case.clone();
        case["expect"] = expect.clone();
        let Err(difference) = self.run(&case) else {
            return Ok(Agreement::Same {
                is_refused: expect["preview"]["ok"] != true,
            });
        };
        if let Some(page) = refused(&expect, &difference) {
            return Ok(Agreement::Named(vec![page]));
        }
        let mut leniencies = named_by_pages(&case);
        leniencies.sort_by_key(Vec::len);
        for chosen in leniencies {
            let mut case = case.clone();
            for (what, _) in &chosen {
                lenient(&mut case, what);
            }
            let rest = match self.run(&case) {
                Ok(()) => None,
                Err(difference) => match refused(&expect, &difference) {
                    None => continue,
                    further => further,
                },
            };
            let pages = chosen.iter().map(|(_, page)| *page).chain(rest);
            return Ok(Agreement::Named(pages.collect()));
        }
        Ok(Agreement::Different(difference))
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

/// A difference, and the page that names it.
type NamedDifference = (&'static str, &'static str);

/// The sets of differences that a program can have.
fn named_by_pages(case: &Json) -> Vec<Vec<NamedDifference>> {
    let text = case["files"]["Pulumi.yaml"].as_str().unwrap_or_default();
    // A part of a value is as secret and as known as itself, not as the whole.
    let takes_parts = ["fn::select", ": null", "[null"]
        .iter()
        .any(|part| text.contains(part))
        || reads_part_of_variable(text);
    let possible = [
        (true, "compat", "decisions/pulumi#compat"),
        (takes_parts, "parts", "decisions/pulumi#parts-of-values"),
        (
            text.contains("\"type\""),
            "further edges",
            "decisions/pulumi#dependencies",
        ),
        (
            text.to_lowercase().contains("fn::invoke") || text.contains("fn::peer"),
            "calls",
            "decisions/pulumi#calls-of-packages",
        ),
        (
            text.to_lowercase().contains("secret") || text.contains("\"hidden\""),
            "further secrets",
            "decisions/pulumi#secrets",
        ),
    ];
    let mut sets: Vec<Vec<NamedDifference>> = vec![Vec::new()];
    for (is_possible, what, page) in possible {
        if is_possible {
            let longer: Vec<_> = sets
                .iter()
                .map(|set| [set.as_slice(), &[(what, page)]].concat())
                .collect();
            sets.extend(longer);
        }
    }
    sets.retain(|set| !set.is_empty());
    sets
}

/// Whether an access leads into a variable, whose names begin with `v`.
fn reads_part_of_variable(text: &str) -> bool {
    let mut accesses = text.split("${").skip(1);
    accesses.any(|access| {
        let path = access.split('}').next().unwrap_or_default();
        let root = path.trim_start_matches(['[', '\\', '"']);
        root.starts_with('v') && path[1..].contains(['.', '['])
    })
}

/// Leaves a difference out of a comparison.
fn lenient(case: &mut Json, what: &str) {
    match what {
        "compat" => case["compat"] = json!(true),
        "parts" => {
            add_leniency(case, "secrets");
            case["expect"] = without_unknowns(&case["expect"]);
        }
        other => add_leniency(case, other),
    }
}

fn add_leniency(case: &mut Json, what: &str) {
    let mut all = case["lenient"].as_array().cloned().unwrap_or_default();
    all.push(json!(what));
    case["lenient"] = json!(all);
}

/// An answer in which what is unknown may be anything.
fn without_unknowns(json: &Json) -> Json {
    match json {
        Json::Array(items) => items.iter().map(without_unknowns).collect(),
        Json::Object(marks) if marks.contains_key("$unknown") => json!({"$any": true}),
        Json::Object(entries) => {
            let entries = entries.iter();
            Json::Object(
                entries
                    .map(|(key, one)| (key.clone(), without_unknowns(one)))
                    .collect(),
            )
        }
        other => other.clone(),
    }
}

/// The page that names why one side alone refuses a program.
fn refused(expect: &Json, difference: &str) -> Option<&'static str> {
    // What Pulumi's interpreter says, and the page.
    const THEIRS: [(&str, &str); 6] = [
        ("Union<", "decisions/pulumi#property-access"),
        // The checker of today's tool has no type for unions, and refuses names in brackets.
        ("Cannot index into", "decisions/pulumi#property-access"),
        ("Cannot access into", "decisions/pulumi#property-access"),
        ("Outputs can not be marshaled", "decisions/pulumi#functions"),
        ("waiting for RPCs", "decisions/pulumi#functions"),
        ("runtime error", "decisions/pulumi#functions"),
    ];
    // What the dialect says, and the page.
    const OURS: [(&str, &str); 3] = [
        (
            "`toJSON` refuses a secret value",
            "decisions/pulumi#functions",
        ),
        ("an asset has no form in JSON", "decisions/pulumi#functions"),
        ("missing-spec-field", "decisions/pulumi#properties"),
    ];
    if difference.contains("no error, wanted") {
        let errors = ["preview", "update"].map(|mode| expect[mode]["errors"].as_array());
        let errors = errors.into_iter().flatten().flatten();
        let mut summaries = errors.filter_map(|error| error["summary"].as_str());
        return summaries.find_map(|summary| page_of(&THEIRS, summary));
    }
    let is_refused = difference.contains("refused: [");
    page_of(&OURS, difference).filter(|_| is_refused)
}

fn page_of(pages: &[(&str, &'static str)], text: &str) -> Option<&'static str> {
    let found = pages.iter().find(|(words, _)| text.contains(words));
    found.map(|(_, page)| *page)
}
