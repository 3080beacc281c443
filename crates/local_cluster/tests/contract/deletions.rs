//! Deletions: finalizers, policies, owners, namespaces, collections.

use serde_json::{Value as Json, json};

use crate::cases;
use crate::peer::TestServer;

cases!(
    a_finalizer_holds_an_object,
    a_deletion_in_the_background_deletes_dependants_later,
    a_deletion_in_the_foreground_deletes_dependants_first,
    an_orphan_stays,
    a_dependant_stays_while_one_owner_exists,
    a_collection_is_deleted,
    a_namespace_is_emptied,
);

fn config(name: &str) -> Json {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}})
}

fn owned(name: &str, owners: &[&Json]) -> Json {
    let mut object = config(name);
    let owners = owners.iter().map(|owner| {
        json!({"apiVersion": "v1", "kind": "ConfigMap", "name": owner["metadata"]["name"],
            "uid": owner["metadata"]["uid"], "blockOwnerDeletion": true})
    });
    object["metadata"]["ownerReferences"] = owners.collect();
    object
}

fn policy(name: &str) -> Json {
    json!({"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": name})
}

async fn a_finalizer_holds_an_object(server: &TestServer) {
    let path = server.core("configmaps");
    let mut body = config("a");
    body["metadata"]["finalizers"] = json!(["example.com/one", "example.com/two"]);
    let made = server.post(&path, &body).await.with(201);
    let own = format!("{path}/a");
    let held = server.delete(&own).await.with(200);
    assert_eq!(held["kind"], "ConfigMap");
    assert!(held["metadata"]["deletionTimestamp"].is_string());
    assert_eq!(held["metadata"]["deletionGracePeriodSeconds"], 0);
    assert_eq!(held["metadata"]["uid"], made["metadata"]["uid"]);
    assert_eq!(server.delete(&own).await.with(200), held);
    let again = server.post(&path, &config("a")).await;
    let again = again.refused(409, "AlreadyExists");
    assert!(
        again["message"]
            .as_str()
            .unwrap()
            .contains("object is being deleted")
    );
    let finalizers = |list: &[&str]| json!({"metadata": {"finalizers": list}});
    let more = finalizers(&["example.com/one", "example.com/two", "example.com/three"]);
    server.merge(&own, &more).await.refused(422, "Invalid");
    let fewer = server.merge(&own, &finalizers(&["example.com/two"])).await;
    assert_eq!(
        fewer.with(200)["metadata"]["finalizers"],
        json!(["example.com/two"])
    );
    let last = server.merge(&own, &finalizers(&[])).await.with(200);
    assert_eq!(last["metadata"]["name"], "a");
    server.get(&own).await.with(404);
}

async fn a_deletion_in_the_background_deletes_dependants_later(server: &TestServer) {
    let path = server.core("configmaps");
    let owner = server.post(&path, &config("owner")).await.with(201);
    let child = server
        .post(&path, &owned("child", &[&owner]))
        .await
        .with(201);
    server
        .post(&path, &owned("grandchild", &[&child]))
        .await
        .with(201);
    let own = format!("{path}/owner");
    let options = policy("Background");
    let gone = server.send("DELETE", &own, &[], Some(&options)).await;
    assert_eq!(gone.with(200)["status"], "Success");
    server.get(&own).await.with(404);
    for name in ["child", "grandchild"] {
        let path = format!("{path}/{name}");
        server.eventually(&path, |reply| reply.code == 404).await;
    }
}

