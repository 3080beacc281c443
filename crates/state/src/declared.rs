//! The stored data of children and data sources. Resources have records of their own.

use blueprint::{IndexMap, Name, StatedPlugin, TypeId, Value};
use serde::{Deserialize, Serialize};

/// A child document: its exports and its metadata (decisions/documents#children).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ChildRecord {
    /// Exported values of the last operation that succeeded.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub exports: IndexMap<Name, Value>,
    /// Evaluated metadata of the document.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub metadata: Value,
}

/// The metadata of a data source, for tools.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DataRecord {
    /// Its type.
    #[serde(rename = "type")]
    pub type_name: TypeId,
    /// Annotations, display name, custom data, as evaluated.
    pub metadata: Value,
}

/// The stored data of the children and data sources of an instance, by the includes that lead to
/// each: `core/inner`; and of the packages that its documents call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Declared {
    /// Children.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub children: IndexMap<Name, ChildRecord>,
    /// Data sources: `core/net`.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub data_sources: IndexMap<Name, DataRecord>,
    /// The plugins of packages whose functions were called with the default configuration, by
    /// namespace, for dialects whose states list them.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub called_plugins: IndexMap<Name, StatedPlugin>,
}

impl Declared {
    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.children.is_empty() && self.data_sources.is_empty() && self.called_plugins.is_empty()
    }

    /// All values of the children and data sources.
    pub fn values(&self) -> impl Iterator<Item = &Value> {
        let children = self
            .children
            .values()
            .flat_map(|child| child.exports.values().chain([&child.metadata]));
        children.chain(self.data_sources.values().map(|source| &source.metadata))
    }
}
