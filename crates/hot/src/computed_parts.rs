//! Decides the parts of a template that depend on inputs: conditions, and references with computed
//! names (decisions/heat#references, decisions/heat#the-function-if, decisions/heat#conditions).

use blueprint::{
    Blueprint, CallExpr, Child, Expr, ExprKind, Name, ReferenceHead, Resource, TextPart, Value,
};
use diag::{Diagnostics, Span, Spanned};
use expr::codes::ARGUMENT_TYPE;

use super::expressions::{ATTRIBUTE, REFUSE_READ, RESOURCE, reference};
use super::messages;
use super::refusal_expressions::refusal_of;
use dialect::codes::{CYCLE, EACH_NOT_STATIC, UNKNOWN_RESOURCE, WRONG_SHAPE};
use dialect::{EvaluateFn, ExpressionPart, ExpressionPlace};

/// The document with its computed references replaced and its conditions decided, as far as `value`
/// knows them.
///
/// A resource whose condition is false loses its content, and an `if` keeps only its taken branch.
/// An unused condition may fail.
pub(super) fn resolve_computed_parts(
    blueprint: &Blueprint,
    complete: bool,
    value: EvaluateFn<'_>,
    found: &mut Diagnostics,
) -> Blueprint {
    let mut settled = blueprint.clone();
    let mut settling = ComputedPartsResolver {
        blueprint,
        complete,
        value,
        found,
        undecided_branches: 0,
    };
    for guarded in &blueprint.guarded {
        if let ConditionValue::Known(true, _) = settling.decide(&guarded.condition) {
            settling.found.extend(guarded.found.iter().cloned());
        }
    }
    for (name, resource) in &mut settled.resources {
        settling.resource(name, resource);
    }
    for child in settled.children.values_mut() {
        settling.child(child);
    }
    for export in settled.exports.values_mut() {
        settling.walk(&mut export.field);
    }
    for local in settled.locals.values_mut() {
        match value(&local.value) {
            _ if local.value.as_literal().is_some() => {}
            Ok(known) if !known.has_unknown() => {
                local.value = Expr::literal(known, local.value.span)
            }
            Ok(_) => {}
            // The error was reported at the use of the condition.
            Err(_) => local.value = Expr::error(local.value.span),
        }
    }
    settled.unsettled = false;
    settled
}

/// The value of a condition.
enum ConditionValue {
    /// The value, and whether it is secret.
    Known(bool, bool),
    /// The value is not known yet.
    Unknown,
    /// The condition has an error, which was reported.
    Failed,
}

struct ComputedPartsResolver<'s> {
    blueprint: &'s Blueprint,
    complete: bool,
    value: EvaluateFn<'s>,
    found: &'s mut Diagnostics,
    /// The number of enclosing branches that may not be taken.
    undecided_branches: usize,
}

