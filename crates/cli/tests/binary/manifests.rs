//! Tests of manifests of Kubernetes: streams, folders, includes, and objects of a real API server.

use std::path::PathBuf;
use std::process::Command;

use crate::place::{Place, Ran, ran};

const STREAM: &str = "\
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: shop}
data: {mode: a, mask: \"0644\"}
---
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: web, image: nginx}]
";

const SERVICE: &str = "\
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {selector: {app: web}, ports: [{port: 80}]}
";

const MORE: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: more, namespace: shop}\n";

const SETTINGS: &str = "\"configmap/shop/settings\"";

/// A folder of manifests.
fn folder() -> Place {
    let place = Place::new();
    place.write("k8s/app.yaml", STREAM);
    place.write("k8s/web.yml", SERVICE);
    place.write("k8s/notes.md", "no manifest");
    place
}

/// The positions of texts in the order in which they must occur.
#[track_caller]
fn assert_in_order(text: &str, parts: &[&str]) {
    let positions: Vec<usize> = parts
        .iter()
        .map(|part| text.find(part).unwrap_or_else(|| panic!("{part}: {text}")))
        .collect();
    assert!(positions.is_sorted(), "{parts:?}: {text}");
}

#[test]
fn a_stream_has_a_whole_life_in_a_rehearsal() {
    let place = Place::with("app.yaml", STREAM);
    let valid = place.ends(0, &["validate", "app.yaml"]);
    assert_eq!(valid.out, "`app.yaml` is valid: 3 resources\n");
    let deployed = place.ends(0, &["deploy", "--simulate", "--yes", "app.yaml"]);
    assert_eq!(deployed.last_line(), "3 created, 0 updated, 0 deleted");
    // An object waits for its namespace, in whatever order they are written.
    assert_in_order(
        &deployed.err,
        &[
            "\"namespace/shop\": created",
            "\"configmap/shop/settings\": creating",
        ],
    );
    let again = place.ends(0, &["stage", "--simulate", "app.yaml"]);
    assert_eq!(again.last_line(), "0 to create, 0 to update, 0 to delete");

    place.write("app.yaml", STREAM.replace("mode: a", "mode: b"));
    let changed = place.ends(0, &["stage", "--simulate", "app.yaml"]);
    assert!(
        changed
            .out
            .starts_with("~ \"configmap/shop/settings\" kubernetes/core/ConfigMap update"),
        "{}",
        changed.out
    );
    let drift = place.ends(0, &["drift", "--simulate", "app.yaml"]);
    assert_eq!(drift.last_line(), "0 drifted, 0 vanished");
    let deleted = place.ends(0, &["destroy", "--simulate", "--yes", "app.yaml"]);
    assert_eq!(deleted.last_line(), "0 created, 0 updated, 3 deleted");
    assert_in_order(
        &deleted.err,
        &[
            "\"configmap/shop/settings\": deleted",
            "\"namespace/shop\": deleting",
        ],
    );
}

#[test]
fn a_folder_is_a_document() {
    let place = folder();
    let valid = place.ends(0, &["validate", "k8s/"]);
    assert_eq!(valid.out, "`k8s/` is valid: 4 resources\n");
    // A search finds the folder, not its files.
    assert_eq!(place.ends(0, &["validate", "."]).out, {
        "`./k8s/` is valid: 4 resources\n\n1 document: 1 valid, 0 not valid\n"
    });
    let deployed = place.ends(0, &["deploy", "--simulate", "--yes", "k8s"]);
    assert_eq!(deployed.last_line(), "4 created, 0 updated, 0 deleted");
    std::fs::remove_file(place.path().join("k8s/web.yml")).unwrap();
    let staged = place.ends(0, &["stage", "--simulate", "k8s"]);
    assert_eq!(staged.last_line(), "0 to create, 0 to update, 1 to delete");
}

#[test]
fn folders_below_are_read_with_a_setting() {
    let place = folder();
    place.write("k8s/more/more.yaml", MORE);
    let valid = place.ends(0, &["validate", "k8s"]);
    assert_eq!(valid.out, "`k8s/` is valid: 4 resources\n");
    place.write("k8s/cyan.toml", "[dialects.manifests]\nrecursive = true\n");
    let valid = place.ends(0, &["validate", "k8s"]);
    assert_eq!(valid.out, "`k8s/` is valid: 5 resources\n");
}

