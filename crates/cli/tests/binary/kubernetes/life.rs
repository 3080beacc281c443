//! The whole life of objects of many kinds, from a blueprint, a template of Heat, and a folder of
//! manifests.

use serde_json::{Value as Json, json};

use super::cluster::{ClusterPlace, FILE};

/// The text that must never be shown, and its form in the API.
const SECRETS: [&str; 2] = ["correct-horse", "Y29ycmVjdC1ob3JzZQ"];

/// A dialect: the file of the document, and its text for some resources.
struct DocumentForm {
    file: &'static str,
    text_of: fn(Json) -> String,
    /// The argument that names the document. Empty if commands find it.
    argument: &'static [&'static str],
}

const BLUEPRINT: DocumentForm = DocumentForm {
    file: FILE,
    text_of: |resources| json!({"version": "2023-04-20", "resources": resources}).to_string(),
    argument: &[],
};

const TEMPLATE: DocumentForm = DocumentForm {
    file: "shop.yaml",
    text_of: |mut resources| {
        for resource in resources.as_object_mut().unwrap().values_mut() {
            let resource = resource.as_object_mut().unwrap();
            let spec = resource.remove("spec").unwrap();
            resource.insert("properties".to_owned(), spec);
        }
        json!({"heat_template_version": "2021-04-16", "resources": resources}).to_string()
    },
    argument: &[],
};

const FOLDER: DocumentForm = DocumentForm {
    file: "k8s/shop.yaml",
    text_of: |resources| {
        let manifest = |resource: &Json| {
            let ty = resource["type"].as_str().unwrap();
            let [_, group, kind] = ty.split('/').collect::<Vec<_>>()[..] else {
                panic!("{ty}");
            };
            let version = match group {
                "core" => "v1".to_owned(),
                group => format!("{group}/v1"),
            };
            let mut manifest = json!({"apiVersion": version, "kind": kind});
            for (name, value) in resource["spec"].as_object().unwrap() {
                manifest[name] = value.clone();
            }
            format!("---\n{manifest}\n")
        };
        { resources.as_object().unwrap().values() }
            .map(manifest)
            .collect()
    },
    argument: &["k8s/"],
};

/// How far the document has changed.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Version {
    First,
    /// Fields that can change in place.
    Updated,
    /// A selector, which cannot.
    Replaced,
    /// Some resources are no longer declared.
    Removed,
}

