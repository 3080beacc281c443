//! Objects that others manage, read as data sources.

use super::cluster::ClusterPlace;

const DOCUMENT: &str = "\
version: 2023-04-20
datasources:
  named:
    type: kubernetes/core/ConfigMap
    filter:
      - {field: metadata.name, operator: \"=\", search: colors}
      - {field: metadata.namespace, operator: \"=\", search: NS}
    exports:
      color: {type: string, aliasFor: data.color}
      uid: {type: string, aliasFor: metadata.uid}
  selected:
    type: kubernetes/core/ConfigMap
    filter:
      - {field: metadata.namespace, operator: \"=\", search: NS}
      - {field: labelSelector, operator: \"=\", search: \"tier in (back, none), part=two\"}
    exports:
      name: {type: string, aliasFor: metadata.name}
  password:
    type: kubernetes/core/Secret
    filter:
      - {field: metadata.namespace, operator: \"=\", search: NS}
      - {field: metadata.name, operator: \"starts with\", search: pass}
    exports:
      text: {type: string, aliasFor: data.text}
resources:
  copy:
    type: kubernetes/core/ConfigMap
    spec:
      metadata: {name: copy, namespace: NS}
      data:
        color: \"${datasources.named.color}\"
        uid: \"${datasources.named.uid}\"
        selected: \"${datasources.selected.name}\"
  secret:
    type: kubernetes/core/Secret
    spec:
      metadata: {name: secret, namespace: NS}
      data: {text: \"${datasources.password.text}\"}
";

/// What others make. The text of the secret is `hunter-seven`.
const OTHERS: &str = "\
apiVersion: v1
kind: ConfigMap
metadata: {name: colors}
data: {color: green}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: first, labels: {tier: back, part: one}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: second, labels: {tier: back, part: two}}
---
apiVersion: v1
kind: Secret
metadata: {name: password}
data: {text: aHVudGVyLXNldmVu}
";

#[test]
fn data_sources_read_objects_of_others() {
    let Some(cluster) = ClusterPlace::with("data", DOCUMENT) else {
        return;
    };
    let make = ["-n", &cluster.namespace, "create", "--filename=-"];
    cluster.fed(&make, OTHERS);
    cluster.ends(&["stage"], "2 to create, 0 to update, 0 to delete");
    cluster.ends(&["deploy", "-y"], "2 created, 0 updated, 0 deleted");
    let copy = cluster.object("configmap/copy").unwrap();
    let colors = cluster.object("configmap/colors").unwrap();
    assert_eq!(copy["data"]["color"], "green");
    assert_eq!(copy["data"]["uid"], colors["metadata"]["uid"]);
    assert_eq!(copy["data"]["selected"], "second");
    let secret = cluster.object("secret/secret").unwrap();
    assert_eq!(secret["data"]["text"], "aHVudGVyLXNldmVu");
    cluster.is_up_to_date();
    cluster.hides(&["aHVudGVyLXNldmVu", "hunter-seven"]);

    // The next plan reads again.
    cluster.patch("configmap/colors", "other", r#"{"data": {"color": "red"}}"#);
    cluster.ends(&["stage"], "0 to create, 1 to update, 0 to delete");
}

#[test]
fn data_source_without_an_object_is_an_error() {
    let Some(cluster) = ClusterPlace::with("nodata", DOCUMENT) else {
        return;
    };
    let staged = cluster.exits(1, &["stage"]);
    for name in ["named", "selected", "password"] {
        let wanted = format!("nothing matches the data source `{name}`");
        assert!(staged.err.contains(&wanted), "{}", staged.err);
    }
    let wrong = DOCUMENT.replace("aliasFor: metadata.uid", "aliasFor: metadata.uidd");
    cluster.write(&wrong);
    let wanted = ["has no field `metadata.uidd`", "did you mean"];
    cluster.refused(&["validate"], &wanted);
}
