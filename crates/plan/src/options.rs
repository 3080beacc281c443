//! The options of a plan: what the user asked for besides the document (decisions/plan#targets,
//! `--target` and similar flags).
//!
//! Not here: the effects of the options (`targets`, `policies`, `state_edit`).

use std::sync::Arc;

use blueprint::{Address, IndexMap, Name, TypeId, Value};
use serde::{Deserialize, Serialize};
use state::Exported;

/// The treatment of differences between the records and the objects as read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DriftPolicy {
    /// The plan sets the fields back.
    #[default]
    Revert,
    /// The state takes the values as read of fields that the document does not set; other fields
    /// stay as they are.
    Accept,
    /// Fields are left as they are, in the world and in the state.
    Ignore,
    /// There is no plan: `drift-refused`.
    Refuse,
}

impl DriftPolicy {
    fn is_usual(&self) -> bool {
        *self == DriftPolicy::Revert
    }
}

/// Which recorded objects are read before a plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "bool", into = "bool")]
pub enum Refresh {
    /// The dialect of the document decides; all of them, if nothing has decided.
    #[default]
    Usual,
    /// All of them.
    Always,
    /// None, except after calls that were cut off.
    Never,
}

impl Refresh {
    /// Whether recorded objects are read.
    pub fn is_on(self) -> bool {
        self != Refresh::Never
    }
}

impl From<bool> for Refresh {
    fn from(is_on: bool) -> Refresh {
        if is_on {
            Refresh::Always
        } else {
            Refresh::Never
        }
    }
}

impl From<Refresh> for bool {
    fn from(refresh: Refresh) -> bool {
        refresh.is_on()
    }
}

/// A resource whose cut-off call counts as carried out, because the user says so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Adoption {
    /// The address of the resource.
    pub address: Address,
    /// The provider's id of the created object; needed if nothing else gives the id.
    pub id: Option<Name>,
}

/// An object that another tool has managed until now: it becomes managed here, and is not created.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ForeignObject {
    /// Its address in the document.
    pub address: Address,
    /// The provider's id of it; `None` if the other tool did not give the id, which is an error.
    pub id: Option<Name>,
    /// The fields that the other tool stored besides the definition of the object, as texts. If the
    /// provider can read the object by its id, the read counts and these fields do not.
    #[serde(default)]
    pub fields: IndexMap<Name, Value>,
}

/// A change of the state alone.
#[derive(Clone, Debug, PartialEq)]
pub enum StateEdit {
    /// Resources get new addresses: from, to.
    Move(Vec<(Address, Address)>),
    /// Resources are forgotten; their objects stay in the world.
    Remove(Vec<Address>),
    /// Resources may be deleted and replaced again, until a deploy protects them.
    Unprotect(Vec<Address>),
    /// An existing object is taken under management.
    Import {
        /// Its type.
        type_name: TypeId,
        /// The provider's id.
        id: Name,
        /// The address it gets.
        address: Address,
    },
    /// An exported instance is read back.
    Load(Arc<Exported>),
    /// Drift is accepted: of the targets, or of all resources if there are no targets.
    AcceptDrift,
}

/// The options of a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Options {
    /// Which existing objects are read.
    pub refresh: Refresh,
    /// Addresses of cut-off calls that the user says were not carried out, for providers that
    /// cannot tell.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub undone: Vec<Address>,
    /// Addresses of cut-off calls whose resources the user wants forgotten.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forgotten: Vec<Address>,
    /// Cut-off calls that the user says were carried out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub adopted: Vec<Adoption>,
    /// Objects that exist already and are taken over from another tool. The tool has to give the id
    /// of every resource in the document.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub taken: Vec<ForeignObject>,
    /// Whether to settle cut-off calls and correct drift, without a document.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reconcile: bool,
    /// The resources that may change, with everything that they depend on; all resources if the
    /// list is empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<Address>,
    /// Resources that do not change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub excluded: Vec<Address>,
    /// Whether what depends on a target may change too, and what depends on an excluded resource does
    /// not change either.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub with_dependents: bool,
    /// Resources to replace.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replace: Vec<Address>,
    /// Resources whose memoised values are drawn again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub renew: Vec<Address>,
    /// The treatment of drift.
    #[serde(default, skip_serializing_if = "DriftPolicy::is_usual")]
    pub drift: DriftPolicy,
    /// The resource after which the operation stops.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Address>,
    /// Whether a destroy ignores unknown outcomes, unread resources and claims of other instances,
    /// and drops records of objects that cannot be deleted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub force: bool,
    /// Whether the providers are simulations. Such a plan is applied with simulations only.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub simulated: bool,
    /// A rollback to an earlier generation: the answers of the request are those of that
    /// generation, and the resources are read again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rollback: bool,
    /// Resources to import: refused if the document declares them and their conditions are false.
    /// Never saved in a plan file.
    #[serde(skip)]
    pub importing: Vec<Address>,
    /// A change of the state alone. Never saved in a plan file.
    #[serde(skip)]
    pub state_edit: Option<StateEdit>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            refresh: Refresh::Usual,
            undone: Vec::new(),
            forgotten: Vec::new(),
            adopted: Vec::new(),
            taken: Vec::new(),
            reconcile: false,
            targets: Vec::new(),
            excluded: Vec::new(),
            with_dependents: false,
            replace: Vec::new(),
            renew: Vec::new(),
            drift: DriftPolicy::Revert,
            until: None,
            force: false,
            simulated: false,
            rollback: false,
            importing: Vec::new(),
            state_edit: None,
        }
    }
}
