//! What the server writes into objects of its own kinds.
//!
//! Only what other objects or clients depend on; the defaults of most fields are left out.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value as Json, json};

use crate::naming::ResourceName;
use crate::object::{meta_text, metadata_of, set_field};
use crate::state::is_definition;

/// Completes an object that is created.
pub(crate) fn prepare_new(resource: &ResourceName, object: &mut Json, time: &str) {
    match (&*resource.group, &*resource.plural) {
        ("", "namespaces") => {
            let name = meta_text(object, "name").to_owned();
            if let Some(metadata) = metadata_of(object) {
                let labels = metadata.entry("labels").or_insert_with(|| json!({}));
                set_field(labels, "kubernetes.io/metadata.name", Some(name.into()));
            }
            set_field(object, "spec", Some(json!({"finalizers": ["kubernetes"]})));
            set_field(object, "status", Some(json!({"phase": "Active"})));
        }
        ("", "secrets") => prepare_secret(object),
        ("", "pods") => set_field(object, "status", Some(json!({"phase": "Pending"}))),
        _ if is_definition(resource) => prepare_definition(object, time),
        _ => prepare_replicas(resource, object),
    }
}

/// One replica is the default of the kinds that have some; clients rely on the number.
fn prepare_replicas(resource: &ResourceName, object: &mut Json) {
    let has_replicas = matches!(
        (&*resource.group, &*resource.plural),
        ("apps", "deployments" | "replicasets" | "statefulsets") | ("", "replicationcontrollers")
    );
    if has_replicas && object["spec"].is_object() && object["spec"]["replicas"].is_null() {
        set_field(&mut object["spec"], "replicas", Some(1.into()));
    }
}

/// Completes an object that is changed.
pub(crate) fn prepare_change(
    resource: &ResourceName,
    before: &Json,
    object: &mut Json,
    time: &str,
) {
    match (&*resource.group, &*resource.plural) {
        ("", "secrets") => {
            prepare_secret(object);
        }
        ("", "namespaces") if object["spec"]["finalizers"].is_null() => {
            set_field(object, "spec", Some(before["spec"].clone()));
        }
        ("", "services") => {
            let address = &before["spec"]["clusterIP"];
            if !address.is_null() && object["spec"]["clusterIP"].is_null() {
                set_field(&mut object["spec"], "clusterIP", Some(address.clone()));
            }
        }
        _ if is_definition(resource) => prepare_definition(object, time),
        _ => prepare_replicas(resource, object),
    }
}

/// Moves `stringData` into `data`.
fn prepare_secret(object: &mut Json) {
    if let Some(Json::Object(texts)) = object.get("stringData").cloned()
        && let Some(entries) = object.as_object_mut()
    {
        entries.shift_remove("stringData");
        let data = entries.entry("data").or_insert_with(|| json!({}));
        for (key, text) in texts {
            let encoded = STANDARD.encode(text.as_str().unwrap_or_default());
            set_field(data, &key, Some(encoded.into()));
        }
    }
    if object["type"].as_str().is_none_or(str::is_empty) {
        set_field(object, "type", Some("Opaque".into()));
    }
}

/// Completes the names of a definition, and states that it is established.
fn prepare_definition(object: &mut Json, time: &str) {
    let spec = &mut object["spec"];
    if !spec.is_object() {
        return;
    }
    if spec["conversion"].is_null() {
        set_field(spec, "conversion", Some(json!({"strategy": "None"})));
    }
    let kind = spec["names"]["kind"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    if spec["names"].is_object() {
        for (field, default) in [
            ("singular", kind.to_lowercase()),
            ("listKind", format!("{kind}List")),
        ] {
            if spec["names"][field].is_null() {
                set_field(&mut spec["names"], field, Some(default.into()));
            }
        }
    }
    let names = spec["names"].clone();
    let versions = spec["versions"].as_array().into_iter().flatten();
    let stored = versions
        .filter(|version| version["storage"] == true)
        .map(|version| version["name"].clone());
    let stored: Vec<Json> = stored.collect();
    let mut status = match object["status"].is_object() {
        true => object["status"].clone(),
        false => json!({}),
    };
    if status["conditions"].as_array().is_none_or(Vec::is_empty) {
        let condition = |ty: &str, reason: &str, message: &str| {
            json!({"type": ty, "status": "True", "reason": reason, "message": message,
                "lastTransitionTime": time})
        };
        status["conditions"] = json!([
            condition("NamesAccepted", "NoConflicts", "no conflicts found"),
            condition(
                "Established",
                "InitialNamesAccepted",
                "the initial names have been accepted"
            ),
        ]);
    }
    status["acceptedNames"] = names;
    let mut versions = status["storedVersions"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    for version in stored {
        if !versions.contains(&version) {
            versions.push(version);
        }
    }
    status["storedVersions"] = versions.into();
    set_field(object, "status", Some(status));
}
