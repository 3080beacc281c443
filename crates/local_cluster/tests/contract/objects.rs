//! Objects: create, read, replace, merge patches, names, dry runs, managed fields.

use serde_json::{Value as Json, json};

use crate::cases;
use crate::peer::TestServer;

cases!(
    creates_reads_replaces_and_deletes,
    names_are_generated_and_checked,
    what_is_wrong_with_a_request_is_said,
    writes_that_change_nothing_give_no_new_version,
    preconditions_hold,
    dry_runs_change_nothing,
    namespaces_must_exist,
    secrets_take_texts,
    immutable_fields_are_kept,
    reads_only_the_metadata,
    unknown_fields_are_reported,
    tokens_name_their_account,
);

fn config(name: &str, data: Json) -> Json {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data})
}

fn version(object: &Json) -> &str {
    object["metadata"]["resourceVersion"].as_str().unwrap()
}

async fn creates_reads_replaces_and_deletes(server: &TestServer) {
    let path = server.core("configmaps");
    let made = server.post(&path, &config("a", json!({"k": "1"}))).await;
    let made = made.with(201);
    assert_eq!(made["kind"], "ConfigMap");
    assert_eq!(made["metadata"]["namespace"], *server.namespace);
    assert_eq!(made["metadata"]["uid"].as_str().unwrap().len(), 36);
    assert!(made["metadata"]["creationTimestamp"].is_string());
    assert!(made["metadata"]["generation"].is_null());
    let own = format!("{path}/a");
    assert_eq!(server.get(&own).await.with(200), made);
    let mut changed = made.clone();
    changed["data"]["k"] = "2".into();
    let changed = server.put(&own, &changed).await.with(200);
    assert_eq!(changed["data"]["k"], "2");
    assert_ne!(version(&changed), version(&made));
    assert_eq!(changed["metadata"]["uid"], made["metadata"]["uid"]);
    let patch = json!({"data": {"k": null, "l": "3"}, "metadata": {"labels": {"a": "b"}}});
    let patched = server.merge(&own, &patch).await.with(200);
    assert_eq!(patched["data"], json!({"l": "3"}));
    assert_eq!(patched["metadata"]["labels"], json!({"a": "b"}));
    let gone = server.delete(&own).await.with(200);
    assert_eq!(
        (&gone["kind"], &gone["status"]),
        (&json!("Status"), &json!("Success"))
    );
    let details = json!({"name": "a", "kind": "configmaps", "uid": made["metadata"]["uid"]});
    assert_eq!(gone["details"], details);
    let missing = server.get(&own).await.refused(404, "NotFound");
    assert_eq!(missing["message"], "configmaps \"a\" not found");
    assert_eq!(
        missing["details"],
        json!({"name": "a", "kind": "configmaps"})
    );
}

async fn names_are_generated_and_checked(server: &TestServer) {
    let path = server.core("configmaps");
    let body = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "x-"}});
    let one = server.post(&path, &body).await.with(201);
    let two = server.post(&path, &body).await.with(201);
    let name = |object: &Json| object["metadata"]["name"].as_str().unwrap().to_owned();
    assert!(name(&one).starts_with("x-") && name(&one).len() == 7);
    assert_ne!(name(&one), name(&two));
    let none = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {}});
    let refused = server.post(&path, &none).await.refused(422, "Invalid");
    assert_eq!(refused["details"]["causes"][0]["field"], "metadata.name");
    assert_eq!(
        refused["details"]["causes"][0]["reason"],
        "FieldValueRequired"
    );
    let wrong = server.post(&path, &config("A_b", json!({}))).await;
    let refused = wrong.refused(422, "Invalid");
    assert_eq!(
        refused["details"]["causes"][0]["reason"],
        "FieldValueInvalid"
    );
    let mut labelled = config("labelled", json!({}));
    labelled["metadata"]["labels"] = json!({"a": "x".repeat(64)});
    let refused = server.post(&path, &labelled).await.refused(422, "Invalid");
    assert_eq!(refused["details"]["causes"][0]["field"], "metadata.labels");
    server
        .post(&path, &config("twice", json!({})))
        .await
        .with(201);
    let twice = server.post(&path, &config("twice", json!({}))).await;
    let twice = twice.refused(409, "AlreadyExists");
    assert_eq!(twice["message"], "configmaps \"twice\" already exists");
}

