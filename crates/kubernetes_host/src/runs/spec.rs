//! What a document declares about runs.

use std::collections::BTreeMap;

use ::kubernetes::KindType;
use ::provider::{ErrorKind, ProviderDiagnostic, ProviderError};
use blueprint::{FieldPath, Name, PathStep, Value};
use cartographer::retention::RunLimits;
use serde_json::{Map, Value as Json, json};

use crate::applying::TOKEN_LABEL;
use crate::context::short_digest;
use crate::manifest::{Manifest, has_open_kind};
use crate::observed::digest_of_json;

/// The name of the type.
pub(crate) const RUN_TYPE: &str = "kubernetes/run";

/// The annotation with the digest of the template that a run was made from.
pub(crate) const HASH_ANNOTATION: &str = "carto.run/applied-hash";

/// The annotation with the position of a run in its series: the API server says only in which second
/// it made an object.
pub(crate) const NUMBER_ANNOTATION: &str = "cyan/run-number";

/// The field with the manifest.
const TEMPLATE: &str = "template";

/// The spec of a resource of the type.
#[derive(Clone, Debug)]
pub(crate) struct RunSpec {
    /// The manifest of each run.
    pub(crate) manifest: Manifest,
    /// The labels of all runs of the series.
    pub(crate) selector: BTreeMap<String, String>,
    /// How many runs are kept.
    pub(crate) limits: RunLimits,
    /// How a run tells whether it is healthy. Null if every run is.
    pub(crate) rule: Value,
}

impl RunSpec {
    /// Reads a spec for which [`unknown_part`] finds nothing.
    ///
    /// # Errors
    /// [`ErrorKind::Document`] at the field that is missing or wrong.
    pub(crate) fn of(spec: &Value) -> Result<RunSpec, ProviderError> {
        let part = |name: &str| spec.get(name).unwrap_or(&Value::Null);
        let any = KindType::Any.to_string();
        let manifest = Manifest::of(&any, part(TEMPLATE)).map_err(in_template)?;
        let metadata = &manifest.body["metadata"];
        if manifest.name.is_some() {
            let why = "each run is a new object, so its name cannot be fixed: use `generateName`";
            return Err(refuse("template.metadata.name", why));
        }
        for field in ["labels", "annotations"] {
            let entries = &metadata[field];
            if !entries.is_null() && !entries.is_object() {
                let path = format!("template.metadata.{field}");
                return Err(refuse(path, format!("`{field}` is a map")));
            }
        }
        let selector = selector(part("selector"))?;
        for (label, value) in &selector {
            let is_unknown = || {
                let path = ["metadata", "labels", label.as_str()];
                let path = path.map(|name| PathStep::Field(name.into()));
                let path = FieldPath(path.into());
                manifest.unknown.iter().any(|one| one.covers(&path))
            };
            if metadata["labels"][label] != json!(value) && !is_unknown() {
                let path = FieldPath::field("selector").join(PathStep::Key(label.as_str().into()));
                let why = format!("the template has no label `{label}: {value}`");
                return Err(refuse(path, why));
            }
        }
        Ok(RunSpec {
            manifest,
            selector,
            limits: RunLimits::of(part("retention")),
            rule: part("healthRule").clone(),
        })
    }

    /// The digest of the template. `None` if parts of it are not known yet.
    pub(crate) fn digest(&self) -> Option<Name> {
        let is_known = self.manifest.unknown.is_empty();
        is_known.then(|| digest_of_json(&self.manifest.body))
    }
}

/// The first part of a spec that must be known before anything can be said about its runs.
pub(crate) fn unknown_part(spec: &Value) -> Option<&'static str> {
    let is_open = |name: &str| spec.get(name).is_some_and(Value::has_unknown);
    let template = spec.get(TEMPLATE).unwrap_or(&Value::Null);
    let any = KindType::Any.to_string();
    if template.is_unknown() || has_open_kind(&any, template) {
        return Some("its template, which is known on deploy");
    }
    let others = is_open("selector") || is_open("retention") || is_open("healthRule");
    others.then_some("its selector and rules, which are known on deploy")
}

/// The mistakes in a spec.
pub(crate) fn check_run(spec: &Value) -> Vec<ProviderDiagnostic> {
    if unknown_part(spec).is_some() {
        return Vec::new();
    }
    let error = RunSpec::of(spec).err();
    let refusal = error.map(|error| {
        let path = error.field.unwrap_or_default();
        ProviderDiagnostic::error(path, error.message)
    });
    refusal.into_iter().collect()
}

/// The labels of a selector: at least one, because a delete removes all objects that it finds.
fn selector(written: &Value) -> Result<BTreeMap<String, String>, ProviderError> {
    let mut selector = BTreeMap::new();
    for (label, value) in written.as_map().into_iter().flat_map(|map| map.iter()) {
        let path = || FieldPath::field("selector").join(PathStep::Key(label.clone()));
        let Some(value) = value.as_text() else {
            return Err(refuse(path(), "the value of a label is a text"));
        };
        if label.is_empty() || label.contains([',', '=']) || value.contains([',', '=']) {
            return Err(refuse(path(), "this is no label"));
        }
        selector.insert(label.to_string(), value.to_owned());
    }
    match selector.is_empty() {
        true => Err(refuse("selector", "the selector needs at least one label")),
        false => Ok(selector),
    }
}

