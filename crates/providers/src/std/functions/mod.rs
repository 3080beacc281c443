//! The functions of `std`, which expressions can call in addition to the functions of the
//! specification.
//!
//! A function that Pulumi's package `std` also has gives the same result under the same name. The
//! catalogue declares each function; this module implements it. All functions are pure, so the
//! evaluator calls them directly, in a simulation too.
//!
//! Not here: checks of number and type of arguments (`expr`).

mod arguments;
mod format;
mod lists;
mod network;
mod numbers;
mod text;
mod time;
mod yaml;

use std::sync::Arc;

use blueprint::Value;
use expr::{FunctionDef, Native, Refusal};

use self::arguments::StdCode;

/// A function of the provider, for the evaluator.
struct StdFunction {
    name: blueprint::Name,
    least: usize,
    body: StdCode,
}

impl std::fmt::Debug for StdFunction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name)
    }
}

impl Native for StdFunction {
    fn call(&self, arguments: &[Value]) -> Result<Value, Refusal> {
        if arguments.iter().take(self.least).any(Value::is_null) {
            return Ok(Value::Null);
        }
        (self.body)(arguments).map_err(|error| Refusal {
            code: error.code,
            message: error.message,
            path: error
                .argument
                .map(expr::ValueStep::Index)
                .into_iter()
                .collect(),
            inside: None,
            help: None,
            words: None,
        })
    }

    fn accepts_partial_arguments(&self, _: &[Value]) -> bool {
        false
    }
}

/// Attaches the implementation to the declaration of a function, found by the name without the
/// package prefix.
pub(super) fn attach_body(definition: &mut FunctionDef) {
    if let Some(body) = body(own_name(&definition.name)) {
        definition.native = Some(Arc::new(StdFunction {
            name: definition.name.clone(),
            least: definition.min_arguments,
            body,
        }));
    }
}

/// Calls the function with a name. `None` if there is none.
pub(super) fn call(name: &str, arguments: &[Value]) -> Option<Result<Value, String>> {
    Some(body(own_name(name))?(arguments).map_err(|error| error.message))
}

/// The name without the package prefix. A function has the prefix if the language has a function of
/// the same name.
fn own_name(name: &str) -> &str {
    name.strip_prefix("std_").unwrap_or(name)
}

fn body(name: &str) -> Option<StdCode> {
    numbers::body(name)
        .or_else(|| text::body(name))
        .or_else(|| lists::body(name))
        .or_else(|| network::body(name))
        .or_else(|| time::body(name))
        .or(match name {
            "format" => Some(format::format as StdCode),
            "formatlist" => Some(format::format_list),
            "yamlencode" => Some(yaml::encode),
            "yamldecode" => Some(yaml::decode),
            _ => None,
        })
}

#[cfg(test)]
mod tests;
