//! Computes the values of inputs from what the caller gives (decisions/blueprint#inputs,
//! decisions/blueprint#defaults-and-allowed-values).

use blueprint::{Blueprint, IndexMap, Input, Name, Type, Value};
use diag::{Diagnostic, Diagnostics};
use dialect::{CheckedBy, DialectRules};
use provider::{Catalogs, CustomType, TypeRef};

use super::options;
use crate::codes;
use understand::check::Checked;

/// The given input values. Later ones replace earlier ones.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Given {
    /// Typed values from JSON or YAML.
    pub typed: IndexMap<Name, Value>,
    /// Values from the command line or the environment: text, parsed by the declared type. They
    /// take precedence over typed values.
    pub text: IndexMap<Name, Name>,
}

/// Returns the value of each input, by position. Reports missing, invalid and undeclared inputs;
/// their value is null.
pub fn resolve_inputs(checked: &Checked, given: &Given, found: &mut Diagnostics) -> Vec<Value> {
    let blueprint = &checked.blueprint;
    let rules = &checked.rules;
    undeclared(blueprint, rules, given, found);
    let inputs = blueprint.inputs.iter().enumerate();
    let custom = |at: usize| checked.custom_types.get(at).and_then(Option::as_deref);
    let value = |(at, (name, input))| {
        value(rules, name, input, custom(at), given, found).unwrap_or_default()
    };
    inputs.map(value).collect()
}

/// Reports values for undeclared inputs.
fn undeclared(blueprint: &Blueprint, rules: &DialectRules, given: &Given, found: &mut Diagnostics) {
    let mut names: Vec<&Name> = given
        .typed
        .keys()
        .filter(|name| !blueprint.inputs.contains_key(*name))
        .collect();
    names.extend(
        given.text.keys().filter(|name| {
            !blueprint.inputs.contains_key(*name) && !given.typed.contains_key(*name)
        }),
    );
    for name in names {
        let mut undeclared = codes::UNDECLARED_VARIABLE
            .new(format!(
                "a value is given for `{name}`, which is not declared"
            ))
            .help_nearest(name, blueprint.inputs.keys().map(|name| name.as_ref()));
        undeclared.native_message = rules
            .messages
            .of(&dialect::Mistake::Undeclared(name))
            .map(Box::new);
        found.push(undeclared);
    }
}

/// The value of an input as its dialect computes it. `None` after an error, which is reported in
/// `found`.
fn value(
    rules: &DialectRules,
    name: &Name,
    input: &Input,
    custom: Option<&CustomType>,
    given: &Given,
    found: &mut Diagnostics,
) -> Option<Value> {
    let native = |given: Option<dialect::GivenValue<'_>>, found: &mut Diagnostics| match custom {
        Some(custom) => options::value_of(name, input, custom, given, found),
        None => value_of(name, input, given, found),
    };
    let text = given
        .text
        .get(name)
        .map(|text| dialect::GivenValue::Text(text));
    let given = text.or_else(|| given.typed.get(name).map(dialect::GivenValue::Typed));
    rules.inputs.value(name, input, given, &native, found)
}

/// Reports errors of the given inputs and of the defaults that apply. Reports missing inputs only
/// if `complete` is true: no more inputs will be given.
pub fn validate_inputs(checked: &Checked, given: &Given, complete: bool, found: &mut Diagnostics) {
    let mut wrong = Diagnostics::new();
    match checked.rules.checks.inputs {
        CheckedBy::Value => {
            resolve_inputs(checked, given, &mut wrong);
        }
        CheckedBy::Type => {
            undeclared(&checked.blueprint, &checked.rules, given, &mut wrong);
            // The check by types has already validated the defaults.
            for (at, (name, input)) in checked.blueprint.inputs.iter().enumerate() {
                let is_given = given.text.contains_key(name)
                    || given.typed.get(name).is_some_and(|value| !value.is_null());
                if is_given || input.default.is_none() {
                    let custom = checked.custom_types.get(at).and_then(Option::as_deref);
                    value(&checked.rules, name, input, custom, given, &mut wrong);
                }
            }
        }
    }
    let is_missing = |one: &Diagnostic| one.code.name == codes::MISSING_VARIABLE.name;
    wrong.retain(|one| complete || !is_missing(one));
    found.append(wrong);
}

