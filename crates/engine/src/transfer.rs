//! Export and import of whole states with their history.
//!
//! Not here: the format of an export (`state::Exported`) and the formats of other tools
//! (`foreign`); writing files.

use std::sync::Arc;

use crate::phases::generation::RollbackTarget;
use crate::phases::run::rollback_target;
use crate::phases::{Options, Refresh, StateEdit};
use blueprint::Address;
use state::seal::{SealError, Sealer};
use state::{
    Exported, ExportedError, InstanceName, InstanceNameError, PrunedBase, Revision, Since, Store,
    StoreError,
};

use crate::error::Error;
use crate::foreign::{ExportInput, ForeignExport, Form};
use crate::frontend::Frontend;
use crate::session::Session;
use crate::stage::PlannedOperation;

/// An exported state.
#[derive(Clone, Debug)]
pub struct StateExport {
    /// The state with its history.
    pub exported: Exported,
    /// A resource with an open intent; the instance that imports the state settles it.
    pub unsettled: Option<Address>,
}

/// An exported state with its import plan.
pub struct StateImport {
    /// The plan that imports the current state without its history.
    pub planned: PlannedOperation,
    /// The state.
    pub exported: Arc<Exported>,
}

/// The result of importing a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HistoryRestored {
    /// The instance was restored with this number of operations.
    Whole {
        /// The number of operations.
        operations: usize,
    },
    /// The store has the same history under another name, and an operation cannot be in two
    /// histories. Nothing was changed.
    KnownElsewhere,
}

/// Reads an exported state and the instance that it names. `name` is the file in messages.
pub fn read_exported(
    text: &str,
    name: &str,
    sealer: &Sealer,
) -> Result<(Exported, InstanceName), Error> {
    let exported = Exported::read(text, sealer).map_err(|error| unusable(name, error))?;
    let instance = exported
        .instance
        .parse()
        .map_err(|error: InstanceNameError| Error::usage(error.to_string()))?;
    Ok((exported, instance))
}

/// Whether a text is an exported state.
pub fn is_exported(text: &str) -> bool {
    serde_json::from_str::<serde_json::Value>(text).is_ok_and(|value| value["kind"] == "state")
}

/// Returns the error for an export that cannot be read or written.
pub fn unusable(name: &str, error: ExportedError) -> Error {
    match error {
        ExportedError::Sealed {
            source: SealError::NoKey,
            ..
        } => Error::State(StoreError::NoKey),
        ExportedError::Sealed {
            source: SealError::WrongKey,
            ..
        } => Error::State(StoreError::WrongKey),
        ExportedError::Sealed {
            source: SealError::KeyMissing,
            ..
        } => Error::State(StoreError::KeyMissing),
        source => Error::Exported {
            name: name.to_owned(),
            source,
        },
    }
}

impl Session {
    /// Exports the state of an instance with its history.
    pub async fn export(&self, instance: &InstanceName) -> Result<StateExport, Error> {
        let journal = self.reading().read(instance, Since::Entry(0)).await?;
        let journal = journal.ok_or_else(|| StoreError::Unknown {
            instance: instance.clone(),
        })?;
        let unsettled = journal.clone().snapshot().open.keys().next().cloned();
        Ok(StateExport {
            exported: Exported::whole(instance, journal),
            unsettled,
        })
    }

    /// Exports an instance in the format of another tool.
    pub async fn export_as(
        &self,
        form: &dyn Form,
        instance: &InstanceName,
        reveal: bool,
    ) -> Result<ForeignExport, Error> {
        let store = self.reading();
        let snapshot = store.load(instance).await?;
        let kept = match rollback_target(store.as_ref(), instance, None).await? {
            Ok(RollbackTarget::Generation(kept)) => Some(kept),
            _ => None,
        };
        let dialects = &self.installed.dialects;
        let whole = |kept| ExportInput {
            instance,
            snapshot: &snapshot,
            kept,
            dialects,
            reveal,
        };
        kept.as_deref().and_then(|kept| form.write(&whole(kept))).ok_or_else(|| {
            Error::usage(format!(
                "`{instance}` cannot be written as `{}`: it was not deployed from a document of that language",
                form.name()
            ))
        })
    }

    /// Plans the import of an exported state.
    pub async fn stage_import_of_state(
        &self,
        instance: InstanceName,
        exported: Exported,
        frontend: &mut dyn Frontend,
    ) -> Result<StateImport, Error> {
        let exported = Arc::new(exported);
        let state_edit = Some(StateEdit::Load(exported.clone()));
        let options = Options {
            refresh: Refresh::Never,
            state_edit,
            ..Options::default()
        };
        let import = StateImport {
            planned: self.stage_state(instance, options, frontend).await?,
            exported,
        };
        if import.has_history() && import.exported.has_secret() && !self.sealer().can_seal() {
            return Err(Error::State(StoreError::NoKey));
        }
        Ok(import)
    }
}

impl StateImport {
    /// Whether the history can be imported too: the export has one, and the instance has no
    /// commits. Otherwise only the plan can be applied.
    pub fn has_history(&self) -> bool {
        !self.exported.journal.is_empty() && self.planned.staged.snapshot.revision == Revision(0)
    }

    /// Imports the state with its history, instead of applying the plan.
    pub async fn restore(&self, store: &dyn Store) -> Result<HistoryRestored, StoreError> {
        let base = self.exported.pruned.as_ref().map(PrunedBase::checkpoint);
        let operations = self.exported.operations();
        let count = operations.len();
        match store
            .restore(
                &self.planned.instance,
                self.exported.revision,
                base,
                operations,
            )
            .await
        {
            Ok(()) => Ok(HistoryRestored::Whole { operations: count }),
            Err(StoreError::OperationExists { .. }) => Ok(HistoryRestored::KnownElsewhere),
            Err(error) => Err(error),
        }
    }
}
