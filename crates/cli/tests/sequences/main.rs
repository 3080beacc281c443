//! Recorded sequences of Pulumi's command line (`sequences/lifecycle.json` of the conformance pack),
//! run with the binary against a provider that is reached by gRPC.
//!
//! A case counts if every step ends as recorded, announces the same operations, makes the same calls
//! and leaves the same objects. `CYAN_SEQUENCE` names the cases to run.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]
#![expect(clippy::print_stdout, reason = "the report of the pack")]

mod config;
mod own;
#[path = "../binary/place.rs"]
#[expect(dead_code, reason = "the binary's tests use the rest")]
mod place;
mod played;
mod real;
mod runner;
mod sim;
mod state;
mod steps;

/// Machine output is checked against its schema by the binary's tests.
mod machine {
    pub(crate) fn fits(_: &[&str], _: &str) {}
}

use std::path::PathBuf;

/// The minimum of passing cases. It is never lowered.
const THRESHOLD: usize = 82;

/// The minimum of cases whose exported state is the recorded one too.
const THRESHOLD_WITH_STATE: usize = 74;

/// The folder of the pack that the environment names.
fn named_pack() -> Option<PathBuf> {
    std::env::var_os("CYAN_CONFORMANCE_PULUMI").map(PathBuf::from)
}

/// The folder of the pack. `None`, with a message, if it does not stand beside the project.
fn pack() -> Option<PathBuf> {
    let named = named_pack();
    let beside =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/conformance/pulumi");
    let pack = named.clone().unwrap_or(beside);
    let file = pack.join("sequences/lifecycle.json");
    if !file.exists() {
        assert!(named.is_none(), "{} is missing", file.display());
        println!("skipped: {} is not there", file.display());
        return None;
    }
    Some(pack)
}

#[test]
fn recorded_sequences_end_as_recorded() {
    let Some(pack) = pack() else { return };
    let file = pack.join("sequences/lifecycle.json");
    let Some(sim) = sim::Sim::start(&pack.join("sequences/sim-schema.json")) else {
        return;
    };
    let chosen = std::env::var("CYAN_SEQUENCE").unwrap_or_default();
    let tally = runner::run(&file, &chosen, sim);
    for failure in &tally.failures {
        println!("{failure}");
    }
    let passed = tally.all - tally.failures.len();
    for difference in &tally.states {
        println!("{difference}");
    }
    println!(
        "pulumi conformance sequences/lifecycle: {passed} of {}",
        tally.all
    );
    let with_state = passed - tally.states.len();
    println!(
        "pulumi conformance sequences/lifecycle with the state: {with_state} of {}",
        tally.all
    );
    if named_pack().is_none() && chosen.is_empty() {
        assert!(passed >= THRESHOLD, "{passed} pass, {THRESHOLD} did before");
        assert!(
            with_state >= THRESHOLD_WITH_STATE,
            "{with_state} pass with the state, {THRESHOLD_WITH_STATE} did before"
        );
    }
}
