//! Stamps the template of a resource: a spec whose parts are known when the document is lowered, except
//! those that read outputs of other resources.

use blueprint::{Expr, ExprKind, Map, Name, PathStep, TypeId, Value};
use cartographer::compat::Compat;
use cartographer::context::TemplateContext;
use cartographer::inputs::ResourceInputs;
use cartographer::params::Params;
use cartographer::stamp::{
    LabelSubject, OwnerReference, StampFailure, StampRequest, Stamped, run_labels, stamp,
    stamped_labels,
};
use diag::{Diagnostics, Span, Spanned};
use kubernetes::{ApiVersion, GroupKind, KindType};

use super::calls::{FILL, STAMP};
use super::chain_resource::ChainResource;
use super::codes::STAMP_FAILED;
use super::platform::CartoObject;
use super::producers::{forecast, references};
use super::settings::COMPAT;
use super::written::{part_at, place_at, place_inside};
use cartographer::ytt_templates::InProcessYtt;

/// The resource that a template stamps.
pub(super) struct StampedResource {
    /// Its type: that of its kind if the template states the kind, else that of any kind.
    pub(super) type_name: Spanned<TypeId>,
    /// The spec: the manifest of the object.
    pub(super) spec: Expr,
    /// The labels that the object gets.
    pub(super) labels: Map,
}

/// Stamps a template for an owner. Reports what cannot be stamped, and returns nothing then.
pub(super) fn stamp_resource(
    resource: &ChainResource<'_>,
    template: &CartoObject,
    params: &Params,
    compat: Compat,
    found: &mut Diagnostics,
) -> Option<StampedResource> {
    let lifecycle = spec_of(template).get("lifecycle").and_then(Value::as_text);
    let mut labels = stamped_labels(&LabelSubject {
        owner: &resource.owner.value,
        blueprint: &resource.chain.name,
        resource: &resource.name,
        template_kind: template.kind.name(),
        template: &template.name,
        lifecycle: lifecycle.unwrap_or("mutable"),
    });
    // The namespace is that of the kubeconfig, which is not known here.
    labels.retain(|_, value| value.as_text() != Some(""));
    let inputs = ResourceInputs::of(resource.entry, &forecast(resource));
    let context = TemplateContext::of_resource(&resource.owner.value, params, &inputs, &labels);
    let stamped = stamp(&StampRequest {
        template: &template.value,
        context: &context,
        owner: &resource.owner.value,
        labels: &labels,
        owner_reference: OwnerReference::Left,
        compat,
        ytt: &InProcessYtt,
    });
    let object = match stamped {
        Ok(Stamped { object, .. }) => object,
        Err(failures) => {
            for failure in failures {
                found.push(mistake(&resource.name, resource.owner, template, failure));
            }
            return None;
        }
    };
    let call = OpenPart {
        span: template.span,
        fixed: fixed(resource, template, &labels, compat),
        inputs: references(resource, template.span),
    };
    let written = part_at(&template.written, &template_path());
    let spec = match written {
        Some(written) => call.along(&object, Some(written)),
        None if object.has_unknown() => call.rendered(template),
        None => Expr::literal(object.clone(), ytt_place(template)),
    };
    Some(StampedResource {
        type_name: type_of(&object, template),
        spec,
        labels,
    })
}

/// Stamps a run template for a runnable without a selector: all that it reads is known. Reports what
/// cannot be stamped, and returns nothing then.
pub(super) fn stamp_runnable(
    runnable: &CartoObject,
    template: &CartoObject,
    compat: Compat,
    found: &mut Diagnostics,
) -> Option<StampedResource> {
    let labels = run_labels(&runnable.value, &template.name);
    let stamped = stamp(&StampRequest {
        template: &template.value,
        context: &TemplateContext::of_runnable(&runnable.value, None),
        owner: &runnable.value,
        labels: &labels,
        owner_reference: OwnerReference::Left,
        compat,
        ytt: &InProcessYtt,
    });
    let object = match stamped {
        Ok(Stamped { object, .. }) => object,
        Err(failures) => {
            for failure in failures {
                found.push(mistake(&runnable.name, runnable, template, failure));
            }
            return None;
        }
    };
    let known = OpenPart {
        span: template.span,
        fixed: Value::Null,
        inputs: Expr::literal(Value::Null, template.span),
    };
    let written = part_at(&template.written, &template_path());
    Some(StampedResource {
        type_name: type_of(&object, template),
        spec: known.along(&object, written),
        labels,
    })
}

/// The part `spec` of an object.
pub(super) fn spec_of(object: &CartoObject) -> &Value {
    object.value.get("spec").unwrap_or(&Value::Null)
}

fn template_path() -> Vec<PathStep> {
    ["spec", "template"]
        .map(|name| PathStep::Field(name.into()))
        .into()
}

fn ytt_place(template: &CartoObject) -> Span {
    let path = ["spec", "ytt"].map(|name| PathStep::Field(name.into()));
    place_at(&template.written, &path)
}

