//! The documents from which clients learn which kinds there are.

use serde_json::{Value as Json, json};

use crate::failure::RefusedRequest;
use crate::kinds::{KindScope, KindTable, ServedKind, StatusForm, server_version};

/// `/version`.
pub(crate) fn version_document() -> Json {
    let version = server_version();
    let mut parts = version.trim_start_matches('v').split('.');
    let mut part = || parts.next().unwrap_or_default().to_owned();
    json!({"major": part(), "minor": part(), "gitVersion": version, "gitCommit": "",
        "gitTreeState": "clean", "buildDate": "1970-01-01T00:00:00Z", "goVersion": "",
        "compiler": "", "platform": ""})
}

/// `/api`.
pub(crate) fn core_versions() -> Json {
    json!({"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []})
}

/// `/apis`.
pub(crate) fn groups(kinds: &KindTable) -> Json {
    let mut names: Vec<&str> = Vec::new();
    // The table is ordered by group.
    for kind in kinds.all() {
        let group = &*kind.resource.group;
        if !group.is_empty() && names.last() != Some(&group) {
            names.push(group);
        }
    }
    let groups: Vec<Json> = names.iter().map(|name| group_entry(kinds, name)).collect();
    json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
}

/// `/apis/GROUP`.
///
/// # Errors
/// If there is no such group.
pub(crate) fn group(kinds: &KindTable, name: &str) -> Result<Json, RefusedRequest> {
    if !kinds.all().any(|kind| *kind.resource.group == *name) {
        return Err(RefusedRequest::no_such_resource());
    }
    let mut entry = json!({"kind": "APIGroup", "apiVersion": "v1"});
    for (field, value) in group_entry(kinds, name).as_object().into_iter().flatten() {
        entry[field] = value.clone();
    }
    Ok(entry)
}

fn group_entry(kinds: &KindTable, name: &str) -> Json {
    let mut versions: Vec<&str> = Vec::new();
    for kind in kinds.all().filter(|kind| *kind.resource.group == *name) {
        for version in &kind.versions {
            if !versions.contains(&&*version.name) {
                versions.push(&version.name);
            }
        }
    }
    versions.sort_by_key(|version| std::cmp::Reverse(version_rank(version)));
    let versions: Vec<Json> = versions
        .iter()
        .map(|version| json!({"groupVersion": format!("{name}/{version}"), "version": version}))
        .collect();
    let preferred = versions.first().cloned().unwrap_or_default();
    json!({"name": name, "versions": versions, "preferredVersion": preferred})
}

/// Versions in the order of Kubernetes: `v2`, `v1`, `v1beta2`, `v1beta1`, `v1alpha1`.
fn version_rank(version: &str) -> (u8, u64, u64) {
    let Some(rest) = version.strip_prefix('v') else {
        return (0, 0, 0);
    };
    let digits = rest.find(|letter: char| !letter.is_ascii_digit());
    let (major, rest) = rest.split_at(digits.unwrap_or(rest.len()));
    let major = major.parse().unwrap_or(0);
    let number = |text: &str| text.parse().unwrap_or(0);
    match (rest.strip_prefix("beta"), rest.strip_prefix("alpha")) {
        (Some(minor), _) => (2, major, number(minor)),
        (None, Some(minor)) => (1, major, number(minor)),
        (None, None) if rest.is_empty() => (3, major, 0),
        (None, None) => (0, 0, 0),
    }
}

/// `/api/v1` and `/apis/GROUP/VERSION`.
///
/// # Errors
/// If there is no such version.
pub(crate) fn resources(
    kinds: &KindTable,
    group: &str,
    version: &str,
) -> Result<Json, RefusedRequest> {
    let mut found = Vec::new();
    let all = kinds.all();
    for kind in all.filter(|kind| *kind.resource.group == *group) {
        if let Some(own) = kind.version(version) {
            found.push(resource_entry(kind));
            if own.status == StatusForm::Subresource {
                found.push(subresource_entry(kind, "status", &kind.type_name.kind));
            }
            if own.scale.is_some() {
                let mut entry = subresource_entry(kind, "scale", "Scale");
                entry["group"] = "autoscaling".into();
                entry["version"] = "v1".into();
                found.push(entry);
            }
            if kind.resource.is("", "serviceaccounts") {
                found.push(token_entry());
            }
        }
    }
    if found.is_empty() {
        return Err(RefusedRequest::no_such_resource());
    }
    let name = match group {
        "" => version.to_owned(),
        group => format!("{group}/{version}"),
    };
    Ok(
        json!({"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": name,
        "resources": found}),
    )
}

fn resource_entry(kind: &ServedKind) -> Json {
    let verbs: Vec<&str> = kind.verbs.iter().map(|verb| &**verb).collect();
    let mut entry = json!({"name": &*kind.resource.plural, "singularName": kind.names.singular,
        "namespaced": kind.scope == KindScope::Namespaced, "kind": &*kind.type_name.kind,
        "verbs": verbs});
    for (field, names) in [
        ("shortNames", &kind.names.short),
        ("categories", &kind.names.categories),
    ] {
        if !names.is_empty() {
            entry[field] = json!(names);
        }
    }
    entry
}

fn subresource_entry(kind: &ServedKind, name: &str, shown: &str) -> Json {
    json!({"name": format!("{}/{name}", kind.resource.plural), "singularName": "",
        "namespaced": kind.scope == KindScope::Namespaced, "kind": shown,
        "verbs": ["get", "patch", "update"]})
}

fn token_entry() -> Json {
    json!({"name": "serviceaccounts/token", "singularName": "", "namespaced": true,
        "group": "authentication.k8s.io", "version": "v1", "kind": "TokenRequest",
        "verbs": ["create"]})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stable_versions_stand_before_others() {
        let mut versions = ["v1alpha1", "v1", "v1beta1", "v2", "foo", "v1beta2", "v10"];
        versions.sort_by_key(|version| std::cmp::Reverse(version_rank(version)));
        let expected = ["v10", "v2", "v1", "v1beta2", "v1beta1", "v1alpha1", "foo"];
        assert_eq!(versions, expected);
    }
}
