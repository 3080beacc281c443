//! Transforms: they turn one blueprint into another, in which abstract resources are replaced by
//! real ones (decisions/documents#transforms).
//!
//! The catalogue of a provider lists its transforms (`transforms`), each with its abstract types. A
//! transform runs after the document was checked and before evaluation, so it sees expressions, not
//! values. Its result is checked again. It may run several times on the same blueprint and must
//! return the same result: it uses no clock, no randomness and no input besides the blueprint.
//!
//! **Origins.** Generated resources carry the spans of the abstract resource: of its name
//! ([`Resource::span`]), of its type, and of the expressions that it takes over. Diagnostics
//! therefore point at the text that the user wrote, and state, plan and graph show the origin of a
//! generated resource.
//!
//! **Names.** A transform does not check names. If a name is taken, it still adds its resource, and
//! the engine reports `name-collision`.
//!
//! Not here: order of transforms, checks, names (`engine`); the form of a blueprint
//! (`blueprint::wire`).

use blueprint::wire::WireDocument;
use blueprint::{Expr, ExprKind, Name, Resource, TextPart, Value};
use diag::Spanned;
use futures::future::BoxFuture;

/// The error of a failed transform. Its result is discarded.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct TransformError {
    /// The name of the abstract resource at fault, in the input document. `None` if the error
    /// concerns no single resource.
    pub resource: Option<Name>,
    /// The reason: a phrase that follows "the transform gave up:".
    pub message: String,
}

impl TransformError {
    /// An error about a resource.
    pub fn of(resource: &Name, message: impl Into<String>) -> TransformError {
        TransformError {
            resource: Some(resource.clone()),
            message: message.into(),
        }
    }

    /// An error that concerns no single resource.
    pub fn whole(message: impl Into<String>) -> TransformError {
        TransformError {
            resource: None,
            message: message.into(),
        }
    }
}

/// A function from one blueprint to another. Every implementation passes
/// `contract_tests::provider::check_transforms`.
pub trait Transform: Send + Sync {
    /// Replaces the abstract resources of this transform's types. Other parts of the blueprint stay
    /// unchanged and in order.
    fn transform(
        &self,
        document: WireDocument,
    ) -> BoxFuture<'_, Result<WireDocument, TransformError>>;
}

/// Applies a function to each resource. `None` keeps the resource; otherwise the returned resources
/// take its place.
pub fn each_resource(
    mut document: WireDocument,
    mut replace: impl FnMut(&Name, &Resource) -> Result<Option<Vec<(Name, Resource)>>, TransformError>,
) -> Result<WireDocument, TransformError> {
    let mut resources = Vec::with_capacity(document.resources.len());
    for (name, resource) in document.resources {
        match replace(&name, &resource)? {
            Some(others) => resources.extend(others),
            None => resources.push((name, resource)),
        }
    }
    document.resources = resources;
    Ok(document)
}

/// Returns a resource of another type with the spans of an abstract resource, but none of its other
/// data.
pub fn derived_resource(
    abstract_resource: &Resource,
    type_name: &str,
    spec: Vec<(&str, Expr)>,
) -> Resource {
    let at = abstract_resource.type_name.span;
    let entries = spec.into_iter().map(|(key, value)| {
        (
            Spanned::new(Name::from(key), abstract_resource.spec_key),
            value,
        )
    });
    let spec = Expr::new(
        ExprKind::Map(entries.collect()),
        abstract_resource.spec.span,
    );
    Resource::new(
        abstract_resource.span,
        Spanned::new(type_name.into(), at),
        abstract_resource.spec_key,
        spec,
    )
}

/// The expression of a field in the spec of an abstract resource, if it is written.
pub fn field<'r>(resource: &'r Resource, name: &str) -> Option<&'r Expr> {
    match &resource.spec.kind {
        ExprKind::Map(entries) => entries
            .iter()
            .find(|(key, _)| key.item.as_ref() == name)
            .map(|(_, value)| value),
        _ => None,
    }
}

/// Returns an expression with a text appended, at the same span. `${..}` in the expression stays an
/// expression.
pub fn with_suffix(expr: &Expr, suffix: &str) -> Expr {
    let kind = match &expr.kind {
        ExprKind::Literal(value) => match expr::to_text(value) {
            Some(Ok(Value::Text(text))) => {
                ExprKind::Literal(Value::text(format!("{text}{suffix}")))
            }
            // The wrong type is reported at the field that the expression is used for.
            _ => expr.kind.clone(),
        },
        ExprKind::Text(parts) => {
            let more = std::iter::once(TextPart::Text(suffix.into()));
            ExprKind::Text(parts.iter().cloned().chain(more).collect())
        }
        ExprKind::Error => ExprKind::Error,
        _ => ExprKind::Text(vec![
            TextPart::Expr(expr.inner().clone(), expr.span),
            TextPart::Text(suffix.into()),
        ]),
    };
    Expr::new(kind, expr.span)
}
