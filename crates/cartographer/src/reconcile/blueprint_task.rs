//! The reconcile of a ClusterSupplyChain or a ClusterDelivery: whether its templates exist.

use blueprint::{Name, Value};

use crate::conditions::{ConditionCollector, FALSE, StatusCondition, TRUE};
use crate::kinds::CartoKind;

use super::options::ReconcileOptions;
use super::owner_status::{changed_status, previous_conditions};
use super::parts::{items, name, part, text};
use super::requests::{Platform, ReconcileOutcome, Retry, Watches};

/// What becomes of a blueprint. It needs no request.
pub(super) fn blueprint_outcome(
    blueprint: &Value,
    platform: &dyn Platform,
    options: &ReconcileOptions,
) -> ReconcileOutcome {
    let mut watches = Watches::default();
    let mut missing: Vec<String> = Vec::new();
    for resource in items(blueprint, &["spec", "resources"]) {
        let reference = part(resource, &["templateRef"]);
        let kind_name = text(reference, &["kind"]);
        let kind = CartoKind::of_name(kind_name);
        for template in template_names(reference) {
            let is_found = kind.is_some_and(|kind| {
                watches.platform.push((kind, template.clone()));
                platform.find(kind, &template).is_some()
            });
            let shown = format!("{kind_name} `{template}`");
            if !is_found && !missing.contains(&shown) {
                missing.push(shown);
            }
        }
    }
    let condition = match missing.is_empty() {
        true => StatusCondition::new("TemplatesReady", TRUE, "Ready", ""),
        false => {
            let message = format!("these templates do not exist: {}", missing.join(", "));
            StatusCondition::new("TemplatesReady", FALSE, "TemplatesNotFound", &message)
        }
    };
    let previous = previous_conditions(blueprint);
    let mut collector = ConditionCollector::new("Ready", previous, &options.now);
    collector.add(condition);
    let conditions = collector.finish().conditions;
    ReconcileOutcome {
        status: changed_status(blueprint, &conditions, Vec::new()),
        events: Vec::new(),
        retry: Retry::No,
        watches,
    }
}

/// The names of all templates that a reference can mean.
fn template_names(reference: &Value) -> Vec<Name> {
    let options = items(reference, &["options"]).iter();
    let names = options.map(|option| name(option, &["name"]));
    names
        .chain([name(reference, &["name"])])
        .filter(|name| !name.is_empty())
        .collect()
}
