//! The row of a function, and what functions share.

use blueprint::Value;
use diag::Code;
use expr::codes::{ARGUMENT_COUNT, ARGUMENT_TYPE};
use expr::{Refusal, ValueStep};

use crate::reference::is_reference;
use crate::scalar::kind_words;

/// The result of a function.
pub type FunctionResult = Result<Value, Refusal>;

/// The treatment of unknown or secret parts of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartialArgument {
    /// The function reads the whole argument: the result is unknown or secret if any part is.
    Whole,
    /// The function moves parts without reading them.
    Leaves,
}

/// A function as data.
#[derive(Debug)]
pub struct PulumiFunction {
    /// The name after `fn::`.
    pub name: &'static str,
    /// The key in a program.
    pub key: &'static str,
    /// The number of items of the argument, and what they are, if the argument is such a list.
    pub items: Option<(usize, &'static str)>,
    /// Computes the result. The argument has unknown and secret parts only if `parts` allows them.
    pub call: fn(&Value) -> FunctionResult,
    /// The treatment of unknown and secret parts.
    pub parts: PartialArgument,
    /// A description: a paragraph of Markdown.
    pub docs: &'static str,
    /// Arguments in JSON with their results: a value in JSON, or a code after `!`.
    pub examples: &'static [(&'static str, &'static str)],
}

/// Two functions are the same if they have the same name.
impl PartialEq for PulumiFunction {
    fn eq(&self, other: &PulumiFunction) -> bool {
        self.name == other.name
    }
}

impl PulumiFunction {
    /// The refusal of a reference to a resource, which only JSON and values without a reader hold.
    pub(crate) fn refused_reference(&self, argument: &Value) -> Option<Refusal> {
        let reads = self.parts == PartialArgument::Whole && self.name != "toJSON";
        if !reads || !has_reference(argument) {
            return None;
        }
        let what = format!("the argument of `fn::{}`", self.name);
        let message = format!("{what} cannot hold a resource");
        let help = "take an output of the resource, such as its id: `${NAME.id}`";
        Some(Refusal {
            help: Some(help.to_owned()),
            ..refusal(&ARGUMENT_TYPE, message, [])
        })
    }

    /// The result of a call. Parts of the argument may be unknown or secret.
    pub(crate) fn run(&self, argument: &Value) -> FunctionResult {
        if self.parts == PartialArgument::Leaves {
            return (self.call)(argument);
        }
        if let Some(refused) = self.refused_reference(argument) {
            return Err(refused);
        }
        let secret = argument.has_secret();
        if argument.has_unknown() {
            return Ok(argument.as_unknown().tainted(secret));
        }
        if !secret {
            return (self.call)(argument);
        }
        (self.call)(&argument.revealed()).map(Value::secret)
    }
}

/// Whether a value is a reference to a resource, or a list with one.
fn has_reference(value: &Value) -> bool {
    let mut items = value.unmarked().as_list().into_iter().flatten();
    is_reference(value) || items.any(has_reference)
}

/// A refusal of a part of the argument.
pub(crate) fn refusal(
    code: &'static Code,
    message: impl Into<String>,
    path: impl IntoIterator<Item = usize>,
) -> Refusal {
    let steps = path.into_iter().map(ValueStep::from);
    Refusal {
        code,
        message: message.into(),
        path: std::iter::once(ValueStep::Index(0)).chain(steps).collect(),
        inside: None,
        help: None,
        words: None,
    }
}

/// The refusal of a value of the wrong kind.
pub(super) fn wrong_type(what: &str, wanted: &str, found: &Value, path: &[usize]) -> Refusal {
    let kind = kind_words(found);
    refusal(
        &ARGUMENT_TYPE,
        format!("{what} must be {wanted}, found {kind}"),
        path.iter().copied(),
    )
}

/// The argument as a text.
pub(super) fn text_argument<'v>(name: &str, argument: &'v Value) -> Result<&'v str, Refusal> {
    let wrong = || {
        wrong_type(
            &format!("the argument of `fn::{name}`"),
            "a string",
            argument,
            &[],
        )
    };
    argument.as_text().ok_or_else(wrong)
}

/// The two items of the argument.
pub(super) fn pair<'v>(
    name: &str,
    form: &str,
    argument: &'v Value,
) -> Result<(&'v Value, &'v Value), Refusal> {
    let Some(items) = argument.unmarked().as_list() else {
        let wanted = format!("a list of {form}");
        return Err(wrong_type(
            &format!("the argument of `fn::{name}`"),
            &wanted,
            argument,
            &[],
        ));
    };
    match items {
        [first, second] => Ok((first, second)),
        items => {
            let message = format!("`fn::{name}` takes {form}, found {} items", items.len());
            Err(refusal(&ARGUMENT_COUNT, message, []))
        }
    }
}
