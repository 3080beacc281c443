//! Heat's answer to the validation of a template: description, parameters and parameter groups.

use blueprint::{Blueprint, Input, Name, Value};
use engine::Given;
use serde_json::{Map, Value as Json, json};

use super::heat_values::to_json;

/// The kinds of constraints, in the order of precedence.
const KINDS: [&str; 6] = [
    "modulo",
    "range",
    "length",
    "allowed_values",
    "allowed_pattern",
    "custom_constraint",
];

/// The answer in the form of Heat's API.
pub(super) fn answer(blueprint: &Blueprint, text: &str, given: &Given) -> Json {
    let template = crate::dialects()
        .get(blueprint.dialect)
        .and_then(|it| it.data(text))
        .unwrap_or_default();
    let mut parameters = Map::new();
    for (name, input) in &blueprint.inputs {
        // Inputs that Heat passes to every child are no parameters.
        let written = template
            .get("parameters")
            .and_then(|parameters| parameters.get(name));
        if written.is_some() {
            parameters.insert(
                name.to_string(),
                parameter(name, input, given.typed.get(name)),
            );
        }
    }
    let description = template
        .get("description")
        .map_or_else(|| json!("No description"), to_json);
    let mut out = json!({"Description": description, "Parameters": parameters});
    if let Some(groups) = template
        .get("parameter_groups")
        .filter(|groups| pycompat::truth(groups))
    {
        out["ParameterGroups"] = to_json(groups);
    }
    out
}

fn parameter(name: &Name, input: &Input, given: Option<&Value>) -> Json {
    let rules = &input.rules;
    let kind = match rules.get("type").and_then(Value::as_text) {
        Some("number") => "Number",
        Some("comma_delimited_list") => "CommaDelimitedList",
        Some("json") => "Json",
        Some("boolean") => "Boolean",
        _ => "String",
    };
    let rule_value = |key: &str| {
        rules
            .get(key)
            .filter(|value| pycompat::truth(value))
            .map(to_json)
    };
    let mut shown = json!({
        "Type": kind,
        "Description": rule_value("description").unwrap_or_else(|| json!("")),
        "NoEcho": if rule_value("hidden").is_some() { "true" } else { "false" },
        "Label": rule_value("label").unwrap_or_else(|| json!(name.as_ref())),
    });
    if let Some(default) = &input.default {
        shown["Default"] = to_json(&default.item.revealed());
    }
    if let Some(value) = given.filter(|value| pycompat::truth(value)) {
        shown["Value"] = to_json(&value.revealed());
    }
    if let Some(tags) = rule_value("tags") {
        shown["Tags"] = tags;
    }
    let mut described = Vec::new();
    for constraint in rules
        .get("constraints")
        .and_then(Value::as_list)
        .unwrap_or_default()
    {
        let Some((kind, rule)) = KINDS
            .iter()
            .find_map(|kind| Some((*kind, constraint.get(kind)?)))
        else {
            continue;
        };
        let mut limits = |keys: [(&str, &str); 2]| {
            for (key, in_answer) in keys {
                if let Some(value) = rule.get(key).filter(|value| !value.is_null()) {
                    shown[in_answer] = to_json(&number(value));
                }
            }
        };
        match kind {
            "modulo" => limits([("step", "Step"), ("offset", "Offset")]),
            "range" => limits([("min", "MinValue"), ("max", "MaxValue")]),
            "length" => limits([("min", "MinLength"), ("max", "MaxLength")]),
            "allowed_values" => shown["AllowedValues"] = to_json(rule),
            "allowed_pattern" => shown["AllowedPattern"] = to_json(rule),
            _ => shown["CustomConstraint"] = to_json(rule),
        }
        let words = constraint
            .get("description")
            .filter(|words| pycompat::truth(words));
        described.extend(words.map(pycompat::text));
    }
    if !described.is_empty() {
        shown["ConstraintDescription"] = json!(described.join(" "));
    }
    shown
}

/// A limit as a number.
fn number(value: &Value) -> Value {
    let Some(text) = value.as_text() else {
        return value.clone();
    };
    let whole = pycompat::integer_of_text(text);
    whole
        .or_else(|| pycompat::float(value).ok().map(Value::Float))
        .unwrap_or_else(|| value.clone())
}
