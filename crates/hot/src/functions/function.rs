//! The row of a function, and helpers for all functions.

use blueprint::Value;
use expr::ValueStep;
use expr::codes::{ARGUMENT_RANGE, ARGUMENT_TYPE};

use crate::refusal::ValueRefusal;
use crate::version::Version;

/// The result of a function.
pub type FunctionResult = Result<Value, ValueRefusal>;

/// The treatment of unknown or secret parts of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartialArgument {
    /// The function reads the whole argument: the result is unknown or secret if any part is.
    Whole,
    /// The function moves parts without reading them: only the parts that it reads must be known.
    Leaves,
}

/// A function as data.
#[derive(Debug)]
pub struct HotFunction {
    /// The name in a template.
    pub name: &'static str,
    /// The first version with the function.
    pub since: Version,
    /// The first version without the function.
    pub until: Option<Version>,
    /// The first version that has the function in conditions.
    pub in_conditions: Option<Version>,
    /// Whether it is a function outside of conditions. If not, a map with this key is data there.
    pub in_values: bool,
    /// Checks the form of an argument as it is written. Calls in the argument are unknown values.
    pub form: fn(&Value, Version) -> Result<(), ValueRefusal>,
    /// Computes the result for an argument without secret marks. The argument has unknown parts
    /// only if `parts` allows them.
    pub call: fn(&Value, Version) -> FunctionResult,
    /// The treatment of unknown and secret parts.
    pub parts: PartialArgument,
    /// A description: a paragraph of Markdown.
    pub docs: &'static str,
    /// Calls in flow style with their results: a value in JSON, or a code after `!`.
    pub examples: &'static [Example],
}

/// An example: a call, its result, and the version.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    /// The argument in JSON.
    pub argument: &'static str,
    /// The value in JSON, or `! code`.
    pub expected: &'static str,
    /// The version; `None` for the latest version that has the function.
    pub version: Option<Version>,
}

/// An example in the latest version.
pub(super) const fn example(argument: &'static str, gives: &'static str) -> Example {
    Example {
        argument,
        expected: gives,
        version: None,
    }
}

/// An example in a version.
pub(super) const fn example_in(
    version: Version,
    argument: &'static str,
    gives: &'static str,
) -> Example {
    Example {
        argument,
        expected: gives,
        version: Some(version),
    }
}

impl HotFunction {
    /// The result of a call. Parts of the argument may be unknown or secret.
    pub fn run(&self, argument: &Value, version: Version) -> FunctionResult {
        if self.parts == PartialArgument::Leaves {
            return (self.call)(argument, version);
        }
        let secret = argument.has_secret();
        if argument.has_unknown() {
            return Ok(argument.as_unknown().tainted(secret));
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

    /// The refusal of a known part of an argument, if the call fails whatever the unknown parts are.
    pub(crate) fn refusal_regardless(
        &self,
        argument: &Value,
        version: Version,
    ) -> Option<ValueRefusal> {
        let about_known = |refusal: &ValueRefusal| {
            let of_template = [ValueStep::Key("template".into())];
            let path = match refusal.code.name {
                "argument-type" | "argument-range" | "argument-format" | "empty-value" => {
                    &refusal.path[..]
                }
                // The template alone decides which placeholders occur.
                "placeholder-missing" => &of_template[..],
                _ => return false,
            };
            expr::part_at(argument, path).is_some_and(|part| !part.has_unknown())
        };
        expr::refused_regardless(
            std::slice::from_ref(argument),
            |probe| (self.call)(&probe[0], version),
            about_known,
            |one, other| {
                one.code.name == other.code.name
                    && one.message == other.message
                    && one.path == other.path
            },
        )
    }

    /// Whether a version has the function outside of conditions.
    pub fn is_in(&self, version: Version) -> bool {
        self.in_values && self.since <= version && self.until.is_none_or(|until| version < until)
    }
}

/// Accepts any argument.
pub(super) fn any(_: &Value, _: Version) -> Result<(), ValueRefusal> {
    Ok(())
}

/// A refusal with the code `argument-type`.
pub(super) fn wrong_type(message: impl Into<String>, heat: impl Into<String>) -> ValueRefusal {
    ValueRefusal::new(&ARGUMENT_TYPE, message).heat(heat)
}

/// The items of a list. A text is not a list, although Python treats it as a sequence.
pub(super) fn items(value: &Value) -> Option<&[Value]> {
    match value.unmarked() {
        Value::List(items) => Some(items),
        _ => None,
    }
}

/// The first 200 characters of a value in Python's notation, as Heat quotes it.
pub(super) fn shortened(value: &Value) -> String {
    pycompat::repr(value).chars().take(200).collect()
}

/// The name of a kind of value in our messages.
pub(crate) fn kind(value: &Value) -> &'static str {
    match value.unmarked() {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Int(_) | Value::Float(_) | Value::Decimal(_) => "a number",
        Value::Text(_) => "text",
        Value::List(_) | Value::Set(_) => "a list",
        Value::Map(_) => "a map",
        _ => "a call",
    }
}

/// The refusal of a result that exceeds the limit of values.
pub(super) fn too_large(name: &str) -> ValueRefusal {
    let most = expr::MAX_VALUE_BYTES >> 20;
    ValueRefusal::new(
        &ARGUMENT_RANGE,
        format!("`{name}` would make more than {most} MiB"),
    )
    .help("make it from less")
}

/// Refuses a result with more bytes than a value may have, before it is computed.
pub(super) fn within_bounds(name: &str, bytes: usize) -> Result<(), ValueRefusal> {
    if bytes > expr::MAX_VALUE_BYTES {
        Err(too_large(name))
    } else {
        Ok(())
    }
}

/// Adds to a refusal of an argument without a key the key that was probably meant by it.
pub(super) fn meant_key(
    refusal: ValueRefusal,
    entries: &blueprint::Map,
    missing: &str,
) -> ValueRefusal {
    let near = |key: &str| diag::nearest(key, [missing]).is_some();
    match entries.iter().find(|(key, _)| near(key)) {
        Some((key, _)) => refusal.help(format!("write `{missing}` instead of `{key}`")),
        None => refusal,
    }
}
