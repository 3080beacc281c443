//! Fuzzing: each target is a plain function from bytes, and this module runs it without an external
//! tool.
//!
//! ```text
//! corpus, seeds ──> replay ──> mutate ──> target ──┬── ok, known behaviour
//!                      ▲                           ├── ok, new behaviour ──┐
//!                      └──────── pool <────────────┼───────────────────────┘
//!                                                  └── panic ──> shrink ──> Failure
//! ```
//!
//! A target panics if an input violates its invariant, and returns a number that stands for the
//! behaviour seen. An input with a new number is mutated further. The same seed gives the same
//! inputs in the same order. No target measures time: bounds on work are asserted by counting
//! results.
//!
//! `fuzz/corpus/TARGET` keeps small inputs: former failures, and good ones to start with.
//!
//! Not here: the commands (`examples/fuzz.rs`, `cargo xtask fuzz`), the bridge to libFuzzer
//! (`fuzz/fuzz_targets`).

mod documents;
mod mutate;
mod random;
mod shrink;
mod states;
mod target;
mod texts;
mod values;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

pub use random::Random;
pub use target::{FuzzFailure, FuzzTarget, run_input};

/// All targets.
pub const TARGETS: [FuzzTarget; 12] = [
    texts::YAML,
    texts::JSON,
    texts::EXPRESSION,
    texts::LAYOUT,
    documents::DOCUMENT,
    documents::DEPLOY,
    states::PLAN_FILE,
    states::EXPORTED,
    states::JOURNAL,
    states::DATABASE,
    states::LOG,
    values::TERRAFORM_VALUE,
];

/// The target with a name.
pub fn target(name: &str) -> Option<&'static FuzzTarget> {
    TARGETS.iter().find(|target| target.name == name)
}

/// The progress of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct FuzzReport {
    /// The number of inputs of the corpus and seeds.
    pub replayed: usize,
    /// The number of mutated inputs.
    pub cases: u64,
    /// The number of inputs with a new behaviour.
    pub new: usize,
}

/// The largest number of inputs that are kept for mutation.
const POOL: usize = 4096;

/// The folder of the corpus of a target.
pub fn corpus_folder(target: &FuzzTarget) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fuzz/corpus")
        .join(target.name)
}

/// The corpus of a target: names of files and inputs, in order.
pub fn corpus(target: &FuzzTarget) -> Vec<(String, Vec<u8>)> {
    let Ok(entries) = std::fs::read_dir(corpus_folder(target)) else {
        return Vec::new();
    };
    let mut found: Vec<(String, Vec<u8>)> = entries
        .flatten()
        .filter_map(|entry| {
            Some((
                entry.file_name().to_string_lossy().into_owned(),
                std::fs::read(entry.path()).ok()?,
            ))
        })
        .collect();
    found.sort();
    found
}

/// Replays the corpus, then runs `cases` mutated inputs. Calls `progress` from time to time.
///
/// # Errors
/// The first input that violates the invariant, shrunk.
pub fn run(
    target: &FuzzTarget,
    cases: u64,
    seed: u64,
    progress: &mut dyn FnMut(&FuzzReport),
) -> Result<FuzzReport, FuzzFailure> {
    let mut report = FuzzReport::default();
    let mut seen: HashSet<u64> = HashSet::new();
    let mut pool: Vec<Vec<u8>> = Vec::new();
    let kept = corpus(target).into_iter().map(|(_, input)| input);
    for input in kept.chain((target.seeds)()) {
        report.replayed += 1;
        match run_input(target, &input) {
            Ok(number) => report.new += usize::from(seen.insert(number)),
            Err(message) => return Err(shrink::shrunk(target, input, message, 0)),
        }
        pool.push(input);
    }
    let mut random = Random::new(seed);
    for case in 1..=cases {
        let mut input = mutate::mutated(&pool, target.words, &mut random);
        input.truncate(target.longest);
        report.cases = case;
        match run_input(target, &input) {
            Ok(number) => {
                if seen.insert(number) {
                    report.new += 1;
                    if pool.len() < POOL {
                        pool.push(input);
                    } else {
                        let at = random.below(POOL);
                        pool[at] = input;
                    }
                }
            }
            Err(message) => return Err(shrink::shrunk(target, input, message, case)),
        }
        if case.is_power_of_two() || case.is_multiple_of(10_000) {
            progress(&report);
        }
    }
    Ok(report)
}
