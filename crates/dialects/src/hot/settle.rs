//! References whose names are computed: they stand for something once inputs are known (reference, section 5.2).

use ::blueprint::{Blueprint, Call, Expr, ExprKind, Head, Part, Value};
use diag::{Diagnostics, Span};
use expr::codes::ARGUMENT_TYPE;

use super::calls::{ATTRIBUTE, RESOURCE};
use super::lowering::{call, reference};
use crate::codes::{EACH_NOT_STATIC, UNKNOWN_RESOURCE};

/// The same document with its computed references replaced, as far as `value` knows their names.
pub(super) fn settle(
    blueprint: &Blueprint,
    complete: bool,
    value: &dyn Fn(&Expr) -> Value,
    found: &mut Diagnostics,
) -> Blueprint {
    let mut settled = blueprint.clone();
    let mut settling = Settling { blueprint, complete, value, found };
    for resource in settled.resources.values_mut() {
        settling.walk(&mut resource.spec);
        if resource.metadata.custom.is_some() {
            resource.metadata.custom.iter_mut().for_each(|expr| settling.walk(expr));
        }
        resource.removal.iter_mut().for_each(|expr| settling.walk(expr));
        resource.update_policy.iter_mut().for_each(|expr| settling.walk(expr));
    }
    for child in settled.children.values_mut() {
        child.inputs.iter_mut().for_each(|(_, expr)| settling.walk(expr));
        if let Some(expansion) = &mut child.expansion {
            settling.walk(&mut expansion.spec);
            settling.walk(&mut expansion.member);
        }
    }
    settled.exports.values_mut().for_each(|export| settling.walk(&mut export.field));
    settled.unsettled = false;
    settled
}

struct Settling<'s> {
    blueprint: &'s Blueprint,
    complete: bool,
    value: &'s dyn Fn(&Expr) -> Value,
    found: &'s mut Diagnostics,
}

impl Settling<'_> {
    fn walk(&mut self, expr: &mut Expr) {
        let span = expr.span;
        match &mut expr.kind {
            ExprKind::List(items) => items.iter_mut().for_each(|item| self.walk(item)),
            ExprKind::Map(entries) => entries.iter_mut().for_each(|(_, value)| self.walk(value)),
            ExprKind::Text(parts) => parts.iter_mut().for_each(|part| {
                if let Part::Expr(expr, _) = part {
                    self.walk(expr);
                }
            }),
            ExprKind::Access(inner, _) | ExprKind::Substitution(inner) => self.walk(inner),
            ExprKind::Choice(choice) => {
                self.walk(&mut choice.condition);
                self.walk(&mut choice.then);
                self.walk(&mut choice.otherwise);
            }
            ExprKind::Call(call) => {
                call.arguments.iter_mut().for_each(|argument| self.walk(&mut argument.value));
                if let RESOURCE | ATTRIBUTE = call.function.as_ref()
                    && let Some(settled) = self.reference(call, span)
                {
                    *expr = settled;
                }
            }
            ExprKind::Literal(_) | ExprKind::Ref(_) | ExprKind::Function(_) | ExprKind::Error => {}
        }
    }

    /// What a computed reference stands for; none as long as its name is not known.
    fn reference(&mut self, called: &Call, span: Span) -> Option<Expr> {
        let argument = &called.arguments.first()?.value;
        if called.function.as_ref() == RESOURCE {
            let name = self.known(argument)?;
            return Some(self.of(&name, argument.span, &[], span));
        }
        // What is written out as a list may have a path that is known later.
        let (name, attribute, path) = match &argument.kind {
            ExprKind::List(items) => {
                let name = self.known(items.first()?)?;
                let attribute = items.get(1).map(|item| self.known(item));
                (name, attribute, items.get(2..).unwrap_or_default().to_vec())
            }
            _ => {
                let items = self.known(argument)?;
                let items = items.as_list().unwrap_or_default();
                let rest = items.get(2..).unwrap_or_default().iter();
                let path = rest.map(|step| Expr::literal(step.clone(), span)).collect();
                (items.first().cloned().unwrap_or_default(), items.get(1).cloned().map(Some), path)
            }
        };
        let value = match attribute {
            None => self.of(&name, argument.span, &["attributes"], span),
            Some(attribute) => {
                let attribute = attribute?;
                let Some(attribute) = attribute.as_text() else {
                    let diagnostic =
                        ARGUMENT_TYPE.new("the name of an attribute must be text").label(argument.span, "not text");
                    self.found.push(diagnostic);
                    return Some(Expr::error(span));
                };
                if attribute == "show" {
                    return Some(Expr::literal(Value::Null, span));
                }
                self.of(&name, argument.span, &["attributes", attribute], span)
            }
        };
        if path.is_empty() {
            return Some(value);
        }
        Some(call("get_attr", called.name_span, std::iter::once(value).chain(path).collect(), span))
    }

    fn known(&mut self, expr: &Expr) -> Option<Value> {
        let value = (self.value)(expr);
        if !value.has_unknown() {
            return Some(value.revealed());
        }
        if self.complete {
            self.found.push(
                EACH_NOT_STATIC
                    .new("the name in a reference must be known before the deployment")
                    .label(expr.span, "known only on deploy"),
            );
        }
        None
    }

    /// A resource, or an attribute of it.
    fn of(&mut self, name: &Value, name_span: Span, path: &[&str], span: Span) -> Expr {
        let Some(name) = name.as_text() else {
            let diagnostic = ARGUMENT_TYPE.new("the name of a resource must be text").label(name_span, "not text");
            self.found.push(diagnostic);
            return Expr::error(span);
        };
        if self.blueprint.resources.contains_key(name) {
            return reference(Head::Resource { name: name.into(), bare: true }, name_span, path);
        }
        if self.blueprint.children.contains_key(name) {
            let path: &[&str] = match path {
                [] => &["OS::stack_id"],
                [_] => &["OS::outputs"],
                [_, rest @ ..] => rest,
            };
            return reference(Head::Child(name.into()), name_span, path);
        }
        self.found.push(
            UNKNOWN_RESOURCE.new(format!("there is no resource `{name}`")).label(name_span, "not declared").words(
                diag::Words::of(
                    "InvalidTemplateReference",
                    format!("The specified reference \"{name}\" (in unknown) is incorrect."),
                ),
            ),
        );
        Expr::error(span)
    }
}
