//! Templates whose objects are never changed: what they stamp is a run of a series
//! (decisions/cartographer#runs).

use blueprint::{Expr, ExprKind, Name, Value};
use cartographer::stamp::label_value;
use diag::{Span, Spanned};

use super::platform::CartoObject;
use super::stamping::{StampedResource, spec_of};
use super::written::place_at;

/// The type of a resource that makes a further object for every change.
const RUN_TYPE: &str = "kubernetes/run";

/// Whether a template makes a further object for every change.
pub(super) fn is_run_again(template: &CartoObject) -> bool {
    let lifecycle = spec_of(template).get("lifecycle").and_then(Value::as_text);
    matches!(lifecycle, Some("immutable" | "tekton"))
}

/// The resource whose runs are the stamped object. Their labels identify the series. `rule` is null if
/// every run is healthy. `limits` is the object that may say how many runs are kept.
pub(super) fn as_run(
    stamped: StampedResource,
    rule: &Value,
    limits: &CartoObject,
) -> StampedResource {
    let StampedResource {
        type_name,
        spec,
        labels,
    } = stamped;
    let span = spec.span;
    let selector = labels.iter().map(|(key, value)| {
        let value = value.as_text().map(label_value);
        (key.clone(), Value::text(value.unwrap_or_default()))
    });
    let selector = Value::map(selector);
    let mut fields = vec![
        field("template", span, spec),
        field("selector", span, Expr::literal(selector, span)),
    ];
    let policy = spec_of(limits).get("retentionPolicy");
    if let Some(policy) = policy.filter(|policy| !policy.is_null()) {
        let path = ["spec", "retentionPolicy"].map(|name| blueprint::PathStep::Field(name.into()));
        let span = place_at(&limits.written, &path);
        fields.push(field(
            "retention",
            span,
            Expr::literal(policy.clone(), span),
        ));
    }
    if !rule.is_null() {
        let rule = Expr::literal(rule.clone(), span);
        fields.push(field("healthRule", span, rule));
    }
    StampedResource {
        type_name: Spanned::new(Name::from(RUN_TYPE).into(), type_name.span),
        spec: Expr::new(ExprKind::Map(fields), span),
        labels,
    }
}

fn field(name: &str, span: Span, value: Expr) -> (Spanned<Name>, Expr) {
    (Spanned::new(name.into(), span), value)
}

#[cfg(test)]
mod tests;
