//! Tests of what objects show together, with all faults of a set in one text.

use kubernetes::structural::StructuralSchema;
use serde_json::{Value as Json, json};

use super::*;
use crate::kinds::{API_VERSION, CartoKind};

fn value(json: Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(flag) => Value::Bool(flag),
        Json::Number(number) => Value::Int(number.as_i64().unwrap_or_default()),
        Json::String(text) => Value::text(text),
        Json::Array(items) => Value::list(items.into_iter().map(value)),
        Json::Object(entries) => {
            Value::map(entries.into_iter().map(|(key, entry)| (key, value(entry))))
        }
    }
}

fn object(kind: CartoKind, name: &str, spec: Json) -> Value {
    value(json!({
        "apiVersion": API_VERSION,
        "kind": kind.name(),
        "metadata": {"name": name, "labels": {"app": "web"}},
        "spec": spec,
    }))
}

/// Object, class and path of each fault, one on each line.
fn shown(objects: &[Value]) -> String {
    let lines: Vec<String> = faults_of_set(objects, &|_, _| None)
        .iter()
        .map(|one| {
            let fault = &one.fault;
            format!("{} {} {}", one.object, fault.class.as_str(), fault.path)
        })
        .collect();
    lines.join("\n")
}

/// A supply chain that selects all workloads of these tests.
fn chain(name: &str, resources: Json) -> Value {
    let spec = json!({"selector": {"app": "web"}, "resources": resources});
    object(CartoKind::ClusterSupplyChain, name, spec)
}

fn stamping(template: Json) -> Value {
    let spec = json!({"urlPath": ".status.url", "revisionPath": ".status.rev",
                      "template": template});
    object(CartoKind::ClusterSourceTemplate, "source", spec)
}

/// A resource with the template `source`.
fn source(more: Json) -> Json {
    let mut resource = json!({
        "name": "src", "templateRef": {"kind": "ClusterSourceTemplate", "name": "source"}});
    for (key, entry) in more.as_object().into_iter().flatten() {
        resource[key] = entry.clone();
    }
    json!([resource])
}

#[test]
fn templates_are_known_and_used() {
    let objects = [
        chain(
            "chain",
            json!([{"name": "a", "templateRef": {"kind": "ClusterSourceTemplate", "options": [
                {"name": "source"}, {"name": "other"}]}}]),
        ),
        stamping(json!({"kind": "K"})),
        object(
            CartoKind::ClusterTemplate,
            "lonely",
            json!({"template": {
            "apiVersion": API_VERSION, "kind": "Runnable",
            "spec": {"runTemplateRef": {"name": "run"}}}}),
        ),
        object(
            CartoKind::ClusterRunTemplate,
            "run",
            json!({"template": {
            "kind": "K", "metadata": {"generateName": "k-"}}}),
        ),
        object(
            CartoKind::Runnable,
            "r",
            json!({"runTemplateRef": {"name": "none"}}),
        ),
    ];
    assert_eq!(
        shown(&objects),
        "0 unknown-template spec.resources[0].templateRef.options[1].name\n\
         2 unused-template metadata.name\n\
         4 unknown-template spec.runTemplateRef.name"
    );
}

#[test]
fn tags_name_what_their_resource_has() {
    let objects = [
        chain(
            "chain",
            source(json!({
                "sources": [{"name": "in", "resource": "src"}],
                "params": [{"name": "own", "value": 1}],
            })),
        ),
        stamping(json!({"kind": "K", "spec": [
            "$(workload.metadata.name)$ $(labels)$",
            "$(sources.in.url)$ $(source.url)$ $(sources['in'].url)$",
            "x $(sources.none.url)$",
            "$(image)$",
            "$(deployment.url)$",
            "$(params.own)$ $(params.given)$ $(params.nobody)$",
            "$(nothing.here)$",
            "$(labels[)$",
        ]})),
        object(
            CartoKind::Workload,
            "w",
            json!({"params": [
            {"name": "given", "value": 1}, {"name": "unread", "value": 2}]}),
        ),
    ];
    assert_eq!(
        shown(&objects),
        "1 context-key spec.template.spec[6]\n\
         1 path-syntax spec.template.spec[7]\n\
         1 context-input spec.template.spec[2]\n\
         1 context-input spec.template.spec[3]\n\
         1 context-input spec.template.spec[4]\n\
         1 undeclared-param spec.template.spec[5]\n\
         2 unused-param spec.params[1].name"
    );
    let found = faults_of_set(&objects, &|_, _| None);
    assert_eq!(found[2].fault.inside, Some(4..20));
}

