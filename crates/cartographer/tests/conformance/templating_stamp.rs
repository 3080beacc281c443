//! Objects stamped for recorded owners, templates and inputs.

use blueprint::{Map, Value};
use cartographer::compat::Compat;
use cartographer::context::TemplateContext;
use cartographer::inputs::{ResourceInputs, ResourceOutput, ResourceOutputs, SourceOutput};
use cartographer::params::{ParamSources, Params};
use cartographer::stamp::{OwnerReference, StampFailureClass, StampRequest, stamp};
use cartographer::ytt_templates::InProcessYtt;

use crate::jsonpath::class as path_class;
use crate::pack::{self, Tally};

/// A part of a value; null if it is not there.
pub(crate) fn at(value: &Value, path: &[&str]) -> Value {
    let found = path.iter().try_fold(value, |value, key| value.get(key));
    found.cloned().unwrap_or_default()
}

/// The outputs of resources as the cases write them.
pub(crate) fn outputs(case: &Value) -> ResourceOutputs {
    let outputs = case.get("outputs").and_then(Value::as_map);
    let outputs = outputs.into_iter().flat_map(|outputs| outputs.iter());
    outputs
        .map(|(name, output)| {
            let output = if output.get("source").is_some() {
                ResourceOutput::Source(SourceOutput {
                    url: at(output, &["source", "url"]),
                    revision: at(output, &["source", "revision"]),
                })
            } else if let Some(image) = output.get("image") {
                ResourceOutput::Image(image.clone())
            } else if let Some(config) = output.get("config") {
                ResourceOutput::Config(config.clone())
            } else {
                ResourceOutput::Nothing
            };
            (name.clone(), output)
        })
        .collect()
}

fn class(class: StampFailureClass) -> &'static str {
    match class {
        StampFailureClass::Path(class) => path_class(class),
        StampFailureClass::NullInText => "null-in-text",
        StampFailureClass::Namespace => "namespace",
        StampFailureClass::NotAnObject => "not-an-object",
        StampFailureClass::NoTemplate => "no-template",
        StampFailureClass::Ytt => "ytt",
        StampFailureClass::ExtraDocument => "extra-document",
        StampFailureClass::TooDeep => "too-deep",
    }
}

#[test]
fn objects_are_stamped_as_recorded() {
    let Some(cases) = pack::cases("templating/stamp.json") else {
        return;
    };
    let mut tally = Tally::new("templating/stamp");
    for case in &cases {
        let template = at(case, &["template"]);
        tally.count(pack::id(case), check(case, &template));
    }
    tally.finish(98);
}

fn check(case: &Value, template: &Value) -> Result<(), String> {
    let owner = at(case, &["owner"]);
    let labels: Map = at(case, &["labels"]).as_map().cloned().unwrap_or_default();
    let run_template = case.get("runTemplate");
    let context = match run_template {
        Some(_) => TemplateContext::of_runnable(&owner, case.get("selected")),
        None => {
            let resource = at(case, &["resource"]);
            let params = Params::merge(&ParamSources {
                template: &at(template, &["spec", "params"]),
                blueprint: &at(case, &["blueprintParams"]),
                resource: &at(&resource, &["params"]),
                owner: &at(&owner, &["spec", "params"]),
            });
            let inputs = ResourceInputs::of(&resource, &outputs(case));
            TemplateContext::of_resource(&owner, &params, &inputs, &labels)
        }
    };
    let stamped = stamp(&StampRequest {
        template: run_template.unwrap_or(template),
        context: &context,
        owner: &owner,
        labels: &labels,
        owner_reference: OwnerReference::Written,
        compat: Compat::Upstream,
        ytt: &InProcessYtt,
    });
    let expect = at(case, &["expect"]);
    if let Some(expected) = expect.get("context")
        && !pack::equal(&context.serialised(), expected)
    {
        return Err(format!(
            "the context {} is not {expected}",
            context.serialised()
        ));
    }
    match (stamped, expect.get("class").and_then(Value::as_text)) {
        (Ok(stamped), None) if pack::equal(&stamped.object, &at(&expect, &["object"])) => Ok(()),
        (Err(failures), Some(expected)) if class(failures[0].class) == expected => Ok(()),
        (Ok(stamped), _) => Err(format!("{} instead of {expect}", stamped.object)),
        (Err(failures), _) => Err(format!("{failures:?} instead of {expect}")),
    }
}
