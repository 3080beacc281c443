//! The kinds of the test, and random parts of their objects.

use serde_json::{Map, Value as Json, json};

use super::seeded::Seeded;

/// A kind of the test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    ConfigMap,
    Deployment,
    Service,
    Custom,
}

/// The group of the custom kind.
pub(crate) const GROUP: &str = "random-applies.cyan.example";

impl Subject {
    pub(crate) const ALL: [Subject; 4] = [
        Subject::ConfigMap,
        Subject::Deployment,
        Subject::Service,
        Subject::Custom,
    ];

    pub(crate) fn kind(self) -> String {
        match self {
            Subject::ConfigMap => "core/ConfigMap".to_owned(),
            Subject::Deployment => "apps/Deployment".to_owned(),
            Subject::Service => "core/Service".to_owned(),
            Subject::Custom => format!("{GROUP}/Shelf"),
        }
    }

    pub(crate) fn api_version(self) -> String {
        match self {
            Subject::ConfigMap | Subject::Service => "v1".to_owned(),
            Subject::Deployment => "apps/v1".to_owned(),
            Subject::Custom => format!("{GROUP}/v1"),
        }
    }

    /// The path of the list in a namespace.
    pub(crate) fn path(self, namespace: &str) -> String {
        let (start, plural) = match self {
            Subject::ConfigMap => ("api", "configmaps"),
            Subject::Service => ("api", "services"),
            Subject::Deployment => ("apis", "deployments"),
            Subject::Custom => ("apis", "shelves"),
        };
        format!(
            "/{start}/{}/namespaces/{namespace}/{plural}",
            self.api_version()
        )
    }

    pub(crate) fn has_status(self) -> bool {
        matches!(self, Subject::Deployment | Subject::Custom)
    }

    /// A random configuration.
    pub(crate) fn configuration(self, name: &str, seeded: &mut Seeded) -> Json {
        let mut metadata = json!({"name": name});
        for field in ["labels", "annotations"] {
            if seeded.percent(30) {
                metadata[field] = texts(seeded);
            }
        }
        if seeded.percent(20) {
            let all = ["x.example/a", "x.example/b", "x.example/c"].map(Json::from);
            metadata["finalizers"] = seeded.some(&all).into();
        }
        let (_, kind) = self
            .kind()
            .split_once('/')
            .map(|(a, b)| (a.to_owned(), b.to_owned()))
            .unwrap();
        let mut object =
            json!({"apiVersion": self.api_version(), "kind": kind, "metadata": metadata});
        match self {
            Subject::ConfigMap => {
                if seeded.percent(85) {
                    object["data"] = texts(seeded);
                }
                if seeded.percent(20) {
                    object["binaryData"] = json!({"bin": *seeded.one(&["YQ==", "Yg=="])});
                }
            }
            Subject::Deployment => object["spec"] = deployment_spec(seeded),
            Subject::Service => object["spec"] = service_spec(seeded),
            Subject::Custom => {
                if seeded.percent(90) {
                    object["spec"] = custom_spec(seeded);
                }
            }
        }
        object
    }

    /// A random status.
    pub(crate) fn status(self, seeded: &mut Seeded) -> Json {
        let count = seeded.below(4);
        match self {
            Subject::Custom => {
                let all: Vec<Json> = ["Ready", "Stable"]
                    .map(
                        |name| json!({"type": name, "status": count.is_multiple_of(2).to_string()}),
                    )
                    .into();
                json!({"used": count, "conditions": seeded.some(&all)})
            }
            _ => {
                let mut status = json!({"replicas": count, "updatedReplicas": count});
                if seeded.percent(50) {
                    status["conditions"] = json!([{"type": "Available", "status": "True",
                        "lastUpdateTime": "2026-01-01T00:00:00Z", "lastTransitionTime": "2026-01-01T00:00:00Z"}]);
                }
                status
            }
        }
    }
}

fn texts(seeded: &mut Seeded) -> Json {
    let mut map = Map::new();
    for key in ["a", "b.c", "d"] {
        if seeded.percent(50) {
            map.insert(key.to_owned(), json!(*seeded.one(&["1", "2"])));
        }
    }
    Json::Object(map)
}

fn deployment_spec(seeded: &mut Seeded) -> Json {
    let mut pod = json!({});
    let containers: Vec<Json> = ["a", "b", "c"]
        .iter()
        .map(|name| container(name, seeded))
        .collect();
    let mut chosen = seeded.some(&containers);
    if chosen.is_empty() {
        chosen.push(containers[0].clone());
    }
    pod["containers"] = chosen.into();
    if seeded.percent(30) {
        let all = [
            json!({"name": "empty", "emptyDir": {}}),
            json!({"name": "map", "configMap": {"name": "m"}}),
        ];
        pod["volumes"] = seeded.some(&all).into();
    }
    if seeded.percent(30) {
        pod["nodeSelector"] = texts(seeded);
    }
    if seeded.percent(20) {
        pod["tolerations"] = json!([{"key": *seeded.one(&["x", "y"]), "operator": "Exists"}]);
    }
    let mut spec = json!({"selector": {"matchLabels": {"app": "x"}},
        "template": {"metadata": {"labels": {"app": "x"}}, "spec": pod}});
    if seeded.percent(50) {
        spec["replicas"] = json!(seeded.below(3));
    }
    if seeded.percent(20) {
        spec["minReadySeconds"] = json!(seeded.below(3));
    }
    if seeded.percent(20) {
        spec["strategy"] = match seeded.below(2) {
            0 => json!({"rollingUpdate": {"maxSurge": seeded.below(3) + 1}}),
            _ => json!({"type": "RollingUpdate"}),
        };
    }
    spec
}

