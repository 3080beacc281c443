//! Diagnostics of typical mistakes, and plans as JSON. Read a changed snapshot before you accept
//! it.

use std::fmt::Write as _;

use blueprint::{IndexMap, Name};
use diag::{Colors, draw};
use engine::plan_file::{hidden_export, hidden_step};
use engine::{Given, Options};
use testkit::harness::{Harness, run_with_paused_clock, settings};

fn harness() -> Harness {
    Harness::new(std::path::PathBuf::from("/nowhere"), Vec::new())
}

fn given(inputs: &[(&str, &str)]) -> Given {
    let text: IndexMap<Name, Name> = inputs
        .iter()
        .map(|(name, value)| ((*name).into(), (*value).into()))
        .collect();
    Given {
        text,
        ..Given::default()
    }
}

/// The diagnostics of staging a document, drawn without colours.
fn drawn(text: &str, inputs: &[(&str, &str)]) -> String {
    run_with_paused_clock(async {
        let name = if text.trim_start().starts_with('{') {
            "shop.jsonc"
        } else {
            "shop.yaml"
        };
        let stage = harness()
            .stage(name, text, given(inputs), Options::default())
            .await;
        let mut all = String::new();
        for diagnostic in &stage.diagnostics {
            let _ = writeln!(all, "{}", draw(diagnostic, &stage.files, Colors::Off));
        }
        all
    })
}

/// A document with these lines below its `version`.
fn document(lines: &str) -> String {
    format!("version: 2023-04-20\n{lines}")
}

macro_rules! mistakes {
    ($($name:ident: $lines:expr;)*) => {
        $(
            #[test]
            fn $name() {
                insta::assert_snapshot!(stringify!($name), drawn(&document($lines), &[]));
            }
        )*
    };
}

mistakes! {
    unknown_resource_type: "resources:\n  logs:\n    type: test/bukcet\n    spec: { name: logs }\n";
    unknown_spec_field: "resources:\n  logs:\n    type: test/bucket\n    spec:\n      name: logs\n      onwer: ada\n";
    missing_spec_field: "resources:\n  logs:\n    type: test/bucket\n    spec:\n      owner: ada\n";
    number_in_quotes: "resources:\n  worker:\n    type: test/function\n    spec:\n      name: work\n      timeout: \"30\"\n";
    text_without_quotes: "resources:\n  worker:\n    type: test/function\n    spec:\n      name: 5\n";
    unknown_section: "resource:\n  logs:\n    type: test/bucket\n    spec: { name: logs }\n";
    unknown_variable: "variables:\n  region: { type: string, default: eu }\nresources:\n  logs:\n    type: test/data\n    spec:\n      input: logs-${variables.regoin}\n";
    cycle: "resources:\n  a:\n    type: test/data\n    spec: { input: \"${b.spec.id}\" }\n  b:\n    type: test/data\n    spec: { input: \"${values.v}\" }\nvalues:\n  v: { type: string, value: \"${a.spec.id}\" }\n";
    self_reference: "resources:\n  a:\n    type: test/data\n    spec: { input: \"${a.spec.id}\" }\n";
    missing_each_index: "resources:\n  disk:\n    type: test/data\n    each: \"${list(1, 2)}\"\n    spec: { input: \"${elem}\" }\n  user:\n    type: test/data\n    spec: { input: \"${disk.spec.id}\" }\n";
    elem_outside_each: "resources:\n  disk:\n    type: test/data\n    spec: { input: \"${elem}\" }\n";
    each_of_a_resource: "resources:\n  record: { type: test/record, spec: { title: t } }\n  disk:\n    type: test/data\n    each: \"${record.spec.nodes}\"\n    spec: { input: \"${elem}\" }\n";
    split_substitution: "resources:\n  logs:\n    type: test/data\n    spec:\n      input: name-${trim(\"a #\")}\n";
    unterminated_substitution: "resources:\n  logs:\n    type: test/data\n    spec:\n      input: \"a ${trim('b')\"\n";
    unexpected_token: "resources:\n  logs:\n    type: test/data\n    spec:\n      input: ${trim('b' 'c')}\n";
    unknown_function: "resources:\n  logs:\n    type: test/data\n    spec:\n      input: ${to_uper('b')}\n";
    argument_type_in_a_folded_text: "resources:\n  logs:\n    type: test/data\n    spec:\n      input: >-\n        one\n        ${trim(5)}\n        two\n";
    argument_format: "resources:\n  net:\n    type: test/data\n    spec:\n      input: ${cidrsubnet(\"10.0.0/16\", 8, 1)}\n";
    duplicate_key: "resources:\n  logs:\n    type: test/data\n    spec: { input: 1 }\n  logs:\n    type: test/data\n    spec: { input: 2 }\n";
    yes_is_no_boolean: "resources:\n  queue:\n    type: test/queue\n    spec:\n      name: work\n      fifo: yes\n";
    wrong_accessor: "variables:\n  config: { type: string, default: \"{}\" }\nresources:\n  a:\n    type: test/data\n    spec: { input: \"${variables.config.host}\" }\n";
    computed_field_set: "resources:\n  a:\n    type: test/data\n    spec: { input: 1, id: mine }\n";
    value_constraint: "resources:\n  a:\n    type: test/record\n    spec: { title: t, code: DE-5, count: 11 }\n";
    absent_element: "resources:\n  cache:\n    type: test/data\n    condition: \"${eq(1, 2)}\"\n    spec: { input: 1 }\n  site:\n    type: test/data\n    spec: { input: \"${cache.spec.id}\" }\n";
    missing_variable: "variables:\n  region:\n    type: string\n    description: where it runs\nresources:\n  a: { type: test/data, spec: { input: \"${variables.region}\" } }\n";
    invalid_condition: "resources:\n  a:\n    type: test/data\n    condition: { and: [] }\n    spec: { input: 1 }\n";
    broken_yaml: "resources:\n  a:\n    type: test/data\n    spec: { input: [1, 2 }\n  b:\n    type: test/dat\n";
    filter_kind_mismatch: "datasources:\n  image:\n    type: test/image\n    filter: { field: version, operator: starts with, search: \"3\" }\n    exports: { imageId: { type: string } }\nresources:\n  a: { type: test/data, spec: { input: \"${datasources.image.imageId}\" } }\n";
}