#[test]
fn addresses_with_slashes_are_quoted_and_read_back() {
    let place = Place::with("app.yaml", STREAM);
    place.ends(0, &["deploy", "--simulate", "--yes", "app.yaml"]);
    let all = place.ends(0, &["show", "--simulate"]);
    assert!(all.out.contains(SETTINGS), "{}", all.out);
    let one = place.ends(0, &["show", "--simulate", SETTINGS]);
    let first = format!("{SETTINGS} kubernetes/core/ConfigMap\n");
    assert!(one.out.starts_with(&first), "{}", one.out);
    assert!(one.out.contains("\"mask\": \"0644\""), "{}", one.out);
    let unquoted = place.ends(1, &["show", "--simulate", "configmap/shop/settings"]);
    assert!(
        unquoted
            .err
            .contains(&format!("did you mean `{SETTINGS}`?")),
        "{}",
        unquoted.err
    );

    place.write(
        "app.yaml",
        STREAM
            .replace("mode: a", "mode: b")
            .replace("replicas: 2", "replicas: 3"),
    );
    let staged = |flag: &str| {
        let said = place.ends(0, &["stage", "--simulate", "app.yaml", flag, SETTINGS]);
        said.last_line().to_owned()
    };
    assert_eq!(staged("--target"), "0 to create, 1 to update, 0 to delete");
    assert_eq!(
        staged("--replace"),
        "0 to create, 1 to update, 0 to delete, 1 to replace"
    );
}

#[test]
fn a_saved_plan_is_refused_after_a_file_appeared_in_the_folder() {
    let place = folder();
    let state = ["--state", "sqlite:state.db"];
    let with_state = |words: &[&'static str]| [words, &state].concat();
    place.ends(
        0,
        &with_state(&["stage", "--simulate", "k8s", "--out", "plan.json"]),
    );
    let deploy = with_state(&["deploy", "--simulate", "--yes", "plan.json"]);
    place.write("k8s/more.yaml", MORE);
    let refused = place.ends(1, &deploy);
    assert!(
        refused
            .err
            .contains("error[input-changed]: `k8s/` has changed since the plan was made"),
        "{}",
        refused.err
    );
    std::fs::remove_file(place.path().join("k8s/more.yaml")).unwrap();
    let deployed = place.ends(0, &deploy);
    assert_eq!(deployed.last_line(), "4 created, 0 updated, 0 deleted");
}

#[test]
fn documents_of_other_dialects_include_manifests() {
    let place = folder();
    place.write(
        "all.blueprint.yaml",
        "version: 2023-04-20\ninclude:\n  objects: {path: k8s/}\n  one: {path: k8s/web.yml}\n",
    );
    place.write(
        "heat.yaml",
        "heat_template_version: 2018-08-31\nresources:\n  app: {type: k8s/app.yaml}\n",
    );
    let staged = place.ends(0, &["stage", "--simulate", "all.blueprint.yaml"]);
    assert!(
        staged
            .out
            .contains("+ objects/\"service/shop/web\" kubernetes/core/Service create"),
        "{}",
        staged.out
    );
    assert_eq!(
        staged.last_line(),
        "5 to create, 0 to update, 0 to delete",
        "{}",
        staged.out
    );
    let staged = place.ends(0, &["stage", "--simulate", "-i", "shop", "heat.yaml"]);
    assert!(
        staged.out.contains("+ app/\"deployment/shop/web\""),
        "{}",
        staged.out
    );

    place.ends(
        0,
        &[
            "stage",
            "--simulate",
            "all.blueprint.yaml",
            "--out",
            "plan.json",
        ],
    );
    place.write("k8s/more.yaml", MORE);
    let refused = place.ends(1, &["deploy", "--simulate", "--yes", "plan.json"]);
    let message = "error[input-changed]: the folder `k8s/` has changed since the plan was made";
    assert!(refused.err.contains(message), "{}", refused.err);
}

#[test]
fn a_stream_is_formatted() {
    let place = Place::with("app.yaml", &STREAM.replace("name: web,", "name:  web,"));
    let formatted = place.ends(0, &["fmt", "app.yaml"]);
    assert_eq!(formatted.out, "app.yaml\n");
    assert_eq!(place.read("app.yaml"), STREAM);
    place.ends(0, &["fmt", "--check", "app.yaml"]);
    // A document of one tree has no second one.
    place.write("all.blueprint.yaml", "version: 2023-04-20\n---\na: 1\n");
    let refused = place.ends(1, &["fmt", "all.blueprint.yaml"]);
    assert!(
        refused.err.contains("error[multiple-documents]"),
        "{}",
        refused.err
    );
}

#[test]
fn the_schema_for_editors_takes_the_fields_of_any_kind() {
    let schema = Place::new().ends(0, &["schema", "manifests"]).out;
    let schema: serde_json::Value = serde_json::from_str(&schema).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let object = |kind: serde_json::Value| {
        serde_json::json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": "a", "finalizers": []},
            "data": {"a": "b"}})
    };
    assert!(validator.is_valid(&object("ConfigMap".into())));
    assert!(!validator.is_valid(&object(3.into())));
}

