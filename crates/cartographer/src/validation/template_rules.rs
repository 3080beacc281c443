//! The rules for templates and run templates (decisions/cartographer#validation), in the order in
//! which upstream tests them.

use blueprint::Value;

use super::fault::{Fault, FaultClass, ObjectPlace};
use crate::kinds::CartoKind;

/// Adds the faults of a template.
pub(crate) fn template_faults(kind: CartoKind, spec: &ObjectPlace<'_>, faults: &mut Vec<Fault>) {
    let (template, ytt) = (spec.field("template"), spec.field("ytt"));
    if !spec.is_unknown() && !template.is_unknown() && !ytt.is_unknown() {
        let found = match (template.is_set(), ytt.is_empty()) {
            (true, false) => Some("both"),
            (false, true) => Some("neither"),
            _ => None,
        };
        if let Some(found) = found {
            let message = format!("the template has {found} of `template` and `ytt`");
            let fault = spec.fault(FaultClass::TemplateOrYtt, message);
            faults.push(fault.helped("set exactly one of `template` and `ytt`"));
        }
    }
    if template.is_set() {
        stamped_object_faults(&template, faults);
    }
    health_rule_faults(&spec.field("healthRule"), faults);
    if !spec.field("healthRule").is_set() {
        faults.extend(retention_fault(
            spec,
            StatedLifecycle::Mutable,
            FaultClass::Retention,
        ));
    }
    if kind == CartoKind::ClusterDeploymentTemplate {
        observed_faults(spec, faults);
    }
}

/// Adds the faults of a run template.
pub(crate) fn run_template_faults(spec: &ObjectPlace<'_>, faults: &mut Vec<Fault>) {
    let template = spec.field("template");
    stamped_object_faults(&template, faults);
    let entries = template.value().and_then(Value::as_map);
    if entries.is_some_and(|entries| !entries.contains_key("spec")) {
        let place = template.field("spec");
        let fault = place.fault(FaultClass::RunTemplateSpec, "the template has no `spec`");
        faults.push(fault.helped("run an object that has a `spec`"));
    }
}

/// The faults of the object that a template stamps.
fn stamped_object_faults(template: &ObjectPlace<'_>, faults: &mut Vec<Fault>) {
    if template.is_unknown() {
        return;
    }
    let class = FaultClass::TemplateNotAnObject;
    if template.value().and_then(Value::as_map).is_none() {
        faults.push(template.fault(class, "the template is not an object"));
        return;
    }
    let kind = template.field("kind");
    if kind.text().is_none_or(str::is_empty) && !kind.is_unknown() {
        let fault = kind.fault(class, "the template has no `kind`");
        faults.push(fault.helped("add `apiVersion` and `kind`"));
    }
    let namespace = template.field("metadata").field("namespace");
    if namespace.text().is_some_and(|text| !text.is_empty()) {
        let message = "the template states a namespace, but its object is in that of the owner";
        let fault = namespace.fault(FaultClass::TemplateNamespace, message);
        faults.push(fault.helped("remove `metadata.namespace`"));
    }
}

fn health_rule_faults(rule: &ObjectPlace<'_>, faults: &mut Vec<Fault>) {
    if !rule.is_set() || rule.is_unknown() {
        return;
    }
    let multi = rule.field("multiMatch");
    let single = rule.field("singleConditionType");
    let ways = [
        rule.field("alwaysHealthy").is_set(),
        !single.is_empty(),
        multi.is_set(),
    ];
    let count = ways.iter().filter(|is_set| **is_set).count();
    if count != 1 {
        let message = match count {
            0 => "the health rule says nothing",
            _ => "the health rule says several things",
        };
        let fault = rule.fault(FaultClass::HealthRule, message);
        let help = "set exactly one of `alwaysHealthy`, `singleConditionType` and `multiMatch`";
        faults.push(fault.helped(help));
    }
    if !multi.is_set() {
        return;
    }
    for side in ["unhealthy", "healthy"] {
        let place = multi.field(side);
        let is_empty = |field| place.field(field).is_empty();
        if !place.is_unknown() && is_empty("matchConditions") && is_empty("matchFields") {
            let message = format!("`{side}` has no matcher");
            let fault = place.fault(FaultClass::HealthRule, message);
            faults.push(fault.helped("add `matchConditions` or `matchFields`"));
        }
    }
}

/// What an object says about its lifecycle.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum StatedLifecycle {
    /// `mutable`.
    Mutable,
    /// Nothing. The schema makes it `mutable` when the object is stored.
    Omitted,
}

/// The fault of a retention policy of a template that is mutable; `None` if there is none, or if
/// the lifecycle is not stated in this way.
pub(crate) fn retention_fault(
    spec: &ObjectPlace<'_>,
    stated: StatedLifecycle,
    class: FaultClass,
) -> Option<Fault> {
    let policy = spec.field("retentionPolicy");
    let lifecycle = match spec.field("lifecycle").text()? {
        "mutable" => StatedLifecycle::Mutable,
        "" => StatedLifecycle::Omitted,
        _ => return None,
    };
    if !policy.is_set() || policy.is_unknown() || lifecycle != stated {
        return None;
    }
    let message = "a mutable template has one object, so there is nothing to retain";
    let fault = policy.fault(class, message);
    Some(fault.helped("remove `retentionPolicy`, or set `lifecycle` to `immutable` or `tekton`"))
}

fn observed_faults(spec: &ObjectPlace<'_>, faults: &mut Vec<Fault>) {
    let (matches, completion) = (
        spec.field("observedMatches"),
        spec.field("observedCompletion"),
    );
    if matches.is_unknown() || completion.is_unknown() || matches.is_set() != completion.is_set() {
        return;
    }
    let found = if matches.is_set() { "both" } else { "neither" };
    let message = format!("the template has {found} of `observedMatches` and `observedCompletion`");
    let fault = spec.fault(FaultClass::Observed, message);
    faults.push(fault.helped("set exactly one of `observedMatches` and `observedCompletion`"));
}
