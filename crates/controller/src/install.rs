//! What a cluster needs to run the controller: definitions, rights and a deployment.

use serde_json::{Value as Json, json};

/// The name of the controller's objects.
const NAME: &str = "cyan-controller";

/// Where and how the controller is installed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installation {
    /// The namespace of the controller.
    pub namespace: String,
    /// The image of the container. [`dockerfile`] builds one.
    pub image: String,
    /// The number of replicas. One of them leads, the others wait.
    pub replicas: u32,
}

/// The objects of an installation, in the order in which they are applied: definitions of the
/// kinds of Cartographer, the namespace, the account with its rights, and the deployment.
///
/// The controller reads everything, because chains can stamp any kind. It writes statuses of
/// Cartographer's kinds, events, its lease, and tokens of service accounts. Stamped objects are
/// written with the service accounts of their owners.
pub fn manifests(installation: &Installation) -> Vec<Json> {
    let mut objects = definitions();
    let namespace = installation.namespace.as_str();
    let subject = json!([{"kind": "ServiceAccount", "name": NAME, "namespace": namespace}]);
    let labels = json!({"app.kubernetes.io/name": NAME});
    objects.push(json!({
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": namespace},
    }));
    objects.push(json!({
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": NAME, "namespace": namespace, "labels": labels},
    }));
    objects.push(json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": NAME, "labels": labels},
        "rules": [
            {"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list", "watch"]},
            {
                "apiGroups": ["carto.run"],
                "resources": ["*/status"],
                "verbs": ["update", "patch"],
            },
            {"apiGroups": [""], "resources": ["serviceaccounts/token"], "verbs": ["create"]},
            {
                "apiGroups": ["", "events.k8s.io"],
                "resources": ["events"],
                "verbs": ["create", "update", "patch"],
            },
        ],
    }));
    objects.push(json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": NAME, "labels": labels},
        "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io",
            "kind": "ClusterRole",
            "name": NAME,
        },
        "subjects": subject,
    }));
    objects.push(json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "Role",
        "metadata": {"name": NAME, "namespace": namespace, "labels": labels},
        "rules": [{
            "apiGroups": ["coordination.k8s.io"],
            "resources": ["leases"],
            "verbs": ["get", "create", "update", "patch", "delete"],
        }],
    }));
    objects.push(json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": {"name": NAME, "namespace": namespace, "labels": labels},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": NAME},
        "subjects": subject,
    }));
    objects.push(deployment(installation, &labels));
    objects
}

/// The definitions of the kinds of Cartographer.
pub fn definitions() -> Vec<Json> {
    cartographer::definitions::definitions()
        .iter()
        .filter_map(|definition| kubernetes::json::to_json(definition).ok())
        .map(|(json, _)| json)
        .collect()
}

fn deployment(installation: &Installation, labels: &Json) -> Json {
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": NAME, "namespace": installation.namespace, "labels": labels},
        "spec": {
            "replicas": installation.replicas,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {
                    "serviceAccountName": NAME,
                    "terminationGracePeriodSeconds": 30,
                    "securityContext": {
                        "runAsNonRoot": true,
                        "seccompProfile": {"type": "RuntimeDefault"},
                    },
                    "containers": [{
                        "name": "controller",
                        "image": installation.image,
                        "args": ["cluster", "run"],
                        "env": [{
                            "name": "POD_NAMESPACE",
                            "valueFrom": {"fieldRef": {"fieldPath": "metadata.namespace"}},
                        }],
                        "resources": {
                            "requests": {"cpu": "50m", "memory": "64Mi"},
                            "limits": {"memory": "512Mi"},
                        },
                        "securityContext": {
                            "allowPrivilegeEscalation": false,
                            "capabilities": {"drop": ["ALL"]},
                            "readOnlyRootFilesystem": true,
                        },
                    }],
                },
            },
        },
    })
}

/// The text of a Dockerfile that makes an image of the program `cyan` beside it.
pub fn dockerfile() -> &'static str {
    "FROM debian:stable-slim\n\
     COPY cyan /usr/local/bin/cyan\n\
     USER 65532:65532\n\
     ENTRYPOINT [\"/usr/local/bin/cyan\"]\n\
     CMD [\"cluster\", \"run\"]\n"
}

#[cfg(test)]
mod tests {
    use super::{Installation, manifests};

    #[test]
    fn an_installation_has_the_definitions_the_rights_and_the_deployment() {
        let objects = manifests(&Installation {
            namespace: "supply".to_owned(),
            image: "registry/cyan:1".to_owned(),
            replicas: 2,
        });
        let kinds: Vec<&str> = objects
            .iter()
            .filter_map(|object| object["kind"].as_str())
            .collect();
        let definitions = kinds
            .iter()
            .filter(|kind| **kind == "CustomResourceDefinition");
        assert_eq!(definitions.count(), 11);
        assert_eq!(
            kinds[11..],
            [
                "Namespace",
                "ServiceAccount",
                "ClusterRole",
                "ClusterRoleBinding",
                "Role",
                "RoleBinding",
                "Deployment"
            ]
        );
        let deployment = objects.last().unwrap();
        let container = &deployment["spec"]["template"]["spec"]["containers"][0];
        assert_eq!(container["image"], "registry/cyan:1");
        assert_eq!(deployment["spec"]["replicas"], 2);
        assert_eq!(deployment["metadata"]["namespace"], "supply");
    }
}
