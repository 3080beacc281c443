//! Tests of stamping beyond the recorded answers: unknown and secret parts, places of failures, and
//! differences to upstream.

use blueprint::{Address, FieldPath, Map, Name, Value};
use jsonpath::FailureClass;

use super::{
    OwnerReference, StampFailure, StampFailureClass, StampRequest, Stamped, YttMistake,
    YttTemplates, stamp,
};
use crate::compat::Compat;
use crate::context::TemplateContext;
use crate::inputs::{ResourceInputs, ResourceOutput, ResourceOutputs};
use crate::params::{ParamSources, Params};

/// Gives as many documents as the template has characters.
struct Documents;

impl YttTemplates for Documents {
    fn documents(&self, template: &str, _: &Value) -> Result<Vec<Value>, YttMistake> {
        let document = Value::map([("kind", Value::from("K"))]);
        Ok(vec![document; template.len()])
    }
}

fn owner() -> Value {
    let metadata = [("name", "w"), ("namespace", "n"), ("uid", "u")];
    Value::map([
        ("apiVersion", Value::from("carto.run/v1alpha1")),
        ("kind", Value::from("Workload")),
        (
            "metadata",
            Value::map(metadata.map(|(key, value)| (key, Value::from(value)))),
        ),
    ])
}

fn outputs(image: Option<Value>) -> ResourceOutputs {
    let image = image.map(|image| (Name::from("builder"), ResourceOutput::Image(image)));
    image.into_iter().collect()
}

fn stamped(
    spec: Value,
    image: Option<Value>,
    labels: &Map,
    compat: Compat,
) -> Result<Stamped, Vec<StampFailure>> {
    let input = [("name", "app"), ("resource", "builder")];
    let input = Value::map(input.map(|(key, value)| (key, Value::from(value))));
    let resource = Value::map([("images", Value::list([input]))]);
    let params = Params::merge(&ParamSources {
        template: &Value::Null,
        blueprint: &Value::Null,
        resource: &Value::Null,
        owner: &Value::Null,
    });
    let inputs = ResourceInputs::of(&resource, &outputs(image));
    let owner = owner();
    stamp(&StampRequest {
        template: &Value::map([("spec", spec)]),
        context: &TemplateContext::of_resource(&owner, &params, &inputs, labels),
        owner: &owner,
        labels,
        owner_reference: OwnerReference::Left,
        compat,
        ytt: &Documents,
    })
}

fn simple(text: &str) -> Value {
    Value::map([(
        "template",
        Value::map([("v", Value::list([Value::from(text)]))]),
    )])
}

fn result(text: &str, image: Value) -> Value {
    let stamped = stamped(simple(text), Some(image), &Map::new(), Compat::Ours).expect("an object");
    FieldPath::parse("v[0]")
        .select(&stamped.object)
        .cloned()
        .expect("the value")
}

#[test]
fn unknown_and_secret_parts_flow_through() {
    let unknown = Value::unknown(None, Some(Address::root("builder")));
    for text in ["$(image)$", "$(image.tag)$", "x $(images.app.image)$"] {
        let value = result(text, unknown.clone());
        let mut waits_for = Vec::new();
        value.waits_for(&mut waits_for);
        assert!(value.is_unknown(), "{text}");
        assert_eq!(waits_for, [Address::root("builder")], "{text}");
    }
    let secret = result("x $(image)$", Value::from("s").secret());
    assert_eq!(secret, Value::from("x s").secret());
}

#[test]
fn integers_are_exact() {
    let large = Value::Int(9_007_199_254_740_993);
    assert_eq!(result("$(image)$", large.clone()), large);
    assert_eq!(
        result("n$(image)$", large),
        Value::from("n9007199254740993")
    );
}

#[test]
fn failures_have_a_place() {
    let text = "a $(workload.nope)$ $(image[x])$";
    let image = Some(Value::from("i"));
    let failures = stamped(simple(text), image, &Map::new(), Compat::Ours).expect_err("failures");
    let places: Vec<_> = failures
        .iter()
        .map(|failure| {
            let inside = failure.inside.clone().expect("a place");
            (failure.class, failure.path.to_string(), &text[inside])
        })
        .collect();
    let missing = StampFailureClass::Path(FailureClass::Missing);
    let parse = StampFailureClass::Path(FailureClass::Parse);
    assert_eq!(
        places,
        [
            (missing, "v[0]".to_owned(), "workload.nope"),
            (parse, "v[0]".to_owned(), "x"),
        ]
    );
}

#[test]
fn a_resource_waits_for_absent_inputs_unless_upstream_counts() {
    let waits_for = |compat| {
        let stamped = stamped(simple("$(image)$"), None, &Map::new(), compat);
        let failures = stamped.expect_err("a failure");
        failures[0].waits_for.len()
    };
    assert_eq!(waits_for(Compat::Ours), 1);
    assert_eq!(waits_for(Compat::Upstream), 0);
}

#[test]
fn long_labels_are_shortened_unless_upstream_counts() {
    let long = "x".repeat(64);
    let labels: Map = [(Name::from("carto.run/a"), Value::from(long.as_str()))]
        .into_iter()
        .collect();
    let metadata = |compat| {
        let image = Some(Value::from("i"));
        let stamped = stamped(simple("v"), image, &labels, compat).expect("an object");
        assert_eq!(stamped.notes.len(), 1);
        stamped.object.get("metadata").cloned().expect("metadata")
    };
    let text = |value: &Value, part: &str| {
        let value = value.get(part).and_then(|part| part.get("carto.run/a"));
        value.and_then(Value::as_text).map(str::to_owned)
    };
    let ours = metadata(Compat::Ours);
    let label = text(&ours, "labels").expect("a label");
    assert_eq!(
        (label.len(), &label[..55]),
        (63, format!("{}-", "x".repeat(54)).as_str())
    );
    assert_eq!(text(&ours, "annotations"), Some(long.clone()));
    assert_eq!(text(&metadata(Compat::Upstream), "labels"), Some(long));
}

#[test]
fn more_than_one_document_is_a_failure_unless_upstream_counts() {
    let ytt = |text: &str| Value::map([("ytt", Value::from(text))]);
    let result = |text, compat| stamped(ytt(text), None, &Map::new(), compat);
    assert!(result("x", Compat::Ours).is_ok());
    let failures = result("xx", Compat::Ours).expect_err("a failure");
    assert_eq!(failures[0].class, StampFailureClass::ExtraDocument);
    let upstream = result("xx", Compat::Upstream).expect("an object");
    assert_eq!(upstream.notes.len(), 1);
}

#[test]
fn deep_templates_are_failures() {
    let mut deep = Value::from("$(image)$");
    for _ in 0..1_000 {
        deep = Value::list([deep]);
    }
    let spec = Value::map([("template", deep)]);
    let failures = stamped(spec, None, &Map::new(), Compat::Ours).expect_err("a failure");
    assert_eq!(failures[0].class, StampFailureClass::TooDeep);
}
