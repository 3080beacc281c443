//! Plans that need only the state: destroy, reconcile, state edits; and drift.

use crate::phases::{Drift, DriftScan, Given, Options, StateEdit};
use blueprint::Address;
use diag::{Diagnostics, Files};
use dialect::rules::Reads;
use state::{InstanceName, Snapshot};

use crate::error::Error;
use crate::findings::{Findings, raise_warnings};
use crate::frontend::Frontend;
use crate::session::Session;
use crate::stage::{Basis, PlannedOperation};

/// The differences between resources and the state.
pub struct DriftReport {
    /// The differences.
    pub scan: DriftScan,
    /// The diagnostics.
    pub found: Findings,
    /// The state.
    pub snapshot: Snapshot,
    /// Whether an operation is running, to which the open intents belong.
    pub is_held: bool,
}

impl DriftReport {
    /// The number of drifted resources and the number of vanished resources.
    pub fn counts(&self) -> [usize; 2] {
        let all = &self.scan.drifted;
        let vanished = all
            .iter()
            .filter(|drifted| drifted.drift == Drift::Vanished)
            .count();
        [all.len() - vanished, vanished]
    }
}

/// Whether plans from the state alone read the recorded objects: as the dialect of the root document
/// does. Only dialects that read on request give their resources URNs.
pub(crate) fn usual_reads(snapshot: &Snapshot) -> Reads {
    let mut of_root = snapshot.records.iter().filter(|(at, _)| at.path.is_empty());
    if of_root.any(|(_, record)| !record.origin.urn.is_empty()) {
        Reads::OnRequest
    } else {
        Reads::BeforePlans
    }
}

/// Whether a state edit loads records that have the names that plugins gave them. The plugins need
/// not be on this machine yet: nothing is asked of them.
fn loads_named(options: &Options) -> bool {
    match &options.state_edit {
        Some(StateEdit::Load(exported)) => {
            let mut records = exported.records.values();
            records.any(|record| !record.origin.urn.is_empty())
        }
        _ => false,
    }
}

impl Session {
    /// Makes a plan from the state alone, without a document.
    pub async fn stage_state(
        &self,
        instance: InstanceName,
        options: Options,
        frontend: &mut dyn Frontend,
    ) -> Result<PlannedOperation, Error> {
        let mut run = self.new_run();
        self.refuse_held(&instance, frontend).await?;
        let snapshot = self.load_state(&instance, frontend).await?;
        let options = self.plan_options(options, usual_reads(&snapshot));
        self.library.open_recorded(&snapshot).await;
        self.open_added(&options).await;
        let root = self.root_of(&snapshot);
        let mut shell = match loads_named(&options) {
            true => self.shell_without_plugins(&instance, &root)?,
            false => self.shell(&instance, &root)?,
        };
        let basis = Basis {
            document: None,
            given: Given::default(),
            options,
            snapshot,
            answers: None,
        };
        let staged = self
            .plan(basis, &mut shell, &Files::new(), &mut run, frontend)
            .await?;
        Ok(PlannedOperation {
            instance,
            staged,
            shell,
            run,
        })
    }

    /// Opens the packages of types that a state edit adds.
    async fn open_added(&self, options: &Options) {
        match &options.state_edit {
            Some(StateEdit::Import { type_name, .. }) => {
                self.library
                    .open_packages(&[type_name.package_name()])
                    .await;
            }
            Some(StateEdit::Load(exported)) => {
                let records = exported.records.values();
                let names = records.map(|record| record.type_name.package_name());
                let names: Vec<&str> = names.collect();
                self.library.open_packages(&names).await;
            }
            _ => {}
        }
    }

    /// Compares the resources of an instance with the state. If there are `targets`, compares only
    /// those.
    pub async fn drift(
        &self,
        instance: &InstanceName,
        targets: &[Address],
    ) -> Result<DriftReport, Error> {
        let store = self.reading();
        let snapshot = store.load(instance).await?;
        let holder = store.info(instance).await?.and_then(|info| info.holder);
        self.refuse_missing_catalogs(&snapshot)?;
        self.library.open_recorded(&snapshot).await;
        let shell = self.shell(instance, &self.root_of(&snapshot))?;
        let mut found = Diagnostics::new();
        let mut scan =
            crate::phases::drift(&snapshot, &self.library.catalogs, &shell, &mut found).await;
        crate::phases::retain_addresses(&mut scan, targets, &snapshot, &mut found);
        raise_warnings(self.strict, &mut found);
        Ok(DriftReport {
            scan,
            found: Findings {
                diagnostics: found,
                files: Files::new(),
            },
            snapshot,
            is_held: holder.is_some_and(|holder| holder.is_active()),
        })
    }
}
