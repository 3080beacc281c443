//! What a plan is made of: steps, what becomes of exports, links and child documents, and where an operation stops.
//!
//! Plain data. Not here: the plan as a whole (`plan`), the decisions that steps are made from (`decision`).

use std::sync::Arc;

use blueprint::{Address, Breakpoint, IndexMap, Name, ReplaceOrder, TypeId, Value};
use diag::Span;
use serde::{Deserialize, Serialize};
use understand::compare::Change;

/// What a plan is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// What the document says.
    Deploy,
    /// Nothing is left.
    Destroy,
    /// What was cut off is settled, nothing else.
    Reconcile,
}

/// What is done to a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// Made.
    Create,
    /// Changed in place.
    Update,
    /// A new object replaces the old one.
    Replace,
    /// Taken away.
    Delete,
    /// Left in the world, no longer managed.
    Detach,
    /// Taken under management as it is.
    Import,
    /// It gets another address; the object itself stays as it is.
    Move,
    /// A link is made, or a part of it.
    Link,
    /// A link is changed.
    Relink,
    /// A link is undone.
    Unlink,
    /// A data source is read, which depends on something that does not exist yet.
    Read,
    /// Nothing; only its record changes.
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

/// Why something is done (decision 5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// It is not there yet.
    New,
    /// The document says otherwise than before.
    Changed,
    /// Its type is another one.
    TypeChanged,
    /// A changed field cannot be changed in place.
    FieldForces,
    /// A resource that it reads is replaced.
    DependencyReplaced,
    /// A link writes something else into it.
    LinkChanged,
    /// It is no longer declared.
    Removed,
    /// Its condition is false.
    ConditionFalse,
    /// The list of its template has become shorter.
    EachShrunk,
    /// The world has changed it.
    Drifted,
    /// The world has lost it.
    Vanished,
    /// Its last operation was cut off.
    Interrupted,
    /// Its last operation failed.
    FailedBefore,
    /// The settings of its provider are others, so it is replaced and gets them.
    ProviderChanged,
    /// Its provider wants to change it, though the document and the resource are as before.
    ProviderDecides,
    /// A person asked for it.
    Requested,
    /// It had another address before.
    Moved,
    /// It was there already and is managed from now on.
    Imported,
    /// Everything goes.
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
    /// On what.
    pub address: Address,
    /// Its type.
    #[serde(rename = "type")]
    pub type_name: TypeId,
    /// What.
    pub action: Action,
    /// Why, the strongest reason first.
    pub reasons: Vec<Reason>,
    /// The leaves that differ. Of a create all that are set; of a delete none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
    /// Which half of a replacement comes first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replace_order: Option<ReplaceOrder>,
    /// A replacement that stays an update if the values known on deploy turn out equal.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub may_replace: bool,
    /// False if its condition is known only on deploy.
    #[serde(default = "yes", skip_serializing_if = "Clone::clone")]
    pub condition_known: bool,
    /// Fields whose values are known only once it is done.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub computed: Vec<Name>,
    /// Why the provider asks for a replacement although nothing differs, in its words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expired: Option<Name>,
    /// The abstract resource that a transform made the resource from, as addresses print (decision 4.2).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made_from: Option<Name>,
    /// The address it had before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved_from: Option<Address>,
    /// It is made only to stand in for others of its group, and taken away again before the operation ends.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub temporary: bool,
    /// Which batch of its group it belongs to, where the group is made or changed in several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<Batch>,
    /// The operation stops before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stops_before: Option<Breakpoint>,
    /// The operation stops once it is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stops_after: Option<Breakpoint>,
    /// Numbers of steps that must be done first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waits_on: Vec<u32>,
    /// What is there was not looked at when the plan was made: the step goes by what is recorded.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub not_observed: bool,
    /// The provider's id of the existing object; none where there is none yet.
    #[serde(skip)]
    pub provider_id: Option<Name>,
    /// How many leaves of the spec stay as they are.
    #[serde(skip)]
    pub unchanged: u64,
    /// What is to be created exists already as it is wanted: it is taken under management, and stays when it goes from
    /// the document.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub adopts: bool,
    /// Links that it gains, that change, and that it loses; none if there are none.
    #[serde(skip)]
    pub links: Option<Box<StepLinks>>,
    /// Where it is declared; nowhere if only the state knows it.
    #[serde(skip, default = "nowhere")]
    pub span: Span,
}

pub(crate) fn yes() -> bool {
    true
}

pub(crate) fn nowhere() -> Span {
    Span::NONE
}

