//! A compiled expression.

use std::sync::Arc;

use blueprint::Value;

use crate::convert;
use crate::drawing::ExternalValues;
use crate::failure::{EvaluationStop, Failure};
use crate::limits::EvaluationLimits;
use crate::model::{Machine, Scope};
use crate::parser;
use crate::tree::{Tree, Variable};

/// A compiled expression: parsed once, evaluated often. Cloning copies a pointer.
#[derive(Clone, Debug)]
pub struct Program(Arc<Tree>);

impl Program {
    /// Compiles a text. Fails at its first mistake.
    pub fn compile(text: &str) -> Result<Program, Failure> {
        match parser::parse(text) {
            Ok(tree) => Ok(Program(Arc::new(tree))),
            Err(failure) => Err(*failure),
        }
    }

    /// Evaluates the expression on data, which is `$` in it. The data must not contain unknown
    /// values; secret marks are ignored.
    ///
    /// Stops with a failure, or with the values that the caller must supply first.
    pub fn evaluate(
        &self,
        data: &Value,
        limits: &EvaluationLimits,
        drawing: &mut dyn ExternalValues,
    ) -> Result<Value, EvaluationStop> {
        self.evaluate_counted(data, limits, drawing, &mut 0)
    }

    /// Evaluates the expression as `evaluate` does, and adds the number of steps to `steps`, also
    /// if the evaluation fails.
    pub fn evaluate_counted(
        &self,
        data: &Value,
        limits: &EvaluationLimits,
        drawing: &mut dyn ExternalValues,
        steps: &mut u64,
    ) -> Result<Value, EvaluationStop> {
        let mut machine = Machine::new(&self.0, limits, drawing);
        let scope = Scope::root();
        scope.set(Variable::Number(1), convert::from_value(data));
        let root = &self.0.node(self.0.root).span;
        let value = machine.evaluate(self.0.root, &scope).and_then(|value| {
            machine.measure(&value)?;
            convert::to_value(&mut machine, value)
        });
        *steps += machine.steps();
        value.map_err(|halt| halt.at(root).into())
    }
}
