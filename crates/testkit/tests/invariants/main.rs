//! The invariants of ARCHITECTURE.md, each over many random documents and faults. The seed of a
//! failure is printed and saved.

mod answers;
mod catalogues;
mod commits;
mod configurations;
mod crashes;
mod linear;
mod links;
mod order;
mod plans;
mod secrets;
mod sessions;
mod texts;

use std::collections::{BTreeMap, BTreeSet};

use engine::run::Operated;
use engine::{Given, Options};
use providers::fake::ScriptedFault;
use state::OperationOutcome;
use testkit::harness::{
    Harness, RunResult, StageResult, run_with_paused_clock, session_without_settings, settings,
    shell_without_faults,
};

/// The configuration for a number of cases with a fixed seed, so that a run can be repeated.
fn cases(count: u32) -> proptest::test_runner::Config {
    proptest::test_runner::Config {
        cases: count,
        failure_persistence: None,
        rng_seed: proptest::test_runner::RngSeed::Fixed(20_230_420),
        ..proptest::test_runner::Config::default()
    }
}

fn harness() -> Harness {
    Harness::new(std::path::PathBuf::from("/nowhere"), Vec::new())
}

async fn stage(harness: &Harness, text: &str) -> StageResult {
    harness
        .stage("main.yaml", text, Given::default(), Options::default())
        .await
}

/// Stages and applies a document, or a destroy if there is none, under faults.
async fn apply(
    harness: &Harness,
    text: Option<&str>,
    parallel: usize,
    faults: Vec<ScriptedFault>,
) -> RunResult {
    let stage = match text {
        Some(text) => stage(harness, text).await,
        None => harness.stage_destroy(Options::default()).await,
    };
    let said: Vec<_> = stage
        .diagnostics
        .iter()
        .map(|it| format!("{}: {}", it.code.name, it.message))
        .collect();
    let Some(staged) = stage.staged else {
        panic!("no plan: {said:?}\n{}", text.unwrap_or_default())
    };
    harness
        .run(staged, false, faults, settings(Some(parallel), false))
        .await
}

/// Stages and applies a document that must succeed.
async fn apply_successfully(harness: &Harness, text: Option<&str>, parallel: usize) -> RunResult {
    let run = apply(harness, text, parallel, Vec::new()).await;
    let well = match &run.operated {
        Some(Operated::Done(outcome)) => {
            matches!(
                outcome.outcome,
                Some(OperationOutcome::Ready | OperationOutcome::Gone)
            )
        }
        other => matches!(other, Some(Operated::Nothing)),
    };
    assert!(well, "{:?}\n{}", run.operated, text.unwrap_or("(destroy)"));
    run
}

/// The resources in the cloud by place, with ids and hashes replaced by places.
fn cloud(harness: &Harness) -> BTreeMap<String, String> {
    harness.cloud()
}

/// The ids of all resources in the cloud, and those in the state.
async fn ids(harness: &Harness) -> (BTreeSet<String>, BTreeSet<String>) {
    harness.ids().await
}
