//! Lowering of streams and folders: resources, values, mistakes with their places.

use std::collections::BTreeMap;
use std::sync::Arc;

use blueprint::{Expr, ExprKind, Packages, Value};
use diag::Files;
use dialect::{Answer, Answers, Dialect, Document, FolderEntry, LoadContext, Lowered, Wanted};
use expr::FunctionTable;
use syntax::Format;

use crate::ManifestsDialect;

const SETTINGS: &str = "\
apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
  namespace: shop
data:
  mode: a
";

/// A lowered document with the files that its spans refer to.
struct LoweredText {
    files: Files,
    lowered: Lowered,
}

impl LoweredText {
    /// The resources as `NAME: TYPE`.
    fn resources(&self) -> Vec<String> {
        let resources = &self.lowered.blueprint.resources;
        let shown = |(name, resource): (&blueprint::Name, &blueprint::Resource)| {
            format!("{name}: {}", resource.type_name.item.name())
        };
        resources.iter().map(shown).collect()
    }

    /// The spec of a resource as text.
    fn spec(&self, name: &str) -> String {
        shown(&self.lowered.blueprint.resources[name].spec)
    }

    /// The diagnostics as `FILE:LINE:COLUMN CODE: MESSAGE`, sorted by place.
    fn mistakes(&self) -> Vec<String> {
        let place = |span: diag::Span| {
            let file = self.files.get(span.file).expect("the file is known");
            let position = file.position(span.start);
            format!("{}:{}:{}", file.name(), position.line, position.column)
        };
        let found = self.lowered.diagnostics.iter();
        found
            .map(|one| format!("{} {}: {}", place(one.span()), one.code.name, one.message))
            .collect()
    }
}

/// A spec in a form like JSON, without quotes around keys.
fn shown(expr: &Expr) -> String {
    match &expr.kind {
        ExprKind::Literal(Value::Text(text)) => format!("{text:?}"),
        ExprKind::Literal(Value::Null) => "null".to_owned(),
        ExprKind::Literal(Value::Bool(flag)) => flag.to_string(),
        ExprKind::Literal(Value::Int(number)) => number.to_string(),
        ExprKind::Literal(Value::Float(number)) => number.to_string(),
        ExprKind::List(items) => {
            let items: Vec<String> = items.iter().map(shown).collect();
            format!("[{}]", items.join(", "))
        }
        ExprKind::Map(entries) => {
            let entry = |(key, value): &(diag::Spanned<blueprint::Name>, Expr)| {
                format!("{}: {}", key.item, shown(value))
            };
            let entries: Vec<String> = entries.iter().map(entry).collect();
            format!("{{{}}}", entries.join(", "))
        }
        other => panic!("{other:?} is no data"),
    }
}

fn lowered_as(document: &Document<'_>) -> Lowered {
    ManifestsDialect.lower(document, &FunctionTable::default(), &Packages::default())
}

/// Lowers a text of this name.
fn lower_named(name: &str, text: &str) -> LoweredText {
    let mut files = Files::new();
    let file = files.add(name, text);
    let (trees, found) = syntax::parse_stream(file, text, Format::of_name(name));
    assert!(found.is_empty(), "{:?}", found.iter().next());
    let context = LoadContext::NONE;
    let document = Document::new(file, name, text, &trees, &context);
    let lowered = lowered_as(&document);
    LoweredText { files, lowered }
}

fn lower(text: &str) -> LoweredText {
    lower_named("app.yaml", text)
}

fn certainty(name: &str, text: &str) -> u8 {
    let mut files = Files::new();
    let file = files.add(name, text);
    let (trees, _) = syntax::parse_stream(file, text, Format::of_name(name));
    ManifestsDialect.recognise(&Document::new(file, name, text, &trees, &LoadContext::NONE))
}

/// The entries of a folder below a path.
fn entries_of(all: &[(&str, &str)], folder: &str) -> Arc<[FolderEntry]> {
    let mut entries = BTreeMap::new();
    for (path, _) in all {
        let Some(rest) = path.strip_prefix(folder) else {
            continue;
        };
        let (name, is_folder) = match rest.split_once('/') {
            Some((name, _)) => (name, true),
            None => (rest, false),
        };
        entries.insert(name, is_folder);
    }
    let entry = |(name, is_folder): (&str, bool)| FolderEntry {
        name: name.into(),
        is_folder,
    };
    entries.into_iter().map(entry).collect()
}