/// The resources of a version, in a namespace. Kinds without namespaces have its name.
fn resources(namespace: &str, version: Version) -> Json {
    let is_updated = version >= Version::Updated;
    let choose = |first: &str, later: &str| if is_updated { later } else { first }.to_owned();
    let app = if version >= Version::Replaced {
        "shop"
    } else {
        "web"
    };
    // A group without dots would be one of the API itself.
    let group = format!("{namespace}.test");
    let pods = json!({"metadata": {"labels": {"app": app}}, "spec": {"nodeName": "node",
        "containers": [{"name": "web", "image": choose("nginx:1.26", "nginx:1.27")}]}});
    let job = json!({"spec": {"nodeName": "node", "restartPolicy": "Never",
        "containers": [{"name": "one", "image": "busybox"}]}});
    let definition = |kind: &str, plural: &str, scope: &str| {
        json!({"metadata": {"name": format!("{plural}.{group}")}, "spec": {
            "group": group, "scope": scope, "names": {"kind": kind, "plural": plural},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {
                "openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object",
                    "x-kubernetes-preserve-unknown-fields": true}}}}}]}})
    };
    let definitions = "apiextensions.k8s.io/CustomResourceDefinition";
    let rbac = "rbac.authorization.k8s.io";
    let role = format!("{rbac}/Role");
    let binding = format!("{rbac}/RoleBinding");
    let (boat, harbour) = (format!("{group}/Boat"), format!("{group}/Harbour"));
    let all = [
        (
            "settings",
            "core/ConfigMap",
            json!({"data": {"color": choose("blue", "red")}}),
        ),
        (
            "hidden",
            "core/Secret",
            json!({"stringData": {
            "password": SECRETS[0], "user": choose("ann", "bob")}}),
        ),
        (
            "account",
            "core/ServiceAccount",
            json!({"metadata": {"labels": {"round": choose("1", "2")}}}),
        ),
        (
            "front",
            "core/Service",
            json!({"spec": {"selector": {"app": app},
            "ports": [{"name": "http", "port": 80, "targetPort": choose("a", "b")}]}}),
        ),
        (
            "web",
            "apps/Deployment",
            json!({"spec": {"replicas": if is_updated { 3 } else { 2 },
            "selector": {"matchLabels": {"app": app}}, "template": pods}}),
        ),
        (
            "store",
            "apps/StatefulSet",
            json!({"spec": {"replicas": 1, "serviceName": "front",
            "selector": {"matchLabels": {"app": app}}, "template": pods}}),
        ),
        ("migration", "batch/Job", json!({"spec": {"template": job}})),
        (
            "reader",
            &role,
            json!({"rules": [{"apiGroups": [""], "resources": ["pods"],
            "verbs": [choose("get", "list")]}]}),
        ),
        (
            "reads",
            &binding,
            json!({
            "roleRef": {"apiGroup": rbac, "kind": "Role", "name": "reader"},
            "subjects": [{"kind": "User", "name": choose("ann", "bob"), "apiGroup": rbac}]}),
        ),
        (
            "gate",
            "networking.k8s.io/Ingress",
            json!({"spec": {"defaultBackend": {"service": {
            "name": "front", "port": {"name": "http"}}}}}),
        ),
        (
            "wall",
            "networking.k8s.io/NetworkPolicy",
            json!({"spec": {"podSelector": {}, "policyTypes": ["Ingress"]}}),
        ),
        (
            "boat",
            &boat,
            json!({"apiVersion": format!("{group}/v1"), "kind": "Boat",
            "spec": {"oars": if is_updated { 4 } else { 2 }}}),
        ),
    ];
    let mut resources = json!({
        "space": {"type": "kubernetes/core/Namespace", "spec": {"metadata": {"name": namespace}}},
        "boats": {"type": format!("kubernetes/{definitions}"),
            "spec": definition("Boat", "boats", "Namespaced")},
        "harbours": {"type": format!("kubernetes/{definitions}"),
            "spec": definition("Harbour", "harbours", "Cluster")},
        "harbour": {"type": format!("kubernetes/{harbour}"), "spec": {
            "apiVersion": format!("{group}/v1"), "kind": "Harbour",
            "metadata": {"name": namespace}, "spec": {"depth": 12}}},
    });
    for (name, kind, mut spec) in all {
        spec["metadata"]["name"] = name.into();
        spec["metadata"]["namespace"] = namespace.into();
        if version < Version::Removed || !["wall", "gate"].contains(&name) {
            resources[name] = json!({"type": format!("kubernetes/{kind}"), "spec": spec});
        }
    }
    resources
}

/// Runs objects of sixteen kinds from their create to their end.
fn whole_life(form: &DocumentForm, word: &str) {
    let Some(cluster) = ClusterPlace::without_namespace(word) else {
        return;
    };
    let write = |version: Version| {
        let resources = resources(&cluster.namespace, version);
        cluster.place.write(form.file, (form.text_of)(resources));
        // The folder has a name that no stack of Heat may have.
        let config = if form.argument.is_empty() {
            "cyan.toml"
        } else {
            "k8s/cyan.toml"
        };
        cluster.place.write(config, "instance = \"shop\"\n");
    };
    let ends = |words: &[&str], last: &str| cluster.ends(&[words, form.argument].concat(), last);
    let is_up_to_date = || ends(&["stage"], "0 to create, 0 to update, 0 to delete");
    write(Version::First);
    cluster.exits(0, &[&["validate"], form.argument].concat());
    let staged = ends(&["stage"], "16 to create, 0 to update, 0 to delete");
    let needs = format!(
        "it needs the namespace `{}`, which does not exist",
        cluster.namespace
    );
    assert!(staged.out.contains(&needs), "{}", staged.out);
    assert!(
        staged
            .out
            .contains("/Boat` in version `v1`, which the cluster does not have"),
        "{}",
        staged.out
    );
    ends(&["deploy", "-y"], "16 created, 0 updated, 0 deleted");
    is_up_to_date();
    let created = cluster.object("deployment/web").unwrap();
    assert_eq!(created["status"]["availableReplicas"], 2);

    write(Version::Updated);
    let boat = format!("boats.{}.test/boat", cluster.namespace);
    ends(&["stage", "-v"], "0 to create, 9 to update, 0 to delete");
    ends(&["deploy", "-y"], "0 created, 9 updated, 0 deleted");
    is_up_to_date();
    let updated = cluster.object("deployment/web").unwrap();
    assert_eq!(updated["spec"]["replicas"], 3);
    assert_eq!(updated["metadata"]["uid"], created["metadata"]["uid"]);
    assert_eq!(cluster.object(&boat).unwrap()["spec"]["oars"], 4);

    write(Version::Replaced);
    let last = "0 to create, 1 to update, 0 to delete, 2 to replace";
    let staged = ends(&["stage"], last);
    assert!(
        staged.out.contains("(forces replacement)"),
        "{}",
        staged.out
    );
    ends(
        &["deploy", "-y"],
        "0 created, 1 updated, 0 deleted, 2 replaced",
    );
    is_up_to_date();
    let replaced = cluster.object("deployment/web").unwrap();
    assert_ne!(replaced["metadata"]["uid"], created["metadata"]["uid"]);

    write(Version::Removed);
    ends(&["deploy", "-y"], "0 created, 0 updated, 2 deleted");
    assert_eq!(cluster.object("ingress/gate"), None);
    let staged = [&["stage", "-v", "--json"], form.argument].concat();
    for command in [
        &staged[..],
        &["show"][..],
        &["show", "--json"],
        &["drift", "--json"],
        &["list", "--json"],
    ] {
        cluster.exits(0, command);
    }

    // The objects go before their namespace and before the definitions of their kinds.
    ends(&["destroy", "-y"], "0 created, 0 updated, 14 deleted");
    let namespace = ["get", "namespace", &cluster.namespace, "--ignore-not-found"];
    assert_eq!(cluster.done(&namespace), "");
    let definitions = cluster.done(&["get", "crd", "-o=name"]);
    assert!(!definitions.contains(&cluster.namespace), "{definitions}");
    cluster.hides(&SECRETS);
}

