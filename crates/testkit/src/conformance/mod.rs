//! The runner of the conformance pack of the blueprint dialect (see its README).

mod deploying;
mod heat_validated;
mod heat_values;
mod modules;
mod staging;
mod templates;
pub(crate) mod values;
mod written;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::Value as Json;

pub use templates::Messages;

/// The kinds of cases, in the order in which they are reported.
pub const KINDS: [&str; 6] = ["functions", "syntax", "validation", "stage", "deploy", "modules"];

/// How many cases of a kind pass, and what differs in the others.
#[derive(Debug, Default)]
pub struct Tally {
    /// That pass.
    pub passed: usize,
    /// All of them.
    pub all: usize,
    /// One line per failing case.
    pub failures: Vec<String>,
    /// Of templates of Heat: how many failures carry Heat's own words.
    pub messages: Messages,
}

/// One case, ready to be run: its name, and what says how it differs from what is expected.
pub(crate) struct Case {
    pub(crate) id: String,
    pub(crate) run: Box<dyn FnOnce() -> Result<(), String> + Send>,
}

/// Runs every case of a kind. A case that panics or hangs fails; the run goes on. `Err` if the pack itself is broken.
pub fn run(pack: &Path, kind: &str) -> Result<Tally, String> {
    run_some(pack, kind, &|_| true)
}

/// Runs the cases of a kind whose names are chosen.
pub fn run_some(pack: &Path, kind: &str, chosen: &dyn Fn(&str) -> bool) -> Result<Tally, String> {
    let mut tally = Tally::default();
    let cases = match kind {
        "functions" => written::functions(pack)?,
        "syntax" => written::syntax(pack)?,
        "validation" => written::validation(pack)?,
        "stage" => staging::cases(pack)?,
        "deploy" => deploying::cases(pack)?,
        "modules" => modules::cases(pack)?,
        "hot" => templates::cases(pack, &tally.messages)?,
        other => return Err(format!("there is no kind `{other}`")),
    };
    for Case { id, run } in cases.into_iter().filter(|case| chosen(&case.id)) {
        tally.all += 1;
        match guarded(run) {
            Ok(()) => tally.passed += 1,
            Err(difference) => tally.failures.push(format!("{kind} {id}: {difference}")),
        }
    }
    Ok(tally)
}

/// Runs one case on a thread of its own, for at most ten seconds.
fn guarded(run: Box<dyn FnOnce() -> Result<(), String> + Send>) -> Result<(), String> {
    let (send, receive) = mpsc::channel();
    let thread = std::thread::Builder::new().stack_size(8 * 1024 * 1024).spawn(move || {
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
        // Nobody waits any more if the case took too long.
        let _ = send.send(outcome);
    });
    if let Err(error) = thread {
        return Err(format!("no thread could be had: {error}"));
    }
    match receive.recv_timeout(Duration::from_secs(10)) {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(panic)) => {
            let words = panic
                .downcast_ref::<String>()
                .cloned()
                .or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            Err(format!("panicked: {}", words.unwrap_or_default()))
        }
        Err(_) => Err("hung".to_owned()),
    }
}

/// A virtual clock and one thread: waiting costs no time.
pub(crate) fn in_runtime<T>(work: impl Future<Output = T>) -> Result<T, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    // What a whole scenario is made of is too large to be handed around on a test's stack.
    Ok(runtime.map_err(|error| error.to_string())?.block_on(Box::pin(work)))
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn read_json(path: &Path) -> Result<Json, String> {
    serde_json::from_str(&read(path)?).map_err(|error| format!("{}: {error}", path.display()))
}

/// The cases of a folder of `NAME.yaml` and `NAME.expect.json`: name, document (if one file has that name) and expectation.
fn folder(pack: &Path, kind: &str) -> Result<Vec<(String, Option<PathBuf>, Json)>, String> {
    let folder = pack.join("cases").join(kind);
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let entries = std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter_map(|name| name.strip_suffix(".expect.json").map(str::to_owned))
        .collect();
    names.sort();
    let mut cases = Vec::new();
    for name in names {
        let expect = read_json(&folder.join(format!("{name}.expect.json")))?;
        let document = ["yaml", "json", "jsonc", "hujson"]
            .iter()
            .map(|end| folder.join(format!("{name}.{end}")))
            .find(|path| path.is_file());
        cases.push((name, document, expect));
    }
    Ok(cases)
}

/// The first few differences, in a line.
fn differences(list: &[String]) -> Result<(), String> {
    if list.is_empty() {
        return Ok(());
    }
    let mut text = String::new();
    for (at, difference) in list.iter().take(4).enumerate() {
        let _ = write!(text, "{}{difference}", if at == 0 { "" } else { "; " });
    }
    Err(text)
}
