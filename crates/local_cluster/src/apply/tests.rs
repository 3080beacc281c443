//! Tests of server-side apply: what managers hold, conflicts and removal.

use kubernetes::builtin;
use serde_json::json;

use super::*;

fn forms(kind: &str) -> ValueForms {
    let schema = builtin()
        .object_schema(&kind.parse().unwrap(), None)
        .unwrap();
    (*schema.forms).clone()
}

fn manager(name: &str) -> FieldManager<'_> {
    FieldManager {
        name,
        api_version: "v1",
        subresource: None,
        time: "2026-01-01T00:00:00Z",
    }
}

fn fields_of_manager(object: &Json, name: &str, operation: &str) -> Json {
    let entries = object["metadata"]["managedFields"].as_array().cloned();
    let mut entries = entries.unwrap_or_default().into_iter();
    let entry = entries.find(|entry| entry["manager"] == name && entry["operation"] == operation);
    entry.map_or(Json::Null, |entry| entry["fieldsV1"].clone())
}

fn config_map(data: &Json) -> Json {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": data})
}

#[test]
fn a_field_that_is_no_longer_applied_goes() {
    let forms = forms("core/ConfigMap");
    let apply = |live: Option<&Json>, data: Json, name| {
        let applied = config_map(&data);
        apply(
            live,
            &applied,
            &manager(name),
            ConflictPolicy::Refuse,
            &forms,
        )
        .unwrap()
    };
    let one = apply(None, json!({"a": "1", "b": "2"}), "one");
    assert_eq!(
        fields_of_manager(&one, "one", "Apply"),
        json!({"f:data": {"f:a": {}, "f:b": {}}})
    );
    let two = apply(Some(&one), json!({"b": "2", "c": "3"}), "two");
    assert_eq!(two["data"], json!({"a": "1", "b": "2", "c": "3"}));
    // The other manager holds `b` too, so only `a` goes.
    let three = apply(Some(&two), json!({}), "one");
    assert_eq!(three["data"], json!({"b": "2", "c": "3"}));
    assert_eq!(
        fields_of_manager(&three, "one", "Apply"),
        json!({"f:data": {}})
    );
}

#[test]
fn another_value_of_a_held_field_is_a_conflict() {
    let forms = forms("core/ConfigMap");
    let applied = config_map(&json!({"a.b": "1"}));
    let one = apply(
        None,
        &applied,
        &manager("one"),
        ConflictPolicy::Refuse,
        &forms,
    )
    .unwrap();
    let mut updated = one.clone();
    updated["data"]["z"] = json!("x");
    track_update(Some(&one), &mut updated, &manager("writer"), &forms);
    let applied = config_map(&json!({"a.b": "2", "z": "y"}));
    let two = manager("two");
    let failure = apply(
        Some(&updated),
        &applied,
        &two,
        ConflictPolicy::Refuse,
        &forms,
    )
    .unwrap_err();
    let ApplyFailure::Conflicts(held) = &failure else {
        panic!("{failure}")
    };
    let written: Vec<_> = held.iter().map(|held| &*held.conflict.written).collect();
    assert_eq!(written, [".data.a.b", ".data.z"]);
    assert_eq!(held[0].message(), "conflict with \"one\"");
    assert_eq!(
        held[1].message(),
        "conflict with \"writer\" using v1 at 2026-01-01T00:00:00Z"
    );
    assert!(
        failure
            .to_string()
            .starts_with("Apply failed with 2 conflicts: conflicts with")
    );
    let taken = apply(
        Some(&updated),
        &applied,
        &two,
        ConflictPolicy::TakeOver,
        &forms,
    )
    .unwrap();
    assert_eq!(taken["data"], json!({"a.b": "2", "z": "y"}));
    assert_eq!(fields_of_manager(&taken, "one", "Apply"), Json::Null);
    assert_eq!(fields_of_manager(&taken, "writer", "Update"), Json::Null);
}

