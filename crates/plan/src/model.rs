//! The data of a plan: steps, changes of exports, links and child documents, and the places where
//! an operation stops.
//!
//! Plain data. Not here: the plan as a whole (`plan`), the decisions that steps are made from
//! (`decision`).

use std::sync::Arc;

use blueprint::{Address, Breakpoint, DeleteMode, IndexMap, Name, ReplaceOrder, TypeId, Value};
use diag::Span;
use serde::{Deserialize, Serialize};
use state::Counts;
use understand::compare::Change;

/// The purpose of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// To make the world match the document.
    Deploy,
    /// To remove all resources.
    Destroy,
    /// To settle cut-off calls and correct drift, or to change the state alone, without a document.
    Reconcile,
}

impl Purpose {
    /// The word: `deploy`, `destroy` or `reconcile`.
    pub fn word(self) -> &'static str {
        match self {
            Purpose::Deploy => "deploy",
            Purpose::Destroy => "destroy",
            Purpose::Reconcile => "reconcile",
        }
    }
}

/// The action on a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// An object is created.
    Create,
    /// The object is changed in place.
    Update,
    /// A new object replaces the old one.
    Replace,
    /// The object is deleted.
    Delete,
    /// The object stays in the world and is no longer managed.
    Detach,
    /// The existing object is taken under management.
    Import,
    /// The resource gets another address; the object itself stays as it is.
    Move,
    /// A link is created, or one of its writes.
    Link,
    /// A link is changed.
    Relink,
    /// A link is removed.
    Unlink,
    /// A data source is read that depends on something that does not exist yet.
    Read,
    /// The object stays as it is; only the record may change.
    None,
}

impl Action {
    /// The word: `create`, `update`, ...
    pub fn word(self) -> &'static str {
        match self {
            Action::Create => "create",
            Action::Update => "update",
            Action::Replace => "replace",
            Action::Delete => "delete",
            Action::Detach => "detach",
            Action::Import => "import",
            Action::Move => "move",
            Action::Link => "link",
            Action::Relink => "relink",
            Action::Unlink => "unlink",
            Action::Read => "read",
            Action::None => "none",
        }
    }
}

/// The reason of an action (decisions/plan#contents-of-a-plan).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// It does not exist yet.
    New,
    /// The document has changed it.
    Changed,
    /// Its type has changed.
    TypeChanged,
    /// A changed field cannot be changed in place.
    FieldForces,
    /// A resource that it reads is replaced.
    DependencyReplaced,
    /// A link writes another value into it.
    LinkChanged,
    /// It is no longer declared.
    Removed,
    /// Its condition is false.
    ConditionFalse,
    /// The list of its template has become shorter.
    EachShrunk,
    /// It was changed outside `cyan`.
    Drifted,
    /// It was deleted outside `cyan`.
    Vanished,
    /// Its last operation was cut off.
    Interrupted,
    /// Its last operation failed.
    FailedBefore,
    /// The settings of its provider have changed, so it is replaced.
    ProviderChanged,
    /// The value that replaces it when it changes has changed.
    TriggerChanged,
    /// Its object is deleted with another one.
    DeletedWith,
    /// No object of its own is managed: it was only read, or groups other resources.
    NotManaged,
    /// Its provider wants to change it, although the document and the resource are as before.
    ProviderDecides,
    /// The user asked for it.
    Requested,
    /// It had another address before.
    Moved,
    /// It existed before and is managed from now on.
    Imported,
    /// All resources are removed.
    Destroy,
}

impl Reason {
    /// The word: `new`, `changed`, `field-forces`, ...
    pub fn word(self) -> &'static str {
        match self {
            Reason::New => "new",
            Reason::Changed => "changed",
            Reason::TypeChanged => "type-changed",
            Reason::FieldForces => "field-forces",
            Reason::DependencyReplaced => "dependency-replaced",
            Reason::LinkChanged => "link-changed",
            Reason::Removed => "removed",
            Reason::ConditionFalse => "condition-false",
            Reason::EachShrunk => "each-shrunk",
            Reason::Drifted => "drifted",
            Reason::Vanished => "vanished",
            Reason::Interrupted => "interrupted",
            Reason::FailedBefore => "failed-before",
            Reason::ProviderChanged => "provider-changed",
            Reason::TriggerChanged => "trigger-changed",
            Reason::DeletedWith => "deleted-with",
            Reason::NotManaged => "not-managed",
            Reason::ProviderDecides => "provider-decides",
            Reason::Requested => "requested",
            Reason::Moved => "moved",
            Reason::Imported => "imported",
            Reason::Destroy => "destroy",
        }
    }
}

