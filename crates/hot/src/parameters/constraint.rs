//! Constraints on values in addition to their types (decisions/heat#parameters).

use std::collections::HashSet;

use blueprint::{Map, Name, Value};
use diag::Severity;
use pycompat::{EqualityKey, Flags, Pattern};

use super::codes::{
    CONSTRAINT_IGNORED, INVALID_CONSTRAINT, NOT_CHECKED_OFFLINE, UNKNOWN_CONSTRAINT,
};
use super::scalars::{as_number, boolean};
use super::{Custom, ParameterKind, kind_of};
use crate::refusal::ValueRefusal;
use crate::version::Version;
use dialect::codes::{NEWER_THAN_VERSION, VALUE_CONSTRAINT, VALUE_NOT_ALLOWED};

/// A rule for values, and optionally a message that replaces the default message.
#[derive(Clone, Debug)]
pub struct ParameterConstraint {
    /// The rule.
    pub rule: Rule,
    /// The message for a value that violates the rule.
    pub description: Option<String>,
}

/// A rule for values.
#[derive(Clone, Debug)]
pub enum Rule {
    /// The minimum and the maximum.
    Range(Option<Value>, Option<Value>),
    /// The minimum and the maximum number of characters, items or entries.
    Length(Option<Value>, Option<Value>),
    /// A step and an offset: the number modulo the step must be the offset.
    Modulo(Value, Value),
    /// The allowed values, in their written form and as keys for comparison.
    AllowedValues(Vec<Value>, HashSet<EqualityKey>),
    /// A pattern that must match the whole text.
    AllowedPattern(Name, Box<Pattern>),
    /// A rule by name.
    Custom(Name, Option<Custom>),
}

/// The kinds of constraints. If a constraint has several, the first in this order counts.
const KINDS: [&str; 6] = [
    "modulo",
    "range",
    "length",
    "allowed_values",
    "allowed_pattern",
    "custom_constraint",
];

/// A fault in the definition of a constraint.
fn invalid(message: impl Into<String>, heat: impl Into<String>) -> ValueRefusal {
    ValueRefusal::new(&INVALID_CONSTRAINT, message)
        .heat(heat)
        .class("InvalidSchemaError")
}

impl ParameterConstraint {
    /// Parses a constraint: a map with one kind and an optional `description`. Mistakes go to
    /// `found`.
    pub fn parse(
        value: &Value,
        version: Version,
        found: &mut Vec<ValueRefusal>,
    ) -> Option<ParameterConstraint> {
        let Some(entries) = value.as_map() else {
            let message = format!("a constraint must be a map, not {}", kind_of(value));
            found.push(invalid(
                message,
                "Invalid parameter constraints, expected a mapping",
            ));
            return None;
        };
        if let Some(key) = entries
            .keys()
            .find(|key| !KINDS.contains(&key.as_ref()) && key.as_ref() != "description")
        {
            let words = format!("Invalid key '{key}' for parameter constraints");
            let mut refusal = invalid(format!("there is no kind of constraint `{key}`"), words);
            if let Some(nearest) = diag::nearest(key, KINDS) {
                refusal = refusal.help(format!("did you mean `{nearest}`?"));
            }
            found.push(refusal.within(key.as_ref()));
            return None;
        }
        let has_modulo = version >= Version::V2017_02_24;
        let written: Vec<&str> = KINDS
            .into_iter()
            .filter(|kind| entries.contains_key(kind))
            .collect();
        let counts = written.iter().find(|kind| has_modulo || **kind != "modulo");
        if !has_modulo && written.first() == Some(&"modulo") {
            let severity = if counts.is_some() {
                Severity::Warning
            } else {
                Severity::Error
            };
            let mut refusal = ValueRefusal::new(
                &NEWER_THAN_VERSION,
                "the constraint `modulo` came with version 2017-02-24",
            )
            .graded(severity)
            .help("use `heat_template_version: 2017-02-24` or later")
            .within("modulo");
            if counts.is_none() {
                refusal = refusal
                    .class("InvalidSchemaError")
                    .heat("No constraint expressed");
            }
            found.push(refusal);
        }
        let Some(kind) = counts else {
            if written.is_empty() {
                let refusal = invalid("the constraint has no kind", "No constraint expressed");
                found.push(refusal.help(format!(
                    "add one of {}",
                    KINDS.map(|kind| format!("`{kind}`")).join(", ")
                )));
            }
            return None;
        };
        for other in written
            .iter()
            .filter(|other| *other != kind && (has_modulo || **other != "modulo"))
        {
            let message = format!("`{other}` is ignored, because the constraint also has `{kind}`");
            let refusal = ValueRefusal::new(&CONSTRAINT_IGNORED, message)
                .help("write it as a separate constraint");
            found.push(refusal.within(*other));
        }
        let definition = entries.get(kind)?;
        let description = entries
            .get("description")
            .filter(|words| pycompat::truth(words))
            .map(pycompat::text);
        match rule(kind, definition) {
            Ok(rule) => Some(ParameterConstraint { rule, description }),
            Err(refusal) => {
                found.push(refusal.within(*kind));
                None
            }
        }
    }

