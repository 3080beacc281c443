//! Converts a given value to the value that functions see (decisions/heat#parameters), and values
//! that a parent passes to a child.

use blueprint::Value;

use super::codes::INVALID_DEFAULT;
use super::scalars::{as_number, boolean};
use super::{HotParameterSchema, ParameterKind, kind_of, property};
use crate::refusal::ValueRefusal;
use dialect::codes::{IMMUTABLE_CHANGED, MISSING_VARIABLE, UNPARSABLE_VALUE};

/// The origin of a value.
#[derive(Clone, Copy, PartialEq)]
enum ConvertedValueOrigin {
    Given,
    /// The schema's own default.
    Default,
}

impl HotParameterSchema {
    /// The value of a parameter for functions: the given value unless it is null, otherwise the one
    /// from `parameter_defaults`, otherwise the default. Violated rules go to `found`, and notes on
    /// rules that cannot be checked here. `None` if there is no valid value.
    pub fn value(
        &self,
        name: &str,
        given: Option<&Value>,
        default: Option<&Value>,
        found: &mut Vec<ValueRefusal>,
    ) -> Option<Value> {
        let there = |value: &&Value| !value.is_null();
        let value = match given.filter(there).or(default.filter(there)) {
            Some(value) => (value, ConvertedValueOrigin::Given),
            None => match &self.default {
                Some(value) => (value, ConvertedValueOrigin::Default),
                None => {
                    let words = format!("The Parameter ({name}) was not provided.");
                    let refusal = ValueRefusal::new(
                        &MISSING_VARIABLE,
                        format!("no value is given for `{name}`"),
                    );
                    found.push(refusal.heat(words).class("UserParameterMissing"));
                    return None;
                }
            },
        };
        let (value, from) = value;
        if from == ConvertedValueOrigin::Given {
            self.unused_default(found);
        }
        self.accept(
            value,
            &|words| format!("Parameter '{name}' is invalid: {words}"),
            from,
            found,
        )
    }

    /// Warns about an unused default that does not fit the type. Heat does not report it.
    pub fn unused_default(&self, found: &mut Vec<ValueRefusal>) {
        let Some(default) = &self.default else { return };
        if let Err(refusal) = self.convert(default)
            && self.default_fits_constraints()
        {
            let message = match self.hidden {
                true => "the default of a hidden parameter does not fit".to_owned(),
                false => format!("the default cannot be used: {}", refusal.message),
            };
            let warning =
                ValueRefusal::new(&INVALID_DEFAULT, message).graded(diag::Severity::Warning);
            found
                .push(warning.help("correct it, or remove it: it applies where no value is given"));
        }
    }

    /// Converts a value and checks it against the constraints.
    fn accept(
        &self,
        value: &Value,
        words: &dyn Fn(&str) -> String,
        from: ConvertedValueOrigin,
        found: &mut Vec<ValueRefusal>,
    ) -> Option<Value> {
        let (bare, secret) = value.split_secret();
        let hidden = secret || self.hidden || bare.has_secret();
        let revealed = bare.revealed();
        let adapted = |mut refusal: ValueRefusal| {
            refusal.heat = refusal.heat.map(|heat| words(&heat));
            if from == ConvertedValueOrigin::Default && refusal.severity == diag::Severity::Error {
                refusal.code = &INVALID_DEFAULT;
            }
            if hidden && refusal.severity == diag::Severity::Error {
                // Heat's message and our message may show the value.
                refusal.heat = None;
                refusal.message = "the value of a hidden parameter does not fit".to_owned();
            }
            refusal
        };
        // A schema's own default that violates constraints was reported with the schema.
        let is_reported = |custom: bool| {
            from == ConvertedValueOrigin::Default && !custom && !self.default_fits_constraints()
        };
        let (checked, seen) = match self.convert(&revealed) {
            Ok(converted) => converted,
            Err(refusal) => {
                if from == ConvertedValueOrigin::Given || self.default_fits_constraints() {
                    found.push(adapted(refusal));
                }
                return None;
            }
        };
        let mut broken = false;
        if !checked.has_unknown() {
            for constraint in &self.constraints {
                match constraint.check(self.kind, &checked) {
                    Ok(note) => found.extend(note.map(adapted)),
                    Err(refusal) => {
                        if !is_reported(constraint.is_custom()) {
                            found.push(adapted(refusal));
                        }
                        broken = true;
                    }
                }
            }
        }
        (!broken).then(|| seen.tainted(hidden))
    }

