//! The condition of a resource: one substitution, or `and`, `or`, `not` of conditions
//! (decisions/blueprint#and-or-not, decisions/blueprint#form-of-a-condition).

use blueprint::{ChoiceExpr, Expr, ExprKind, Value};
use diag::Span;
use syntax::{Content, Node, Scalar};

use super::lowering::{Lowering, value_span};
use super::scalar::{Typed, has_substitution, typed};
use super::shape;
use dialect::codes::{CONDITION_CONSTANT, INVALID_CONDITION};

impl Lowering<'_> {
    pub(super) fn condition(&mut self, node: &Node) -> Expr {
        match &node.content {
            Content::Scalar(scalar) => self.condition_text(node, scalar),
            Content::Map(_) => self.condition_map(node),
            Content::List(_) => {
                self.wrong_shape(node, "condition", "a substitution or a map");
                Expr::error(node.span)
            }
            Content::Missing => Expr::error(node.span),
        }
    }

    fn condition_text(&mut self, node: &Node, scalar: &Scalar) -> Expr {
        let constant = match (typed(node, scalar), &*scalar.text) {
            (Typed::Bool(value), _) => Some(value),
            (Typed::Text, "true") => Some(true),
            (Typed::Text, "false") => Some(false),
            _ => None,
        };
        if let Some(value) = constant {
            let effect = if value {
                "the resource is always there"
            } else {
                "the resource is never there"
            };
            self.found.push(
                CONDITION_CONSTANT
                    .new(format!("the condition is always {value}"))
                    .label(value_span(node), effect)
                    .help("write a substitution, or remove the condition or the resource"),
            );
            return Expr::literal(Value::Bool(value), node.span);
        }
        let before = self.found.len();
        let expr = if has_substitution(&scalar.text) {
            self.text_expr(node, scalar)
        } else {
            Expr::error(node.span)
        };
        if matches!(expr.kind, ExprKind::Substitution(_)) {
            return expr;
        }
        if self.found.len() == before {
            self.found.push(
                INVALID_CONDITION
                    .new("a condition is one substitution")
                    .label(value_span(node), "not exactly one `${..}`")
                    .help("as in `${eq(variables.stage, \"production\")}`"),
            );
        }
        Expr::error(node.span)
    }

    fn condition_map(&mut self, node: &Node) -> Expr {
        let before = self.found.len();
        let fields = self.fields(&shape::CONDITION, node.as_map(), node.span);
        let mut set: Vec<_> = shape::CONDITION
            .keys
            .iter()
            .filter_map(|key| Some((key.name, fields.entry(key.name)?)))
            .collect();
        set.sort_by_key(|(_, entry)| entry.key.span.start);
        let mut set = set.into_iter();
        let Some((word, entry)) = set.next() else {
            if self.found.len() == before {
                self.invalid(
                    value_span(node),
                    "a condition needs `and`, `or` or `not`",
                    "has none of them",
                );
            }
            return Expr::error(node.span);
        };
        if let Some((other, second)) = set.next() {
            self.found.push(
                INVALID_CONDITION
                    .new(format!(
                        "a condition has one of `and`, `or`, `not`, here are `{word}` and `{other}`"
                    ))
                    .label(second.key.span, "a second one")
                    .label(entry.key.span, "the first")
                    .help("put one into a condition of the other"),
            );
            return Expr::error(node.span);
        }
        let value = &entry.value;
        if word == "not" {
            let inner = self.condition(value);
            return choice(
                inner,
                boolean(false, node.span),
                boolean(true, node.span),
                node.span,
            );
        }
        let items = value.as_list().unwrap_or(&[]);
        if items.is_empty() {
            self.invalid(
                value_span(value),
                &format!("`{word}` needs at least one condition"),
                "an empty list",
            );
            return Expr::error(node.span);
        }
        let mut conditions = Vec::with_capacity(items.len());
        for item in items {
            if !self.null_item(item, "a condition") {
                conditions.push(self.condition(item));
            }
        }
        combine(conditions, word == "and", node.span)
    }

    fn invalid(&mut self, span: Span, message: &str, label: &str) {
        self.found.push(
            INVALID_CONDITION
                .new(message)
                .label(span, label)
                .help("add a condition"),
        );
    }
}

fn boolean(value: bool, span: Span) -> Expr {
    Expr::literal(Value::Bool(value), span)
}

fn choice(condition: Expr, then: Expr, otherwise: Expr, span: Span) -> Expr {
    Expr::new(
        ExprKind::Choice(Box::new(ChoiceExpr {
            condition,
            then,
            otherwise,
        })),
        span,
    )
}

/// Combines conditions that are decided from left to right. The list is halved, so that a long list
/// does not become a deep tree.
fn combine(mut conditions: Vec<Expr>, all: bool, span: Span) -> Expr {
    if conditions.len() > 2 {
        let rest = conditions.split_off(conditions.len() / 2);
        conditions = vec![combine(conditions, all, span), combine(rest, all, span)];
    }
    let mut conditions = conditions.into_iter();
    match (conditions.next(), conditions.next()) {
        (Some(first), Some(second)) if all => choice(first, second, boolean(false, span), span),
        (Some(first), Some(second)) => choice(first, boolean(true, span), second, span),
        (Some(only), None) => only,
        _ => Expr::error(span),
    }
}
