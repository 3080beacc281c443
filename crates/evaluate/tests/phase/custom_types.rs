//! Custom types of variables: inputs give a label, expressions read the value
//! (decisions/documents#custom-types).

use blueprint::Value;
use engine::Given;
use testkit::harness::run_with_paused_clock;
use testkit::single_document::{codes, exports, given, harness, stage};

const DOCUMENT: &str = "version: 2025-11-02
variables:
  size: { type: test/size }
  units: { type: test/compute/units, default: two }
  hidden: { type: test/size, secret: true, default: large }
  few: { type: test/size, allowedValues: [small, medium], default: small }
values:
  sum: { type: integer, value: \"${add(variables.units, 1)}\" }
resources:
  r: { type: test/data, spec: { input: \"${variables.size}\" } }
exports:
  size: { type: string, field: variables.size }
  units: { type: integer, field: variables.units }
  sum: { type: integer, field: values.sum }
  hidden: { type: string, field: variables.hidden }
  few: { type: string, field: variables.few }
";

#[test]
fn a_reference_gives_the_value_of_the_option() {
    run_with_paused_clock(async {
        let harness = harness(&[]);
        let staged = stage(
            &harness,
            DOCUMENT,
            given(&[("size", "medium"), ("units", "one")]),
        )
        .await;
        let exports = exports(&staged);
        assert_eq!(codes(&staged), Vec::<String>::new());
        assert_eq!(exports["size"], Value::from("s-2"));
        assert_eq!(exports["units"], Value::Int(1));
        assert_eq!(exports["sum"], Value::Int(2));
        assert_eq!(exports["hidden"], Value::from("s-4").secret());
        assert_eq!(exports["few"], Value::from("s-1"));
    });
}

#[test]
fn typed_inputs_are_labels_too() {
    run_with_paused_clock(async {
        let harness = harness(&[]);
        let mut inputs = Given::default();
        inputs.typed.insert("size".into(), Value::from("large"));
        inputs.typed.insert("units".into(), Value::Null);
        let staged = stage(&harness, DOCUMENT, inputs).await;
        assert_eq!(exports(&staged)["size"], Value::from("s-4"));
        assert_eq!(exports(&staged)["units"], Value::Int(2));
    });
}

#[test]
fn unknown_label_is_refused_at_the_variable() {
    run_with_paused_clock(async {
        let harness = harness(&[]);
        // The value of an option is not its label. Labels are case-sensitive.
        for wrong in ["s-2", "Medium", "", "huge"] {
            assert_eq!(
                codes(&stage(&harness, DOCUMENT, given(&[("size", wrong)])).await),
                ["value-not-allowed 3"]
            );
        }
        let staged = stage(
            &harness,
            DOCUMENT,
            given(&[("size", "small"), ("few", "large")]),
        )
        .await;
        assert_eq!(codes(&staged), ["value-not-allowed 6"]);
        assert_eq!(
            codes(&stage(&harness, DOCUMENT, Given::default()).await),
            ["missing-variable 3"]
        );
        let mut inputs = given(&[("size", "small")]);
        inputs.typed.insert("units".into(), Value::Int(1));
        assert_eq!(
            codes(&stage(&harness, DOCUMENT, inputs).await),
            ["type-mismatch 4"]
        );
    });
}

#[test]
fn similar_label_is_suggested_unless_secret() {
    run_with_paused_clock(async {
        let harness = harness(&[]);
        let staged = stage(
            &harness,
            DOCUMENT,
            given(&[("size", "smal"), ("hidden", "smoll")]),
        )
        .await;
        let said = format!("{:?}", staged.diagnostics);
        assert!(said.contains("did you mean `small`?"), "{said}");
        assert!(!said.contains("smoll"), "{said}");
    });
}

#[test]
fn option_value_is_checked_by_its_type() {
    run_with_paused_clock(async {
        let harness = harness(&[]);
        let text = "version: 2025-11-02
variables:
  units: { type: test/compute/units, default: two }
  size: { type: test/size, default: small }
resources:
  a: { type: test/cluster, spec: { name: \"${variables.size}\", zone: \"${variables.units}\" } }
exports:
  wrong: { type: string, field: variables.units }
";
        let staged = stage(&harness, text, Given::default()).await;
        let wrong: Vec<_> = codes(&staged)
            .into_iter()
            .filter(|code| code.starts_with("type-mismatch"))
            .collect();
        assert_eq!(wrong, ["type-mismatch 8"], "{:?}", staged.diagnostics);
    });
}