    /// Refuses the constraint for a kind of value to which it does not apply.
    pub fn fits(&self, kind: ParameterKind) -> Result<(), ValueRefusal> {
        let (name, key, fits) = match &self.rule {
            Rule::Range(..) => (
                "Range",
                "range",
                matches!(kind, ParameterKind::Number | ParameterKind::Integer),
            ),
            Rule::Modulo(..) => (
                "Modulo",
                "modulo",
                matches!(kind, ParameterKind::Number | ParameterKind::Integer),
            ),
            Rule::Length(..) => (
                "Length",
                "length",
                matches!(
                    kind,
                    ParameterKind::String | ParameterKind::List | ParameterKind::Map
                ),
            ),
            Rule::AllowedValues(..) => (
                "AllowedValues",
                "allowed_values",
                !matches!(kind, ParameterKind::Map | ParameterKind::Any),
            ),
            Rule::AllowedPattern(..) => (
                "AllowedPattern",
                "allowed_pattern",
                kind == ParameterKind::String,
            ),
            Rule::Custom(..) => (
                "CustomConstraint",
                "custom_constraint",
                !matches!(kind, ParameterKind::Map | ParameterKind::Any),
            ),
        };
        if fits {
            return Ok(());
        }
        let ty = kind.parameter_name();
        Err(invalid(
            format!("`{key}` is not for the type `{ty}`"),
            format!("{name} constraint invalid for {ty}"),
        )
        .within(key))
    }

    /// The name of a custom constraint that only the cloud can check.
    pub fn cloud_rule(&self) -> Option<&str> {
        match &self.rule {
            Rule::Custom(name, Some(Custom::CloudOnly)) => Some(name),
            _ => None,
        }
    }

    /// Whether this is a custom constraint.
    pub fn is_custom(&self) -> bool {
        matches!(self.rule, Rule::Custom(..))
    }