/// Lowers a folder with these files, as the engine does: it answers until nothing new is wanted.
fn lower_folder(all: &[(&str, &str)], recursive: bool) -> LoweredText {
    let mut files = Files::new();
    let entries = entries_of(all, "");
    let line = |entry: &FolderEntry| {
        let mark = if entry.is_folder { "/" } else { "" };
        format!("{}{mark}\n", entry.name)
    };
    let listing: String = entries.iter().map(line).collect();
    let file = files.add("k8s/", listing.as_str());
    let mut context = LoadContext {
        is_folder: true,
        ..LoadContext::default()
    };
    let setting = [("recursive".into(), Value::Bool(recursive))];
    let settings = dialect::DialectSettings::read(ManifestsDialect.settings(), &setting);
    context
        .settings
        .set("manifests", settings.expect("the setting exists"));
    loop {
        let document = Document::of_folder(file, "k8s", &listing, &entries, &context);
        let wanted = ManifestsDialect.required_data(&document);
        let missing: Vec<Wanted> = wanted
            .into_iter()
            .filter(|wanted| context.answers.get(wanted).is_none())
            .collect();
        if missing.is_empty() {
            let lowered = lowered_as(&document);
            return LoweredText { files, lowered };
        }
        let mut answers: Vec<(Wanted, Answer)> = Vec::new();
        for wanted in missing {
            let answer = match &wanted {
                Wanted::Folder(path) => Answer::Folder(entries_of(all, &format!("{path}/"))),
                Wanted::Text(path) => match all.iter().find(|(known, _)| *known == &**path) {
                    Some((_, "unreadable")) => Answer::Missing("it is not UTF-8".into()),
                    Some((_, text)) => Answer::Text(files.add(&**path, *text), (*text).into()),
                    None => panic!("{path} does not exist"),
                },
                other => panic!("{other:?} is not answered"),
            };
            answers.push((wanted, answer));
        }
        context.answers = Answers::with(&context.answers, answers);
    }
}

#[test]
fn each_object_of_a_stream_is_a_resource() {
    let text = format!(
        "# nothing yet\n---\n{SETTINGS}---\n---\n# empty\n---\napiVersion: apps/v1\nkind: Deployment\n\
         metadata: {{name: web}}\n---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\n\
         metadata: {{name: \"system:reader\", namespace: ''}}\n"
    );
    let lowered = lower(&text);
    assert_eq!(lowered.mistakes(), [""; 0]);
    assert_eq!(
        lowered.resources(),
        [
            "configmap/shop/settings: kubernetes/core/ConfigMap",
            "deployment/web: kubernetes/apps/Deployment",
            "clusterrole/system:reader: kubernetes/rbac.authorization.k8s.io/ClusterRole",
        ]
    );
    assert_eq!(
        lowered.spec("configmap/shop/settings"),
        "{apiVersion: \"v1\", kind: \"ConfigMap\", \
         metadata: {name: \"settings\", namespace: \"shop\"}, data: {mode: \"a\"}}"
    );
}

#[test]
fn json_is_read_as_yaml_is() {
    let text = r#"{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"},
        "spec": {"on": true, "n": null, "port": 80, "cpu": 0.5, "text": "yes"}}"#;
    let lowered = lower_named("app.json", text);
    assert_eq!(lowered.mistakes(), [""; 0]);
    assert!(
        lowered
            .spec("pod/a")
            .ends_with("spec: {on: true, port: 80, cpu: 0.5, text: \"yes\"}}")
    );
}