#[test]
fn no_version_and_nothing_declared() {
    insta::assert_snapshot!(
        "no_version_and_nothing_declared",
        drawn("variables:\n  a: { type: string }\n", &[])
    );
}

#[test]
fn an_input_of_the_wrong_kind() {
    let text = document(
        "variables:\n  port: { type: integer }\nresources:\n  a: { type: test/data, spec: { input: \"${variables.port}\" } }\n",
    );
    insta::assert_snapshot!(
        "an_input_of_the_wrong_kind",
        drawn(&text, &[("port", "eighty"), ("prot", "80")])
    );
}

#[test]
fn json_with_a_mistake() {
    let text = "{\n  // Comments are fine here.\n  \"version\": \"2023-04-20\",\n  \"resources\": {\n    \"a\": {\"type\": \"test/data\", \"spec\": {\"input\": \"${missing.spec.id}\"}},\n  }\n}\n";
    insta::assert_snapshot!("json_with_a_mistake", drawn(text, &[]));
}

/// The steps and exports of the plan from one document to another as JSON; of the destroy if there
/// is no other document.
fn plan(before: Option<&str>, after: Option<&str>, drift: &[(&str, &str)]) -> String {
    run_with_paused_clock(async {
        let harness = harness();
        if let Some(before) = before {
            let stage = harness
                .stage(
                    "shop.yaml",
                    &document(before),
                    Given::default(),
                    Options::default(),
                )
                .await;
            let run = harness
                .run(
                    stage.staged.expect("a plan"),
                    false,
                    Vec::new(),
                    settings(None, false),
                )
                .await;
            assert!(
                run.outcome()
                    .is_some_and(|outcome| outcome.outcome == Some(state::OperationOutcome::Ready))
            );
        }
        for (address, field) in drift {
            let mut world = harness.world.lock().expect("no thread panicked");
            world
                .set("case", address, field, "drifted".into())
                .expect("it is there");
        }
        let stage = match after {
            Some(after) => {
                harness
                    .stage(
                        "shop.yaml",
                        &document(after),
                        Given::default(),
                        Options::default(),
                    )
                    .await
            }
            None => harness.stage_destroy(Options::default()).await,
        };
        let plan = stage.staged.expect("a plan").plan;
        let steps: Vec<_> = plan.steps.iter().map(hidden_step).collect();
        let exports: Vec<_> = plan.exports.iter().map(hidden_export).collect();
        let json =
            serde_json::json!({"steps": steps, "exports": exports, "leftAlone": plan.left_alone});
        serde_json::to_string_pretty(&json).expect("a plan is JSON")
    })
}

const SHOP: &str = "resources:\n  table: { type: test/record, spec: { title: orders, zone: north } }\n  site: { type: test/data, spec: { input: \"${table.spec.id}\" } }\nexports:\n  table: { type: string, field: resources.table.spec.id }\n";

#[test]
fn plan_of_a_first_deploy() {
    insta::assert_snapshot!("plan_of_a_first_deploy", plan(None, Some(SHOP), &[]));
}

#[test]
fn plan_without_a_change() {
    insta::assert_snapshot!("plan_without_a_change", plan(Some(SHOP), Some(SHOP), &[]));
}

#[test]
fn plan_of_an_update() {
    let after = SHOP.replace("title: orders", "title: order book, tags: [a, b]");
    insta::assert_snapshot!("plan_of_an_update", plan(Some(SHOP), Some(&after), &[]));
}

#[test]
fn plan_of_a_replacement() {
    let after = SHOP.replace("north", "south");
    insta::assert_snapshot!("plan_of_a_replacement", plan(Some(SHOP), Some(&after), &[]));
}

#[test]
fn plan_of_a_removal() {
    let after = "resources:\n  site: { type: test/data, spec: { input: alone } }\n";
    insta::assert_snapshot!("plan_of_a_removal", plan(Some(SHOP), Some(after), &[]));
}

#[test]
fn plan_of_a_destroy() {
    insta::assert_snapshot!("plan_of_a_destroy", plan(Some(SHOP), None, &[]));
}

#[test]
fn plan_after_drift() {
    insta::assert_snapshot!(
        "plan_after_drift",
        plan(
            Some(SHOP),
            Some(SHOP),
            &[("table", "title"), ("table", "status")]
        )
    );
}

#[test]
fn plan_of_a_condition_decided_on_deploy() {
    let text = "resources:\n  table: { type: test/record, spec: { title: orders } }\n  copy: { type: test/data, condition: \"${eq(table.spec.status, \\\"ok\\\")}\", spec: { input: 1 } }\n";
    insta::assert_snapshot!(
        "plan_of_a_condition_decided_on_deploy",
        plan(None, Some(text), &[])
    );
}

#[test]
fn plan_with_a_secret() {
    let text = "resources:\n  table: { type: test/record, spec: { title: orders, password: hunter2 } }\nexports:\n  key: { type: string, field: resources.table.spec.secretKey }\n";
    insta::assert_snapshot!("plan_with_a_secret", plan(None, Some(text), &[]));
}
