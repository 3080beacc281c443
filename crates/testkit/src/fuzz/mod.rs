//! Looking for inputs that break a law: each target is a plain function from bytes, driven here without any tool.
//!
//! ```text
//! kept corpus, seeds ──> replay ──> mutate ──> target ──┬── ok, seen before
//!                           ▲                           ├── ok, something new ──┐
//!                           └──────── pool <────────────┼───────────────────────┘
//!                                                       └── panic ──> shrink ──> Failure
//! ```
//!
//! A target panics where a law is broken, and gives a number for what it saw; an input whose number is new is mutated
//! further. From the same seed the same inputs come, in the same order. Nothing is measured in time: that work is bounded
//! is asserted by counting what comes out.
//!
//! `fuzz/corpus/TARGET` keeps small inputs: those that once broke something, and some that a run should begin with.
//! Not here: the commands (`examples/fuzz.rs`, `cargo xtask fuzz`), the bridge to libFuzzer (`fuzz/fuzz_targets`).

mod documents;
mod mutate;
mod random;
mod shrink;
mod states;
mod texts;

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

pub use random::Random;

/// A law over inputs.
#[derive(Clone, Copy)]
pub struct Target {
    /// Its name, and that of its folder in the corpus.
    pub name: &'static str,
    /// What it holds, in a sentence.
    pub law: &'static str,
    /// Panics where the law is broken; otherwise a number for what was seen.
    pub run: fn(&[u8]) -> u64,
    /// What a run begins with, beside the kept corpus.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// Words that mean something to it.
    pub words: &'static [&'static str],
    /// So many cases in the suite.
    pub cases: u64,
    /// Longer inputs are cut.
    pub longest: usize,
}

/// Every target.
pub const TARGETS: [Target; 11] = [
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
];

/// The target of that name.
pub fn target(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}

/// An input that breaks a law.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The shrunk input.
    pub input: Vec<u8>,
    /// What the panic said.
    pub said: String,
    /// Which case of the run found it; 0 for one of the corpus.
    pub case: u64,
}

/// What a run did.
#[derive(Clone, Copy, Debug, Default)]
pub struct Report {
    /// Inputs of the corpus and seeds.
    pub replayed: usize,
    /// Mutated inputs.
    pub cases: u64,
    /// Inputs that showed something new.
    pub new: usize,
}

/// Longer texts are cut.
const TEXT: usize = 64 << 10;

/// Longer files are cut.
const FILE: usize = 1 << 20;

/// So many inputs that showed something new are kept for mutation.
const POOL: usize = 4096;

/// The folder of the kept corpus of a target.
pub fn corpus_folder(target: &Target) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target.name)
}

/// The kept corpus of a target, by name of file.
pub fn corpus(target: &Target) -> Vec<(String, Vec<u8>)> {
    let Ok(entries) = std::fs::read_dir(corpus_folder(target)) else { return Vec::new() };
    let mut found: Vec<(String, Vec<u8>)> = entries
        .flatten()
        .filter_map(|entry| Some((entry.file_name().to_string_lossy().into_owned(), std::fs::read(entry.path()).ok()?)))
        .collect();
    found.sort();
    found
}

/// Runs a target on an input: the number it gave, or what the panic said.
pub fn tried(target: &Target, input: &[u8]) -> Result<u64, String> {
    catch_unwind(AssertUnwindSafe(|| (target.run)(input))).map_err(|payload| {
        let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
        text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic without words".to_owned())
    })
}

/// Replays the corpus, then tries so many mutated inputs; `told` hears how many have been tried, now and then.
///
/// # Errors
/// The first input that breaks the law, shrunk.
pub fn run(target: &Target, cases: u64, seed: u64, told: &mut dyn FnMut(&Report)) -> Result<Report, Failure> {
    let mut report = Report::default();
    let mut seen: HashSet<u64> = HashSet::new();
    let mut pool: Vec<Vec<u8>> = Vec::new();
    let kept = corpus(target).into_iter().map(|(_, input)| input);
    for input in kept.chain((target.seeds)()) {
        report.replayed += 1;
        match tried(target, &input) {
            Ok(number) => report.new += usize::from(seen.insert(number)),
            Err(said) => return Err(shrink::shrunk(target, input, said, 0)),
        }
        pool.push(input);
    }
    let mut random = Random::new(seed);
    for case in 1..=cases {
        let mut input = mutate::mutated(&pool, target.words, &mut random);
        input.truncate(target.longest);
        report.cases = case;
        match tried(target, &input) {
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
            Err(said) => return Err(shrink::shrunk(target, input, said, case)),
        }
        if case.is_power_of_two() || case.is_multiple_of(10_000) {
            told(&report);
        }
    }
    Ok(report)
}

/// A number for a thing that can be hashed, the same in every run.
fn number(thing: impl std::hash::Hash) -> u64 {
    use std::hash::Hasher as _;
    let mut hasher = Fnv(0xcbf2_9ce4_8422_2325);
    thing.hash(&mut hasher);
    hasher.finish()
}

struct Fnv(u64);

impl std::hash::Hasher for Fnv {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

/// Roughly how many: for numbers of what was seen, so that one more of the same is nothing new.
fn roughly(count: usize) -> u32 {
    usize::BITS - count.leading_zeros()
}
