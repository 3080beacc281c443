//! What the world has answered while a plan was made. A plan keeps it, so that applying a kept plan asks nothing again.

use std::sync::Arc;

use blueprint::{Address, IndexMap, Name, Value};
use serde::{Deserialize, Serialize};
use state::Remembered;

/// All answers of one stage, by question.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Answers {
    /// The instant of the stage: seconds since 1970 UTC.
    pub now: i64,
    /// The caller's working directory.
    pub working_directory: Option<Name>,
    /// Bytes that were read, by path or URL as asked for, with their digests.
    #[serde(default)]
    pub bytes: IndexMap<Name, FrozenBytes>,
    /// Values drawn for call sites, new and former ones.
    #[serde(default)]
    pub remembered: IndexMap<Name, Remembered>,
    /// Exported fields of data sources by name.
    #[serde(default)]
    pub data_sources: IndexMap<Name, FrozenData>,
    /// What provider functions gave, by namespace, function and arguments.
    #[serde(default)]
    pub calls: IndexMap<Name, Value>,
    /// Digests of what transforms made of documents, by the path of includes that leads to each.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub transformed: IndexMap<Name, Name>,
    /// What refresh saw that differs from the records, by address.
    #[serde(default)]
    pub seen: IndexMap<Address, FrozenSeen>,
    /// What was read of things that are imported, by address.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub imports: IndexMap<Address, FrozenSeen>,
    /// Whether refresh was asked for.
    #[serde(default)]
    pub refreshed: bool,
    /// Records that refresh could not read, by address, and why.
    #[serde(default)]
    pub unread: IndexMap<Address, Name>,
    /// What providers said they would do, by address.
    #[serde(default)]
    pub opinions: IndexMap<Address, Opinion>,
}

/// Bytes as they were at stage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FrozenBytes {
    /// SHA-256, lower-case hex.
    pub digest: Name,
    /// The folder of the document that asked; empty for a URL.
    pub folder: Name,
    /// The path or URL.
    pub path: Name,
    /// The bytes, as a value.
    pub value: Value,
}

/// A data source as it was at stage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FrozenData {
    /// When it was read: seconds since 1970 UTC.
    pub at: i64,
    /// The exported fields by the names under which they are exported: a map.
    pub fields: Value,
}

/// What refresh saw.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FrozenSeen {
    /// There, with these fields.
    There {
        /// The provider's id.
        id: Name,
        /// All fields.
        fields: Value,
        /// Opaque data of the provider.
        private: Value,
        /// Should be made anew, and why.
        expired: Option<Name>,
    },
    /// Not there.
    Gone,
    /// The provider cannot tell.
    CannotTell,
}

/// What a provider said it would do.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Opinion {
    /// Field paths that force a replacement.
    pub replaces: Vec<String>,
    /// Computed fields that will change.
    pub changes: Vec<String>,
    /// Field paths whose difference is only recorded.
    pub only_recorded: Vec<String>,
    /// Opaque data for `apply`.
    pub private: Value,
}

/// SHA-256 as lower-case hex.
pub(crate) fn digest(bytes: &[u8]) -> Name {
    use sha2::Digest as _;
    let hash = sha2::Sha256::digest(bytes);
    hash.iter().map(|byte| format!("{byte:02x}")).collect::<String>().into()
}

impl FrozenBytes {
    /// Freezes bytes.
    pub fn new(folder: &str, path: &str, bytes: Arc<[u8]>) -> FrozenBytes {
        FrozenBytes { digest: digest(&bytes), folder: folder.into(), path: path.into(), value: Value::Bytes(bytes) }
    }
}
