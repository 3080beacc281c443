//! Applies differences between versions to a parsed expression: `none`, and `.state` for `.spec`
//! (decisions/blueprint#feature-table).

use blueprint::{AccessorKind, Expr, ExprKind, Ref, ReferenceHead, TextPart, Value};
use expr::codes::UNKNOWN_FIELD;

use super::lowering::Lowering;
use super::version::{NONE, Version};
use dialect::codes::STATE_ALIAS;

impl Lowering<'_> {
    /// Applies the differences to every part of a parsed expression.
    pub(super) fn apply_version(&mut self, expr: &mut Expr) {
        match &mut expr.kind {
            ExprKind::Literal(Value::Null) => self.report_newer_feature(expr.span, "`none`"),
            ExprKind::Ref(reference) => {
                if matches!(&reference.head, ReferenceHead::Scoped(name) if &**name == NONE) {
                    reference.head = ReferenceHead::Resource {
                        name: NONE.into(),
                        bare: true,
                    };
                }
                if !self.resolve_state_alias(reference) {
                    expr.kind = ExprKind::Error;
                }
            }
            ExprKind::Access(inner, _) => self.apply_version(inner),
            ExprKind::Substitution(inner) => self.apply_version(inner),
            ExprKind::Text(parts) => {
                for part in parts {
                    if let TextPart::Expr(expr, _) = part {
                        self.apply_version(expr);
                    }
                }
            }
            ExprKind::Call(call) => {
                for argument in &mut call.arguments {
                    self.apply_version(&mut argument.value);
                }
            }
            ExprKind::List(items) => items.iter_mut().for_each(|item| self.apply_version(item)),
            ExprKind::Map(entries) => entries
                .iter_mut()
                .for_each(|(_, value)| self.apply_version(value)),
            ExprKind::Choice(choice) => {
                self.apply_version(&mut choice.condition);
                self.apply_version(&mut choice.then);
                self.apply_version(&mut choice.otherwise);
            }
            ExprKind::Literal(_) | ExprKind::Function(_) | ExprKind::Error => {}
        }
    }

    /// Turns `.state` of a resource into `.spec` if the version allows it. Otherwise reports it and
    /// returns `false`.
    fn resolve_state_alias(&mut self, reference: &mut Ref) -> bool {
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
