//! The content of documents, of their children and of the data sources that these depend on, pinned
//! so that a later run reads the same content.
//!
//! Not here: reading (`evaluate`), storing (plan files and the state).

use std::sync::Arc;

use blueprint::{Address, IndexMap, Name, Value};
use serde::{Deserialize, Serialize};
use source::{Digest, Location};

/// The results of reading a document and its children.
#[derive(Clone, Debug, Default)]
pub struct Pinned {
    /// Texts of children, by request.
    pub documents: IndexMap<Name, PinnedChild>,
    /// Data sources that the paths of includes read, in the form of `Answers`.
    pub data_sources: IndexMap<Name, PinnedData>,
    /// The memoised values of groups, by the path of includes that leads to each group.
    pub groups: IndexMap<Name, Value>,
}

/// A child document, a file or the listing of a folder as it was when the plan was made. File paths
/// are relative to the folder of the root document, so that a plan can be moved together with its
/// documents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PinnedChild {
    /// The request.
    pub request: PinnedRequest,
    /// The location of the document.
    pub location: Location,
    /// The digest of the document.
    pub digest: Digest,
    /// The text of the document.
    pub text: Arc<str>,
}

/// A request for a document: see [`source::Request`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PinnedRequest {
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
    /// Whether the listing of a folder is requested.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_folder: bool,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

impl PinnedRequest {
    /// A request relative to a folder.
    pub fn new(request: &source::Request, folder: &str) -> PinnedRequest {
        PinnedRequest {
            from: request.from.as_ref().map(|from| from.relative_to(folder)),
            path: request.path.clone(),
            kind: request.kind.clone(),
            keys: request.keys.clone(),
            checksum: request.checksum.clone(),
            is_folder: request.is_folder,
        }
    }

    /// The original request, with `folder` as the base.
    pub fn request(&self, folder: &str) -> source::Request {
        source::Request {
            from: self.from.as_ref().map(|from| from.resolve_in(folder)),
            path: self.path.clone(),
            kind: self.kind.clone(),
            keys: self.keys.clone(),
            checksum: self.checksum.clone(),
            is_folder: self.is_folder,
        }
    }

    /// The key of the text: equal requests have equal keys.
    pub fn key(&self) -> Name {
        serde_json::to_string(self).unwrap_or_default().into()
    }
}

/// A data source as it was when the plan was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PinnedData {
    /// The time of the read in seconds since 1970 UTC.
    pub at: i64,
    /// A map of the exported fields by exported name.
    pub fields: Value,
    /// The search, if it can be repeated without running a command or sending a request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<Box<PinnedSearch>>,
}

/// The search of a data source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PinnedSearch {
    /// Field, operator and search value of each filter.
    pub filters: Vec<(Name, Name, Value)>,
    /// The evaluated annotations of the data source.
    pub annotations: Value,
    /// The configuration of the provider, if a resource declares it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<PinnedInstance>,
    /// The folder of its document, relative to that of the root document.
    #[serde(default)]
    pub folder: Name,
}

/// A configuration of a provider that a resource declares.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PinnedInstance {
    /// The address of the declaring resource.
    pub address: Address,
    /// The settings: a map, or null.
    pub settings: Value,
}

impl PinnedData {
    /// Whether any part of the pinned data is secret.
    pub fn has_secret(&self) -> bool {
        let asked = self.asked.as_deref();
        self.fields.has_secret()
            || asked.is_some_and(|asked| {
                asked.annotations.has_secret()
                    || asked.filters.iter().any(|(.., value)| value.has_secret())
                    || asked
                        .instance
                        .as_ref()
                        .is_some_and(|instance| instance.settings.has_secret())
            })
    }
}
