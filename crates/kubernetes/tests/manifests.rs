//! Manifests as people write them, against the schemas of the built-in kinds.

use blueprint::Value;
use kubernetes::{ObjectKey, builtin};
use provider::{Direction, Fit};
use serde_json::{Value as Json, json};

/// A manifest as the value of a document.
fn value(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Bool(*value),
        Json::Number(number) => match number.as_i64() {
            Some(int) => Value::Int(int),
            None => Value::Float(number.as_f64().expect("a number")),
        },
        Json::String(text) => Value::from(text.as_str()),
        Json::Array(items) => Value::list(items.iter().map(value)),
        Json::Object(fields) => Value::map(
            fields
                .iter()
                .map(|(name, field)| (name.as_str(), value(field))),
        ),
    }
}

/// The first field of a manifest that its kind refuses, and why.
fn misfit(manifest: &Json) -> Option<(String, String)> {
    let key = ObjectKey::of(manifest).expect("the manifest names an object");
    let schema = builtin()
        .object_schema(&key.group_kind(), Some(&key.version))
        .expect("the kind is built in");
    let ty = schema.resource_type;
    let found = Fit::new().fields(&value(manifest), &ty.schema, Direction::Sent);
    found.map(|found| (found.path, found.message))
}

fn container() -> Json {
    json!({"name": "web", "image": "registry.example/web:1", "args": ["-v"],
        "ports": [{"containerPort": 8080, "name": "http"}],
        "env": [{"name": "LEVEL", "value": "info"},
            {"name": "PASSWORD", "valueFrom": {"secretKeyRef": {"name": "web", "key": "password"}}}],
        "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}, "limits": {"cpu": 1, "memory": "128Mi"}},
        "readinessProbe": {"httpGet": {"path": "/ready", "port": "http"}, "periodSeconds": 5},
        "volumeMounts": [{"name": "data", "mountPath": "/data"}],
        "securityContext": {"runAsNonRoot": true, "capabilities": {"drop": ["ALL"]}}})
}

fn template() -> Json {
    json!({"metadata": {"labels": {"app": "web"}, "creationTimestamp": null},
        "spec": {"containers": [container()], "volumes": [{"name": "data", "emptyDir": {}}],
            "affinity": {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
                {"weight": 1, "podAffinityTerm": {"topologyKey": "zone",
                    "labelSelector": {"matchLabels": {"app": "web"}}}}]}},
            "tolerations": [{"key": "a", "operator": "Exists", "effect": "NoSchedule"}]}})
}

