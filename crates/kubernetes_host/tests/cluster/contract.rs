//! The conformance suite of providers, with a case for each of many kinds.

use std::time::Duration;

use blueprint::Value;
use contract_tests::provider::{Case, Setup, check};
use provider::HostedPackage;

use crate::peer::Peer;

/// The value of a manifest in JSON.
pub(crate) fn manifest(text: &str) -> Value {
    value(&serde_json::from_str(text).unwrap())
}

fn value(json: &serde_json::Value) -> Value {
    use serde_json::Value as Json;
    match json {
        Json::Null => Value::Null,
        Json::Bool(flag) => Value::Bool(*flag),
        Json::Number(number) => Value::Int(number.as_i64().unwrap()),
        Json::String(text) => Value::text(text.as_str()),
        Json::Array(items) => Value::list(items.iter().map(value)),
        Json::Object(entries) => Value::map(
            entries
                .iter()
                .map(|(name, entry)| (name.as_str(), value(entry))),
        ),
    }
}

/// A case: a kind as `GROUP/KIND`, whether it has namespaces, and the rest of the manifest before
/// and after an update in place.
type Kind = (&'static str, bool, &'static str, &'static str);

const PODS: &str = r#""template": {"metadata": {"labels": {"app": "web"}}, "spec": {"nodeName": "node",
    "containers": [{"name": "web", "image": "nginx:1.27"}]}}"#;

