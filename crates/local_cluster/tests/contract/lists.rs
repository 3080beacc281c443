//! Lists: selectors, parts, versions.

use serde_json::{Value as Json, json};

use crate::cases;
use crate::peer::TestServer;

cases!(
    selects_by_labels_and_fields,
    lists_in_parts,
    discovers_kinds
);

async fn fill(server: &TestServer) -> String {
    let path = server.core("configmaps");
    for (name, app, tier) in [
        ("a", "web", "front"),
        ("b", "web", "back"),
        ("c", "db", "back"),
        ("d", "db", "store"),
    ] {
        let body = json!({"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": name, "labels": {"app": app, "tier": tier, "own": "yes"}}});
        server.post(&path, &body).await.with(201);
    }
    path
}

fn names(list: &Json) -> Vec<&str> {
    let items = list["items"].as_array().unwrap().iter();
    items
        .map(|item| item["metadata"]["name"].as_str().unwrap())
        .collect()
}

async fn selects_by_labels_and_fields(server: &TestServer) {
    let path = fill(server).await;
    for (query, expected) in [
        ("labelSelector=app%3Dweb", vec!["a", "b"]),
        ("labelSelector=app%3Dweb,tier%3Dback", vec!["b"]),
        ("labelSelector=tier+in+(back,store)", vec!["b", "c", "d"]),
        ("labelSelector=own,tier+notin+(back)", vec!["a", "d"]),
        ("labelSelector=own,app!%3Dweb", vec!["c", "d"]),
        (
            "labelSelector=own&fieldSelector=metadata.name%3Dc",
            vec!["c"],
        ),
        (
            "labelSelector=own&fieldSelector=metadata.name!%3Dc",
            vec!["a", "b", "d"],
        ),
        ("labelSelector=app%3Dnone", vec![]),
    ] {
        let list = server.get(&format!("{path}?{query}")).await.with(200);
        assert_eq!(list["kind"], "ConfigMapList");
        assert_eq!(names(&list), expected, "{query}");
    }
    let wrong = server
        .get(&format!("{path}?labelSelector=a%3D%3D%3Db"))
        .await;
    wrong.refused(400, "BadRequest");
    let wrong = server
        .get(&format!("{path}?fieldSelector=data.a%3Db"))
        .await;
    wrong.refused(400, "BadRequest");
    let all = server
        .get("/api/v1/configmaps?labelSelector=app%3Dweb,own")
        .await;
    let all = all.with(200);
    let own = |item: &&Json| item["metadata"]["namespace"] == *server.namespace;
    let items = all["items"].as_array().unwrap().iter();
    assert_eq!(items.filter(own).count(), 2);
}

async fn lists_in_parts(server: &TestServer) {
    let path = fill(server).await;
    let query = "labelSelector=own&limit=3";
    let first = server.get(&format!("{path}?{query}")).await.with(200);
    assert_eq!(names(&first), ["a", "b", "c"]);
    let next = first["metadata"]["continue"].as_str().unwrap();
    let rest = server.get(&format!("{path}?{query}&continue={next}")).await;
    let rest = rest.with(200);
    assert_eq!(names(&rest), ["d"]);
    assert!(
        rest["metadata"]["continue"]
            .as_str()
            .is_none_or(str::is_empty)
    );
    assert_eq!(
        first["metadata"]["resourceVersion"],
        rest["metadata"]["resourceVersion"]
    );
    let wrong = server
        .get(&format!("{path}?limit=1&continue=nonsense"))
        .await;
    wrong.refused(400, "BadRequest");
}

async fn discovers_kinds(server: &TestServer) {
    let core = server.get("/api/v1").await.with(200);
    let resource = |list: &Json, name: &str| {
        let all = list["resources"].as_array().unwrap().iter();
        all.clone()
            .find(|own| own["name"] == *name)
            .cloned()
            .unwrap()
    };
    let map = resource(&core, "configmaps");
    assert_eq!(map["kind"], "ConfigMap");
    assert_eq!(map["namespaced"], true);
    assert_eq!(map["shortNames"], json!(["cm"]));
    resource(&core, "serviceaccounts/token");
    let apps = server.get("/apis/apps/v1").await.with(200);
    assert_eq!(resource(&apps, "deployments/status")["kind"], "Deployment");
    let groups = server.get("/apis").await.with(200);
    let groups = groups["groups"].as_array().unwrap();
    assert!(groups.iter().any(|group| group["name"] == "apps"));
    let one = server.get("/apis/autoscaling").await.with(200);
    assert_eq!(one["preferredVersion"]["groupVersion"], "autoscaling/v2");
    assert!(server.get("/version").await.with(200)["gitVersion"].is_string());
    assert_eq!(server.get("/apis/apps/v9").await.code, 404);
}
