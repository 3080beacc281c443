//! Facts about the kinds of every server that their schemas do not state.

use std::sync::{Arc, OnceLock};

use kubernetes::{KindInfo, builtin};

use super::scale::ScalePaths;
use super::served::{
    GenerationForm, KindNames, KindOrigin, KindScope, ServedKind, ServedVersion, StatusForm,
    VersionSchema,
};
use crate::naming::{ResourceName, TypeName};

/// A kind of every server.
pub(crate) fn builtin_kind(info: &KindInfo) -> ServedKind {
    let group = &*info.kind.group;
    let resource = ResourceName::new(group, &info.plural);
    let versions = info.versions.iter().map(|version| ServedVersion {
        name: Arc::from(&**version),
        status: match has_status(&resource) {
            true => StatusForm::Subresource,
            false => StatusForm::Field,
        },
        scale: ScalePaths::of_builtin(&resource),
        columns: None,
        schema: VersionSchema::Builtin(info.kind.clone(), OnceLock::new()),
    });
    let short = SHORT_NAMES
        .iter()
        .find(|(own, plural, _)| resource.is(own, plural));
    let is_in_all = IN_ALL.iter().any(|(own, plural)| resource.is(own, plural));
    ServedKind {
        type_name: TypeName {
            group: group.into(),
            kind: Arc::from(&*info.kind.kind),
        },
        names: KindNames {
            singular: info.kind.kind.to_lowercase(),
            list_kind: format!("{}List", info.kind.kind),
            short: short.map_or_else(Vec::new, |(_, _, names)| {
                names.iter().map(|name| (*name).to_owned()).collect()
            }),
            categories: match is_in_all {
                true => vec!["all".to_owned()],
                false => Vec::new(),
            },
        },
        scope: match info.is_namespaced {
            true => KindScope::Namespaced,
            false => KindScope::Cluster,
        },
        versions: versions.collect(),
        verbs: info.verbs.iter().map(|verb| Arc::from(&**verb)).collect(),
        origin: KindOrigin::Builtin,
        generation: match has_generation(&resource) {
            true => GenerationForm::Counted,
            false => GenerationForm::Absent,
        },
        resource,
    }
}

/// Whether a kind of every server has the subresource `status`.
fn has_status(resource: &ResourceName) -> bool {
    WITH_STATUS
        .iter()
        .any(|(group, plural)| resource.is(group, plural))
}

/// Whether objects of a kind of every server count their changes.
fn has_generation(resource: &ResourceName) -> bool {
    WITH_GENERATION
        .iter()
        .any(|(group, plural)| resource.is(group, plural))
}

const WITH_STATUS: &[(&str, &str)] = &[
    ("", "namespaces"),
    ("", "nodes"),
    ("", "persistentvolumeclaims"),
    ("", "persistentvolumes"),
    ("", "pods"),
    ("", "replicationcontrollers"),
    ("", "resourcequotas"),
    ("", "services"),
    (
        "admissionregistration.k8s.io",
        "validatingadmissionpolicies",
    ),
    ("apiextensions.k8s.io", "customresourcedefinitions"),
    ("apiregistration.k8s.io", "apiservices"),
    ("apps", "daemonsets"),
    ("apps", "deployments"),
    ("apps", "replicasets"),
    ("apps", "statefulsets"),
    ("autoscaling", "horizontalpodautoscalers"),
    ("batch", "cronjobs"),
    ("batch", "jobs"),
    ("certificates.k8s.io", "certificatesigningrequests"),
    ("flowcontrol.apiserver.k8s.io", "flowschemas"),
    (
        "flowcontrol.apiserver.k8s.io",
        "prioritylevelconfigurations",
    ),
    ("networking.k8s.io", "ingresses"),
    ("networking.k8s.io", "servicecidrs"),
    ("policy", "poddisruptionbudgets"),
    ("resource.k8s.io", "resourceclaims"),
];

const WITH_GENERATION: &[(&str, &str)] = &[
    ("", "pods"),
    ("", "replicationcontrollers"),
    (
        "admissionregistration.k8s.io",
        "mutatingwebhookconfigurations",
    ),
    (
        "admissionregistration.k8s.io",
        "validatingadmissionpolicies",
    ),
    (
        "admissionregistration.k8s.io",
        "validatingadmissionpolicybindings",
    ),
    (
        "admissionregistration.k8s.io",
        "validatingwebhookconfigurations",
    ),
    ("apiextensions.k8s.io", "customresourcedefinitions"),
    ("apps", "daemonsets"),
    ("apps", "deployments"),
    ("apps", "replicasets"),
    ("apps", "statefulsets"),
    ("batch", "cronjobs"),
    ("batch", "jobs"),
    ("discovery.k8s.io", "endpointslices"),
    ("flowcontrol.apiserver.k8s.io", "flowschemas"),
    (
        "flowcontrol.apiserver.k8s.io",
        "prioritylevelconfigurations",
    ),
    ("networking.k8s.io", "ingressclasses"),
    ("networking.k8s.io", "ingresses"),
    ("networking.k8s.io", "networkpolicies"),
    ("policy", "poddisruptionbudgets"),
    ("scheduling.k8s.io", "priorityclasses"),
];

const SHORT_NAMES: &[(&str, &str, &[&str])] = &[
    ("", "componentstatuses", &["cs"]),
    ("", "configmaps", &["cm"]),
    ("", "endpoints", &["ep"]),
    ("", "events", &["ev"]),
    ("", "limitranges", &["limits"]),
    ("", "namespaces", &["ns"]),
    ("", "nodes", &["no"]),
    ("", "persistentvolumeclaims", &["pvc"]),
    ("", "persistentvolumes", &["pv"]),
    ("", "pods", &["po"]),
    ("", "replicationcontrollers", &["rc"]),
    ("", "resourcequotas", &["quota"]),
    ("", "serviceaccounts", &["sa"]),
    ("", "services", &["svc"]),
    (
        "apiextensions.k8s.io",
        "customresourcedefinitions",
        &["crd", "crds"],
    ),
    ("apps", "daemonsets", &["ds"]),
    ("apps", "deployments", &["deploy"]),
    ("apps", "replicasets", &["rs"]),
    ("apps", "statefulsets", &["sts"]),
    ("autoscaling", "horizontalpodautoscalers", &["hpa"]),
    ("batch", "cronjobs", &["cj"]),
    (
        "certificates.k8s.io",
        "certificatesigningrequests",
        &["csr"],
    ),
    ("events.k8s.io", "events", &["ev"]),
    ("networking.k8s.io", "ingresses", &["ing"]),
    ("networking.k8s.io", "networkpolicies", &["netpol"]),
    ("policy", "poddisruptionbudgets", &["pdb"]),
    ("scheduling.k8s.io", "priorityclasses", &["pc"]),
    ("storage.k8s.io", "storageclasses", &["sc"]),
];

/// The kinds of the category `all`.
const IN_ALL: &[(&str, &str)] = &[
    ("", "pods"),
    ("", "replicationcontrollers"),
    ("", "services"),
    ("apps", "daemonsets"),
    ("apps", "deployments"),
    ("apps", "replicasets"),
    ("apps", "statefulsets"),
    ("autoscaling", "horizontalpodautoscalers"),
    ("batch", "cronjobs"),
    ("batch", "jobs"),
];

/// The version of Kubernetes whose kinds the cluster has.
pub(crate) fn server_version() -> &'static str {
    builtin().kubernetes()
}
