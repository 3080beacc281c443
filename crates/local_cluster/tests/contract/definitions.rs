//! Kinds of CustomResourceDefinitions.

use serde_json::{Value as Json, json};

use crate::cases;
use crate::peer::TestServer;

cases!(
    a_defined_kind_is_served,
    objects_are_pruned_defaulted_and_checked,
    the_status_is_a_subresource,
    a_definition_that_is_wrong_is_refused,
    deleting_a_definition_deletes_its_objects,
);

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

fn definition(group: &str) -> Json {
    let schema = json!({"type": "object", "properties": {
        "spec": {"type": "object", "required": ["size"], "properties": {
            "size": {"type": "integer", "minimum": 1},
            "color": {"type": "string", "default": "red", "enum": ["red", "blue"]},
            "parts": {"type": "array", "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["name"], "items": {"type": "object",
                    "required": ["name"], "properties": {"name": {"type": "string"},
                        "weight": {"type": "integer"}}}}}},
        "status": {"type": "object", "properties": {"phase": {"type": "string"}}}}});
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("widgets.{group}")},
        "spec": {"group": group, "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget", "shortNames": ["wd"]},
            "versions": [{"name": "v1", "served": true, "storage": true,
                "subresources": {"status": {}}, "schema": {"openAPIV3Schema": schema}}]}})
}

/// Defines the kind and waits until it is served.
pub(crate) async fn define(server: &TestServer) -> String {
    let body = definition(&server.group);
    server.post(DEFINITIONS, &body).await.with(201);
    let own = format!("{DEFINITIONS}/widgets.{}", server.group);
    server
        .eventually(&own, |reply| {
            let conditions = reply.body["status"]["conditions"].as_array();
            conditions.into_iter().flatten().any(|condition| {
                condition["type"] == "Established" && condition["status"] == "True"
            })
        })
        .await;
    let path = server.defined("widgets");
    server.eventually(&path, |reply| reply.code == 200).await;
    path
}

fn widget(server: &TestServer, name: &str, spec: Json) -> Json {
    json!({"apiVersion": format!("{}/v1", server.group), "kind": "Widget",
        "metadata": {"name": name}, "spec": spec})
}

async fn a_defined_kind_is_served(server: &TestServer) {
    let path = define(server).await;
    let group = format!("/apis/{}", server.group);
    let found = server.eventually(&group, |reply| reply.code == 200).await;
    assert_eq!(
        found.body["preferredVersion"]["groupVersion"],
        format!("{}/v1", server.group)
    );
    let list = server.get(&format!("{group}/v1")).await.with(200);
    let resources = list["resources"].as_array().unwrap();
    assert_eq!(resources[0]["name"], "widgets");
    assert_eq!(resources[0]["singularName"], "widget");
    assert_eq!(resources[0]["shortNames"], json!(["wd"]));
    assert_eq!(resources[1]["name"], "widgets/status");
    let made = server
        .post(&path, &widget(server, "a", json!({"size": 1})))
        .await;
    let made = made.with(201);
    assert_eq!(made["metadata"]["generation"], 1);
    let list = server.get(&path).await.with(200);
    assert_eq!(list["kind"], "WidgetList");
    assert_eq!(list["items"][0]["metadata"]["name"], "a");
    let mut unversioned = made.clone();
    unversioned["metadata"]["resourceVersion"] = Json::Null;
    let refused = server.put(&format!("{path}/a"), &unversioned).await;
    let refused = refused.refused(422, "Invalid");
    assert_eq!(
        refused["details"]["causes"][0]["field"],
        "metadata.resourceVersion"
    );
}

