//! The functions of the language (decision 2): one table of definitions, and the bodies beside it.
//!
//! Each family is one file with its definitions and its bodies. A body sees only checked arguments; unknown and secret
//! ones are dealt with before it, unless it says that it looks at them itself.

mod bytes;
mod define;
mod higher;
mod json;
mod json_text;
mod logic;
mod numbers;
mod structures;
mod text;
mod world;

use std::sync::LazyLock;

use crate::FunctionTable;
use crate::evaluate::Body;

pub use world::remembered_value;

/// The 50 functions of the function document, the 17 later ones and our 4.
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
    ];
    for definition in families.into_iter().flatten() {
        let taken = table.insert(definition).is_err();
        debug_assert!(!taken, "two core functions have one name");
    }
    table
}

/// The body of a core function; `None` for functions of providers.
pub(crate) fn body(name: &str) -> Option<Body> {
    json::body(name)
        .or_else(|| text::body(name))
        .or_else(|| structures::body(name))
        .or_else(|| higher::body(name))
        .or_else(|| logic::body(name))
        .or_else(|| numbers::body(name))
        .or_else(|| bytes::body(name))
        .or_else(|| world::body(name))
}
