//! Deterministic simulation: traces of an instance that are generated from a seed, run as
//! scenarios, and checked.
//!
//! A trace is a few documents and operations on them: deploys, destroys and rollbacks under faults
//! (slow, throttled, refused and lost calls, partial creates, delayed reads, commits that fail,
//! that are written although they report a failure, or that are lost, an end of the process at any
//! moment), and changes that other users make in the cloud. A trace is written as a script of
//! [`scenario`](crate::scenario), which runs it on a virtual clock and checks invariants:
//!
//! * a call is made only when its intent is durable. It reads only resources that are in the state,
//!   or that have a durable intent with the token that created them;
//! * no resource is deleted while another one uses it;
//! * an id or a token in the state leads to each resource that was created, and no token creates
//!   two;
//! * no event shows a secret;
//! * nothing behind a breakpoint starts before an operation has ended that reported the breakpoint;
//! * without further faults the instance settles: the result is that of an undisturbed run without
//!   breakpoints, and nothing is left to do;
//! * a destroy leaves no resources.
//!
//! A trace that violates an invariant is shrunk. The result is a script that reproduces the
//! violation.
//!
//! Not here: the engine; real processes and disks (the tests of the binary have those).

mod linked_document;
mod random_document;
mod trace;

use std::panic::{AssertUnwindSafe, catch_unwind};

use proptest::strategy::{BoxedStrategy, Strategy as _, ValueTree as _};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::faults::{PlantedBug, mix};
use trace::{Trace, trace, trace_with_toys};

pub use linked_document::{LinkedDocument, linked_document};
pub use random_document::{
    Condition, RandomDocument, RandomResource, ResourceKind, edit, random_document, with_toys,
};

/// The largest number of tries to shrink a trace.
const TRIES: usize = 400;

/// A trace that violates an invariant.
#[derive(Clone, Debug)]
pub struct CaseFailure {
    /// The seed of the trace.
    pub seed: u64,
    /// The shrunk trace as a script for `testkit::scenario`.
    pub script: String,
    /// The output of the script.
    pub output: String,
    /// The violated invariants.
    pub violations: Vec<String>,
}

impl std::fmt::Display for CaseFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "# seed {}", self.seed)?;
        for violation in &self.violations {
            writeln!(f, "# {violation}")?;
        }
        writeln!(f, "{}", self.script)?;
        self.output
            .lines()
            .try_for_each(|line| writeln!(f, "# {line}"))
    }
}

/// Runs and checks the trace of a seed, with a bug in the engine if one is given.
///
/// # Errors
/// The violated invariants, with the shrunk trace.
pub fn check_seed(seed: u64, bug: Option<PlantedBug>) -> Result<(), Box<CaseFailure>> {
    check_one(seed, trace().boxed(), bug)
}

/// Runs and checks the trace of a seed with resources of the toy providers.
///
/// # Errors
/// The violated invariants, with the shrunk trace.
pub fn check_seed_with_toys(seed: u64, bug: Option<PlantedBug>) -> Result<(), Box<CaseFailure>> {
    check_one(seed, trace_with_toys().boxed(), bug)
}

fn check_one(
    seed: u64,
    traces: BoxedStrategy<Trace>,
    bug: Option<PlantedBug>,
) -> Result<(), Box<CaseFailure>> {
    let mut bytes = [0; 32];
    for (at, chunk) in bytes.chunks_mut(8).enumerate() {
        chunk.copy_from_slice(&mix(seed.wrapping_add(at as u64)).to_le_bytes());
    }
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let Ok(mut tree) = traces.new_tree(&mut runner) else {
        return Ok(());
    };
    let check = |trace: &Trace| {
        let script = trace.script(bug);
        let (output, violations) = run_script(&script);
        if violations.is_empty() {
            None
        } else {
            Some(CaseFailure {
                seed,
                script,
                output,
                violations,
            })
        }
    };
    let Some(mut smallest) = check(&tree.current()) else {
        return Ok(());
    };
    for _ in 0..TRIES {
        if !tree.simplify() {
            break;
        }
        loop {
            match check(&tree.current()) {
                Some(failure) => {
                    smallest = failure;
                    break;
                }
                None if !tree.complicate() => return Err(Box::new(smallest)),
                None => {}
            }
        }
    }
    Err(Box::new(smallest))
}

/// Runs a script. Returns the output of the script, and the violations in the output.
fn run_script(script: &str) -> (String, Vec<String>) {
    let output = match catch_unwind(AssertUnwindSafe(|| crate::scenario::run(script))) {
        Ok(Ok(output)) => output,
        Ok(Err(error)) => format!("    violation: the script cannot be run: {error}\n"),
        Err(panic) => {
            let message = panic.downcast_ref::<String>().map(String::as_str);
            let message = message.or_else(|| panic.downcast_ref::<&str>().copied());
            format!(
                "    violation: a panic: {}\n",
                message.unwrap_or("without a message")
            )
        }
    };
    let violations = output
        .lines()
        .filter_map(|line| line.trim().strip_prefix("violation: "));
    let violations = violations.map(str::to_owned).collect();
    (output, violations)
}
