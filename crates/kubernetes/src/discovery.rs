//! The kinds that a server has, from its discovery documents.
//!
//! Not here: fetching the documents.

use blueprint::{IndexMap, Name};
use serde_json::Value as Json;

use crate::{ApiVersion, GroupKind};

/// A kind that a server has.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KindInfo {
    /// The kind.
    pub kind: GroupKind,
    /// Its versions, the preferred one first. Never empty.
    pub versions: Vec<Name>,
    /// Its name in paths of the API, for example `deployments`.
    pub plural: Name,
    /// Whether its objects are in namespaces.
    pub is_namespaced: bool,
    /// The requests that its preferred version has, for example `get` and `patch`.
    pub verbs: Vec<Name>,
}

impl KindInfo {
    /// Whether the kind has a request.
    pub fn can(&self, verb: &str) -> bool {
        self.verbs.iter().any(|own| **own == *verb)
    }

    /// Whether objects of the kind can be created, changed, read and deleted. Others, such as
    /// reviews, are only requests.
    pub fn is_managed(&self) -> bool {
        ["create", "patch", "get", "delete"]
            .into_iter()
            .all(|verb| self.can(verb))
    }

    /// The preferred API version.
    pub fn api_version(&self) -> ApiVersion {
        ApiVersion {
            group: self.kind.group.clone(),
            version: self.versions.first().cloned().unwrap_or_else(|| "".into()),
        }
    }
}

/// The kinds of a server. `groups` is its `APIGroupList`, which orders the versions of each group;
/// `lists` are `APIResourceList`s, one for each group and version. What is not well formed is left
/// out.
pub fn served_kinds<'a>(groups: &Json, lists: impl IntoIterator<Item = &'a Json>) -> Vec<KindInfo> {
    let ranks = version_ranks(groups);
    let rank = |version: &ApiVersion| ranks.get(version).copied().unwrap_or(usize::MAX);
    let mut lists: Vec<(ApiVersion, &Json)> = lists
        .into_iter()
        .filter_map(|list| Some((list["groupVersion"].as_str()?.parse().ok()?, list)))
        .collect();
    lists.sort_by_cached_key(|(version, _)| (rank(version), version.clone()));
    let mut kinds: IndexMap<GroupKind, KindInfo> = IndexMap::default();
    for (version, list) in lists {
        for resource in list["resources"].as_array().into_iter().flatten() {
            let Some(info) = kind_info(&version, resource) else {
                continue;
            };
            match kinds.get_mut(&info.kind) {
                Some(known) if known.versions.contains(&version.version) => {}
                Some(known) => known.versions.push(version.version.clone()),
                None => {
                    kinds.insert(info.kind.clone(), info);
                }
            }
        }
    }
    kinds.into_values().collect()
}

/// The place of each version among those of its group: 0 for the preferred one.
fn version_ranks(groups: &Json) -> IndexMap<ApiVersion, usize> {
    let mut ranks = IndexMap::default();
    for group in groups["groups"].as_array().into_iter().flatten() {
        let others = group["versions"].as_array().into_iter().flatten();
        let all = std::iter::once(&group["preferredVersion"]).chain(others);
        for (rank, version) in all.enumerate() {
            let parsed = version["groupVersion"].as_str().map(str::parse);
            if let Some(Ok(version)) = parsed {
                ranks.entry(version).or_insert(rank);
            }
        }
    }
    ranks
}

/// The kind of a resource of a list. `None` for a subresource.
fn kind_info(version: &ApiVersion, resource: &Json) -> Option<KindInfo> {
    let plural = resource["name"]
        .as_str()
        .filter(|name| !name.contains('/'))?;
    let verbs = resource["verbs"].as_array().into_iter().flatten();
    Some(KindInfo {
        kind: GroupKind {
            group: version.group.clone(),
            kind: resource["kind"].as_str()?.into(),
        },
        versions: vec![version.version.clone()],
        plural: plural.into(),
        is_namespaced: resource["namespaced"].as_bool()?,
        verbs: verbs.filter_map(Json::as_str).map(Name::from).collect(),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn kinds_have_their_versions_in_order() {
        let groups = json!({"groups": [{"name": "shop.io",
            "versions": [{"groupVersion": "shop.io/v2"}, {"groupVersion": "shop.io/v1"}],
            "preferredVersion": {"groupVersion": "shop.io/v1"}}]});
        let resource = |name: &str, kind: &str, verbs: &[&str]| json!({"name": name, "kind": kind, "namespaced": true, "verbs": verbs});
        let all = ["create", "patch", "get", "delete"];
        let core = json!({"groupVersion": "v1", "resources": [resource("pods", "Pod", &all),
            resource("pods/eviction", "Eviction", &["create"])]});
        let one = json!({"groupVersion": "shop.io/v1", "resources": [resource("tills", "Till", &["get"])]});
        let two = json!({"groupVersion": "shop.io/v2", "resources": [resource("tills", "Till", &all),
            resource("racks", "Rack", &all), {"name": "broken"}]});
        let kinds = served_kinds(&groups, [&two, &core, &one, &json!({})]);
        let found: Vec<_> = kinds
            .iter()
            .map(|kind| {
                (
                    kind.kind.to_string(),
                    kind.api_version().to_string(),
                    kind.versions.len(),
                    kind.is_managed(),
                )
            })
            .collect();
        let expected = [
            ("shop.io/Till", "shop.io/v1", 2, false),
            ("shop.io/Rack", "shop.io/v2", 1, true),
            ("core/Pod", "v1", 1, true),
        ];
        assert_eq!(
            found,
            expected.map(|(kind, version, count, managed)| (
                kind.to_owned(),
                version.to_owned(),
                count,
                managed
            ))
        );
        assert!(kinds[0].can("get") && kinds[0].is_namespaced);
    }
}