async fn objects_are_pruned_defaulted_and_checked(server: &TestServer) {
    let path = define(server).await;
    let spec = json!({"size": 2, "extra": true});
    let reply = server.post(&path, &widget(server, "a", spec.clone())).await;
    assert_eq!(
        reply.warnings,
        ["299 - \"unknown field \\\"spec.extra\\\"\""]
    );
    let made = reply.with(201);
    assert_eq!(made["spec"], json!({"size": 2, "color": "red"}));
    let strict = format!("{path}?fieldValidation=Strict");
    let refused = server.post(&strict, &widget(server, "b", spec)).await;
    refused.refused(400, "BadRequest");
    for (spec, field) in [
        (json!({}), "spec.size"),
        (json!({"size": 0}), "spec.size"),
        (json!({"size": "x"}), "spec.size"),
        (json!({"size": 1, "color": "green"}), "spec.color"),
        (
            json!({"size": 1, "parts": [{"name": "a"}, {"name": "a"}]}),
            "spec.parts[1]",
        ),
    ] {
        let refused = server.post(&path, &widget(server, "c", spec)).await;
        let refused = refused.refused(422, "Invalid");
        assert_eq!(refused["details"]["kind"], "Widget");
        assert_eq!(refused["details"]["causes"][0]["field"], *field);
    }
    let refused = server
        .merge(&format!("{path}/a"), &json!({"spec": {"size": 0}}))
        .await;
    refused.refused(422, "Invalid");
}

async fn the_status_is_a_subresource(server: &TestServer) {
    let path = define(server).await;
    let mut body = widget(server, "a", json!({"size": 1}));
    body["status"] = json!({"phase": "mine"});
    let made = server.post(&path, &body).await.with(201);
    assert!(made["status"].is_null());
    let own = format!("{path}/a");
    let status = format!("{own}/status");
    let mut reported = made.clone();
    reported["status"] = json!({"phase": "ready"});
    reported["spec"]["size"] = 9.into();
    reported["metadata"]["labels"] = json!({"a": "b"});
    let reported = server.put(&status, &reported).await.with(200);
    assert_eq!(reported["status"]["phase"], "ready");
    assert_eq!(reported["spec"]["size"], 1);
    assert!(reported["metadata"]["labels"].is_null());
    assert_eq!(reported["metadata"]["generation"], 1);
    let patch = json!({"spec": {"size": 3}, "status": {"phase": "other"}});
    let patched = server.merge(&own, &patch).await.with(200);
    assert_eq!(patched["status"]["phase"], "ready");
    assert_eq!(patched["metadata"]["generation"], 2);
    let patched = server
        .merge(&status, &json!({"status": {"phase": "done"}}))
        .await;
    let patched = patched.with(200);
    assert_eq!(patched["status"]["phase"], "done");
    assert_eq!(patched["metadata"]["generation"], 2);
    assert_eq!(server.get(&status).await.with(200), patched);
    let refused = server
        .merge(&status, &json!({"status": {"phase": 1}}))
        .await;
    refused.refused(422, "Invalid");
}

async fn a_definition_that_is_wrong_is_refused(server: &TestServer) {
    let mut other_name = definition(&server.group);
    other_name["metadata"]["name"] = format!("gadgets.{}", server.group).into();
    let refused = server.post(DEFINITIONS, &other_name).await;
    let refused = refused.refused(422, "Invalid");
    let causes = refused["details"]["causes"].as_array().unwrap();
    assert!(causes.iter().any(|cause| cause["field"] == "metadata.name"));
    let mut no_schema = definition(&server.group);
    no_schema["spec"]["versions"][0]["schema"] = Json::Null;
    let refused = server.post(DEFINITIONS, &no_schema).await;
    refused.refused(422, "Invalid");
    let mut no_storage = definition(&server.group);
    no_storage["spec"]["versions"][0]["storage"] = false.into();
    let refused = server.post(DEFINITIONS, &no_storage).await;
    refused.refused(422, "Invalid");
}

async fn deleting_a_definition_deletes_its_objects(server: &TestServer) {
    let path = define(server).await;
    let mut body = widget(server, "a", json!({"size": 1}));
    body["metadata"]["finalizers"] = json!(["example.com/hold"]);
    server.post(&path, &body).await.with(201);
    let own = format!("{DEFINITIONS}/widgets.{}", server.group);
    server.delete(&own).await.with(200);
    let held = format!("{path}/a");
    let is_deleting = |object: &Json| object["metadata"]["deletionTimestamp"].is_string();
    server
        .eventually(&held, |reply| is_deleting(&reply.body))
        .await;
    assert!(is_deleting(&server.get(&own).await.with(200)));
    let patch = json!({"metadata": {"finalizers": null}});
    server.merge(&held, &patch).await.with(200);
    server.eventually(&own, |reply| reply.code == 404).await;
    server.eventually(&path, |reply| reply.code == 404).await;
}
