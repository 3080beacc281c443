//! The content of documents, their children and the data sources that these depend on, pinned so that a later run reads
//! the same.
//!
//! Not here: reading (`evaluate`), storing (plan files and the state).

use std::sync::Arc;

use blueprint::{IndexMap, Name, Value};
use serde::{Deserialize, Serialize};
use source::{Digest, Location};

/// The results of reading a document and its children.
#[derive(Clone, Debug, Default)]
pub struct Frozen {
    /// Texts of children, by request.
    pub documents: IndexMap<Name, FrozenChild>,
    /// Data sources that the paths of includes read, in the form of `Answers`.
    pub data_sources: IndexMap<Name, FrozenData>,
    /// The remembered values of groups, by the path of includes that leads to each.
    pub groups: IndexMap<Name, Value>,
}

/// A child document as it was when the plan was made. File paths are relative to the folder of the root document, so
/// that a plan can be moved together with its documents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FrozenChild {
    /// The request.
    pub request: FrozenRequest,
    /// Its location.
    pub location: Location,
    /// Its digest.
    pub digest: Digest,
    /// Its text.
    pub text: Arc<str>,
}

/// A request for a document: see [`source::Request`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrozenRequest {
    /// The document that contains the path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Location>,
    /// The evaluated path.
    pub path: Name,
    /// The kind of source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<Name>,
    /// The keys of the source.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keys: Vec<(Name, Name)>,
    /// The checksum that pins the document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checksum: Option<Name>,
}

impl FrozenRequest {
    /// A request relative to a folder.
    pub fn new(request: &source::Request, folder: &str) -> FrozenRequest {
        FrozenRequest {
            from: request.from.as_ref().map(|from| from.relative_to(folder)),
            path: request.path.clone(),
            kind: request.kind.clone(),
            keys: request.keys.clone(),
            checksum: request.checksum.clone(),
        }
    }

    /// The original request, with `folder` as the base.
    pub fn request(&self, folder: &str) -> source::Request {
        source::Request {
            from: self.from.as_ref().map(|from| from.seen_from(folder)),
            path: self.path.clone(),
            kind: self.kind.clone(),
            keys: self.keys.clone(),
            checksum: self.checksum.clone(),
        }
    }

    /// The key of the text: equal requests have equal keys.
    pub fn key(&self) -> Name {
        serde_json::to_string(self).unwrap_or_default().into()
    }
}

/// A data source as it was when the plan was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FrozenData {
    /// The time of the read in seconds since 1970 UTC.
    pub at: i64,
    /// A map of the exported fields by exported name.
    pub fields: Value,
    /// The search, if it can be repeated without running or sending anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<Box<FrozenSearch>>,
}

/// The search of a data source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FrozenSearch {
    /// Field, operator and search value of each filter.
    pub filters: Vec<(Name, Name, Value)>,
    /// The evaluated annotations of the data source.
    pub annotations: Value,
    /// The folder of its document, relative to that of the root document.
    #[serde(default)]
    pub folder: Name,
}

impl FrozenData {
    /// Whether any part of it is secret.
    pub fn has_secret(&self) -> bool {
        let asked = self.asked.as_deref();
        self.fields.has_secret()
            || asked.is_some_and(|asked| {
                asked.annotations.has_secret() || asked.filters.iter().any(|(.., value)| value.has_secret())
            })
    }
}
