//! Mutation testing: a fixed sample of small changes to the code, each of which a test should
//! detect.
//!
//! `cargo mutants` lists the possible changes ([`sample`]). The chosen ones are stored in
//! `mutation/sample.json`, by names that survive edits, and their results in
//! `mutation/results.jsonl`. All changes of the sample are built at once into a copy of the tree
//! below the build folder, where an environment variable turns one of them on ([`schemata`],
//! [`building`]). Then the tests that reach the changed function are run, the quickest first
//! ([`trial`]).
//!
//! `cargo xtask mutants` runs this. Not here: the assessment of undetected changes
//! (`mutation/README.md`).
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "talking to a terminal is what this program is for"
)]

mod building;
mod sample;
mod schemata;
mod trial;

use std::collections::BTreeMap;
use std::io::{Error, ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use serde_json::{Value as Json, json};

use crate::building::Tree;
use crate::sample::Mutant;
use crate::schemata::Schemata;
use crate::trial::{Tests, Verdict};

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match root.canonicalize().and_then(|root| run(&root, &arguments)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(2),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The cargo that runs this program.
fn cargo() -> std::ffi::OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// Runs the command.
///
/// # Errors
/// If something cannot be read, written or started, or if `cargo mutants` is not installed.
fn run(root: &Path, arguments: &[String]) -> Result<bool, Error> {
    let folder = root.join("mutation");
    match arguments.first().map(String::as_str) {
        Some("choose") => sample::choose(root, &folder),
        Some("summary") => summary(&folder),
        Some("try") => {
            let value = |flag: &str| {
                let at = arguments.iter().position(|argument| argument == flag)?;
                arguments.get(at + 1).map(String::as_str)
            };
            let (shard, of) = value("--shard")
                .and_then(|text| text.split_once('/'))
                .unwrap_or(("1", "1"));
            let number = |text: &str| {
                text.parse::<usize>()
                    .map_err(|error| Error::new(ErrorKind::InvalidInput, error))
            };
            let part = Part {
                shard: number(shard)?,
                of: number(of)?.max(1),
                within: value("--in").unwrap_or_default(),
                again: arguments.iter().any(|argument| argument == "--again"),
            };
            try_part(root, &folder, &part)
        }
        _ => {
            println!(
                "cargo xtask mutants try [--shard I/N] [--in PATH]   tries what has not been tried yet\n\
                 cargo xtask mutants try --again                     tries what was missed, too\n\
                 cargo xtask mutants summary                         counts what came of it\n\
                 cargo xtask mutants choose                          chooses another sample"
            );
            Ok(false)
        }
    }
}

/// The part of the sample that is tried.
struct Part<'a> {
    /// The shard, from 1 on.
    shard: usize,
    of: usize,
    /// The prefix of the paths of the changed files.
    within: &'a str,
    /// Whether undetected changes are tried again.
    again: bool,
}

impl Part<'_> {
    fn has(&self, at: usize, name: &str, before: Option<&Outcome>) -> bool {
        at % self.of == self.shard.saturating_sub(1) % self.of
            && name.starts_with(self.within)
            && before.is_none_or(|before| self.again && before.word == "missed")
    }
}

/// The result of a change: a word, the commit at which it was tried, and the test that detected it
/// if known.
struct Outcome {
    word: String,
    commit: String,
    by: Option<String>,
}

/// The results so far by name.
fn results(folder: &Path) -> Result<BTreeMap<String, Outcome>, Error> {
    let text = std::fs::read_to_string(folder.join("results.jsonl")).unwrap_or_default();
    let mut results = BTreeMap::new();
    for line in text.lines() {
        let line: Json = serde_json::from_str(line)?;
        let word = |key: &str| line[key].as_str().unwrap_or_default().to_owned();
        let by = line["by"].as_str().map(str::to_owned);
        results.insert(
            word("mutant"),
            Outcome {
                word: word("outcome"),
                commit: word("commit"),
                by,
            },
        );
    }
    Ok(results)
}

