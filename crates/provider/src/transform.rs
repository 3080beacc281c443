//! What a transform is: one blueprint to another, so that abstract resources become real ones (reference 4.2).
//!
//! A transform is listed in its provider's catalogue (`transforms`), with the types that only it knows. It runs after
//! the document has been checked and before anything in it is evaluated, so it sees expressions, not values; afterwards
//! everything is checked again. It is asked for the same blueprint more than once and gives the same each time: no
//! clock, no chance, no world.
//!
//! **Origins.** Whatever it makes, it gives the places of the abstract resource that it made it from: the name's place
//! ([`Resource::span`]), the place of the type, those of the expressions it takes over. So a mistake in what was made is
//! shown where the person wrote it, and state, plan and graph can say what a resource was made from.
//!
//! **Names.** A name that is taken is not the transform's affair: it adds its resource to the list all the same, and the
//! engine reports `name-collision`.
//!
//! Not here: the order of transforms, checks, names (`engine`); the form of a blueprint (`blueprint::wire`).

use blueprint::wire::Document;
use blueprint::{Expr, ExprKind, Name, Part, Resource, Value};
use diag::Spanned;
use futures::future::BoxFuture;

/// The transform gave up; nothing of what it did counts.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct TransformError {
    /// The resource that it could not turn into others, as the document it was given calls it; none if it is not about
    /// one of them.
    pub resource: Option<Name>,
    /// Why, in words that follow "the transform gave up:".
    pub message: String,
}

impl TransformError {
    /// It could not do this, because of a resource.
    pub fn of(resource: &Name, message: impl Into<String>) -> TransformError {
        TransformError { resource: Some(resource.clone()), message: message.into() }
    }

    /// It could not do this at all.
    pub fn whole(message: impl Into<String>) -> TransformError {
        TransformError { resource: None, message: message.into() }
    }
}

/// One blueprint to another. Every implementation passes [`conformance::transforms`](crate::conformance::transforms).
pub trait Transform: Send + Sync {
    /// The blueprint with abstract resources of this transform's types turned into others; what it does not know it
    /// gives back as it is, in its order.
    fn transform(&self, document: Document) -> BoxFuture<'_, Result<Document, TransformError>>;
}

/// A transform that looks at one resource after the other: each stays as it is, or becomes others in its place.
pub fn each_resource(
    mut document: Document,
    mut become_others: impl FnMut(&Name, &Resource) -> Result<Option<Vec<(Name, Resource)>>, TransformError>,
) -> Result<Document, TransformError> {
    let mut resources = Vec::with_capacity(document.resources.len());
    for (name, resource) in document.resources {
        match become_others(&name, &resource)? {
            Some(others) => resources.extend(others),
            None => resources.push((name, resource)),
        }
    }
    document.resources = resources;
    Ok(document)
}

/// A resource of another type, made from an abstract one: with its places, and nothing else of it.
pub fn made_of(abstract_one: &Resource, type_name: &str, spec: Vec<(&str, Expr)>) -> Resource {
    let at = abstract_one.type_name.span;
    let entries = spec.into_iter().map(|(key, value)| (Spanned::new(Name::from(key), abstract_one.spec_key), value));
    let spec = Expr::new(ExprKind::Map(entries.collect()), abstract_one.spec.span);
    Resource::new(abstract_one.span, Spanned::new(type_name.into(), at), abstract_one.spec_key, spec)
}

/// A field of an abstract resource's spec as it is written, if it is.
pub fn field<'r>(resource: &'r Resource, name: &str) -> Option<&'r Expr> {
    match &resource.spec.kind {
        ExprKind::Map(entries) => entries.iter().find(|(key, _)| key.item.as_ref() == name).map(|(_, value)| value),
        _ => None,
    }
}

/// A field with text after it, at the field's place: `${..}` in it stays an expression.
pub fn with_suffix(expr: &Expr, suffix: &str) -> Expr {
    let kind = match &expr.kind {
        ExprKind::Literal(value) => match expr::to_text(value) {
            Some(Ok(Value::Text(text))) => ExprKind::Literal(Value::text(format!("{text}{suffix}"))),
            // Its kind is a mistake that is reported where the field itself is taken over.
            _ => expr.kind.clone(),
        },
        ExprKind::Text(parts) => {
            let more = std::iter::once(Part::Text(suffix.into()));
            ExprKind::Text(parts.iter().cloned().chain(more).collect())
        }
        ExprKind::Error => ExprKind::Error,
        _ => ExprKind::Text(vec![Part::Expr(expr.inner().clone(), expr.span), Part::Text(suffix.into())]),
    };
    Expr::new(kind, expr.span)
}