/// The object that is sent for a run: with the digest of its template, its position in the series, and
/// the token of the call.
pub(crate) fn object_of_run(body: &Json, digest: &str, number: u64, token: &str) -> Json {
    let mut body = body.clone();
    let Some(metadata) = body["metadata"].as_object_mut() else {
        return body;
    };
    insert(metadata, "labels", TOKEN_LABEL, short_digest(token));
    insert(metadata, "annotations", HASH_ANNOTATION, digest.to_owned());
    let number = number.to_string();
    insert(metadata, "annotations", NUMBER_ANNOTATION, number);
    body
}

fn insert(metadata: &mut Map<String, Json>, field: &str, key: &str, value: String) {
    let entries = metadata.entry(field).or_insert_with(|| json!({}));
    if entries.is_null() {
        *entries = json!({});
    }
    if let Some(entries) = entries.as_object_mut() {
        entries.insert(key.to_owned(), json!(value));
    }
}

fn refuse(path: impl Into<FieldPath>, why: impl Into<String>) -> ProviderError {
    ProviderError::new(ErrorKind::Document, why).at(path)
}

/// An error about the object, at the template that it comes from.
pub(crate) fn in_template(mut error: ProviderError) -> ProviderError {
    if let Some(path) = &mut error.field {
        lead_into_template(path);
    }
    for said in &mut error.diagnostics {
        if !said.path.is_empty() {
            lead_into_template(&mut said.path);
        }
    }
    error
}

fn lead_into_template(path: &mut FieldPath) {
    path.0.insert(0, PathStep::Field(TEMPLATE.into()));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: &str) -> Value {
        Value::from(value)
    }

    fn spec(metadata: Value, selector: Value) -> Value {
        let template = Value::map([
            ("apiVersion", text("runs.example/v1")),
            ("kind", text("Build")),
            ("metadata", metadata),
        ]);
        Value::map([("template", template), ("selector", selector)])
    }

    fn labels(value: &str) -> Value {
        Value::map([("app", text(value))])
    }

    fn generated(more: (&str, Value)) -> Value {
        let entries = [("generateName", text("shop-")), ("labels", labels("shop"))];
        Value::map(entries.into_iter().chain([more]))
    }

    /// The mistake as `FIELD: MESSAGE`.
    fn mistake(spec: &Value) -> String {
        let said = check_run(spec);
        let first = said.first().expect("a mistake");
        format!("{}: {}", first.path, first.summary)
    }

    #[test]
    fn a_run_has_a_generated_name_and_the_labels_of_its_selector() {
        let good = spec(generated(("namespace", text("a"))), labels("shop"));
        assert_eq!(check_run(&good), Vec::new());
        let named = spec(generated(("name", text("shop"))), labels("shop"));
        assert!(mistake(&named).starts_with("template.metadata.name: each run"));
        let unnamed = spec(Value::map([("labels", labels("shop"))]), labels("shop"));
        assert!(mistake(&unnamed).starts_with("template.metadata.name: `metadata.name`"));
        let other = spec(generated(("namespace", text("a"))), labels("other"));
        assert!(
            mistake(&other).starts_with("selector"),
            "{}",
            mistake(&other)
        );
        let all = spec(
            generated(("namespace", text("a"))),
            Value::map([("a", text("b"))]),
        );
        assert!(mistake(&all).contains("no label `a: b`"));
    }

    #[test]
    fn a_selector_without_labels_is_refused() {
        let empty: [(&str, Value); 0] = [];
        let spec = spec(generated(("namespace", text("a"))), Value::map(empty));
        assert_eq!(
            mistake(&spec),
            "selector: the selector needs at least one label"
        );
    }

    #[test]
    fn annotations_that_are_no_map_are_refused() {
        let spec = spec(generated(("annotations", text("a"))), labels("shop"));
        assert!(mistake(&spec).starts_with("template.metadata.annotations"));
    }

    #[test]
    fn unknown_parts_leave_the_digest_open() {
        let open = (
            "annotations",
            Value::map([("a", Value::unknown(None, None))]),
        );
        let spec = spec(generated(open), labels("shop"));
        assert_eq!(unknown_part(&spec), None);
        assert_eq!(RunSpec::of(&spec).unwrap().digest(), None);
        let whole = Value::map([("template", Value::unknown(None, None))]);
        assert!(unknown_part(&whole).is_some());
    }

    #[test]
    fn the_object_tells_which_template_and_call_it_comes_from() {
        let body = json!({"metadata": {"annotations": null}});
        let object = object_of_run(&body, "digest", 3, "token");
        let annotations = &object["metadata"]["annotations"];
        assert_eq!(annotations[HASH_ANNOTATION], "digest");
        assert_eq!(annotations[NUMBER_ANNOTATION], "3");
        assert_eq!(
            object["metadata"]["labels"][TOKEN_LABEL],
            json!(short_digest("token"))
        );
    }
}
