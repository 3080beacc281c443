//! The types that a CustomResourceDefinition defines.
//!
//! Not here: whether the API server accepts the definition.

use std::cmp::Reverse;
use std::sync::Arc;

use blueprint::{Name, SupportStatus};
use serde_json::Value as Json;

use super::object_type::{ObjectSchema, definition_first, object_schema};
use super::reader::NoSchemas;
use crate::GroupKind;

/// The error for an object that is not a CustomResourceDefinition.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DefinitionError {
    /// The object has another kind, or another version of it.
    #[error("the object is no CustomResourceDefinition of `apiextensions.k8s.io/v1`")]
    OtherKind,
    /// A part is missing or has the wrong kind.
    #[error("the CustomResourceDefinition has no `{0}`")]
    Lacks(&'static str),
}

/// A kind that a CustomResourceDefinition defines.
#[derive(Clone, Debug)]
pub struct DefinedKind {
    /// The kind.
    pub kind: GroupKind,
    /// Its name in paths of the API.
    pub plural: Name,
    /// Whether its objects are in namespaces.
    pub is_namespaced: bool,
    /// The served versions, the preferred one first.
    pub versions: Vec<DefinedVersion>,
}

/// A version of a kind that a CustomResourceDefinition defines.
#[derive(Clone, Debug)]
pub struct DefinedVersion {
    /// The version.
    pub version: Name,
    /// Its type.
    pub schema: ObjectSchema,
}

/// The types that a CustomResourceDefinition defines.
///
/// # Errors
/// If the object is not a definition, or lacks a name, a scope or versions. A version without a
/// schema has an open type.
pub fn types_of_crd(crd: &Json) -> Result<DefinedKind, DefinitionError> {
    let is_definition =
        crd["kind"] == "CustomResourceDefinition" && crd["apiVersion"] == "apiextensions.k8s.io/v1";
    if !is_definition {
        return Err(DefinitionError::OtherKind);
    }
    let spec = &crd["spec"];
    let text = |value: &Json, path: &'static str| {
        value
            .as_str()
            .filter(|text| !text.is_empty())
            .map(Name::from)
            .ok_or(DefinitionError::Lacks(path))
    };
    let kind = GroupKind {
        group: text(&spec["group"], "spec.group")?,
        kind: text(&spec["names"]["kind"], "spec.names.kind")?,
    };
    let is_namespaced = match spec["scope"].as_str() {
        Some("Namespaced") => true,
        Some("Cluster") => false,
        _ => return Err(DefinitionError::Lacks("spec.scope")),
    };
    let versions = spec["versions"].as_array();
    let mut served = Vec::new();
    for version in versions.ok_or(DefinitionError::Lacks("spec.versions"))? {
        let name = text(&version["name"], "spec.versions[].name")?;
        if version["served"] == false {
            continue;
        }
        let mut schema = object_schema(&kind, &version["schema"]["openAPIV3Schema"], &NoSchemas);
        let ty = Arc::make_mut(&mut schema.resource_type);
        ty.waits.push(definition_first());
        if version["deprecated"] == true {
            ty.support_status = SupportStatus::Deprecated;
        }
        served.push(DefinedVersion {
            version: name,
            schema,
        });
    }
    served.sort_by_cached_key(|version| Reverse(version_rank(&version.version)));
    Ok(DefinedKind {
        plural: text(&spec["names"]["plural"], "spec.names.plural")?,
        kind,
        is_namespaced,
        versions: served,
    })
}

/// The rank of a version among those of its kind; the highest is preferred. `v2` is above `v1`,
/// that above `v2beta1` and that above `v1alpha1`; other names are below, the first one highest.
fn version_rank(version: &str) -> (u8, u64, u64, Reverse<Name>) {
    let numbers = || {
        let rest = version.strip_prefix('v')?;
        let end = rest.find(|character: char| !character.is_ascii_digit());
        let (major, rest) = rest.split_at(end.unwrap_or(rest.len()));
        let (stability, minor) = if rest.is_empty() {
            (3, "0")
        } else if let Some(minor) = rest.strip_prefix("beta") {
            (2, minor)
        } else {
            (1, rest.strip_prefix("alpha")?)
        };
        Some((stability, major.parse().ok()?, minor.parse().ok()?))
    };
    let (stability, major, minor) = numbers().unwrap_or((0, 0, 0));
    (stability, major, minor, Reverse(version.into()))
}

#[cfg(test)]
mod tests {
    use blueprint::{Field, Kind};
    use serde_json::json;

    use super::*;
    use crate::schema::ListForm;

