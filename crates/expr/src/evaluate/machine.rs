//! The state of one evaluation, which the bodies of functions share.
//!
//! Not here: walking an expression (`walk`), calls (`call`).

use std::sync::Arc;

use blueprint::{Argument, CallExpr, Expr, ExprKind, Function, Name, Type, Unknown, Value};
use diag::{Diagnostic, Diagnostics, Span};

use super::fault::{At, Fault};
use crate::codes;
use crate::function::{FunctionDef, FunctionTable};
use crate::scope::{Ask, EvaluationStop, Scope};

/// The value that stands for an omitted member of a list or map, in languages where null is an
/// ordinary member. Anywhere else it counts as null.
pub fn omitted() -> Value {
    Value::Function(Arc::new(Function {
        name: OMITTED.into(),
        bound: Vec::new(),
    }))
}

/// Whether an expression may evaluate to [`omitted`], judged by its literals and conditionals.
pub fn may_omit(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Literal(value) => is_omitted(value),
        ExprKind::Choice(choice) => may_omit(&choice.then) || may_omit(&choice.otherwise),
        _ => false,
    }
}

/// The name of the function value, which no function in a table has.
const OMITTED: &str = "";

pub(super) fn is_omitted(value: &Value) -> bool {
    matches!(value.unmarked(), Value::Function(function) if function.name.is_empty())
}

/// The maximum nesting depth of calls, lists and maps (decisions/blueprint#limits-of-evaluation).
pub(super) const DEPTH: usize = 256;

/// A step of the path inside the element under evaluation.
pub(super) enum ElementStep {
    Key(Name),
    Index(usize),
}

/// The state of one evaluation.
pub(crate) struct Machine<'a> {
    pub(super) functions: &'a FunctionTable,
    pub(super) scope: &'a mut dyn Scope,
    pub(super) found: Diagnostics,
    pub(super) depth: usize,
    pub(super) path: Vec<ElementStep>,
    /// The scalar under evaluation, for numbering its memoised calls.
    pub(super) scalar: Option<&'a Expr>,
    /// The number of memoised calls so far that callbacks made. They have no position in the
    /// scalar.
    pub(super) callback_calls: u32,
    /// All questions so far, so that they can be asked together.
    pub(super) asked: Vec<Ask>,
    /// The bodies of the core functions, by name.
    pub(super) bodies: fn(&str) -> Option<FunctionBody>,
}

/// The body of a function.
pub(crate) enum FunctionBody {
    /// Takes known arguments without secret marks.
    Plain(fn(&[Value], &mut Vec<Fault>) -> Result<Value, Fault>),
    /// Takes evaluated arguments, some of which may be unknown or secret.
    Open(for<'a> fn(&mut Machine<'a>, &CallSite<'a>, Vec<Value>) -> Result<Value, EvaluationStop>),
    /// Evaluates its arguments itself (decisions/blueprint#order-of-evaluation).
    Lazy(
        for<'a> fn(
            &mut Machine<'a>,
            &'a FunctionDef,
            &CallSite<'a>,
            &SuppliedArguments<'a>,
        ) -> Result<Value, EvaluationStop>,
    ),
}

/// The place of a call, for diagnostics.
pub(crate) struct CallSite<'a> {
    pub(crate) call: Span,
    pub(super) name: Span,
    pub(crate) function: &'a str,
    /// The call as written; `None` for a callback.
    pub(super) written: Option<&'a CallExpr>,
    /// The index of the item for which a callback runs.
    pub(super) item: Option<usize>,
}

/// The arguments of a call: expressions, or the values that a callback receives.
pub(crate) enum SuppliedArguments<'a> {
    Written(&'a [Argument]),
    Given(Vec<Value>),
}

impl SuppliedArguments<'_> {
    pub(crate) fn len(&self) -> usize {
        match self {
            SuppliedArguments::Written(arguments) => arguments.len(),
            SuppliedArguments::Given(values) => values.len(),
        }
    }

    /// The name written before an argument.
    pub(crate) fn name(&self, at: usize) -> Option<&Name> {
        match self {
            SuppliedArguments::Written(arguments) => {
                arguments.get(at)?.name.as_ref().map(|name| &name.item)
            }
            SuppliedArguments::Given(_) => None,
        }
    }
}

impl<'a> CallSite<'a> {
    /// The call as written; `None` for a callback.
    pub(crate) fn written(&self) -> Option<&'a CallExpr> {
        self.written
    }

    pub(super) fn place(&self, at: At) -> Span {
        match at {
            At::Call => self.call,
            At::Name => self.name,
            At::Argument(at) => {
                let argument = self.written.and_then(|call| call.arguments.get(at));
                argument.map_or(self.call, |argument| argument.value.span)
            }
        }
    }
}

/// An unknown value that waits for everything that the given values wait for.
pub(crate) fn unknown_of(ty: Option<Type>, values: &[Value]) -> Value {
    let mut waits_for = Vec::new();
    values
        .iter()
        .for_each(|value| value.waits_for(&mut waits_for));
    Value::Unknown(Arc::new(Unknown { ty, waits_for }))
}

/// The type of a value; for an unknown value as far as known.
pub(crate) fn known_type(value: &Value) -> Option<Type> {
    match value.unmarked() {
        Value::Unknown(unknown) => unknown.ty.clone(),
        other => Some(Type::of(other)),
    }
}

/// The diagnostic for a function where data is needed.
pub(crate) fn function_as_value(name: &str, span: Span) -> Diagnostic {
    codes::FUNCTION_AS_VALUE
        .new(format!("the function `{name}` is no value"))
        .label(span, "data is needed here")
        .help("call it, or pass it to a function such as `map`")
}
