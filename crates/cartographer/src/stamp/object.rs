//! What every stamped object gets: the namespace and the labels of its owner, and a reference to
//! it.

use std::fmt::Write as _;
use std::sync::Arc;

use blueprint::{Map, Name, Value};
use sha2::{Digest as _, Sha256};

use super::request::{OwnerReference, StampFailure, StampFailureClass, StampNote, StampRequest};

/// The longest value of a label, in bytes.
const LONGEST_LABEL: usize = 63;

/// How much of a long value of a label is kept, in bytes.
const KEPT: usize = 54;

/// The object with namespace, labels and owner. Metadata that is no map stays as it is, as
/// upstream.
pub(super) fn complete(
    object: Value,
    request: &StampRequest<'_>,
    notes: &mut Vec<StampNote>,
) -> Result<Value, StampFailure> {
    let (inner, secret) = object.split_secret();
    let entries = match inner {
        Value::Map(entries) => entries,
        Value::Unknown(_) => return Ok(object),
        _ => {
            let message = "the template gives something that is not an object";
            return Err(StampFailure::new(StampFailureClass::NotAnObject, message));
        }
    };
    let (metadata, hidden) = match entries.get("metadata").map(Value::split_secret) {
        None => (Map::new(), false),
        Some((Value::Map(metadata), hidden)) => (metadata.as_ref().clone(), hidden),
        Some(_) => return Ok(object),
    };
    let metadata = completed_metadata(metadata, request, notes)?;
    let mut entries = entries.as_ref().clone();
    let metadata = Value::Map(Arc::new(metadata)).tainted(hidden);
    entries.insert(Name::from("metadata"), metadata);
    Ok(Value::Map(Arc::new(entries)).tainted(secret))
}

fn completed_metadata(
    mut metadata: Map,
    request: &StampRequest<'_>,
    notes: &mut Vec<StampNote>,
) -> Result<Map, StampFailure> {
    let of_owner = |key: &str| {
        let value = request
            .owner
            .get("metadata")
            .and_then(|owner| owner.get(key));
        value.cloned().unwrap_or_else(|| Value::from(""))
    };
    let namespace = of_owner("namespace");
    match metadata.get("namespace").map(Value::unmarked) {
        Some(Value::Text(own)) if !own.is_empty() && namespace.as_text() != Some(own) => {
            let message =
                format!("the object is in the namespace `{own}`, not in that of its owner");
            return Err(StampFailure::new(StampFailureClass::Namespace, message));
        }
        Some(Value::Text(own)) if !own.is_empty() => {}
        Some(Value::Unknown(_)) => {}
        _ if namespace.as_text() == Some("") => {
            metadata.shift_remove("namespace");
        }
        _ => {
            metadata.insert(Name::from("namespace"), namespace);
        }
    }
    if request.owner_reference == OwnerReference::Written {
        let of_kind = |key: &str| request.owner.get(key).cloned().unwrap_or_default();
        let reference = Value::map([
            ("apiVersion", of_kind("apiVersion")),
            ("kind", of_kind("kind")),
            ("name", of_owner("name")),
            ("uid", of_owner("uid")),
            ("controller", Value::Bool(true)),
            ("blockOwnerDeletion", Value::Bool(true)),
        ]);
        metadata.insert(Name::from("ownerReferences"), Value::list([reference]));
    }
    add_labels(&mut metadata, request, notes);
    Ok(metadata)
}

/// Merges the labels: those of the request win. Labels of the template that are not a map of texts
/// are dropped, as upstream. The whole of a value that is too long becomes an annotation.
fn add_labels(metadata: &mut Map, request: &StampRequest<'_>, notes: &mut Vec<StampNote>) {
    let mut labels = texts(metadata.get("labels"));
    for (key, value) in request.labels.iter() {
        let long = value.as_text().filter(|text| text.len() > LONGEST_LABEL);
        let Some(text) = long else {
            labels.insert(key.clone(), value.clone());
            continue;
        };
        notes.push(StampNote::LongLabel(key.to_string()));
        if request.compat.is_upstream() {
            labels.insert(key.clone(), value.clone());
            continue;
        }
        let secret = value.split_secret().1;
        labels.insert(key.clone(), Value::from(label_value(text)).tainted(secret));
        let mut annotations = texts(metadata.get("annotations"));
        annotations.insert(key.clone(), value.clone());
        metadata.insert(Name::from("annotations"), Value::Map(Arc::new(annotations)));
    }
    metadata.insert(Name::from("labels"), Value::Map(Arc::new(labels)));
}

/// A map of texts, some of which may be unknown; empty for anything else.
fn texts(value: Option<&Value>) -> Map {
    let Some(entries) = value.and_then(Value::as_map) else {
        return Map::new();
    };
    let is_text = |value: &Value| value.as_text().is_some() || value.is_unknown();
    match entries.values().all(is_text) {
        true => entries.clone(),
        false => Map::new(),
    }
}

/// A text as the value of a label. Of one that is too long, the first 54 bytes, or less at the end of
/// a character, and 8 digits of the digest.
pub fn label_value(text: &str) -> String {
    if text.len() <= LONGEST_LABEL {
        return text.to_owned();
    }
    let kept = text.floor_char_boundary(KEPT);
    let mut short = format!("{}-", text.get(..kept).unwrap_or_default());
    for byte in Sha256::digest(text.as_bytes()).iter().take(4) {
        // Writing to a string cannot fail.
        let _ = write!(short, "{byte:02x}");
    }
    short
}

/// Whose labels an object of a resource gets.
#[derive(Clone, Copy, Debug)]
pub struct LabelSubject<'a> {
    /// The owner, a Workload or a Deliverable as a whole manifest.
    pub owner: &'a Value,
    /// The name of the blueprint.
    pub blueprint: &'a str,
    /// The name of the resource.
    pub resource: &'a str,
    /// The kind of the template.
    pub template_kind: &'a str,
    /// The name of the template.
    pub template: &'a str,
    /// The lifecycle of the template: `mutable`, `immutable` or `tekton`.
    pub lifecycle: &'a str,
}

/// The labels of an object of a resource.
pub fn stamped_labels(subject: &LabelSubject<'_>) -> Map {
    let (name, namespace, blueprint) = match text_at(subject.owner, "kind") {
        "Deliverable" => ("deliverable-name", "deliverable-namespace", "delivery-name"),
        _ => ("workload-name", "workload-namespace", "supply-chain-name"),
    };
    let metadata = subject.owner.get("metadata").unwrap_or(&Value::Null);
    labels(&[
        (name, text_at(metadata, "name")),
        (namespace, text_at(metadata, "namespace")),
        (blueprint, subject.blueprint),
        ("resource-name", subject.resource),
        ("template-kind", subject.template_kind),
        ("cluster-template-name", subject.template),
        ("template-lifecycle", subject.lifecycle),
    ])
}

/// The labels of an object of a Runnable.
pub fn run_labels(runnable: &Value, run_template: &str) -> Map {
    let metadata = runnable.get("metadata").unwrap_or(&Value::Null);
    labels(&[
        ("runnable-name", text_at(metadata, "name")),
        ("run-template-name", run_template),
    ])
}

fn labels(labels: &[(&str, &str)]) -> Map {
    labels
        .iter()
        .map(|(key, value)| (Name::from(format!("carto.run/{key}")), Value::from(*value)))
        .collect()
}

fn text_at<'a>(object: &'a Value, key: &str) -> &'a str {
    object.get(key).and_then(Value::as_text).unwrap_or_default()
}