async fn what_is_wrong_with_a_request_is_said(server: &TestServer) {
    let path = server.core("configmaps");
    let other = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}});
    server.post(&path, &other).await.refused(400, "BadRequest");
    let mut elsewhere = config("a", json!({}));
    elsewhere["metadata"]["namespace"] = "elsewhere".into();
    let refused = server.post(&path, &elsewhere).await;
    refused.refused(400, "BadRequest");
    server.post(&path, &config("a", json!({}))).await.with(201);
    let refused = server
        .put(&format!("{path}/a"), &config("b", json!({})))
        .await;
    refused.refused(400, "BadRequest");
    let refused = server
        .put(&format!("{path}/c"), &config("c", json!({})))
        .await;
    refused.refused(404, "NotFound");
    let refused = server.merge(&format!("{path}/c"), &json!({})).await;
    refused.refused(404, "NotFound");
    assert_eq!(server.get("/api/v1/trolls").await.code, 404);
    assert_eq!(server.get("/apis/trolls.io/v1/trolls").await.code, 404);
    let headers = [("content-type", "application/fancy")];
    let own = format!("{path}/a");
    let refused = server.send("PATCH", &own, &headers, Some(&json!({}))).await;
    refused.refused(415, "UnsupportedMediaType");
}

async fn writes_that_change_nothing_give_no_new_version(server: &TestServer) {
    let path = server.core("configmaps");
    let made = server.post(&path, &config("a", json!({"k": "1"}))).await;
    let made = made.with(201);
    let own = format!("{path}/a");
    let put = server.put(&own, &made).await.with(200);
    assert_eq!(version(&put), version(&made));
    let patched = server.merge(&own, &json!({"data": {"k": "1"}})).await;
    assert_eq!(version(&patched.with(200)), version(&made));
    let patched = server.merge(&own, &json!({"data": {"k": "2"}})).await;
    assert_ne!(version(&patched.with(200)), version(&made));
}

async fn preconditions_hold(server: &TestServer) {
    let path = server.core("configmaps");
    let made = server.post(&path, &config("a", json!({"k": "1"}))).await;
    let made = made.with(201);
    let own = format!("{path}/a");
    server
        .merge(&own, &json!({"data": {"k": "2"}}))
        .await
        .with(200);
    let mut stale = made.clone();
    stale["data"]["k"] = "3".into();
    let refused = server.put(&own, &stale).await.refused(409, "Conflict");
    assert_eq!(
        refused["message"],
        "Operation cannot be fulfilled on configmaps \"a\": the object has been modified; please \
         apply your changes to the latest version and try again"
    );
    let patch = json!({"metadata": {"resourceVersion": version(&made)}, "data": {"k": "4"}});
    server.merge(&own, &patch).await.refused(409, "Conflict");
    let options = |precondition: Json| json!({"kind": "DeleteOptions", "apiVersion": "v1", "preconditions": precondition});
    let other = options(json!({"uid": "other"}));
    let refused = server.send("DELETE", &own, &[], Some(&other)).await;
    refused.refused(409, "Conflict");
    let right = options(json!({"uid": made["metadata"]["uid"]}));
    server
        .send("DELETE", &own, &[], Some(&right))
        .await
        .with(200);
}

async fn dry_runs_change_nothing(server: &TestServer) {
    let path = server.core("configmaps");
    let dry = format!("{path}?dryRun=All");
    let made = server.post(&dry, &config("a", json!({"k": "1"}))).await;
    let made = made.with(201);
    assert!(made["metadata"]["uid"].is_string());
    server.get(&format!("{path}/a")).await.with(404);
    let made = server.post(&path, &config("a", json!({"k": "1"}))).await;
    let made = made.with(201);
    let own = format!("{path}/a");
    let patch = json!({"data": {"k": "2"}});
    let patched = server.merge(&format!("{own}?dryRun=All"), &patch).await;
    let patched = patched.with(200);
    assert_eq!(patched["data"]["k"], "2");
    assert_eq!(version(&patched), version(&made));
    assert_eq!(server.get(&own).await.with(200), made);
    server.delete(&format!("{own}?dryRun=All")).await.with(200);
    server.get(&own).await.with(200);
}

async fn namespaces_must_exist(server: &TestServer) {
    let path = "/api/v1/namespaces/no-such-space/configmaps";
    let refused = server.post(path, &config("a", json!({}))).await;
    let refused = refused.refused(404, "NotFound");
    assert_eq!(
        refused["details"],
        json!({"name": "no-such-space", "kind": "namespaces"})
    );
    let own = format!("/api/v1/namespaces/{}", server.namespace);
    let space = server.get(&own).await.with(200);
    assert_eq!(space["status"]["phase"], "Active");
    assert_eq!(
        space["metadata"]["labels"]["kubernetes.io/metadata.name"],
        *server.namespace
    );
    let account = server.core("serviceaccounts/default");
    server.eventually(&account, |reply| reply.code == 200).await;
}

async fn secrets_take_texts(server: &TestServer) {
    let path = server.core("secrets");
    let body = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"},
        "stringData": {"k": "text"}});
    let made = server.post(&path, &body).await.with(201);
    assert_eq!(made["data"], json!({"k": "dGV4dA=="}));
    assert_eq!(made["type"], "Opaque");
    assert!(made["stringData"].is_null());
}

