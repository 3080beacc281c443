//! A function, and a row of the table of functions.

use super::given::Given;
use crate::failure::Step;
use crate::model::{Datum, Machine};
use crate::signature::Parameter;

/// How a function may be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// `f(x)`.
    Plain,
    /// `x.f()`.
    Method,
    /// Either way.
    Both,
    /// By an operator or brackets.
    Operator,
    /// `x.name`.
    Property,
}

/// A function.
pub struct Function {
    /// What it is called; of operators and properties what is written for them.
    pub name: &'static str,
    /// How it may be called.
    pub how: How,
    /// What it takes, a receiver first.
    pub parameters: Vec<Parameter>,
    /// What it does, in a sentence.
    pub summary: &'static str,
    /// An expression that shows it, and its value as JSON.
    pub example: (&'static str, &'static str),
    /// Whether `a => b` is a pair to it and no argument with a name.
    pub takes_rules: bool,
    /// Whether it is there only where [`crate::Limits::text_format`] says so.
    pub needs_text_format: bool,
    pub(crate) run: Run,
}

/// What a function does.
pub(crate) type Run = fn(&mut Machine<'_>, Given) -> Step<Datum>;

/// A row of the table as it is written.
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) how: How,
    pub(super) signature: &'static str,
    pub(super) run: Run,
    pub(super) takes_rules: bool,
    pub(super) needs_text_format: bool,
    pub(super) summary: &'static str,
    pub(super) example: (&'static str, &'static str),
}

pub(super) const fn row(name: &'static str, how: How, signature: &'static str, run: Run) -> Row {
    Row { name, how, signature, run, takes_rules: false, needs_text_format: false, summary: "", example: ("", "") }
}

pub(super) const fn plain(name: &'static str, signature: &'static str, run: Run) -> Row {
    row(name, How::Plain, signature, run)
}

pub(super) const fn method(name: &'static str, signature: &'static str, run: Run) -> Row {
    row(name, How::Method, signature, run)
}

pub(super) const fn both(name: &'static str, signature: &'static str, run: Run) -> Row {
    row(name, How::Both, signature, run)
}

pub(super) const fn operator(name: &'static str, signature: &'static str, run: Run) -> Row {
    row(name, How::Operator, signature, run)
}

pub(super) const fn property(name: &'static str, signature: &'static str, run: Run) -> Row {
    row(name, How::Property, signature, run)
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

    /// What it does, and an example with its value.
    pub(super) const fn says(mut self, summary: &'static str, expression: &'static str, value: &'static str) -> Row {
        self.summary = summary;
        self.example = (expression, value);
        self
    }
}
