//! The manifest of a resource as a file has it, for tools that apply manifests themselves.

use ::kubernetes::{ApiVersion, KindType, builtin};
use ::provider::{ErrorKind, ProviderError};
use blueprint::{FieldPath, Value};
use serde_json::{Map, Value as Json, json};

use crate::manifest::Manifest;
use crate::runs::{RUN_TYPE, RunSpec};

/// The manifest of a resource.
#[derive(Clone, Debug, PartialEq)]
pub struct RenderedObject {
    /// The object without its unknown parts. Secrets are in it in clear text.
    pub object: Json,
    /// The places of the unknown parts.
    pub unknown: Vec<FieldPath>,
}

/// Whether the resources of a type are objects of Kubernetes.
pub fn is_object_type(type_name: &str) -> bool {
    type_name == RUN_TYPE || type_name.parse::<KindType>().is_ok()
}

/// The manifest of a resource with this spec. Nothing is contacted: a kind without a written
/// version has the one that the API servers of today prefer.
///
/// # Errors
/// [`ErrorKind::Document`] at the field that is missing or wrong.
pub fn rendered(type_name: &str, spec: &Value) -> Result<RenderedObject, ProviderError> {
    let manifest = match type_name == RUN_TYPE {
        true => RunSpec::of(spec)?.manifest,
        false => Manifest::of(type_name, spec)?,
    };
    let version = match &manifest.version {
        Some(version) => version.clone(),
        None => {
            let known = builtin().kind(&manifest.kind);
            let version = known.map(|kind| kind.api_version().version);
            version.ok_or_else(|| {
                let message = format!(
                    "`apiVersion` is missing: the version of `{}` is known to the cluster only",
                    manifest.kind
                );
                ProviderError::new(ErrorKind::Document, message).at("apiVersion")
            })?
        }
    };
    let api_version = ApiVersion {
        group: manifest.kind.group.clone(),
        version,
    };
    // People expect these first.
    let mut object = Map::new();
    object.insert("apiVersion".to_owned(), json!(api_version.to_string()));
    object.insert("kind".to_owned(), json!(manifest.kind.kind.as_ref()));
    if let Json::Object(entries) = manifest.body {
        for (name, entry) in entries {
            object.entry(name).or_insert(entry);
        }
    }
    Ok(RenderedObject {
        object: Json::Object(object),
        unknown: manifest.unknown,
    })
}

#[cfg(test)]
mod tests {
    use blueprint::Value;
    use serde_json::{Value as Json, json};

    use super::{is_object_type, rendered};

    fn spec(json: &Json) -> Value {
        ::kubernetes::json::from_json(json)
    }

    #[test]
    fn a_kind_of_the_api_gets_its_version() {
        let spec = spec(&json!({"metadata": {"name": "a", "uid": "1"}, "data": {"b": "c"}}));
        let rendered = rendered("kubernetes/core/ConfigMap", &spec).unwrap();
        let expected = json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"b": "c"},
        });
        assert_eq!(rendered.object, expected);
        assert!(rendered.unknown.is_empty());
    }

    #[test]
    fn another_kind_needs_a_version() {
        let without = spec(&json!({"metadata": {"name": "a"}}));
        let error = rendered("kubernetes/example.com/Thing", &without).unwrap_err();
        assert_eq!(error.field, Some("apiVersion".into()));
        let with = spec(&json!({"apiVersion": "example.com/v2", "metadata": {"name": "a"}}));
        let rendered = rendered("kubernetes/example.com/Thing", &with).unwrap();
        assert_eq!(rendered.object["apiVersion"], "example.com/v2");
        assert_eq!(rendered.object["kind"], "Thing");
    }

    #[test]
    fn a_run_is_its_template() {
        let spec = spec(&json!({
            "template": {
                "apiVersion": "v1", "kind": "Pod",
                "metadata": {"generateName": "a-", "labels": {"app": "b"}},
            },
            "selector": {"app": "b"},
        }));
        let rendered = rendered("kubernetes/run", &spec).unwrap();
        assert_eq!(rendered.object["metadata"]["generateName"], "a-");
    }

    #[test]
    fn only_types_of_kubernetes_are_objects() {
        assert!(is_object_type("kubernetes/apps/Deployment"));
        assert!(is_object_type("kubernetes/object"));
        assert!(is_object_type("kubernetes/run"));
        assert!(!is_object_type("local/file"));
    }
}
