//! Stamps the template of a resource: a spec whose parts are known when the document is lowered, except
//! those that read outputs of other resources.

use blueprint::{Expr, ExprKind, Name, PathStep, Value};
use diag::{Span, Spanned};

use super::functions::{FILL, RENDER};

/// The data that a template reads, and where it comes from.
pub(super) struct StampContext {
    /// The context without the outputs of other resources.
    pub(super) fixed: Value,
    /// The context in which the outputs of other resources are unknown.
    pub(super) forecast: Value,
    /// The outputs of other resources, as references.
    pub(super) inputs: Expr,
    /// The labels that every stamped object gets.
    pub(super) labels: Vec<(Name, Value)>,
    /// The annotations that every stamped object gets: whole values of shortened labels.
    pub(super) annotations: Vec<(Name, Value)>,
    /// The namespace of the owner, if it has one.
    pub(super) namespace: Option<Name>,
}

/// A mistake of a template: the path of the wrong text below the template, and why.
pub(super) struct StampMistake {
    /// The place.
    pub(super) span: Span,
    /// What is wrong.
    pub(super) failure: cartographer::stamp::StampFailure,
}

/// The spec that a simple template stamps. Adds the mistakes to `mistakes`; the parts with mistakes are
/// error expressions.
pub(super) fn stamped(
    template: &Expr,
    context: &StampContext,
    mistakes: &mut Vec<StampMistake>,
) -> Expr {
    let filled = filled(template, context, mistakes);
    completed(filled, context)
}

/// Replaces the tags in the texts of a template.
fn filled(part: &Expr, context: &StampContext, mistakes: &mut Vec<StampMistake>) -> Expr {
    match &part.kind {
        ExprKind::Literal(Value::Text(text)) if text.contains("$(") => {
            text_filled(text, part.span, context, mistakes)
        }
        ExprKind::List(items) => {
            let items = items.iter().map(|item| filled(item, context, mistakes));
            Expr::new(ExprKind::List(items.collect()), part.span)
        }
        ExprKind::Map(entries) => {
            let entries = entries
                .iter()
                .map(|(key, entry)| (key.clone(), filled(entry, context, mistakes)));
            Expr::new(ExprKind::Map(entries.collect()), part.span)
        }
        _ => part.clone(),
    }
}

fn text_filled(
    text: &Name,
    span: Span,
    context: &StampContext,
    mistakes: &mut Vec<StampMistake>,
) -> Expr {
    match cartographer::stamp::fill(text, &context.forecast) {
        Ok(value) if !value.has_unknown() => Expr::literal(value, span),
        Ok(_) => {
            let literal = |value: Value| Expr::literal(value, span);
            let arguments = vec![
                literal(Value::Text(text.clone())),
                literal(context.fixed.clone()),
                context.inputs.clone(),
            ];
            Expr::call(FILL, span, arguments, span)
        }
        Err(failure) => {
            mistakes.push(StampMistake { span, failure });
            Expr::error(span)
        }
    }
}

/// Adds what every stamped object has: the namespace of the owner and the labels.
fn completed(stamped: Expr, context: &StampContext) -> Expr {
    let span = stamped.span;
    let ExprKind::Map(mut entries) = stamped.kind else {
        return stamped;
    };
    let position = entries.iter().position(|(key, _)| *key.item == *"metadata");
    let (key, metadata) = match position {
        Some(at) => entries.remove(at),
        None => (
            Spanned::new("metadata".into(), span),
            Expr::new(ExprKind::Map(Vec::new()), span),
        ),
    };
    let metadata = with_metadata(metadata, context);
    entries.insert(position.unwrap_or(0), (key, metadata));
    Expr::new(ExprKind::Map(entries), span)
}

fn with_metadata(metadata: Expr, context: &StampContext) -> Expr {
    let span = metadata.span;
    let ExprKind::Map(mut entries) = metadata.kind else {
        return metadata;
    };
    if let Some(namespace) = &context.namespace {
        entries.retain(|(key, _)| *key.item != *"namespace");
        let namespace = Expr::literal(Value::Text(namespace.clone()), span);
        entries.push((Spanned::new("namespace".into(), span), namespace));
    }
    merge(&mut entries, "labels", &context.labels, span);
    merge(&mut entries, "annotations", &context.annotations, span);
    Expr::new(ExprKind::Map(entries), span)
}

/// Merges entries into the map under a key; they win over those that are there.
fn merge(
    metadata: &mut Vec<(Spanned<Name>, Expr)>,
    key: &str,
    added: &[(Name, Value)],
    span: Span,
) {
    if added.is_empty() {
        return;
    }
    let position = metadata.iter().position(|(name, _)| *name.item == *key);
    let at = position.unwrap_or_else(|| {
        let empty = Expr::new(ExprKind::Map(Vec::new()), span);
        metadata.push((Spanned::new(key.into(), span), empty));
        metadata.len() - 1
    });
    let ExprKind::Map(entries) = &mut metadata[at].1.kind else {
        return;
    };
    entries.retain(|(name, _)| added.iter().all(|(own, _)| *own != name.item));
    for (name, value) in added {
        let entry = Expr::literal(value.clone(), span);
        entries.push((Spanned::new(name.clone(), span), entry));
    }
}

/// The spec that a template of ytt renders when the outputs that it reads are known.
pub(super) fn rendered(template: &Name, context: &StampContext, span: Span) -> Expr {
    let literal = |value: Value| Expr::literal(value, span);
    let common = Value::map([
        ("labels", Value::map(context.labels.iter().cloned())),
        ("annotations", Value::map(context.annotations.iter().cloned())),
        (
            "namespace",
            context.namespace.clone().map_or(Value::Null, Value::Text),
        ),
    ]);
    let arguments = vec![
        literal(Value::Text(template.clone())),
        literal(context.fixed.clone()),
        context.inputs.clone(),
        literal(common),
    ];
    Expr::call(RENDER, span, arguments, span)
}

/// The steps of the path to a part of the manifest of a template.
pub(super) fn steps<const N: usize>(names: [&str; N]) -> Vec<PathStep> {
    names.map(|name| PathStep::Field(name.into())).into()
}
