//! The invariants of ARCHITECTURE.md, each over many random documents and faults. The seed of a
//! failure is printed and saved.

mod answers;
mod catalogues;
mod commits;
mod configurations;
mod crashes;
mod leases;
mod linear;
mod links;
mod order;
mod plans;
mod provider_messages;
mod secrets;
mod sessions;
mod texts;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use blueprint::{IndexMap, Name};
use engine::shell::{Operated, Rng, Shell};
use engine::{Given, Options};
use provider::Provider;
use providers::fake::{self, FakeOptions, ScriptedFault};
use state::OperationOutcome;
use testkit::harness::{Harness, RunResult, StageResult, settings};

/// The configuration for a number of cases with a fixed seed, so that a run can be repeated.
fn cases(count: u32) -> proptest::test_runner::Config {
    proptest::test_runner::Config {
        cases: count,
        failure_persistence: None,
        rng_seed: proptest::test_runner::RngSeed::Fixed(20_230_420),
        ..proptest::test_runner::Config::default()
    }
}

/// Runs a future on one thread with a paused clock.
fn run_with_paused_clock<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build();
    runtime.expect("a runtime can be had").block_on(work)
}

fn harness() -> Harness {
    Harness::new(std::path::PathBuf::from("/nowhere"), Vec::new())
}

/// A session of a provider in a shell, without settings.
async fn session(shell: &Shell, namespace: &str) -> Arc<dyn provider::Session> {
    let with = provider::Configuration {
        name: namespace.into(),
        settings: blueprint::Value::Null,
        former: blueprint::Value::Null,
        offline: false,
        root: shell.root.clone(),
        log: Arc::new(|_| {}),
    };
    let provider = shell.providers.get(namespace).expect("it is set").clone();
    provider
        .configure(with)
        .await
        .expect("it needs no settings")
        .session
}

/// The shell of a process on the world of a harness.
fn shell(harness: &Harness) -> Shell {
    let provider = fake::provider(FakeOptions {
        world: Some(harness.world.clone()),
        ..FakeOptions::default()
    });
    let mut providers: IndexMap<Name, Arc<dyn Provider>> = IndexMap::default();
    providers.insert("test".into(), Arc::new(provider));
    Shell {
        providers: providers.into_iter().collect(),
        catalogs: harness.catalogs.clone(),
        settings: IndexMap::default(),
        places: None,
        offline: false,
        instance: harness.name.name().clone(),
        root: harness.folder.as_path().into(),
        working_directory: harness.working_directory.clone(),
        clock: harness.clock.clone(),
        rng: Rng::seeded(u64::from(u32::MAX)),
        sources: Default::default(),
        http: None,
        planning: None,
        log: None,
        secrets: Default::default(),
        remarks: Default::default(),
        cancel: tokio_util::sync::CancellationToken::new(),
    }
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
