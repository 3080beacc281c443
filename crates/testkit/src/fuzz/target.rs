//! A fuzz target and its result.

use std::hash::{Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// An invariant over inputs.
#[derive(Clone, Copy)]
pub struct FuzzTarget {
    /// The name of the target and of its folder in the corpus.
    pub name: &'static str,
    /// The invariant in a sentence.
    pub invariant: &'static str,
    /// Panics if the input violates the invariant. Otherwise returns a number that stands for the
    /// behaviour seen.
    pub run: fn(&[u8]) -> u64,
    /// Inputs to start with, in addition to the corpus.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// Words with a meaning to the target, for mutations.
    pub words: &'static [&'static str],
    /// The number of cases in the test suite.
    pub cases: u64,
    /// The largest input in bytes. Longer inputs are cut.
    pub longest: usize,
}

/// An input that violates an invariant.
#[derive(Clone, Debug)]
pub struct FuzzFailure {
    /// The shrunk input.
    pub input: Vec<u8>,
    /// The message of the panic.
    pub message: String,
    /// The number of the case in the run; 0 for the corpus.
    pub case: u64,
}

/// The largest text in bytes.
pub(super) const TEXT: usize = 64 << 10;

/// The largest file in bytes.
pub(super) const FILE: usize = 1 << 20;

/// Runs a target on an input. Returns the number that stands for the behaviour, or the message of
/// the panic.
pub fn run_input(target: &FuzzTarget, input: &[u8]) -> Result<u64, String> {
    catch_unwind(AssertUnwindSafe(|| (target.run)(input))).map_err(|payload| {
        let text = payload
            .downcast_ref::<&str>()
            .map(|text| (*text).to_owned());
        text.or_else(|| payload.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "a panic without a message".to_owned())
    })
}

/// A hash that is the same in every run.
pub(super) fn number(value: impl Hash) -> u64 {
    let mut hasher = Fnv(0xcbf2_9ce4_8422_2325);
    value.hash(&mut hasher);
    hasher.finish()
}

struct Fnv(u64);

impl Hasher for Fnv {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

/// The number of bits of a count, so that small differences of a count are not a new behaviour.
pub(super) fn roughly(count: usize) -> u32 {
    usize::BITS - count.leading_zeros()
}
