//! Values of inputs: for a root from given values, for a child from the values that the including
//! document passes.

use blueprint::{Input, Name, Value};
use diag::{Code, Diagnostics, Span};

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

/// A question to a provider about the value of an input: a call of a function, which refuses a value
/// that does not fit.
#[derive(Clone, Debug)]
pub struct InputQuestion {
    /// The function with its provider: `openstack/object_id`.
    pub function: &'static str,
    /// The arguments of the call, in order.
    pub arguments: Vec<Value>,
    /// The code of the note that the value was not checked. It holds until the question is answered.
    pub note: &'static Code,
}

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

    /// The questions to providers about a known value of an input. They are asked when a plan is made.
    fn questions(&self, _name: &Name, _input: &Input, _value: &Value) -> Vec<InputQuestion> {
        Vec::new()
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
