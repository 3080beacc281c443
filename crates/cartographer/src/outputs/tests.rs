//! Tests of outputs and their previews.

use blueprint::{Address, Value};

use super::{OutputFailureClass, pass_through, previews, read_output};
use crate::inputs::{AbsentInput, ResourceInputs, ResourceOutput, SourceOutput};

fn map<const N: usize>(entries: [(&'static str, Value); N]) -> Value {
    Value::map(entries)
}

fn template(kind: &str, spec: Value) -> Value {
    map([("kind", Value::from(kind)), ("spec", spec)])
}

fn deployment(rule: Value, object: &Value) -> Result<ResourceOutput, OutputFailureClass> {
    let inputs = ResourceInputs {
        deployment: Some(SourceOutput {
            url: Value::from("u"),
            revision: Value::from("r"),
        }),
        ..ResourceInputs::default()
    };
    read_output(
        &template("ClusterDeploymentTemplate", rule),
        Some(object),
        &inputs,
    )
    .map_err(|failure| failure.class)
}

fn matching(input: &str, output: &str) -> Value {
    let pair = map([
        ("input", Value::from(input)),
        ("output", Value::from(output)),
    ]);
    map([("observedMatches", Value::list([pair]))])
}

#[test]
fn a_path_without_an_object_leads_nowhere() {
    let template = template(
        "ClusterImageTemplate",
        map([("imagePath", Value::from("a.b"))]),
    );
    let failure = read_output(&template, None, &ResourceInputs::default()).expect_err("a failure");
    assert_eq!(failure.class, OutputFailureClass::JsonPath);
    assert_eq!(failure.path.as_deref(), Some("a.b"));
}

#[test]
fn lists_and_maps_are_compared_by_what_they_hold() {
    let list = |number: Value| Value::list([map([("x", number)])]);
    let object = map([
        ("a", list(Value::Int(1))),
        ("b", list(Value::Float(1.0))),
        ("c", Value::Null),
    ]);
    assert!(deployment(matching("a", "b"), &object).is_ok());
    assert_eq!(
        deployment(matching("a", "c"), &object),
        Err(OutputFailureClass::Condition)
    );
    assert_eq!(
        deployment(matching("a", "d"), &object),
        Err(OutputFailureClass::Condition)
    );
}

#[test]
fn a_deployment_that_is_not_known_yet_has_an_unknown_output() {
    let unknown = Value::unknown(None, Some(Address::root("app")));
    let object = map([("a", unknown), ("b", Value::Int(1))]);
    let Ok(ResourceOutput::Source(source)) = deployment(matching("a", "b"), &object) else {
        panic!("no source");
    };
    let mut waits_for = Vec::new();
    source.url.waits_for(&mut waits_for);
    assert_eq!(waits_for, [Address::root("app")]);
}

#[test]
fn a_missing_input_says_whom_it_waits_for() {
    let absent = AbsentInput {
        field: "images",
        name: "app".into(),
        producer: "builder".into(),
    };
    let inputs = ResourceInputs {
        absent: vec![absent.clone()],
        ..ResourceInputs::default()
    };
    let failure = pass_through("ClusterImageTemplate", "app", &inputs).expect_err("a failure");
    assert_eq!(failure.waits_for, [absent]);
}

#[test]
fn previews_are_cut_and_digests_are_not() {
    let preview = |text: String| previews(&ResourceOutput::Image(Value::from(text))).remove(0);
    let (one, other) = (preview("x".repeat(2_000)), preview("x".repeat(2_001)));
    assert_eq!(one.preview.len(), 1_024);
    assert_eq!(one.preview, other.preview);
    assert_ne!(one.digest, other.digest);
}

#[test]
fn previews_show_no_secret_and_nothing_unknown() {
    let secret = previews(&ResourceOutput::Image(Value::from("hidden").secret()));
    assert_eq!(secret[0].preview, "(secret)\n");
    assert_eq!(
        previews(&ResourceOutput::Image(Value::unknown(None, None))),
        []
    );
    assert_eq!(previews(&ResourceOutput::Config(Value::Null)), []);
}
