//! What a record keeps of a declaration whose dialect names its resources for plugins.

use blueprint::{Address, IndexMap, Name, StatedPlugin, Timeouts, Value};
use serde::{Deserialize, Serialize};

/// The options of a resource, besides its protection, that a destroy or another tool needs. A native
/// resource has none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RecordTies {
    /// The resource that it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<Address>,
    /// The resource whose deletion deletes the object too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deleted_with: Option<Address>,
    /// The resources whose replacement replaces it too.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub replaced_with: Vec<Address>,
    /// The time limits of its calls.
    #[serde(skip_serializing_if = "has_no_limit")]
    pub timeouts: Timeouts,
    /// Fields whose values must not be shown, besides those that the type calls sensitive.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub secret_fields: Vec<Name>,
    /// Paths whose changes are ignored.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ignore_changes: Vec<Name>,
    /// Paths whose changes replace it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub replace_on_changes: Vec<Name>,
    /// Paths whose changes are not shown.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hidden: Vec<Name>,
    /// The id with which it was imported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub imported: Option<Name>,
    /// The resources that the value of each declared field comes from.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub uses: IndexMap<Name, Vec<Address>>,
    /// The plugin that the document asked for.
    #[serde(skip_serializing_if = "StatedPlugin::is_empty")]
    pub plugin: StatedPlugin,
    /// How the object came into the record.
    #[serde(skip_serializing_if = "Keeping::is_managed")]
    pub keeping: Keeping,
    /// Members of another tool's record that have no counterpart here, as that tool wrote them. Null
    /// if there are none.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub carried: Value,
}

/// What a record is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Keeping {
    /// An object that is managed here.
    #[default]
    Managed,
    /// An object that is only read. Its removal deletes nothing.
    Read,
    /// A group of resources without an object of its own. Its removal deletes nothing.
    Group,
}

impl Keeping {
    fn is_managed(&self) -> bool {
        *self == Keeping::Managed
    }
}

fn has_no_limit(limits: &Timeouts) -> bool {
    *limits == Timeouts::default()
}

impl RecordTies {
    /// The resources that they name.
    pub fn addresses(&self) -> impl Iterator<Item = &Address> {
        let named = self.parent.iter().chain(&self.deleted_with);
        named
            .chain(&self.replaced_with)
            .chain(self.uses.values().flatten())
    }

    /// The resources that they name, to be changed.
    pub fn addresses_mut(&mut self) -> impl Iterator<Item = &mut Address> {
        let named = self.parent.iter_mut().chain(&mut self.deleted_with);
        let used = self.uses.values_mut().flatten();
        named.chain(&mut self.replaced_with).chain(used)
    }
}
