//! Applies differences between versions to a parsed expression: `none`, and `.state` for `.spec` (decision 0).

use ::blueprint::{AccessorKind, Expr, ExprKind, Ref, ReferenceHead, TextPart, Value};
use expr::codes::UNKNOWN_FIELD;

use super::lowering::Lowering;
use super::version::{NONE, Version};
use crate::codes::STATE_ALIAS;

impl Lowering<'_> {
    /// Applies the differences to every part of a parsed expression.
    pub(super) fn settle(&mut self, expr: &mut Expr) {
        match &mut expr.kind {
            ExprKind::Literal(Value::Null) => self.newer(expr.span, "`none`"),
            ExprKind::Ref(reference) => {
                if matches!(&reference.head, ReferenceHead::Scoped(name) if &**name == NONE) {
                    reference.head = ReferenceHead::Resource { name: NONE.into(), bare: true };
                }
                if !self.settle_state(reference) {
                    expr.kind = ExprKind::Error;
                }
            }
            ExprKind::Access(inner, _) => self.settle(inner),
            ExprKind::Substitution(inner) => self.settle(inner),
            ExprKind::Text(parts) => {
                for part in parts {
                    if let TextPart::Expr(expr, _) = part {
                        self.settle(expr);
                    }
                }
            }
            ExprKind::Call(call) => {
                for argument in &mut call.arguments {
                    self.settle(&mut argument.value);
                }
            }
            ExprKind::List(items) => items.iter_mut().for_each(|item| self.settle(item)),
            ExprKind::Map(entries) => entries.iter_mut().for_each(|(_, value)| self.settle(value)),
            ExprKind::Choice(choice) => {
                self.settle(&mut choice.condition);
                self.settle(&mut choice.then);
                self.settle(&mut choice.otherwise);
            }
            ExprKind::Literal(_) | ExprKind::Function(_) | ExprKind::Error => {}
        }
    }

    /// Turns `.state` of a resource into `.spec` if the version allows it. Otherwise reports it and returns `false`.
    fn settle_state(&mut self, reference: &mut Ref) -> bool {
        if !matches!(reference.head, ReferenceHead::Resource { .. }) {
            return true;
        }
        let field = match reference.path.as_mut_slice() {
            [index, field, ..] if matches!(index.kind, AccessorKind::Index(_)) => field,
            [field, ..] => field,
            [] => return true,
        };
        if !matches!(&field.kind, AccessorKind::Name(name) if &**name == "state") {
            return true;
        }
        let fix = vec![(field.span, ".spec".to_owned())];
        match self.version {
            Version::First => {
                self.found.push(
                    STATE_ALIAS
                        .new("`.state` is read as `.spec`")
                        .label(field.span, "fields are under `.spec`, computed ones too")
                        .help("write `.spec`")
                        .fix("write `.spec`", fix, true),
                );
                field.kind = AccessorKind::Name("spec".into());
                true
            }
            Version::Later => {
                self.found.push(
                    UNKNOWN_FIELD
                        .new("a resource has no `state`")
                        .label(field.span, "not a field")
                        .help("did you mean `.spec`?")
                        .fix("write `.spec`", fix, false),
                );
                false
            }
        }
    }
}
