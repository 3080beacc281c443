//! Computes the inputs of children, as far as they are known before deployment
//! (decisions/heat#checks-of-nested-templates).
//!
//! Not here: which inputs a child requires (`by_value`, `children`); the inputs at stage
//! (`evaluate::resolve`).

use std::collections::HashMap;

use blueprint::{Blueprint, Child, Expr, Input, Name, Value};
use diag::{Diagnostic, Diagnostics};
use dialect::{CheckedBy, DialectRules};

use super::value::exported;

/// The inputs of one child.
#[derive(Clone, Debug, Default)]
pub struct PassedInputs {
    /// The inputs by position; Unknown if not known.
    pub values: Vec<Value>,
    /// The errors of the child's own defaults that apply here.
    pub default_errors: Diagnostics,
}

impl PassedInputs {
    /// Whether any input, or any error of a default, is known.
    pub fn is_known(&self) -> bool {
        self.values.iter().any(|value| !value.is_unknown()) || !self.default_errors.is_empty()
    }
}

/// The inputs that a child with the document `child_document` receives; `None` if its dialect
/// checks inputs by type. `value` evaluates an expression and returns `None` after an error. Errors
/// go to `found`, after `complete` has completed them.
pub fn compute_passed_inputs(
    child: &Child,
    child_document: &Blueprint,
    rules: &DialectRules,
    mut value: impl FnMut(&Expr) -> Option<Value>,
    found: &mut Diagnostics,
    complete: impl Fn(&mut Diagnostic, &str, &Expr),
) -> Option<PassedInputs> {
    if rules.checks.inputs == CheckedBy::Type {
        return None;
    }
    let given: HashMap<&Name, &Expr, foldhash::fast::FixedState> = child
        .inputs
        .iter()
        .map(|(name, expr)| (&name.item, expr))
        .collect();
    let mut passed = PassedInputs {
        values: Vec::with_capacity(child_document.inputs.len()),
        default_errors: Diagnostics::new(),
    };
    for (name, input) in &child_document.inputs {
        let mut mistakes = Diagnostics::new();
        let value = match given.get(name) {
            Some(expr) => {
                let native = |given: Option<&Value>, found: &mut Diagnostics| match given {
                    Some(given) => exported(given.clone(), &input.ty, expr, found).ok(),
                    None => default_of(input),
                };
                let passed = |value| {
                    rules.inputs.passed(
                        name,
                        input,
                        Some(&value),
                        expr.span,
                        &native,
                        &mut mistakes,
                    )
                };
                value(expr).and_then(passed)
            }
            // Another check reports the missing input.
            None if input.default.is_none() => None,
            None => {
                let native = |_: Option<&Value>, _: &mut Diagnostics| default_of(input);
                rules
                    .inputs
                    .passed(name, input, None, child.span, &native, &mut mistakes)
            }
        };
        let default = input.default.as_ref().map(|default| default.span);
        let is_default_error = |one: &Diagnostic| {
            default.is_some_and(|default| default.is_some() && default == one.span())
        };
        for mut one in mistakes {
            if is_default_error(&one) {
                passed.default_errors.push(one);
                continue;
            }
            if let Some(expr) = given.get(name) {
                complete(&mut one, name, expr);
            }
            found.push(one);
        }
        passed
            .values
            .push(value.unwrap_or_else(|| Value::unknown(None, None).tainted(input.secret)));
    }
    Some(passed)
}

fn default_of(input: &Input) -> Option<Value> {
    input
        .default
        .as_ref()
        .map(|default| default.item.clone().tainted(input.secret))
}
