//! Fields of built-in kinds that cannot change after the creation.

use serde_json::Value as Json;

use crate::failure::FieldCause;
use crate::naming::ResourceName;

/// Group, plural, and the fields that keep their values.
const IMMUTABLE: &[(&str, &str, &[&str])] = &[
    (
        "",
        "persistentvolumeclaims",
        &["spec.accessModes", "spec.storageClassName", "spec.selector"],
    ),
    ("", "secrets", &["type"]),
    ("apps", "daemonsets", &["spec.selector"]),
    ("apps", "deployments", &["spec.selector"]),
    ("apps", "replicasets", &["spec.selector"]),
    (
        "batch",
        "jobs",
        &["spec.template", "spec.selector", "spec.completionMode"],
    ),
    ("networking.k8s.io", "ingressclasses", &["spec.controller"]),
    ("node.k8s.io", "runtimeclasses", &["handler"]),
    (
        "rbac.authorization.k8s.io",
        "clusterrolebindings",
        &["roleRef"],
    ),
    ("rbac.authorization.k8s.io", "rolebindings", &["roleRef"]),
    (
        "scheduling.k8s.io",
        "priorityclasses",
        &["value", "preemptionPolicy"],
    ),
    (
        "storage.k8s.io",
        "storageclasses",
        &[
            "provisioner",
            "parameters",
            "reclaimPolicy",
            "volumeBindingMode",
        ],
    ),
];

/// The fields of the spec of a StatefulSet that may change.
const STATEFUL_SET: &[&str] = &[
    "replicas",
    "ordinals",
    "template",
    "updateStrategy",
    "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy",
    "minReadySeconds",
];

/// The changes of an object that its kind does not allow.
pub(crate) fn immutable_changes(
    resource: &ResourceName,
    before: &Json,
    after: &Json,
) -> Vec<FieldCause> {
    let mut found = Vec::new();
    let rule = IMMUTABLE
        .iter()
        .find(|(group, plural, _)| resource.is(group, plural));
    for field in rule.map_or(&[][..], |(_, _, fields)| fields) {
        let pointer = format!("/{}", field.replace('.', "/"));
        let (old, new) = (before.pointer(&pointer), after.pointer(&pointer));
        if old != new {
            let shown = new.unwrap_or(&Json::Null);
            found.push(FieldCause::invalid(*field, shown, "field is immutable"));
        }
    }
    if resource.is("apps", "statefulsets") && other_spec(before) != other_spec(after) {
        let rule = "updates to statefulset spec for fields other than 'replicas', 'ordinals', \
             'template', 'updateStrategy', 'revisionHistoryLimit', \
             'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";
        found.push(FieldCause::forbidden("spec", rule));
    }
    let address = "/spec/clusterIP";
    if resource.is("", "services")
        && let Some(old) = before.pointer(address)
        && let Some(new) = after.pointer(address)
        && old != new
    {
        found.push(FieldCause::invalid(
            "spec.clusterIPs[0]",
            new,
            "may not change once set",
        ));
    }
    let is_sealed = resource.group.is_empty()
        && matches!(&*resource.plural, "configmaps" | "secrets")
        && before["immutable"] == true;
    if is_sealed {
        let rule = "field is immutable when `immutable` is set";
        for field in ["data", "binaryData", "immutable"] {
            if before[field] != after[field] {
                found.push(FieldCause::forbidden(field, rule));
            }
        }
    }
    found
}

/// The spec of a StatefulSet without what may change.
fn other_spec(object: &Json) -> Option<serde_json::Map<String, Json>> {
    let mut spec = object["spec"].as_object()?.clone();
    spec.retain(|field, _| !STATEFUL_SET.contains(&field.as_str()));
    Some(spec)
}
