//! `kubectl` on a local cluster over loopback.
//!
//! The program is that of the variable `CYAN_TEST_KUBECTL`, else the one of the search path.

#![allow(clippy::unwrap_used, reason = "what fails here fails a test")]

mod served;

use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use served::Served;

const WEB: &str = r#"
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "web:1"}, {name: log, image: "log:1"}]}
"#;

const SHELVES: &str = r#"
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: shelves.shop.example}
spec:
  group: shop.example
  scope: Namespaced
  names: {kind: Shelf, plural: shelves, singular: shelf, shortNames: [sh]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources:
      status: {}
      scale: {specReplicasPath: .spec.boards, statusReplicasPath: .status.used}
    additionalPrinterColumns:
    - {name: Size, type: string, jsonPath: .spec.size}
    - {name: Used, type: integer, jsonPath: .status.used, priority: 1}
    schema:
      openAPIV3Schema:
        type: object
        description: A shelf of the shop.
        properties:
          spec:
            type: object
            description: What the shelf is.
            properties:
              size: {type: string, description: The size of the shelf.}
              boards: {type: integer}
          status:
            type: object
            properties:
              used: {type: integer}
              conditions:
                type: array
                items: {type: object, properties: {type: {type: string}, status: {type: string}}}
"#;

const SHELF: &str = "
apiVersion: shop.example/v1
kind: Shelf
metadata: {name: one}
spec: {size: small}
";

fn config_map(value: &str) -> String {
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"},
        "data": {"a": value}});
    map.to_string()
}

/// The words of each line.
fn words(text: &str) -> Vec<Vec<&str>> {
    text.lines()
        .map(|line| line.split_whitespace().collect())
        .collect()
}

#[test]
fn objects_are_applied_and_shown() {
    let Some(served) = Served::start() else {
        return;
    };
    assert_eq!(
        served.done(&["apply", "-f-"], WEB),
        "deployment.apps/web created\n"
    );
    assert_eq!(
        served.done(&["apply", "-f-"], WEB),
        "deployment.apps/web unchanged\n"
    );
    let changed = WEB.replace("web:1", "web:2");
    assert_eq!(
        served.done(&["apply", "-f-"], &changed),
        "deployment.apps/web configured\n"
    );
    let web = served.json(&["get", "deployment", "web"]);
    let containers = &web["spec"]["template"]["spec"]["containers"];
    assert_eq!(containers[0]["image"], "web:2");
    assert_eq!(containers[1]["image"], "log:1");
    let shown = served.done(&["get", "deploy"], "");
    let shown = words(&shown);
    assert_eq!(
        shown[0],
        ["NAME", "READY", "UP-TO-DATE", "AVAILABLE", "AGE"]
    );
    assert_eq!(shown[1][..4], ["web", "0/2", "0", "0"]);
    let wide = served.done(&["get", "deploy", "-owide"], "");
    assert_eq!(words(&wide)[1][5..], ["web,log", "web:2,log:1", "app=web"]);
    let yaml = served.done(&["get", "deploy", "web", "-oyaml"], "");
    assert!(yaml.contains("\nkind: Deployment\n"), "{yaml}");
    let described = served.done(&["describe", "deploy", "web"], "");
    assert!(described.contains("2 desired | 0 updated"), "{described}");
    let refused = served.refused(&["get", "deploy", "other"], "");
    assert_eq!(
        refused,
        "Error from server (NotFound): deployments.apps \"other\" not found\n"
    );
    let deleted = served.done(&["delete", "deploy", "web"], "");
    assert!(
        deleted.starts_with("deployment.apps \"web\" deleted"),
        "{deleted}"
    );
    served.refused(&["get", "deploy", "web"], "");
}

#[test]
fn unknown_fields_are_refused() {
    let Some(served) = Served::start() else {
        return;
    };
    let wrong = WEB.replace("replicas: 2", "replica: 2");
    let refused = served.refused(&["apply", "-f-"], &wrong);
    assert!(
        refused.contains("unknown field \"spec.replica\""),
        "{refused}"
    );
}

