//! The functions of the language (reference section 2): one table of definitions, and the bodies beside it.
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

use blueprint::Value;
use diag::Code;

use crate::FunctionTable;
use crate::evaluate::{Arguments, Machine, Site, Stop};
use crate::function::FunctionDef;

pub(crate) use higher::is_composition;
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

/// How a function is carried out.
pub(crate) enum Body {
    /// From arguments that are all known and no longer marked secret.
    Plain(fn(&[Value], &mut Vec<Fault>) -> Result<Value, Fault>),
    /// From evaluated arguments, some of which may be unknown or secret.
    Open(for<'a> fn(&mut Machine<'a>, &Site<'a>, Vec<Value>) -> Result<Value, Stop>),
    /// Evaluates its arguments itself (ruling A16).
    Lazy(for<'a> fn(&mut Machine<'a>, &'a FunctionDef, &Site<'a>, &Arguments<'a>) -> Result<Value, Stop>),
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

/// What is wrong in a call, not yet placed.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) code: &'static Code,
    pub(crate) message: String,
    pub(crate) at: At,
    pub(crate) label: String,
    pub(crate) help: Option<String>,
}

/// Where in a call.
#[derive(Clone, Copy, Debug)]
pub(crate) enum At {
    /// At an argument.
    Argument(usize),
    /// At the called name.
    Name,
    /// At the whole call.
    Call,
}

impl Fault {
    pub(crate) fn new(code: &'static Code, at: At, message: impl Into<String>) -> Fault {
        Fault { code, message: message.into(), at, label: String::new(), help: None }
    }

    pub(crate) fn label(mut self, text: impl Into<String>) -> Fault {
        self.label = text.into();
        self
    }

    pub(crate) fn help(mut self, text: impl Into<String>) -> Fault {
        self.help = Some(text.into());
        self
    }
}

/// A result that grew beyond the limit (ruling A17).
pub(crate) fn too_large(limit: &str) -> Fault {
    let message = format!("the result is larger than {limit} or deeper than 256 levels");
    Fault::new(&crate::codes::ARGUMENT_RANGE, At::Call, message)
        .label("grows beyond the limit")
        .help("make it from less, or raise `value-bytes` under `[documents]` in `cyan.toml`")
}