fn keep(folder: &Path, results: &BTreeMap<String, Outcome>) -> Result<(), Error> {
    let mut file = std::fs::File::create(folder.join("results.jsonl"))?;
    for (name, Outcome { word, commit, by }) in results {
        let mut line = json!({"mutant": name, "outcome": word, "commit": commit});
        if let Some(by) = by {
            line["by"] = json!(by);
        }
        writeln!(file, "{line}")?;
    }
    Ok(())
}

fn summary(folder: &Path) -> Result<bool, Error> {
    let (sample, results) = (sample::sample(folder)?, results(folder)?);
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for name in &sample {
        *counts
            .entry(
                results
                    .get(name)
                    .map_or("not tried", |outcome| &outcome.word),
            )
            .or_default() += 1;
    }
    let count = |word: &str| counts.get(word).copied().unwrap_or_default();
    let (caught, missed) = (count("caught") + count("timeout"), count("missed"));
    println!("{} in the sample: {counts:?}", sample.len());
    println!("{caught} of {} that compile are caught", caught + missed);
    for name in sample.iter().filter(|name| {
        results
            .get(*name)
            .is_some_and(|outcome| outcome.word == "missed")
    }) {
        println!("  missed: {name}");
    }
    Ok(true)
}

/// The folder of the copy of the tree.
fn copy_of(root: &Path) -> PathBuf {
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    target.join("mutants")
}

/// The file to which results are appended.
struct ResultsFile<'a> {
    folder: &'a Path,
    commit: String,
    results: BTreeMap<String, Outcome>,
}

impl ResultsFile<'_> {
    fn enter(&mut self, number: usize, name: &str, verdict: Verdict) -> Result<(), Error> {
        let (word, by) = match verdict {
            Verdict::Caught(by) => ("caught", Some(by)),
            Verdict::Timeout(by) => ("timeout", Some(by)),
            Verdict::Missed => ("missed", None),
            Verdict::Unviable => ("unviable", None),
            Verdict::Gone => ("gone", None),
        };
        println!(
            "{number:>3} {word}: {name}{}",
            by.as_ref()
                .map(|by| format!(" (by {by})"))
                .unwrap_or_default()
        );
        let outcome = Outcome {
            word: word.to_owned(),
            commit: self.commit.clone(),
            by,
        };
        self.results.insert(name.to_owned(), outcome);
        keep(self.folder, &self.results)
    }
}

/// Tries the changes without a result: in one build those that compile together, the others alone.
fn try_part(root: &Path, folder: &Path, part: &Part<'_>) -> Result<bool, Error> {
    let head = Command::new("git")
        .current_dir(root)
        .args(["rev-parse", "--short", "HEAD"])
        .output()?;
    let commit = String::from_utf8_lossy(&head.stdout).trim().to_owned();
    let mut results_file = ResultsFile {
        folder,
        commit,
        results: results(folder)?,
    };
    let mut listed: BTreeMap<String, Mutant> = sample::listed(root)?
        .into_iter()
        .map(|mutant| (mutant.name.clone(), mutant))
        .collect();
    let mut mutants = Vec::new();
    for (at, name) in sample::sample(folder)?.into_iter().enumerate() {
        if !part.has(at, &name, results_file.results.get(&name)) {
            continue;
        }
        match listed.remove(&name) {
            Some(mutant) => mutants.push((at + 1, mutant)),
            None => results_file.enter(at + 1, &name, Verdict::Gone)?,
        }
    }
    if mutants.is_empty() {
        return summary(folder);
    }

    let tree = Tree::of(root, &copy_of(root));
    tree.refresh()?;
    let mut together = Schemata::of(root, &mutants)?;
    building::until_it_compiles(&tree, &mut together)?;
    println!(
        "{} of {} are built together",
        together.numbers().count(),
        mutants.len()
    );
    let tests = Tests::built(&tree)?;
    for (number, mutant) in &mutants {
        if let Some(function) = together.function_of(*number) {
            let verdict = tests.judge(Some((*number, function)))?;
            results_file.enter(*number, &mutant.name, verdict)?;
        }
    }
    // A change that does not compile with the others may compile alone.
    for (number, mutant) in mutants
        .iter()
        .filter(|(number, _)| together.function_of(*number).is_none())
    {
        let verdict = building::alone(&tree, &together, mutant, &tests)?;
        results_file.enter(*number, &mutant.name, verdict)?;
    }
    summary(folder)
}
