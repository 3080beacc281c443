//! Lowering of templates that make a further object for every change, and of runnables.

use blueprint::{Expr, ExprKind, Packages, Value};
use diag::Files;
use dialect::{Dialect, Document, LoadContext, Lowered};
use expr::FunctionTable;
use syntax::Format;

use crate::cartographer::CartographerDialect;
use crate::cartographer::calls::{RUN_OUTPUTS, RUN_READY};
use crate::cartographer::functions::insert_functions;
use crate::cartographer::settings::NAME;

const CHAIN: &str = "\
apiVersion: carto.run/v1alpha1
kind: ClusterSupplyChain
metadata: {name: web}
spec:
  selector: {type: web}
  resources:
  - name: image
    templateRef: {kind: ClusterImageTemplate, name: image}
---
apiVersion: carto.run/v1alpha1
kind: ClusterImageTemplate
metadata: {name: image}
spec:
  imagePath: .status.image
  lifecycle: LIFECYCLE
  template:
    apiVersion: runs.example/v1
    kind: Build
    metadata: {generateName: $(workload.metadata.name)$-}
    spec: {source: $(workload.spec.source.git.url)$}
---
apiVersion: carto.run/v1alpha1
kind: Workload
metadata: {name: shop, namespace: dev, labels: {type: web}}
spec:
  source: {git: {url: 'https://example.com/shop'}}
";

const RUNNABLE: &str = "\
apiVersion: carto.run/v1alpha1
kind: ClusterRunTemplate
metadata: {name: test}
spec:
  outputs: {url: .status.url}
  template:
    apiVersion: runs.example/v1
    kind: Build
    metadata: {generateName: $(runnable.metadata.name)$-}
    spec: {source: $(runnable.spec.inputs.revision)$}
---
apiVersion: carto.run/v1alpha1
kind: Runnable
metadata: {name: unit, namespace: dev}
spec:
  retentionPolicy: {maxFailedRuns: 2, maxSuccessfulRuns: 3}
  runTemplateRef: {name: test}
  inputs: {revision: r1}
";

fn lower(text: &str) -> Lowered {
    let mut files = Files::new();
    let file = files.add("chain.yaml", text);
    let (trees, found) = syntax::parse_stream(file, text, Format::of_name("chain.yaml"));
    assert!(found.is_empty());
    let context = LoadContext::NONE;
    let document = Document::new(file, "chain.yaml", text, &trees, &context);
    CartographerDialect.lower(&document, &FunctionTable::default(), &Packages::default())
}

/// The diagnostics as `CODE: MESSAGE`.
fn mistakes(lowered: &Lowered) -> Vec<String> {
    let found = lowered.diagnostics.iter();
    found
        .map(|one| format!("{}: {}", one.code.name, one.message))
        .collect()
}

/// The type of a resource.
fn type_of(lowered: &Lowered, name: &str) -> String {
    let resource = &lowered.blueprint.resources[name];
    resource.type_name.item.name().to_string()
}

/// A field of the spec of a resource, which must be data.
fn field(lowered: &Lowered, name: &str, field: &str) -> Value {
    let spec = &lowered.blueprint.resources[name].spec;
    let ExprKind::Map(entries) = &spec.kind else {
        panic!("{name} has no map");
    };
    let entry = entries.iter().find(|(key, _)| *key.item == *field);
    entry.map_or(Value::Null, |(_, entry)| data(entry))
}

fn data(expr: &Expr) -> Value {
    match &expr.kind {
        ExprKind::Literal(value) => value.clone(),
        ExprKind::Map(entries) => Value::map(
            entries
                .iter()
                .map(|(key, entry)| (key.item.clone(), data(entry))),
        ),
        other => panic!("{other:?} is no data"),
    }
}

/// Calls a function of the dialect.
fn call(name: &str, arguments: &[Value]) -> Value {
    let mut table = FunctionTable::new();
    insert_functions(&mut table);
    let function = table.of(NAME).get(name).expect("the function");
    let native = function.native.as_ref().expect("a native function");
    native.call(arguments).expect("a value")
}

fn map<const N: usize>(entries: [(&str, Value); N]) -> Value {
    Value::map(entries)
}

#[test]
fn a_template_that_is_not_mutable_becomes_a_series_of_runs() {
    let name = "workload/dev/shop/image";
    for (lifecycle, rule) in [
        ("immutable", Value::Null),
        (
            "tekton",
            map([("singleConditionType", Value::from("Succeeded"))]),
        ),
    ] {
        let lowered = lower(&CHAIN.replace("LIFECYCLE", lifecycle));
        assert_eq!(mistakes(&lowered), [""; 0]);
        assert_eq!(type_of(&lowered, name), "kubernetes/run");
        assert_eq!(field(&lowered, name, "healthRule"), rule);
        assert_eq!(field(&lowered, name, "retention"), Value::Null);
        let template = field(&lowered, name, "template");
        let metadata = template.get("metadata").unwrap();
        assert_eq!(metadata.get("generateName"), Some(&Value::from("shop-")));
        // The labels of the series are those of its objects.
        let selector = field(&lowered, name, "selector");
        assert_eq!(metadata.get("labels"), Some(&selector));
        let label = selector.get("carto.run/template-lifecycle");
        assert_eq!(label, Some(&Value::from(lifecycle)));
    }
}

#[test]
fn a_label_that_is_too_long_is_shortened_in_the_selector_too() {
    let name = "a".repeat(64);
    let text = CHAIN.replace("LIFECYCLE", "immutable");
    let text = text.replace("name: shop,", &format!("name: {name},"));
    let lowered = lower(&text);
    let resource = format!("workload/dev/{name}/image");
    let selector = field(&lowered, &resource, "selector");
    let label = selector.get("carto.run/workload-name").cloned().unwrap();
    assert_eq!(label.as_text().map(str::len), Some(63));
    let template = field(&lowered, &resource, "template");
    let labels = template.get("metadata").unwrap().get("labels");
    assert_eq!(labels, Some(&selector));
}

