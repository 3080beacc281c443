//! What `cyan` says if the cluster cannot be reached, or refuses.

use std::fs;

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

impl ClusterPlace {
    /// Uses a changed copy of the kubeconfig.
    fn change_kubeconfig(&mut self, change: impl FnOnce(&mut serde_json::Value)) {
        let text = self.done(&["config", "view", "--raw", "--flatten", "-o=json"]);
        let mut config: serde_json::Value = serde_json::from_str(&text).unwrap();
        change(&mut config);
        let path = self.place.path().join("kubeconfig");
        fs::write(&path, config.to_string()).unwrap();
        self.kubeconfig = path;
    }
}

#[test]
fn unknown_context_names_the_contexts() {
    let Some(cluster) = ClusterPlace::with("context", DOCUMENT) else {
        return;
    };
    let context = |name: &str| {
        let text = format!("[providers.kubernetes]\ncontext = \"{name}\"\n");
        cluster.place.write("cyan.toml", text);
    };
    context("nowhere");
    let words = [
        "no context `nowhere`",
        "`admin`",
        "`certificate`",
        "`guest`",
        "cyan.toml:2:1",
    ];
    cluster.refused(&["stage"], &words);
    context("certificate");
    cluster.ends(&["stage"], "1 to create, 0 to update, 0 to delete");
}

#[test]
fn missing_right_is_said_and_nothing_is_made() {
    let Some(cluster) = ClusterPlace::with("guest", DOCUMENT) else {
        return;
    };
    let context = "[providers.kubernetes]\ncontext = \"guest\"\n";
    cluster.place.write("cyan.toml", context);
    let staged = cluster.ends(&["stage", "-v"], "1 to create, 0 to update, 0 to delete");
    assert!(
        staged.err.contains("the server did not check the change"),
        "{}",
        staged.err
    );
    let words = [
        "User \"guest\" cannot patch resource \"configmaps\"",
        "settings:",
    ];
    cluster.refused(&["deploy", "-y"], &words);
    assert_eq!(cluster.object("configmap/settings"), None);
    cluster.place.write("cyan.toml", "");
    cluster.ends(&["deploy", "-y"], "1 created, 0 updated, 0 deleted");

    // What exists cannot be read, so it is neither gone nor changed.
    cluster.place.write("cyan.toml", context);
    let staged = cluster.ends(&["stage"], "0 to create, 0 to update, 0 to delete");
    let cannot = "User \"guest\" cannot get resource \"configmaps\"";
    assert!(staged.err.contains(cannot), "{}", staged.err);
    cluster.refused(&["destroy", "-y"], &["User \"guest\" cannot"]);
    assert!(cluster.object("configmap/settings").is_some());
}

#[test]
fn missing_kubeconfig_is_named() {
    let Some(mut cluster) = ClusterPlace::with("noconfig", DOCUMENT) else {
        return;
    };
    cluster.kubeconfig = cluster.place.path().join("nothing");
    let words = ["there is no kubeconfig", "nothing", "set `KUBECONFIG`"];
    cluster.refused(&["stage"], &words);
    // A check needs no cluster.
    cluster.exits(0, &["validate"]);
}

#[test]
fn credentials_that_are_not_accepted_are_named() {
    let Some(mut cluster) = ClusterPlace::with("token", DOCUMENT) else {
        return;
    };
    cluster.change_kubeconfig(|config| {
        for user in config["users"].as_array_mut().unwrap() {
            user["user"] = serde_json::json!({"token": "not-the-token"});
        }
    });
    let words = [
        "`admin` at https://",
        "does not accept the credentials",
        "Unauthorized",
    ];
    cluster.refused(&["stage"], &words);
    cluster.change_kubeconfig(|config| {
        let program = serde_json::json!({"apiVersion": "client.authentication.k8s.io/v1",
            "command": "sh", "args": ["-c", "echo a-token; echo log in first >&2; exit 3"],
            "interactiveMode": "Never"});
        for user in config["users"].as_array_mut().unwrap() {
            user["user"] = serde_json::json!({"exec": program});
        }
    });
    let words = [
        "`admin` at https://",
        "the program that should give the credentials failed",
    ];
    let refused = cluster.refused(&["stage"], &words);
    assert!(refused.err.contains("log in first"), "{}", refused.err);
    assert!(!refused.err.contains("a-token"), "{}", refused.err);
}

#[test]
fn server_that_is_not_there_is_named() {
    let Some(mut cluster) = ClusterPlace::with("refused", DOCUMENT) else {
        return;
    };
    cluster.change_kubeconfig(|config| {
        for one in config["clusters"].as_array_mut().unwrap() {
            one["cluster"]["server"] = "https://127.0.0.1:1".into();
        }
    });
    let words = [
        "`admin` at https://127.0.0.1:1 cannot be reached",
        "Connection refused",
    ];
    for command in [&["stage"][..], &["deploy", "-y"]] {
        cluster.refused(command, &words);
    }
}

