//! A document of one dialect as a child of a document of another dialect: inputs, exports, and one
//! plan for both.

use std::path::Path;
use std::sync::Arc;

use blueprint::{IndexMap, Name, Value};
use engine::apply::Outcome;
use engine::{Given, Options};
use state::OperationOutcome;
use testkit::harness::{Harness, run_with_paused_clock, settings};

const TEMPLATE: &str = "\
heat_template_version: 2018-08-31
parameters:
  name: {type: string}
  count: {type: number, default: 2}
resources:
  members:
    type: OS::Heat::ResourceGroup
    properties:
      count: {get_param: count}
      resource_def: {type: OS::Heat::Value, properties: {value: {list_join: ['-', [{get_param: name}, '%index%']]}}}
outputs:
  first: {value: {get_attr: [members, resource.0.value]}}
";

const BLUEPRINT: &str = "\
version: 2023-04-20
variables:
  name: {type: string}
  size: {type: integer, default: 3}
resources:
  disk: {type: test/data, spec: {input: \"${variables.name} of ${variables.size}\"}}
exports:
  label: {type: string, field: resources.disk.spec.input}
";

/// Deploys a root in a folder with these files. Returns its exports, and the steps of a further
/// plan.
fn deployed(files: &[(&str, &str)], root: &str) -> (IndexMap<Name, Value>, usize, Vec<String>) {
    let folder = tempfile::tempdir().expect("a folder can be made");
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).expect("it can be written");
    }
    run_with_paused_clock(run(folder.path(), files, root))
}

async fn run(
    folder: &Path,
    files: &[(&str, &str)],
    root: &str,
) -> (IndexMap<Name, Value>, usize, Vec<String>) {
    let harness = Harness::with(
        folder.to_owned(),
        Vec::new(),
        vec![Arc::new(openstack::heat::provider())],
    );
    let text = files
        .iter()
        .find(|(name, _)| *name == root)
        .expect("the root is among them")
        .1;
    let stage = harness
        .stage(root, text, Given::default(), Options::default())
        .await;
    let said: Vec<String> = stage
        .diagnostics
        .iter()
        .map(|one| format!("{}: {}", one.code.name, one.message))
        .collect();
    let staged = stage.staged.unwrap_or_else(|| panic!("{said:?}"));
    let run = harness
        .run(staged, false, Vec::new(), settings(None, false))
        .await;
    assert!(matches!(
        run.outcome(),
        Some(Outcome {
            outcome: Some(OperationOutcome::Ready),
            ..
        })
    ));
    let again = harness
        .stage(root, text, Given::default(), Options::default())
        .await;
    let steps = again.staged.expect("it can be staged again").plan.steps;
    let changes = steps
        .iter()
        .filter(|step| step.action != engine::Action::None)
        .count();
    let snapshot = harness.snapshot().await;
    (
        snapshot.exports,
        changes,
        snapshot.records.keys().map(ToString::to_string).collect(),
    )
}

#[test]
fn template_as_child_of_a_blueprint() {
    let root = "\
version: 2023-04-20
include:
  stack: {path: stack.yaml, variables: {name: shop}}
exports:
  first: {type: string, field: children.stack.first}
";
    let (exports, changes, objects) = deployed(
        &[("stack.yaml", TEMPLATE), ("main.yaml", root)],
        "main.yaml",
    );
    assert_eq!(exports["first"].as_text(), Some("shop-0"));
    assert_eq!(
        (changes, objects),
        (
            0,
            vec!["stack/members/0".to_owned(), "stack/members/1".to_owned()]
        )
    );
}

#[test]
fn blueprint_as_child_of_a_template() {
    let root = "\
heat_template_version: 2018-08-31
resources:
  store: {type: store.yaml, properties: {name: main}}
  seen: {type: OS::Heat::Value, properties: {value: {get_attr: [store, label]}}, depends_on: store}
outputs:
  label: {value: {get_attr: [seen, value]}}
";
    let (exports, changes, mut objects) = deployed(
        &[("store.yaml", BLUEPRINT), ("main.yaml", root)],
        "main.yaml",
    );
    objects.sort();
    assert_eq!(exports["label"].as_text(), Some("main of 3"));
    assert_eq!(
        (changes, objects),
        (0, vec!["seen".to_owned(), "store/disk".to_owned()])
    );
}

#[test]
fn blueprints_as_members_of_a_group() {
    let root = "\
heat_template_version: 2021-04-16
resources:
  stores:
    type: OS::Heat::ResourceGroup
    properties:
      count: 2
      resource_def: {type: store.yaml, properties: {name: n%index%, size: 4}}
  one: {type: store.yaml, properties: {name: alone}}
outputs:
  labels: {value: {get_attr: [stores, label]}}
  second: {value: {get_attr: [stores, resource.1.label]}}
  ids: {value: {get_attr: [stores, refs]}}
  id: {value: {get_resource: one}}
  all: {value: {get_attr: [one]}}
";
    let (exports, changes, objects) = deployed(
        &[("store.yaml", BLUEPRINT), ("main.yaml", root)],
        "main.yaml",
    );
    let shown = |name: &str| exports[name].to_string();
    assert_eq!(shown("labels"), r#"["n0 of 4", "n1 of 4"]"#);
    assert_eq!(exports["second"].as_text(), Some("n1 of 4"));
    assert_eq!(shown("ids"), r#"["case/stores/0", "case/stores/1"]"#);
    assert_eq!(exports["id"].as_text(), Some("case/one"));
    assert_eq!(shown("all"), r#"{"label": "alone of 3"}"#);
    assert_eq!((changes, objects.len()), (0, 3));
}