/// The value of each input of a root, as far as it is known before all inputs are given.
///
/// Reports errors if the dialect checks inputs by value; otherwise [`validate_inputs`] reports
/// them.
pub fn inputs_known(
    blueprint: &Blueprint,
    rules: &DialectRules,
    given: &Given,
    catalogs: &Catalogs,
    found: &mut Diagnostics,
) -> Vec<Value> {
    let by_value = rules.checks.inputs == CheckedBy::Value;
    let mut mistakes = Diagnostics::new();
    let known = |(name, input): (&Name, &Input)| {
        let known = match input
            .custom_type
            .as_ref()
            .map(|custom| catalogs.variable_type(&custom.item))
        {
            Some(TypeRef::Known(custom)) => {
                value(rules, name, input, Some(&custom), given, &mut mistakes)
            }
            Some(_) => None,
            None => value(rules, name, input, None, given, &mut mistakes),
        };
        known.unwrap_or_else(|| Value::unknown(None, None).tainted(by_value && input.secret))
    };
    let values = blueprint.inputs.iter().map(known).collect();
    if by_value {
        found.append(mistakes);
    }
    values
}

/// How to write a value of the type of an input as text. A secret value is not hinted at.
fn form_of_text(text: &str, input: &Input) -> String {
    let word = text.trim().to_ascii_lowercase();
    let form = match &input.ty {
        Type::Bool => match word.as_str() {
            "yes" | "y" | "on" | "1" if !input.secret => "write `true`",
            "no" | "n" | "off" | "0" if !input.secret => "write `false`",
            _ => "write `true` or `false`",
        },
        Type::Int => "write digits, such as `3`",
        Type::Float => "write a number, such as `1.5`",
        Type::List(_) => "write a JSON array, such as `[\"a\", \"b\"]`",
        Type::Map(_) | Type::Object(_) => "write a JSON object, such as `{\"a\": 1}`",
        _ => "write it as JSON",
    };
    form.to_owned()
}

fn value_of(
    name: &Name,
    input: &Input,
    given: Option<dialect::GivenValue<'_>>,
    found: &mut Diagnostics,
) -> Option<Value> {
    let value = match given {
        Some(dialect::GivenValue::Text(text)) => match expr::parse_as(text, &input.ty) {
            Some(value) => value,
            None => {
                let shown = if input.secret {
                    String::new()
                } else {
                    format!(": `{text}`")
                };
                found.push(
                    dialect::codes::UNPARSABLE_VALUE
                        .new(format!(
                            "the value given for `{name}` is no {}{shown}",
                            input.ty
                        ))
                        .label(input.span, format!("declared as {}", input.ty))
                        .help(form_of_text(text, input)),
                );
                return None;
            }
        },
        Some(dialect::GivenValue::Typed(value)) if !value.is_null() => {
            match fit(value, &input.ty) {
                Some(value) => value,
                None => {
                    found.push(
                        expr::codes::TYPE_MISMATCH
                            .new(format!(
                                "`{name}` must be {}, found {}",
                                article(&input.ty),
                                value.kind_word()
                            ))
                            .label(input.span, format!("declared as {}", input.ty)),
                    );
                    return None;
                }
            }
        }
        _ => match &input.default {
            Some(default) => fit(&default.item, &input.ty).unwrap_or_else(|| default.item.clone()),
            None => {
                found.push(options::missing(name, input));
                return None;
            }
        },
    };
    if !input.allowed.is_empty()
        && !input
            .allowed
            .iter()
            .any(|allowed| same(&allowed.item, &value))
    {
        let options: Vec<String> = input
            .allowed
            .iter()
            .map(|allowed| allowed.item.to_string())
            .collect();
        found.push(
            dialect::codes::VALUE_NOT_ALLOWED
                .new(format!("the value of `{name}` is not among those allowed"))
                .label(input.span, format!("one of {}", options.join(", "))),
        );
        return None;
    }
    Some(value.tainted(input.secret))
}

fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Int(a), Value::Float(b)) | (Value::Float(b), Value::Int(a)) => *a as f64 == *b,
        (a, b) => a == b,
    }
}

/// Converts a typed input to the declared type. Only an integer for a float is converted.
fn fit(value: &Value, ty: &Type) -> Option<Value> {
    match (value.unmarked(), ty) {
        (Value::Int(number), Type::Float) => Some(Value::Float(*number as f64)),
        (bare, Type::Any) => Some(bare.clone()),
        (bare, ty) if Type::of(bare) == *ty => Some(bare.clone()),
        _ => None,
    }
}

fn article(ty: &Type) -> String {
    let word = ty.to_string();
    if word.starts_with(['a', 'i', 'o']) {
        format!("an {word}")
    } else {
        format!("a {word}")
    }
}
