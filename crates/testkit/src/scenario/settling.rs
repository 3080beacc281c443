//! Deploying without faults until nothing is left to do, and comparing the result with an
//! undisturbed deploy.

use engine::Options;
use engine::run::Operated;
use state::{OperationOutcome, StatusWord};

use super::runner::Runner;
use crate::faults::FaultPlan;
use crate::harness::{Harness, settings};

/// The largest number of runs that may end before everything is ready.
const RUNS: u32 = 4;

/// The largest number of runs that may end at breakpoints.
const STOPS: u32 = 60;

impl Runner {
    /// Deploys a document, or destroys, without faults until nothing is left to do. Then checks the
    /// result.
    pub(super) async fn settle(&mut self, document: Option<&str>) -> Result<(), String> {
        // Leases expire, and reads are no longer delayed.
        tokio::time::sleep(engine::run::LEASE * 2).await;
        let (mut runs, mut stops) = (RUNS, STOPS);
        while runs > 0 && stops > 0 {
            let stage = match document {
                Some(document) => self.stage(document, Options::default()).await?,
                None => self.harness.stage_destroy(Options::default()).await,
            };
            let staged = match document {
                Some(_) => self.show_stage(stage),
                None => stage.staged,
            };
            let Some(staged) = staged else { break };
            let run = self
                .run(
                    staged,
                    false,
                    FaultPlan::default(),
                    settings(Some(2), false),
                )
                .await;
            self.show_run(&run);
            match run.outcome() {
                Some(outcome) if !outcome.stops.is_empty() => stops -= 1,
                _ => runs -= 1,
            }
            let settled = match &run.operated {
                Some(Operated::Done(outcome)) => {
                    matches!(
                        outcome.outcome,
                        Some(OperationOutcome::Ready | OperationOutcome::Gone)
                    )
                }
                Some(Operated::Nothing) => true,
                _ => false,
            };
            if settled {
                self.compare_with_undisturbed(document).await?;
                self.check_records().await;
                return self.check_nothing_left(document).await;
            }
        }
        self.line("violation: it does not settle");
        Ok(())
    }

    /// Compares the cloud with that of a harness without faults.
    async fn compare_with_undisturbed(&mut self, document: Option<&str>) -> Result<(), String> {
        let mut twin = Harness::with_toys(
            self.harness.folder.clone(),
            self.harness.toys().unwrap_or_default(),
        );
        twin.name = self.harness.name.clone();
        std::mem::swap(&mut self.harness, &mut twin);
        if let Some(document) = document {
            // A resource that is broken after its create is repaired by a second run.
            for _ in 0..RUNS {
                let stage = self.stage(document, Options::default()).await?;
                let Some(staged) = self.show_stage(stage) else {
                    break;
                };
                let run = self
                    .harness
                    .run(staged, false, Vec::new(), settings(Some(1), false))
                    .await;
                if run
                    .outcome()
                    .is_none_or(|outcome| outcome.outcome != Some(OperationOutcome::Failed))
                {
                    break;
                }
            }
        }
        std::mem::swap(&mut self.harness, &mut twin);
        let (mut actual, expected) = (self.harness.cloud(), twin.cloud());
        let own = format!("{}/", self.harness.name.as_str());
        actual.retain(|place, _| place.starts_with(&own));
        for (place, resource) in &actual {
            match expected.get(place) {
                None => self.line(format!("violation: {place} exists in the end: {resource}")),
                Some(other) if other != resource => {
                    self.line(format!("violation: {place} is {resource}, not {other}"))
                }
                Some(_) => {}
            }
        }
        for place in expected.keys().filter(|place| !actual.contains_key(*place)) {
            self.line(format!("violation: {place} does not exist in the end"));
        }
        let (existing, known) = self.harness.ids().await;
        if existing != known {
            self.line(format!(
                "violation: the cloud has {existing:?}, the state has {known:?}"
            ));
        }
        Ok(())
    }

    /// Checks that the state has neither open calls nor unfinished records.
    async fn check_records(&mut self) {
        let snapshot = self.harness.snapshot().await;
        for (address, _) in &snapshot.open {
            self.line(format!("violation: a call of {address} is still open"));
        }
        for (address, record) in &snapshot.records {
            if record.deposed.is_some()
                || record.token.is_some()
                || record.attempt.is_some()
                || record.status.word != StatusWord::Ready
            {
                self.line(format!("violation: {address} is still {}", record.status));
            }
        }
    }

    /// Checks that a further plan has no steps.
    async fn check_nothing_left(&mut self, document: Option<&str>) -> Result<(), String> {
        let Some(document) = document else {
            return Ok(());
        };
        let stage = self.stage(document, Options::default()).await?;
        match self.show_stage(stage) {
            Some(staged) if !staged.plan.is_empty() => {
                self.line("violation: something is left to do");
                self.show_plan(&staged);
            }
            Some(_) => {}
            None => self.line("violation: it cannot be planned again"),
        }
        Ok(())
    }
}
