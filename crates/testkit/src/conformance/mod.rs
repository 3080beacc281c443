//! The runner of the conformance pack of the blueprint dialect (see its README).

mod case;
mod corpus;
mod deploying;
mod heat_validated;
mod heat_values;
mod modules;
mod monitor;
mod notation;
mod oracle;
mod programs;
mod request_options;
mod requests;
mod required_packages;
mod resolved;
mod stack_config;
mod stacks;
mod staging;
mod std_functions;
mod templates;
mod terraform;
mod written;

use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use case::Case;

pub use oracle::{Agreement, ProgramOracle};
pub use templates::MessageTally;

/// The kinds of cases of the blueprint pack, in the order of the report.
pub const KINDS: [&str; 6] = [
    "functions",
    "syntax",
    "validation",
    "stage",
    "deploy",
    "modules",
];

/// The result of the cases of one kind.
#[derive(Debug, Default)]
pub struct Tally {
    /// The number of cases that pass.
    pub passed: usize,
    /// The number of all cases.
    pub all: usize,
    /// One line per failing case.
    pub failures: Vec<String>,
    /// For templates of Heat: how many error messages are Heat's own.
    pub messages: MessageTally,
}

/// Runs every case of a kind. A case that panics or hangs fails, and the run goes on. `Err` if the
/// pack cannot be read.
pub fn run(pack: &Path, kind: &str) -> Result<Tally, String> {
    run_some(pack, kind, &|_| true)
}

/// Runs the cases of a kind for whose names `chosen` returns `true`.
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
        "stack-config" => stack_config::cases(pack)?,
        "corpus" => corpus::cases(pack)?,
        "std" => std_functions::cases(pack)?,
        "proposed" => terraform::proposed(pack)?,
        program if program.starts_with("programs/") => {
            programs::cases(pack, program.trim_start_matches("programs/"))?
        }
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

/// Runs one case on a thread of its own for at most ten seconds.
fn guarded(run: Box<dyn FnOnce() -> Result<(), String> + Send>) -> Result<(), String> {
    let (send, receive) = mpsc::channel();
    let thread = std::thread::Builder::new()
        .stack_size(8 * 1024 * 1024)
        .spawn(move || {
            let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
            // The receiver is gone if the case took too long.
            let _ = send.send(outcome);
        });
    if let Err(error) = thread {
        return Err(format!("no thread could be started: {error}"));
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
