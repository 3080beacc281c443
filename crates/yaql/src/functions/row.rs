//! A function, and a row of the table of functions.

use super::given::CallArguments;
use crate::failure::Evaluated;
use crate::model::{Datum, Machine};
use crate::signature::Parameter;

/// The form of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallForm {
    /// `f(x)`.
    Plain,
    /// `x.f()`.
    Method,
    /// `f(x)` or `x.f()`.
    Both,
    /// An operator or brackets.
    Operator,
    /// `x.name`.
    Property,
}

/// A function of yaql.
pub struct YaqlFunction {
    /// The name; for operators and properties an internal name.
    pub name: &'static str,
    /// The form of a call of the function.
    pub how: CallForm,
    /// The parameters, the receiver first.
    pub parameters: Vec<Parameter>,
    /// The description, one sentence.
    pub summary: &'static str,
    /// An example expression, and its value as JSON.
    pub example: (&'static str, &'static str),
    /// Whether `a => b` is a pair for this function, not a named argument.
    pub takes_rules: bool,
    /// Whether the function exists only with [`crate::EvaluationLimits::text_format`].
    pub needs_text_format: bool,
    pub(crate) run: FunctionCode,
}

/// The implementation of a function.
pub(crate) type FunctionCode = fn(&mut Machine<'_>, CallArguments) -> Evaluated<Datum>;

/// A row of the table of functions.
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) how: CallForm,
    pub(super) signature: &'static str,
    pub(super) run: FunctionCode,
    pub(super) takes_rules: bool,
    pub(super) needs_text_format: bool,
    pub(super) summary: &'static str,
    pub(super) example: (&'static str, &'static str),
}

pub(super) const fn row(
    name: &'static str,
    how: CallForm,
    signature: &'static str,
    run: FunctionCode,
) -> Row {
    Row {
        name,
        how,
        signature,
        run,
        takes_rules: false,
        needs_text_format: false,
        summary: "",
        example: ("", ""),
    }
}

pub(super) const fn plain(name: &'static str, signature: &'static str, run: FunctionCode) -> Row {
    row(name, CallForm::Plain, signature, run)
}

pub(super) const fn method(name: &'static str, signature: &'static str, run: FunctionCode) -> Row {
    row(name, CallForm::Method, signature, run)
}

pub(super) const fn both(name: &'static str, signature: &'static str, run: FunctionCode) -> Row {
    row(name, CallForm::Both, signature, run)
}

pub(super) const fn operator(
    name: &'static str,
    signature: &'static str,
    run: FunctionCode,
) -> Row {
    row(name, CallForm::Operator, signature, run)
}

pub(super) const fn property(
    name: &'static str,
    signature: &'static str,
    run: FunctionCode,
) -> Row {
    row(name, CallForm::Property, signature, run)
}

impl Row {
    pub(super) const fn taking_rules(mut self) -> Row {
        self.takes_rules = true;
        self
    }

    pub(super) const fn needing_text_format(mut self) -> Row {
        self.needs_text_format = true;
        self
    }

    /// Sets the description, and an example with its value.
    pub(super) const fn documented(
        mut self,
        summary: &'static str,
        expression: &'static str,
        value: &'static str,
    ) -> Row {
        self.summary = summary;
        self.example = (expression, value);
        self
    }
}