    /// Checks a value against the rule. Returns a note if only the cloud can check it.
    pub fn check(
        &self,
        kind: ParameterKind,
        value: &Value,
    ) -> Result<Option<ValueRefusal>, ValueRefusal> {
        let (broken, code, message) = match &self.rule {
            Rule::Range(min, max) => (
                out_of_range(value, min, max)?,
                &VALUE_CONSTRAINT,
                "the value is out of range",
            ),
            Rule::Length(min, max) => (
                wrong_length(kind, value, min, max)?,
                &VALUE_CONSTRAINT,
                "the length is out of range",
            ),
            Rule::Modulo(step, offset) => (
                wrong_rest(value, step, offset)?,
                &VALUE_CONSTRAINT,
                "the value is not a multiple of the step",
            ),
            Rule::AllowedValues(allowed, keys) => (
                not_allowed(kind, value, allowed, keys)?,
                &VALUE_NOT_ALLOWED,
                "the value is not an allowed one",
            ),
            Rule::AllowedPattern(written, pattern) => (
                no_match(value, written, pattern)?,
                &VALUE_CONSTRAINT,
                "the value does not match the pattern",
            ),
            Rule::Custom(name, None) => {
                let words = format!(
                    "\"{}\" does not validate {name} (constraint not found)",
                    pycompat::text(value)
                );
                (
                    Some(words),
                    &UNKNOWN_CONSTRAINT,
                    "the constraint is not known",
                )
            }
            Rule::Custom(name, Some(custom)) => match custom.check(value) {
                None => {
                    let message =
                        format!("whether the value is a {name} is only known to the cloud");
                    return Ok(Some(ValueRefusal::new(&NOT_CHECKED_OFFLINE, message)));
                }
                Some(result) => (
                    result.err(),
                    &VALUE_CONSTRAINT,
                    "the value breaks its constraint",
                ),
            },
        };
        match broken {
            None => Ok(None),
            Some(words) => {
                // Heat's message contains the value and the limits; a description contains neither.
                let message = match &self.description {
                    Some(description) => format!("{message}: {description}"),
                    None => words.clone(),
                };
                Err(ValueRefusal::new(code, message)
                    .heat(self.description.clone().unwrap_or(words)))
            }
        }
    }
}

/// Parses the definition of a constraint of a kind.
fn rule(kind: &str, definition: &Value) -> Result<Rule, ValueRefusal> {
    match kind {
        "range" | "length" => {
            let entries = required_map(definition, kind, ["min", "max"])?;
            let (min, max) = (number(entries, "min")?, number(entries, "max")?);
            if min.is_none() && max.is_none() {
                let words = format!(
                    "A {kind} constraint must have a min value and/or a max value specified."
                );
                return Err(invalid(format!("`{kind}` needs `min` or `max`"), words));
            }
            if kind == "range" {
                return Ok(Rule::Range(min, max));
            }
            for (key, limit) in [("min", &min), ("max", &max)] {
                if limit
                    .as_ref()
                    .is_some_and(|limit| matches!(limit, Value::Float(_)))
                {
                    let refusal = invalid(
                        "the limits of a length are integers",
                        "min/max length must be integral",
                    );
                    return Err(refusal.within(key));
                }
            }
            Ok(Rule::Length(min, max))
        }
        "modulo" => modulo(required_map(definition, kind, ["step", "offset"])?),
        "allowed_values" => match definition.unmarked() {
            Value::List(allowed) => Ok(Rule::AllowedValues(
                allowed.to_vec(),
                allowed.iter().map(EqualityKey::of).collect(),
            )),
            other => Err(invalid(
                format!("`allowed_values` is a list, not {}", kind_of(other)),
                "AllowedValues must be a list",
            )),
        },
        "allowed_pattern" => match definition.unmarked() {
            Value::Text(text) => match Pattern::new(text, Flags::default()) {
                Ok(pattern) => Ok(Rule::AllowedPattern(text.clone(), pattern.into())),
                Err(error) => {
                    let message = format!("the pattern is no regular expression: {error}");
                    Err(ValueRefusal::new(&INVALID_CONSTRAINT, message)
                        .heat(error.to_string())
                        .class("error"))
                }
            },
            other => {
                let message = format!("`allowed_pattern` is text, not {}", kind_of(other));
                Err(invalid(message, "AllowedPattern must be a string"))
            }
        },
        _ => {
            let name = Name::from(pycompat::text(definition));
            let custom = Custom::of(&name);
            Ok(Rule::Custom(name, custom))
        }
    }
}