#[test]
fn lists_are_unfolded() {
    let text = "\
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: ConfigMapList
  metadata: {}
  items:
  - metadata: {name: a}
  - apiVersion: v1
    kind: Secret
    metadata: {name: b}
- apiVersion: v1
  kind: Service
  metadata: {name: c}
";
    let lowered = lower(text);
    assert_eq!(lowered.mistakes(), [""; 0]);
    assert_eq!(
        lowered.resources(),
        [
            "configmap/a: kubernetes/core/ConfigMap",
            "secret/b: kubernetes/core/Secret",
            "service/c: kubernetes/core/Service",
        ]
    );
    assert_eq!(
        lowered.spec("configmap/a"),
        "{apiVersion: \"v1\", kind: \"ConfigMap\", metadata: {name: \"a\"}}"
    );
}

#[test]
fn what_only_servers_set_is_left_out() {
    let text = "\
apiVersion: v1
kind: ConfigMap
metadata:
  name: a
  creationTimestamp: null
  resourceVersion: \"12\"
  uid: 1-2
  generation: 3
  managedFields: [{manager: kubectl}]
  annotations:
    kubectl.kubernetes.io/last-applied-configuration: '{}'
  labels: {x: y1}
status: {phase: Active}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: b
  annotations:
    kubectl.kubernetes.io/last-applied-configuration: '{}'
    note: kept
";
    let lowered = lower(text);
    assert_eq!(lowered.mistakes(), [""; 0]);
    assert_eq!(
        lowered.spec("configmap/a"),
        "{apiVersion: \"v1\", kind: \"ConfigMap\", metadata: {name: \"a\", labels: {x: \"y1\"}}}"
    );
    assert!(
        lowered
            .spec("configmap/b")
            .contains("annotations: {note: \"kept\"}")
    );
}

#[test]
fn nothing_is_interpolated_and_anchors_are_followed() {
    let text = "\
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
data: &base
  shell: ${HOME}
  env: $(NAME)
  mode: 0644
more:
  shell: early
  <<: *base
  env: late
again: *base
";
    let lowered = lower(text);
    assert_eq!(lowered.mistakes(), [""; 0]);
    assert!(lowered.spec("configmap/a").ends_with(
        "data: {shell: \"${HOME}\", env: \"$(NAME)\", mode: 420}, \
         more: {shell: \"${HOME}\", env: \"late\", mode: 420}, \
         again: {shell: \"${HOME}\", env: \"$(NAME)\", mode: 420}}"
    ));
}

#[test]
fn null_is_taken_as_not_written() {
    let text = "\
apiVersion: v1
kind: ConfigMap
metadata: {name: a, namespace: ~, labels: {x: null, k: z}, annotations: }
data: {empty: , list: [null], kept: ''}
binaryData:
";
    let lowered = lower(text);
    assert_eq!(lowered.mistakes(), [""; 0]);
    assert_eq!(
        lowered.spec("configmap/a"),
        "{apiVersion: \"v1\", kind: \"ConfigMap\", metadata: {name: \"a\", labels: {k: \"z\"}}, \
         data: {list: [null], kept: \"\"}}"
    );
}

#[test]
fn objects_of_several_groups_with_one_name_add_their_group() {
    let istio = "apiVersion: networking.istio.io/v1\nkind: Gateway\nmetadata: {name: a}\n";
    let official = "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: a}\n";
    let mut both = [
        lower(&format!("{istio}---\n{official}")).resources(),
        lower(&format!("{official}---\n{istio}")).resources(),
    ];
    both.iter_mut().for_each(|names| names.sort());
    let expected = [
        "gateway.networking.istio.io/a: kubernetes/networking.istio.io/Gateway",
        "gateway/a: kubernetes/gateway.networking.k8s.io/Gateway",
    ];
    assert_eq!(both, [expected, expected]);
}

