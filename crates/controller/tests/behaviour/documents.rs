//! The documents of the tests: a chain of three steps, and one with an immutable step.

use serde_json::{Value as Json, json};

/// The namespace of owners and their objects.
pub(crate) const NAMESPACE: &str = "dev";

/// The definition of `demo.test` Thing: any spec, any status.
pub(crate) fn thing_definition() -> Json {
    let open = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.demo.test"},
        "spec": {
            "group": "demo.test",
            "names": {"kind": "Thing", "listKind": "ThingList", "plural": "things", "singular": "thing"},
            "scope": "Namespaced",
            "versions": [{
                "name": "v1",
                "served": true,
                "storage": true,
                "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {
                    "type": "object",
                    "properties": {"spec": open, "status": open},
                }},
            }],
        },
    })
}

/// The service account that stamps.
pub(crate) fn account() -> Json {
    json!({
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": "sa", "namespace": NAMESPACE},
    })
}

fn carto(kind: &str, name: &str, spec: Json) -> Json {
    json!({
        "apiVersion": "carto.run/v1alpha1",
        "kind": kind,
        "metadata": {"name": name},
        "spec": spec,
    })
}

fn thing(name: &str, spec: Json) -> Json {
    json!({"apiVersion": "demo.test/v1", "kind": "Thing", "metadata": {"name": name}, "spec": spec})
}

/// A chain of three steps: a source, a config and an app.
pub(crate) fn chain() -> Vec<Json> {
    let name = |step: &str| format!("$(workload.metadata.name)$-{step}");
    let source = json!({
        "template": thing(&name("source"), json!({"url": "$(workload.spec.source.git.url)$"})),
        "urlPath": ".spec.url",
        "revisionPath": ".spec.url",
    });
    let config = json!({
        "template": {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": name("config")},
            "data": {"url": "$(source.url)$", "size": "$(params.size)$"},
        },
        "configPath": ".data",
        "params": [{"name": "size", "default": "small"}],
    });
    let app = json!({"template": thing(&name("app"), json!({"config": "$(config)$"}))});
    let resources = json!([
        {"name": "source", "templateRef": {"kind": "ClusterSourceTemplate", "name": "source"}},
        {
            "name": "config",
            "templateRef": {"kind": "ClusterConfigTemplate", "name": "config"},
            "sources": [{"name": "source", "resource": "source"}],
        },
        {
            "name": "app",
            "templateRef": {"kind": "ClusterTemplate", "name": "app"},
            "configs": [{"name": "config", "resource": "config"}],
        },
    ]);
    let chain = json!({"selector": {"app": "web"}, "resources": resources});
    vec![
        carto("ClusterSourceTemplate", "source", source),
        carto("ClusterConfigTemplate", "config", config),
        carto("ClusterTemplate", "app", app),
        carto("ClusterSupplyChain", "chain", chain),
    ]
}

/// A chain whose first step makes a further object for each change.
pub(crate) fn immutable_chain() -> Vec<Json> {
    let image = json!({
        "lifecycle": "immutable",
        "template": {
            "apiVersion": "demo.test/v1",
            "kind": "Thing",
            "metadata": {"generateName": "$(workload.metadata.name)$-run-"},
            "spec": {"url": "$(workload.spec.source.git.url)$"},
        },
        "imagePath": ".spec.url",
    });
    let app = json!({
        "template": thing("$(workload.metadata.name)$-app", json!({"image": "$(image)$"})),
    });
    let resources = json!([
        {"name": "image", "templateRef": {"kind": "ClusterImageTemplate", "name": "image"}},
        {
            "name": "app",
            "templateRef": {"kind": "ClusterTemplate", "name": "app"},
            "images": [{"name": "image", "resource": "image"}],
        },
    ]);
    let chain = json!({"selector": {"app": "web"}, "resources": resources});
    vec![
        carto("ClusterImageTemplate", "image", image),
        carto("ClusterTemplate", "app", app),
        carto("ClusterSupplyChain", "chain", chain),
    ]
}

/// A workload that the chains select.
pub(crate) fn workload(url: &str) -> Json {
    json!({
        "apiVersion": "carto.run/v1alpha1",
        "kind": "Workload",
        "metadata": {"name": "w", "namespace": NAMESPACE, "labels": {"app": "web"}},
        "spec": {"serviceAccountName": "sa", "source": {"git": {"url": url, "ref": {"branch": "main"}}}},
    })
}
