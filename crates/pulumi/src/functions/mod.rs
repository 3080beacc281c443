//! The functions of the language that depend only on their argument, as rows of tables
//! (decisions/pulumi#functions). The argument is one value: everything under the key `fn::NAME`.
//!
//! Not here: calls of packages, and functions that read files (`expressions`).

mod assets;
mod function;
mod lists;
mod marks;
mod resources;
mod text;

use dialect::Explained;

pub use function::{FunctionResult, PartialArgument, PulumiFunction};

/// All functions of this module, in the order of the reference.
pub fn functions() -> impl Iterator<Item = &'static PulumiFunction> {
    [
        lists::FUNCTIONS,
        text::FUNCTIONS,
        assets::FUNCTIONS,
        marks::FUNCTIONS,
        resources::FUNCTIONS,
    ]
    .into_iter()
    .flatten()
}

/// The function with a name in any case.
pub(crate) fn function(name: &str) -> Option<&'static PulumiFunction> {
    functions().find(|function| function.name.eq_ignore_ascii_case(name))
}

/// The functions that are described but have no row.
const OTHERS: [(&str, &str, &str); 4] = [
    (
        "fn::invoke",
        "Calls a function of a package: `{function, arguments, return, options}`. Gives the whole result, or the field \
         that `return` names. `fn::PACKAGE:FUNCTION: {..}` is the short form.",
        "fn::invoke: {function: aws:getAmi, arguments: {owners: [self]}, return: id}",
    ),
    (
        "fn::readFile",
        "The text of a file. Its path is relative to the program.",
        "fn::readFile: ./greeting.txt",
    ),
    (
        "fn::filebase64",
        "The bytes of a file as base64.",
        "fn::filebase64: ./logo.png",
    ),
    (
        "fn::filebase64sha256",
        "The SHA-256 digest of a file as base64.",
        "fn::filebase64sha256: ./code.zip",
    ),
];

/// The descriptions of all functions.
pub(crate) fn explained() -> Vec<Explained> {
    let rows = functions().map(|function| Explained {
        name: function.key,
        docs: function.docs,
        since: String::new(),
        examples: function
            .examples
            .iter()
            .map(|(argument, result)| {
                let call = format!("{}: {argument}", function.key);
                (call, (*result).to_owned())
            })
            .collect(),
    });
    let others = OTHERS.iter().map(|(name, docs, example)| Explained {
        name,
        docs,
        since: String::new(),
        examples: vec![((*example).to_owned(), String::new())],
    });
    rows.chain(others).collect()
}

#[cfg(test)]
mod tests;