/// The entries of a definition. Refuses other keys.
fn required_map<'a>(
    definition: &'a Value,
    kind: &str,
    keys: [&str; 2],
) -> Result<&'a Map, ValueRefusal> {
    let Some(entries) = definition.as_map() else {
        let words = format!("Invalid {kind} constraint, expected a mapping");
        return Err(invalid(
            format!("`{kind}` is a map, not {}", kind_of(definition)),
            words,
        ));
    };
    match entries.keys().find(|key| !keys.contains(&key.as_ref())) {
        None => Ok(entries),
        Some(key) => {
            let words = format!("Invalid key '{key}' for {kind} constraint");
            let refusal = invalid(format!("`{kind}` has no key `{key}`"), words);
            Err(refusal
                .help(format!("use `{}` and `{}`", keys[0], keys[1]))
                .within(key.as_ref()))
        }
    }
}

/// A number in a definition, which may be written as text.
fn number(entries: &Map, key: &str) -> Result<Option<Value>, ValueRefusal> {
    let Some(value) = entries.get(key).filter(|value| !value.is_null()) else {
        return Ok(None);
    };
    as_number(value).map(Some).map_err(|words| {
        let refusal = ValueRefusal::new(
            &INVALID_CONSTRAINT,
            format!("`{key}` must be a number, not {}", kind_of(value)),
        );
        refusal.heat(words).class("ValueError").within(key)
    })
}

fn modulo(entries: &Map) -> Result<Rule, ValueRefusal> {
    let (step, offset) = (number(entries, "step")?, number(entries, "offset")?);
    let (Some(step), Some(offset)) = (step, offset) else {
        let words = "A modulo constraint must have a step value and an offset value specified.";
        return Err(invalid("`modulo` needs `step` and `offset`", words));
    };
    let integral = |key: &str, value: &Value| {
        let exact = pycompat::integer(value)
            .ok()
            .filter(|exact| pycompat::equal(exact, value));
        exact
            .and_then(|exact| pycompat::exact(&exact))
            .ok_or_else(|| {
                invalid(
                    format!("`{key}` must be an integer"),
                    "step/offset must be integer",
                )
                .within(key)
            })
    };
    let (whole_step, whole_offset) = (integral("step", &step)?, integral("offset", &offset)?);
    let zero = pycompat::BigInt::from(0);
    if whole_step == zero {
        return Err(invalid("`step` cannot be 0", "step cannot be 0.").within("step"));
    }
    if whole_offset.magnitude() >= whole_step.magnitude() {
        let words = "offset must be smaller (by absolute value) than step.";
        return Err(
            invalid("`offset` must be less than `step`, signs aside", words).within("offset"),
        );
    }
    if (whole_step * whole_offset) < zero {
        let words = "step and offset must be both positive or both negative.";
        return Err(invalid("`step` and `offset` must have the same sign", words).within("offset"));
    }
    Ok(Rule::Modulo(step, offset))
}

fn outside(number: &Value, min: &Option<Value>, max: &Option<Value>) -> bool {
    use std::cmp::Ordering::{Greater, Less};
    let is = |limit: &Option<Value>, order| {
        limit
            .as_ref()
            .is_some_and(|limit| pycompat::compare(number, limit) == Some(order))
    };
    is(min, Less) || is(max, Greater)
}

/// A limit in Python's notation.
fn shown(limit: &Option<Value>) -> String {
    limit
        .as_ref()
        .map_or_else(|| "None".to_owned(), pycompat::text)
}

/// Converts a value to a number. Refuses other values.
fn numeric(value: &Value) -> Result<Value, ValueRefusal> {
    as_number(value).map_err(|words| {
        ValueRefusal::new(
            &VALUE_CONSTRAINT,
            format!("{} is no number", kind_of(value)),
        )
        .heat(words)
    })
}

fn out_of_range(
    value: &Value,
    min: &Option<Value>,
    max: &Option<Value>,
) -> Result<Option<String>, ValueRefusal> {
    let text = pycompat::text(value);
    let words = || {
        format!(
            "{text} is out of range (min: {}, max: {})",
            shown(min),
            shown(max)
        )
    };
    Ok(outside(&numeric(value)?, min, max).then(words))
}

