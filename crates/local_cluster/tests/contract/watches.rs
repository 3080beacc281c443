//! Watches.

use serde_json::{Value as Json, json};

use crate::cases;
use crate::peer::TestServer;

cases!(
    reports_changes_after_a_version,
    begins_with_what_exists,
    a_selector_that_an_object_leaves_reports_a_deletion,
    reports_initial_events_and_their_end,
    shows_only_metadata,
    ends_at_its_timeout,
);

fn config(name: &str, labels: Json) -> Json {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "labels": labels}})
}

fn event(ty: &str, name: &str) -> (String, String) {
    (ty.to_owned(), name.to_owned())
}

const ALL: &str = "application/json";

async fn listed_version(server: &TestServer, path: &str) -> String {
    let list = server.get(path).await.with(200);
    let version = list["metadata"]["resourceVersion"].as_str();
    version.unwrap().to_owned()
}

async fn reports_changes_after_a_version(server: &TestServer) {
    let path = server.core("secrets");
    let secret =
        |name: &str| json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}});
    server.post(&path, &secret("old")).await.with(201);
    let version = listed_version(server, &path).await;
    let watch = format!("{path}?watch=true&resourceVersion={version}");
    let mut events = server.watch(&watch, ALL).await;
    server.post(&path, &secret("a")).await.with(201);
    let own = format!("{path}/a");
    server
        .merge(&own, &json!({"stringData": {"k": "v"}}))
        .await
        .with(200);
    // Nothing changes, so there is no event.
    server
        .merge(&own, &json!({"stringData": {"k": "v"}}))
        .await
        .with(200);
    server.delete(&own).await.with(200);
    assert_eq!(events.named().await, event("ADDED", "a"));
    assert_eq!(events.named().await, event("MODIFIED", "a"));
    let last = events.next().await.unwrap();
    assert_eq!(last["type"], "DELETED");
    assert_eq!(last["object"]["data"], json!({"k": "dg=="}));
    // A second watch from the same version reports the same.
    let mut events = server.watch(&watch, ALL).await;
    for ty in ["ADDED", "MODIFIED", "DELETED"] {
        assert_eq!(events.named().await, event(ty, "a"));
    }
    let at = last["object"]["metadata"]["resourceVersion"]
        .as_str()
        .unwrap();
    let watch = format!("{path}?watch=true&resourceVersion={at}");
    let mut events = server.watch(&watch, ALL).await;
    server.post(&path, &secret("b")).await.with(201);
    assert_eq!(events.named().await, event("ADDED", "b"));
}

async fn begins_with_what_exists(server: &TestServer) {
    let path = server.core("configmaps");
    for name in ["a", "b"] {
        server
            .post(&path, &config(name, json!({"own": "yes"})))
            .await
            .with(201);
    }
    let watch = format!("{path}?watch=1&labelSelector=own");
    let mut events = server.watch(&watch, ALL).await;
    let mut first = [events.named().await, events.named().await];
    first.sort();
    assert_eq!(first, [event("ADDED", "a"), event("ADDED", "b")]);
    server.delete(&format!("{path}/a")).await.with(200);
    assert_eq!(events.named().await, event("DELETED", "a"));
}

async fn a_selector_that_an_object_leaves_reports_a_deletion(server: &TestServer) {
    let path = server.core("configmaps");
    let version = listed_version(server, &path).await;
    let watch = format!("{path}?watch=true&labelSelector=app%3Dweb&resourceVersion={version}");
    let mut events = server.watch(&watch, ALL).await;
    server
        .post(&path, &config("a", json!({"app": "web"})))
        .await
        .with(201);
    server
        .post(&path, &config("b", json!({"app": "db"})))
        .await
        .with(201);
    let label = |app: &str| json!({"metadata": {"labels": {"app": app}}});
    server
        .merge(&format!("{path}/a"), &label("db"))
        .await
        .with(200);
    let entered = server.merge(&format!("{path}/b"), &label("web")).await;
    entered.with(200);
    assert_eq!(events.named().await, event("ADDED", "a"));
    let left = events.next().await.unwrap();
    assert_eq!(left["type"], "DELETED");
    assert_eq!(left["object"]["metadata"]["labels"]["app"], "web");
    assert_eq!(events.named().await, event("ADDED", "b"));
}

async fn reports_initial_events_and_their_end(server: &TestServer) {
    let path = server.core("configmaps");
    server
        .post(&path, &config("a", json!({"own": "yes"})))
        .await
        .with(201);
    let watch = format!(
        "{path}?watch=true&labelSelector=own&sendInitialEvents=true&allowWatchBookmarks=true\
         &resourceVersionMatch=NotOlderThan"
    );
    let mut events = server.watch(&watch, ALL).await;
    assert_eq!(events.named().await, event("ADDED", "a"));
    let end = events.next().await.unwrap();
    assert_eq!(end["type"], "BOOKMARK");
    assert_eq!(
        end["object"]["metadata"]["annotations"]["k8s.io/initial-events-end"],
        "true"
    );
    assert_eq!(end["object"]["kind"], "ConfigMap");
    server
        .post(&path, &config("b", json!({"own": "yes"})))
        .await
        .with(201);
    assert_eq!(events.named().await, event("ADDED", "b"));
}

async fn shows_only_metadata(server: &TestServer) {
    let path = server.core("configmaps");
    let mut body = config("a", json!({"own": "yes"}));
    body["data"] = json!({"k": "v"});
    server.post(&path, &body).await.with(201);
    let accept = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
    let watch = format!("{path}?watch=true&labelSelector=own");
    let mut events = server.watch(&watch, accept).await;
    let first = events.next().await.unwrap();
    assert_eq!(first["type"], "ADDED");
    assert_eq!(first["object"]["kind"], "PartialObjectMetadata");
    assert_eq!(first["object"]["metadata"]["name"], "a");
    assert!(first["object"]["data"].is_null());
}

async fn ends_at_its_timeout(server: &TestServer) {
    let path = server.core("configmaps");
    let version = listed_version(server, &path).await;
    let watch = format!("{path}?watch=true&resourceVersion={version}&timeoutSeconds=1");
    let mut events = server.watch(&watch, ALL).await;
    while let Some(event) = events.next().await {
        assert_ne!(event["type"], "ERROR", "{event:#}");
    }
}