const KINDS: &[Kind] = &[
    (
        "core/ConfigMap",
        true,
        r#""data": {"a": "1", "b": "2"}"#,
        r#""data": {"a": "3"}"#,
    ),
    (
        "core/Secret",
        true,
        r#""stringData": {"password": "s3cr3t-text"}, "type": "Opaque""#,
        r#""stringData": {"password": "an0ther-s3cr3t"}, "type": "Opaque""#,
    ),
    (
        "core/Service",
        true,
        r#""spec": {"selector": {"app": "web"}, "ports": [{"port": 80}]}"#,
        r#""spec": {"selector": {"app": "web"}, "ports": [{"port": 80, "targetPort": "http"}]}"#,
    ),
    (
        "core/ServiceAccount",
        true,
        r#""automountServiceAccountToken": false"#,
        r#""automountServiceAccountToken": true"#,
    ),
    (
        "core/PersistentVolumeClaim",
        true,
        r#""metadata": {"labels": {"app": "a"}}, "spec": {"accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}}, "volumeName": "VOLUME"}"#,
        r#""metadata": {"labels": {"app": "b"}}, "spec": {"accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}}, "volumeName": "VOLUME"}"#,
    ),
    (
        "apps/Deployment",
        true,
        r#""spec": {"replicas": 1, "selector": {"matchLabels": {"app": "web"}}, PODS}"#,
        r#""spec": {"replicas": 2, "selector": {"matchLabels": {"app": "web"}}, PODS}"#,
    ),
    (
        "apps/StatefulSet",
        true,
        r#""spec": {"replicas": 1, "serviceName": "web", "selector": {"matchLabels": {"app": "web"}},
            PODS}"#,
        r#""spec": {"replicas": 2, "serviceName": "web", "selector": {"matchLabels": {"app": "web"}},
            PODS}"#,
    ),
    (
        "apps/DaemonSet",
        true,
        r#""spec": {"selector": {"matchLabels": {"app": "web"}}, PODS}"#,
        r#""spec": {"minReadySeconds": 1, "selector": {"matchLabels": {"app": "web"}}, PODS}"#,
    ),
    (
        "batch/Job",
        true,
        r#""metadata": {"labels": {"app": "a"}}, "spec": {"template": {"spec": {"nodeName": "node",
            "restartPolicy": "Never", "containers": [{"name": "one", "image": "busybox"}]}}}"#,
        r#""metadata": {"labels": {"app": "b"}}, "spec": {"template": {"spec": {"nodeName": "node",
            "restartPolicy": "Never", "containers": [{"name": "one", "image": "busybox"}]}}}"#,
    ),
    (
        "batch/CronJob",
        true,
        r#""spec": {"schedule": "0 3 * * *", "jobTemplate": {"spec": {"template": {"spec": {
            "restartPolicy": "Never", "containers": [{"name": "one", "image": "busybox"}]}}}}}"#,
        r#""spec": {"schedule": "0 4 * * *", "jobTemplate": {"spec": {"template": {"spec": {
            "restartPolicy": "Never", "containers": [{"name": "one", "image": "busybox"}]}}}}}"#,
    ),
    (
        "rbac.authorization.k8s.io/Role",
        true,
        r#""rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]"#,
        r#""rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]}]"#,
    ),
    (
        "rbac.authorization.k8s.io/RoleBinding",
        true,
        r#""roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "reader"},
            "subjects": [{"kind": "User", "name": "a", "apiGroup": "rbac.authorization.k8s.io"}]"#,
        r#""roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "reader"},
            "subjects": [{"kind": "User", "name": "b", "apiGroup": "rbac.authorization.k8s.io"}]"#,
    ),
    (
        "rbac.authorization.k8s.io/ClusterRole",
        false,
        r#""rules": [{"apiGroups": [""], "resources": ["nodes"], "verbs": ["get"]}]"#,
        r#""rules": [{"nonResourceURLs": ["/healthz"], "verbs": ["get"]}]"#,
    ),
    (
        "networking.k8s.io/Ingress",
        true,
        r#""spec": {"defaultBackend": {"service": {"name": "web", "port": {"number": 80}}}}"#,
        r#""spec": {"defaultBackend": {"service": {"name": "web", "port": {"name": "http"}}}}"#,
    ),
    (
        "networking.k8s.io/NetworkPolicy",
        true,
        r#""spec": {"podSelector": {}, "policyTypes": ["Ingress"]}"#,
        r#""spec": {"podSelector": {"matchLabels": {"app": "web"}}, "policyTypes": ["Ingress"]}"#,
    ),
    (
        "policy/PodDisruptionBudget",
        true,
        r#""spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}}"#,
        r#""spec": {"minAvailable": "50%", "selector": {"matchLabels": {"app": "web"}}}"#,
    ),
    (
        "autoscaling/HorizontalPodAutoscaler",
        true,
        r#""spec": {"maxReplicas": 3, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment",
            "name": "web"}}"#,
        r#""spec": {"maxReplicas": 4, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment",
            "name": "web"}}"#,
    ),
    (
        "core/Namespace",
        false,
        r#""metadata": {}"#,
        r#""metadata": {"labels": {"team": "b"}}"#,
    ),
    (
        "cyanotype.test/Boat",
        true,
        r#""spec": {"oars": 2, "crew": [{"name": "a", "age": 30}]}"#,
        r#""spec": {"oars": 4, "crew": [{"name": "a", "age": 31}, {"name": "b"}]}"#,
    ),
    (
        "cyanotype.test/Harbour",
        false,
        r#""spec": {"depth": 12}"#,
        r#""spec": {"depth": 14, "lights": ["red", "green"]}"#,
    ),
];

/// The definitions of two kinds: one in namespaces with keyed lists, one without namespaces and
/// without a schema of its spec.
const DEFINITIONS: &str = r#"
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: boats.cyanotype.test}
spec:
  group: cyanotype.test
  scope: Namespaced
  names: {kind: Boat, plural: boats}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              oars: {type: integer}
              crew:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items:
                  type: object
                  required: [name]
                  properties: {name: {type: string}, age: {type: integer}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: harbours.cyanotype.test}
spec:
  group: cyanotype.test
  scope: Cluster
  names: {kind: Harbour, plural: harbours}
  versions:
  - name: v1beta1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties: {spec: {type: object, x-kubernetes-preserve-unknown-fields: true}}
"#;

