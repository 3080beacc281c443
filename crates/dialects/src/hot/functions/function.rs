//! The row of a function, and helpers for all functions.

use ::blueprint::{Unknown, Value};
use expr::codes::{ARGUMENT_RANGE, ARGUMENT_TYPE};

use crate::hot::refusal::ValueRefusal;
use crate::hot::version::Version;

/// The result of a function.
pub type FunctionResult = Result<Value, ValueRefusal>;

/// How a function treats parts of its argument that are unknown or secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartialArgument {
    /// It needs all of the argument: the result is as unknown, or as secret, as any part is.
    Whole,
    /// It moves parts without reading them: only the parts that it reads must be known.
    Leaves,
}

/// A function as data.
#[derive(Debug)]
pub struct HotFunction {
    /// Its name in a template.
    pub name: &'static str,
    /// The first version that has it.
    pub since: Version,
    /// The first version that no longer has it.
    pub until: Option<Version>,
    /// The first version that has it in conditions.
    pub in_conditions: Option<Version>,
    /// Whether it is a function outside of conditions. Otherwise a map with that key is data there.
    pub in_values: bool,
    /// Whether an argument as written can be one at all; calls in it stand as unknown values.
    pub form: fn(&Value, Version) -> Result<(), ValueRefusal>,
    /// The result for an argument without secret marks, and without unknown parts unless `parts` lets them in.
    pub call: fn(&Value, Version) -> FunctionResult,
    /// How it treats unknown and secret parts.
    pub parts: PartialArgument,
    /// A description: a paragraph of Markdown.
    pub docs: &'static str,
    /// Calls in flow style with their results: a value in JSON, or a code after `!`.
    pub examples: &'static [Example],
}

/// A call, its result, and the version.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    /// The argument in JSON.
    pub argument: &'static str,
    /// The value in JSON, or `! code`.
    pub gives: &'static str,
    /// In which version; none: in the latest that has the function.
    pub version: Option<Version>,
}

/// An example in the latest version.
pub(super) const fn example(argument: &'static str, gives: &'static str) -> Example {
    Example { argument, gives, version: None }
}

/// An example in a version.
pub(super) const fn example_in(version: Version, argument: &'static str, gives: &'static str) -> Example {
    Example { argument, gives, version: Some(version) }
}

impl HotFunction {
    /// The result of a call, from an argument in which parts may be unknown or secret.
    pub fn run(&self, argument: &Value, version: Version) -> FunctionResult {
        if self.parts == PartialArgument::Leaves {
            return (self.call)(argument, version);
        }
        let secret = argument.has_secret();
        if argument.has_unknown() {
            return Ok(unknown_of(argument).tainted(secret));
        }
        let revealed;
        let argument = if secret {
            revealed = argument.revealed();
            &revealed
        } else {
            argument
        };
        (self.call)(argument, version).map(|value| value.tainted(secret))
    }

    /// Whether a version has it outside of conditions.
    pub fn is_in(&self, version: Version) -> bool {
        self.in_values && self.since <= version && self.until.is_none_or(|until| version < until)
    }
}

/// An unknown value that waits for all that the unknown parts of a value wait for.
pub fn unknown_of(value: &Value) -> Value {
    let mut waits_for = Vec::new();
    value.waits_for(&mut waits_for);
    Value::Unknown(Unknown { ty: None, waits_for }.into())
}

/// Any argument has the form.
pub(super) fn any(_: &Value, _: Version) -> Result<(), ValueRefusal> {
    Ok(())
}

/// A refusal with `argument-type`.
pub(super) fn wrong_type(message: impl Into<String>, heat: impl Into<String>) -> ValueRefusal {
    ValueRefusal::new(&ARGUMENT_TYPE, message).heat(heat)
}

/// The items of a list that is no text; Python would call it a sequence.
pub(super) fn items(value: &Value) -> Option<&[Value]> {
    match value.bare() {
        Value::List(items) => Some(items),
        _ => None,
    }
}

/// At most 200 characters of how Python prints a value, as Heat quotes it.
pub(super) fn shortened(value: &Value) -> String {
    pycompat::repr(value).chars().take(200).collect()
}

/// How a kind of value is called in our messages.
pub(crate) fn kind(value: &Value) -> &'static str {
    match value.bare() {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Int(_) | Value::Float(_) | Value::Decimal(_) => "a number",
        Value::Text(_) => "text",
        Value::List(_) | Value::Set(_) => "a list",
        Value::Map(_) => "a map",
        _ => "a call",
    }
}

/// A result that would be larger than any value may be.
pub(super) fn too_large(name: &str) -> ValueRefusal {
    let most = expr::MAX_VALUE_BYTES >> 20;
    ValueRefusal::new(&ARGUMENT_RANGE, format!("`{name}` would make more than {most} MiB")).help("make it from less")
}

/// Refuses a result of more bytes than a value may have, before it is made.
pub(super) fn within_bounds(name: &str, bytes: usize) -> Result<(), ValueRefusal> {
    if bytes > expr::MAX_VALUE_BYTES { Err(too_large(name)) } else { Ok(()) }
}
