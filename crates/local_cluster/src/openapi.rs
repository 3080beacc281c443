//! The documents below `/openapi/v3`, as far as clients read them: the schemas of the kinds, and the
//! paths with the options of their requests.
//!
//! Not here: descriptions of built-in fields, and documents of version 2.

use kubernetes::{ApiVersion, builtin};
use serde_json::{Map, Value as Json, json};

use crate::failure::RefusedRequest;
use crate::kinds::{KindOrigin, KindTable, ServedKind, ServedVersion, StatusForm, server_version};
use crate::naming::ObjectAddress;
use crate::naming::ResourceName;
use crate::state::ClusterState;

/// The beginning of a reference to a schema.
const REFERENCE: &str = "#/components/schemas/";

const OBJECT_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
const LIST_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta";
const QUANTITY: &str = "io.k8s.apimachinery.pkg.api.resource.Quantity";
const GROUP_VERSION_KIND: &str = "x-kubernetes-group-version-kind";

/// The index of the documents.
pub(crate) fn index(kinds: &KindTable) -> Json {
    let mut paths = Map::new();
    for kind in kinds.all() {
        for version in &kind.versions {
            let path = match &*kind.resource.group {
                "" => format!("api/{}", version.name),
                group => format!("apis/{group}/{}", version.name),
            };
            let url = format!("/openapi/v3/{path}");
            paths.insert(path, json!({"serverRelativeURL": url}));
        }
    }
    json!({"paths": paths})
}

/// The document of a group and version.
///
/// # Errors
/// If the cluster has no kind there.
pub(crate) fn document(
    state: &ClusterState,
    group: &str,
    version: &str,
) -> Result<Json, RefusedRequest> {
    let mut schemas = known_schemas();
    let mut paths = Map::new();
    let kinds = state.kinds.all();
    for kind in kinds.filter(|kind| *kind.resource.group == *group) {
        let Some(served) = kind.version(version) else {
            continue;
        };
        let name = match kind.origin {
            KindOrigin::Builtin => None,
            KindOrigin::Defined | KindOrigin::Guessed => {
                let name = format!("{group}.{version}.{}", kind.type_name.kind);
                schemas.insert(name.clone(), own_schema(state, kind, version));
                Some(name)
            }
        };
        add_paths(&mut paths, kind, served, name.as_deref());
    }
    if paths.is_empty() {
        return Err(RefusedRequest::no_such_resource());
    }
    add_builtin_schemas(&mut schemas, group, version);
    Ok(json!({
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": server_version()},
        "paths": paths,
        "components": {"schemas": schemas},
    }))
}

/// Adds the schemas of the kinds that every server has.
fn add_builtin_schemas(schemas: &mut Map<String, Json>, group: &str, version: &str) {
    let version = ApiVersion {
        group: group.into(),
        version: version.into(),
    };
    for (name, text) in builtin().schema_texts(&version) {
        let Ok(mut schema) = serde_json::from_str::<Json>(text) else {
            continue;
        };
        if schema.get(GROUP_VERSION_KIND).is_some() {
            add_identity(&mut schema);
        }
        schemas.insert(name.to_owned(), schema);
    }
}

/// Adds the fields that name the kind.
fn add_identity(schema: &mut Json) {
    if !schema["properties"].is_object() {
        schema["properties"] = json!({});
    }
    let properties = &mut schema["properties"];
    for (field, description) in [
        ("apiVersion", "The group and version of the kind."),
        ("kind", "The kind of the object."),
    ] {
        properties[field] = json!({"type": "string", "description": description});
    }
}

/// The schema of a kind that a definition defines, or that nothing is known of.
fn own_schema(state: &ClusterState, kind: &ServedKind, version: &str) -> Json {
    let name = format!("{}.{}", kind.resource.plural, kind.resource.group);
    let definition = state.store.get(&ObjectAddress {
        resource: ResourceName::new("apiextensions.k8s.io", "customresourcedefinitions"),
        namespace: "".into(),
        name: name.as_str().into(),
    });
    let versions = definition.as_ref();
    let versions = versions.and_then(|definition| definition["spec"]["versions"].as_array());
    let stated = versions
        .into_iter()
        .flatten()
        .find(|own| own["name"] == version);
    let mut schema = stated
        .map(|stated| stated["schema"]["openAPIV3Schema"].clone())
        .filter(Json::is_object)
        .unwrap_or_else(|| json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true}));
    add_identity(&mut schema);
    schema["properties"]["metadata"] = json!({"allOf": [reference(OBJECT_META)]});
    schema[GROUP_VERSION_KIND] = json!([group_version_kind(kind, version)]);
    schema
}

fn group_version_kind(kind: &ServedKind, version: &str) -> Json {
    json!({"group": &*kind.type_name.group, "version": version, "kind": &*kind.type_name.kind})
}

fn reference(name: &str) -> Json {
    json!({"$ref": format!("{REFERENCE}{name}")})
}

/// Adds the paths of a kind: of its lists, its objects and their status.
fn add_paths(
    paths: &mut Map<String, Json>,
    kind: &ServedKind,
    version: &ServedVersion,
    schema: Option<&str>,
) {
    let prefix = match &*kind.resource.group {
        "" => format!("/api/{}", version.name),
        group => format!("/apis/{group}/{}", version.name),
    };
    let plural = &kind.resource.plural;
    let list = match kind.is_namespaced() {
        true => {
            let all = operations(kind, version, schema, &["list"]);
            paths.insert(format!("{prefix}/{plural}"), all);
            format!("{prefix}/namespaces/{{namespace}}/{plural}")
        }
        false => format!("{prefix}/{plural}"),
    };
    let object = format!("{list}/{{name}}");
    let of_list = operations(
        kind,
        version,
        schema,
        &["list", "create", "deletecollection"],
    );
    let of_object = operations(kind, version, schema, &["get", "update", "patch", "delete"]);
    if version.status == StatusForm::Subresource {
        let of_status = operations(kind, version, schema, &["get", "update", "patch"]);
        paths.insert(format!("{object}/status"), of_status);
    }
    paths.insert(list, of_list);
    paths.insert(object, of_object);
}