#[test]
fn folders_of_other_documents_are_not_taken() {
    let native =
        "version: 2023-04-20\nresources: {a: {type: local/file, spec: {path: x, content: y}}}\n";
    let place = Place::new();
    place.write("mixed/app.blueprint.yaml", native);
    place.write("mixed/service.yaml", SERVICE);
    place.write("data/values.yaml", "replicas: 3\n");
    place.write("chart/Chart.yaml", "apiVersion: v2\nname: shop\n");
    place.write("chart/values.yaml", "replicas: 3\n");
    place.write("chart/templates/web.yaml", "kind: {{ .Values.kind }}\n");
    let all = place.ends(0, &["validate", "."]);
    assert_eq!(
        all.out,
        "`./mixed/app.blueprint.yaml` is valid: 1 resource\n\
         `./mixed/service.yaml` is valid: 1 resource\n\n2 documents: 2 valid, 0 not valid\n"
    );
    for named in ["mixed", "data"] {
        let refused = place.ends(1, &["stage", "--simulate", named]);
        let message = format!("error: `{named}` is a folder");
        assert!(refused.err.contains(&message), "{}", refused.err);
    }
}

#[test]
fn charts_and_kustomizations_say_how_they_are_rendered() {
    let place = Place::new();
    place.write("chart/Chart.yaml", "apiVersion: v2\nname: shop\n");
    place.write("layer/kustomization.yaml", "resources: [web.yaml]\n");
    place.write("layer/web.yaml", SERVICE);
    for (path, command) in [
        ("chart", "helm template NAME . > app.yaml"),
        ("layer", "kubectl kustomize . > app.yaml"),
        ("layer/kustomization.yaml", "kubectl kustomize . > app.yaml"),
    ] {
        let refused = place.ends(1, &["stage", path]);
        assert!(
            refused.err.contains("error[needs-rendering]"),
            "{}",
            refused.err
        );
        assert!(refused.err.contains(command), "{}", refused.err);
    }
}

#[test]
fn mistakes_have_places_in_the_files_of_a_folder() {
    let place = folder();
    place.write("k8s/again.yaml", SERVICE);
    place.write("k8s/values.yaml", "replicas: 3\n");
    let refused = place.ends(1, &["validate", "k8s"]);
    for part in [
        "error[name-collision]: `service/shop/web` is declared twice",
        "--> k8s/web.yml:3:18",
        "::: k8s/again.yaml:3:18",
        "error[not-a-manifest]",
        "--> k8s/values.yaml:1:1",
        "`k8s/` has 2 errors",
    ] {
        let all = format!("{}{}", refused.out, refused.err);
        assert!(all.contains(part), "{part}: {all}");
    }
}

/// The cluster of the tests and its `kubectl`, with a namespace of its own.
struct Cluster {
    place: Place,
    connection: PathBuf,
    kubectl: PathBuf,
    namespace: String,
}

/// Returns the cluster of the tests. Without one, prints a message and returns `None`.
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
fn cluster(name: &str) -> Option<Cluster> {
    let path = |variable: &str| {
        std::env::var_os(variable)
            .filter(|path| !path.is_empty())
            .map(PathBuf::from)
    };
    let (Some(connection), Some(kubectl)) =
        (path("CYAN_TEST_KUBECONFIG"), path("CYAN_TEST_KUBECTL"))
    else {
        let all = std::env::var_os("CYAN_TEST_ALL").is_some();
        assert!(
            !all,
            "a cluster of Kubernetes should run: CYAN_TEST_KUBECONFIG or CYAN_TEST_KUBECTL is not set"
        );
        eprintln!(
            "skipped: a cluster of Kubernetes is needed; `cargo xtask kubernetes` starts one"
        );
        return None;
    };
    Some(Cluster {
        place: Place::new(),
        connection,
        kubectl,
        namespace: format!("{name}-{}", std::process::id()),
    })
}

impl Cluster {
    #[track_caller]
    fn cyan(&self, code: i32, arguments: &[&str]) -> Ran {
        let mut command = self.place.cyan(arguments);
        let ran = ran(command
            .env("KUBECONFIG", &self.connection)
            .env("CYAN_KEY", format!("{}=", "A".repeat(43)))
            .output()
            .unwrap());
        assert_eq!(ran.code, code, "{arguments:?}\n{}{}", ran.out, ran.err);
        ran
    }

    /// What `kubectl` prints.
    #[track_caller]
    fn kubectl(&self, arguments: &[&str]) -> String {
        let mut command = Command::new(&self.kubectl);
        command
            .arg("--kubeconfig")
            .arg(&self.connection)
            .args(arguments);
        let ran = ran(command.output().unwrap());
        assert_eq!(ran.code, 0, "{arguments:?}\n{}", ran.err);
        ran.out
    }

