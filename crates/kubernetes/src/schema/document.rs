//! An OpenAPI v3 document of a group and version, as the API server has it below `/openapi/v3`.

use blueprint::{IndexMap, Name};
use serde::Deserialize;
use serde_json::Value as Json;
use serde_json::value::RawValue;

use super::object_type::{ObjectSchema, object_schema};
use super::reader::{Schemas, reference};
use crate::GroupKind;

/// The error for a text that is not an OpenAPI document.
#[derive(Debug, thiserror::Error)]
#[error("the schemas of the API cannot be read")]
pub struct SchemaError(#[from] serde_json::Error);

/// A kind of a document, in one version.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct KindVersion {
    /// The kind.
    pub kind: GroupKind,
    /// The version.
    pub version: Name,
}

/// The schemas of a document. Each is read when it is used.
#[derive(Debug)]
pub struct SchemaDocument {
    schemas: IndexMap<Name, Box<RawValue>>,
    /// The name of the schema of each kind.
    kinds: IndexMap<KindVersion, Name>,
}

#[derive(Deserialize)]
struct DocumentText {
    #[serde(default)]
    components: Components,
}

#[derive(Default, Deserialize)]
struct Components {
    #[serde(default)]
    schemas: IndexMap<Name, Box<RawValue>>,
}

/// The mark of the schema of a kind.
const KIND_MARK: &str = "x-kubernetes-group-version-kind";

impl SchemaDocument {
    /// Splits the text of a document into its schemas.
    ///
    /// # Errors
    /// If the text is not JSON, or its parts have the wrong kinds.
    pub fn parse(text: &str) -> Result<SchemaDocument, SchemaError> {
        let document: DocumentText = serde_json::from_str(text)?;
        let schemas = document.components.schemas;
        let mut kinds = IndexMap::default();
        for (name, raw) in &schemas {
            if !raw.get().contains(KIND_MARK) {
                continue;
            }
            let spec: Json = serde_json::from_str(raw.get())?;
            kinds.extend(kind_of(&spec).map(|kind| (kind, name.clone())));
        }
        Ok(SchemaDocument { schemas, kinds })
    }

    /// The kinds whose objects have names, in the order of the document.
    pub fn kinds(&self) -> impl Iterator<Item = &KindVersion> {
        self.kinds.keys()
    }

    /// The names of the schemas of these kinds.
    pub fn schema_names(&self) -> impl Iterator<Item = &str> {
        self.kinds.values().map(|name| &**name)
    }

    /// The type of a kind in a version. `None` if the document does not have it.
    pub fn object_schema(&self, kind: &GroupKind, version: &str) -> Option<ObjectSchema> {
        let wanted = KindVersion {
            kind: kind.clone(),
            version: version.into(),
        };
        let spec = self.schema(self.kinds.get(&wanted)?)?;
        Some(object_schema(kind, &spec, self))
    }
}

impl Schemas for SchemaDocument {
    fn schema(&self, name: &str) -> Option<Json> {
        serde_json::from_str(self.schemas.get(name)?.get()).ok()
    }
}

/// The kind of a schema, if it is the schema of a single kind whose objects have names. Options of
/// requests belong to many kinds; lists have other metadata.
fn kind_of(spec: &Json) -> Option<KindVersion> {
    let [mark] = spec[KIND_MARK].as_array()?.as_slice() else {
        return None;
    };
    let metadata = spec["properties"].get("metadata")?;
    if reference(metadata).is_some_and(|name| name.ends_with(".ListMeta")) {
        return None;
    }
    let text = |name: &str| mark[name].as_str();
    Some(KindVersion {
        kind: GroupKind::new(text("group")?, text("kind")?),
        version: text("version")?.into(),
    })
}
