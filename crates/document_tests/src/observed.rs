//! What came of a step.

use blueprint::{IndexMap, Name, Value};

use crate::case::StepAction;

/// What came of a step. All lists are in the order of the plan.
#[derive(Clone, Debug, Default)]
pub struct ObservedStep {
    /// The resources of the plan. An action without a word in test files, such as a move, is `None`.
    pub actions: IndexMap<Name, Option<StepAction>>,
    /// The resources that were changed from outside.
    pub drifted: Vec<Name>,
    /// The resources that were deleted from outside.
    pub vanished: Vec<Name>,
    /// The specs of the resources, by address.
    pub specs: IndexMap<Name, Value>,
    /// The exported values.
    pub exports: IndexMap<Name, Value>,
    /// The assertions of the step, in its order; none if it was refused.
    pub assertions: Vec<ObservedAssertion>,
    /// The errors because of which the plan could not be made or carried out.
    pub mistakes: Vec<ObservedMistake>,
}

/// What came of an assertion.
#[derive(Clone, Debug)]
pub enum ObservedAssertion {
    /// The expression has a value.
    Value {
        /// The value.
        value: Value,
        /// The values of the two arguments of a comparison.
        sides: Option<(Value, Value)>,
    },
    /// The expression has no value.
    Failed(ObservedMistake),
}

/// An error in a document or in an operation.
#[derive(Clone, Debug)]
pub struct ObservedMistake {
    /// The code; empty for an error without a code.
    pub code: Name,
    /// The message.
    pub message: String,
    /// `FILE:LINE:COLUMN`; empty if it has no place.
    pub place: String,
}

impl ObservedMistake {
    /// The error as one line.
    pub(crate) fn line(&self) -> String {
        let code = match self.code.is_empty() {
            true => String::new(),
            false => format!("[{}]", self.code),
        };
        let place = match self.place.is_empty() {
            true => String::new(),
            false => format!(" ({})", self.place),
        };
        format!("error{code}: {}{place}", self.message)
    }
}
