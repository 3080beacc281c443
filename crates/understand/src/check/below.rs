//! What a document hands to its children, as far as that is known before anything exists (reference of Heat, D12).
//!
//! Not here: which inputs a child has to be given (`foreign`, `children`); what is handed down at stage (`resolve`).

use std::collections::HashMap;

use blueprint::{Blueprint, Child, Expr, Name, Value};
use diag::{Diagnostic, Diagnostics};

/// What one child is handed.
#[derive(Clone, Debug, Default)]
pub struct Passed {
    /// For each of its inputs, by position; unknown ones where nothing is known.
    pub values: Vec<Value>,
    /// What is wrong with its own defaults, which count here.
    pub theirs: Diagnostics,
}

impl Passed {
    /// Whether it says more than that nothing is known.
    pub fn says_something(&self) -> bool {
        self.values.iter().any(|value| !value.is_unknown()) || !self.theirs.is_empty()
    }
}

/// What a child whose document is `below` is handed; none where its dialect makes values in the native way. `value` says what
/// an expression comes to, nothing for one in error. What does not fit goes to `found`,
/// after `place` has completed what is said of it.
pub fn pass_down(
    child: &Child,
    below: &Blueprint,
    mut value: impl FnMut(&Expr) -> Option<Value>,
    found: &mut Diagnostics,
    place: impl Fn(&mut Diagnostic, &str, &Expr),
) -> Option<Passed> {
    let conventions = dialects::conventions(below.dialect)?;
    let given: HashMap<&Name, &Expr, foldhash::fast::FixedState> =
        child.inputs.iter().map(|(name, expr)| (&name.item, expr)).collect();
    let mut passed = Passed { values: Vec::with_capacity(below.inputs.len()), theirs: Diagnostics::new() };
    for (name, input) in &below.inputs {
        let mut said = Diagnostics::new();
        let value = match given.get(name) {
            Some(expr) => {
                value(expr).and_then(|value| conventions.handed(name, input, Some(&value), expr.span, &mut said))
            }
            // That it is missing is said elsewhere.
            None if input.default.is_none() => None,
            None => conventions.handed(name, input, None, child.span, &mut said),
        };
        let default = input.default.as_ref().map(|default| default.span);
        let is_theirs = |one: &Diagnostic| default.is_some_and(|default| default.is_some() && default == one.span());
        for mut one in said {
            if is_theirs(&one) {
                passed.theirs.push(one);
                continue;
            }
            if let Some(expr) = given.get(name) {
                place(&mut one, name, expr);
            }
            found.push(one);
        }
        passed.values.push(value.unwrap_or_else(|| Value::unknown(None, None).tainted(input.secret)));
    }
    Some(passed)
}
