//! Objects that others make, change or delete.

use super::cluster::ClusterPlace;

const DOCUMENT: &str = "\
version: 2023-04-20
resources:
  settings:
    type: kubernetes/core/ConfigMap
    spec:
      metadata: {name: settings, namespace: NS}
      data: {color: blue}
";

const ADOPT: &str = "[providers.kubernetes]\nexisting = \"adopt\"\n";

const TAKE_OVER: &str = "[providers.kubernetes]\nconflicts = \"take-over\"\n";

impl ClusterPlace {
    /// Creates the object of the document, with a further field, as somebody else.
    fn make_existing(&self, color: &str) {
        let manifest = format!(
            r#"{{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {{"name": "settings"}},
                "data": {{"color": "{color}", "size": "big"}}}}"#
        );
        self.fed(
            &["-n", &self.namespace, "create", "--filename=-"],
            &manifest,
        );
    }

    #[track_caller]
    fn has_data(&self, color: &str, size: Option<&str>) {
        let object = self.object("configmap/settings").unwrap();
        assert_eq!(object["data"]["color"], color);
        assert_eq!(object["data"]["size"].as_str(), size);
    }
}

#[test]
fn existing_object_is_refused_with_the_import_command() {
    let Some(cluster) = ClusterPlace::with("exists", DOCUMENT) else {
        return;
    };
    cluster.make_existing("green");
    let import = format!(
        "cyan import kubernetes/core/ConfigMap core/ConfigMap/{}/settings 'settings'",
        cluster.namespace
    );
    for command in [&["stage"][..], &["deploy", "-y"]] {
        cluster.refused(command, &["exists already", &import]);
    }
    cluster.has_data("green", Some("big"));

    // The command of the message works as it is written.
    let words: Vec<&str> = import.split(' ').skip(1).collect();
    let words: Vec<&str> = words.iter().map(|word| word.trim_matches('\'')).collect();
    cluster.exits(0, &[&words[..], &["-y"]].concat());
    cluster.refused(&["stage"], &["`data.color` is managed by `kubectl-create`"]);
    cluster.write(&DOCUMENT.replace("blue", "green"));
    cluster.ends(&["deploy", "-y"], "0 created, 1 updated, 0 deleted");
    cluster.is_up_to_date();
    cluster.has_data("green", Some("big"));
    cluster.ends(&["destroy", "-y"], "0 created, 0 updated, 1 deleted");
    assert_eq!(cluster.object("configmap/settings"), None);
}

#[test]
fn adopted_object_outlives_its_resource() {
    let Some(cluster) = ClusterPlace::with("adopts", &DOCUMENT.replace("blue", "green")) else {
        return;
    };
    cluster.make_existing("green");
    let made = cluster.object("configmap/settings").unwrap();
    cluster.place.write("cyan.toml", ADOPT);
    let staged = cluster.ends(&["stage"], "1 to create, 0 to update, 0 to delete");
    assert!(
        staged.out.contains("exists already, will be adopted"),
        "{}",
        staged.out
    );
    cluster.ends(&["deploy", "-y"], "1 created, 0 updated, 0 deleted");
    cluster.is_up_to_date();
    cluster.has_data("green", Some("big"));

    cluster.ends(&["destroy", "-y"], "0 created, 0 updated, 1 deleted");
    let kept = cluster.object("configmap/settings").unwrap();
    assert_eq!(kept["metadata"]["uid"], made["metadata"]["uid"]);
    assert_eq!(kept["data"], made["data"]);
    assert!(!kept.to_string().contains("cyan:"), "{kept}");
}

#[test]
fn field_that_kubectl_applied_leaves_with_its_declaration() {
    let both = DOCUMENT.replace("color: blue", "color: blue, size: big");
    let Some(cluster) = ClusterPlace::with("applied", &both) else {
        return;
    };
    let manifest = r#"{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"},
        "data": {"color": "blue", "size": "big"}}"#;
    cluster.fed(
        &["-n", &cluster.namespace, "apply", "--filename=-"],
        manifest,
    );
    cluster.place.write("cyan.toml", ADOPT);
    cluster.ends(&["deploy", "-y"], "1 created, 0 updated, 0 deleted");
    cluster.write(DOCUMENT);
    cluster.ends(&["deploy", "-y"], "0 created, 1 updated, 0 deleted");
    cluster.has_data("blue", None);
    cluster.is_up_to_date();
}