/// The requests of a path, of which the kind has some.
fn operations(
    kind: &ServedKind,
    version: &ServedVersion,
    schema: Option<&str>,
    verbs: &[&str],
) -> Json {
    let mut operations = json!({});
    for verb in verbs.iter().filter(|verb| kind.can(verb)) {
        let method = match *verb {
            "create" => "post",
            "update" => "put",
            "patch" => "patch",
            "delete" | "deletecollection" => "delete",
            _ => "get",
        };
        let body = schema.map_or_else(|| json!({"type": "object"}), reference);
        let answer =
            json!({"description": "OK", "content": {"application/json": {"schema": body}}});
        let mut operation = json!({
            "responses": {"200": answer},
            "x-kubernetes-action": verb,
            GROUP_VERSION_KIND: group_version_kind(kind, &version.name),
        });
        let parameters = parameters(verb);
        if !parameters.is_empty() {
            operation["parameters"] = parameters.into();
        }
        let types = body_types(verb, kind.origin);
        if !types.is_empty() {
            let body = match *verb {
                "patch" => json!({"type": "object"}),
                _ => body,
            };
            let content: Map<String, Json> = types
                .iter()
                .map(|name| ((*name).to_owned(), json!({"schema": body})))
                .collect();
            operation["requestBody"] = json!({"required": true, "content": content});
        }
        operations[method] = operation;
    }
    operations
}

/// The options of a request.
fn parameters(verb: &str) -> Vec<Json> {
    let names: &[(&str, &str)] = match verb {
        "list" => &[
            ("labelSelector", "string"),
            ("fieldSelector", "string"),
            ("limit", "integer"),
            ("continue", "string"),
            ("resourceVersion", "string"),
            ("watch", "boolean"),
        ],
        "create" | "update" => &[
            ("dryRun", "string"),
            ("fieldManager", "string"),
            ("fieldValidation", "string"),
        ],
        "patch" => &[
            ("dryRun", "string"),
            ("fieldManager", "string"),
            ("fieldValidation", "string"),
            ("force", "boolean"),
        ],
        "delete" | "deletecollection" => &[("dryRun", "string"), ("propagationPolicy", "string")],
        _ => &[],
    };
    let parameter = |(name, of_type): &(&str, &str)| {
        json!({"name": name, "in": "query",
            "schema": {"type": of_type, "uniqueItems": true}})
    };
    names.iter().map(parameter).collect()
}

/// The types of bodies of a request.
fn body_types(verb: &str, origin: KindOrigin) -> &'static [&'static str] {
    match (verb, origin) {
        ("create" | "update", _) => &["application/json", "application/yaml"],
        ("patch", KindOrigin::Builtin) => &[
            "application/apply-patch+yaml",
            "application/json-patch+json",
            "application/merge-patch+json",
            "application/strategic-merge-patch+json",
        ],
        ("patch", KindOrigin::Defined | KindOrigin::Guessed) => &[
            "application/apply-patch+yaml",
            "application/json-patch+json",
            "application/merge-patch+json",
        ],
        _ => &[],
    }
}

/// The schemas that the program knows itself.
fn known_schemas() -> Map<String, Json> {
    let text = || json!({"type": "string"});
    let texts = || json!({"type": "object", "additionalProperties": text()});
    let owner = json!({"type": "object", "required": ["apiVersion", "kind", "name", "uid"],
        "properties": {"apiVersion": text(), "kind": text(), "name": text(), "uid": text(),
            "controller": {"type": "boolean"}, "blockOwnerDeletion": {"type": "boolean"}},
        "x-kubernetes-map-type": "atomic"});
    let metadata = json!({"type": "object", "properties": {
        "annotations": texts(),
        "creationTimestamp": {"type": "string", "format": "date-time"},
        "deletionGracePeriodSeconds": {"type": "integer", "format": "int64"},
        "deletionTimestamp": {"type": "string", "format": "date-time"},
        "finalizers": {"type": "array", "items": text(), "x-kubernetes-list-type": "set",
            "x-kubernetes-patch-strategy": "merge"},
        "generateName": text(),
        "generation": {"type": "integer", "format": "int64"},
        "labels": texts(),
        "managedFields": {"type": "array", "items": {"type": "object"},
            "x-kubernetes-list-type": "atomic"},
        "name": text(),
        "namespace": text(),
        "ownerReferences": {"type": "array", "items": owner,
            "x-kubernetes-list-map-keys": ["uid"], "x-kubernetes-list-type": "map",
            "x-kubernetes-patch-merge-key": "uid", "x-kubernetes-patch-strategy": "merge"},
        "resourceVersion": text(),
        "selfLink": text(),
        "uid": text()}});
    let list = json!({"type": "object", "properties": {"continue": text(),
        "remainingItemCount": {"type": "integer", "format": "int64"}, "resourceVersion": text(),
        "selfLink": text()}});
    let quantity = json!({"oneOf": [{"type": "string"}, {"type": "number"}]});
    [
        (OBJECT_META, metadata),
        (LIST_META, list),
        (QUANTITY, quantity),
    ]
    .into_iter()
    .map(|(name, schema)| (name.to_owned(), schema))
    .collect()
}
