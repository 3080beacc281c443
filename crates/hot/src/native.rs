//! The functions of the dialect, for the evaluator.
//!
//! Names in parentheses are internal functions: only the lowering creates calls of them.

use std::sync::Arc;

use blueprint::{Map, Name, Value};
use diag::NativeMessage;
use expr::codes::ARGUMENT_TYPE;
use expr::{FunctionDef, FunctionTable, Native, Refusal, ValueStep};

use super::codes::UNKNOWN_CONDITION;
use super::expressions::{AND, NAMED, OR, REFUSE, REFUSE_READ, STACK_ID};
use super::functions::{HotFunction, PartialArgument, functions, paths, repeat};
use super::naming::{identifier, stack_name};
use super::refusal_expressions::refusal_from_arguments;
use super::settings::yaql_limits;
use super::version::Version;
use super::yaql::Yaql;
use dialect::DialectSettings;
use dialect::codes::{INVALID_CONDITION, UNKNOWN_VARIABLE};

/// Adds the functions of the dialect to the table of all functions.
pub(super) fn insert_functions(table: &mut FunctionTable, settings: &DialectSettings) {
    let mut own = FunctionTable::new().keeping_null();
    // Functions that need the world are those of the native dialect.
    for name in ["file", "uuid", "datetime", blueprint::INVOKE] {
        if let Some(asks) = table.get(name) {
            let _ = own.insert(asks.clone());
        }
    }
    let yaql = "An expression in the language yaql, over data: `{expression, data}`.";
    let _ = own.insert(FunctionDef::of_native(
        "yaql",
        yaql,
        Arc::new(Yaql::new(yaql_limits(settings))),
    ));
    for (name, run) in INTERNAL {
        let native = Arc::new(Internal { name, run: *run });
        let _ = own.insert(FunctionDef::of_native(
            name,
            "ElementKind by the lowering of templates.",
            native,
        ));
    }
    for function in functions() {
        let native: Arc<dyn Native> = match function.name {
            "filter" => Arc::new(FilterFunction(function)),
            "repeat" => Arc::new(Repeat),
            _ => Arc::new(Pure(function)),
        };
        let _ = own.insert(FunctionDef::of_native(function.name, function.docs, native));
    }
    table.insert_dialect(super::NAME, own);
}