#[test]
fn applies_of_two_managers_conflict() {
    let Some(served) = Served::start() else {
        return;
    };
    let apply = ["apply", "--server-side", "-f-"];
    assert_eq!(
        served.done(&apply, &config_map("1")),
        "configmap/m serverside-applied\n"
    );
    let other = ["apply", "--server-side", "--field-manager=other", "-f-"];
    let refused = served.refused(&other, &config_map("2"));
    assert!(
        refused.contains("conflict with \"kubectl\": .data.a"),
        "{refused}"
    );
    served.done(
        &[
            "apply",
            "--server-side",
            "--field-manager=other",
            "--force-conflicts",
            "-f-",
        ],
        &config_map("2"),
    );
    let map = served.json(&["get", "cm", "m", "--show-managed-fields"]);
    assert_eq!(map["data"], json!({"a": "2"}));
    let managers = map["metadata"]["managedFields"].as_array().unwrap();
    assert_eq!(managers.len(), 1);
    assert_eq!(managers[0]["manager"], "other");
    assert_eq!(managers[0]["fieldsV1"], json!({"f:data": {"f:a": {}}}));
    // What was applied by the client is applied by the server from then on.
    served.done(&["delete", "cm", "m"], "");
    served.done(&["apply", "-f-"], &config_map("1"));
    served.done(&apply, &config_map("3"));
    assert_eq!(served.json(&["get", "cm", "m"])["data"], json!({"a": "3"}));
}

#[test]
fn objects_are_patched_labelled_and_compared() {
    let Some(served) = Served::start() else {
        return;
    };
    served.done(&["apply", "-f-"], &config_map("1"));
    served.done(&["apply", "-f-"], WEB);
    let image = r#"{"spec":{"template":{"spec":{"containers":[{"name":"log","image":"log:2"}]}}}}"#;
    served.done(&["patch", "deploy", "web", "-p", image], "");
    let web = served.json(&["get", "deploy", "web"]);
    let containers = web["spec"]["template"]["spec"]["containers"]
        .as_array()
        .unwrap();
    assert_eq!(containers.len(), 2);
    assert!(
        containers
            .iter()
            .any(|container| container["image"] == "log:2")
    );
    served.done(
        &[
            "patch",
            "cm",
            "m",
            "--type=merge",
            "-p",
            r#"{"data":{"a":null,"b":"2"}}"#,
        ],
        "",
    );
    let operations =
        r#"[{"op":"test","path":"/data/b","value":"2"},{"op":"add","path":"/data/c","value":"3"}]"#;
    served.done(&["patch", "cm", "m", "--type=json", "-p", operations], "");
    served.done(&["label", "cm", "m", "tier=front"], "");
    served.done(&["annotate", "cm", "m", "note=x"], "");
    let map = served.json(&["get", "cm", "m"]);
    assert_eq!(map["data"], json!({"b": "2", "c": "3"}));
    assert_eq!(map["metadata"]["labels"], json!({"tier": "front"}));
    assert_eq!(map["metadata"]["annotations"]["note"], "x");
    let selected = served.done(&["get", "cm", "-ltier=front", "-oname"], "");
    assert_eq!(selected, "configmap/m\n");
    served.done(&["label", "cm", "m", "tier-"], "");
    let status = r#"{"status":{"replicas":2,"readyReplicas":2}}"#;
    served.done(
        &[
            "patch",
            "deploy",
            "web",
            "--subresource=status",
            "--type=merge",
            "-p",
            status,
        ],
        "",
    );
    let shown = served.done(&["get", "deploy", "web", "--no-headers"], "");
    assert_eq!(words(&shown)[0][1], "2/2");
    let output = served.run(&["diff", "-f-"], &config_map("9"));
    assert_eq!(output.status.code(), Some(1));
    let diff = String::from_utf8(output.stdout).unwrap();
    assert!(diff.contains("+  a: \"9\""), "{diff}");
    assert_eq!(served.json(&["get", "cm", "m"])["data"].get("a"), None);
}

#[test]
fn objects_are_scaled() {
    let Some(served) = Served::start() else {
        return;
    };
    let web = WEB.replace("  replicas: 2\n", "");
    served.done(&["apply", "-f-"], &web);
    let replicas = || served.json(&["get", "deploy", "web"])["spec"]["replicas"].clone();
    assert_eq!(replicas(), 1);
    served.done(&["scale", "deploy", "web", "--replicas=5"], "");
    assert_eq!(replicas(), 5);
    let missed = [
        "scale",
        "deploy",
        "web",
        "--current-replicas=4",
        "--replicas=3",
    ];
    served.refused(&missed, "");
    served.done(
        &[
            "scale",
            "deploy",
            "web",
            "--current-replicas=5",
            "--replicas=0",
        ],
        "",
    );
    let web = served.json(&["get", "deploy", "web", "--show-managed-fields"]);
    assert_eq!(web["spec"]["replicas"], 0);
    let managers = web["metadata"]["managedFields"].as_array().unwrap();
    let of_scale = managers
        .iter()
        .find(|entry| entry["subresource"] == "scale")
        .unwrap();
    assert_eq!(of_scale["fieldsV1"], json!({"f:spec": {"f:replicas": {}}}));
    let path = "/apis/apps/v1/namespaces/default/deployments/web/scale";
    let scale: Json = serde_json::from_str(&served.done(&["get", "--raw", path], "")).unwrap();
    assert_eq!(scale["kind"], "Scale");
    assert_eq!(
        scale["status"],
        json!({"replicas": 0, "selector": "app=web"})
    );
    served.refused(
        &[
            "get",
            "--raw",
            "/api/v1/namespaces/default/configmaps/m/scale",
        ],
        "",
    );
}

