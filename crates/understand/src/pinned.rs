//! What was read of documents, their children and the data that these depend on, pinned so that a later run reads the same.
//!
//! Not here: reading it (`evaluate`), keeping it (plan files and the state).

use std::sync::Arc;

use blueprint::{IndexMap, Name, Value};
use serde::{Deserialize, Serialize};
use source::{Digest, Location};

/// What reading a document and its children has found, so that it is found again.
#[derive(Clone, Debug, Default)]
pub struct Frozen {
    /// Texts of children, by what was asked for.
    pub documents: IndexMap<Name, FrozenChild>,
    /// Data sources that the paths of includes read, as `Answers` has them.
    pub data_sources: IndexMap<Name, FrozenData>,
    /// What is remembered of groups, by the path of includes that leads to each.
    pub groups: IndexMap<Name, Value>,
}

/// A child document as it was at stage. Files are kept as seen from the folder of the root document, so that a plan can
/// be moved together with its documents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FrozenChild {
    /// What was asked for.
    pub request: FrozenRequest,
    /// Where it was found.
    pub location: Location,
    /// Its digest.
    pub digest: Digest,
    /// Its text.
    pub text: Arc<str>,
}

/// What was asked for: see [`source::Request`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrozenRequest {
    /// The document in which the path stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Location>,
    /// The path as evaluated.
    pub path: Name,
    /// The kind of place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<Name>,
    /// Its keys.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keys: Vec<(Name, Name)>,
    /// The checksum that pins it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checksum: Option<Name>,
}

impl FrozenRequest {
    /// A request as seen from a folder.
    pub fn new(request: &source::Request, folder: &str) -> FrozenRequest {
        FrozenRequest {
            from: request.from.as_ref().map(|from| from.relative_to(folder)),
            path: request.path.clone(),
            kind: request.kind.clone(),
            keys: request.keys.clone(),
            checksum: request.checksum.clone(),
        }
    }

    /// The request again, made from that folder.
    pub fn request(&self, folder: &str) -> source::Request {
        source::Request {
            from: self.from.as_ref().map(|from| from.seen_from(folder)),
            path: self.path.clone(),
            kind: self.kind.clone(),
            keys: self.keys.clone(),
            checksum: self.checksum.clone(),
        }
    }

    /// What it is kept under: one request, one text.
    pub fn key(&self) -> Name {
        serde_json::to_string(self).unwrap_or_default().into()
    }
}

/// A data source as it was at stage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FrozenData {
    /// When it was read: seconds since 1970 UTC.
    pub at: i64,
    /// The exported fields by the names under which they are exported: a map.
    pub fields: Value,
    /// What was asked for, where it can be asked again without running or sending anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<Box<FrozenSearch>>,
}

/// What a data source was asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FrozenSearch {
    /// Field, operator, search value.
    pub filters: Vec<(Name, Name, Value)>,
    /// Annotations of the data source, evaluated.
    pub annotations: Value,
    /// The folder of its document, as seen from that of the root document.
    #[serde(default)]
    pub folder: Name,
}

impl FrozenData {
    /// Whether anything of it is secret.
    pub fn has_secret(&self) -> bool {
        let asked = self.asked.as_deref();
        self.fields.has_secret()
            || asked.is_some_and(|asked| {
                asked.annotations.has_secret() || asked.filters.iter().any(|(.., value)| value.has_secret())
            })
    }
}
