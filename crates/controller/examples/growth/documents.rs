//! The documents of the measurement: five kinds with their scripts, a chain that stamps them, and
//! workloads.

use serde_json::{Value as Json, json};

/// The namespace of workloads and their objects.
pub(crate) const NAMESPACE: &str = "dev";

/// The group of the stamped kinds.
pub(crate) const GROUP: &str = "steps.test";

/// The stamped kinds, in the order of the chain.
pub(crate) const KINDS: [&str; 5] = ["Source", "Image", "Config", "Deployment", "Service"];

/// The scripts of the stamped kinds: one status for each object.
pub(crate) fn scripts() -> String {
    let outputs = [
        ("Source", "url: $(spec.url)$, revision: $(script.commit)$"),
        ("Image", "image: registry.test/app@sha256:$(script.digest)$"),
        ("Config", "config: {image: $(spec.image)$, replicas: 2}"),
        ("Deployment", "replicas: 2, readyReplicas: 2"),
        ("Service", "address: 10.0.0.1"),
    ];
    let scripts = outputs.map(|(kind, outputs)| {
        format!(
            "match: {{apiVersion: {GROUP}/v1, kind: {kind}}}\n\
             steps:\n\
             - status:\n    \
                 observedGeneration: $(metadata.generation)$\n    \
                 conditions: [{{type: Ready, status: \"True\", reason: Done, message: \"\"}}]\n    \
                 outputs: {{{outputs}}}\n"
        )
    });
    scripts.join("---\n")
}

/// The service account that stamps.
pub(crate) fn account() -> Json {
    json!({
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": "stamper", "namespace": NAMESPACE},
    })
}

/// The templates and the chain.
pub(crate) fn chain() -> Vec<Json> {
    let mut templates = vec![
        template(
            "ClusterSourceTemplate",
            "Source",
            json!({
                "url": "$(workload.spec.source.git.url)$",
                "ref": "$(workload.spec.source.git.ref)$",
            }),
            json!({"urlPath": ".status.outputs.url", "revisionPath": ".status.outputs.revision"}),
        ),
        template(
            "ClusterImageTemplate",
            "Image",
            json!({"source": {"url": "$(source.url)$", "revision": "$(source.revision)$"}}),
            json!({"imagePath": ".status.outputs.image"}),
        ),
        template(
            "ClusterConfigTemplate",
            "Config",
            json!({"image": "$(image)$", "labels": {"app": "$(workload.metadata.name)$"}}),
            json!({"configPath": ".status.outputs.config"}),
        ),
        template(
            "ClusterTemplate",
            "Deployment",
            json!({"template": "$(config)$", "paused": false}),
            json!({}),
        ),
    ];
    let port = json!({"params": [{"name": "port", "default": 8080}]});
    let service = json!({"config": "$(config)$", "port": "$(params.port)$"});
    templates.push(template("ClusterTemplate", "Service", service, port));
    let input = |list: &str, resource: &str| json!({"list": list, "resource": resource});
    let inputs = [
        Json::Null,
        input("sources", "source"),
        input("images", "image"),
        input("configs", "config"),
        input("configs", "config"),
    ];
    let resources = templates.iter().zip(inputs).map(|(template, input)| {
        let (kind, name) = (&template["kind"], &template["metadata"]["name"]);
        let mut resource = json!({"name": name, "templateRef": {"kind": kind, "name": name}});
        if let Some(list) = input["list"].as_str() {
            let producer = &input["resource"];
            resource[list] = json!([{"name": producer, "resource": producer}]);
        }
        resource
    });
    let resources: Vec<Json> = resources.collect();
    let chain = json!({"selector": {"app": "web"}, "resources": resources});
    templates.push(platform("ClusterSupplyChain", "chain", chain));
    templates
}

fn template(template_kind: &str, kind: &str, spec: Json, others: Json) -> Json {
    let name = kind.to_lowercase();
    let object = json!({
        "apiVersion": format!("{GROUP}/v1"),
        "kind": kind,
        "metadata": {"name": format!("$(workload.metadata.name)$-{name}")},
        "spec": spec,
    });
    let mut whole = others;
    whole["template"] = object;
    whole["healthRule"] = json!({"singleConditionType": "Ready"});
    platform(template_kind, &name, whole)
}

fn platform(kind: &str, name: &str, spec: Json) -> Json {
    json!({
        "apiVersion": "carto.run/v1alpha1",
        "kind": kind,
        "metadata": {"name": name},
        "spec": spec,
    })
}

/// The workload with a number.
pub(crate) fn workload(number: usize) -> Json {
    let url = format!("https://git.test/team-{}/app-{number}.git", number % 50);
    json!({
        "apiVersion": "carto.run/v1alpha1",
        "kind": "Workload",
        "metadata": {
            "name": format!("app-{number}"),
            "namespace": NAMESPACE,
            "labels": {"app": "web"},
        },
        "spec": {
            "serviceAccountName": "stamper",
            "source": {"git": {"url": url, "ref": {"branch": "main"}}},
        },
    })
}