async fn a_deletion_in_the_foreground_deletes_dependants_first(server: &TestServer) {
    let path = server.core("configmaps");
    let owner = server.post(&path, &config("owner")).await.with(201);
    let mut child = owned("child", &[&owner]);
    child["metadata"]["finalizers"] = json!(["example.com/hold"]);
    server.post(&path, &child).await.with(201);
    let own = format!("{path}/owner");
    let options = policy("Foreground");
    let waiting = server.send("DELETE", &own, &[], Some(&options)).await;
    let waiting = waiting.with(200);
    assert_eq!(
        waiting["metadata"]["finalizers"],
        json!(["foregroundDeletion"])
    );
    let held = format!("{path}/child");
    let is_deleting = |object: &Json| object["metadata"]["deletionTimestamp"].is_string();
    server
        .eventually(&held, |reply| is_deleting(&reply.body))
        .await;
    server.get(&own).await.with(200);
    let patch = json!({"metadata": {"finalizers": null}});
    server.merge(&held, &patch).await.with(200);
    for path in [held, own] {
        server.eventually(&path, |reply| reply.code == 404).await;
    }
}

async fn an_orphan_stays(server: &TestServer) {
    let path = server.core("configmaps");
    let owner = server.post(&path, &config("owner")).await.with(201);
    server
        .post(&path, &owned("child", &[&owner]))
        .await
        .with(201);
    let own = format!("{path}/owner");
    let options = policy("Orphan");
    server
        .send("DELETE", &own, &[], Some(&options))
        .await
        .with(200);
    server.eventually(&own, |reply| reply.code == 404).await;
    let child = server.get(&format!("{path}/child")).await.with(200);
    assert!(child["metadata"]["ownerReferences"].is_null());
}

async fn a_dependant_stays_while_one_owner_exists(server: &TestServer) {
    let path = server.core("configmaps");
    let one = server.post(&path, &config("one")).await.with(201);
    let two = server.post(&path, &config("two")).await.with(201);
    server
        .post(&path, &owned("child", &[&one, &two]))
        .await
        .with(201);
    let child = format!("{path}/child");
    server.delete(&format!("{path}/one")).await.with(200);
    let owners = |object: &Json| {
        let owners = object["metadata"]["ownerReferences"].as_array();
        owners.map_or(0, Vec::len)
    };
    let left = server
        .eventually(&child, |reply| owners(&reply.body) == 1)
        .await;
    let owner = &left.body["metadata"]["ownerReferences"][0];
    assert_eq!(owner["uid"], two["metadata"]["uid"]);
    server.delete(&format!("{path}/two")).await.with(200);
    server.eventually(&child, |reply| reply.code == 404).await;
}

async fn a_collection_is_deleted(server: &TestServer) {
    let path = server.core("configmaps");
    for (name, app) in [("a", "web"), ("b", "web"), ("c", "db")] {
        let mut body = config(name);
        body["metadata"]["labels"] = json!({"app": app});
        server.post(&path, &body).await.with(201);
    }
    let deleted = server
        .delete(&format!("{path}?labelSelector=app%3Dweb"))
        .await;
    assert_eq!(deleted.with(200)["items"].as_array().unwrap().len(), 2);
    for (name, code) in [("a", 404), ("b", 404), ("c", 200)] {
        server.get(&format!("{path}/{name}")).await.with(code);
    }
}

async fn a_namespace_is_emptied(server: &TestServer) {
    let path = server.core("configmaps");
    let mut body = config("held");
    body["metadata"]["finalizers"] = json!(["example.com/hold"]);
    server.post(&path, &body).await.with(201);
    server.post(&path, &config("free")).await.with(201);
    let space = format!("/api/v1/namespaces/{}", server.namespace);
    let ending = server.delete(&space).await.with(200);
    assert_eq!(ending["status"]["phase"], "Terminating");
    let refused = server.post(&path, &config("late")).await;
    let refused = refused.refused(403, "Forbidden");
    assert_eq!(
        refused["details"]["causes"][0]["reason"],
        "NamespaceTerminating"
    );
    let free = format!("{path}/free");
    server.eventually(&free, |reply| reply.code == 404).await;
    server.get(&space).await.with(200);
    let patch = json!({"metadata": {"finalizers": null}});
    server
        .merge(&format!("{path}/held"), &patch)
        .await
        .with(200);
    server.eventually(&space, |reply| reply.code == 404).await;
}
