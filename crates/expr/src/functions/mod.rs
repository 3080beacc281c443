//! The core functions (decisions/functions#conventions): one table of definitions, and their
//! bodies.
//!
//! Each family is one file with definitions and bodies. A body receives only checked arguments. The
//! caller handles unknown and secret arguments, unless the body is declared to do so.

mod bytes;
mod define;
mod higher;
mod invoke;
mod json;
mod json_text;
mod logic;
mod numbers;
mod structures;
mod text;
mod world;

use std::sync::LazyLock;

use crate::FunctionTable;
use crate::evaluate::FunctionBody;

pub use world::new_memoised_value;

/// The core functions: the 50 of the function document, 17 later ones and 5 of this project.
pub fn core_functions() -> &'static FunctionTable {
    static TABLE: LazyLock<FunctionTable> = LazyLock::new(table);
    &TABLE
}

fn table() -> FunctionTable {
    let mut table = FunctionTable::new();
    let families = [
        json::definitions(),
        text::definitions(),
        structures::definitions(),
        higher::definitions(),
        logic::definitions(),
        numbers::definitions(),
        bytes::definitions(),
        world::definitions(),
        invoke::definitions(),
    ];
    for definition in families.into_iter().flatten() {
        let taken = table.insert(definition).is_err();
        debug_assert!(!taken, "two core functions have one name");
    }
    table
}

/// The body of a core function; `None` for other functions.
pub(crate) fn body(name: &str) -> Option<FunctionBody> {
    json::body(name)
        .or_else(|| text::body(name))
        .or_else(|| structures::body(name))
        .or_else(|| higher::body(name))
        .or_else(|| logic::body(name))
        .or_else(|| numbers::body(name))
        .or_else(|| bytes::body(name))
        .or_else(|| world::body(name))
        .or_else(|| invoke::body(name))
}