#[test]
fn a_name_has_to_fit_the_lifecycle() {
    let text = CHAIN.replace("LIFECYCLE", "mutable");
    let why = "a mutable template has one object, which needs a fixed name";
    assert_eq!(
        mistakes(&lower(&text)),
        [format!("template-content: {why}")]
    );
    let text = CHAIN.replace("LIFECYCLE", "tekton");
    let text = text.replace("generateName", "name");
    let why = "each run makes a new object, so its name cannot be fixed";
    assert_eq!(
        mistakes(&lower(&text)),
        [format!("template-content: {why}")]
    );
}

#[test]
fn a_runnable_becomes_a_series_of_runs() {
    let lowered = lower(RUNNABLE);
    assert_eq!(mistakes(&lowered), [""; 0]);
    let name = "runnable/dev/unit";
    assert_eq!(type_of(&lowered, name), "kubernetes/run");
    let template = field(&lowered, name, "template");
    let source = template.get("spec").and_then(|spec| spec.get("source"));
    assert_eq!(source, Some(&Value::from("r1")));
    let selector = map([
        ("carto.run/runnable-name", Value::from("unit")),
        ("carto.run/run-template-name", Value::from("test")),
    ]);
    assert_eq!(field(&lowered, name, "selector"), selector);
    let limits = field(&lowered, name, "retention");
    assert_eq!(limits.get("maxSuccessfulRuns"), Some(&Value::Int(3)));
    assert!(lowered.blueprint.locals.contains_key(name));
}

#[test]
fn a_runnable_that_selects_an_object_is_not_run() {
    let selector = "  selector:\n    resource: {apiVersion: v1, kind: ConfigMap}\n    \
                    matchingLabels: {a: b}\n";
    let lowered = lower(&format!("{RUNNABLE}{selector}"));
    assert_eq!(
        mistakes(&lowered),
        ["runnable-not-run: `Runnable/dev/unit` is checked and not run"]
    );
    assert!(lowered.blueprint.resources.is_empty());
    let lowered = lower(&RUNNABLE.replace(
        "runTemplateRef: {name: test}",
        "runTemplateRef: {name: tes}",
    ));
    assert_eq!(
        mistakes(&lowered),
        [
            "unused-part: nothing here uses the template `test`",
            "unknown-template: there is no ClusterRunTemplate `tes`",
        ]
    );
}

#[test]
fn a_runnable_that_a_chain_stamps_is_an_object_that_nothing_runs() {
    let text = CHAIN.replace("LIFECYCLE", "mutable");
    let text = text.replace("generateName", "name");
    let text = text.replace("runs.example/v1", "carto.run/v1alpha1");
    let lowered = lower(&text.replace("kind: Build", "kind: Runnable"));
    let name = "workload/dev/shop/image";
    assert_eq!(type_of(&lowered, name), "kubernetes/carto.run/Runnable");
    assert!(
        mistakes(&lowered)
            .iter()
            .any(|one| one.starts_with("runnable-not-run: `image` stamps a runnable")),
        "{:?}",
        mistakes(&lowered)
    );
}

/// A run with an output, or without one.
fn run(succeeded: &str, url: Option<&str>) -> Value {
    let condition = map([
        ("type", Value::from("Succeeded")),
        ("status", Value::from(succeeded)),
    ]);
    let mut status = vec![("conditions", Value::list([condition]))];
    status.extend(url.map(|url| ("url", Value::from(url))));
    map([("status", Value::map(status))])
}

fn run_template() -> Value {
    let outputs = map([("url", Value::from(".status.url"))]);
    map([
        ("kind", Value::from("ClusterRunTemplate")),
        ("spec", map([("outputs", outputs)])),
    ])
}

#[test]
fn a_run_is_ready_when_the_newest_one_is_healthy_and_has_its_outputs() {
    let fields = |status: &str, object: Value| {
        let health = [("status", status), ("message", "the tests failed")];
        map([
            ("object", object),
            ("newest", Value::from("unit-2")),
            (
                "health",
                Value::map(health.map(|(key, text)| (key, Value::from(text)))),
            ),
        ])
    };
    let why = |fields: Value| call(RUN_READY, &[run_template(), fields]);
    let good = run("True", Some("u"));
    assert_eq!(why(fields("True", good.clone())), Value::Null);
    let failed = why(fields("False", good.clone()));
    assert_eq!(
        failed,
        Value::from("the run `unit-2` is not healthy: the tests failed")
    );
    let running = why(fields("Unknown", good));
    assert!(running.as_text().unwrap().contains("is not healthy yet"));
    let without = why(fields("True", run("True", None)));
    assert!(without.as_text().unwrap().starts_with("`.status.url`"));
    // The health in a simulation is made up.
    let simulated = [
        run_template(),
        fields("made up", run("True", Some("u"))),
        Value::Bool(true),
    ];
    assert_eq!(call(RUN_READY, &simulated), Value::Null);
}

#[test]
fn outputs_of_a_runnable_are_unknown_while_no_run_has_all_of_them() {
    let outputs = |object: Value| call(RUN_OUTPUTS, &[run_template(), object]);
    let expected = map([("url", Value::from("u"))]);
    assert_eq!(outputs(run("True", Some("u"))), expected);
    for object in [
        Value::Null,
        Value::unknown(None, None),
        run("True", None),
        run("False", Some("u")),
    ] {
        assert!(outputs(object.clone()).is_unknown(), "{object:?}");
    }
}
