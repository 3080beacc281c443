//! Evaluates expressions. This module is the entry point of the evaluator.
//!
//! Not here: the meaning of names ([`Scope`]), the functions (`functions`), static checks (`understand::check`).

mod access;
mod call;
mod fault;
mod limits;
mod machine;
mod remember;
mod walk;

use blueprint::{Expr, Value};
use diag::Diagnostics;

use crate::FunctionTable;
use crate::scope::{Scope, Stop, Warnings};

pub use access::access;
pub(crate) use call::bind;
pub use call::{part_of, within};
pub(crate) use fault::{At, Fault, too_large};
pub(crate) use limits::bytes;
pub use limits::{Full, MOST, Meter, size, weight};
use machine::is_omitted;
pub(crate) use machine::{Arguments, Body, Machine, Site, known_type, unknown_of};
pub use machine::{may_omit, omitted};

/// Evaluates an expression. Warnings go to `found`. If several members of a list, map or text fail, all failures but
/// the first go there too. With [`Stop::Ask`] nothing is added to `found`; evaluate again with the answers.
///
/// Evaluation always terminates: the depth is limited to 256, and the size of a result by the [`Meter`] of the scope,
/// or to 10 MiB without one. Exceeding the limit fails with `argument-range` for a call and with `value-too-large` for
/// a written value (decision A17). `none` items of lists and entries of maps are dropped (decision A13) unless the
/// document writes them as null. Unknown and secret arguments propagate by decisions A14 and A15.
pub fn evaluate(
    expr: &Expr,
    functions: &FunctionTable,
    scope: &mut dyn Scope,
    found: &mut Warnings,
) -> Result<Value, Stop> {
    let mut machine = Machine {
        functions,
        scope,
        found: Diagnostics::new(),
        depth: 0,
        path: Vec::new(),
        scalar: None,
        drawn: 0,
        asked: Vec::new(),
        bodies: crate::functions::body,
    };
    let result = machine.member(expr).and_then(|value| machine.whole(expr, value));
    match result {
        Err(Stop::Ask(_)) => Err(Stop::Ask(machine.asked)),
        result => {
            found.append(std::mem::take(&mut machine.found));
            result.map(|value| if is_omitted(&value) { Value::Null } else { value })
        }
    }
}