#[test]
fn mistakes_have_their_places() {
    for (text, expected) in [
        (
            "kind: ConfigMap\nmetadata: {name: a}\n",
            "1:1 missing-field: the object has no `apiVersion`",
        ),
        (
            "apiVersion: v1\nmetadata: {name: a}\n",
            "1:1 missing-field: the object has no `kind`",
        ),
        (
            "apiVersion: v1\nkind: ConfigMap\n",
            "2:7 missing-field: the object has no `metadata.name`",
        ),
        (
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: a}\n",
            "2:7 missing-field: the object has no `metadata.name`",
        ),
        (
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: a-}\n",
            "3:12 generated-name: an object needs a name to be found again",
        ),
        (
            "apiVersion: v1\nkind: ConfigMap\nmetadata: text\n",
            "3:11 wrong-shape: `metadata` must be a map, found a string",
        ),
        (
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: 12}\n",
            "3:18 wrong-shape: `metadata.name` must be a string, found a number",
        ),
        (
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: on}\n",
            "3:32 wrong-shape: `metadata.namespace` must be a string, found a boolean",
        ),
        (
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a/b}\n",
            "3:18 invalid-name: `metadata.name` cannot be `a/b`",
        ),
        (
            "apiVersion: 1\nkind: ConfigMap\nmetadata: {name: a}\n",
            "1:13 wrong-shape: `apiVersion` must be a string, found a number",
        ),
        (
            "apiVersion: core/v1\nkind: ConfigMap\nmetadata: {name: a}\n",
            "1:13 wrong-shape: `apiVersion` cannot be `core/v1`",
        ),
        (
            "apiVersion: v1\nkind: Config/Map\nmetadata: {name: a}\n",
            "2:7 wrong-shape: `kind` cannot be `Config/Map`",
        ),
        (
            "replicas: 3\n",
            "1:1 not-a-manifest: the map is no manifest",
        ),
        (
            "- a\n",
            "1:1 not-a-manifest: a manifest is a map, found a list",
        ),
        (
            "apiVersion: v1\nkind: List\nitems: [text]\n",
            "3:9 not-a-manifest: a manifest is a map, found a string",
        ),
        (
            "apiVersion: v1\nkind: A\nmetadata: {name: a}\nx: 1\nx: 2\n",
            "5:1 duplicate-key: `x` is written twice",
        ),
        (
            "apiVersion: v1\nkind: A\nmetadata:\n  name: a\n  labels: {b: c, b: d}\n",
            "5:18 duplicate-key: `b` is written twice",
        ),
        (
            "apiVersion: v1\nkind: A\nmetadata: {name: a}\nx: {on: 1}\n",
            "4:5 key-converted: the key `on` is read as `true`",
        ),
        (
            "apiVersion: v1\nkind: A\nmetadata: {name: a}\nx: {? [a] : 1}\n",
            "4:7 not-json: a key must be a string, found a list",
        ),
        (
            "apiVersion: v1\nkind: A\nmetadata: {name: a}\nx: .inf\n",
            "4:4 not-json: JSON has neither infinite numbers nor NaN",
        ),
        (
            "apiVersion: v1\nkind: A\nmetadata: {name: a}\nx: !!binary aGk=\n",
            "4:4 unsupported-yaml: the tag `!!binary` has no meaning in a manifest",
        ),
        (
            "apiVersion: v1\nkind: A\nmetadata: {name: a}\nx: {<<: 3}\n",
            "4:9 wrong-shape: `<<` merges maps, found a number",
        ),
        (
            "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [a]\n",
            "2:7 needs-rendering: a kustomization is rendered to manifests first",
        ),
        ("---\n# empty\n", "1:1 nothing-declared: there is no object"),
    ] {
        let expected = format!("app.yaml:{expected}");
        assert_eq!(lower(text).mistakes(), [expected], "{text}");
    }
}

#[test]
fn an_object_that_is_declared_twice_is_reported_with_both_places() {
    let text = format!("{SETTINGS}---\n{SETTINGS}");
    let lowered = lower(&text);
    assert_eq!(
        lowered.mistakes(),
        ["app.yaml:12:9 name-collision: `configmap/shop/settings` is declared twice"]
    );
    let one = lowered.lowered.diagnostics.iter().next().unwrap();
    let first = lowered.files.get(one.labels[1].span.file).unwrap();
    assert_eq!(first.position(one.labels[1].span.start).line, 4);
}

