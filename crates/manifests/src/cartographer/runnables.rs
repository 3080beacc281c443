//! Lowers the runnables: each is a series of runs of its run template.

use blueprint::{Expr, Name, PathStep, ReadinessRule, Resource, Value};
use cartographer::compat::Compat;
use cartographer::kinds::CartoKind;
use diag::Span;

use super::calls::{RUN_OUTPUTS, RUN_READY};
use super::chain_resource::newest_healthy;
use super::codes::{RUNNABLE_NOT_RUN, UNKNOWN_TEMPLATE};
use super::parts::LoweredParts;
use super::platform::{CartoObject, Platform};
use super::runs::as_run;
use super::stamping::{StampedResource, spec_of, stamp_runnable};
use super::written::place_at;

/// The condition that says whether a run succeeded.
const SUCCEEDED: &str = "Succeeded";

/// Adds the runs of all runnables, and their outputs.
pub(super) fn lower_runnables(platform: &Platform, compat: Compat, parts: &mut LoweredParts) {
    for runnable in &platform.runnables {
        lower_runnable(runnable, platform, compat, parts);
    }
}

fn lower_runnable(
    runnable: &CartoObject,
    platform: &Platform,
    compat: Compat,
    parts: &mut LoweredParts,
) {
    let spec = spec_of(runnable);
    if spec
        .get("selector")
        .is_some_and(|selector| !selector.is_null())
    {
        let message = format!("`{}` is checked and not run", runnable.shown());
        let place = place_of(runnable, &["spec", "selector"]);
        parts.found.push(
            RUNNABLE_NOT_RUN
                .new(message)
                .label(place, "selects an object of the cluster"),
        );
        return;
    }
    let reference = spec.get("runTemplateRef");
    let name = reference.and_then(|reference| reference.get("name"));
    // The schema reports what is missing.
    let Some(Value::Text(name)) = name else {
        return;
    };
    let kind = CartoKind::ClusterRunTemplate;
    let Some(template) = platform.templates.get(&(kind, name.clone())) else {
        let names = platform.templates.keys();
        let names = names.filter(|(known, _)| *known == kind);
        let place = place_of(runnable, &["spec", "runTemplateRef", "name"]);
        parts.found.push(
            UNKNOWN_TEMPLATE
                .new(format!("there is no {} `{name}`", kind.name()))
                .label(place, "not in this document")
                .help_nearest(name, names.map(|(_, name)| name.as_ref())),
        );
        return;
    };
    let Some(stamped) = stamp_runnable(runnable, template, compat, &mut parts.found) else {
        return;
    };
    let rule = Value::map([("singleConditionType", Value::from(SUCCEEDED))]);
    let StampedResource {
        type_name, spec, ..
    } = as_run(stamped, &rule, runnable);
    let span = runnable.span;
    let name: Name = match &runnable.namespace {
        Some(namespace) => format!("runnable/{namespace}/{}", runnable.name).into(),
        None => format!("runnable/{}", runnable.name).into(),
    };
    let outputs = spec_of(template).get("outputs").cloned();
    let rule = Value::map([
        ("kind", Value::text(kind.name())),
        (
            "spec",
            Value::map([("outputs", outputs.unwrap_or_default())]),
        ),
    ]);
    let mut declared = Resource::new(span, type_name, spec.span, spec);
    declared.readiness = Some(Box::new(ReadinessRule {
        function: RUN_READY.into(),
        rule: rule.clone(),
    }));
    let arguments = vec![Expr::literal(rule, span), newest_healthy(&name, span)];
    let value = Expr::call(RUN_OUTPUTS, span, arguments, span);
    parts.add_output(name.clone(), span, value);
    parts.add(name, declared);
}

fn place_of(object: &CartoObject, fields: &[&str]) -> Span {
    let path: Vec<PathStep> = fields
        .iter()
        .map(|name| PathStep::Field((*name).into()))
        .collect();
    place_at(&object.written, &path)
}