    /// Writes a file of the folder `k8s` with manifests in the namespace.
    fn write(&self, name: &str, text: &str) {
        let text = text
            .replace("namespace: shop", &format!("namespace: {}", self.namespace))
            .replace("{name: shop}", &format!("{{name: {}}}", self.namespace))
            .replace("KIND", &self.kind())
            .replace("PLURAL", &self.kind().to_lowercase());
        self.place.write(&format!("k8s/{name}"), text);
    }

    /// A kind that only this run defines.
    fn kind(&self) -> String {
        format!("Widget{}", std::process::id())
    }
}

const WIDGETS: &str = "\
apiVersion: manifests.example.com/v1
kind: KIND
metadata: {name: first, namespace: shop}
spec: {size: 3}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: PLURAL.manifests.example.com}
spec:
  group: manifests.example.com
  scope: Namespaced
  names: {plural: PLURAL, singular: PLURAL, kind: KIND}
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties: {spec: {type: object, properties: {size: {type: integer}}}}
";

#[test]
fn a_folder_has_a_whole_life_on_a_real_server() {
    let Some(cluster) = cluster("manifests") else {
        return;
    };
    let pods_run = STREAM.replace("    spec:\n", "    spec:\n      nodeName: node\n");
    cluster.write("app.yaml", &pods_run);
    cluster.write("web.yml", SERVICE);
    cluster.write("widgets.yaml", WIDGETS);
    let deployed = cluster.cyan(0, &["deploy", "--yes", "k8s"]);
    assert_eq!(deployed.last_line(), "6 created, 0 updated, 0 deleted");
    let namespace = cluster.namespace.as_str();
    let (kind, plural) = (cluster.kind(), cluster.kind().to_lowercase());
    let widget = format!("{}/{namespace}/first", kind.to_lowercase());
    let definition = format!("customresourcedefinition/{plural}.manifests.example.com");
    assert_in_order(
        &deployed.err,
        &[
            &format!("\"{definition}\": created"),
            &format!("\"{widget}\": creating"),
        ],
    );
    let ready = cluster.kubectl(&[
        "-n",
        namespace,
        "get",
        "deployment",
        "web",
        "-o",
        "jsonpath={.status.readyReplicas}",
    ]);
    assert_eq!(ready, "2");

    let none = cluster.cyan(0, &["stage", "k8s"]);
    assert_eq!(none.last_line(), "0 to create, 0 to update, 0 to delete");
    cluster.write("app.yaml", &pods_run.replace("mode: a", "mode: b"));
    std::fs::remove_file(cluster.place.path().join("k8s/web.yml")).unwrap();
    let changed = cluster.cyan(0, &["deploy", "--yes", "k8s"]);
    assert_eq!(changed.last_line(), "0 created, 1 updated, 1 deleted");
    let mode = cluster.kubectl(&[
        "-n",
        namespace,
        "get",
        "configmap",
        "settings",
        "-o",
        "jsonpath={.data.mode}/{.data.mask}",
    ]);
    assert_eq!(mode, "b/0644");

    let deleted = cluster.cyan(0, &["destroy", "--yes", "k8s"]);
    assert_eq!(deleted.last_line(), "0 created, 0 updated, 5 deleted");
    assert_in_order(
        &deleted.err,
        &[
            &format!("\"{widget}\": deleted"),
            &format!("\"{definition}\": deleting"),
        ],
    );
}

#[test]
fn an_existing_object_is_imported_on_a_real_server() {
    let Some(cluster) = cluster("manifests-import") else {
        return;
    };
    cluster.write("more.yaml", MORE);
    let namespace = cluster.namespace.as_str();
    cluster.kubectl(&["create", "namespace", namespace]);
    cluster.kubectl(&["-n", namespace, "create", "configmap", "more"]);
    let refused = cluster.cyan(1, &["deploy", "--yes", "k8s"]);
    assert!(
        refused.err.contains("exists already") && refused.err.contains("k8s/more.yaml:3:18"),
        "{}",
        refused.err
    );
    let (id, address) = (
        format!("core/ConfigMap/{namespace}/more"),
        format!("\"configmap/{namespace}/more\""),
    );
    let import = [
        "import",
        "--yes",
        "kubernetes/core/ConfigMap",
        &id,
        &address,
    ];
    cluster.cyan(0, &[&["-C", "k8s"], &import[..]].concat());
    cluster.cyan(0, &["deploy", "--yes", "k8s"]);
    let none = cluster.cyan(0, &["stage", "k8s"]);
    assert_eq!(none.last_line(), "0 to create, 0 to update, 0 to delete");
    let deleted = cluster.cyan(0, &["destroy", "--yes", "k8s"]);
    assert_eq!(deleted.last_line(), "0 created, 0 updated, 1 deleted");
    cluster.kubectl(&["delete", "namespace", namespace, "--wait=false"]);
}