    /// Converts a value. Returns the value for constraints, and the value for functions.
    fn convert(&self, value: &Value) -> Result<(Value, Value), ValueRefusal> {
        if let Value::Unknown(_) = value {
            return Ok((value.clone(), value.clone()));
        }
        let refused = |message: String, words: String| {
            ValueRefusal::new(&UNPARSABLE_VALUE, message).heat(words)
        };
        match self.kind {
            ParameterKind::String | ParameterKind::Any if value.has_unknown() => {
                let unknown = value.as_unknown();
                Ok((unknown.clone(), unknown))
            }
            ParameterKind::String => Ok((value.clone(), Value::from(pycompat::text(value)))),
            ParameterKind::Any => Ok((value.clone(), value.clone())),
            ParameterKind::Number | ParameterKind::Integer => {
                let number = as_number(value).map_err(|words| {
                    refused(
                        format!("a number is needed, not {}", kind_or_text(value)),
                        words,
                    )
                })?;
                Ok((value.clone(), number))
            }
            ParameterKind::Boolean => {
                let boolean = boolean(value).map_err(|words| {
                    refused(
                        format!("a boolean is needed, not {}", kind_or_text(value)),
                        words,
                    )
                })?;
                Ok((value.clone(), Value::Bool(boolean)))
            }
            ParameterKind::List => {
                let list = list(value).map_err(|words| {
                    refused(
                        format!("a comma-delimited list is needed, not {}", kind_of(value)),
                        words,
                    )
                })?;
                Ok((list.clone(), list))
            }
            ParameterKind::Map => {
                let parsed = match value {
                    Value::Text(text) if text.is_empty() => value.clone(),
                    Value::Text(text) => pycompat::parse_json(text).map_err(|error| {
                        let words = format!("Value must be valid JSON: {error}");
                        refused(format!("the text is no JSON: {error}"), words)
                    })?,
                    other => other.clone(),
                };
                Ok((parsed.clone(), parsed))
            }
        }
    }
}

/// A short text in backticks, or the kind of the value.
fn kind_or_text(value: &Value) -> String {
    match value {
        Value::Text(text) if text.chars().count() <= 40 => format!("`{text}`"),
        other => kind_of(other).to_owned(),
    }
}

/// The texts of a list, or the parts of a text between commas. The error is Heat's message.
fn list(value: &Value) -> Result<Value, String> {
    match value {
        Value::List(items) => Ok(Value::list(items.iter().map(|item| {
            if item.has_unknown() {
                item.as_unknown()
            } else {
                Value::from(pycompat::text(item))
            }
        }))),
        Value::Text(text) if text.is_empty() => Ok(Value::list([])),
        Value::Text(text) => Ok(Value::list(text.split(',').map(Value::from))),
        other => Err(format!(
            "Value must be a comma-delimited list string: '{}' object has no attribute 'split'",
            pycompat::type_name(other)
        )),
    }
}

/// The value of a child's parameter for a property that its parent passes: converted as a property
/// first, then as the parameter. An explicit null is the kind's empty value, not the child's
/// default.
pub fn child_parameter_value(
    schema: &HotParameterSchema,
    value: &Value,
    found: &mut Vec<ValueRefusal>,
) -> Option<Value> {
    let (bare, secret) = value.split_secret();
    if let Value::Unknown(_) = bare {
        return Some(value.clone());
    }
    let bare = bare.revealed();
    let secret = secret || value.has_secret();
    let coerced = match (schema.kind, &bare) {
        (ParameterKind::List, Value::Text(_))
        | (ParameterKind::Map, Value::Text(_) | Value::List(_)) => Ok(bare),
        (kind, _) => property(kind, &bare, None),
    };
    let given = match coerced {
        Ok(Value::List(items)) if schema.kind == ParameterKind::List => flattened(&items),
        Ok(value) => value,
        Err(refusal) => {
            found.push(refusal);
            return None;
        }
    };
    schema.accept(
        &given.tainted(secret),
        &str::to_owned,
        ConvertedValueOrigin::Given,
        found,
    )
}

/// A list as the text of a comma-delimited list; a list with unknown items stays a list.
fn flattened(items: &[Value]) -> Value {
    if items.iter().any(Value::has_unknown) {
        return Value::list(items.iter().cloned());
    }
    let mut parts = Vec::with_capacity(items.len());
    for (at, item) in items.iter().enumerate() {
        match item {
            Value::Map(entries) => {
                parts.extend(
                    entries.iter().map(|(key, value)| {
                        format!(".member.{at}.{key}={}", pycompat::text(value))
                    }),
                );
            }
            Value::Null => parts.push(String::new()),
            other => parts.push(pycompat::text(other)),
        }
    }
    Value::from(parts.join(","))
}

/// Refuses a changed value of an immutable parameter.
pub fn check_immutable(
    schema: &HotParameterSchema,
    name: &str,
    old: &Value,
    new: &Value,
) -> Result<(), ValueRefusal> {
    if !schema.immutable || pycompat::equal(old, new) {
        return Ok(());
    }
    let words = format!("The following parameters are immutable and may not be updated: {name}");
    Err(ValueRefusal::new(
        &IMMUTABLE_CHANGED,
        format!("the parameter `{name}` may not change"),
    )
    .heat(words)
    .class("ImmutableParameterModified"))
}
