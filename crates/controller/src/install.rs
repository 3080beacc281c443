//! What a cluster needs to run the controller: definitions, rights, a deployment, a webhook.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cartographer::kinds::{CartoKind, GROUP, VERSION};
use serde_json::{Value as Json, json};

use crate::admission::WEBHOOK_NAME;
use crate::webhook::VALIDATE_PATH;

/// The name of the controller's objects.
const NAME: &str = "cyan-controller";

/// The name of the certificate of the webhook, and of the secret with it.
const CERTIFICATE: &str = "cyan-controller-tls";

/// The folder of the certificate in the container.
const CERTIFICATE_FOLDER: &str = "/tls";

/// The port of the webhook in the container.
const WEBHOOK_PORT: u16 = 8443;

/// Where and how the controller is installed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installation {
    /// The namespace of the controller.
    pub namespace: String,
    /// The image of the container. [`dockerfile`] builds one.
    pub image: String,
    /// The number of replicas. One of them leads, the others wait.
    pub replicas: u32,
    /// The webhook; `None` if the API server does not ask the controller about objects.
    pub webhook: Option<WebhookTrust>,
}

/// How the API server learns which certificate of the webhook it trusts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WebhookTrust {
    /// cert-manager makes the certificate, and writes its authority into the configuration.
    CertManager,
    /// The certificate is in the secret `cyan-controller-tls`, which somebody else makes. Its
    /// authority is this text in PEM.
    Authority(String),
}

/// The objects of an installation, in the order in which they are applied: definitions of the
/// kinds of Cartographer, the namespace, the account with its rights, and the deployment.
///
/// The controller reads everything, because chains can stamp any kind. It writes statuses of
/// Cartographer's kinds, events, its lease, and tokens of service accounts. Stamped objects are
/// written with the service accounts of their owners.
///
/// A webhook adds its service, its certificate if cert-manager makes it, and, at the end, the
/// configuration: nothing is refused before the deployment exists.
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
    if let Some(trust) = &installation.webhook {
        objects.push(service(namespace, &labels));
        if *trust == WebhookTrust::CertManager {
            objects.extend(certificate(namespace, &labels));
        }
    }
    objects.push(deployment(installation, &labels));
    if let Some(trust) = &installation.webhook {
        objects.push(trusted_configuration(trust, namespace));
    }
    objects
}

/// The configuration that makes an API server ask a webhook about the cluster-wide kinds of
/// `carto.run`. `client` says where it is, as `clientConfig` does; `authority`, in PEM, is what the
/// server trusts. The other kinds have no rules.
pub fn webhook_configuration(client: &Json, authority: Option<&str>) -> Json {
    let kinds = CartoKind::ALL.into_iter();
    let kinds = kinds.filter(|kind| !kind.is_namespaced());
    let resources: Vec<&str> = kinds.map(CartoKind::plural).collect();
    let mut client = client.clone();
    if let Some(authority) = authority {
        client["caBundle"] = STANDARD.encode(authority).into();
    }
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": NAME, "labels": {"app.kubernetes.io/name": NAME}},
        "webhooks": [{
            "name": WEBHOOK_NAME,
            "admissionReviewVersions": ["v1"],
            "clientConfig": client,
            "failurePolicy": "Fail",
            "matchPolicy": "Equivalent",
            "sideEffects": "None",
            "timeoutSeconds": 5,
            "rules": [{
                "apiGroups": [GROUP],
                "apiVersions": [VERSION],
                "operations": ["CREATE", "UPDATE"],
                "resources": resources,
                "scope": "Cluster",
            }],
        }],
    })
}

fn trusted_configuration(trust: &WebhookTrust, namespace: &str) -> Json {
    let service = json!({"name": NAME, "namespace": namespace, "path": VALIDATE_PATH});
    let client = json!({"service": service});
    match trust {
        WebhookTrust::Authority(authority) => webhook_configuration(&client, Some(authority)),
        WebhookTrust::CertManager => {
            let mut configuration = webhook_configuration(&client, None);
            let from = format!("{namespace}/{CERTIFICATE}");
            configuration["metadata"]["annotations"] =
                json!({"cert-manager.io/inject-ca-from": from});
            configuration
        }
    }
}

fn service(namespace: &str, labels: &Json) -> Json {
    json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": NAME, "namespace": namespace, "labels": labels},
        "spec": {
            "selector": labels,
            "ports": [{"name": "webhook", "port": 443, "targetPort": "webhook"}],
        },
    })
}

