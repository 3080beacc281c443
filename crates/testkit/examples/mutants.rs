//! Mutation testing: a fixed sample of small changes to the code, each of which some test should notice.
//!
//! `cargo mutants` lists what could be changed; which of it is tried is written down (`mutation/sample.json`), by names
//! that survive edits, and so is what came of it (`mutation/results.jsonl`). The changes are made in a copy of the tree
//! below the build folder. Only the tests that are near the code are run, the quick ones first.
//!
//! `cargo xtask mutants` runs this. Not here: judging what survives; that stands in `mutation/README.md`.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "talking to a terminal is what this program is for")]

use std::collections::BTreeMap;
use std::io::{Error, ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

/// What is mutated: the evaluation of expressions, the planner, the core of apply.
const WHERE: [&str; 4] =
    ["crates/expr/src/**", "crates/engine/src/plan/**", "crates/engine/src/resolve/**", "crates/engine/src/apply/**"];
/// How many of them are in the sample.
const SAMPLE: usize = 300;
/// What the sample is drawn with.
const SEED: u64 = 20_230_420;
/// How long one command may take; a change that makes something go on for ever is noticed by that.
const LONGEST: Duration = Duration::from_secs(600);

/// The tests that are near a crate, those that find most in the least time first.
fn tests(krate: &str) -> &'static [&'static [&'static str]] {
    match krate {
        "expr" => &[&["-p", "expr"]],
        _ => &[
            &["-p", "engine"],
            &[
                "-p",
                "testkit",
                "--test",
                "conformance",
                "--test",
                "scenarios",
                "--test",
                "offers",
                "--test",
                "mended_plans",
            ],
            &["-p", "testkit", "--test", "laws", "--test", "pages"],
        ],
    }
}

/// A change, by a name that does not change when lines move.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Mutant {
    name: String,
    diff: String,
}

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

/// Runs the command. An error if something cannot be read, written or started, or if `cargo mutants` is not there.
fn run(root: &Path, arguments: &[String]) -> Result<bool, Error> {
    let folder = root.join("mutation");
    match arguments.first().map(String::as_str) {
        Some("choose") => choose(root, &folder),
        Some("summary") => summary(&folder),
        Some("try") => {
            let value = |flag: &str| {
                let at = arguments.iter().position(|argument| argument == flag)?;
                arguments.get(at + 1).map(String::as_str)
            };
            let (shard, of) = value("--shard").and_then(|text| text.split_once('/')).unwrap_or(("1", "1"));
            let number = |text: &str| text.parse::<usize>().map_err(|error| Error::new(ErrorKind::InvalidInput, error));
            try_shard(root, &folder, number(shard)?, number(of)?, value("--in").unwrap_or_default())
        }
        _ => {
            println!(
                "cargo xtask mutants try [--shard I/N] [--in PATH]   tries what has not been tried yet\n\
                 cargo xtask mutants summary                         counts what came of it\n\
                 cargo xtask mutants choose                          draws the sample anew"
            );
            Ok(false)
        }
    }
}

/// All changes there could be, as `cargo mutants` lists them.
fn listed(root: &Path) -> Result<Vec<Mutant>, Error> {
    let mut command = Command::new(cargo());
    command.current_dir(root).args(["mutants", "--list", "--json", "--diff", "--colors", "never"]);
    for path in WHERE {
        command.args(["--file", path]);
    }
    let output = command.stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        return Err(Error::other("`cargo mutants` is needed: cargo install --locked cargo-mutants"));
    }
    let all: Vec<Json> = serde_json::from_slice(&output.stdout)?;
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let text = |json: &Json| json.as_str().unwrap_or_default().to_owned();
    let mutants = all.iter().map(|mutant| {
        // Lines move; what is replaced stays: the lines that the change takes away.
        let diff = text(&mutant["diff"]);
        let gone: Vec<&str> =
            diff.lines().skip(2).filter_map(|line| line.strip_prefix('-')).map(str::trim).take(2).collect();
        let function = text(&mutant["function"]["function_name"]);
        let what = format!(
            "{} | {function} | {} | {}",
            text(&mutant["file"]),
            gone.join(" "),
            text(&mutant["replacement"]).split_whitespace().collect::<Vec<_>>().join(" ")
        );
        let nth = seen.entry(what.clone()).or_default();
        *nth += 1;
        let name = if *nth == 1 { what } else { format!("{what} | {nth}") };
        Mutant { name, diff }
    });
    Ok(mutants.collect())
}

/// A number for a name, so that the order in which they are drawn has nothing to do with where they stand.
fn drawn(name: &str) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325 ^ SEED;
    for byte in name.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash ^ (hash >> 33)
}

fn choose(root: &Path, folder: &Path) -> Result<bool, Error> {
    let mut names: Vec<String> = listed(root)?.into_iter().map(|mutant| mutant.name).collect();
    let of = names.len();
    names.sort_by_key(|name| drawn(name));
    names.truncate(SAMPLE);
    names.sort();
    std::fs::create_dir_all(folder)?;
    let sample = json!({"seed": SEED, "of": of, "mutants": names});
    std::fs::write(folder.join("sample.json"), format!("{}\n", serde_json::to_string_pretty(&sample)?))?;
    println!("{} of {of} are in the sample", names.len());
    Ok(true)
}

fn sample(folder: &Path) -> Result<Vec<String>, Error> {
    let sample: Json = serde_json::from_slice(&std::fs::read(folder.join("sample.json"))?)?;
    let names = sample["mutants"].as_array().into_iter().flatten();
    Ok(names.filter_map(|name| name.as_str().map(str::to_owned)).collect())
}

