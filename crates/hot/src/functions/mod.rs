//! Heat's functions that depend only on their argument, as rows of tables
//! (decisions/heat#functions).
//!
//! The argument is one value: everything under the function's name. [`HotFunction::form`] checks
//! the written argument, in which every call is an unknown value; [`HotFunction::run`] computes the
//! result. A mistake that Heat reports only during evaluation is reported during evaluation here
//! too; an output with such a mistake fails alone.
//!
//! Not here: reading calls from a template; references (`get_param`, `get_resource`, `get_attr`,
//! `get_file`, `resource_facade`), except for walking a path ([`paths`]); `if` and the lazy
//! evaluation of `and` and `or`; `yaql`.

mod booleans;
mod cloudformation;
pub mod codes;
mod digest;
mod explained;
mod function;
mod lists;
mod maps;
pub mod paths;
pub mod references;
pub(super) mod repeat;
mod replace;
mod text;
mod url;

pub(super) use explained::explained;
pub use explained::versions;
pub(super) use function::kind;
pub use function::{Example, FunctionResult, HotFunction, PartialArgument};

/// All functions of this module, in the order of the reference.
pub fn functions() -> impl Iterator<Item = &'static HotFunction> {
    [
        text::FUNCTIONS,
        replace::FUNCTIONS,
        digest::FUNCTIONS,
        url::FUNCTIONS,
        repeat::FUNCTIONS,
        maps::FUNCTIONS,
        lists::FUNCTIONS,
        booleans::FUNCTIONS,
        cloudformation::FUNCTIONS,
    ]
    .into_iter()
    .flatten()
}

/// The function with a name in any version.
pub fn function(name: &str) -> Option<&'static HotFunction> {
    functions().find(|function| function.name == name)
}

#[cfg(test)]
mod tests;
