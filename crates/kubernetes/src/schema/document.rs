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

    /// The kinds whose objects have names, in the order of the document. Kinds of other groups that
    /// these contain are among them.
    pub fn kinds(&self) -> impl Iterator<Item = &KindVersion> {
        self.kinds.keys()
    }

    /// The names of the schemas of these kinds.
    pub fn schema_names(&self) -> impl Iterator<Item = &str> {
        self.kinds.values().map(|name| &**name)
    }

    /// The schemas as the document has them: their names and texts in JSON.
    pub fn schema_texts(&self) -> impl Iterator<Item = (&str, &str)> {
        let schemas = self.schemas.iter();
        schemas.map(|(name, schema)| (&**name, schema.get()))
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

    fn is_of_server(&self) -> bool {
        true
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

#[cfg(test)]
mod tests {
    use blueprint::Kind;
    use serde_json::json;

    use super::*;
    use crate::schema::any_object;

    fn document() -> SchemaDocument {
        let reference = |name: &str| {
            json!({"allOf": [{"$ref": format!("#/components/schemas/{name}")}], "default": {},
            "description": format!("Holds {name}. More words.")})
        };
        let mark = |kinds: &[&str]| -> Json {
            let mark = |kind: &&str| json!({"group": "shop.io", "version": "v1", "kind": kind});
            kinds.iter().map(mark).collect()
        };
        let text = json!({"openapi": "3.0.0", "paths": {"/apis": {}}, "components": {"schemas": {
            "io.shop.v1.Till": {"type": "object", "description": "A till.\n\nMore.", KIND_MARK: mark(&["Till"]), "properties": {
                "metadata": reference("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"),
                "spec": reference("io.shop.v1.TillSpec"), "status": reference("io.shop.v1.TillStatus")}},
            "io.shop.v1.TillSpec": {"type": "object", "required": ["name", "size"], "properties": {
                "name": {"type": "string", "default": ""},
                "size": {"type": "string", "default": "small"},
                "limit": reference("io.k8s.apimachinery.pkg.api.resource.Quantity"),
                "inner": reference("io.shop.v1.TillSpec"),
                "gone": reference("io.shop.v1.Missing")}},
            "io.shop.v1.TillStatus": {"type": "object", "properties": {"open": {"type": "boolean"}}},
            "io.shop.v1.TillList": {"type": "object", KIND_MARK: mark(&["TillList"]), "properties": {
                "metadata": reference("io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta")}},
            "io.shop.v1.Options": {"type": "object", KIND_MARK: mark(&["A", "B"]), "properties": {"metadata": {}}},
            "io.shop.v1.Review": {"type": "object", KIND_MARK: mark(&["Review"]), "properties": {}}}}});
        SchemaDocument::parse(&text.to_string()).unwrap()
    }

    #[test]
    fn only_kinds_with_names_are_found() {
        let document = document();
        let kinds: Vec<_> = document.kinds().map(|one| one.kind.to_string()).collect();
        assert_eq!(kinds, ["shop.io/Till"]);
        assert!(
            document
                .object_schema(&GroupKind::new("shop.io", "Till"), "v2")
                .is_none()
        );
        assert!(
            document
                .object_schema(&GroupKind::new("shop.io", "TillList"), "v1")
                .is_none()
        );
        assert!(SchemaDocument::parse("{").is_err());
        assert_eq!(SchemaDocument::parse("{}").unwrap().kinds().count(), 0);
    }

    #[test]
    fn references_are_followed_until_a_schema_contains_itself() {
        let schema = document()
            .object_schema(&GroupKind::new("shop.io", "Till"), "v1")
            .unwrap();
        let ty = &schema.resource_type;
        assert_eq!(&*ty.docs, "A till.");
        let spec = ty.field("spec").unwrap();
        assert_eq!(&*spec.docs, "Holds io.shop.v1.TillSpec.");
        let Kind::Object(fields) = &spec.kind else {
            panic!("the spec is an object")
        };
        let field = |name: &str| fields.fields.get(name).unwrap();
        // Schemas of built-in kinds state an empty default for what must be written.
        assert!(field("name").required && !field("size").required);
        assert_eq!(field("inner").kind, Kind::Any);
        assert_eq!(field("gone").kind, Kind::Any);
        assert!(matches!(&field("limit").kind, Kind::Union(kinds) if kinds.len() == 3));
        assert!(schema.forms.at(&"spec.limit".into()).unwrap().is_quantity);
        assert!(!ty.field("status").unwrap().is_settable());
        let Kind::Object(metadata) = &ty.field("metadata").unwrap().kind else {
            panic!("the metadata is an object")
        };
        assert!(metadata.fields.get("uid").unwrap().computed);
    }

    #[test]
    fn an_object_of_any_kind_must_name_it() {
        let ty = any_object();
        assert_eq!(ty.name.to_string(), "kubernetes/object");
        assert!(ty.schema.open && ty.field("kind").unwrap().required);
    }
}