async fn immutable_fields_are_kept(server: &TestServer) {
    let path = format!("/apis/apps/v1/namespaces/{}/deployments", server.namespace);
    let labels = json!({"app": "web"});
    let body = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {"replicas": 0, "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels},
                "spec": {"containers": [{"name": "web", "image": "nginx"}]}}}});
    let made = server.post(&path, &body).await.with(201);
    assert_eq!(made["metadata"]["generation"], 1);
    let own = format!("{path}/web");
    let other = json!({"app": "other"});
    let patch = json!({"spec": {"selector": {"matchLabels": other},
        "template": {"metadata": {"labels": other}}}});
    let refused = server.merge(&own, &patch).await.refused(422, "Invalid");
    assert_eq!(refused["details"]["causes"][0]["field"], "spec.selector");
    let patched = server.merge(&own, &json!({"spec": {"paused": true}})).await;
    assert_eq!(patched.with(200)["metadata"]["generation"], 2);
    let patch = json!({"metadata": {"labels": {"a": "b"}}});
    let labelled = server.merge(&own, &patch).await.with(200);
    assert_eq!(labelled["metadata"]["generation"], 2);
    // The status is a subresource.
    let patch = json!({"status": {"observedGeneration": 1}});
    let patched = server.merge(&own, &patch).await.with(200);
    assert_ne!(patched["status"]["observedGeneration"], 1);
    let patch = json!({"status": {"replicas": 7}, "spec": {"replicas": 5}});
    let status = server.merge(&format!("{own}/status"), &patch).await;
    let status = status.with(200);
    assert_eq!(status["status"]["replicas"], 7);
    assert_eq!(status["spec"]["replicas"], 0);
}

async fn reads_only_the_metadata(server: &TestServer) {
    let path = server.core("configmaps");
    server
        .post(&path, &config("a", json!({"k": "1"})))
        .await
        .with(201);
    let partial = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
    let headers = [("accept", partial)];
    let own = format!("{path}/a");
    let read = server.send("GET", &own, &headers, None).await.with(200);
    assert_eq!(read["kind"], "PartialObjectMetadata");
    assert_eq!(read["apiVersion"], "meta.k8s.io/v1");
    assert_eq!(read["metadata"]["name"], "a");
    assert!(read["data"].is_null());
    let partial = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
    let headers = [("accept", partial)];
    let path = format!("{path}?fieldSelector=metadata.name%3Da");
    let list = server.send("GET", &path, &headers, None).await.with(200);
    assert_eq!(list["kind"], "PartialObjectMetadataList");
    assert_eq!(list["items"][0]["metadata"]["name"], "a");
    assert!(list["items"][0]["data"].is_null());
}

async fn unknown_fields_are_reported(server: &TestServer) {
    let path = server.core("configmaps");
    let mut body = config("a", json!({}));
    body["color"] = "red".into();
    let strict = format!("{path}?fieldValidation=Strict");
    let refused = server.post(&strict, &body).await.refused(400, "BadRequest");
    let message = refused["message"].as_str().unwrap();
    assert!(
        message.contains("strict decoding error: unknown field \"color\""),
        "{message}"
    );
    let reply = server
        .post(&format!("{path}?fieldValidation=Warn"), &body)
        .await;
    assert_eq!(reply.warnings, ["299 - \"unknown field \\\"color\\\"\""]);
    assert!(reply.with(201)["color"].is_null());
    body["metadata"]["name"] = "b".into();
    let reply = server
        .post(&format!("{path}?fieldValidation=Ignore"), &body)
        .await;
    assert!(reply.warnings.is_empty());
    reply.with(201);
}

async fn tokens_name_their_account(server: &TestServer) {
    let path = server.core("serviceaccounts");
    let account = json!({"apiVersion": "v1", "kind": "ServiceAccount",
        "metadata": {"name": "builder"}});
    server.post(&path, &account).await.with(201);
    let request = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
        "metadata": {}, "spec": {"audiences": [], "expirationSeconds": 7200}});
    let answer = server
        .post(&format!("{path}/builder/token"), &request)
        .await;
    let answer = answer.with(201);
    let token = answer["status"]["token"].as_str().unwrap();
    assert!(answer["status"]["expirationTimestamp"].is_string());
    let review = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"});
    let reviews = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    let bearer = format!("Bearer {token}");
    let headers = [("authorization", bearer.as_str())];
    if server.is_local() {
        // The client of a real server sends its own credentials.
        let who = server.send("POST", reviews, &headers, Some(&review)).await;
        let user = who.with(201)["status"]["userInfo"]["username"].clone();
        assert_eq!(user, "system:serviceaccount:own-space:builder");
        server.delete(&format!("{path}/builder")).await.with(200);
        let who = server.send("POST", reviews, &headers, Some(&review)).await;
        who.refused(401, "Unauthorized");
    }
    let missing = server.post(&format!("{path}/nobody/token"), &request).await;
    missing.refused(404, "NotFound");
}
