//! Patches, server-side apply and managed fields.

use serde_json::{Value as Json, json};

use crate::cases;
use crate::peer::{Reply, TestServer};

cases!(
    json_patches_change_an_object,
    strategic_patches_merge_lists_by_key,
    plain_writes_have_managers,
    applies_create_and_change,
    conflicts_name_their_fields,
    an_equal_apply_changes_nothing,
    a_dry_run_of_an_apply_is_a_plan,
    an_apply_can_ask_for_a_uid,
    undeclared_fields_are_refused,
    a_status_is_applied_apart,
);

fn config(name: &str, data: Json) -> Json {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data})
}

async fn patch(server: &TestServer, path: &str, ty: &str, body: &Json) -> Reply {
    let headers = [("content-type", ty)];
    server.send("PATCH", path, &headers, Some(body)).await
}

async fn apply(server: &TestServer, path: &str, query: &str, body: &Json) -> Reply {
    let path = format!("{path}?{query}");
    patch(server, &path, "application/apply-patch+yaml", body).await
}

fn version(object: &Json) -> &str {
    object["metadata"]["resourceVersion"].as_str().unwrap()
}

/// The managers of an object as manager, operation, subresource and fields.
fn managers(object: &Json) -> Vec<(String, String, String, Json)> {
    let text = |value: &Json| value.as_str().unwrap_or_default().to_owned();
    let entries = object["metadata"]["managedFields"].as_array();
    let entries = entries.into_iter().flatten();
    let mut all: Vec<_> = entries
        .map(|entry| {
            (
                text(&entry["manager"]),
                text(&entry["operation"]),
                text(&entry["subresource"]),
                entry["fieldsV1"].clone(),
            )
        })
        .collect();
    all.sort_by_key(|entry| (entry.0.clone(), entry.1.clone(), entry.2.clone()));
    all
}

async fn json_patches_change_an_object(server: &TestServer) {
    let path = server.core("configmaps");
    let data = json!({"a": "1", "b": "2"});
    server.post(&path, &config("a", data)).await.with(201);
    let own = format!("{path}/a");
    let ty = "application/json-patch+json";
    let operations = json!([
        {"op": "test", "path": "/data/a", "value": "1"},
        {"op": "replace", "path": "/data/a", "value": "3"},
        {"op": "remove", "path": "/data/b"},
        {"op": "add", "path": "/metadata/labels", "value": {"x~y": "z"}},
    ]);
    let labelled = patch(server, &own, ty, &operations).await;
    // A label key has no tilde.
    labelled.refused(422, "Invalid");
    let operations = json!([
        {"op": "test", "path": "/data/a", "value": "1"},
        {"op": "replace", "path": "/data/a", "value": "3"},
        {"op": "remove", "path": "/data/b"},
        {"op": "add", "path": "/metadata/labels", "value": {"x": "z"}},
    ]);
    let patched = patch(server, &own, ty, &operations).await.with(200);
    assert_eq!(patched["data"], json!({"a": "3"}));
    assert_eq!(patched["metadata"]["labels"], json!({"x": "z"}));
    let unfit = json!([{"op": "test", "path": "/data/a", "value": "1"}]);
    let refused = patch(server, &own, ty, &unfit).await;
    refused.refused(422, "Invalid");
    let malformed = json!({"op": "test"});
    let refused = patch(server, &own, ty, &malformed).await;
    refused.refused(400, "BadRequest");
}

async fn strategic_patches_merge_lists_by_key(server: &TestServer) {
    let path = format!("/apis/apps/v1/namespaces/{}/deployments", server.namespace);
    let labels = json!({"app": "web"});
    let body = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {"replicas": 0, "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels},
                "spec": {"containers": [{"name": "web", "image": "nginx"},
                    {"name": "log", "image": "fluent"}]}}}});
    server.post(&path, &body).await.with(201);
    let containers = json!([{"name": "web", "image": "nginx:2"}]);
    let change = json!({"spec": {"template": {"spec": {"containers": containers}}}});
    let ty = "application/strategic-merge-patch+json";
    let patched = patch(server, &format!("{path}/web"), ty, &change).await;
    let patched = patched.with(200);
    let images: Vec<&Json> = patched["spec"]["template"]["spec"]["containers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|container| &container["image"])
        .collect();
    assert_eq!(images, ["nginx:2", "fluent"]);
}

async fn plain_writes_have_managers(server: &TestServer) {
    let path = server.core("configmaps");
    let made = server.post(&path, &config("a", json!({"k": "1"}))).await;
    let made = made.with(201);
    let own = json!({"f:data": {".": {}, "f:k": {}}});
    let update = |name: &str, fields: &Json| {
        (
            name.to_owned(),
            "Update".to_owned(),
            String::new(),
            fields.clone(),
        )
    };
    assert_eq!(managers(&made), [update("contract", &own)]);
    let entry = &made["metadata"]["managedFields"][0];
    assert_eq!(entry["apiVersion"], "v1");
    assert_eq!(entry["fieldsType"], "FieldsV1");
    assert_eq!(entry["time"], made["metadata"]["creationTimestamp"]);
    let other = format!("{path}/a?fieldManager=other");
    let patched = server.merge(&other, &json!({"data": {"l": "2"}})).await;
    let added = json!({"f:data": {"f:l": {}}});
    assert_eq!(
        managers(&patched.with(200)),
        [update("contract", &own), update("other", &added)]
    );
}

