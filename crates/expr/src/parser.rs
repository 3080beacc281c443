//! From tokens to expressions, never failing.

use blueprint::{Expr, Value};
use diag::{Diagnostics, Span, TextMap};

use crate::FunctionTable;

/// The expression of a scalar's decoded text (section 1.2).
///
/// Text without `${` is a literal string; text that is exactly one substitution, apart from line breaks around it, is
/// an [`ExprKind::Substitution`](blueprint::ExprKind::Substitution) (ruling A5); anything else is interpolated text.
/// `span` is the whole scalar; `map` places the decoded text. What is wrong goes to `found`, each mistake once.
pub fn parse_text(text: &str, map: &TextMap, span: Span, functions: &FunctionTable, found: &mut Diagnostics) -> Expr {
    let _ = (map, functions, found);
    Expr::literal(Value::text(text), span)
}

/// The expression of a bare reference path, as in an export's `field` (sections 1.6, 4.2): no `${`, no call.
pub fn parse_reference(text: &str, map: &TextMap, span: Span, found: &mut Diagnostics) -> Expr {
    let _ = (text, map, found);
    Expr::error(span)
}