impl ComputedPartsResolver<'_> {
    fn decide(&mut self, condition: &Expr) -> ConditionValue {
        match (self.value)(condition) {
            Ok(value) => match value.split_secret() {
                (Value::Bool(holds), secret) => ConditionValue::Known(*holds, secret),
                (Value::Null, secret) => ConditionValue::Known(false, secret),
                _ => ConditionValue::Unknown,
            },
            Err(Some(mut why)) => {
                let span = why.span();
                let circle = self
                    .blueprint
                    .locals
                    .iter()
                    .find(|(_, local)| local.span == span);
                if let Some((name, local)) = circle.filter(|_| why.code.name == CYCLE.name) {
                    *why = super::conditions::self_reference_diagnostic(name, local.span);
                }
                let within = |expr: &Expr| {
                    expr.span.file == why.span().file && expr.span.contains(why.span().start)
                };
                let local = self
                    .blueprint
                    .locals
                    .iter()
                    .find(|(_, local)| within(&local.value));
                match local {
                    Some((name, local)) => messages::complete_message(
                        &mut why,
                        &ExpressionPlace::new(ExpressionPart::Local, name, &local.value),
                    ),
                    None => messages::complete_condition_message(&mut why, condition),
                }
                self.found.push(*why);
                ConditionValue::Failed
            }
            Err(None) => ConditionValue::Unknown,
        }
    }

    fn resource(&mut self, name: &Name, resource: &mut Resource) {
        if let Some(condition) = &mut resource.condition {
            match self.decide(condition) {
                ConditionValue::Known(holds, secret) => {
                    **condition = Expr::literal(Value::Bool(holds).tainted(secret), condition.span);
                    if !holds {
                        let nothing = Expr::new(ExprKind::Map(Vec::new()), resource.spec.span);
                        resource.switched_off =
                            Some(Box::new(std::mem::replace(&mut resource.spec, nothing)));
                        resource.depends_on.clear();
                        resource.metadata.custom = None;
                        resource.update_policy = None;
                        resource.external = None;
                        return;
                    }
                }
                ConditionValue::Failed => **condition = Expr::error(condition.span),
                ConditionValue::Unknown => {}
            }
        }
        let open = usize::from(
            resource
                .condition
                .as_ref()
                .is_some_and(|condition| condition.as_literal().is_none()),
        );
        self.undecided_branches += open;
        self.walk(&mut resource.spec);
        let others = [
            resource.metadata.custom.as_mut(),
            resource.removal.as_deref_mut(),
        ];
        let others = others
            .into_iter()
            .chain([resource.update_policy.as_deref_mut()]);
        others.flatten().for_each(|expr| self.walk(expr));
        if let Some(mut id) = resource.external.take() {
            self.walk(&mut id);
            let external = self.external(name, &id);
            resource.lifecycle.external = external.map(|text| Spanned::new(text, id.span));
            // A resource with a written id is retained, even if the id evaluates to null.
            resource.removal = Some(Box::new(Expr::literal(Value::text("Retain"), id.span)));
        }
        self.undecided_branches -= open;
    }

    /// The id of an external resource; `None` if it is null.
    fn external(&mut self, name: &Name, id: &Expr) -> Option<Name> {
        let words = |words: String| super::message_path::invalid(words);
        match (self.value)(id) {
            Ok(value) if value.is_null() => None,
            Ok(value) if value.has_unknown() => {
                if self.complete {
                    self.found.push(
                        EACH_NOT_STATIC
                            .new("`external_id` must be known before the deployment")
                            .label(id.span, "known only on deploy"),
                    );
                }
                None
            }
            Ok(value) => {
                let (message, said) = match value.unmarked() {
                    Value::Text(text) if text.is_empty() => (
                        "`external_id` is empty",
                        "Resource ID was not provided.".to_owned(),
                    ),
                    Value::List(_) | Value::Map(_) | Value::Set(_) => (
                        "`external_id` must be text",
                        format!("Resource {name} external_id type must be string"),
                    ),
                    scalar => return Some(pycompat::text(scalar).into()),
                };
                let why = format!("this is {}", value.kind_word());
                self.found.push(
                    WRONG_SHAPE
                        .new(message)
                        .label(id.span, why)
                        .with_native_message(words(said)),
                );
                None
            }
            Err(why) => {
                self.found.extend(why.map(|mut why| {
                    messages::complete_condition_message(&mut why, id);
                    *why
                }));
                None
            }
        }
    }

    fn child(&mut self, child: &mut Child) {
        if let Some(condition) = &mut child.condition {
            match self.decide(condition) {
                ConditionValue::Known(holds, secret) => {
                    *condition = Expr::literal(Value::Bool(holds).tainted(secret), condition.span);
                    if !holds {
                        child.inputs.clear();
                        child.depends_on.clear();
                        if let Some(expansion) = &mut child.expansion {
                            expansion.spec =
                                Expr::new(ExprKind::Map(Vec::new()), expansion.spec.span);
                            expansion.member =
                                Expr::new(ExprKind::Map(Vec::new()), expansion.member.span);
                            expansion.policy = None;
                        }
                        return;
                    }
                }
                ConditionValue::Failed => *condition = Expr::error(condition.span),
                ConditionValue::Unknown => {}
            }
        }
        let open = usize::from(
            child
                .condition
                .as_ref()
                .is_some_and(|condition| condition.as_literal().is_none()),
        );
        self.undecided_branches += open;
        child
            .inputs
            .iter_mut()
            .for_each(|(_, expr)| self.walk(expr));
        child.removal.iter_mut().for_each(|expr| self.walk(expr));
        if let Some(expansion) = &mut child.expansion {
            self.walk(&mut expansion.spec);
            self.walk(&mut expansion.member);
            expansion.policy.iter_mut().for_each(|expr| self.walk(expr));
        }
        self.undecided_branches -= open;
    }

    fn walk(&mut self, expr: &mut Expr) {
        let span = expr.span;
        match &mut expr.kind {
            ExprKind::List(items) => items.iter_mut().for_each(|item| self.walk(item)),
            ExprKind::Map(entries) => entries.iter_mut().for_each(|(_, value)| self.walk(value)),
            ExprKind::Text(parts) => parts.iter_mut().for_each(|part| {
                if let TextPart::Expr(expr, _) = part {
                    self.walk(expr);
                }
            }),
            ExprKind::Access(inner, _) | ExprKind::Substitution(inner) => self.walk(inner),
            ExprKind::Choice(choice) => {
                let null = || Expr::literal(Value::Null, span);
                match self.decide(&choice.condition) {
                    ConditionValue::Known(holds, secret) => {
                        let taken = if holds {
                            &mut choice.then
                        } else {
                            &mut choice.otherwise
                        };
                        self.walk(taken);
                        // The taken branch would reveal a secret condition, so the choice stays. It
                        // also stays if the branch omits its value.
                        if secret || expr::may_omit(taken) {
                            let other = if holds {
                                &mut choice.otherwise
                            } else {
                                &mut choice.then
                            };
                            *other = null();
                            let decided = Value::Bool(holds).tainted(secret);
                            choice.condition = Expr::literal(decided, choice.condition.span);
                        } else {
                            *expr = std::mem::replace(taken, null());
                        }
                    }
                    ConditionValue::Failed => *expr = Expr::error(span),
                    ConditionValue::Unknown => {
                        self.undecided_branches += 1;
                        self.walk(&mut choice.then);
                        self.walk(&mut choice.otherwise);
                        self.undecided_branches -= 1;
                    }
                }
            }
            ExprKind::Call(call) if call.function.as_ref() == REFUSE_READ => {
                if self.undecided_branches == 0 {
                    self.found
                        .extend(refusal_of(expr).map(|(_, diagnostic)| diagnostic));
                }
            }
            ExprKind::Call(call) => {
                call.arguments
                    .iter_mut()
                    .for_each(|argument| self.walk(&mut argument.value));
                if let RESOURCE | ATTRIBUTE = call.function.as_ref()
                    && let Some(settled) = self.reference(call, span)
                {
                    *expr = settled;
                }
            }
            ExprKind::Literal(_) | ExprKind::Ref(_) | ExprKind::Function(_) | ExprKind::Error => {}
        }
    }

    /// The reference with a computed name; `None` while the name is unknown.
    fn reference(&mut self, called: &CallExpr, span: Span) -> Option<Expr> {
        let argument = &called.arguments.first()?.value;
        if called.function.as_ref() == RESOURCE {
            let name = self.known(argument)?;
            return Some(self.resource_reference(&name, argument.span, &[], span));
        }
        // In a literal list, the path may become known later than the name.
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
                (
                    items.first().cloned().unwrap_or_default(),
                    items.get(1).cloned().map(Some),
                    path,
                )
            }
        };
        let value = match attribute {
            None => self.resource_reference(&name, argument.span, &["attributes"], span),
            Some(attribute) => {
                let attribute = attribute?;
                let Some(attribute) = attribute.as_text() else {
                    let diagnostic = ARGUMENT_TYPE
                        .new("the name of an attribute must be text")
                        .label(argument.span, "not text");
                    self.found.push(diagnostic);
                    return Some(Expr::error(span));
                };
                self.resource_reference(&name, argument.span, &["attributes", attribute], span)
            }
        };
        if path.is_empty() {
            return Some(value);
        }
        Some(Expr::call(
            "get_attr",
            called.name_span,
            std::iter::once(value).chain(path).collect(),
            span,
        ))
    }

    fn known(&mut self, expr: &Expr) -> Option<Value> {
        let value = (self.value)(expr).unwrap_or_else(|_| Value::unknown(None, None));
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

    /// A reference to a resource, or to an attribute of it.
    fn resource_reference(
        &mut self,
        name: &Value,
        name_span: Span,
        path: &[&str],
        span: Span,
    ) -> Expr {
        let Some(name) = name.as_text() else {
            let diagnostic = ARGUMENT_TYPE
                .new("the name of a resource must be text")
                .label(name_span, "not text");
            self.found.push(diagnostic);
            return Expr::error(span);
        };
        if self.blueprint.resources.contains_key(name) {
            return reference(
                ReferenceHead::Resource {
                    name: name.into(),
                    bare: true,
                },
                name_span,
                path,
            );
        }
        if self.blueprint.children.contains_key(name) {
            let path: &[&str] = match path {
                [] => &["OS::stack_id"],
                [_] => &["OS::outputs"],
                [_, rest @ ..] => rest,
            };
            return reference(ReferenceHead::Child(name.into()), name_span, path);
        }
        self.found.push(
            UNKNOWN_RESOURCE
                .new(format!("there is no resource `{name}`"))
                .label(name_span, "not declared")
                .with_native_message(diag::NativeMessage::of(
                    "InvalidTemplateReference",
                    format!("The specified reference \"{name}\" (in unknown) is incorrect."),
                )),
        );
        Expr::error(span)
    }
}