#[test]
fn a_repeated_configuration_changes_nothing() {
    let forms = forms("core/ConfigMap");
    let applied = config_map(&json!({"a": "1"}));
    let one = apply(
        None,
        &applied,
        &manager("one"),
        ConflictPolicy::Refuse,
        &forms,
    )
    .unwrap();
    let later = FieldManager {
        time: "2026-01-02T00:00:00Z",
        ..manager("one")
    };
    let again = apply(Some(&one), &applied, &later, ConflictPolicy::Refuse, &forms).unwrap();
    assert_eq!(again, one);
    let mut same = one.clone();
    track_update(Some(&one), &mut same, &later, &forms);
    assert_eq!(same, one);
}

#[test]
fn items_are_held_by_their_keys() {
    let forms = forms("core/Service");
    let service = |ports: Json| {
        json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a",
        "finalizers": ["x/y"]}, "spec": {"selector": {"app": "a"}, "ports": ports}})
    };
    let refuse = ConflictPolicy::Refuse;
    let one = service(
        json!([{"port": 80, "name": "http"}, {"port": 53, "protocol": "UDP", "name": "dns"}]),
    );
    let one = apply(None, &one, &manager("one"), refuse, &forms).unwrap();
    assert_eq!(
        fields_of_manager(&one, "one", "Apply"),
        json!({"f:metadata": {"f:finalizers": {"v:\"x/y\"": {}}}, "f:spec": {"f:selector": {}, "f:ports": {
            "k:{\"port\":53,\"protocol\":\"UDP\"}": {".": {}, "f:name": {}, "f:port": {}, "f:protocol": {}},
            "k:{\"port\":80,\"protocol\":\"TCP\"}": {".": {}, "f:name": {}, "f:port": {}}}}})
    );
    let two = service(json!([{"port": 443, "name": "https"}]));
    let two = apply(Some(&one), &two, &manager("two"), refuse, &forms).unwrap();
    let three = service(json!([{"port": 80, "name": "http"}]));
    let three = apply(Some(&two), &three, &manager("one"), refuse, &forms).unwrap();
    let ports = three["spec"]["ports"].as_array().unwrap();
    let names: Vec<_> = ports
        .iter()
        .map(|port| port["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["http", "https"]);
    let bad = service(json!([{"port": 1}, {"port": 1, "protocol": "TCP"}]));
    let failure = apply(Some(&two), &bad, &manager("one"), refuse, &forms).unwrap_err();
    assert_eq!(
        failure.to_string(),
        ".spec.ports: duplicate entries for key [port=1,protocol=\"TCP\"]"
    );
    let set = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"managedFields": []}});
    assert!(apply(None, &set, &manager("one"), refuse, &forms).is_err());
}

