//! Objects that are not ready at once, or never.

use super::cluster::ClusterPlace;

/// A Deployment, and an object that reads its status. `SPEC` and `PODS` are further fields.
const DOCUMENT: &str = "\
version: 2023-04-20
resources:
  web:
    type: kubernetes/apps/Deployment
    spec:
      metadata: {name: web, namespace: NS}
      spec:
        SPEC
        selector: {matchLabels: {app: web}}
        template:
          metadata: {labels: {app: web}}
          spec:
            PODS
            containers: [{name: web, image: nginx}]
  note:
    type: kubernetes/core/ConfigMap
    spec:
      metadata: {name: note, namespace: NS}
      data: {ready: \"${tostring(web.spec.status.readyReplicas)}\"}
  other:
    type: kubernetes/core/ConfigMap
    spec: {metadata: {name: other, namespace: NS}}
";

/// Pods that nobody gives a node.
const NEVER_RUN: &str = "schedulerName: nobody";

const RUN: &str = "nodeName: node";

fn document(spec: &str, pods: &str) -> String {
    DOCUMENT.replace("SPEC", spec).replace("PODS", pods)
}

#[test]
fn deploy_holds_what_is_not_ready_and_the_next_one_goes_on() {
    let Some(cluster) = ClusterPlace::with("waits", &document("replicas: 1", NEVER_RUN)) else {
        return;
    };
    let begun = std::time::Instant::now();
    for made in [
        "2 created, 0 updated, 0 deleted",
        "0 created, 0 updated, 0 deleted",
    ] {
        let held = cluster.exits(0, &["deploy", "-y", "--wait", "2s"]);
        assert_eq!(held.last_line(), made);
        for words in [
            "web: 0 of 1 replicas are available",
            "What waits for them: note",
        ] {
            assert!(held.err.contains(words), "{}", held.err);
        }
    }
    assert!(begun.elapsed().as_secs() < 60, "the default limit was used");
    assert_eq!(cluster.object("configmap/note"), None);
    assert!(cluster.object("configmap/other").is_some());
    let deployed = cluster.object("deployment/web").unwrap();

    // Somebody gives the pod a node.
    let pods = cluster.object("pods").unwrap();
    let pod = pods["items"][0]["metadata"]["name"].as_str().unwrap();
    let binding = format!(
        r#"{{"apiVersion": "v1", "kind": "Binding", "metadata": {{"name": "{pod}"}},
            "target": {{"apiVersion": "v1", "kind": "Node", "name": "node"}}}}"#
    );
    let path = format!(
        "/api/v1/namespaces/{}/pods/{pod}/binding",
        cluster.namespace
    );
    cluster.fed(&["create", "--raw", &path, "--filename=-"], &binding);
    cluster.ends(&["deploy", "-y"], "1 created, 0 updated, 0 deleted");
    assert_eq!(
        cluster.object("configmap/note").unwrap()["data"]["ready"],
        "1"
    );
    let ready = cluster.object("deployment/web").unwrap();
    assert_eq!(ready["metadata"]["uid"], deployed["metadata"]["uid"]);
    cluster.is_up_to_date();
}

#[test]
fn deploy_without_waiting_ends_at_once() {
    let Some(cluster) = ClusterPlace::with("nowait", &document("replicas: 1", NEVER_RUN)) else {
        return;
    };
    let held = cluster.exits(0, &["deploy", "-y", "--wait", "0s"]);
    assert!(
        held.err.contains("What waits for them: note"),
        "{}",
        held.err
    );
    cluster.write(&document("replicas: 1", RUN));
    cluster.ends(&["deploy", "-y"], "1 created, 1 updated, 0 deleted");
    cluster.is_up_to_date();
}

#[test]
fn failed_rollout_is_an_error_and_is_repaired() {
    let deadline = "progressDeadlineSeconds: 1";
    let Some(cluster) = ClusterPlace::with("fails", &document(deadline, NEVER_RUN)) else {
        return;
    };
    let failed = cluster.refused(&["deploy", "-y"], &["timed out progressing", "3 |   web:"]);
    assert_eq!(failed.code, 4, "{}", failed.err);
    assert_eq!(cluster.object("configmap/note"), None);
    cluster.write(&document("progressDeadlineSeconds: 60", RUN));
    cluster.ends(&["deploy", "-y"], "1 created, 1 updated, 0 deleted");
    cluster.is_up_to_date();
}
