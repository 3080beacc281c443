//! The section `outputs` (decisions/heat#sections-of-a-template).

use blueprint::{Blueprint, ChoiceExpr, Export, Expr, ExprKind, Name, ReferenceHead, Type, Value};
use diag::{Severity, Span, Spanned};

use super::expressions::{ADDRESS, reference};
use super::kinds::ALL;
use super::lowering::Lowering;
use super::message_path::{MessagePath, TemplatePart, invalid, path};
use super::read::{TextEntry, value_span};
use super::shape;
use super::version::Version::*;
use dialect::codes::{MISSING_FIELD, NEWER_THAN_VERSION, SECRET_EXPOSED, UNKNOWN_KEY};

/// The export with all outputs, in which failed ones are null. Templates read it from nested
/// templates.
const EACH: &str = "OS::each";
/// The beginning of Heat's messages about an output.
const OUTPUT_ERROR: &str = "Output validation error";

impl Lowering {
    /// Lowers all outputs. A failed output does not fail others.
    pub(super) fn outputs(&mut self, pairs: Vec<TextEntry<'_>>, blueprint: &mut Blueprint) {
        for pair in pairs {
            let Some(keys) = self.reader.pairs(pair.value) else {
                let shown = self.reader.value(pair.value);
                let message = format!(
                    "Output definitions must be a map. Found a {} instead",
                    pycompat::type_name(&shown)
                );
                let words = invalid(message)
                    .error(OUTPUT_ERROR)
                    .at(path(&["outputs", &pair.key.item]));
                self.wrong_shape("an output", "a map", pair.value, words);
                continue;
            };
            for key in &keys {
                let name = key.key.item.as_ref();
                if shape::OUTPUT.key(name).is_none() {
                    let diagnostic = UNKNOWN_KEY
                        .new(format!("an output has no key `{name}`"))
                        .label(key.key.span, "this has no effect");
                    let diagnostic = shape::explained(diagnostic, &shape::OUTPUT, name)
                        .with_severity(Severity::Warning);
                    self.report(diagnostic);
                }
            }
            let get = |wanted: &str| keys.iter().find(|key| key.key.item.as_ref() == wanted);
            let Some(value) = get("value") else {
                let diagnostic = MISSING_FIELD
                    .new(format!("the output `{}` has no value", pair.key.item))
                    .label(pair.key.span, "`value` is required in this map")
                    .with_native_message(
                        invalid("Each output definition must contain a value key.")
                            .error(OUTPUT_ERROR)
                            .at(path(&["outputs", &pair.key.item])),
                    );
                self.report(diagnostic);
                continue;
            };
            let description = get("description").map(|key| {
                let text = self.reader.value(key.value);
                let text = super::scalar::key_text(&text).unwrap_or_else(|| "".into());
                Expr::literal(Value::Text(text), value_span(key.value))
            });
            let condition = match get("condition") {
                Some(key) if self.version < V2016_10_14 => {
                    let diagnostic = NEWER_THAN_VERSION
                        .new("the condition of an output came with version 2016-10-14")
                        .label(key.key.span, "it is ignored: the output is shown")
                        .with_severity(Severity::Warning);
                    self.report(diagnostic);
                    None
                }
                Some(key) => self.condition_of(
                    key,
                    MessagePath::to(TemplatePart::OutputCondition, &pair.key.item),
                ),
                None => None,
            };
            let before = self.reader.found.len();
            self.message_path = MessagePath::to(TemplatePart::Output, &pair.key.item);
            self.in_output = true;
            let field = self.expr(value.value);
            self.in_output = false;
            self.warn_about_secrets(&pair.key.item, &field, blueprint);
            // A mistake in an output with a condition counts only if the condition holds.
            self.make_errors_conditional(condition.clone(), before, true, blueprint);
            let field = match condition {
                None => field,
                Some(condition) => {
                    let span = field.span;
                    let otherwise = Expr::literal(Value::Null, span);
                    Expr::new(
                        ExprKind::Choice(Box::new(ChoiceExpr {
                            condition,
                            then: field,
                            otherwise,
                        })),
                        span,
                    )
                }
            };
            let export = Export {
                span: pair.key.span,
                ty: Type::Any,
                field,
                may_fail: true,
                hidden: false,
                by_entry: false,
                description,
            };
            blueprint.exports.insert(pair.key.item, export);
        }
    }

    /// Warns about an output of the root that shows a hidden parameter, because Heat would show its
    /// value.
    fn warn_about_secrets(&mut self, output: &str, field: &Expr, blueprint: &Blueprint) {
        if self.is_child {
            return;
        }
        let mut shown: Vec<(Name, Span)> = Vec::new();
        collect_shown_inputs(field, &mut shown);
        shown.retain(|(name, _)| blueprint.inputs.get(name).is_some_and(|input| input.secret));
        if let Some((name, span)) = shown.into_iter().next() {
            let diagnostic = SECRET_EXPOSED
                .new(format!(
                    "the output `{output}` shows the hidden parameter `{name}`"
                ))
                .label(
                    span,
                    "Heat shows it to every user who may read the stack; here it is secret",
                )
                .help("take it out, or read it with `cyan exports --reveal`")
                .with_severity(Severity::Warning);
            self.report(diagnostic);
        }
    }