#[test]
fn manifests_are_recognised_and_other_documents_are_not() {
    for (name, text, expected) in [
        ("app.yaml", SETTINGS, 80),
        ("app.yaml", "---\n---\napiVersion: v1\nkind: A\n", 80),
        ("app.json", r#"{"apiVersion": "v1", "kind": "A"}"#, 80),
        ("app.yaml", "apiVersion: 1\nkind: A\n", 0),
        ("app.yaml", "kind: A\n", 0),
        ("Chart.yaml", "apiVersion: v2\nname: a\n", 0),
        ("values.yaml", "replicas: 3\n", 0),
        ("kustomization.yaml", "resources: [a.yaml]\n", 60),
    ] {
        assert_eq!(certainty(name, text), expected, "{name}: {text}");
    }
}

#[test]
fn folders_are_recognised_by_their_names() {
    for (names, expected) in [
        (&["a.yaml"][..], 20),
        (&["a.yml", "b"], 20),
        (&["a.json"], 20),
        (&["a.txt"], 0),
        (&["Chart.yaml", "values.yaml"], 10),
        (&["a.yaml", "kustomization.yaml"], 10),
        (&["Pulumi.yaml", "a.yaml"], 0),
    ] {
        let all: Vec<(&str, &str)> = names.iter().map(|name| (*name, "")).collect();
        let entries = entries_of(&all, "");
        let file = diag::FileId::new(0);
        let context = LoadContext::NONE;
        let document = Document::of_folder(file, "k8s", "", &entries, &context);
        assert_eq!(ManifestsDialect.recognise(&document), expected, "{names:?}");
    }
}

#[test]
fn files_of_a_folder_are_read_in_the_order_of_their_names() {
    let object = |name: &str| format!("apiVersion: v1\nkind: A\nmetadata: {{name: {name}}}\n");
    let (one, two, three) = (object("one"), object("two"), object("three"));
    let all = [
        ("b.yaml", one.as_str()),
        (
            "a.json",
            r#"{"apiVersion": "v1", "kind": "A", "metadata": {"name": "j"}}"#,
        ),
        ("c/d.yml", &two),
        ("c/e/f.yaml", &three),
        ("notes.txt", "no manifest"),
    ];
    let names = |recursive| lower_folder(&all, recursive).resources();
    let own = ["a/j: kubernetes/core/A", "a/one: kubernetes/core/A"];
    assert_eq!(names(false), own);
    let below = ["a/two: kubernetes/core/A", "a/three: kubernetes/core/A"];
    assert_eq!(names(true), [own, below].concat());
}

#[test]
fn mistakes_of_a_folder_have_places_in_its_files() {
    let all = [
        ("a.yaml", SETTINGS),
        ("b.yaml", SETTINGS),
        ("c.yaml", "unreadable"),
        ("values.yaml", "replicas: 3\n"),
    ];
    assert_eq!(
        lower_folder(&all, false).mistakes(),
        [
            "k8s/:3:1 source-unreadable: `c.yaml` cannot be read",
            "b.yaml:4:9 name-collision: `configmap/shop/settings` is declared twice",
            "values.yaml:1:1 not-a-manifest: the map is no manifest",
        ]
    );
}

#[test]
fn charts_and_kustomizations_are_rendered_first() {
    for (name, message) in [
        ("Chart.yaml", "a chart is rendered to manifests first"),
        (
            "kustomization.yaml",
            "a kustomization is rendered to manifests first",
        ),
    ] {
        let all = [("deployment.yaml", SETTINGS), (name, "name: a\n")];
        let expected = format!("k8s/:1:1 needs-rendering: {message}");
        assert_eq!(lower_folder(&all, false).mistakes(), [expected]);
    }
}

#[test]
fn a_template_of_ytt_is_refused_with_the_command_that_renders_it() {
    let template = format!("#@ load(\"@ytt:data\", \"data\")\n---\n{SETTINGS}");
    let message = "a template of ytt is rendered to manifests first";
    let refused = format!("app.yaml:1:1 needs-rendering: {message}");
    assert_eq!(lower(&template).mistakes(), [refused.as_str()]);
    let all = [("app.yaml", template.as_str()), ("b.yaml", SETTINGS)];
    let lowered = lower_folder(&all, false);
    assert_eq!(lowered.mistakes(), [refused]);
    assert_eq!(lowered.resources().len(), 1);
}