/// What came of each so far: the word, and the commit it was tried at.
fn results(folder: &Path) -> Result<BTreeMap<String, (String, String)>, Error> {
    let text = std::fs::read_to_string(folder.join("results.jsonl")).unwrap_or_default();
    let mut results = BTreeMap::new();
    for line in text.lines() {
        let line: Json = serde_json::from_str(line)?;
        let word = |key: &str| line[key].as_str().unwrap_or_default().to_owned();
        results.insert(word("mutant"), (word("outcome"), word("commit")));
    }
    Ok(results)
}

fn keep(folder: &Path, results: &BTreeMap<String, (String, String)>) -> Result<(), Error> {
    let mut file = std::fs::File::create(folder.join("results.jsonl"))?;
    for (name, (outcome, commit)) in results {
        writeln!(file, "{}", json!({"mutant": name, "outcome": outcome, "commit": commit}))?;
    }
    Ok(())
}

fn summary(folder: &Path) -> Result<bool, Error> {
    let (sample, results) = (sample(folder)?, results(folder)?);
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for name in &sample {
        *counts.entry(results.get(name).map_or("not tried", |(outcome, _)| outcome)).or_default() += 1;
    }
    let count = |word: &str| counts.get(word).copied().unwrap_or_default();
    let (caught, missed) = (count("caught") + count("timeout"), count("missed"));
    println!("{} in the sample: {counts:?}", sample.len());
    println!("{caught} of {} that compile are caught", caught + missed);
    for name in sample.iter().filter(|name| results.get(*name).is_some_and(|(outcome, _)| outcome == "missed")) {
        println!("  missed: {name}");
    }
    Ok(true)
}

/// Where the copy of the tree lies.
fn tree(root: &Path) -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    target.join("mutants")
}

/// Brings the copy up to date; what has not changed is left alone, so that little is built again.
fn copied(root: &Path, tree: &Path) -> Result<(), Error> {
    let listed = Command::new("git").current_dir(root).args(["ls-files", "-z"]).output()?;
    for path in String::from_utf8_lossy(&listed.stdout).split('\0').filter(|path| !path.is_empty()) {
        let Ok(text) = std::fs::read(root.join(path)) else { continue };
        let to = tree.join(path);
        if std::fs::read(&to).ok().as_ref() != Some(&text) {
            std::fs::create_dir_all(to.parent().unwrap_or(tree))?;
            std::fs::write(&to, text)?;
        }
    }
    Ok(())
}

fn try_shard(root: &Path, folder: &Path, shard: usize, of: usize, within: &str) -> Result<bool, Error> {
    let (sample, mut results) = (sample(folder)?, results(folder)?);
    let mutants: BTreeMap<String, String> =
        listed(root)?.into_iter().map(|mutant| (mutant.name, mutant.diff)).collect();
    let tree = tree(root);
    copied(root, &tree)?;
    let head = Command::new("git").current_dir(root).args(["rev-parse", "--short", "HEAD"]).output()?;
    let commit = String::from_utf8_lossy(&head.stdout).trim().to_owned();
    let mine = sample.iter().enumerate().filter(|(at, _)| of == 0 || at % of == shard.saturating_sub(1) % of.max(1));
    for (at, name) in mine.filter(|(_, name)| name.starts_with(within)) {
        if results.contains_key(name) {
            continue;
        }
        let outcome = match mutants.get(name) {
            Some(diff) => tried(&tree, name, diff)?,
            None => "gone",
        };
        println!("{:>3} {outcome}: {name}", at + 1);
        results.insert(name.clone(), (outcome.to_owned(), commit.clone()));
        keep(folder, &results)?;
    }
    summary(folder)
}

/// Makes a change, runs the tests that are near, and takes it back.
fn tried(tree: &Path, name: &str, diff: &str) -> Result<&'static str, Error> {
    let file = name.split(" | ").next().unwrap_or_default();
    let krate = file.split('/').nth(1).unwrap_or_default();
    let path = tree.join(file);
    let before = std::fs::read(&path)?;
    if !patched(tree, diff)? {
        return Ok("gone");
    }
    let outcome = judged(tree, krate);
    std::fs::write(&path, before)?;
    outcome
}

fn patched(tree: &Path, diff: &str) -> Result<bool, Error> {
    let mut patch = Command::new("patch")
        .current_dir(tree)
        .args(["-p0", "--silent", "--forward", "--no-backup-if-mismatch"])
        .stdin(Stdio::piped())
        .spawn()?;
    if let Some(mut stdin) = patch.stdin.take() {
        stdin.write_all(diff.as_bytes())?;
    }
    Ok(patch.wait()?.success())
}

fn judged(tree: &Path, krate: &str) -> Result<&'static str, Error> {
    for (at, arguments) in tests(krate).iter().enumerate() {
        if at == 0 && !done(tree, &[&["test", "--quiet", "--no-run"], *arguments].concat())?.unwrap_or(false) {
            return Ok("unviable");
        }
        match done(tree, &[&["test", "--quiet"], *arguments].concat())? {
            Some(true) => {}
            Some(false) => return Ok("caught"),
            None => return Ok("timeout"),
        }
    }
    Ok("missed")
}

/// Whether a command ends well; `None` if it does not end.
fn done(tree: &Path, arguments: &[&str]) -> Result<Option<bool>, Error> {
    let mut command = Command::new(cargo());
    // The tests are children of what is started here, and must end with it.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command
        .current_dir(tree)
        .args(arguments)
        .env("RUST_BACKTRACE", "0")
        // A build folder of its own: in a common one the copy would pass for the tree that it was made from.
        .env("CARGO_TARGET_DIR", tree.join("target"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status.success()));
        }
        if begun.elapsed() > LONGEST {
            let group = format!("-{}", child.id());
            if !Command::new("kill").args(["-KILL", "--", &group]).status().is_ok_and(|status| status.success()) {
                child.kill()?;
            }
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}