/// One action of a plan on one address.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Its number in the plan, from 0 in the order of the plan.
    pub id: u32,
    /// The address of the resource or link.
    pub address: Address,
    /// Its type.
    #[serde(rename = "type")]
    pub type_name: TypeId,
    /// The action.
    pub action: Action,
    /// The reasons, the strongest first.
    pub reasons: Vec<Reason>,
    /// The leaves that differ: for a create all that are set, for a delete none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
    /// Whether a replacement creates or deletes first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replace_order: Option<ReplaceOrder>,
    /// A replacement that stays an update if the values known on deploy turn out equal.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub may_replace: bool,
    /// False if its condition is known only on deploy.
    #[serde(default = "yes", skip_serializing_if = "Clone::clone")]
    pub condition_known: bool,
    /// Fields whose values are known only after the step.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub computed: Vec<Name>,
    /// The provider's reason for a replacement although nothing differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expired: Option<Name>,
    /// What must exist before the provider can decide about the step, as a phrase; `None` if the
    /// provider has decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needs: Option<Name>,
    /// The abstract resource from which a transform made the resource, in the notation of addresses
    /// (decisions/documents#transforms).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made_from: Option<Name>,
    /// Its address before the move.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved_from: Option<Address>,
    /// It is created only to stand in for others of its group, and deleted before the operation
    /// ends.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub temporary: bool,
    /// Its batch, if its group is created or changed in several batches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<Batch>,
    /// The breakpoint before the step, if the operation stops there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stops_before: Option<Breakpoint>,
    /// The breakpoint after the step, if the operation stops there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stops_after: Option<Breakpoint>,
    /// Numbers of steps that must be done first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waits_on: Vec<u32>,
    /// The object was not read for the plan: the step relies on the record.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub not_observed: bool,
    /// How the step deletes the existing object, if it does.
    #[serde(default, skip_serializing_if = "DeleteMode::is_plain")]
    pub delete_mode: DeleteMode,
    /// The existing object.
    #[serde(skip)]
    pub existing: ExistingObject,
    /// The object to create exists already as desired: it is taken under management, and stays in
    /// the world when it is no longer declared.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub adopts: bool,
    /// The links that it gains, changes and loses; `None` if there are none.
    #[serde(skip)]
    pub links: Option<Box<StepLinks>>,
    /// The place of its declaration; none if only the state knows it.
    #[serde(skip, default = "nowhere")]
    pub span: Span,
}

/// The object of a step as it is before the step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExistingObject {
    /// The provider's id; `None` if there is no object yet.
    pub id: Option<Name>,
    /// The number of leaves of the spec that stay as they are.
    pub unchanged: u64,
}

pub(crate) fn yes() -> bool {
    true
}

pub(crate) fn nowhere() -> Span {
    Span::NONE
}

/// The batch of a step in its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Batch {
    /// Its number, from 1.
    pub number: u32,
    /// The number of batches.
    pub of: u32,
    /// The pause between its end and the next batch, in milliseconds; 0 after the last.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub pause_ms: u64,
    /// The batch in which a temporary member is deleted again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<u32>,
}

pub(crate) fn is_zero(millis: &u64) -> bool {
    *millis == 0
}

/// The resources that a plan leaves as they are, by cause.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LeftAlone {
    /// The number of resources that are as they should be.
    pub unchanged: u64,
    /// Resources that stay in the world and are no longer managed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub retained: Vec<Address>,
    /// Resources whose condition is false.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub absent: Vec<Address>,
    /// Accepted drift of fields that the document sets: a later plan sets them back unless the
    /// document is changed.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub document_differs: IndexMap<Address, Vec<Change>>,
    /// Resources out of target.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub out_of_target: Vec<Address>,
    /// Resources out of target that would otherwise change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waiting: Vec<Address>,
}

/// A document as it was staged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PinnedDocument {
    /// Its path, relative to the state.
    pub path: Name,
    /// The path that its text was read from, if the document of the instance has another path now:
    /// a rollback restores the text, and keeps the document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_as: Option<Name>,
    /// Its text.
    pub text: Arc<str>,
    /// Files that were passed along with it, in order: paths, relative like its own, and texts.
    #[serde(rename = "beside", default, skip_serializing_if = "Vec::is_empty")]
    pub companions: Vec<(Name, Arc<str>)>,
}