#[test]
fn plain_requests_hold_what_they_change() {
    let forms = forms("apps/Deployment");
    let manager = |name| FieldManager {
        api_version: "apps/v1",
        ..manager(name)
    };
    let mut deployment = json!({"apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "web", "labels": {"app": "web"}, "uid": "u"},
        "spec": {"replicas": 1, "selector": {"matchLabels": {"app": "web"}}, "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "web", "image": "web:1", "resources": {}}]}}}});
    track_update(None, &mut deployment, &manager("creator"), &forms);
    assert_eq!(
        fields_of_manager(&deployment, "creator", "Update"),
        json!({"f:metadata": {"f:labels": {".": {}, "f:app": {}}}, "f:spec": {
            "f:replicas": {}, "f:selector": {}, "f:template": {
                "f:metadata": {"f:labels": {".": {}, "f:app": {}}},
                "f:spec": {"f:containers": {"k:{\"name\":\"web\"}": {
                    ".": {}, "f:image": {}, "f:name": {}, "f:resources": {}}}}}}})
    );
    let mut scaled = deployment.clone();
    scaled["spec"]["replicas"] = json!(3);
    scaled["metadata"]["generation"] = json!(2);
    track_update(Some(&deployment), &mut scaled, &manager("scaler"), &forms);
    assert_eq!(
        fields_of_manager(&scaled, "scaler", "Update"),
        json!({"f:spec": {"f:replicas": {}}})
    );
    let creator = fields_of_manager(&scaled, "creator", "Update");
    assert_eq!(creator["f:spec"].get("f:replicas"), None);
    let mut status = scaled.clone();
    status["status"] = json!({"replicas": 3});
    let through = FieldManager {
        subresource: Some("status"),
        ..manager("scaler")
    };
    track_update(Some(&scaled), &mut status, &through, &forms);
    let entries = status["metadata"]["managedFields"].as_array().unwrap();
    assert_eq!(entries.len(), 3);
    assert!(entries.iter().any(|entry| entry["subresource"] == "status"
        && entry["fieldsV1"] == json!({"f:status": {"f:replicas": {}}})));
}

#[test]
fn a_request_can_remove_all_managers() {
    let forms = forms("core/ConfigMap");
    let mut object = config_map(&json!({"a": "1"}));
    track_update(None, &mut object, &manager("one"), &forms);
    let mut reset = object.clone();
    reset["metadata"]["managedFields"] = json!([]);
    track_update(Some(&object), &mut reset, &manager("two"), &forms);
    assert_eq!(reset["metadata"].get("managedFields"), None);
    // What an object without managers has is held until others apply it.
    let applied = config_map(&json!({"b": "1"}));
    let refuse = ConflictPolicy::Refuse;
    let object = apply(Some(&reset), &applied, &manager("two"), refuse, &forms).unwrap();
    assert_eq!(
        fields_of_manager(&object, "before-first-apply", "Update"),
        json!({"f:data": {".": {}, "f:a": {}}})
    );
    assert_eq!(
        fields_of_manager(&object, "two", "Apply"),
        json!({"f:data": {"f:b": {}}})
    );
}

#[test]
fn kubectl_continues_what_its_annotation_says() {
    let forms = forms("core/ConfigMap");
    let last = config_map(&json!({"a": "1", "b": "1"}));
    let mut object = last.clone();
    object["metadata"]["annotations"] = json!({LAST_APPLIED: last.to_string()});
    track_update(
        None,
        &mut object,
        &manager("kubectl-client-side-apply"),
        &forms,
    );
    let applied = config_map(&json!({"a": "2"}));
    let refuse = ConflictPolicy::Refuse;
    assert!(apply(Some(&object), &applied, &manager("other"), refuse, &forms).is_err());
    let result = apply(Some(&object), &applied, &manager("kubectl"), refuse, &forms).unwrap();
    assert_eq!(result["data"], json!({"a": "2", "b": "1"}));
    let annotation = result["metadata"]["annotations"][LAST_APPLIED]
        .as_str()
        .unwrap();
    let read: Json = serde_json::from_str(annotation).unwrap();
    assert_eq!(read, applied);
}

#[test]
fn the_oldest_updates_are_put_together() {
    let forms = forms("core/ConfigMap");
    let mut object = config_map(&json!({}));
    track_update(None, &mut object, &manager("creator"), &forms);
    for at in 0..12 {
        let before = object.clone();
        object["data"][format!("k{at}")] = json!("x");
        let name = format!("m{at:02}");
        track_update(Some(&before), &mut object, &manager(&name), &forms);
    }
    let entries = object["metadata"]["managedFields"].as_array().unwrap();
    assert_eq!(entries.len(), 10);
    assert!(fields_of_manager(&object, "ancient-changes", "Update").is_object());
}

#[test]
fn without_a_schema_maps_are_granular_and_lists_are_whole() {
    let forms = ValueForms::default();
    let object = |spec: Json| json!({"apiVersion": "x/v1", "kind": "X", "metadata": {"name": "a"}, "spec": spec});
    let refuse = ConflictPolicy::Refuse;
    let one = object(json!({"a": {"b": 1}, "list": [1], "empty": {}}));
    let one = apply(None, &one, &manager("one"), refuse, &forms).unwrap();
    assert_eq!(
        fields_of_manager(&one, "one", "Apply"),
        json!({"f:spec": {".": {}, "f:a": {".": {}, "f:b": {}}, "f:list": {}, "f:empty": {}}})
    );
    let two = object(json!({"a": {"c": 1}, "list": [2]}));
    assert!(apply(Some(&one), &two, &manager("two"), refuse, &forms).is_err());
    let two = object(json!({"a": {"c": 1}, "list": [1]}));
    let two = apply(Some(&one), &two, &manager("two"), refuse, &forms).unwrap();
    assert_eq!(two["spec"]["a"], json!({"b": 1, "c": 1}));
    let last = object(json!({"list": [1]}));
    let last = apply(Some(&two), &last, &manager("one"), refuse, &forms).unwrap();
    assert_eq!(last["spec"], json!({"a": {"c": 1}, "list": [1]}));
}
