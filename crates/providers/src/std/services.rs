//! The transform `std-services-1`: turns an abstract service into the unit files of systemd.
//!
//! Not here: starting services; the files (`local`).

use blueprint::wire::WireDocument;
use blueprint::{
    Accessor, AccessorKind, Expr, ExprKind, Lifecycle, Name, Ref, ReferenceHead, Resource,
    TextPart, Value,
};
use diag::Span;
use provider::transform::{derived_resource, each_resource, field};
use provider::{BoxFuture, Transform, TransformError};

/// The name of the transform.
pub(super) const NAME: &str = "std-services-1";

/// The type that only this transform handles.
const SERVICE: &str = "std/service";

/// The default folder of the files.
const FOLDER: &str = "services";

/// The transform from services to unit files, and folders if requested.
pub(super) struct Services;

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
    let data = match field(service, "data").map(|expr| &expr.kind) {
        None | Some(ExprKind::Literal(Value::Bool(false) | Value::Null)) => false,
        Some(ExprKind::Literal(Value::Bool(true))) => true,
        Some(_) => {
            return Err(TransformError::of(
                name,
                "`data` must be written as true or false",
            ));
        }
    };
    if data && service.each.is_some() {
        let message = "a service with `each` has no folder of its own; write `data` only where there is one service";
        return Err(TransformError::of(name, message));
    }
    let lifecycle = Lifecycle {
        protect: service.lifecycle.protect,
        retain: service.lifecycle.retain,
        ..Lifecycle::default()
    };
    let folder: Name = format!("{name}_data").into();
    let mut made = Vec::new();
    if data {
        let path = text(service, path(service, ".data"));
        let directory = Resource {
            condition: service.condition.clone(),
            depends_on: service.depends_on.clone(),
            lifecycle: lifecycle.clone(),
            ..derived_resource(service, "local/directory", vec![("path", path)])
        };
        made.push((folder.clone(), directory));
    }
    let content = unit(name, service, data.then_some(&folder))?;
    let spec = vec![
        ("path", text(service, path(service, ".service"))),
        ("content", text(service, content)),
    ];
    let unit = Resource {
        each: service.each.clone(),
        condition: service.condition.clone(),
        depends_on: service.depends_on.clone(),
        link_selector: service.link_selector.clone(),
        metadata: service.metadata.clone(),
        description: service.description.clone(),
        lifecycle,
        ..derived_resource(service, "local/file", spec)
    };
    made.push((format!("{name}_unit").into(), unit));
    Ok(made)
}

/// A text with expressions, at the span of the service's spec.
fn text(service: &Resource, parts: Vec<TextPart>) -> Expr {
    Expr::new(ExprKind::Text(parts), service.spec.span)
}

/// The content of a field as parts of a text.
fn parts(expr: &Expr) -> Vec<TextPart> {
    match &expr.kind {
        ExprKind::Literal(value) => match expr::to_text(value) {
            Some(Ok(Value::Text(text))) => vec![TextPart::Text(text)],
            _ => Vec::new(),
        },
        ExprKind::Text(parts) => parts.clone(),
        _ => vec![TextPart::Expr(expr.inner().clone(), expr.span)],
    }
}

fn plain(text: impl Into<Name>) -> TextPart {
    TextPart::Text(text.into())
}

/// `FOLDER/NAME` and an extension.
fn path(service: &Resource, ending: &str) -> Vec<TextPart> {
    let mut all = field(service, "folder").map_or_else(|| vec![plain(FOLDER)], parts);
    all.push(plain("/"));
    all.extend(field(service, "name").map(parts).unwrap_or_default());
    all.push(plain(ending));
    all
}

/// The text of the unit file. `folder` is the resource of the folder that the service requests.
fn unit(
    name: &Name,
    service: &Resource,
    folder: Option<&Name>,
) -> Result<Vec<TextPart>, TransformError> {
    let mut all = vec![plain("[Unit]\nDescription=")];
    let title = field(service, "title").or_else(|| field(service, "name"));
    all.extend(title.map(parts).unwrap_or_default());
    all.push(plain("\n\n[Service]\nExecStart="));
    all.extend(field(service, "run").map(parts).unwrap_or_default());
    let environment = match field(service, "environment").map(|expr| &expr.kind) {
        None | Some(ExprKind::Literal(Value::Null)) => &[][..],
        Some(ExprKind::Map(entries)) => entries.as_slice(),
        Some(_) => {
            let message = "`environment` must be written out as a map, because its names are lines of the unit";
            return Err(TransformError::of(name, message));
        }
    };
    for (key, value) in environment {
        all.push(plain(format!("\nEnvironment=\"{}=", key.item)));
        all.extend(parts(value));
        all.push(plain("\""));
    }
    if let Some(folder) = folder {
        all.push(plain("\nWorkingDirectory="));
        all.push(TextPart::Expr(id_of(folder, service.span), service.span));
    }
    all.push(plain("\n\n[Install]\nWantedBy=default.target\n"));
    Ok(all)
}

/// `resources.FOLDER.spec.id`: the absolute path, known after the create of the folder.
fn id_of(folder: &Name, at: Span) -> Expr {
    let step = |name: &str| Accessor {
        kind: AccessorKind::Name(name.into()),
        span: at,
    };
    let head = ReferenceHead::Resource {
        name: folder.clone(),
        bare: false,
    };
    let reference = Ref {
        head,
        head_span: at,
        path: vec![step("spec"), step("id")],
    };
    Expr::new(ExprKind::Ref(Box::new(reference)), at)
}
