//! How a plan is made: what a person asked for beside the document (decision 5.5, `--target` and its kin).
//!
//! Not here: what follows from it (`targets`, `policies`, `state_edit`).

use std::sync::Arc;

use blueprint::{Address, IndexMap, Name, TypeId, Value};
use serde::{Deserialize, Serialize};
use state::Exported;

/// What becomes of differences between what is recorded and what was seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DriftPolicy {
    /// The plan sets the fields back.
    #[default]
    Revert,
    /// The state takes what was seen of fields that the document does not set; the others are left as they are.
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

/// A resource whose call was cut off counts as done, because a person says so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Adoption {
    /// Where.
    pub address: Address,
    /// The provider's id of what was made; needed where nothing else tells it.
    pub id: Option<Name>,
}

/// An object that another tool has managed until now: it becomes managed here, and is not created.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Taken {
    /// Where the document has it.
    pub address: Address,
    /// The provider's id of it; none if the other tool did not tell, which is an error.
    pub id: Option<Name>,
    /// What the other tool has kept of it beside its definition, as texts. Where the provider can read the object by
    /// its id, that counts and this does not.
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
    /// An existing object is taken under management.
    Import {
        /// Its type.
        type_name: TypeId,
        /// The provider's id.
        id: Name,
        /// The address it gets.
        address: Address,
    },
    /// What another state wrote is read back.
    Load(Arc<Exported>),
    /// What was seen counts from now on, of these addresses or of all.
    AcceptDrift,
}

/// How a plan is made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Options {
    /// Ask the world what is there.
    pub refresh: bool,
    /// Addresses of calls that were cut off and about which the provider cannot tell: a person says they were not done.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub undone: Vec<Address>,
    /// Addresses of calls that were cut off: a person says that what they were about is to be forgotten.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forgotten: Vec<Address>,
    /// Calls that were cut off: a person says they were done.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub adopted: Vec<Adoption>,
    /// Objects that exist already and are taken over from another tool, which has to tell of every resource in the
    /// document.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub taken: Vec<Taken>,
    /// Settle what was cut off and what has drifted, without a document.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reconcile: bool,
    /// Only these change, with everything they depend on; all, if there is none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<Address>,
    /// These are replaced.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replace: Vec<Address>,
    /// The memoised values of these are drawn again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub renew: Vec<Address>,
    /// What becomes of drift.
    #[serde(default, skip_serializing_if = "DriftPolicy::is_usual")]
    pub drift: DriftPolicy,
    /// Stop once this is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Address>,
    /// Records of objects that cannot be deleted are dropped; only a destroy applies it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub force: bool,
    /// The providers are simulations: such a plan is carried out by simulations alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub simulated: bool,
    /// A rollback to an earlier generation: the answers of the request are those of that generation, and the resources
    /// are read again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rollback: bool,
    /// These are to be imported: refused where the document declares them and their conditions are false. Never kept in
    /// a plan file.
    #[serde(skip)]
    pub importing: Vec<Address>,
    /// A change of the state alone. Never kept in a plan file.
    #[serde(skip)]
    pub state_edit: Option<StateEdit>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            refresh: true,
            undone: Vec::new(),
            forgotten: Vec::new(),
            adopted: Vec::new(),
            taken: Vec::new(),
            reconcile: false,
            targets: Vec::new(),
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