/// Which batch of its group a step belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Batch {
    /// Its number, from 1.
    pub number: u32,
    /// How many there are.
    pub of: u32,
    /// How long it is waited between its end and the next batch, in milliseconds; 0 behind the last.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub pause_ms: u64,
    /// The batch in which a temporary member is deleted again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<u32>,
}

pub(crate) fn is_zero(millis: &u64) -> bool {
    *millis == 0
}

/// What is not touched, and why.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LeftAlone {
    /// How many resources are as they should be.
    pub unchanged: u64,
    /// Left in the world, no longer managed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub retained: Vec<Address>,
    /// Conditioned out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub absent: Vec<Address>,
    /// Accepted drift of what the document sets: it will be set back one day unless the document is changed.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub document_differs: IndexMap<Address, Vec<Change>>,
    /// Out of target.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub out_of_target: Vec<Address>,
    /// Those out of target that would otherwise change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waiting: Vec<Address>,
}

/// A document as it was staged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PinnedDocument {
    /// Its path, relative to the state.
    pub path: Name,
    /// Its text.
    pub text: Arc<str>,
    /// Files that were given along with it, in order: paths as its own, and texts.
    #[serde(rename = "beside", default, skip_serializing_if = "Vec::is_empty")]
    pub companions: Vec<(Name, Arc<str>)>,
}

/// A link that is made, changed or undone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkChange {
    /// Which: `a::b`.
    pub address: Address,
    /// Its kind: the types of both ends, `::` between.
    #[serde(rename = "type")]
    pub type_name: TypeId,
    /// What: link, relink or unlink.
    pub action: Action,
    /// Why, the strongest reason first.
    pub reasons: Vec<Reason>,
    /// The annotations in force, by the names of the kind.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub annotations: Value,
    /// What it writes otherwise than before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<LinkEffectChange>,
    /// The addresses of its parts; each that changes has a step of its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Address>,
}

/// One contribution that a link writes otherwise than before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkEffectChange {
    /// Into what: `a`, `b` or the name of a neighbour.
    pub into: Name,
    /// Written with the target's own spec; otherwise by a step of its own.
    pub with: bool,
    /// What it was and will be.
    #[serde(flatten)]
    pub change: Change,
}

/// What links do to a resource, each by its address `a::b`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct StepLinks {
    /// Those that are made.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gained: Vec<Address>,
    /// Those that are there and change.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<Address>,
    /// Those that are undone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<Address>,
}

/// What becomes of an exported value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExportAction {
    /// It was not exported before.
    New,
    /// It is another value, or may be.
    Changed,
    /// It stays.
    Unchanged,
    /// It is no longer exported.
    Removed,
}

/// One exported value, before and after.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExportChange {
    /// Its name.
    pub name: Name,
    /// What becomes of it.
    pub action: ExportAction,
    /// The value before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Value>,
    /// The value after; Unknown if it is known only on deploy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Value>,
}

/// A child document, before and after.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChildChange {
    /// The includes that lead to it, as addresses print them: `core/inner`.
    pub address: Name,
    /// What becomes of it: `changed` as soon as anything in it, or below it, does.
    pub action: ExportAction,
    /// How many resources of its own document are as they should be.
    pub unchanged: u64,
    /// Its exported values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exports: Vec<ExportChange>,
    /// The entries of its metadata.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub metadata: Vec<ExportChange>,
}

/// A place at which a plan stops, or from which it goes on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlannedStop {
    /// The resource, or the includes that lead to the child.
    pub address: Name,
    /// It is a child document as a whole.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub child: bool,
    /// The moment.
    pub at: Breakpoint,
    /// The last operation waited there, and this one goes on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub passed: bool,
}

/// A task that nothing passes which waits for it, until the next operation.
#[derive(Clone, Debug, PartialEq)]
pub struct Gate {
    /// Whose it is, as the state calls it.
    pub place: Name,
    /// Of which action, and on which side of it.
    pub at: Breakpoint,
    /// Whether the operation stops there. If not it only tells that the action is over.
    pub stops: bool,
    /// It stops only if the object was updated in place.
    pub after_update: bool,
}

/// Addresses, each once, in the order in which they were found.
pub(crate) type AddressSet = indexmap::IndexSet<Address, foldhash::fast::FixedState>;

/// A set with a fixed hash, so that nothing depends on a random seed.
pub(crate) type HashSet<T> = std::collections::HashSet<T, foldhash::fast::FixedState>;