fn container(name: &str, seeded: &mut Seeded) -> Json {
    let mut container = json!({"name": name, "image": *seeded.one(&["one", "two"])});
    if seeded.percent(30) {
        container["args"] = json!([*seeded.one(&["x", "y"])]);
    }
    if seeded.percent(40) {
        let all = [
            json!({"containerPort": 80, "name": "http"}),
            json!({"containerPort": 80, "protocol": "UDP"}),
            json!({"containerPort": 443, "protocol": "TCP"}),
        ];
        container["ports"] = seeded.some(&all).into();
    }
    if seeded.percent(40) {
        let all = [
            json!({"name": "A", "value": *seeded.one(&["1", "2"])}),
            json!({"name": "B", "value": "1"}),
            json!({"name": "C", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}),
        ];
        container["env"] = seeded.some(&all).into();
    }
    if seeded.percent(30) {
        container["resources"] = json!({"limits": {"cpu": *seeded.one(&["1", "2"])}});
    }
    if seeded.percent(20) {
        container["livenessProbe"] = json!({"httpGet": {"path": "/", "port": 80}});
    }
    container
}

fn service_spec(seeded: &mut Seeded) -> Json {
    let all = [
        json!({"name": "http", "port": 80, "targetPort": *seeded.one(&[80, 8080])}),
        json!({"name": "dns", "port": 53, "protocol": "UDP"}),
        json!({"name": "dns-tcp", "port": 53, "protocol": "TCP"}),
        json!({"name": "https", "port": 443, "targetPort": "web"}),
    ];
    let mut ports = seeded.some(&all);
    if ports.is_empty() {
        ports.push(all[0].clone());
    }
    let mut spec = json!({"ports": ports});
    if seeded.percent(50) {
        spec["selector"] = texts(seeded);
    }
    if seeded.percent(20) {
        spec["externalIPs"] = json!([*seeded.one(&["192.0.2.1", "192.0.2.2"])]);
    }
    if seeded.percent(20) {
        spec["sessionAffinity"] = json!(*seeded.one(&["None", "ClientIP"]));
    }
    spec
}

fn custom_spec(seeded: &mut Seeded) -> Json {
    let mut spec = json!({});
    let boards: Vec<Json> = ["a", "b", "c"]
        .iter()
        .map(|name| {
            let mut board = json!({"name": name});
            if seeded.percent(50) {
                board["width"] = json!(seeded.below(3));
            }
            if seeded.percent(30) {
                board["side"] = json!("right");
            }
            if seeded.percent(40) {
                let all = ["x", "y", "z"].map(Json::from);
                board["tags"] = seeded.some(&all).into();
            }
            board
        })
        .collect();
    if seeded.percent(60) {
        spec["boards"] = seeded.some(&boards).into();
    }
    if seeded.percent(30) {
        spec["size"] = json!(*seeded.one(&["small", "large"]));
    }
    if seeded.percent(30) {
        let all = [1, 2, 3].map(Json::from);
        spec["numbers"] = seeded.some(&all).into();
    }
    for field in ["granular", "whole"] {
        if seeded.percent(40) {
            spec[field] = texts(seeded);
        }
    }
    if seeded.percent(30) {
        spec["list"] = json!([seeded.below(2)]);
    }
    if seeded.percent(40) {
        spec["open"] = match seeded.below(3) {
            0 => json!({"deep": texts(seeded), "list": [1, {"a": "b"}]}),
            1 => json!({"deep": {"x": seeded.below(2)}}),
            _ => json!({}),
        };
    }
    if seeded.percent(30) {
        spec["struct"] = match seeded.below(2) {
            0 => json!({"one": seeded.below(2)}),
            _ => json!({"two": "x", "one": 1}),
        };
    }
    if seeded.percent(30) {
        spec["either"] = match seeded.below(2) {
            0 => json!(seeded.below(2)),
            _ => json!("x"),
        };
    }
    spec
}

/// The definition of the custom kind.
pub(crate) fn definition() -> Json {
    let text = || json!({"type": "string"});
    let integer = || json!({"type": "integer"});
    let texts = |form: &str| json!({"type": "object", "additionalProperties": text(), "x-kubernetes-map-type": form});
    let set =
        |items: Json| json!({"type": "array", "x-kubernetes-list-type": "set", "items": items});
    let board = json!({"type": "object", "required": ["name"], "properties": {
        "name": text(), "side": {"type": "string", "default": "left"}, "width": integer(), "tags": set(text())}});
    let condition = json!({"type": "object", "required": ["type"], "properties": {"type": text(), "status": text()}});
    let schema = json!({"type": "object", "properties": {
        "spec": {"type": "object", "properties": {
            "boards": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name", "side"], "items": board},
            "size": {"type": "string", "default": "small"},
            "numbers": set(integer()),
            "granular": texts("granular"),
            "whole": texts("atomic"),
            "list": {"type": "array", "items": integer()},
            "open": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
            "struct": {"type": "object", "properties": {"one": integer(), "two": text()}},
            "either": {"x-kubernetes-int-or-string": true}}},
        "status": {"type": "object", "properties": {"used": integer(),
            "conditions": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"], "items": condition}}}}});
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("shelves.{GROUP}")},
        "spec": {"group": GROUP, "scope": "Namespaced", "names": {"kind": "Shelf", "plural": "shelves", "singular": "shelf"},
            "versions": [{"name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": schema}}]}})
}
