//! Outputs and status entries of recorded resources.

use blueprint::{Name, Value};
use cartographer::compat::Compat;
use cartographer::health::effective_rule;
use cartographer::inputs::{ResourceInputs, ResourceOutput};
use cartographer::outputs::{OutputFailureClass, pass_through, read_output};
use cartographer::resource_status::{Realization, ResourceStatus, resource_status};

use crate::pack::{self, Tally};
use crate::templating_stamp::{at, outputs};

#[test]
fn outputs_and_status_entries_are_as_recorded() {
    let Some(cases) = pack::cases("templating/output.json") else {
        return;
    };
    let mut tally = Tally::new("templating/output");
    for case in &cases {
        tally.count(pack::id(case), check(case));
    }
    tally.finish(98);
}

fn class(class: OutputFailureClass) -> &'static str {
    match class {
        OutputFailureClass::JsonPath => "JsonPathError",
        OutputFailureClass::ObservedGeneration => "ObservedGenerationError",
        OutputFailureClass::Condition => "DeploymentConditionError",
        OutputFailureClass::FailedCondition => "DeploymentFailedConditionMetError",
        OutputFailureClass::Other => "other",
    }
}

fn output_value(output: &ResourceOutput) -> Value {
    let entries = match output {
        ResourceOutput::Nothing => Vec::new(),
        ResourceOutput::Source(source) => vec![(
            "source",
            Value::map([
                ("url", source.url.clone()),
                ("revision", source.revision.clone()),
            ]),
        )],
        ResourceOutput::Image(image) => vec![("image", image.clone())],
        ResourceOutput::Config(config) => vec![("config", config.clone())],
    };
    let entries = entries.into_iter().filter(|(_, value)| !value.is_null());
    Value::map(entries)
}

fn check(case: &Value) -> Result<(), String> {
    let expect = at(case, &["expect"]);
    let resource = at(case, &["resource"]);
    let inputs = ResourceInputs::of(&resource, &outputs(case));
    let template = case.get("template");
    let live = case.get("object");
    let output = match (template, case.get("passThrough").and_then(Value::as_text)) {
        (Some(template), _) => read_output(template, live, &inputs),
        (None, passed) => {
            let kind = at(&resource, &["templateRef", "kind"]);
            let kind = kind.as_text().unwrap_or_default().to_owned();
            pass_through(&kind, passed.unwrap_or_default(), &inputs)
        }
    };
    let object = live.or_else(|| case.get("stamped"));
    let plural = object.map(plural).unwrap_or_default();
    let previous = at(case, &["previous"]);
    let previous = previous.as_list().and_then(|entries| entries.first());
    let rule = template.map(effective_rule).unwrap_or_default();
    let status = resource_status(
        &Realization {
            resource: &resource,
            template,
            rule: &rule,
            object,
            object_resource: &plural,
            output: output.as_ref(),
        },
        previous,
        "2024-02-02T00:00:00Z",
        Compat::Upstream,
    );
    match (&output, expect.get("class").and_then(Value::as_text)) {
        (Ok(output), None) if pack::equal(&output_value(output), &at(&expect, &["output"])) => {}
        (Err(failure), Some(expected)) if class(failure.class) == expected => {}
        _ => return Err(format!("{output:?} instead of {expect}")),
    }
    let copies_messages = at(&rule, &["singleConditionType"]).as_text().is_some();
    let entry = without_times(&status.entry, copies_messages);
    let expected = without_times(&at(&expect, &["status"]), copies_messages);
    if !pack::equal(&entry, &expected) {
        return Err(format!("the entry {entry} instead of {expected}"));
    }
    let events = events(&status, &resource, object);
    let expected = at(&expect, &["events"]);
    let mut expected: Vec<&str> = expected
        .as_list()
        .unwrap_or_default()
        .iter()
        .filter_map(Value::as_text)
        .collect();
    let mut found: Vec<&str> = events.iter().map(String::as_str).collect();
    expected.sort_unstable();
    found.sort_unstable();
    match found == expected {
        true => Ok(()),
        false => Err(format!("the events {found:?} instead of {expected:?}")),
    }
}

fn plural(object: &Value) -> String {
    let text = |key: &str| object.get(key).and_then(Value::as_text).unwrap_or_default();
    let group = text("apiVersion")
        .split_once('/')
        .map_or("", |(group, _)| group);
    format!("{}s.{group}", text("kind").to_lowercase())
}

fn events(status: &ResourceStatus, resource: &Value, object: Option<&Value>) -> Vec<String> {
    let object = object.map(|object| {
        format!(
            "{}/{}",
            text(object, &["kind"]),
            text(object, &["metadata", "name"])
        )
    });
    let mut events = Vec::new();
    if status.outputs_changed {
        events.push(match &object {
            Some(object) => format!("ResourceOutputChanged ({object})"),
            None => format!(
                "ResourceOutputChanged: [{}] passed through a new output",
                text(resource, &["name"])
            ),
        });
    }
    if let Some(object) = object.filter(|_| status.health_changed) {
        events.push(format!("ResourceHealthyStatusChanged ({object})"));
    }
    events
}

fn text(value: &Value, path: &[&str]) -> String {
    at(value, path).as_text().unwrap_or_default().to_owned()
}

/// An entry without times, and without messages that are not copied from an object.
fn without_times(entry: &Value, copies_messages: bool) -> Value {
    let entries = entry
        .as_map()
        .into_iter()
        .flat_map(|entries| entries.iter());
    Value::map(entries.map(|(key, value)| {
        let value = match (key.as_ref(), value.as_list()) {
            ("conditions", Some(conditions)) => Value::list(conditions.iter().map(|condition| {
                let is_copied = copies_messages && text(condition, &["type"]) == "Healthy";
                without(
                    condition,
                    if is_copied {
                        &["lastTransitionTime"]
                    } else {
                        &["lastTransitionTime", "message"]
                    },
                )
            })),
            ("outputs", Some(outputs)) => Value::list(
                outputs
                    .iter()
                    .map(|output| without(output, &["lastTransitionTime"])),
            ),
            _ => value.clone(),
        };
        (key.clone(), value)
    }))
}

/// A map without some keys.
pub(crate) fn without(map: &Value, keys: &[&str]) -> Value {
    let entries = map.as_map().into_iter().flat_map(|entries| entries.iter());
    let entries = entries.filter(|(key, _)| !keys.contains(&key.as_ref()));
    Value::map(entries.map(|(key, value)| (Name::clone(key), value.clone())))
}
