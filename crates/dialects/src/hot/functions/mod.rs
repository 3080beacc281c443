//! Heat's functions that look at nothing but their argument, a row of a table each (decision Heat 5).
//!
//! The argument is one value, all that is written under the function's name. [`HotFunction::form`] judges it as it is
//! written, where every call in it stands as an unknown value; [`HotFunction::run`] gives the result. Where Heat fails
//! only while evaluating, so does this: an output that fails that way fails alone.
//!
//! Not here: reading calls from a template; references (`get_param`, `get_resource`, `get_attr`, `get_file`,
//! `resource_facade`), of which only the walk along a path is here ([`paths`]); `if` and the laziness of `and` and
//! `or`; `yaql`.

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
pub use function::{Example, FunctionResult, HotFunction, PartialArgument, unknown_of};

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

/// The function of that name in any version.
pub fn function(name: &str) -> Option<&'static HotFunction> {
    functions().find(|function| function.name == name)
}

#[cfg(test)]
mod tests;