#[test]
fn kinds_of_definitions_have_columns_and_explanations() {
    let Some(served) = Served::start() else {
        return;
    };
    served.done(&["apply", "-f-"], SHELVES);
    served.done(
        &[
            "wait",
            "--for=condition=Established",
            "crd/shelves.shop.example",
            "--timeout=30s",
        ],
        "",
    );
    served.done(&["apply", "-f-"], SHELF);
    served.done(
        &[
            "patch",
            "sh",
            "one",
            "--subresource=status",
            "--type=merge",
            "-p",
            r#"{"status":{"used":3}}"#,
        ],
        "",
    );
    let shown = served.done(&["get", "sh"], "");
    assert_eq!(words(&shown)[0], ["NAME", "SIZE"]);
    let wide = served.done(&["get", "shelves", "-owide"], "");
    assert_eq!(words(&wide)[1], ["one", "small", "3"]);
    served.done(&["scale", "sh/one", "--replicas=4"], "");
    assert_eq!(served.json(&["get", "sh", "one"])["spec"]["boards"], 4);
    let explained = served.done(&["explain", "shelf.spec"], "");
    assert!(
        explained.contains("What the shelf is.") && explained.contains("The size of the shelf."),
        "{explained}"
    );
    let explained = served.done(&["explain", "deployment.spec.template.spec.containers"], "");
    assert!(explained.contains("imagePullPolicy"), "{explained}");
    let resources = served.done(&["api-resources"], "");
    assert!(resources.contains("shelves") && resources.contains("deployments"));
    let versions = served.done(&["api-versions"], "");
    assert!(versions.contains("shop.example/v1\n"), "{versions}");
    let applied = served.done(
        &["apply", "--server-side", "--force-conflicts", "-f-"],
        &SHELF.replace("small", "large"),
    );
    assert_eq!(applied, "shelf.shop.example/one serverside-applied\n");
    assert_eq!(served.json(&["get", "sh", "one"])["spec"]["size"], "large");
}

#[test]
fn changes_are_watched() {
    let Some(served) = Served::start() else {
        return;
    };
    served.done(&["apply", "-f-"], SHELVES);
    served.done(&["apply", "-f-"], SHELF);
    let mut watch = served.lines(&["get", "sh", "-w", "--no-headers"]);
    assert_eq!(
        watch.next_line().split_whitespace().collect::<Vec<_>>(),
        ["one", "small"]
    );
    served.done(
        &[
            "patch",
            "sh",
            "one",
            "--type=merge",
            "-p",
            r#"{"spec":{"size":"large"}}"#,
        ],
        "",
    );
    assert_eq!(
        watch.next_line().split_whitespace().collect::<Vec<_>>(),
        ["one", "large"]
    );
    let waiting = served.lines(&["wait", "sh/one", "--for=condition=Ready", "--timeout=60s"]);
    let ready = r#"{"status":{"conditions":[{"type":"Ready","status":"True"}]}}"#;
    served.done(
        &[
            "patch",
            "sh",
            "one",
            "--subresource=status",
            "--type=merge",
            "-p",
            ready,
        ],
        "",
    );
    assert_eq!(waiting.all(), ["shelf.shop.example/one condition met"]);
    // The deletion ends when nobody holds the object any more.
    let held = r#"{"metadata":{"finalizers":["shop.example/held"]}}"#;
    served.done(&["patch", "sh", "one", "--type=merge", "-p", held], "");
    let deletion = served.lines(&["delete", "sh", "one"]);
    let deadline = Instant::now() + Duration::from_secs(60);
    while served.json(&["get", "sh", "one"])["metadata"]["deletionTimestamp"].is_null() {
        assert!(Instant::now() < deadline, "the object is not being deleted");
    }
    let free = r#"{"metadata":{"finalizers":null}}"#;
    served.done(&["patch", "sh", "one", "--type=merge", "-p", free], "");
    let deleted = deletion.all();
    assert_eq!(deleted.len(), 1);
    assert!(
        deleted[0].starts_with("shelf.shop.example \"one\" deleted"),
        "{deleted:?}"
    );
}

