//! The transforms of the namespace `test`. Their rules are in the catalogue of `test`.

use blueprint::wire::WireDocument;
use blueprint::{Expr, ExprKind, Name, Resource, Value};
use provider::transform::{derived_resource, each_resource, field, with_suffix};
use provider::{BoxFuture, Transform, TransformError};

/// The type that only the transform `test-2024-01-01` handles.
const SERVICE: &str = "test/service";

/// The transform with a name.
pub(super) fn named(name: &str) -> Option<&'static dyn Transform> {
    match name {
        "test-2024-01-01" => Some(&Services),
        "test-noop" => Some(&Noop),
        _ => None,
    }
}

/// The transform that returns its input.
struct Noop;

impl Transform for Noop {
    fn transform(
        &self,
        document: WireDocument,
    ) -> BoxFuture<'_, Result<WireDocument, TransformError>> {
        Box::pin(async { Ok(document) })
    }
}

/// The transform from services to functions, with queues if requested.
struct Services;

impl Transform for Services {
    fn transform(
        &self,
        document: WireDocument,
    ) -> BoxFuture<'_, Result<WireDocument, TransformError>> {
        Box::pin(async {
            each_resource(document, |name, resource| {
                if resource.type_name.item.as_ref() == SERVICE {
                    service(name, resource).map(Some)
                } else {
                    Ok(None)
                }
            })
        })
    }
}

fn service(name: &Name, service: &Resource) -> Result<Vec<(Name, Resource)>, TransformError> {
    let title = field(service, "name")
        .cloned()
        .unwrap_or_else(|| Expr::error(service.spec.span));
    if title.as_literal().and_then(Value::as_text) == Some("broken") {
        return Err(TransformError::of(
            name,
            "a service named `broken` cannot be made",
        ));
    }
    let mut made = Vec::new();
    let function = Resource {
        each: service.each.clone(),
        condition: service.condition.clone(),
        depends_on: service.depends_on.clone(),
        link_selector: service.link_selector.clone(),
        metadata: service.metadata.clone(),
        lifecycle: service.lifecycle.clone(),
        description: service.description.clone(),
        ..derived_resource(service, "test/function", vec![("name", title.clone())])
    };
    made.push((format!("{name}_fn").into(), function));
    let wanted = match field(service, "queue").map(|expr| (&expr.kind, expr)) {
        None | Some((ExprKind::Literal(Value::Bool(false) | Value::Null), _)) => None,
        Some((ExprKind::Literal(Value::Bool(true)), _)) => Some(None),
        // The condition of the service is evaluated later; the queue gets the same condition.
        Some((_, expr)) => Some(Some(Box::new(expr.clone()))),
    };
    if let Some(condition) = wanted {
        let queue = Resource {
            condition,
            ..derived_resource(
                service,
                "test/queue",
                vec![("name", with_suffix(&title, "-queue"))],
            )
        };
        made.push((format!("{name}_queue").into(), queue));
    }
    Ok(made)
}
