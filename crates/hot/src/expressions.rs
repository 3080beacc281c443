//! The expressions of lowered templates: references, and calls of internal functions.

use blueprint::{Accessor, AccessorKind, Expr, ExprKind, Name, Ref, ReferenceHead, Value};
use diag::{Span, Spanned};

/// The name of the scoped reference to the instance, from which pseudo parameters are computed.
pub(super) const INSTANCE: &str = "instance";

/// The input through which a nested template reads the metadata and policies of its own resource.
pub(super) const FACADE: &str = "OS::facade";

/// The scoped reference to the children above a document, a list of names.
pub(super) const CHILD_PATH: &str = "unit";

/// The scoped reference to the instance and the children above a document, joined by `/`.
pub(super) const ADDRESS: &str = "address";

/// A function that fails with a given mistake, when it is evaluated or when its branch is known to
/// be read.
pub(super) const REFUSE: &str = "(refuse)";

pub(super) const REFUSE_READ: &str = "(refuse read)";

/// A reference with a computed name, until the name is known.
pub(super) const RESOURCE: &str = "(resource)";

/// An attribute whose resource or name is computed, until both are known.
pub(super) const ATTRIBUTE: &str = "(attribute)";

/// `and` and `or`. The first argument is a list: the number of operands that are always evaluated,
/// and the written position of each operand.
pub(super) const AND: &str = "(and)";

pub(super) const OR: &str = "(or)";

/// A condition with a computed name.
pub(super) const NAMED: &str = "(named condition)";

/// The identifier of the stack of a document.
pub(super) const STACK_ID: &str = "(stack id)";

/// A reference with a path of names.
pub(super) fn reference(head: ReferenceHead, span: Span, path: &[&str]) -> Expr {
    let path = path
        .iter()
        .map(|name| Accessor {
            kind: AccessorKind::Name(Name::from(*name)),
            span,
        })
        .collect::<Vec<_>>();
    Expr::new(
        ExprKind::Ref(Box::new(Ref {
            head,
            head_span: span,
            path,
        })),
        span,
    )
}

/// A name with its place.
pub(super) fn named(text: &str, span: Span) -> Spanned<Name> {
    Spanned::new(Name::from(text), span)
}

/// The value of the literal parts of an expression; all other parts are unknown.
pub(super) fn literal_value(expr: &Expr) -> Value {
    match &expr.kind {
        ExprKind::Literal(value) => value.clone(),
        ExprKind::List(items) => Value::list(items.iter().map(literal_value)),
        ExprKind::Map(entries) => Value::map(
            entries
                .iter()
                .map(|(key, value)| (key.item.clone(), literal_value(value))),
        ),
        _ => Value::unknown(None, None),
    }
}
