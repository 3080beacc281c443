//! The status of an owner, and what it is called in the two sorts of owners.

use std::sync::Arc;

use blueprint::{Map, Name, Value};

use crate::conditions::{CollectedConditions, StatusCondition, conditions_of, find_condition};
use crate::kinds::CartoKind;
use crate::outputs::are_equal;

use super::parts::{items, part, text};

/// The words of a sort of owner.
pub(super) struct OwnerWords {
    /// The type of the condition of the blueprint.
    pub(super) ready: &'static str,
    /// The reason if the owner has no labels.
    pub(super) labels_missing: &'static str,
    /// The reason if no blueprint matches.
    pub(super) not_found: &'static str,
    /// The reason if several match.
    pub(super) several: &'static str,
    /// The field of the status that names the blueprint.
    pub(super) reference: &'static str,
    /// The blueprint in messages.
    pub(super) blueprint: &'static str,
}

const WORKLOAD: OwnerWords = OwnerWords {
    ready: "SupplyChainReady",
    labels_missing: "WorkloadLabelsMissing",
    not_found: "SupplyChainNotFound",
    several: "MultipleSupplyChainMatches",
    reference: "supplyChainRef",
    blueprint: "supply chain",
};

const DELIVERABLE: OwnerWords = OwnerWords {
    ready: "DeliveryReady",
    labels_missing: "DeliverableLabelsMissing",
    not_found: "DeliveryNotFound",
    several: "MultipleDeliveryMatches",
    reference: "deliveryRef",
    blueprint: "delivery",
};

impl OwnerWords {
    /// The words of a kind of owner.
    pub(super) fn of(kind: CartoKind) -> &'static OwnerWords {
        match kind {
            CartoKind::Deliverable => &DELIVERABLE,
            _ => &WORKLOAD,
        }
    }
}

/// The conditions that an object has.
pub(super) fn previous_conditions(object: &Value) -> Vec<StatusCondition> {
    conditions_of(part(object, &["status", "conditions"]))
}

/// A condition that keeps its time if nothing else changed.
pub(super) fn with_time(
    condition: StatusCondition,
    previous: &[StatusCondition],
    now: &str,
) -> StatusCondition {
    let before = find_condition(previous, &condition.condition_type);
    let same = before.map(|before| StatusCondition {
        last_transition_time: before.last_transition_time.clone(),
        ..condition.clone()
    });
    match same {
        Some(same) if before == Some(&same) => same,
        _ => StatusCondition {
            last_transition_time: Name::from(now),
            ..condition
        },
    }
}

/// A status from the one that an object has: the conditions are new, and so are the further fields.
/// A field that is null is left out. `None` if nothing would change.
pub(super) fn changed_status(
    object: &Value,
    conditions: &[StatusCondition],
    fields: Vec<(&str, Value)>,
) -> Option<Value> {
    let before = part(object, &["status"]);
    let mut status: Map = before.as_map().cloned().unwrap_or_default();
    let generation = part(object, &["metadata", "generation"]).clone();
    let conditions = Value::list(conditions.iter().map(StatusCondition::value));
    let all = [
        ("observedGeneration", generation),
        ("conditions", conditions),
    ];
    for (key, value) in all.into_iter().chain(fields) {
        match value.is_null() {
            true => {
                status.shift_remove(key);
            }
            false => {
                status.insert(Name::from(key), value);
            }
        }
    }
    let status = Value::Map(Arc::new(status));
    (!are_equal(&status, before)).then_some(status)
}

/// Conditions with a further one before the aggregate, which does not count it.
pub(super) fn with_uncounted(
    collected: CollectedConditions,
    further: Option<StatusCondition>,
) -> Vec<StatusCondition> {
    let mut conditions = collected.conditions;
    if let Some(further) = further {
        let at = conditions.len().saturating_sub(1);
        conditions.insert(at, further);
    }
    conditions
}

/// Entries of resources in the order of the status that the owner has. A new one is inserted at its
/// position in the blueprint.
pub(super) fn in_order(owner: &Value, entries: &[&Value]) -> Vec<Value> {
    let named = |entry: &Value| Name::from(text(entry, &["name"]));
    let before = items(owner, &["status", "resources"]).iter();
    let mut order: Vec<(Name, Option<&Value>)> = before.map(|entry| (named(entry), None)).collect();
    for (at, entry) in entries.iter().enumerate() {
        let name = named(entry);
        match order.iter_mut().find(|(known, _)| *known == name) {
            Some((_, place)) => *place = Some(entry),
            None => order.insert(at.min(order.len()), (name, Some(entry))),
        }
    }
    order
        .into_iter()
        .filter_map(|(_, entry)| entry.cloned())
        .collect()
}
