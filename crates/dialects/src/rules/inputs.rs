//! Values of inputs: of a root from given values, of a child from the values that the document above passes.

use blueprint::{Input, Name, Value};
use diag::{Diagnostics, Span};

/// A value that is given for an input from outside.
#[derive(Clone, Copy, Debug)]
pub enum GivenValue<'a> {
    /// A value of its own kind.
    Typed(&'a Value),
    /// Text, which the input's type says how to read.
    Text(&'a str),
}

/// The native value of an input from a given one. None: it is in error, which was reported.
pub type NativeInput<'a> = &'a dyn Fn(Option<GivenValue<'_>>, &mut Diagnostics) -> Option<Value>;

/// The native value of a child's input from a passed one. None: it is in error, which was reported.
pub type NativePassedInput<'a> = &'a dyn Fn(Option<&Value>, &mut Diagnostics) -> Option<Value>;

/// How a dialect makes the values of inputs.
pub trait InputRules: Send + Sync {
    /// The value of an input of the root. None: it is in error, which was reported.
    fn value(
        &self,
        _name: &Name,
        _input: &Input,
        given: Option<GivenValue<'_>>,
        native: NativeInput<'_>,
        found: &mut Diagnostics,
    ) -> Option<Value> {
        native(given, found)
    }

    /// The value of an input of a child, from what its parent passes; `place` is where that is written. None: it is in
    /// error, which was reported.
    fn passed(
        &self,
        _name: &Name,
        _input: &Input,
        given: Option<&Value>,
        _place: Span,
        native: NativePassedInput<'_>,
        found: &mut Diagnostics,
    ) -> Option<Value> {
        native(given, found)
    }

    /// The passed value of an input as people see it; none where that is the input's value.
    fn shown(&self, _input: &Input, _written: &Value) -> Option<Value> {
        None
    }

    /// Whether an input can be declared immutable. If so, all inputs are remembered with the instance.
    fn are_remembered(&self) -> bool {
        false
    }

    /// Whether an input may not change once the instance exists.
    fn is_immutable(&self, _name: &Name, _input: &Input) -> bool {
        false
    }
}