/// A certificate that signs itself, and who issues it.
fn certificate(namespace: &str, labels: &Json) -> [Json; 2] {
    let metadata = json!({"name": CERTIFICATE, "namespace": namespace, "labels": labels});
    let issuer = json!({
        "apiVersion": "cert-manager.io/v1",
        "kind": "Issuer",
        "metadata": metadata,
        "spec": {"selfSigned": {}},
    });
    let certificate = json!({
        "apiVersion": "cert-manager.io/v1",
        "kind": "Certificate",
        "metadata": metadata,
        "spec": {
            "secretName": CERTIFICATE,
            "dnsNames": [
                format!("{NAME}.{namespace}.svc"),
                format!("{NAME}.{namespace}.svc.cluster.local"),
            ],
            "issuerRef": {"kind": "Issuer", "name": CERTIFICATE},
        },
    });
    [issuer, certificate]
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
    let mut deployment = json!({
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
    });
    if installation.webhook.is_some() {
        serve_webhook(&mut deployment["spec"]["template"]["spec"]);
    }
    deployment
}

/// Adds the webhook to the pod of the controller.
fn serve_webhook(pod: &mut Json) {
    pod["volumes"] = json!([{"name": "tls", "secret": {"secretName": CERTIFICATE}}]);
    let probe =
        |path: &str| json!({"httpGet": {"path": path, "port": "webhook", "scheme": "HTTPS"}});
    let container = &mut pod["containers"][0];
    container["args"] = json!([
        "cluster",
        "run",
        format!("--webhook-port={WEBHOOK_PORT}"),
        format!("--tls-cert={CERTIFICATE_FOLDER}/tls.crt"),
        format!("--tls-key={CERTIFICATE_FOLDER}/tls.key"),
    ]);
    container["ports"] = json!([{"name": "webhook", "containerPort": WEBHOOK_PORT}]);
    container["livenessProbe"] = probe("/livez");
    container["readinessProbe"] = probe("/readyz");
    container["volumeMounts"] =
        json!([{"name": "tls", "mountPath": CERTIFICATE_FOLDER, "readOnly": true}]);
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
    use serde_json::{Value as Json, json};

    use super::{Installation, WebhookTrust, manifests};

    fn installed(webhook: Option<WebhookTrust>) -> Vec<Json> {
        manifests(&Installation {
            namespace: "supply".to_owned(),
            image: "registry/cyan:1".to_owned(),
            replicas: 2,
            webhook,
        })
    }

    fn of_kind<'a>(objects: &'a [Json], kind: &str) -> Option<&'a Json> {
        objects.iter().find(|object| object["kind"] == kind)
    }

    #[test]
    fn a_webhook_has_a_service_a_certificate_and_a_configuration() {
        let objects = installed(Some(WebhookTrust::CertManager));
        let pod = &of_kind(&objects, "Deployment").unwrap()["spec"]["template"]["spec"];
        let container = &pod["containers"][0];
        assert_eq!(container["args"][2], "--webhook-port=8443");
        assert_eq!(container["readinessProbe"]["httpGet"]["scheme"], "HTTPS");
        assert_eq!(
            container["volumeMounts"][0]["name"],
            pod["volumes"][0]["name"]
        );
        let certificate = of_kind(&objects, "Certificate").unwrap();
        assert_eq!(
            certificate["spec"]["secretName"],
            pod["volumes"][0]["secret"]["secretName"]
        );
        let service = of_kind(&objects, "Service").unwrap();
        let name = format!(
            "{}.supply.svc",
            service["metadata"]["name"].as_str().unwrap()
        );
        assert_eq!(certificate["spec"]["dnsNames"][0], json!(name));
        let configuration = objects.last().unwrap();
        assert_eq!(configuration["kind"], "ValidatingWebhookConfiguration");
        assert_eq!(
            configuration["metadata"]["annotations"]["cert-manager.io/inject-ca-from"],
            "supply/cyan-controller-tls"
        );
        let webhook = &configuration["webhooks"][0];
        assert_eq!(
            webhook["rules"][0]["resources"].as_array().unwrap().len(),
            8
        );
        assert_eq!(webhook["failurePolicy"], "Fail");
        assert_eq!(webhook["clientConfig"].get("caBundle"), None);
    }

    #[test]
    fn an_authority_is_written_into_the_configuration() {
        let objects = installed(Some(WebhookTrust::Authority("PEM".to_owned())));
        assert_eq!(of_kind(&objects, "Certificate"), None);
        let configuration = objects.last().unwrap();
        assert_eq!(
            configuration["webhooks"][0]["clientConfig"]["caBundle"],
            "UEVN"
        );
        assert_eq!(configuration["metadata"].get("annotations"), None);
    }

    #[test]
    fn an_installation_has_the_definitions_the_rights_and_the_deployment() {
        let objects = installed(None);
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