#[test]
fn only_own_fields_drift() {
    let Some(cluster) = ClusterPlace::with("drifts", DOCUMENT) else {
        return;
    };
    cluster.ends(&["deploy", "-y"], "1 created, 0 updated, 0 deleted");
    let foreign = r#"{"data": {"size": "big"}, "metadata": {"labels": {"team": "a"}}}"#;
    cluster.patch("configmap/settings", "other", foreign);
    cluster.ends(&["drift"], "0 drifted, 0 vanished");
    cluster.is_up_to_date();

    cluster.patch(
        "configmap/settings",
        "other",
        r#"{"data": {"color": "black"}}"#,
    );
    let drift = cluster.ends(&["drift"], "1 drifted, 0 vanished");
    assert!(
        drift.out.contains(r#"data.color: "blue" -> "black""#),
        "{}",
        drift.out
    );
    assert!(!drift.out.contains("size"), "{}", drift.out);
    for command in [&["stage"][..], &["deploy", "-y"]] {
        cluster.refused(
            command,
            &["`data.color` is managed by `other`, with another value"],
        );
    }
    cluster.has_data("black", Some("big"));

    cluster.place.write("cyan.toml", TAKE_OVER);
    cluster.ends(&["deploy", "-y"], "0 created, 1 updated, 0 deleted");
    cluster.has_data("blue", Some("big"));
    cluster.ends(&["drift"], "0 drifted, 0 vanished");
    cluster.is_up_to_date();
}

#[test]
fn object_that_somebody_made_anew_is_another_one() {
    let Some(cluster) = ClusterPlace::with("anew", DOCUMENT) else {
        return;
    };
    cluster.ends(&["deploy", "-y"], "1 created, 0 updated, 0 deleted");
    cluster.done(&["-n", &cluster.namespace, "delete", "configmap/settings"]);
    cluster.ends(&["drift"], "0 drifted, 1 vanished");
    cluster.make_existing("green");
    cluster.ends(&["drift"], "0 drifted, 1 vanished");
    cluster.refused(&["deploy", "-y"], &["exists already", "cyan import"]);
    // A destroy deletes only what was made here.
    cluster.exits(0, &["destroy", "-y"]);
    cluster.has_data("green", Some("big"));
}

#[test]
fn deleted_object_is_created_again() {
    let Some(cluster) = ClusterPlace::with("gone", DOCUMENT) else {
        return;
    };
    cluster.ends(&["deploy", "-y"], "1 created, 0 updated, 0 deleted");
    cluster.done(&["-n", &cluster.namespace, "delete", "configmap/settings"]);
    cluster.ends(&["deploy", "-y"], "1 created, 0 updated, 0 deleted");
    cluster.has_data("blue", None);
    cluster.is_up_to_date();
}

#[test]
fn object_that_a_finalizer_holds_is_named() {
    let document = DOCUMENT
        .replace(
            "namespace: NS",
            "namespace: NS, finalizers: [example.com/hold]",
        )
        .replace(
            "    spec:",
            "    metadata: {annotations: {cyan.timeout.delete: 2s}}\n    spec:",
        );
    let Some(cluster) = ClusterPlace::with("held", &document) else {
        return;
    };
    cluster.ends(&["deploy", "-y"], "1 created, 0 updated, 0 deleted");
    let held = "the finalizer `example.com/hold` holds it";
    cluster.refused(&["destroy", "-y"], &[held]);
    cluster.refused(&["stage"], &["is being deleted", held]);
    cluster.patch(
        "configmap/settings",
        "other",
        r#"{"metadata": {"finalizers": null}}"#,
    );
    assert_eq!(cluster.object("configmap/settings"), None);
    cluster.exits(0, &["destroy", "-y"]);
}

#[test]
fn planned_create_takes_nothing_from_an_object_made_since_the_plan() {
    let Some(cluster) = ClusterPlace::with("race", DOCUMENT) else {
        return;
    };
    cluster.place.write("cyan.toml", TAKE_OVER);
    cluster.exits(0, &["stage", "--out", "plan"]);
    cluster.make_existing("green");
    cluster.exits(4, &["deploy", "plan", "-y"]);
    cluster.has_data("green", Some("big"));
}
