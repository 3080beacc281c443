//! The simulation over many seeds, and a check that it finds each planted bug.
//!
//! `CYAN_SEEDS=FROM..TO` sets the seeds; `cargo xtask test` runs 10,000, a plain run of this test
//! 1,000. `CYAN_FAILURES=N` sets the number of failures after which a run stops; the default is 3.

#![expect(clippy::print_stderr, reason = "a long run reports its progress")]

use std::sync::atomic::{AtomicU64, Ordering};

use testkit::faults::PlantedBug;
use testkit::simulation::{CaseFailure, check_seed, check_seed_with_toys};

/// The number of traces unless `CYAN_SEEDS` is set.
const TRACES: u64 = 1_000;

/// The number of traces in which each planted bug must be found.
const TRACES_PER_BUG: u64 = 1_000;

fn seeds() -> std::ops::Range<u64> {
    let Ok(given) = std::env::var("CYAN_SEEDS") else {
        return 0..TRACES;
    };
    let range = given
        .split_once("..")
        .and_then(|(from, to)| Some(from.parse().ok()?..to.parse().ok()?));
    range.unwrap_or_else(|| panic!("CYAN_SEEDS must be FROM..TO, not `{given}`"))
}

/// Runs and checks the trace of a seed.
type CheckSeed = fn(u64, Option<PlantedBug>) -> Result<(), Box<CaseFailure>>;

/// Checks the traces of these seeds on all processors. Stops after about `most` failures and
/// returns them.
fn failures(
    check_seed: CheckSeed,
    seeds: std::ops::Range<u64>,
    bug: Option<PlantedBug>,
    most: usize,
) -> Vec<String> {
    let next = AtomicU64::new(seeds.start);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let check = || {
            let mut found = Vec::new();
            while found.len() < most {
                let seed = next.fetch_add(1, Ordering::Relaxed);
                if seed >= seeds.end {
                    break;
                }
                if (seed - seeds.start) % 10_000 == 9_999 {
                    eprintln!("{} traces", seed - seeds.start + 1);
                }
                found.extend(
                    check_seed(seed, bug)
                        .err()
                        .map(|failure| failure.to_string()),
                );
            }
            // The other threads can stop.
            if found.len() >= most {
                next.store(seeds.end, Ordering::Relaxed);
            }
            found
        };
        let work: Vec<_> = (0..threads).map(|_| scope.spawn(check)).collect();
        work.into_iter()
            .flat_map(|thread| thread.join().expect("a panic within a trace is caught"))
            .collect()
    })
}

fn holds(check_seed: CheckSeed) {
    let seeds = seeds();
    let count = seeds.end - seeds.start;
    let most = std::env::var("CYAN_FAILURES")
        .ok()
        .and_then(|most| most.parse().ok())
        .unwrap_or(3);
    let failures = failures(check_seed, seeds, None, most);
    assert!(
        failures.is_empty(),
        "of {count} traces these fail:\n\n{}",
        failures.join("\n\n")
    );
}

#[test]
fn every_trace_keeps_the_invariants() {
    holds(check_seed);
}

#[test]
fn every_trace_with_toy_providers_keeps_the_invariants() {
    holds(check_seed_with_toys);
}

#[test]
fn every_planted_bug_is_found() {
    let check = |bug: &PlantedBug| {
        if bug.is_about_hosted() {
            check_seed_with_toys
        } else {
            check_seed
        }
    };
    let found =
        |bug: &PlantedBug| !failures(check(bug), 0..TRACES_PER_BUG, Some(*bug), 1).is_empty();
    // Traces that show this bug are too rare; the next test has one.
    let is_random = |bug: &PlantedBug| *bug != PlantedBug::ForgetFailure;
    let missed: Vec<PlantedBug> = PlantedBug::ALL
        .into_iter()
        .filter(is_random)
        .filter(|bug| !found(bug))
        .collect();
    assert!(
        missed.is_empty(),
        "{TRACES_PER_BUG} traces do not show {missed:?}"
    );
}

/// The update takes effect and fails, so the plan finds no difference afterwards. The engine must
/// require another call.
#[test]
fn update_is_repeated_after_a_failure_although_the_verdict_is_same() {
    let script = "check-invariants
BUG
document a.yaml
    version: 2025-11-02
    resources:
      server: { type: planner/server, spec: { name: web, size: @size@ } }
write size 1
deploy a.yaml as lab
write size 2
deploy a.yaml as lab partial update server
settle a.yaml as lab
";
    let run = |bug: &str| {
        testkit::scenario::run(&script.replace("BUG", bug)).expect("the script can be run")
    };
    let (sound, defective) = (run(""), run("planted-bug forget-failure"));
    assert!(!sound.contains("violation:"), "{sound}");
    assert!(
        defective.contains("violation: lab/server #1 is planner/server"),
        "{defective}"
    );
}
