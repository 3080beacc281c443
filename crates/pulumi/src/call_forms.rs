//! Recognises calls: maps with one key that begins with `fn::` (decisions/pulumi#calls).
//!
//! Not here: the arguments (`expressions`), the results (`functions`).

use syntax::{MapEntry, Node};

use crate::functions;
use crate::read::text;

/// The beginning of the keys of calls.
const PREFIX: &str = "fn::";

/// The function of a package with named parts: `fn::invoke`.
pub(crate) const INVOKE_KEY: &str = "invoke";

/// The functions that read a file.
pub(crate) const FILE_FUNCTIONS: [&str; 3] = ["readFile", "filebase64", "filebase64sha256"];

/// The function that reads an output of another stack.
const STACK_REFERENCE: &str = "stackReference";

/// The names that the language keeps for later versions.
const RESERVED: [&str; 3] = ["if", "for", "include"];

/// The function that a key names.
#[derive(Debug, PartialEq)]
pub(crate) enum CalledFunction<'t> {
    /// `fn::invoke`.
    Invoke,
    /// A function of the language that depends on its argument alone.
    Pure(&'static functions::PulumiFunction),
    /// A function that reads a file, by its name.
    File(&'static str),
    /// `fn::stackReference`.
    StackReference,
    /// `fn::package:function` or `fn::package:module:function`.
    Package(&'t str),
    /// A name that no function has.
    Unknown(&'t str),
}

impl CalledFunction<'_> {
    /// The key as the language writes it; `None` if it has no other spelling.
    pub(crate) fn key(&self) -> Option<String> {
        let name = match self {
            CalledFunction::Invoke => INVOKE_KEY,
            CalledFunction::Pure(function) => function.name,
            CalledFunction::File(name) => name,
            CalledFunction::StackReference => STACK_REFERENCE,
            CalledFunction::Package(_) | CalledFunction::Unknown(_) => return None,
        };
        Some(format!("{PREFIX}{name}"))
    }
}

/// The function that a key calls; `None` for a key of data.
pub(crate) fn called_function(key: &str) -> Option<CalledFunction<'_>> {
    let prefix = key.get(..PREFIX.len())?;
    if !prefix.eq_ignore_ascii_case(PREFIX) {
        return None;
    }
    let name = &key[PREFIX.len()..];
    if name.contains(':') {
        return Some(CalledFunction::Package(name));
    }
    if name.eq_ignore_ascii_case(INVOKE_KEY) {
        return Some(CalledFunction::Invoke);
    }
    if name.eq_ignore_ascii_case(STACK_REFERENCE) {
        return Some(CalledFunction::StackReference);
    }
    if let Some(function) = functions::function(name) {
        return Some(CalledFunction::Pure(function));
    }
    let file = FILE_FUNCTIONS
        .iter()
        .find(|known| known.eq_ignore_ascii_case(name));
    Some(match file {
        Some(name) => CalledFunction::File(name),
        None => CalledFunction::Unknown(name),
    })
}

/// Whether a name without a function is kept for later versions.
pub(crate) fn is_reserved(name: &str) -> bool {
    RESERVED
        .iter()
        .any(|known| known.eq_ignore_ascii_case(name))
}

/// The names of all functions, for suggestions.
pub(crate) fn function_names() -> impl Iterator<Item = &'static str> {
    functions::functions()
        .map(|function| function.name)
        .chain(FILE_FUNCTIONS)
        .chain([INVOKE_KEY, STACK_REFERENCE])
}

/// The token of the package's function that an entry calls.
pub(crate) fn invoked_token(entry: &MapEntry) -> Option<&str> {
    let key = text(&entry.key)?;
    match called_function(key)? {
        CalledFunction::Package(token) => Some(token),
        CalledFunction::Invoke => text(function_of(&entry.value)?),
        _ => None,
    }
}

/// The value of `function` in the argument of `fn::invoke`.
fn function_of(argument: &Node) -> Option<&Node> {
    let is_function = |entry: &&MapEntry| {
        let key = entry.key.text();
        key.is_some_and(|key| key.eq_ignore_ascii_case("function"))
    };
    argument
        .as_map()?
        .iter()
        .find(is_function)
        .map(|entry| &entry.value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_calls_are_recognised_in_any_case() {
        let name = |key: &str| called_function(key).and_then(|function| function.key());
        assert_eq!(name("Fn::Join").as_deref(), Some("fn::join"));
        assert_eq!(name("FN::TOJSON").as_deref(), Some("fn::toJSON"));
        assert_eq!(name("fn::readfile").as_deref(), Some("fn::readFile"));
        assert_eq!(name("fn:join"), None);
        assert_eq!(
            called_function("fn::aws:getAmi"),
            Some(CalledFunction::Package("aws:getAmi"))
        );
        assert_eq!(
            called_function("fn::nope"),
            Some(CalledFunction::Unknown("nope"))
        );
    }
}
