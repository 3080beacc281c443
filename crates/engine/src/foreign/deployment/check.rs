//! The rules that a deployment keeps, checked on import and asserted on export.

use std::collections::{HashMap, HashSet};

use data_encoding::HEXLOWER;
use serde_json::{Map, Value as Json};
use sha2::{Digest as _, Sha256};

/// A violation of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The position of the resource; `None` for the deployment itself.
    pub resource: Option<usize>,
    /// What is wrong, as a lower-case phrase.
    pub message: String,
}

/// The digest that a manifest keeps of its version.
pub(super) fn magic(version: &str) -> String {
    hex_digest(version)
}

/// The SHA-256 of a text, in hexadecimal digits.
pub(super) fn hex_digest(text: &str) -> String {
    HEXLOWER.encode(&Sha256::digest(text.as_bytes()))
}

/// The text of a member; empty if there is none.
pub(super) fn text<'j>(resource: &'j Map<String, Json>, key: &str) -> &'j str {
    resource.get(key).and_then(Json::as_str).unwrap_or_default()
}

/// Whether a member is `true`.
pub(super) fn is_true(resource: &Map<String, Json>, key: &str) -> bool {
    resource.get(key).and_then(Json::as_bool) == Some(true)
}

/// The URNs in a list.
pub(super) fn texts<'j>(resource: &'j Map<String, Json>, key: &str) -> Vec<&'j str> {
    let items = resource.get(key).and_then(Json::as_array).into_iter();
    items.flatten().filter_map(Json::as_str).collect()
}

/// The resources of a deployment. Members that are no maps are empty.
pub(super) fn resources(deployment: &Map<String, Json>) -> Vec<Map<String, Json>> {
    let all = deployment.get("resources").and_then(Json::as_array);
    let all = all.into_iter().flatten();
    all.map(|one| one.as_object().cloned().unwrap_or_default())
        .collect()
}

/// Returns all violations of a deployment.
pub(super) fn violations(deployment: &Map<String, Json>) -> Vec<Violation> {
    let mut found = Vec::new();
    if let Some(manifest) = deployment.get("manifest").and_then(Json::as_object) {
        let (version, written) = (text(manifest, "version"), text(manifest, "magic"));
        // An empty magic belongs to deployments that were written by hand.
        if !written.is_empty() && written != magic(version) {
            found.push(Violation {
                resource: None,
                message: "`magic` of the manifest does not fit its version".to_owned(),
            });
        }
    }
    let shape_of = deployment.get("resources");
    if shape_of.is_some_and(|all| !all.is_array() && !all.is_null()) {
        found.push(Violation {
            resource: None,
            message: "`resources` is no list".to_owned(),
        });
    }
    let all = resources(deployment);
    let mut seen: HashSet<&str> = HashSet::new();
    let mut live: HashMap<&str, usize> = HashMap::new();
    for (at, resource) in all.iter().enumerate() {
        check_resource(at, resource, &seen, &mut found);
        let urn = text(resource, "urn");
        if !is_true(resource, "delete") && live.insert(urn, at).is_some() && !urn.is_empty() {
            found.push(Violation {
                resource: Some(at),
                message: format!("`{urn}` is there twice, and not as a deleted one"),
            });
        }
        seen.insert(urn);
    }
    found
}

fn check_resource(
    at: usize,
    resource: &Map<String, Json>,
    seen: &HashSet<&str>,
    found: &mut Vec<Violation>,
) {
    let mut report = |message: String| {
        found.push(Violation {
            resource: Some(at),
            message,
        });
    };
    let urn = text(resource, "urn");
    if urn.splitn(4, "::").count() < 4 || !urn.starts_with("urn:pulumi:") {
        report("a resource has no URN".to_owned());
        return;
    }
    if text(resource, "type").is_empty() {
        report(format!("`{urn}` has no type"));
    }
    if !is_true(resource, "custom") && !text(resource, "id").is_empty() {
        report(format!("the component `{urn}` has an id"));
    }
    let provider = text(resource, "provider");
    let named = provider.rsplit_once("::").map(|(urn, _)| urn);
    let waits = is_true(resource, "pendingReplacement");
    if !provider.is_empty() && !waits && named.is_none_or(|named| !seen.contains(named)) {
        report(format!("the provider of `{urn}` does not come before it"));
    }
    let mut uses: Vec<(&str, &str)> = Vec::new();
    for key in ["parent", "deletedWith"] {
        uses.push((key, text(resource, key)));
    }
    for key in ["dependencies", "replaceWith"] {
        uses.extend(texts(resource, key).into_iter().map(|urn| (key, urn)));
    }
    let by_property = resource
        .get("propertyDependencies")
        .and_then(Json::as_object);
    for used in by_property.into_iter().flat_map(Map::values) {
        let used = used.as_array().into_iter().flatten();
        let used = used.filter_map(Json::as_str);
        uses.extend(used.map(|urn| ("propertyDependencies", urn)));
    }
    for (key, used) in uses {
        if !used.is_empty() && !seen.contains(used) {
            report(format!(
                "`{key}` of `{urn}` names `{used}`, which does not come before it"
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn messages(resources: Json) -> Vec<String> {
        let deployment =
            json!({"manifest": {"version": "v3", "magic": magic("v3")}, "resources": resources});
        let found = violations(deployment.as_object().expect("a map"));
        found.into_iter().map(|one| one.message).collect()
    }

    #[test]
    fn a_deployment_keeps_its_rules() {
        let a = "urn:pulumi:dev::p::t:m:T::a";
        let b = "urn:pulumi:dev::p::t:m:T::b";
        let of = |urn: &str| json!({"urn": urn, "custom": true, "type": "t:m:T", "id": "1"});
        assert_eq!(messages(json!([of(a), of(b)])), Vec::<String>::new());
        let with = |urn: &str, key: &str, value: Json| {
            let mut one = of(urn);
            one[key] = value;
            one
        };
        let old = with(a, "delete", json!(true));
        assert!(messages(json!([of(a), old, old])).is_empty());
        for (resources, part) in [
            (json!([of(a), of(a)]), "twice"),
            (json!([with(a, "type", json!(""))]), "no type"),
            (json!([with(a, "urn", json!("x"))]), "no URN"),
            (json!([with(a, "custom", json!(false))]), "has an id"),
            (
                json!([with(a, "provider", json!(format!("{b}::1"))), of(b)]),
                "provider",
            ),
            (json!([with(a, "parent", json!(b)), of(b)]), "`parent`"),
            (
                json!([with(a, "dependencies", json!([b])), of(b)]),
                "`dependencies`",
            ),
            (json!([with(a, "deletedWith", json!(b))]), "`deletedWith`"),
            (
                json!([with(a, "propertyDependencies", json!({"x": [b]}))]),
                "`propertyDependencies`",
            ),
        ] {
            let found = messages(resources);
            assert!(
                found.len() == 1 && found[0].contains(part),
                "{part}: {found:?}"
            );
        }
    }

    #[test]
    fn the_magic_fits_the_version() {
        let deployment = json!({"manifest": {"version": "v3", "magic": "00"}});
        let found = violations(deployment.as_object().expect("a map"));
        assert_eq!(found.len(), 1);
    }
}