#[test]
fn objects_of_a_blueprint_live_from_plan_to_destroy() {
    whole_life(&BLUEPRINT, "life");
}

#[test]
fn objects_of_a_heat_template_live_from_plan_to_destroy() {
    whole_life(&TEMPLATE, "life-hot");
}

#[test]
fn objects_of_a_folder_live_from_plan_to_destroy() {
    whole_life(&FOLDER, "life-folder");
}

#[test]
fn dependants_read_what_the_controllers_of_an_object_set() {
    let document = r#"
version: 2023-04-20
resources:
  web:
    type: kubernetes/apps/Deployment
    spec:
      metadata: {name: web, namespace: NS}
      spec:
        replicas: 2
        selector: {matchLabels: {app: web}}
        template:
          metadata: {labels: {app: web}}
          spec: {nodeName: node, containers: [{name: web, image: nginx}]}
  note:
    type: kubernetes/core/ConfigMap
    spec:
      metadata: {name: note, namespace: NS}
      data: {ready: "${tostring(web.spec.status.readyReplicas)} of ${web.spec.metadata.uid}"}
"#;
    let Some(cluster) = ClusterPlace::with("reads", document) else {
        return;
    };
    cluster.ends(&["deploy", "-y"], "2 created, 0 updated, 0 deleted");
    let uid = cluster.object("deployment/web").unwrap()["metadata"]["uid"].clone();
    let note = cluster.object("configmap/note").unwrap();
    assert_eq!(
        note["data"]["ready"],
        format!("2 of {}", uid.as_str().unwrap())
    );
    cluster.is_up_to_date();
}

#[test]
fn object_whose_name_the_server_chooses_is_updated_and_compared() {
    let document = "\
version: 2023-04-20
resources:
  note:
    type: kubernetes/core/ConfigMap
    spec: {metadata: {generateName: note-, namespace: NS}, data: {color: blue}}
";
    let Some(cluster) = ClusterPlace::with("generated", document) else {
        return;
    };
    let all = || {
        let found = cluster.object("configmap").unwrap();
        let items = found["items"].as_array().unwrap().iter();
        let names = items.map(|item| item["metadata"]["name"].as_str().unwrap().to_owned());
        names
            .filter(|name| name.starts_with("note-"))
            .collect::<Vec<String>>()
    };
    cluster.ends(&["deploy", "-y"], "1 created, 0 updated, 0 deleted");
    cluster.is_up_to_date();
    let names = all();
    assert_eq!(names.len(), 1, "{names:?}");
    let object = format!("configmap/{}", names[0]);

    cluster.write(&document.replace("blue", "red"));
    cluster.ends(&["deploy", "-y"], "0 created, 1 updated, 0 deleted");
    assert_eq!(cluster.object(&object).unwrap()["data"]["color"], "red");
    cluster.patch(&object, "other", r#"{"data": {"color": "black"}}"#);
    cluster.ends(&["drift"], "1 drifted, 0 vanished");
    assert_eq!(all(), names);
    cluster.ends(&["destroy", "-y"], "0 created, 0 updated, 1 deleted");
    assert!(all().is_empty());
}
