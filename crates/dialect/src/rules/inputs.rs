//! Values of inputs: for a root from given values, for a child from the values that the including
//! document passes.

use blueprint::{Input, Name, Value};
use diag::{Diagnostics, Span};

/// A value that is given for an input from outside.
#[derive(Clone, Copy, Debug)]
pub enum GivenValue<'a> {
    /// A value of its own kind.
    Typed(&'a Value),
    /// A text, which is parsed by the type of the input.
    Text(&'a str),
}

/// A function that returns the native value of an input for a given one. `None` if it is in error,
/// which was reported.
pub type NativeInput<'a> = &'a dyn Fn(Option<GivenValue<'_>>, &mut Diagnostics) -> Option<Value>;

/// A function that returns the native value of a child's input for a passed one. `None` if it is in
/// error, which was reported.
pub type NativePassedInput<'a> = &'a dyn Fn(Option<&Value>, &mut Diagnostics) -> Option<Value>;

/// The rules for the values of inputs.
pub trait InputRules: Send + Sync {
    /// The value of an input of the root. `None` if it is in error, which was reported.
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

    /// The value of an input of a child, from the value that its parent passes at `place`. `None`
    /// if it is in error, which was reported.
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

    /// The passed value of an input as users see it; `None` if it is the input's value.
    fn shown(&self, _input: &Input, _written: &Value) -> Option<Value> {
        None
    }

    /// Whether inputs can be declared immutable. In this case all inputs are stored with the
    /// instance.
    fn are_stored(&self) -> bool {
        false
    }

    /// Whether an input must not change once the instance exists.
    fn is_immutable(&self, _name: &Name, _input: &Input) -> bool {
        false
    }
}
