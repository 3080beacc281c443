//! From what was given to the values of the inputs (rulings S51, S52).

use blueprint::{Blueprint, IndexMap, Input, Name, Type, Value};
use diag::{Diagnostic, Diagnostics};
use dialects::Conventions;
use provider::{Catalogs, TypeRef};

use super::options;
use crate::codes;
use understand::check::Checked;

/// Values for inputs as they were given, later ones in place of earlier ones.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Given {
    /// From JSON or YAML: typed.
    pub typed: IndexMap<Name, Value>,
    /// From the command line or the environment: text, parsed by the declared type. In place of a typed one.
    pub text: IndexMap<Name, Name>,
}

/// The value of each input, by position. What is missing, wrong or not declared goes to `found`; its value is then null.
pub fn resolve_inputs(checked: &Checked, given: &Given, found: &mut Diagnostics) -> Vec<Value> {
    let blueprint = &checked.blueprint;
    undeclared(blueprint, given, found);
    if let Some(conventions) = dialects::conventions(blueprint.dialect) {
        return by_conventions(blueprint, conventions, given, found)
            .map(|(value, _)| value.unwrap_or_default())
            .collect();
    }
    let inputs = blueprint.inputs.iter().enumerate();
    inputs.map(|(at, (name, input))| natively(checked, at, name, input, given, found).unwrap_or_default()).collect()
}

/// Says which of the given values nobody has declared.
fn undeclared(blueprint: &Blueprint, given: &Given, found: &mut Diagnostics) {
    let mut names: Vec<&Name> = given.typed.keys().filter(|name| !blueprint.inputs.contains_key(*name)).collect();
    names.extend(
        given.text.keys().filter(|name| !blueprint.inputs.contains_key(*name) && !given.typed.contains_key(*name)),
    );
    for name in names {
        let mut undeclared = codes::UNDECLARED_VARIABLE
            .new(format!("a value is given for `{name}`, which is not declared"))
            .help_nearest(name, blueprint.inputs.keys().map(|name| name.as_ref()));
        let conventions = dialects::conventions(blueprint.dialect);
        undeclared.words = conventions.and_then(|it| it.words(&dialects::Mistake::Undeclared(name))).map(Box::new);
        found.push(undeclared);
    }
}

fn natively(
    checked: &Checked,
    at: usize,
    name: &Name,
    input: &Input,
    given: &Given,
    found: &mut Diagnostics,
) -> Option<Value> {
    match checked.custom_types.get(at).and_then(Option::as_ref) {
        Some(custom) => options::value_of(name, input, custom, given, found),
        None => value_of(name, input, given, found),
    }
}

/// Says what is wrong with what is given for the inputs, and with defaults that count; that one is missing only where
/// `complete` says that nothing more will be given.
pub fn judge_inputs(checked: &Checked, given: &Given, complete: bool, found: &mut Diagnostics) {
    let blueprint = &checked.blueprint;
    let mut wrong = Diagnostics::new();
    if dialects::conventions(blueprint.dialect).is_some() {
        resolve_inputs(checked, given, &mut wrong);
    } else {
        undeclared(blueprint, given, &mut wrong);
        // The native check judges defaults.
        for (at, (name, input)) in blueprint.inputs.iter().enumerate() {
            let is_given = given.text.contains_key(name) || given.typed.get(name).is_some_and(|value| !value.is_null());
            if is_given || input.default.is_none() {
                natively(checked, at, name, input, given, &mut wrong);
            }
        }
    }
    let is_missing = |one: &Diagnostic| one.code.name == codes::MISSING_VARIABLE.name;
    wrong.retain(|one| complete || !is_missing(one));
    found.append(wrong);
}