#[test]
fn kubectl_creates_objects_as_protobuf() {
    let Some(served) = Served::start() else {
        return;
    };
    for (arguments, output) in [
        (
            &["create", "namespace", "shop"][..],
            "namespace/shop created\n",
        ),
        (
            &["create", "configmap", "m", "--from-literal=a=1"],
            "configmap/m created\n",
        ),
        (
            &["create", "secret", "generic", "s", "--from-literal=a=1"],
            "secret/s created\n",
        ),
        (
            &["create", "serviceaccount", "bot", "-nshop"],
            "serviceaccount/bot created\n",
        ),
        (
            &[
                "create",
                "deployment",
                "web",
                "--image=web:1",
                "--replicas=3",
            ],
            "deployment.apps/web created\n",
        ),
        (
            &["create", "job", "once", "--image=x"],
            "job.batch/once created\n",
        ),
        (
            &["create", "service", "clusterip", "web", "--tcp=80:8080"],
            "service/web created\n",
        ),
        (
            &["create", "ingress", "web", "--rule=a.example/*=web:80"],
            "ingress.networking.k8s.io/web created\n",
        ),
        (
            &["create", "role", "r", "--verb=get", "--resource=pods"],
            "role.rbac.authorization.k8s.io/r created\n",
        ),
        (&["auth", "can-i", "create", "pods"], "yes\n"),
    ] {
        assert_eq!(served.done(arguments, ""), output, "{arguments:?}");
    }
    assert_eq!(served.json(&["get", "cm", "m"])["data"], json!({"a": "1"}));
    assert_eq!(
        served.json(&["get", "secret", "s"])["data"],
        json!({"a": "MQ=="})
    );
    let web = served.json(&["get", "deploy", "web"]);
    assert_eq!(web["spec"]["replicas"], 3);
    assert_eq!(
        web["spec"]["template"]["spec"]["containers"][0]["image"],
        "web:1"
    );
    let backend = &served.json(&["get", "ingress", "web"])["spec"]["rules"][0]["http"]["paths"][0];
    assert_eq!(
        backend["backend"]["service"],
        json!({"name": "web", "port": {"number": 80}})
    );
    let namespaces = served.done(&["get", "ns", "--no-headers"], "");
    let namespaces = words(&namespaces);
    assert!(
        namespaces
            .iter()
            .any(|line| line[..2] == ["shop", "Active"]),
        "{namespaces:?}"
    );
    // A token of an account is an identity of its own.
    let token = served.done(&["create", "token", "bot", "-nshop"], "");
    let whoami = served.done(
        &[
            "auth",
            "whoami",
            "-ojson",
            &format!("--token={}", token.trim()),
        ],
        "",
    );
    let whoami: Json = serde_json::from_str(&whoami).unwrap();
    assert_eq!(
        whoami["status"]["userInfo"]["username"],
        "system:serviceaccount:shop:bot"
    );
}

#[test]
fn events_are_described() {
    let Some(served) = Served::start() else {
        return;
    };
    served.done(&["create", "configmap", "m"], "");
    let uid = served.json(&["get", "cm", "m"])["metadata"]["uid"]
        .as_str()
        .unwrap()
        .to_owned();
    let event = json!({"apiVersion": "v1", "kind": "Event", "metadata": {"name": "m.1", "namespace": "default"},
        "involvedObject": {"kind": "ConfigMap", "namespace": "default", "name": "m", "uid": uid, "apiVersion": "v1"},
        "reason": "Read", "message": "somebody reads it", "type": "Normal", "count": 2,
        "firstTimestamp": "2026-01-01T00:00:00Z", "lastTimestamp": "2026-01-01T00:00:00Z",
        "source": {"component": "test"}});
    served.done(&["create", "-f-"], &event.to_string());
    let described = served.done(&["describe", "cm", "m"], "");
    assert!(described.contains("somebody reads it"), "{described}");
    let events = served.done(&["get", "events", "--no-headers"], "");
    assert_eq!(words(&events)[0][1..4], ["Normal", "Read", "configmap/m"]);
    served.done(&["events", "--for=configmap/m"], "");
}

#[test]
fn nobody_enters_without_a_token() {
    let Some(served) = Served::start() else {
        return;
    };
    let refused = served.refused(&["get", "ns", "--token=wrong"], "");
    assert!(refused.contains("You must be logged in"), "{refused}");
    let health = served.done(&["get", "--raw", "/readyz", "--token=wrong"], "");
    assert_eq!(health.trim(), "ok");
}

#[test]
fn watches_end_when_the_server_stops() {
    let Some(served) = Served::start() else {
        return;
    };
    served.done(&["create", "configmap", "m"], "");
    let mut watch = served.lines(&["get", "cm", "-w", "--no-headers"]);
    assert!(watch.next_line().starts_with('m'));
    served.stop();
    assert!(watch.all().is_empty());
}
