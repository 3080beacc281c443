//! Checks that a condition is a boolean, or `none`, which counts as false
//! (decisions/blueprint#and-or-not, decisions/blueprint#form-of-a-condition).
//!
//! Not here: the shape of a condition (`invalid-condition`, `condition-constant`), which the
//! dialect reports.

use blueprint::{Expr, ExprKind, Type};
use expr::codes as language;

use super::types::with_article;
use super::{Checker, ExpressionContext};

impl Checker<'_> {
    /// Checks a condition. Compound conditions are choices or calls outside of substitutions.
    pub(super) fn condition(&mut self, condition: &Expr, place: ExpressionContext<'_>) {
        match &condition.kind {
            ExprKind::Call(call) => {
                return call
                    .arguments
                    .iter()
                    .for_each(|argument| self.condition(&argument.value, place));
            }
            ExprKind::Choice(choice) => {
                return [&choice.condition, &choice.then, &choice.otherwise]
                    .into_iter()
                    .for_each(|part| self.condition(part, place));
            }
            _ => {}
        }
        let ty = self.infer(condition, place);
        if ty
            .alternatives()
            .iter()
            .any(|ty| ty.is_open() || matches!(ty, Type::Bool | Type::Null))
        {
            return;
        }
        let diagnostic = language::TYPE_MISMATCH
            .new("a condition must be a boolean")
            .label(condition.span, format!("this is {}", with_article(&ty)));
        self.found.push(match ty {
            Type::Text => diagnostic.help("compare the text: `eq(.., \"true\")`"),
            _ => diagnostic.help("compare it, for instance with `eq(..)`"),
        });
    }
}