/// A function that depends only on its argument. The second argument is the version of the
/// template.
#[derive(Debug)]
struct Pure(&'static HotFunction);

impl Native for Pure {
    fn call(&self, arguments: &[Value]) -> Result<Value, Refusal> {
        let argument = arguments.first().unwrap_or(&Value::Null);
        let version = arguments
            .get(1)
            .and_then(Value::as_int)
            .map_or(Version::V2021_04_16, Version::at);
        self.0.run(argument, version).map_err(Refusal::from)
    }

    fn refusal_regardless(&self, arguments: &[Value]) -> Option<Refusal> {
        let argument = arguments.first()?;
        let version = arguments
            .get(1)
            .and_then(Value::as_int)
            .map_or(Version::V2021_04_16, Version::at);
        self.0
            .refusal_regardless(argument, version)
            .map(Refusal::from)
    }

    fn accepts_partial_arguments(&self, _arguments: &[Value]) -> bool {
        self.0.parts == PartialArgument::Leaves
    }
}

/// `repeat`, whose intermediate results may be much larger than its result.
#[derive(Debug)]
struct Repeat;

impl Native for Repeat {
    fn call(&self, arguments: &[Value]) -> Result<Value, Refusal> {
        self.call_counted(arguments, &mut 0)
    }

    fn call_counted(&self, arguments: &[Value], work: &mut usize) -> Result<Value, Refusal> {
        let argument = arguments.first().unwrap_or(&Value::Null);
        let version = arguments
            .get(1)
            .and_then(Value::as_int)
            .map_or(Version::V2021_04_16, Version::at);
        repeat::counted(argument, version, work).map_err(Refusal::from)
    }

    /// The call itself checks the known parts of its argument.
    fn refusal_regardless(&self, _arguments: &[Value]) -> Option<Refusal> {
        None
    }

    fn accepts_partial_arguments(&self, _arguments: &[Value]) -> bool {
        true
    }
}

/// `filter`. Its list may come separately before its values, which are not evaluated if the list is
/// empty.
#[derive(Debug)]
struct FilterFunction(&'static HotFunction);

impl FilterFunction {
    /// Whether the list and the values are separate arguments.
    fn has_separate_arguments(arguments: &[Value]) -> bool {
        arguments.len() > 2
    }
}

impl Native for FilterFunction {
    fn call(&self, arguments: &[Value]) -> Result<Value, Refusal> {
        if !FilterFunction::has_separate_arguments(arguments) {
            return Pure(self.0).call(arguments);
        }
        let [list, values, version, ..] = arguments else {
            return Ok(Value::Null);
        };
        if !pycompat::truth(list) {
            return Ok(list.clone());
        }
        let mut refused = match Pure(self.0)
            .call(&[Value::list([values.clone(), list.clone()]), version.clone()])
        {
            Err(refused) => refused,
            given => return given,
        };
        // Converts the index in the whole argument to the number of the separate argument.
        if let [_, ValueStep::Index(at), rest @ ..] = refused.path.as_slice() {
            refused.path = std::iter::once(ValueStep::Index(1 - (*at).min(1)))
                .chain(rest.iter().cloned())
                .collect();
        }
        Err(refused)
    }

    fn skips_next_argument(&self, before: &[Value]) -> bool {
        matches!(before, [list] if !list.has_unknown() && !pycompat::truth(&list.revealed()))
    }

    fn accepts_partial_arguments(&self, arguments: &[Value]) -> bool {
        !FilterFunction::has_separate_arguments(arguments)
            && Pure(self.0).accepts_partial_arguments(arguments)
    }
}

/// An internal function.
#[derive(Debug)]
struct Internal {
    name: &'static str,
    run: fn(&[Value]) -> Result<Value, Refusal>,
}

impl Native for Internal {
    fn call(&self, arguments: &[Value]) -> Result<Value, Refusal> {
        (self.run)(arguments)
    }

    /// Not searched for: these functions are not written in templates.
    fn refusal_regardless(&self, _arguments: &[Value]) -> Option<Refusal> {
        None
    }

    fn skips_next_argument(&self, before: &[Value]) -> bool {
        match (self.name, before) {
            (AND | OR, _) => is_short_circuited(before, self.name == OR),
            // Only the identifier of a nested stack contains the project.
            (STACK_ID, [_, unit]) => unit.as_list().is_some_and(<[Value]>::is_empty),
            _ => false,
        }
    }

    fn selected_local(&self, arguments: &[Value]) -> Option<Name> {
        if self.name == NAMED {
            condition_name(arguments)
        } else {
            None
        }
    }

    fn returns_part_of_arguments(&self) -> bool {
        matches!(
            self.name,
            "get_param" | "get_attr" | "(select path)" | "(parameter)" | "(show)"
        )
    }

    fn accepts_partial_arguments(&self, arguments: &[Value]) -> bool {
        if matches!(self.name, AND | OR) {
            return true;
        }
        // Walking a path reads only the values on it.
        let walks = matches!(
            self.name,
            "get_param" | "get_attr" | "(select path)" | "(parameter)" | "(each)"
        );
        // `(show)` walks into a resource, and counts the members of a group.
        self.name == "(show)"
            || walks
                && arguments
                    .get(1..)
                    .unwrap_or_default()
                    .iter()
                    .all(|step| !step.has_unknown() && !step.has_secret())
    }

    fn drops_omitted_arguments(&self) -> bool {
        matches!(
            self.name,
            "get_param" | "get_attr" | "(select path)" | "(each)"
        )
    }
}

type NativeCode = fn(&[Value]) -> Result<Value, Refusal>;

const INTERNAL: &[(&str, NativeCode)] = &[
    ("get_param", get_param),
    ("get_attr", get_attr),
    ("(select path)", get_attr),
    ("(parameter)", parameter),
    ("(attribute)", |_| Ok(Value::unknown(None, None))),
    ("(resource)", |_| Ok(Value::unknown(None, None))),
    ("(each)", each),
    ("(index)", index),
    ("(group id)", group_id),
    ("(file text)", file_text),
    ("(facade)", facade),
    (REFUSE, refuse),
    (REFUSE_READ, refuse),
    ("(condition)", condition),
    (AND, |arguments| Ok(evaluate_and_or(arguments, false))),
    (OR, |arguments| Ok(evaluate_and_or(arguments, true))),
    (NAMED, named),
    ("(stack name)", name_of_stack),
    (STACK_ID, stack_id),
    ("(show)", show),
];

fn refusal(
    code: &'static diag::Code,
    message: impl Into<String>,
    words: impl Into<diag::NativeMessage>,
) -> Refusal {
    Refusal {
        code,
        message: message.into(),
        path: Vec::new(),
        inside: None,
        help: None,
        words: Some(Box::new(words.into())),
    }
}

/// Walks a path into a parameter. A missing step gives "".
fn get_param(arguments: &[Value]) -> Result<Value, Refusal> {
    Ok(arguments.split_first().map_or_else(
        || Value::text(""),
        |(value, path)| paths::parameter(value, path),
    ))
}

/// The attribute `show` of a resource with these attributes: what its service shows of it, and null
/// without a cloud. For the members of a group, null for each.
fn show(arguments: &[Value]) -> Result<Value, Refusal> {
    let Some(shown) = arguments.first() else {
        return Ok(Value::Null);
    };
    let members = shown.unmarked().as_list();
    Ok(match members {
        Some(members) => Value::list(members.iter().map(|_| Value::Null)),
        None => paths::attribute(shown, &[Value::text("show")]),
    })
}

/// Walks a path into an attribute. A missing step gives null.
fn get_attr(arguments: &[Value]) -> Result<Value, Refusal> {
    Ok(arguments
        .split_first()
        .map_or(Value::Null, |(value, path)| paths::attribute(value, path)))
}

/// The parameter with a computed name.
fn parameter(arguments: &[Value]) -> Result<Value, Refusal> {
    let [all, name] = arguments else {
        return Ok(Value::Null);
    };
    let (name, path) = match name {
        Value::List(items) => match items.split_first() {
            Some((first, rest)) => (first.clone(), rest.to_vec()),
            None => {
                let words = "Function \"get_param\" must have arguments";
                return Err(refusal(
                    &ARGUMENT_TYPE,
                    "the name of a parameter is missing",
                    words,
                ));
            }
        },
        name => (name.clone(), Vec::new()),
    };
    let Some(name) = name.as_text() else {
        let words = "Parameter name in \"get_param\" must be string";
        return Err(refusal(
            &ARGUMENT_TYPE,
            "the name of a parameter must be text",
            words,
        ));
    };
    match all.get(name) {
        Some(value) => {
            let arguments: Vec<Value> = std::iter::once(value.clone()).chain(path).collect();
            get_param(&arguments)
        }
        None => {
            let words = format!("The Parameter ({name}) was not provided.");
            Err(refusal(
                &UNKNOWN_VARIABLE,
                format!("there is no parameter `{name}`"),
                words,
            ))
        }
    }
}

fn file_text(arguments: &[Value]) -> Result<Value, Refusal> {
    match arguments.first() {
        Some(Value::Bytes(bytes)) => match std::str::from_utf8(bytes) {
            Ok(text) => Ok(Value::text(text)),
            Err(_) => Ok(Value::from(base64_lines(bytes))),
        },
        Some(value) => Ok(value.clone()),
        None => Ok(Value::Null),
    }
}

/// Bytes as base64 in lines of 76 characters, each with a line break, as Heat's client gives the
/// content of a file that is not text.
fn base64_lines(bytes: &[u8]) -> String {
    // 57 bytes are 76 characters.
    let lines = bytes.chunks(57);
    lines
        .map(|line| format!("{}\n", data_encoding::BASE64.encode(line)))
        .collect()
}

/// A part of the resource of the nested template, or its default if the resource does not set it.
fn facade(arguments: &[Value]) -> Result<Value, Refusal> {
    let [facade, part] = arguments else {
        return Ok(Value::Null);
    };
    if facade.is_null() {
        let words = "'NoneType' object has no attribute 'metadata_get'";
        return Err(refusal(
            &ARGUMENT_TYPE,
            "`resource_facade` is not inside a nested template",
            words,
        ));
    }
    let part = match part.as_text().unwrap_or_default() {
        "Metadata" => "metadata",
        "DeletionPolicy" => "deletion_policy",
        "UpdatePolicy" => "update_policy",
        part => part,
    };
    Ok(facade.get(part).cloned().unwrap_or_else(|| match part {
        "deletion_policy" => Value::text("Delete"),
        _ => empty_map(),
    }))
}

/// Refuses with the given mistake.
fn refuse(arguments: &[Value]) -> Result<Value, Refusal> {
    Err(refusal_from_arguments(arguments))
}

/// The result of `and` or `or`: the first deciding operand in written order.
fn evaluate_and_or(arguments: &[Value], decides: bool) -> Value {
    let Some((positions, operands)) = arguments.split_first() else {
        return Value::Bool(!decides);
    };
    let positions = positions
        .as_list()
        .unwrap_or_default()
        .get(1..)
        .unwrap_or_default();
    let mut ordered: Vec<(i64, &Value)> = positions
        .iter()
        .filter_map(Value::as_int)
        .zip(operands)
        .collect();
    ordered.sort_by_key(|(position, _)| *position);
    let mut secret = false;
    for (_, operand) in ordered {
        let (bare, is_secret) = operand.split_secret();
        secret |= is_secret;
        match bare {
            Value::Bool(holds) if *holds == decides => return Value::Bool(decides).tainted(secret),
            Value::Unknown(_) => return operand.clone().tainted(secret),
            _ => {}
        }
    }
    Value::Bool(!decides).tainted(secret)
}

/// Whether an operand before a named condition decides the result, so that the condition is not
/// evaluated.
fn is_short_circuited(before: &[Value], decides: bool) -> bool {
    let Some((positions, operands)) = before.split_first() else {
        return false;
    };
    let Some((inline, positions)) = positions.as_list().and_then(<[Value]>::split_first) else {
        return false;
    };
    let (Some(inline), at) = (inline.as_int(), operands.len()) else {
        return false;
    };
    let Some(own) = positions
        .get(at)
        .and_then(Value::as_int)
        .filter(|_| usize::try_from(inline).is_ok_and(|it| at >= it))
    else {
        return false;
    };
    let earlier = positions
        .iter()
        .filter_map(Value::as_int)
        .zip(operands)
        .filter(|(position, _)| *position < own);
    earlier
        .into_iter()
        .any(|(_, operand)| matches!(operand.unmarked(), Value::Bool(holds) if *holds == decides))
}

/// The name that a call has returned, if a condition with that name exists.
fn condition_name(arguments: &[Value]) -> Option<Name> {
    let name = arguments.first()?.unmarked().as_text()?;
    let names = arguments.get(1)?.as_list()?;
    names
        .iter()
        .any(|known| known.as_text() == Some(name))
        .then(|| name.into())
}

/// The result of a call as a condition: a boolean, or null, which is true. Other values are
/// refused.
fn named(arguments: &[Value]) -> Result<Value, Refusal> {
    match arguments.first() {
        Some(value @ Value::Bool(_)) => Ok(value.clone()),
        None | Some(Value::Null) => Ok(Value::Bool(true)),
        Some(other) => {
            let text = |at: usize| {
                arguments
                    .get(at)
                    .and_then(Value::as_text)
                    .unwrap_or_default()
                    .to_owned()
            };
            let words = NativeMessage {
                class: text(2).into(),
                error: text(3).into(),
                ..format!("Invalid condition \"{}\"", pycompat::text(other)).into()
            };
            let mut refusal = refusal(
                &UNKNOWN_CONDITION,
                format!("{other} names no condition"),
                words.at(text(4)),
            );
            refusal.path = vec![ValueStep::Index(0)];
            Err(refusal)
        }
    }
}

/// The value of a condition. Refuses values that are not boolean.
fn condition(arguments: &[Value]) -> Result<Value, Refusal> {
    let value = arguments.first().cloned().unwrap_or_default();
    if let Value::Bool(_) = value {
        return Ok(value);
    }
    let name = arguments
        .get(1)
        .and_then(Value::as_text)
        .unwrap_or_default();
    let words = format!(
        "The definition of condition \"{name}\" is invalid: {}",
        pycompat::text(&value)
    );
    let words = super::message_path::invalid(words).error("Condition validation error");
    let mut refusal = refusal(
        &INVALID_CONDITION,
        format!("a condition must be a boolean, this is {value}"),
        words,
    );
    refusal.path = vec![ValueStep::Index(0)];
    refusal.help = Some("compare it: `equals: [.., true]`".to_owned());
    Err(refusal)
}

/// The name of the stack of a document: the name of the instance, followed for each child by its
/// name and 12 characters.
fn name_of_stack(arguments: &[Value]) -> Result<Value, Refusal> {
    let [instance, unit] = arguments else {
        return Ok(Value::Null);
    };
    Ok(Value::text(stack_name(
        instance.as_text().unwrap_or_default(),
        &names(unit),
    )))
}

fn names(unit: &Value) -> Vec<Name> {
    unit.as_list()
        .unwrap_or_default()
        .iter()
        .filter_map(Value::as_text)
        .map(Name::from)
        .collect()
}

/// The identifier of the stack of a document, derived from the instance and the children above it,
/// so that it is the same in every run.
fn stack_id(arguments: &[Value]) -> Result<Value, Refusal> {
    let [instance, unit, project] = arguments else {
        return Ok(Value::Null);
    };
    let (instance, unit) = (instance.as_text().unwrap_or_default(), names(unit));
    let id = identifier(instance, &unit);
    if unit.is_empty() {
        return Ok(Value::text(id.to_string()));
    }
    let name = stack_name(instance, &unit);
    let project = project.as_text().unwrap_or_default();
    Ok(Value::text(format!(
        "arn:openstack:heat::{project}:stacks/{name}/{id}"
    )))
}

/// An empty map.
pub(super) fn empty_map() -> Value {
    Value::Map(Arc::new(Map::default()))
}

/// Walks a path into every item of a list, or every value of a map.
fn each(arguments: &[Value]) -> Result<Value, Refusal> {
    let Some((all, path)) = arguments.split_first() else {
        return Ok(Value::Null);
    };
    let (bare, secret) = all.split_secret();
    let value = match bare {
        Value::List(items) => Value::list(
            items
                .iter()
                .map(|item| paths::attribute(item, path))
                .collect::<Vec<_>>(),
        ),
        Value::Map(entries) => Value::map(
            entries
                .iter()
                .map(|(key, value)| (key.clone(), paths::attribute(value, path)))
                .collect::<Vec<_>>(),
        ),
        other => other.clone(),
    };
    Ok(value.tainted(secret))
}

/// Replaces the index variable by a member's name, in every text of a value except keys.
fn index(arguments: &[Value]) -> Result<Value, Refusal> {
    let [value, variable, name] = arguments else {
        return Ok(Value::Null);
    };
    Ok(indexed(
        value,
        variable.as_text().unwrap_or_default(),
        name.as_text().unwrap_or_default(),
    ))
}

pub(super) fn indexed(value: &Value, variable: &str, name: &str) -> Value {
    match value {
        Value::Text(text) if !variable.is_empty() && text.contains(variable) => {
            Value::text(text.replace(variable, name))
        }
        Value::List(items) => Value::list(
            items
                .iter()
                .map(|item| indexed(item, variable, name))
                .collect::<Vec<_>>(),
        ),
        Value::Map(entries) => Value::map(
            entries
                .iter()
                .map(|(key, value)| (key.clone(), indexed(value, variable, name)))
                .collect::<Vec<_>>(),
        ),
        Value::Secret(inner) => indexed(inner, variable, name).secret(),
        other => other.clone(),
    }
}

/// The identifier of a group.
fn group_id(arguments: &[Value]) -> Result<Value, Refusal> {
    let [instance, unit] = arguments else {
        return Ok(Value::Null);
    };
    Ok(Value::text(
        identifier(instance.as_text().unwrap_or_default(), &names(unit)).to_string(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn show_is_what_the_attributes_of_a_resource_have() {
        let shown = Value::map([("name", Value::text("net"))]);
        let attributes = Value::map([("show", shown.clone()), ("mtu", Value::from(1450))]);
        assert_eq!(show(&[attributes]).ok(), Some(shown));
        let without = Value::map([("mtu", Value::from(1450))]);
        assert_eq!(show(&[without]).ok(), Some(Value::Null));
        let members = Value::list([Value::text("a"), Value::text("b")]);
        let each = Value::list([Value::Null, Value::Null]);
        assert_eq!(show(&[members]).ok(), Some(each));
    }
}
