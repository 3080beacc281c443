//! Evaluates expressions. This module is the entry point of the evaluator.
//!
//! Not here: the meaning of names ([`Scope`]), the functions (`functions`), static checks
//! (`understand::check`).

mod access;
mod call;
mod fault;
mod limits;
mod machine;
mod memoise;
mod walk;

use blueprint::{Expr, Value};
use diag::Diagnostics;

use crate::FunctionTable;
use crate::scope::{EvaluationStop, Scope, Warnings};

pub use access::access;
pub(crate) use call::{bind, conceal_fault};
pub use call::{part_of, span_at_path};
pub(crate) use fault::{At, Fault, too_large};
pub(crate) use limits::bytes;
pub use limits::{LimitExceeded, MAX_VALUE_BYTES, Meter, size, weight};
use machine::is_omitted;
pub(crate) use machine::{
    CallSite, FunctionBody, Machine, SuppliedArguments, known_type, unknown_of,
};
pub use machine::{may_omit, omitted};

/// Evaluates an expression. `found` receives warnings and additional errors: if several members of
/// a list, map or text fail, the first error is the result. With [`EvaluationStop::Ask`] nothing is
/// added to `found`; evaluate again with the answers.
///
/// Evaluation always terminates: the depth is limited to 256, and the size of a value by the
/// [`Meter`] of the scope, or to 10 MiB without one (decisions/blueprint#limits-of-evaluation). The
/// limit of one value fails with `argument-range` for a call or an interpolated text, and with
/// `value-too-large` for a list, map or conditional. Nesting the expression too deep fails with
/// `argument-range`. If the document's total is exceeded, evaluation stops with
/// [`EvaluationStop::Reported`], and the owner of the meter reports it.
///
/// `none` items of lists and entries of maps are dropped (decisions/blueprint#none) unless the
/// document writes them as null. Unknown and secret arguments propagate by
/// decisions/blueprint#unknown-values and decisions/blueprint#secret-values.
pub fn evaluate(
    expr: &Expr,
    functions: &FunctionTable,
    scope: &mut dyn Scope,
    found: &mut Warnings,
) -> Result<Value, EvaluationStop> {
    let mut machine = Machine {
        functions,
        scope,
        found: Diagnostics::new(),
        depth: 0,
        path: Vec::new(),
        scalar: None,
        callback_calls: 0,
        asked: Vec::new(),
        bodies: crate::functions::body,
    };
    let result = machine
        .document_value(expr)
        .and_then(|value| machine.check_size(expr, value));
    match result {
        Err(EvaluationStop::Ask(_)) => Err(EvaluationStop::Ask(machine.asked)),
        result => {
            found.append(std::mem::take(&mut machine.found));
            result.map(|value| {
                if is_omitted(&value) {
                    Value::Null
                } else {
                    value
                }
            })
        }
    }
}
