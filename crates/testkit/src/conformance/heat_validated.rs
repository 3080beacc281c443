//! What Heat shows of a template that it only checks: its description, its parameters and their groups.

use blueprint::{Blueprint, Input, Name, Value};
use dialects::hot::parameters::{Kind, Rule, Schema};
use dialects::hot::version::Version;
use engine::Given;
use serde_json::{Map, Value as Json, json};

use super::heat_values::to_json;

/// What Heat answers, in the form of its API.
pub(super) fn answer(blueprint: &Blueprint, text: &str, given: &Given) -> Json {
    let template = dialects::hot::data(text).unwrap_or_default();
    let version = Version::of(&blueprint.version);
    let mut parameters = Map::new();
    for (name, input) in &blueprint.inputs {
        // What a child is handed unasked is no parameter.
        let written = template.get("parameters").and_then(|parameters| parameters.get(name));
        let Some(version) = version.filter(|_| written.is_some()) else { continue };
        let value = given.typed.get(name);
        parameters.extend(parameter(name, input, version, value).map(|shown| (name.to_string(), shown)));
    }
    let description = template.get("description").map_or_else(|| json!("No description"), to_json);
    let mut out = json!({"Description": description, "Parameters": parameters});
    if let Some(groups) = template.get("parameter_groups").filter(|groups| python::truth(groups)) {
        out["ParameterGroups"] = to_json(groups);
    }
    out
}

fn parameter(name: &Name, input: &Input, version: Version, given: Option<&Value>) -> Option<Json> {
    let schema = Schema::parse(name, &input.rules, version, &mut Vec::new())?;
    let kind = match schema.kind {
        Kind::Number => "Number",
        Kind::List => "CommaDelimitedList",
        Kind::Map => "Json",
        Kind::Boolean => "Boolean",
        _ => "String",
    };
    let mut shown = json!({
        "Type": kind,
        "Description": schema.description.as_deref().unwrap_or_default(),
        "NoEcho": if schema.hidden { "true" } else { "false" },
        "Label": schema.label.as_deref().filter(|label| !label.is_empty()).unwrap_or(name),
    });
    if let Some(default) = &input.default {
        shown["Default"] = to_json(&default.item.revealed());
    }
    if let Some(value) = given.filter(|value| python::truth(value)) {
        shown["Value"] = to_json(&value.revealed());
    }
    if !schema.tags.is_empty() {
        shown["Tags"] = schema.tags.iter().map(to_json).collect();
    }
    let mut described = Vec::new();
    for constraint in &schema.constraints {
        let mut put = |key: &str, value: &Option<Value>| {
            if let Some(value) = value {
                shown[key] = to_json(value);
            }
        };
        match &constraint.rule {
            Rule::Length(min, max) => {
                put("MinLength", min);
                put("MaxLength", max);
            }
            Rule::Range(min, max) => {
                put("MinValue", min);
                put("MaxValue", max);
            }
            Rule::Modulo(step, offset) => {
                put("Step", &Some(step.clone()));
                put("Offset", &Some(offset.clone()));
            }
            Rule::AllowedValues(allowed, _) => put("AllowedValues", &Some(Value::list(allowed.iter().cloned()))),
            Rule::AllowedPattern(pattern, _) => put("AllowedPattern", &Some(Value::text(pattern.clone()))),
            Rule::Custom(name, _) => put("CustomConstraint", &Some(Value::text(name.clone()))),
        }
        described.extend(constraint.description.as_deref());
    }
    if !described.is_empty() {
        shown["ConstraintDescription"] = json!(described.join(" "));
    }
    Some(shown)
}
