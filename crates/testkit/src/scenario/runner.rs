//! A running scenario: its harness, the settings of the script, and the output.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::{MutexGuard, PoisonError};

use blueprint::{IndexMap, Name};
use engine::apply::ApplySettings;
use engine::{Given, Options, Staged};
use providers::fake::FakeCloud;
use state::{InstanceName, Lease};

use super::breakpoints::Monitor;
use crate::document_sources::InMemorySource;
use crate::faults::FaultPlan;
use crate::harness::{Harness, RunResult, StageResult, Toys};

/// The state of a running scenario.
pub(super) struct Runner {
    pub(super) harness: Harness,
    /// Texts of documents by name.
    pub(super) documents: HashMap<String, String>,
    /// Names between `@` in documents, and their substitutes.
    pub(super) substitutions: Vec<(String, String)>,
    pub(super) inputs: IndexMap<Name, Name>,
    /// Saved plans by name; `None` if the document could not be staged.
    pub(super) saved_plans: HashMap<String, Option<(Staged, InstanceName)>>,
    /// Leases of other operations.
    pub(super) leases: Vec<Lease>,
    /// An exported state as text.
    pub(super) exported_state: String,
    pub(super) monitor: Monitor,
    pub(super) output: String,
}

impl Runner {
    pub(super) fn new() -> Runner {
        Runner {
            harness: Harness::with_toys(PathBuf::from("/nowhere"), Toys::default()),
            documents: HashMap::new(),
            substitutions: Vec::new(),
            inputs: IndexMap::default(),
            saved_plans: HashMap::new(),
            leases: Vec::new(),
            exported_state: String::new(),
            monitor: Monitor::default(),
            output: String::new(),
        }
    }

    /// Writes an indented line of output.
    pub(super) fn line(&mut self, text: impl AsRef<str>) {
        let _ = writeln!(self.output, "    {}", text.as_ref());
    }

    /// The cloud.
    pub(super) fn world(&self) -> MutexGuard<'_, FakeCloud> {
        self.harness
            .world
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Stages a document of the script. `Err` if the script has no document of this name.
    pub(super) async fn stage(
        &mut self,
        document: &str,
        options: Options,
    ) -> Result<StageResult, String> {
        let substituted = |text: &String| {
            self.substitutions
                .iter()
                .fold(text.clone(), |text, (name, value)| {
                    text.replace(&format!("@{name}@"), value)
                })
        };
        let text = self
            .documents
            .get(document)
            .ok_or_else(|| format!("there is no document `{document}`"))?;
        let text = substituted(text);
        let path = |name: &String| {
            self.harness
                .folder
                .join(name)
                .to_string_lossy()
                .into_owned()
        };
        let texts = self
            .documents
            .iter()
            .map(|(name, text)| (path(name), substituted(text)));
        self.harness.memory_source = Some(InMemorySource::new(texts));
        let given = Given {
            text: self.inputs.clone(),
            ..Given::default()
        };
        Ok(self.harness.stage(document, &text, given, options).await)
    }

    /// Carries out a plan and checks its breakpoints.
    pub(super) async fn run(
        &mut self,
        staged: Staged,
        saved: bool,
        faults: FaultPlan,
        settings: ApplySettings,
    ) -> RunResult {
        let loses_commits = faults.loses_from.is_some();
        let expected = self
            .monitor
            .expectations(&staged, &self.harness.breakpoints);
        let mut run = self
            .harness
            .run_under(staged, saved, faults, settings)
            .await;
        let stops = self.harness.snapshot().await.stops;
        let violations = self.monitor.check(expected, &run, &stops, loses_commits);
        if self.harness.checks_invariants {
            run.violations.extend(violations);
        }
        run
    }
}