fn manifests() -> Vec<Json> {
    let metadata = || json!({"name": "web", "namespace": "shop", "labels": {"app": "web"}});
    let selector = || json!({"matchLabels": {"app": "web"}});
    let object = |version: &str, kind: &str, fields: Json| {
        let mut object = json!({"apiVersion": version, "kind": kind, "metadata": metadata()});
        for (name, value) in fields.as_object().expect("a map") {
            object[name] = value.clone();
        }
        object
    };
    vec![
        object("v1", "Namespace", json!({})),
        object(
            "v1",
            "ConfigMap",
            json!({"data": {"a.yaml": "x"}, "binaryData": {"b": "eA=="}}),
        ),
        object(
            "v1",
            "Secret",
            json!({"type": "Opaque", "stringData": {"password": "x"}}),
        ),
        object(
            "v1",
            "ServiceAccount",
            json!({"automountServiceAccountToken": false}),
        ),
        object(
            "v1",
            "Service",
            json!({"spec": {"selector": {"app": "web"}, "type": "LoadBalancer",
            "ports": [{"port": 80, "targetPort": "http"}, {"port": 443, "targetPort": 8443, "protocol": "TCP", "name": "tls"}]}}),
        ),
        object(
            "v1",
            "PersistentVolumeClaim",
            json!({"spec": {"accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}}}}),
        ),
        object("v1", "Pod", json!({"spec": template()["spec"]})),
        object(
            "apps/v1",
            "Deployment",
            json!({"spec": {"replicas": 3, "selector": selector(), "template": template(),
            "strategy": {"rollingUpdate": {"maxSurge": "25%", "maxUnavailable": 0}}}}),
        ),
        object(
            "apps/v1",
            "StatefulSet",
            json!({"spec": {"serviceName": "web", "selector": selector(), "template": template(),
            "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"]}}]}}),
        ),
        object(
            "apps/v1",
            "DaemonSet",
            json!({"spec": {"selector": selector(), "template": template()}}),
        ),
        object(
            "batch/v1",
            "Job",
            json!({"spec": {"backoffLimit": 1, "template": template()}}),
        ),
        object(
            "batch/v1",
            "CronJob",
            json!({"spec": {"schedule": "0 * * * *", "jobTemplate": {"spec": {"template": template()}}}}),
        ),
        object(
            "networking.k8s.io/v1",
            "Ingress",
            json!({"spec": {"rules": [{"host": "a.example", "http": {"paths": [
            {"path": "/", "pathType": "Prefix", "backend": {"service": {"name": "web", "port": {"number": 80}}}}]}}]}}),
        ),
        object(
            "networking.k8s.io/v1",
            "NetworkPolicy",
            json!({"spec": {"podSelector": {}, "policyTypes": ["Ingress"],
            "ingress": [{"ports": [{"port": 80}]}]}}),
        ),
        object(
            "rbac.authorization.k8s.io/v1",
            "Role",
            json!({"rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]}),
        ),
        object(
            "rbac.authorization.k8s.io/v1",
            "RoleBinding",
            json!({"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "web"},
            "subjects": [{"kind": "ServiceAccount", "name": "web", "namespace": "shop"}]}),
        ),
        object(
            "autoscaling/v2",
            "HorizontalPodAutoscaler",
            json!({"spec": {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
            "maxReplicas": 5, "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}}]}}),
        ),
        object(
            "policy/v1",
            "PodDisruptionBudget",
            json!({"spec": {"minAvailable": "50%", "selector": selector()}}),
        ),
        object(
            "storage.k8s.io/v1",
            "StorageClass",
            json!({"provisioner": "a.example", "parameters": {"type": "fast"}}),
        ),
        object(
            "apiextensions.k8s.io/v1",
            "CustomResourceDefinition",
            json!({"spec": {"group": "shop.example", "scope": "Namespaced",
            "names": {"plural": "tills", "kind": "Till"}, "versions": [{"name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object", "properties": {"a": {"type": "integer"}}}}}}}]}}),
        ),
    ]
}

#[test]
fn manifests_of_common_kinds_fit() {
    for manifest in manifests() {
        assert_eq!(misfit(&manifest), None, "{manifest}");
    }
}

#[test]
fn mistakes_have_their_place() {
    let deployment = manifests()
        .into_iter()
        .find(|one| one["kind"] == "Deployment")
        .unwrap();
    for (pointer, name, wrong, place) in [
        ("/spec", "replica", json!(3), "spec.replica"),
        ("/spec", "replicas", json!("3"), "spec.replicas"),
        ("/spec", "selector", json!([]), "spec.selector"),
        (
            "/spec/template/spec",
            "restartPolicy",
            json!("Sometimes"),
            "spec.template.spec.restartPolicy",
        ),
        (
            "/spec/template/spec/containers/0",
            "imagePullPolicy",
            json!("Now"),
            "spec.template.spec.containers[0].imagePullPolicy",
        ),
        (
            "/spec/template/spec/containers/0/ports/0",
            "containerPort",
            json!("http"),
            "spec.template.spec.containers[0].ports[0].containerPort",
        ),
        ("", "kind", json!("Deployment"), ""),
        ("", "status", json!({"replicas": 1}), "status"),
    ] {
        let mut manifest = deployment.clone();
        manifest.pointer_mut(pointer).unwrap()[name] = wrong;
        let found = misfit(&manifest).map_or_else(String::new, |(path, _)| path);
        assert_eq!(found, place);
    }
    let mut manifest = deployment;
    manifest["spec"].as_object_mut().unwrap().remove("template");
    assert_eq!(
        misfit(&manifest),
        Some(("spec".to_owned(), "`template` is missing".to_owned()))
    );
}
