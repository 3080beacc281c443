//! A harness whose cloud has scripted faults for single calls, for tests of retries, time limits,
//! rates and other policies of a run. The clock is virtual.
//!
//! Not here: faults of whole processes (`faults`).

mod cloud;

use std::sync::Arc;
use std::time::Duration;

use blueprint::{IndexMap, Name};
use diag::Diagnostics;
use engine::apply::{ApplySettings, Outcome};
use engine::run::{Interrupt, LEASE, Operated, Rng, RollbackPlanner, RunRequest, Shell, operate};
use engine::{Event, Given, Options, Request, Staged};
use provider::{Catalog, Provider};
use state::OperationOutcome;
use tokio::sync::mpsc;

use crate::harness::Harness;

pub use cloud::{Cloud, ScriptedFault, refusals};

/// A harness whose cloud has scripted faults and a log of its calls with their times.
pub struct PolicyHarness {
    /// The harness.
    pub harness: Harness,
    /// The cloud.
    pub cloud: Arc<Cloud>,
    /// The settings of runs.
    pub settings: ApplySettings,
    /// The time at which the harness was made.
    pub started_at: tokio::time::Instant,
    /// The random numbers of processes.
    pub rng: Rng,
    /// The planner of a rollback.
    pub rollback_planner: Option<&'static dyn RollbackPlanner>,
    /// The interrupts, each with its time after the start of the run.
    pub interrupts: Vec<(Duration, Interrupt)>,
}

/// The result of an operation.
pub struct RunOutcome {
    /// How the operation ended.
    pub operated: Operated,
    /// The events, in order.
    pub events: Vec<Event>,
    /// The duration of the operation.
    pub elapsed: Duration,
}

impl RunOutcome {
    /// The outcome. Panics if the operation did not end.
    pub fn outcome(&self) -> &Outcome {
        match &self.operated {
            Operated::Done(outcome) => outcome,
            other => panic!("it did not run to an end: {other:?}"),
        }
    }

    /// The outcome in one word; `None` if it has none.
    pub fn ended(&self) -> Option<OperationOutcome> {
        self.outcome().outcome
    }

    /// The codes and messages of the diagnostics.
    pub fn said(&self) -> Vec<String> {
        said(&self.outcome().diagnostics)
    }
}

/// The severities, codes and messages of diagnostics.
pub fn said(found: &Diagnostics) -> Vec<String> {
    found
        .iter()
        .map(|it| format!("{} {}: {}", it.severity.word(), it.code.name, it.message))
        .collect()
}

impl Default for PolicyHarness {
    fn default() -> PolicyHarness {
        PolicyHarness::new()
    }
}

impl PolicyHarness {
    /// A harness with the catalogue of the simulated cloud.
    pub fn new() -> PolicyHarness {
        PolicyHarness::with(|_| {})
    }

    /// A harness with a changed catalogue.
    pub fn with(change: impl FnOnce(&mut Catalog)) -> PolicyHarness {
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
    pub fn script_faults(&self, call: &str, accidents: impl IntoIterator<Item = ScriptedFault>) {
        self.cloud.script_faults(call, accidents);
    }

    /// The shell of a new process.
    pub fn shell(&self) -> Shell {
        let mut providers: IndexMap<Name, Arc<dyn Provider>> = IndexMap::default();
        providers.insert("test".into(), self.cloud.clone());
        Shell {
            call_records: None,
            instances: None,
            packages: None,
            providers: providers.into_iter().collect(),
            catalogs: self.harness.catalogs.clone(),
            settings: IndexMap::default(),
            places: None,
            offline: false,
            instance: self.harness.name.name().clone(),
            root: self.harness.folder.as_path().into(),
            access: Default::default(),
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
    pub async fn stage(
        &self,
        text: Option<&str>,
        options: Options,
    ) -> (Option<Staged>, Diagnostics) {
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
    pub async fn run(&self, staged: Staged) -> RunOutcome {
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
        let request = RunRequest {
            staged,
            recheck_inputs: false,
            shell: &shell,
            store: store.as_ref(),
            instance: &self.harness.name,
            id: engine::run::operation_id(&shell.rng),
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
    pub async fn apply(&self, text: Option<&str>) -> RunOutcome {
        let (staged, found) = self.stage(text, Options::default()).await;
        let staged = staged.unwrap_or_else(|| panic!("no plan: {:?}", said(&found)));
        self.run(staged).await
    }

    /// The records in the state: each address with its status, and the open intents.
    pub async fn statuses(&self) -> Vec<String> {
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