/// What a call needs besides the outputs of other resources.
fn fixed(
    resource: &ChainResource<'_>,
    template: &CartoObject,
    labels: &Map,
    compat: Compat,
) -> Value {
    let params = |object: &CartoObject| {
        let params = spec_of(object).get("params");
        params.cloned().unwrap_or_default()
    };
    Value::map([
        ("owner", resource.owner.value.clone()),
        ("resource", resource.entry.clone()),
        (COMPAT, Value::Bool(compat.is_upstream())),
        ("templateParams", params(template)),
        ("blueprintParams", params(resource.chain)),
        (
            "labels",
            Value::map(
                labels
                    .iter()
                    .map(|(key, value)| (key.clone(), value.clone())),
            ),
        ),
    ])
}

/// The type of a stamped object.
fn type_of(object: &Value, template: &CartoObject) -> Spanned<TypeId> {
    let text = |key: &str| object.get(key).and_then(Value::as_text);
    let version: Option<ApiVersion> = text("apiVersion").and_then(|text| text.parse().ok());
    let kind = match (version, text("kind")) {
        (Some(version), Some(kind)) => Some(GroupKind::new(version.group, kind)),
        _ => None,
    };
    let path: Vec<PathStep> = template_path()
        .into_iter()
        .chain([PathStep::Field("kind".into())])
        .collect();
    let span = match part_at(&template.written, &path) {
        Some(part) => part.span,
        None => ytt_place(template),
    };
    let name: Name = match kind {
        Some(kind) => kind.type_name(),
        None => KindType::Any.to_string().into(),
    };
    Spanned::new(name.into(), span)
}

/// Makes the parts of a spec that are known only when outputs of other resources are.
struct OpenPart {
    span: Span,
    fixed: Value,
    inputs: Expr,
}

impl OpenPart {
    /// The expression of a stamped part. `written` is the part of the template that it comes from; what
    /// every stamped object gets comes from none.
    fn along(&self, stamped: &Value, written: Option<&Expr>) -> Expr {
        let span = written.map_or(self.span, |written| written.span);
        if let (Some(entries), Some(ExprKind::Map(known))) =
            (stamped.as_map(), written.map(|written| &written.kind))
        {
            let entries = entries.iter().map(|(key, entry)| {
                let written = known.iter().find(|(known, _)| known.item == *key);
                let key_span = written.map_or(span, |(key, _)| key.span);
                let expr = self.along(entry, written.map(|(_, entry)| entry));
                (Spanned::new(key.clone(), key_span), expr)
            });
            return Expr::new(ExprKind::Map(entries.collect()), span);
        }
        if let (Some(items), Some(ExprKind::List(known))) =
            (stamped.as_list(), written.map(|written| &written.kind))
        {
            let items = items.iter().zip(known);
            let items = items.map(|(item, written)| self.along(item, Some(written)));
            return Expr::new(ExprKind::List(items.collect()), span);
        }
        let text = written.and_then(Expr::as_literal);
        match text {
            Some(text) if stamped.has_unknown() => {
                let arguments = vec![
                    Expr::literal(text.clone(), span),
                    Expr::literal(self.fixed.clone(), span),
                    self.inputs.clone(),
                ];
                Expr::call(FILL, span, arguments, span)
            }
            _ => Expr::literal(stamped.clone(), span),
        }
    }

    /// The object that a template of ytt renders.
    fn rendered(&self, template: &CartoObject) -> Expr {
        let span = ytt_place(template);
        let arguments = vec![
            Expr::literal(template.value.clone(), span),
            Expr::literal(self.fixed.clone(), span),
            self.inputs.clone(),
        ];
        Expr::call(STAMP, span, arguments, span)
    }
}

/// Reports why a template cannot be stamped for an owner.
fn mistake(
    name: &str,
    owner: &CartoObject,
    template: &CartoObject,
    failure: StampFailure,
) -> diag::Diagnostic {
    let steps = template_path().into_iter().chain(failure.path.0);
    let path: Vec<PathStep> = steps.collect();
    let place = match (&failure.inside, failure.line) {
        (Some(inside), _) => {
            let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
            place_inside(
                &template.written,
                &path,
                &(offset(inside.start)..offset(inside.end)),
            )
        }
        (None, Some(line)) => {
            let lines = &template.ytt_lines;
            let place = lines.get(line.saturating_sub(1)).copied();
            place.unwrap_or_else(|| ytt_place(template))
        }
        (None, None) => place_at(&template.written, &path),
    };
    let line = failure.line.filter(|_| template.ytt_lines.is_empty());
    let line = line.map(|line| format!("line {line} of the template: "));
    let message = format!("{}{}", line.unwrap_or_default(), failure.message);
    let shown = owner.shown();
    STAMP_FAILED
        .new(format!(
            "`{name}` cannot be stamped for `{shown}`: {message}"
        ))
        .label(place, format!("in `{}`", template.shown()))
        .label(owner.span, "for this owner")
}