/// A link that is created, changed or removed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkChange {
    /// Its address: `a::b`.
    pub address: Address,
    /// Its kind: the types of both ends, joined by `::`.
    #[serde(rename = "type")]
    pub type_name: TypeId,
    /// The action: link, relink or unlink.
    pub action: Action,
    /// The reasons, the strongest first.
    pub reasons: Vec<Reason>,
    /// The annotations in force, by the names of the kind.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub annotations: Value,
    /// The changes of its contributions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<LinkEffectChange>,
    /// The addresses of its parts; each that changes has a step of its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Address>,
}

/// The change of one contribution of a link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkEffectChange {
    /// The target: `a`, `b` or the name of a neighbour.
    pub into: Name,
    /// Whether it is written with the target's own spec; otherwise by a step of its own.
    pub with: bool,
    /// The value before and after.
    #[serde(flatten)]
    pub change: Change,
}

/// The links of a resource that change, by their addresses `a::b`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StepLinks {
    /// Links that are created.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gained: Vec<Address>,
    /// Links that exist and change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<Address>,
    /// Links that are removed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<Address>,
}

/// The change of an exported value or of a child document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExportAction {
    /// It did not exist before.
    New,
    /// It changes, or may change.
    Changed,
    /// It stays the same.
    Unchanged,
    /// It no longer exists.
    Removed,
}

/// One exported value, before and after.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExportChange {
    /// Its name.
    pub name: Name,
    /// Its change.
    pub action: ExportAction,
    /// The value before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Value>,
    /// The value after; Unknown if it is known only on deploy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Value>,
}

impl ExportChange {
    /// Whether the state gets another value, or the same value with other secret marks.
    pub fn changes_state(&self) -> bool {
        self.action != ExportAction::Unchanged || self.before != self.after
    }
}

/// A child document, before and after.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChildChange {
    /// The path of includes to it, in the notation of addresses: `core/inner`.
    pub address: Name,
    /// Its change: `changed` as soon as anything in it, or below it, changes.
    pub action: ExportAction,
    /// The number of resources of its own document that are as they should be.
    pub unchanged: u64,
    /// Its exported values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exports: Vec<ExportChange>,
    /// The entries of its metadata.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub metadata: Vec<ExportChange>,
}

/// A place at which a plan stops, or from which it continues.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlannedStop {
    /// The resource, or the path of includes to the child.
    pub address: Name,
    /// Whether the place is a child document as a whole.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub child: bool,
    /// The breakpoint.
    pub at: Breakpoint,
    /// Whether the last operation waited there and this one continues.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub passed: bool,
}

/// A task at which an operation may stop. Tasks that wait for it then run only in the next
/// operation.
#[derive(Clone, Debug, PartialEq)]
pub struct Gate {
    /// The resource or child that it belongs to, as the state names it.
    pub place: Name,
    /// The breakpoint: an action, and the side of it.
    pub at: Breakpoint,
    /// Whether the operation stops there. If not, the gate only tells that the action is over.
    pub stops: bool,
    /// It stops only if the object was updated in place.
    pub after_update: bool,
}

/// The number of steps of each kind. A temporary member counts as a delete too.
pub(crate) fn counts(steps: &[Step]) -> Counts {
    let of = |action| steps.iter().filter(|step| step.action == action).count() as u64;
    let temporary = steps.iter().filter(|step| step.temporary).count() as u64;
    Counts {
        created: of(Action::Create),
        updated: of(Action::Update),
        deleted: of(Action::Delete) + temporary,
        replaced: of(Action::Replace),
    }
}

/// Whether a plan has no action, changes no export and passes no stop.
pub(crate) fn does_nothing(
    steps: &[Step],
    exports: &[ExportChange],
    stops: &[PlannedStop],
) -> bool {
    stops.is_empty()
        && steps.iter().all(|step| step.action == Action::None)
        && exports
            .iter()
            .all(|export| export.action == ExportAction::Unchanged)
}

/// Addresses, each once, in the order in which they were found.
pub(crate) type AddressSet = indexmap::IndexSet<Address, foldhash::fast::FixedState>;

/// A set with a fixed hash, so that nothing depends on a random seed.
pub(crate) type HashSet<T> = std::collections::HashSet<T, foldhash::fast::FixedState>;