fn wrong_length(
    kind: ParameterKind,
    value: &Value,
    min: &Option<Value>,
    max: &Option<Value>,
) -> Result<Option<String>, ValueRefusal> {
    let length = match value.unmarked() {
        Value::Text(text) => text.chars().count(),
        Value::List(items) => items.len(),
        Value::Map(entries) => entries.len(),
        other if kind == ParameterKind::String => pycompat::text(other).chars().count(),
        other => {
            let words = format!(
                "object of type '{}' has no len()",
                pycompat::type_name(other)
            );
            return Err(ValueRefusal::new(
                &VALUE_CONSTRAINT,
                format!("{} has no length", kind_of(other)),
            )
            .heat(words));
        }
    };
    let words = || {
        format!(
            "length ({length}) is out of range (min: {}, max: {})",
            shown(min),
            shown(max)
        )
    };
    Ok(outside(&Value::Int(length as i64), min, max).then(words))
}

fn wrong_rest(value: &Value, step: &Value, offset: &Value) -> Result<Option<String>, ValueRefusal> {
    let rest = pycompat::modulo(&numeric(value)?, step);
    let words = || {
        let (value, step, offset) = (
            pycompat::text(value),
            pycompat::text(step),
            pycompat::text(offset),
        );
        format!("{value} is not a multiple of {step} with an offset of {offset}")
    };
    Ok((!rest.is_some_and(|rest| pycompat::equal(&rest, offset))).then(words))
}

fn not_allowed(
    kind: ParameterKind,
    value: &Value,
    allowed: &[Value],
    keys: &HashSet<EqualityKey>,
) -> Result<Option<String>, ValueRefusal> {
    let found = match value.unmarked() {
        Value::List(items) => items
            .iter()
            .all(|item| keys.contains(&EqualityKey::of(item))),
        _ => {
            let wanted = typed(kind, value)?;
            let mut found = false;
            for one in allowed {
                found |= pycompat::equal(&typed(kind, one)?, &wanted);
            }
            found
        }
    };
    let words = || {
        let allowed: Vec<String> = allowed.iter().map(pycompat::json_in_order).collect();
        format!(
            "{} is not an allowed value [{}]",
            pycompat::json_in_order(value),
            allowed.join(", ")
        )
    };
    Ok((!found).then(words))
}

/// Converts a value to its type.
fn typed(kind: ParameterKind, value: &Value) -> Result<Value, ValueRefusal> {
    let refused = |_| {
        let words = format!(
            "Value \"{}\" is invalid for data type \"{}\".",
            pycompat::text(value),
            kind.parameter_name()
        );
        ValueRefusal::new(
            &VALUE_NOT_ALLOWED,
            format!(
                "{} is not of the type {}",
                kind_of(value),
                kind.parameter_name()
            ),
        )
        .heat(words)
    };
    match kind {
        ParameterKind::Number => as_number(value).map_err(refused),
        ParameterKind::Integer => match as_number(value) {
            Ok(Value::Float(_)) => Err(refused(String::new())),
            other => other.map_err(refused),
        },
        ParameterKind::String => Ok(Value::from(pycompat::text(value))),
        ParameterKind::Boolean => boolean(value).map(Value::Bool).map_err(refused),
        ParameterKind::List | ParameterKind::Map | ParameterKind::Any => Ok(value.clone()),
    }
}

fn no_match(
    value: &Value,
    written: &str,
    pattern: &Pattern,
) -> Result<Option<String>, ValueRefusal> {
    let text = pycompat::text(value);
    match pattern.covers(&text) {
        Ok(true) => Ok(None),
        Ok(false) => Ok(Some(format!(
            "\"{text}\" does not match pattern \"{written}\""
        ))),
        Err(error) => Err(ValueRefusal::new(&VALUE_CONSTRAINT, error.to_string())),
    }
}
