//! The entries of a journal, which an operation writes.

use std::sync::Arc;

use blueprint::{Address, DeclarationSite, DeleteMode, IndexMap, Name, TypeId, Value};
use serde::{Deserialize, Serialize};

use crate::declared::Declared;
use crate::instance::Generation;
use crate::record::{Memoised, Record};
use crate::status::StatusOp;
use crate::stop::Stops;

/// One run that changes an instance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Operation {
    /// The unique id of the operation.
    pub id: Name,
    /// The kind of run.
    pub kind: OperationKind,
    /// The user who started it, as `user@host`.
    pub who: Name,
    /// The start time: seconds since 1970 UTC.
    pub began: i64,
    /// The document, relative to the state; empty for a destroy.
    pub document: Name,
    /// The memoised values that are in use from now on, by call site. They survive a run that is
    /// cut off.
    #[serde(
        rename = "remembered",
        default,
        skip_serializing_if = "IndexMap::is_empty"
    )]
    pub memoised: IndexMap<Name, Memoised>,
    /// The breakpoints, and the actions that are under way from now on; `None` leaves both
    /// unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stops: Option<Stops>,
    /// The documents and inputs from which the generation can be planned again, sealed where
    /// secret. Null for a destroy.
    pub desired: Value,
}

impl Operation {
    /// Whether the operation contains a secret.
    pub fn has_secret(&self) -> bool {
        self.desired.has_secret()
            || self
                .memoised
                .values()
                .any(|memoised| memoised.value.has_secret())
    }
}

/// The kind of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OperationKind {
    /// The first deployment, or one after a destroy.
    Deploy,
    /// A later deployment.
    Update,
    /// Deletes all resources.
    Destroy,
    /// Returns to an earlier generation.
    Rollback,
    /// Settles interrupted and drifted resources.
    Reconcile,
    /// Changes the state alone: moves, imports, accepted drift.
    State,
}

impl OperationKind {
    /// The word: `deploy`, `update`, `destroy`, ...
    pub fn word(self) -> &'static str {
        match self {
            OperationKind::Deploy => "deploy",
            OperationKind::Update => "update",
            OperationKind::Destroy => "destroy",
            OperationKind::Rollback => "rollback",
            OperationKind::Reconcile => "reconcile",
            OperationKind::State => "state",
        }
    }
}

/// The result of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OperationOutcome {
    /// Every step was done.
    Ready,
    /// At least one step failed.
    Failed,
    /// A person stopped it.
    Interrupted,
    /// All resources are deleted.
    Gone,
}

impl OperationOutcome {
    /// The word: `ready`, `failed`, `interrupted` or `gone`.
    pub fn word(self) -> &'static str {
        match self {
            OperationOutcome::Ready => "ready",
            OperationOutcome::Failed => "failed",
            OperationOutcome::Interrupted => "interrupted",
            OperationOutcome::Gone => "gone",
        }
    }
}

/// One immutable item of an instance's journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The step of the plan it belongs to; 0 for the operation itself.
    pub step: u32,
    /// Its content.
    pub kind: EntryKind,
}

/// The kinds of entries.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EntryKind {
    /// An operation begins. Always the first entry of an operation, in a commit of its own or with
    /// its first intents.
    Began(Arc<Operation>),
    /// A call follows, unless the operation stops before it. Committed before the call.
    Intent(Arc<Intent>),
    /// A call has been answered, or the state was changed without one. Committed before a call that
    /// relies on it: the intent of that call is in the same commit or a later one.
    Outcome(Arc<Outcome>),
    /// The operation is over. Makes a generation.
    Finished(Arc<Finished>),
}

/// A call that is about to be made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Intent {
    /// The resource.
    pub address: Address,
    /// The action.
    pub op: StatusOp,
    /// Whether the call is on the deposed object.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deposed: bool,
    /// The token of the call.
    pub token: Name,
    /// The provider's id of the resource; empty for a create.
    #[serde(
        default,
        deserialize_with = "crate::hidden::deserialize_id",
        skip_serializing_if = "str::is_empty"
    )]
    pub id: Name,
    /// Whether the id repeats a secret, so that it must be sealed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hides_id: bool,
    /// Whether the object stays when the resource is no longer declared.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub retain: bool,
    /// Whether the resource must never be deleted or replaced.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub protect: bool,
    /// How the object is deleted, as [`Record::delete_mode`](crate::Record::delete_mode).
    #[serde(default, skip_serializing_if = "DeleteMode::is_plain")]
    pub delete_mode: DeleteMode,
    /// The type of the resource.
    #[serde(rename = "type")]
    pub type_name: TypeId,
    /// The inputs that the call sends, secrets marked; null for a delete. An earlier version wrote
    /// some creates before the outcomes that they wait for: parts of their inputs are unknown.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub inputs: Value,
    /// The private data that the provider returned when it planned the create. The provider gets
    /// the data back if the call is cut off. Null for other calls.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub private: Value,
    /// The folder of the document that declares the resource, as
    /// [`RecordOrigin::folder`](crate::RecordOrigin::folder).
    #[serde(default = "no_name", skip_serializing_if = "str::is_empty")]
    pub folder: Name,
    /// The name of the resource for plugins, as [`DeclarationSite::urn`].
    #[serde(default = "no_name", skip_serializing_if = "str::is_empty")]
    pub urn: Name,
    /// The resources that it depends on directly.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dependencies: Vec<Address>,
    /// The declared configuration of its provider, as
    /// [`Record::provider`](crate::Record::provider).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<crate::ProviderRef>,
}

