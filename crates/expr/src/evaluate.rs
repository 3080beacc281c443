//! From an expression to a value: the entry point of the evaluator.
//!
//! Not here: what names mean ([`Scope`]), what single functions do (`functions`), static checks (`engine::check`).

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

/// The value of an expression, or why there is none. Warnings beside a value go to `found`, and where several members of
/// a list, map or text fail, so do all failures but the first. With [`Stop::Ask`] nothing is added: begin again then.
///
/// Total: depth is bounded at 256 and a result by the [`Meter`] of the scope, 10 MiB without one (`argument-range` of a call,
/// `value-too-large` of what is written out, decision A17). `none` items of lists and entries of maps
/// are dropped (decision A13) unless they are written as null in the document; unknown and secret arguments spread by decisions A14 and A15.
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
