//! Policies of a run: retries, pauses, time limits, rates, and the effect of a failure on other
//! calls. All tests use a virtual clock.

mod asking;
mod cloud;
mod pinned;
mod rates;
mod refresh;
mod retries;
mod schedule;

use std::sync::Arc;
use std::time::Duration;

use blueprint::{IndexMap, Name};
use diag::Diagnostics;
use engine::apply::{ApplySettings, Outcome};
use engine::shell::{
    Interrupt, LEASE, OperateRequest, Operated, Rng, RollbackPlanner, Shell, operate,
};
use engine::{Event, Given, Options, Request, Staged};
use provider::{Catalog, Provider};
use state::OperationOutcome;
use testkit::harness::Harness;
use tokio::sync::mpsc;

use crate::cloud::{Cloud, ScriptedFault};

/// Runs a future on one thread with a paused clock.
fn run_with_paused_clock<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build();
    runtime.expect("a runtime can be had").block_on(work)
}

/// A harness whose cloud has scripted faults and a log of its calls with their times.
struct PolicyHarness {
    harness: Harness,
    cloud: Arc<Cloud>,
    settings: ApplySettings,
    started_at: tokio::time::Instant,
    rng: Rng,
    /// The planner of a rollback.
    rollback_planner: Option<&'static dyn RollbackPlanner>,
    /// The interrupts, each with its time after the start of the run.
    interrupts: Vec<(Duration, Interrupt)>,
}

/// The result of an operation.
struct RunOutcome {
    operated: Operated,
    events: Vec<Event>,
    /// The duration of the operation.
    elapsed: Duration,
}

impl RunOutcome {
    fn outcome(&self) -> &Outcome {
        match &self.operated {
            Operated::Done(outcome) => outcome,
            other => panic!("it did not run to an end: {other:?}"),
        }
    }

    fn ended(&self) -> Option<OperationOutcome> {
        self.outcome().outcome
    }

    /// The codes and messages of the diagnostics.
    fn said(&self) -> Vec<String> {
        said(&self.outcome().diagnostics)
    }
}

fn said(found: &Diagnostics) -> Vec<String> {
    found
        .iter()
        .map(|it| format!("{} {}: {}", it.severity.word(), it.code.name, it.message))
        .collect()
}

impl PolicyHarness {
    /// A bench with the catalogue of the simulated cloud.
    fn new() -> PolicyHarness {
        PolicyHarness::with(|_| {})
    }

    /// A bench with a changed catalogue.
    fn with(change: impl FnOnce(&mut Catalog)) -> PolicyHarness {
        let mut harness = Harness::new(std::path::PathBuf::from("/nowhere"), Vec::new());
        let mut catalog = Catalog::clone(&providers::fake::whole_catalog());
        change(&mut catalog);
        let catalog = Arc::new(catalog);
        let (catalogs, functions, _) = provider::combine([catalog.clone()]);
        (harness.catalogs, harness.functions) = (Arc::new(catalogs), Arc::new(functions));
        let begun = tokio::time::Instant::now();
        let cloud = Arc::new(Cloud::new(catalog, harness.world.clone(), begun));
        PolicyHarness {
            harness,
            cloud,
            settings: ApplySettings::default(),
            started_at: begun,
            rng: Rng::seeded(7),
            rollback_planner: None,
            interrupts: Vec::new(),
        }
    }

    /// Scripts the faults of the next calls, one fault for each call. A call is `create a`,
    /// `read a`, `stable a`, ...
    fn script_faults(&self, call: &str, accidents: impl IntoIterator<Item = ScriptedFault>) {
        self.cloud.script_faults(call, accidents);
    }

    fn shell(&self) -> Shell {
        let mut providers: IndexMap<Name, Arc<dyn Provider>> = IndexMap::default();
        providers.insert("test".into(), self.cloud.clone());
        Shell {
            providers: providers.into_iter().collect(),
            catalogs: self.harness.catalogs.clone(),
            settings: IndexMap::default(),
            places: None,
            offline: false,
            instance: self.harness.name.name().clone(),
            root: self.harness.folder.as_path().into(),
            working_directory: None,
            clock: self.harness.clock.clone(),
            rng: self.rng.clone(),
            sources: Default::default(),
            http: None,
            planning: None,
            log: None,
            secrets: Default::default(),
            remarks: Default::default(),
            cancel: tokio_util::sync::CancellationToken::new(),
        }
    }

    /// Stages a document, or a destroy if there is none.
    async fn stage(&self, text: Option<&str>, options: Options) -> (Option<Staged>, Diagnostics) {
        let shell = self.shell();
        let mut found = Diagnostics::new();
        let document = match text {
            Some(text) => {
                let read = self
                    .harness
                    .read_all("policy.yaml", text, &Given::default(), true)
                    .await;
                found.append(read.diagnostics);
                Some((
                    read.documents
                        .unwrap_or_else(|| panic!("{:?}", said(&found))),
                    read.document,
                ))
            }
            None => None,
        };
        let request = Request {
            instance: self.harness.name.name().clone(),
            document,
            given: Given::default(),
            options,
            snapshot: self.harness.snapshot().await,
            catalogs: self.harness.catalogs.clone(),
            functions: self.harness.functions.clone(),
            answers: None,
            others: None,
            world: &shell,
        };
        let staged = engine::plan(request, &mut found).await;
        (staged, found)
    }

    /// Carries out a plan in a new process. After a failure it rolls back if the settings say so.
    async fn run(&self, staged: Staged) -> RunOutcome {
        let (sender, interrupts) = mpsc::unbounded_channel::<Interrupt>();
        let begun = tokio::time::Instant::now();
        for (after, interrupt) in self.interrupts.clone() {
            let sender = sender.clone();
            tokio::spawn(async move {
                tokio::time::sleep(after).await;
                // The receiver is gone if the run has ended.
                let _ = sender.send(interrupt);
            });
        }
        let mut events = Vec::new();
        let (shell, store) = (self.shell(), self.harness.store());
        let tell = |event| events.push(event);
        let request = OperateRequest {
            staged,
            recheck_inputs: false,
            shell: &shell,
            store: store.as_ref(),
            instance: &self.harness.name,
            id: engine::shell::operation_id(&shell.rng),
            who: "tester@test",
            settings: self.settings,
            rollback_planner: self.rollback_planner,
            interrupts,
        };
        let running = operate(request, tell);
        let operated = running.await;
        let elapsed = begun.elapsed();
        if matches!(operated, Operated::Aborted(_)) {
            tokio::time::sleep(LEASE * 2).await;
        }
        RunOutcome {
            operated,
            events,
            elapsed,
        }
    }

    /// Stages a document, or a destroy if there is none, and carries out the plan.
    async fn apply(&self, text: Option<&str>) -> RunOutcome {
        let (staged, found) = self.stage(text, Options::default()).await;
        let staged = staged.unwrap_or_else(|| panic!("no plan: {:?}", said(&found)));
        self.run(staged).await
    }

    /// The records in the state: each address with its status, and the open intents.
    async fn statuses(&self) -> Vec<String> {
        let snapshot = self.harness.snapshot().await;
        let mut lines: Vec<String> = snapshot
            .records
            .iter()
            .map(|(address, record)| format!("{address}: {}", record.status))
            .collect();
        lines.extend(
            snapshot
                .open
                .keys()
                .map(|address| format!("{address}: open")),
        );
        lines
    }
}
