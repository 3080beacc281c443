//! Verdicts about single objects.

use serde_json::{Value as Json, json};

use super::AdmissionVerdict;

fn chain(spec: &Json) -> Json {
    json!({
        "apiVersion": "carto.run/v1alpha1",
        "kind": "ClusterSupplyChain",
        "metadata": {"name": "chain"},
        "spec": spec,
    })
}

fn resource(name: &str) -> Json {
    json!({"name": name, "templateRef": {"kind": "ClusterSourceTemplate", "name": "t"}})
}

#[test]
fn one_fault_is_one_line_with_its_path() {
    let object = chain(&json!({"resources": [resource("source")]}));
    let verdict = AdmissionVerdict::of(&object);
    let refused = verdict.refused.unwrap();
    assert!(refused.starts_with("spec"), "{refused}");
    assert!(refused.contains("selector"), "{refused}");
    assert!(!refused.contains('\n'), "{refused}");
    assert_eq!(verdict.warnings, Vec::<String>::new());
}

#[test]
fn several_faults_are_a_list() {
    let object = chain(&json!({"resources": [resource("a"), resource("a")]}));
    let refused = AdmissionVerdict::of(&object).refused.unwrap();
    let lines: Vec<&str> = refused.lines().collect();
    assert_eq!(lines[0], "the ClusterSupplyChain is invalid:");
    assert_eq!(lines.len(), 3, "{refused}");
    assert!(lines[1..].iter().all(|line| line.starts_with("* spec")));
    assert!(refused.contains("spec.resources[1]"), "{refused}");
}

#[test]
fn what_the_original_accepts_is_a_warning() {
    let mut first = resource("a");
    first["sources"] = json!([{"name": "in", "resource": "b"}]);
    let object = chain(&json!({"selector": {"app": "x"}, "resources": [first, resource("b")]}));
    let verdict = AdmissionVerdict::of(&object);
    assert_eq!(verdict.refused, None);
    assert_eq!(verdict.warnings.len(), 1, "{:?}", verdict.warnings);
    assert!(verdict.warnings[0].starts_with("spec.resources[0].sources[0]"));
}

#[test]
fn other_objects_and_those_that_are_deleted_are_accepted() {
    let mut other = chain(&json!({"resources": []}));
    other["apiVersion"] = json!("example.com/v1");
    let mut deleted = chain(&json!({"resources": []}));
    assert!(AdmissionVerdict::of(&deleted).refused.is_some());
    deleted["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    for object in [other, deleted, json!(null), json!([1]), json!("text")] {
        assert_eq!(AdmissionVerdict::of(&object), AdmissionVerdict::default());
    }
}