async fn applies_create_and_change(server: &TestServer) {
    let own = server.core("configmaps/a");
    let data = json!({"k": "1", "l": "2"});
    let body = config("a", data.clone());
    let none = patch(server, &own, "application/apply-patch+yaml", &body).await;
    none.refused(422, "Invalid");
    let made = apply(server, &own, "fieldManager=one", &body)
        .await
        .with(201);
    assert_eq!(made["data"], data);
    let (manager, operation, ..) = &managers(&made)[0];
    assert_eq!((manager.as_str(), operation.as_str()), ("one", "Apply"));
    // Another client adds a field, which stays.
    server
        .merge(&own, &json!({"data": {"m": "3"}}))
        .await
        .with(200);
    let fewer = config("a", json!({"k": "1"}));
    let changed = apply(server, &own, "fieldManager=one", &fewer)
        .await
        .with(200);
    assert_eq!(changed["data"], json!({"k": "1", "m": "3"}));
    let wrong = config("b", json!({}));
    let refused = apply(server, &own, "fieldManager=one", &wrong).await;
    refused.refused(400, "BadRequest");
    let forced = format!("{own}?force=true");
    server
        .merge(&forced, &json!({}))
        .await
        .refused(422, "Invalid");
}

async fn conflicts_name_their_fields(server: &TestServer) {
    let own = server.core("configmaps/a");
    let mine = config("a", json!({"k": "1"}));
    apply(server, &own, "fieldManager=one", &mine)
        .await
        .with(201);
    let theirs = config("a", json!({"k": "2"}));
    let refused = apply(server, &own, "fieldManager=two", &theirs).await;
    let refused = refused.refused(409, "Conflict");
    assert_eq!(
        refused["message"],
        "Apply failed with 1 conflict: conflict with \"one\": .data.k"
    );
    assert_eq!(
        refused["details"]["causes"],
        json!([{"reason": "FieldManagerConflict", "field": ".data.k",
            "message": "conflict with \"one\""}])
    );
    let taken = apply(server, &own, "fieldManager=two&force=true", &theirs).await;
    let taken = taken.with(200);
    assert_eq!(taken["data"], json!({"k": "2"}));
    let names: Vec<String> = managers(&taken).into_iter().map(|own| own.0).collect();
    assert_eq!(names, ["two"]);
}

async fn an_equal_apply_changes_nothing(server: &TestServer) {
    let own = server.core("configmaps/a");
    let body = config("a", json!({"k": "1"}));
    let made = apply(server, &own, "fieldManager=one", &body)
        .await
        .with(201);
    let again = apply(server, &own, "fieldManager=one", &body)
        .await
        .with(200);
    assert_eq!(again, made);
    // Another manager of an equal value changes only the managers.
    let shared = apply(server, &own, "fieldManager=two", &body).await;
    let shared = shared.with(200);
    assert_ne!(version(&shared), version(&made));
    assert_eq!(managers(&shared).len(), 2);
}

async fn a_dry_run_of_an_apply_is_a_plan(server: &TestServer) {
    let own = server.core("configmaps/a");
    let query = "fieldManager=one&dryRun=All";
    let body = config("a", json!({"k": "1"}));
    apply(server, &own, query, &body).await.with(201);
    server.get(&own).await.with(404);
    let made = apply(server, &own, "fieldManager=one", &body)
        .await
        .with(201);
    let other = config("a", json!({"k": "2"}));
    let planned = apply(server, &own, query, &other).await.with(200);
    assert_eq!(planned["data"]["k"], "2");
    assert_eq!(version(&planned), version(&made));
    assert_eq!(server.get(&own).await.with(200), made);
}

async fn an_apply_can_ask_for_a_uid(server: &TestServer) {
    let own = server.core("configmaps/a");
    let mut body = config("a", json!({"k": "1"}));
    body["metadata"]["uid"] = "00000000-0000-4000-8000-000000000000".into();
    let gone = apply(server, &own, "fieldManager=one", &body).await;
    let gone = gone.refused(409, "Conflict");
    let message = gone["message"].as_str().unwrap();
    assert!(
        message.contains("no existing object was found"),
        "{message}"
    );
    let plain = config("a", json!({"k": "1"}));
    apply(server, &own, "fieldManager=one", &plain)
        .await
        .with(201);
    let other = apply(server, &own, "fieldManager=one", &body).await;
    let other = other.refused(422, "Invalid");
    assert_eq!(other["details"]["causes"][0]["field"], "metadata.uid");
}

async fn undeclared_fields_are_refused(server: &TestServer) {
    let own = server.core("configmaps/a");
    let mut body = config("a", json!({"k": "1"}));
    body["color"] = "red".into();
    let query = "fieldManager=one&fieldValidation=Ignore";
    let refused = apply(server, &own, query, &body).await;
    let message = refused.with(500)["message"].clone();
    let expected = "failed to create typed patch object (/a; /v1, Kind=ConfigMap): .color: field \
         not declared in schema";
    assert_eq!(message, expected);
}

async fn a_status_is_applied_apart(server: &TestServer) {
    let own = format!(
        "/apis/apps/v1/namespaces/{}/deployments/web",
        server.namespace
    );
    let labels = json!({"app": "web"});
    let body = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "status": {"replicas": 3},
        "spec": {"replicas": 0, "paused": true, "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels},
                "spec": {"containers": [{"name": "web", "image": "nginx"}]}}}});
    let made = apply(server, &own, "fieldManager=one", &body)
        .await
        .with(201);
    assert_ne!(made["status"]["replicas"], 3);
    let status = format!("{own}/status");
    let applied = apply(server, &status, "fieldManager=two&force=true", &body).await;
    let applied = applied.with(200);
    assert_eq!(applied["status"]["replicas"], 3);
    let (_, operation, subresource, fields) = managers(&applied)
        .into_iter()
        .find(|own| own.0 == "two")
        .unwrap();
    assert_eq!(
        (operation.as_str(), subresource.as_str()),
        ("Apply", "status")
    );
    assert_eq!(fields, json!({"f:status": {"f:replicas": {}}}));
}
