//! Tests of patches.

use kubernetes::builtin;
use serde_json::json;

use super::*;

fn forms(kind: &str) -> ValueForms {
    let schema = builtin()
        .object_schema(&kind.parse().unwrap(), None)
        .unwrap();
    (*schema.forms).clone()
}

#[test]
fn a_merge_patch_replaces_lists_and_removes_nulls() {
    let target = json!({"a": {"b": 1, "c": [1, 2]}, "d": "x"});
    let patch = json!({"a": {"b": null, "c": [3]}, "e": {"f": null}});
    assert_eq!(
        merge_patch(&target, &patch),
        json!({"a": {"c": [3]}, "d": "x", "e": {}})
    );
}

#[test]
fn a_json_patch_is_applied_whole_or_not() {
    let target = json!({"a": [1, 2]});
    let patch = json!([{"op": "test", "path": "/a/0", "value": 1},
        {"op": "add", "path": "/a/-", "value": 3}, {"op": "remove", "path": "/a/0"}]);
    assert_eq!(json_patch(&target, &patch).unwrap(), json!({"a": [2, 3]}));
    let unfit = json!([{"op": "add", "path": "/a/-", "value": 3}, {"op": "remove", "path": "/b"}]);
    assert!(matches!(
        json_patch(&target, &unfit),
        Err(PatchFailure::Unfit(_))
    ));
    let malformed = json!([{"op": "grow", "path": "/a"}]);
    assert!(matches!(
        json_patch(&target, &malformed),
        Err(PatchFailure::Malformed(_))
    ));
}

fn deployment() -> Json {
    json!({"spec": {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}},
        "template": {"spec": {"containers": [
            {"name": "a", "image": "a:1", "args": ["x"], "ports": [{"containerPort": 80, "protocol": "TCP"}]},
            {"name": "b", "image": "b:1"}, {"name": "c", "image": "c:1"}]}}},
        "metadata": {"finalizers": ["one", "two"], "labels": {"app": "web"}}})
}

fn containers(patch: &Json) -> Json {
    let patch = json!({"spec": {"template": {"spec": patch}}});
    let merged = strategic_merge(&deployment(), &patch, &forms("apps/Deployment")).unwrap();
    merged["spec"]["template"]["spec"]["containers"].clone()
}

fn names(containers: &Json) -> Vec<&str> {
    let items = containers.as_array().unwrap().iter();
    items.map(|item| item["name"].as_str().unwrap()).collect()
}

#[test]
fn items_of_keyed_lists_are_merged() {
    let merged = containers(&json!({"containers": [
        {"name": "b", "image": "b:2", "env": [{"name": "X", "value": null}]},
        {"name": "a", "args": ["y"], "ports": [{"containerPort": 80, "name": "http"}]}]}));
    assert_eq!(names(&merged), ["b", "a", "c"]);
    assert_eq!(
        merged[0],
        json!({"name": "b", "image": "b:2", "env": [{"name": "X"}]})
    );
    assert_eq!(
        merged[1],
        json!({"name": "a", "image": "a:1", "args": ["y"],
            "ports": [{"containerPort": 80, "protocol": "TCP", "name": "http"}]})
    );
    let new = containers(&json!({"containers": [{"name": "d", "image": "d:1"}]}));
    assert_eq!(names(&new), ["d", "a", "b", "c"]);
}

#[test]
fn directives_delete_replace_and_order() {
    let deleted = containers(&json!({"containers": [{"name": "b", "$patch": "delete"}]}));
    assert_eq!(names(&deleted), ["a", "c"]);
    let replaced =
        containers(&json!({"containers": [{"name": "z", "image": "z:1"}, {"$patch": "replace"}]}));
    assert_eq!(replaced, json!([{"name": "z", "image": "z:1"}]));
    let ordered = containers(&json!({
        "$setElementOrder/containers": [{"name": "c"}, {"name": "d"}, {"name": "a"}],
        "containers": [{"name": "d", "image": "d:1"}]}));
    assert_eq!(names(&ordered), ["b", "c", "d", "a"]);
    let forms = forms("apps/Deployment");
    let patch = json!({"metadata": {"$deleteFromPrimitiveList/finalizers": ["one"], "labels": {"$patch": "replace", "x": "y"}},
        "spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}});
    let merged = strategic_merge(&deployment(), &patch, &forms).unwrap();
    assert_eq!(
        merged["metadata"],
        json!({"finalizers": ["two"], "labels": {"x": "y"}})
    );
    assert_eq!(merged["spec"]["strategy"], json!({"type": "Recreate"}));
    let patch =
        json!({"metadata": {"finalizers": ["three"]}, "spec": {"template": {"$patch": "delete"}}});
    let merged = strategic_merge(&deployment(), &patch, &forms).unwrap();
    let mut finalizers: Vec<&str> = merged["metadata"]["finalizers"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Json::as_str)
        .collect();
    finalizers.sort_unstable();
    assert_eq!(finalizers, ["one", "three", "two"]);
    assert_eq!(merged["spec"]["template"], json!({}));
}

#[test]
fn malformed_patches_are_refused() {
    let forms = forms("apps/Deployment");
    for patch in [
        json!([]),
        json!({"spec": {"$patch": "grow"}}),
        json!({"spec": {"strategy": {"$retainKeys": ["type"], "rollingUpdate": {}}}}),
        json!({"spec": {"template": {"spec": {"containers": [{"image": "x"}]}}}}),
    ] {
        let result = strategic_merge(&deployment(), &patch, &forms);
        assert!(matches!(result, Err(PatchFailure::Malformed(_))), "{patch}");
    }
}