    /// Adds the exports that including templates read in addition to the outputs: all outputs at
    /// once, the identifier, the resources.
    pub(super) fn exports_of_child(&mut self, blueprint: &mut Blueprint) {
        let span = blueprint.span.unwrap_or(Span::NONE);
        let hidden = |field: Expr| hidden(field, span);
        blueprint
            .exports
            .insert(ALL.into(), hidden(all(blueprint, span)));
        let each = Export {
            by_entry: true,
            ..hidden(all(blueprint, span))
        };
        blueprint.exports.insert(EACH.into(), each);
        if !blueprint.exports.contains_key("OS::stack_id")
            && let Some(id) = self.pseudo("OS::stack_id", span)
        {
            blueprint.exports.insert("OS::stack_id".into(), hidden(id));
        }
        if let Some(name) = self.pseudo("OS::stack_name", span) {
            blueprint
                .exports
                .insert("OS::stack_name".into(), hidden(name));
        }
        let resources: Vec<Name> = blueprint.resources.keys().cloned().collect();
        for name in resources {
            let head = ReferenceHead::Resource {
                name: name.clone(),
                bare: true,
            };
            let whole = reference(head.clone(), span, &[]);
            blueprint
                .exports
                .insert(format!("resource.{name}").into(), hidden(whole));
            let attributes = reference(head, span, &["attributes"]);
            blueprint
                .exports
                .insert(format!("resource.{name}.").into(), hidden(attributes));
        }
        let children: Vec<Name> = blueprint.children.keys().cloned().collect();
        for name in children {
            let head = ReferenceHead::Child(name.clone());
            let whole = reference(head.clone(), span, &["OS::stack_id"]);
            blueprint
                .exports
                .insert(format!("resource.{name}").into(), hidden(whole));
            let is_group = blueprint
                .children
                .get(&name)
                .is_some_and(|child| child.expansion.is_some());
            let outputs = reference(head, span, &[if is_group { ALL } else { EACH }]);
            if let Some(expansion) = blueprint
                .children
                .get_mut(&name)
                .and_then(|child| child.expansion.as_mut())
                && !expansion.reads.iter().any(|read| read.item.as_ref() == ALL)
            {
                expansion.reads.push(Spanned::new(ALL.into(), span));
            }
            blueprint
                .exports
                .insert(format!("resource.{name}.").into(), hidden(outputs));
        }
    }
}

/// Adds to a child of another dialect the exports that templates read in addition to its own: all
/// exports at once, and the identifier, which is its address in the instance.
pub(super) fn add_template_exports(child: &mut Blueprint) {
    if child.exports.contains_key(ALL) {
        return;
    }
    let span = child.span.unwrap_or(Span::NONE);
    let id = reference(ReferenceHead::Scoped(ADDRESS.into()), span, &[]);
    child
        .exports
        .insert(ALL.into(), hidden(all(child, span), span));
    let each = Export {
        by_entry: true,
        ..hidden(all(child, span), span)
    };
    child.exports.insert(EACH.into(), each);
    child
        .exports
        .insert("OS::stack_id".into(), hidden(id, span));
}

/// All outputs as a map.
fn all(blueprint: &Blueprint, span: Span) -> Expr {
    let outputs = blueprint
        .exports
        .iter()
        .filter(|(_, export)| !export.hidden);
    let outputs = outputs.map(|(name, export)| {
        (
            Spanned::new(name.clone(), export.span),
            export.field.clone(),
        )
    });
    Expr::new(ExprKind::Map(outputs.collect()), span)
}

/// An export that only the including template sees.
fn hidden(field: Expr, span: Span) -> Export {
    Export {
        span,
        ty: Type::Any,
        field,
        may_fail: true,
        hidden: true,
        by_entry: false,
        description: None,
    }
}

/// Collects the inputs that the value of an expression shows. A condition is not shown.
fn collect_shown_inputs(expr: &Expr, found: &mut Vec<(Name, Span)>) {
    match &expr.kind {
        ExprKind::Choice(choice) => {
            collect_shown_inputs(&choice.then, found);
            collect_shown_inputs(&choice.otherwise, found);
        }
        ExprKind::List(items) => items
            .iter()
            .for_each(|item| collect_shown_inputs(item, found)),
        ExprKind::Map(entries) => entries
            .iter()
            .for_each(|(_, value)| collect_shown_inputs(value, found)),
        _ => expr.references(&mut |reference| {
            if let ReferenceHead::Input(name) = &reference.head {
                found.push((name.clone(), reference.head_span));
            }
        }),
    }
}