fn no_name() -> Name {
    Name::default()
}

impl Intent {
    /// What the provider was told about the declaration.
    pub fn site(&self) -> DeclarationSite<&str> {
        DeclarationSite {
            folder: &self.folder,
            urn: &self.urn,
        }
    }

    /// The address and id of the resource that the call deletes; none for other calls, and for a
    /// deposed object.
    pub fn deletes(&self) -> Option<(&Address, &Name)> {
        (self.op == StatusOp::Delete && !self.deposed && !self.id.is_empty())
            .then_some((&self.address, &self.id))
    }
}

/// The state of a resource after a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The resource.
    pub address: Address,
    /// Its record; none if it no longer exists.
    #[serde(default, deserialize_with = "shared")]
    pub record: Option<Arc<Record>>,
    /// The error if the step failed; without secrets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Name>,
}

/// Reads a record into an `Arc`.
fn shared<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Arc<Record>>, D::Error> {
    Ok(Option::<Record>::deserialize(deserializer)?.map(Arc::new))
}

/// The end of an operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finished {
    /// The outcome.
    pub outcome: OperationOutcome,
    /// The end time: seconds since 1970 UTC.
    pub at: i64,
    /// The generation that it makes.
    pub generation: Generation,
    /// Exported values; none keeps the former ones, marked as old unless the operation succeeded.
    pub exports: Option<IndexMap<Name, Value>>,
    /// Memoised values by call site: all that are in use.
    #[serde(rename = "remembered")]
    pub memoised: IndexMap<Name, Memoised>,
    /// The resources that each named intermediate value used: all groups that are in use.
    pub groups: IndexMap<Name, Vec<Address>>,
    /// Evaluated metadata of the document.
    pub metadata: Value,
    /// Children and data sources.
    #[serde(default, skip_serializing_if = "Declared::is_empty")]
    pub declared: Declared,
    /// The breakpoints, and the places where this operation waits.
    #[serde(default, skip_serializing_if = "Stops::is_empty")]
    pub stops: Stops,
    /// The numbers of resources that it changed.
    pub counts: Counts,
}

/// The numbers of resources that an operation changed. Stored as a list in the order of the fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "[u64; 4]", into = "[u64; 4]")]
pub struct Counts {
    /// Created.
    pub created: u64,
    /// Updated in place.
    pub updated: u64,
    /// Deleted.
    pub deleted: u64,
    /// Replaced.
    pub replaced: u64,
}

impl From<[u64; 4]> for Counts {
    fn from([created, updated, deleted, replaced]: [u64; 4]) -> Counts {
        Counts {
            created,
            updated,
            deleted,
            replaced,
        }
    }
}

impl From<Counts> for [u64; 4] {
    fn from(counts: Counts) -> [u64; 4] {
        [
            counts.created,
            counts.updated,
            counts.deleted,
            counts.replaced,
        ]
    }
}

impl EntryKind {
    /// The operation that begins with this entry, if one does.
    pub fn begins(&self) -> Option<&Operation> {
        match self {
            EntryKind::Began(operation) => Some(operation),
            _ => None,
        }
    }

    /// The word: `began`, `intent`, `outcome` or `finished`.
    pub fn word(&self) -> &'static str {
        match self {
            EntryKind::Began(_) => "began",
            EntryKind::Intent(_) => "intent",
            EntryKind::Outcome(_) => "outcome",
            EntryKind::Finished(_) => "finished",
        }
    }

    /// Whether the entry contains a secret, so that it must be sealed.
    pub fn has_secret(&self) -> bool {
        match self {
            EntryKind::Began(began) => began.has_secret(),
            EntryKind::Intent(intent) => {
                intent.hides_id || intent.inputs.has_secret() || intent.private.has_secret()
            }
            EntryKind::Outcome(outcome) => outcome
                .record
                .as_ref()
                .is_some_and(|record| record.has_secret()),
            EntryKind::Finished(finished) => {
                finished
                    .exports
                    .iter()
                    .flat_map(|exports| exports.values())
                    .any(Value::has_secret)
                    || finished
                        .memoised
                        .values()
                        .any(|memoised| memoised.value.has_secret())
                    || finished.metadata.has_secret()
                    || finished.declared.values().any(Value::has_secret)
            }
        }
    }
}