#[test]
fn undeclared_field_is_an_error_at_its_place() {
    let undeclared = DOCUMENT.replace(" data:", " dota:");
    let Some(cluster) = ClusterPlace::with("undeclared", &undeclared) else {
        return;
    };
    for command in [&["validate"][..], &["stage"]] {
        cluster.refused(command, &["unknown field `dota`", "did you mean `data`?"]);
    }
    // The server knows the fields of an object of any kind.
    cluster.write(
        "\
version: 2023-04-20
resources:
  settings:
    type: kubernetes/object
    spec:
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: settings, namespace: NS}
      dota: {color: blue}
",
    );
    let words = ["the kind has no field `dota`", "shop.blueprint.yaml:9:"];
    cluster.refused(&["stage"], &words);
    assert_eq!(cluster.object("configmap/settings"), None);
}

#[test]
fn namespace_that_does_not_exist_is_named_where_nobody_makes_it() {
    let Some(cluster) = ClusterPlace::without_namespace("missing") else {
        return;
    };
    cluster.write(DOCUMENT);
    let needs = format!(
        "it needs the namespace `{}`, which does not exist",
        cluster.namespace
    );
    let staged = cluster.ends(&["stage"], "1 to create, 0 to update, 0 to delete");
    assert!(staged.out.contains(&needs), "{}", staged.out);
    let words = [&*format!(
        "the namespace `{}`, which does not exist",
        cluster.namespace
    )];
    cluster.refused(&["deploy", "-y"], &words);

    let space = "  space: {type: kubernetes/core/Namespace, spec: {metadata: {name: NS}}}\n";
    cluster.write(&format!("{DOCUMENT}{space}"));
    cluster.ends(&["deploy", "-y"], "2 created, 0 updated, 0 deleted");
    cluster.is_up_to_date();
}

#[test]
fn namespace_that_is_being_deleted_refuses_new_objects() {
    let Some(cluster) = ClusterPlace::with("leaving", DOCUMENT) else {
        return;
    };
    // A finalizer of an object in it keeps the namespace for as long as the test needs it.
    let held = r#"{"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "held", "finalizers": ["example.com/hold"]}}"#;
    cluster.fed(&["-n", &cluster.namespace, "create", "--filename=-"], held);
    cluster.done(&["delete", "namespace", &cluster.namespace, "--wait=false"]);
    for command in [&["stage"][..], &["deploy", "-y"]] {
        cluster.refused(command, &[&cluster.namespace, "is being terminated"]);
    }
    cluster.patch(
        "configmap/held",
        "other",
        r#"{"metadata": {"finalizers": null}}"#,
    );
}

#[test]
fn kind_that_the_cluster_lacks_is_named() {
    let document = "\
version: 2023-04-20
resources:
  boat:
    type: kubernetes/nowhere.example/Boat
    spec: {metadata: {name: one, namespace: NS}, spec: {oars: 2}}
";
    let Some(cluster) = ClusterPlace::with("kind", document) else {
        return;
    };
    let staged = cluster.ends(&["stage"], "1 to create, 0 to update, 0 to delete");
    let lacks = "`nowhere.example/Boat`, which the cluster does not have";
    assert!(staged.out.contains(lacks), "{}", staged.out);
    cluster.refused(&["deploy", "-y"], &[lacks]);
}

#[test]
fn webhook_that_refuses_is_quoted() {
    let Some(cluster) = ClusterPlace::with("webhook", DOCUMENT) else {
        return;
    };
    // A policy of the server itself needs no process that answers.
    let policy = r#"
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: NS}
spec:
  matchConstraints:
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: NS}}
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [configmaps]}
  validations: [{expression: "object.data.color != 'blue'", message: "no blue here"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: NS}
spec: {policyName: NS, validationActions: [Deny]}
"#;
    let policy = policy.replace("NS", &cluster.namespace);
    cluster.fed(&["apply", "--filename=-"], &policy);
    // The server takes a moment to see its new policy.
    let until = std::time::Instant::now() + std::time::Duration::from_secs(30);
    let refused = loop {
        let staged = cluster.run(&["stage"]);
        if staged.code != 0 || std::time::Instant::now() > until {
            break staged;
        }
    };
    cluster.fed(&["delete", "--filename=-", "--wait=false"], &policy);
    assert_eq!(refused.err.matches("error[").count(), 1, "{}", refused.err);
    assert!(refused.err.contains("no blue here"), "{}", refused.err);
    assert_eq!(cluster.object("configmap/settings"), None);
}