#[test]
fn names_fit_the_lifecycle() {
    let of = |lifecycle: &str, metadata: Json| {
        let spec = json!({"lifecycle": lifecycle,
                          "template": {"kind": "K", "metadata": metadata}});
        shown(&[object(CartoKind::ClusterTemplate, "t", spec)])
    };
    let (fixed, prefix) = (json!({"name": "n"}), json!({"generateName": "n-"}));
    assert_eq!(of("mutable", fixed.clone()), "");
    assert_eq!(of("immutable", prefix.clone()), "");
    assert_eq!(
        of("mutable", prefix),
        "0 generate-name spec.template.metadata.generateName"
    );
    assert_eq!(
        of("tekton", fixed),
        "0 generate-name spec.template.metadata.name"
    );
    assert_eq!(
        of("tekton", json!({})),
        "0 generate-name spec.template.metadata.generateName"
    );
}

#[test]
fn outputs_are_fields_of_the_stamped_kind() {
    let schema = StructuralSchema::read(&value(json!({"type": "object", "properties": {
        "status": {"type": "object", "properties": {"url": {"type": "string"}}}}})));
    let schema = schema.expect("the schema is well formed");
    let template = stamping(json!({"apiVersion": "a/v1", "kind": "K"}));
    let lookup = |version: &str, kind: &str| (version == "a/v1" && kind == "K").then_some(&schema);
    let found = faults_of_set(&[template], &lookup);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].fault.path.to_string(), "spec.revisionPath");
    let spec = json!({"imagePath": "a[", "ytt": "x"});
    let broken = object(CartoKind::ClusterImageTemplate, "i", spec);
    assert_eq!(shown(&[broken]), "0 path-syntax spec.imagePath");
}

#[test]
fn an_owner_has_one_blueprint_and_one_option() {
    let workload = object(CartoKind::Workload, "w", json!({}));
    let option =
        |name: &str, app: &str| json!({"name": name, "selector": {"matchLabels": {"app": app}}});
    let with_options = |options: Json| {
        chain(
            "chain",
            json!([{"name": "a", "templateRef": {
                "kind": "ClusterSourceTemplate", "options": options}}]),
        )
    };
    let of = |blueprints: &[Value]| {
        let mut objects = vec![workload.clone()];
        objects.extend_from_slice(blueprints);
        let lines = shown(&objects);
        lines.lines().next().unwrap_or_default().to_owned()
    };
    let none = json!([]);
    assert_eq!(of(&[]), "");
    assert_eq!(of(&[chain("a", none.clone())]), "");
    assert_eq!(
        of(&[chain("a", none.clone()), chain("b", none.clone())]),
        "0 selector-tie metadata"
    );
    let other = json!({"selector": {"app": "other"}, "resources": []});
    let other = object(CartoKind::ClusterSupplyChain, "c", other);
    assert_eq!(of(&[other]), "0 no-blueprint metadata");
    let tied = with_options(json!([option("x", "web"), option("y", "web")]));
    assert_eq!(of(&[tied]), "0 selector-tie metadata");
    let unmatched = with_options(json!([option("x", "a"), option("y", "b")]));
    assert_eq!(of(&[unmatched]), "0 no-option metadata");
}

#[test]
fn unknown_parts_show_nothing() {
    let objects: Vec<Value> = CartoKind::ALL
        .into_iter()
        .map(|kind| {
            Value::map([
                ("apiVersion", Value::from(API_VERSION)),
                ("kind", Value::from(kind.name())),
                ("metadata", Value::unknown(None, None)),
                ("spec", Value::unknown(None, None)),
            ])
        })
        .collect();
    assert_eq!(shown(&objects), "");
}
