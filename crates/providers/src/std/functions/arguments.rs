//! Arguments of functions, and errors about arguments.

use blueprint::Value;

/// Maximum number of items that a function may produce.
pub(super) const MOST_ITEMS: usize = 100_000;

/// The implementation of a function. Omitted arguments are null.
pub(super) type StdCode = fn(&[Value]) -> Result<Value, FunctionError>;

/// The error of a function, with the position of the argument at fault.
#[derive(Debug)]
pub(super) struct FunctionError {
    pub(super) code: &'static diag::Code,
    pub(super) message: String,
    pub(super) argument: Option<usize>,
}

/// The error for an argument outside its range.
pub(super) fn range(argument: usize, message: impl Into<String>) -> FunctionError {
    FunctionError {
        code: &expr::codes::ARGUMENT_RANGE,
        message: message.into(),
        argument: Some(argument),
    }
}

/// The error for an argument in a wrong format.
pub(super) fn form(argument: usize, message: impl Into<String>) -> FunctionError {
    FunctionError {
        code: &expr::codes::ARGUMENT_FORMAT,
        message: message.into(),
        argument: Some(argument),
    }
}

/// The error for an argument of a wrong type.
pub(super) fn kind(argument: usize, message: impl Into<String>) -> FunctionError {
    FunctionError {
        code: &expr::codes::ARGUMENT_TYPE,
        message: message.into(),
        argument: Some(argument),
    }
}

/// A text argument. Empty if it is not a text, which the declaration excludes.
pub(super) fn text_at(arguments: &[Value], at: usize) -> &str {
    arguments.get(at).and_then(Value::as_text).unwrap_or("")
}

/// A list argument. Empty if it is not a list, which the declaration excludes.
pub(super) fn list_at(arguments: &[Value], at: usize) -> &[Value] {
    arguments
        .get(at)
        .and_then(Value::as_list)
        .unwrap_or_default()
}

/// An optional argument; `None` if it is omitted or null.
pub(super) fn given(arguments: &[Value], at: usize) -> Option<&Value> {
    arguments.get(at).filter(|value| !value.is_null())
}

/// An integer argument. Accepts floats without a fraction.
pub(super) fn integer_at(arguments: &[Value], at: usize) -> Result<i64, FunctionError> {
    match arguments.get(at).map(Value::unmarked) {
        Some(Value::Int(value)) => Ok(*value),
        Some(Value::Float(value)) if value.fract() == 0.0 && value.abs() < 9e15 => {
            Ok(*value as i64)
        }
        Some(other) => Err(kind(
            at,
            format!("an integer is needed, found {}", other.kind_word()),
        )),
        None => Err(kind(at, "an integer is needed")),
    }
}

/// A numeric argument as a float.
pub(super) fn float_at(arguments: &[Value], at: usize) -> Result<f64, FunctionError> {
    match arguments.get(at).map(Value::unmarked) {
        Some(Value::Int(value)) => Ok(*value as f64),
        Some(Value::Float(value)) => Ok(*value),
        Some(other) => Err(kind(
            at,
            format!("a number is needed, found {}", other.kind_word()),
        )),
        None => Err(kind(at, "a number is needed")),
    }
}