/// The value of each input of a root as far as it is known before everything is given; what is wrong is said later.
///
/// Where the dialect has conventions of its own, what is wrong goes to `found`.
pub fn inputs_known(blueprint: &Blueprint, given: &Given, catalogs: &Catalogs, found: &mut Diagnostics) -> Vec<Value> {
    if let Some(conventions) = dialects::conventions(blueprint.dialect) {
        return by_conventions(blueprint, conventions, given, found)
            .map(|(value, input)| value.unwrap_or_else(|| Value::unknown(None, None).tainted(input.secret)))
            .collect();
    }
    let known = |(name, input): (&Name, &Input)| {
        let mut ignored = Diagnostics::new();
        let value = match input.custom_type.as_ref().map(|custom| catalogs.variable_type(&custom.item)) {
            Some(TypeRef::Known(custom)) => options::value_of(name, input, &custom, given, &mut ignored),
            Some(_) => None,
            None => value_of(name, input, given, &mut ignored),
        };
        value.unwrap_or_else(|| Value::unknown(None, None))
    };
    blueprint.inputs.iter().map(known).collect()
}

/// The value of each input as its dialect makes it; none for one in error, which goes to `found`.
fn by_conventions<'b>(
    blueprint: &'b Blueprint,
    conventions: &'static dyn Conventions,
    given: &'b Given,
    found: &'b mut Diagnostics,
) -> impl Iterator<Item = (Option<Value>, &'b Input)> {
    blueprint.inputs.iter().map(move |(name, input)| {
        let text = given.text.get(name).map(|text| dialects::Given::Text(text));
        let given = text.or_else(|| given.typed.get(name).map(dialects::Given::Typed));
        (conventions.input(name, input, given, found), input)
    })
}

fn value_of(name: &Name, input: &Input, given: &Given, found: &mut Diagnostics) -> Option<Value> {
    let value = if let Some(text) = given.text.get(name) {
        match expr::parse_as(text, &input.ty) {
            Some(value) => value,
            None => {
                let shown = if input.secret { String::new() } else { format!(": `{text}`") };
                found.push(
                    dialects::codes::UNPARSABLE_VALUE
                        .new(format!("the value given for `{name}` is no {}{shown}", input.ty))
                        .label(input.span, format!("declared as {}", input.ty)),
                );
                return None;
            }
        }
    } else if let Some(value) = given.typed.get(name).filter(|value| !value.is_null()) {
        match fit(value, &input.ty) {
            Some(value) => value,
            None => {
                found.push(
                    expr::codes::TYPE_MISMATCH
                        .new(format!("`{name}` must be {}, found {}", article(&input.ty), value.kind_word()))
                        .label(input.span, format!("declared as {}", input.ty)),
                );
                return None;
            }
        }
    } else if let Some(default) = &input.default {
        fit(&default.item, &input.ty).unwrap_or_else(|| default.item.clone())
    } else {
        found.push(missing(name, input));
        return None;
    };
    if !input.allowed.is_empty() && !input.allowed.iter().any(|allowed| same(&allowed.item, &value)) {
        let options: Vec<String> = input.allowed.iter().map(|allowed| allowed.item.to_string()).collect();
        found.push(
            dialects::codes::VALUE_NOT_ALLOWED
                .new(format!("the value of `{name}` is not among those allowed"))
                .label(input.span, format!("one of {}", options.join(", "))),
        );
        return None;
    }
    Some(value.tainted(input.secret))
}

/// The diagnostic for an input that has no value.
pub fn missing(name: &Name, input: &Input) -> Diagnostic {
    codes::MISSING_VARIABLE
        .new(format!("no value is given for `{name}`"))
        .label(input.span, "has no default")
        .help(format!("give one with `--var {name}=..`, in a file with `--vars`, or as `CYAN_VAR_{name}`"))
}

fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Int(a), Value::Float(b)) | (Value::Float(b), Value::Int(a)) => *a as f64 == *b,
        (a, b) => a == b,
    }
}

/// A typed input as one of the declared type: an integer is a float where one is declared, nothing else changes kind.
fn fit(value: &Value, ty: &Type) -> Option<Value> {
    match (value.bare(), ty) {
        (Value::Int(number), Type::Float) => Some(Value::Float(*number as f64)),
        (bare, Type::Any) => Some(bare.clone()),
        (bare, ty) if Type::of(bare) == *ty => Some(bare.clone()),
        _ => None,
    }
}

fn article(ty: &Type) -> String {
    let word = ty.to_string();
    if word.starts_with(['a', 'i', 'o']) { format!("an {word}") } else { format!("a {word}") }
}
