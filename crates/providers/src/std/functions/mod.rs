//! The functions of `std`: what expressions can call beside the functions of the specification.
//!
//! Where Pulumi's package `std` has a function, its name and its result are the same here. The catalogue declares each
//! function; this module has the bodies. All are pure, so they are carried out wherever expressions are evaluated, in a
//! rehearsal too.
//!
//! Not here: counting and checking arguments (`expr`).

mod format;
mod lists;
mod network;
mod numbers;
mod text;
mod yaml;

use std::sync::Arc;

use blueprint::Value;
use expr::{FunctionDef, Native, Refusal};

/// The most items that a function may produce.
const MOST_ITEMS: usize = 100_000;

/// What a function does with its arguments. Arguments that are left out are null.
type Body = fn(&[Value]) -> Result<Value, Wrong>;

/// Why a function gives no value, and which argument is the cause.
#[derive(Debug)]
struct Wrong {
    code: &'static diag::Code,
    message: String,
    argument: Option<usize>,
}

fn range(argument: usize, message: impl Into<String>) -> Wrong {
    Wrong { code: &expr::codes::ARGUMENT_RANGE, message: message.into(), argument: Some(argument) }
}

fn form(argument: usize, message: impl Into<String>) -> Wrong {
    Wrong { code: &expr::codes::ARGUMENT_FORMAT, message: message.into(), argument: Some(argument) }
}

fn kind(argument: usize, message: impl Into<String>) -> Wrong {
    Wrong { code: &expr::codes::ARGUMENT_TYPE, message: message.into(), argument: Some(argument) }
}

/// A function of the provider, as the evaluator calls it.
struct Function {
    name: blueprint::Name,
    least: usize,
    body: Body,
}

impl std::fmt::Debug for Function {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name)
    }
}

impl Native for Function {
    fn call(&self, arguments: &[Value]) -> Result<Value, Refusal> {
        if arguments.iter().take(self.least).any(Value::is_null) {
            return Ok(Value::Null);
        }
        (self.body)(arguments).map_err(|wrong| Refusal {
            code: wrong.code,
            message: wrong.message,
            path: wrong.argument.map(expr::Step::Index).into_iter().collect(),
            inside: None,
            help: None,
            words: None,
        })
    }

    fn opens(&self, _: &[Value]) -> bool {
        false
    }
}

/// Puts the body of a function to its declaration. The provider's own name of it is the name without the package.
pub(super) fn carry_out(definition: &mut FunctionDef) {
    if let Some(body) = body(own_name(&definition.name)) {
        definition.native = Some(Arc::new(Function { name: definition.name.clone(), least: definition.least, body }));
    }
}

/// Calls the function of that name; `None` if there is none.
pub(super) fn call(name: &str, arguments: &[Value]) -> Option<Result<Value, String>> {
    Some(body(own_name(name))?(arguments).map_err(|wrong| wrong.message))
}

/// The name without the package before it, which it has where the language has a function of that name.
fn own_name(name: &str) -> &str {
    name.strip_prefix("std_").unwrap_or(name)
}

fn body(name: &str) -> Option<Body> {
    numbers::body(name).or_else(|| text::body(name)).or_else(|| lists::body(name)).or_else(|| network::body(name)).or(
        match name {
            "format" => Some(format::format as Body),
            "formatlist" => Some(format::format_list),
            "yamlencode" => Some(yaml::encode),
            "yamldecode" => Some(yaml::decode),
            _ => None,
        },
    )
}

/// A text argument; empty where it is none, which the declaration excludes.
fn text_at(arguments: &[Value], at: usize) -> &str {
    arguments.get(at).and_then(Value::as_text).unwrap_or("")
}

/// A list argument.
fn list_at(arguments: &[Value], at: usize) -> &[Value] {
    arguments.get(at).and_then(Value::as_list).unwrap_or_default()
}

/// An argument that may be left out.
fn given(arguments: &[Value], at: usize) -> Option<&Value> {
    arguments.get(at).filter(|value| !value.is_null())
}

/// An integer argument; floats without a fraction count.
fn integer_at(arguments: &[Value], at: usize) -> Result<i64, Wrong> {
    match arguments.get(at).map(Value::bare) {
        Some(Value::Int(value)) => Ok(*value),
        Some(Value::Float(value)) if value.fract() == 0.0 && value.abs() < 9e15 => Ok(*value as i64),
        Some(other) => Err(kind(at, format!("an integer is needed, found {}", other.kind_word()))),
        None => Err(kind(at, "an integer is needed")),
    }
}

/// A number argument as a float.
fn float_at(arguments: &[Value], at: usize) -> Result<f64, Wrong> {
    match arguments.get(at).map(Value::bare) {
        Some(Value::Int(value)) => Ok(*value as f64),
        Some(Value::Float(value)) => Ok(*value),
        Some(other) => Err(kind(at, format!("a number is needed, found {}", other.kind_word()))),
        None => Err(kind(at, "a number is needed")),
    }
}

/// A scalar as Go writes it: floats in the shortest form, with an exponent from a million on.
fn scalar_text(value: &Value) -> Option<String> {
    Some(match value.bare() {
        Value::Text(text) => text.to_string(),
        Value::Bool(value) => value.to_string(),
        Value::Int(value) => value.to_string(),
        Value::Float(value) => format::shortest(*value),
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