    fn definition(versions: &Json) -> Json {
        json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "spec": {"group": "shop.example", "scope": "Namespaced",
                "names": {"kind": "Shelf", "plural": "shelves"}, "versions": versions}})
    }

    fn shelf() -> Json {
        json!({"type": "object", "description": "A shelf. It holds things.", "required": ["spec"], "properties": {
            "apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": {"type": "object"},
            "spec": {"type": "object", "required": ["size", "depth"], "properties": {
                "size": {"type": "string", "enum": ["small", "large"]},
                "depth": {"type": "integer", "minimum": 1, "default": 40},
                "port": {"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}]},
                "weight": {"type": "number"},
                "values": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
                "anything": {"x-kubernetes-preserve-unknown-fields": true},
                "empty": {"type": "object"},
                "labels": {"type": "object", "additionalProperties": {"type": "string"}},
                "until": {"type": "string", "format": "date-time"},
                "boards": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
                    "items": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"},
                        "tags": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}}}}}}},
            "status": {"type": "object", "properties": {"used": {"type": "integer"}}}}})
    }

    #[test]
    fn a_definition_becomes_types() {
        let versions = json!([
            {"name": "v1alpha1", "served": true, "storage": false, "deprecated": true},
            {"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": shelf()}},
            {"name": "v0", "served": false, "storage": false}]);
        let defined = types_of_crd(&definition(&versions)).unwrap();
        assert_eq!(defined.kind, GroupKind::new("shop.example", "Shelf"));
        assert_eq!((&*defined.plural, defined.is_namespaced), ("shelves", true));
        let names: Vec<_> = defined.versions.iter().map(|one| &*one.version).collect();
        assert_eq!(names, ["v1", "v1alpha1"]);
        let ty = &defined.versions[0].schema.resource_type;
        assert_eq!(ty.name.to_string(), "kubernetes/shop.example/Shelf");
        assert_eq!(&*ty.docs, "A shelf.");
        let old = &defined.versions[1].schema.resource_type;
        assert_eq!(old.support_status, SupportStatus::Deprecated);
        assert!(old.schema.open && !ty.schema.open);
        let kind = ty.field("kind").unwrap();
        assert_eq!(kind.allowed, ["Shelf".into()]);
        assert!(!kind.required && kind.is_settable());
        let status = ty.field("status").unwrap();
        assert!(status.computed && !status.is_settable());
        assert!(ty.field("spec").unwrap().required);
        assert!(ty.field("metadata").unwrap().required);
        let waits: Vec<_> = ty.waits.iter().map(|wait| &*wait.type_name).collect();
        let expected = [
            "kubernetes/core/Namespace",
            "kubernetes/apiextensions.k8s.io/CustomResourceDefinition",
        ];
        assert_eq!(waits, expected);
    }

    #[test]
    fn fields_have_the_kinds_of_the_schema() {
        let versions =
            json!([{"name": "v1", "served": true, "schema": {"openAPIV3Schema": shelf()}}]);
        let defined = types_of_crd(&definition(&versions)).unwrap();
        let schema = &defined.versions[0].schema;
        let Kind::Object(spec) = &schema.resource_type.field("spec").unwrap().kind else {
            panic!("the spec is an object")
        };
        let field = |name: &str| spec.fields.get(name).unwrap();
        assert!(field("size").required && !field("size").nullable);
        assert_eq!(field("size").allowed, ["small".into(), "large".into()]);
        // The server fills in the default.
        assert!(!field("depth").required && field("depth").default.is_none());
        assert_eq!(field("depth").constraint.min, Some(1.0));
        let is_union = |field: &Field| matches!(field.kind, Kind::Union(_));
        assert!(is_union(field("port")) && is_union(field("weight")));
        assert_eq!(field("anything").kind, Kind::Any);
        for name in ["values", "empty"] {
            let is_open =
                |field: &Field| matches!(&field.kind, Kind::Object(schema) if schema.open);
            assert!(is_open(field(name)), "{name}");
        }
        assert_eq!(field("until").kind, Kind::String);
        assert!(matches!(&field("labels").kind, Kind::Map(value) if value.kind == Kind::String));
        assert_eq!(field("boards").keyed_by.as_deref(), Some("name"));
        let form = |path: &str| {
            schema
                .forms
                .at(&path.into())
                .and_then(|forms| forms.list.clone())
        };
        assert_eq!(
            form("spec.boards"),
            Some(ListForm::Map(vec!["name".into()]))
        );
        assert_eq!(form("spec.boards[0].tags"), Some(ListForm::Set));
        assert_eq!(form("spec.size"), None);
    }

    #[test]
    fn what_is_no_definition_is_an_error() {
        let error = |crd: &Json| types_of_crd(crd).unwrap_err();
        assert_eq!(error(&json!({"kind": "Pod"})), DefinitionError::OtherKind);
        let mut crd = definition(&json!([]));
        assert!(types_of_crd(&crd).unwrap().versions.is_empty());
        crd["spec"]["scope"] = json!("Nowhere");
        assert_eq!(error(&crd), DefinitionError::Lacks("spec.scope"));
    }

    #[test]
    fn versions_are_ranked_as_the_server_does() {
        let ranked = [
            "v10",
            "v2",
            "v1",
            "v11beta2",
            "v10beta3",
            "v3beta1",
            "v12alpha1",
            "v11alpha2",
            "foo1",
            "foo10",
        ];
        let mut sorted = ranked;
        sorted.reverse();
        sorted.sort_by_cached_key(|version| Reverse(version_rank(version)));
        assert_eq!(sorted, ranked);
    }
}
