//! Carrying out plans in processes that may fail.

use engine::apply::{ApplySettings, OnFailure, Outcome};
use engine::run::{Interrupt, Operated};
use engine::{Event, OperateRequest, PlannedOperation, StageRequest, Staged};
use providers::fake::{self, FakeProvider, ScriptedFault};
use state::{Lease, OperationOutcome};
use tokio::sync::mpsc;

use super::Harness;
use super::session::Reports;
use crate::faults::{FaultPlan, SimulatedProcess};

/// The name of the user who runs operations.
const WHO: &str = "tester@test";

/// The result of carrying out a plan.
pub struct RunResult {
    /// The result of the operation; `None` if the process ended early.
    pub operated: Option<Operated>,
    /// The events in their order.
    pub events: Vec<Event>,
    /// The calls of the provider `test`.
    pub journal: fake::EventLog,
    /// Violated invariants, each in a sentence; empty unless [`Harness::checks_invariants`] is set.
    pub violations: Vec<String>,
}

impl RunResult {
    /// The outcome; `None` if the run did not reach its end.
    pub fn outcome(&self) -> Option<&Outcome> {
        match &self.operated {
            Some(Operated::Done(outcome)) => Some(outcome),
            _ => None,
        }
    }
}

impl Harness {
    /// Carries out a plan in a new process under call faults. `saved`: the plan was read from a
    /// file.
    pub async fn run(
        &self,
        staged: Staged,
        saved: bool,
        faults: Vec<ScriptedFault>,
        settings: ApplySettings,
    ) -> RunResult {
        self.run_under(staged, saved, FaultPlan::of(faults), settings)
            .await
    }

    /// Carries out a plan in a new process under a fault plan.
    pub async fn run_under(
        &self,
        staged: Staged,
        saved: bool,
        fault_plan: FaultPlan,
        settings: ApplySettings,
    ) -> RunResult {
        let process = SimulatedProcess::new(fault_plan, self.planted_bug);
        let (session, provider) = self.session_of(&process);
        let shell = session
            .shell(&self.name, &self.whole_folder())
            .unwrap_or_else(|error| panic!("{error}"));
        // Recorded pauses are drawn after the ids of operations that began.
        let begins = !staged.plan.writes_nothing(&staged.snapshot);
        let run = engine::FrontendRun::new(
            if begins {
                &self.random.rng
            } else {
                &self.random.ids
            },
            &self.clock,
        );
        let planned = PlannedOperation {
            instance: self.name.clone(),
            staged,
            shell,
            run,
        };
        let mut reports = Reports::default();
        let (send, interrupts) = mpsc::unbounded_channel::<Interrupt>();
        let operated = {
            let request = OperateRequest {
                recheck_inputs: saved,
                settings,
                interrupts,
                ..OperateRequest::of(planned, WHO)
            };
            // Boxed, because the runner of scenarios nests it in further futures.
            let running = Box::pin(session.operate(request, &mut reports));
            self.until_end(&process, send, running).await
        };
        self.conclude(&process, &provider, operated, reports.events)
            .await
    }

    /// Stages a document and carries the plan out, all in one session of one process under a fault
    /// plan.
    ///
    /// # Errors
    /// If there is no plan, with the diagnostics.
    pub async fn deploy_in_session(
        &self,
        name: &str,
        text: &str,
        fault_plan: FaultPlan,
        settings: ApplySettings,
    ) -> Result<RunResult, String> {
        let process = SimulatedProcess::new(fault_plan, self.planted_bug);
        let (session, provider) = self.session_of(&process);
        let mut reports = Reports::default();
        let (send, interrupts) = mpsc::unbounded_channel();
        let mut request = StageRequest::new(self.source(name, text));
        request.instance = Some(self.name.clone());
        let mut staging_failed = None;
        let running = async {
            match session.stage(request, &mut reports).await {
                Ok(staged) => {
                    let request = OperateRequest::of(staged.planned, WHO);
                    session
                        .operate(
                            OperateRequest {
                                settings,
                                interrupts,
                                ..request
                            },
                            &mut reports,
                        )
                        .await
                }
                Err(error) => {
                    staging_failed = Some(error);
                    Operated::Nothing
                }
            }
        };
        let operated = self.until_end(&process, send, running).await;
        if let Some(error) = staging_failed {
            let found: Vec<&str> = reports
                .diagnostics
                .iter()
                .map(|one| one.message.as_str())
                .collect();
            return Err(format!("{error}: {}", found.join("; ")));
        }
        Ok(self
            .conclude(&process, &provider, operated, reports.events)
            .await)
    }

    /// Waits for the result of an operation; `None` if its process ends earlier.
    async fn until_end(
        &self,
        process: &SimulatedProcess,
        interrupts: mpsc::UnboundedSender<Interrupt>,
        running: impl Future<Output = Operated>,
    ) -> Option<Operated> {
        let interrupted = async {
            if let Some(after) = self.interrupt_after {
                tokio::time::sleep(after).await;
                let _ = interrupts.send(Interrupt::Graceful);
            }
            std::future::pending::<()>().await;
        };
        tokio::select! {
            biased;
            () = process.ended() => None,
            () = interrupted => None,
            operated = running => Some(operated).filter(|_| !process.has_ended() && !process.loses_commits()),
        }
    }

    /// The result of a process, with the invariants that it violated.
    async fn conclude(
        &self,
        process: &SimulatedProcess,
        provider: &FakeProvider,
        operated: Option<Operated>,
        events: Vec<Event>,
    ) -> RunResult {
        if matches!(operated, None | Some(Operated::Aborted(_))) {
            // The next run is a new process. It starts after the lease has expired and when reads
            // are no longer delayed.
            tokio::time::sleep(engine::run::LEASE * 2).await;
        }
        let ended = match &operated {
            Some(Operated::Done(outcome)) => outcome.outcome,
            _ => None,
        };
        let done = matches!(
            ended,
            Some(OperationOutcome::Ready | OperationOutcome::Gone)
        );
        let mut violations = process.violations(done);
        if self.checks_invariants && !process.loses_commits() {
            violations.extend(self.orphaned_resources().await);
        }
        RunResult {
            operated,
            events,
            journal: provider.journal(),
            violations,
        }
    }

    /// Takes the lease of the instance for another operation; `None` if it is taken.
    pub async fn take_lease(&self) -> Option<Lease> {
        let long = std::time::Duration::from_secs(86_400);
        self.store()
            .lease(&self.name, "other@test", long)
            .await
            .ok()
    }
}

/// Settings for a run: calls at once (`None` for the default), and whether independent steps go on
/// after a failure.
pub fn settings(parallelism: Option<usize>, keep_going: bool) -> ApplySettings {
    let mut settings = ApplySettings::default();
    if let Some(parallelism) = parallelism {
        settings.parallelism = parallelism;
    }
    if keep_going {
        settings.on_failure = OnFailure::KeepGoing;
    }
    settings
}