/// A case of the suite.
fn case(peer: &Peer, (kind, namespaced, first, second): &Kind) -> Case {
    // Objects without a namespace have the name of the test.
    let name = match *namespaced {
        true => "one",
        false => &format!("{}-one", peer.namespace),
    };
    let spec = |rest: &str| {
        let rest = rest.replace("PODS", PODS);
        let rest = rest.replace("VOLUME", &peer.namespace);
        let mut json: serde_json::Value = serde_json::from_str(&format!("{{{rest}}}")).unwrap();
        json["metadata"]["name"] = name.into();
        if *namespaced {
            json["metadata"]["namespace"] = peer.namespace.as_str().into();
        }
        manifest(&json.to_string())
    };
    let absent = match *namespaced {
        true => format!("{kind}/{}/never-existed", peer.namespace),
        false => format!("{kind}/never-existed"),
    };
    Case::new(&format!("kubernetes/{kind}"), spec(first))
        .changed(spec(second))
        .absent_id(&absent)
        .refuses_existing()
}

pub(crate) fn package(peer: &Peer) -> HostedPackage {
    HostedPackage {
        name: kubernetes_host::FAMILY.into(),
        program: None,
        schema: None,
        settings: Value::Null,
        arguments: Vec::new(),
        environment: Vec::new(),
        inherits: None,
        memory: None,
        start_within: Duration::from_secs(10),
        folder: peer.kubeconfig.parent().unwrap().to_path_buf(),
        cache: None,
    }
}

pub(crate) fn setup(peer: &Peer) -> Setup {
    Setup {
        settings: Value::map([("kubeconfig", Value::text(peer.kubeconfig.to_string_lossy()))]),
        // The schemas of the kinds have no examples.
        documented: false,
        between_polls: Some(|| Box::pin(tokio::time::sleep(Duration::from_millis(250)))),
        ..Setup::in_folder(peer.kubeconfig.parent().unwrap())
    }
}

pub(crate) async fn failures(peer: &Peer, cases: &[Case]) -> Vec<String> {
    let provider = kubernetes_host::open(package(peer)).await.unwrap();
    check(|| provider.clone(), &setup(peer), cases).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn conformance_suite_passes_for_many_kinds() {
    let Some(peer) = Peer::of("contract") else {
        return;
    };
    peer.apply(DEFINITIONS);
    for name in ["boats", "harbours"] {
        let definition = format!("crd/{name}.cyanotype.test");
        peer.done(&["wait", "--for=condition=Established", &definition], "");
    }
    // A claim is ready when it has a volume.
    let volume = format!(
        r#"{{"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {{"name": "{0}"}}, "spec": {{
            "capacity": {{"storage": "1Gi"}}, "accessModes": ["ReadWriteOnce"],
            "hostPath": {{"path": "/nowhere"}},
            "claimRef": {{"namespace": "{0}", "name": "one"}}}}}}"#,
        peer.namespace
    );
    peer.apply(&volume);
    let cases: Vec<Case> = KINDS.iter().map(|kind| case(&peer, kind)).collect();
    let failures = failures(&peer, &cases).await;
    peer.done(&["delete", "pv", &peer.namespace, "--wait=false"], "");
    assert!(failures.is_empty(), "{failures:#?}");
}

#[tokio::test]
async fn conformance_suite_passes_for_any_kind() {
    let Some(peer) = Peer::of("contract-any") else {
        return;
    };
    let spec = |data: &str| {
        manifest(&format!(
            r#"{{"apiVersion": "v1", "kind": "ConfigMap",
                "metadata": {{"name": "one", "namespace": "{}"}}, "data": {{"a": "{data}"}}}}"#,
            peer.namespace
        ))
    };
    let case = Case::new("kubernetes/object", spec("1"))
        .changed(spec("2"))
        .absent_id(&format!("core/ConfigMap/{}/never-existed", peer.namespace))
        .refuses_existing();
    let failures = failures(&peer, &[case]).await;
    assert!(failures.is_empty(), "{failures:#?}");
}
