//! Definitions of kinds that a local cluster needs to play scripts for them.

use kubernetes::GroupKind;
use serde_json::{Value as Json, json};

/// A CustomResourceDefinition for a namespaced kind in these versions, with a free `spec` and
/// `status`. The plural is the kind in lower case with an English ending.
pub fn free_definition(kind: &GroupKind, versions: &[&str]) -> Json {
    let singular = kind.kind.to_lowercase();
    let plural = plural(&singular);
    let schema = json!({
        "type": "object",
        "x-kubernetes-preserve-unknown-fields": true,
        "properties": {
            "spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
            "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
        },
    });
    let versions: Vec<Json> = versions
        .iter()
        .enumerate()
        .map(|(at, version)| {
            json!({
                "name": version,
                "served": true,
                "storage": at == 0,
                "schema": {"openAPIV3Schema": schema},
                "subresources": {"status": {}},
            })
        })
        .collect();
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{}", kind.group)},
        "spec": {
            "group": kind.group.as_ref(),
            "scope": "Namespaced",
            "names": {
                "kind": kind.kind.as_ref(),
                "listKind": format!("{}List", kind.kind),
                "plural": plural,
                "singular": singular,
            },
            "versions": versions,
        },
    })
}

fn plural(singular: &str) -> String {
    let before_y = singular.strip_suffix('y');
    match before_y {
        Some(stem) if !stem.ends_with(['a', 'e', 'i', 'o', 'u']) => format!("{stem}ies"),
        _ if singular.ends_with(['s', 'x'])
            || singular.ends_with("ch")
            || singular.ends_with("sh") =>
        {
            format!("{singular}es")
        }
        _ => format!("{singular}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::plural;

    #[test]
    fn plurals_are_those_of_the_usual_kinds() {
        for (singular, expected) in [
            ("gitrepository", "gitrepositories"),
            ("image", "images"),
            ("ingress", "ingresses"),
            ("gateway", "gateways"),
            ("taskrun", "taskruns"),
        ] {
            assert_eq!(plural(singular), expected);
        }
    }
}
