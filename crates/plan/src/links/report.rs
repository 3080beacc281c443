//! The changes of links, as a plan shows them to users (decisions/plan#contents-of-a-plan).

use blueprint::{Address, IndexMap, Value};

use crate::decision::Decision;
use crate::linked::Linked;
use crate::model::{Action, LinkChange, LinkEffectChange, Step, StepLinks};

/// The changes of links among the decisions of a plan.
pub(crate) fn link_changes(decisions: &[Decision]) -> Vec<LinkChange> {
    let records = decisions
        .iter()
        .filter_map(|decision| match decision.linked.as_deref() {
            Some(Linked::Record(record)) if decision.action != Action::None => {
                Some((decision, record))
            }
            _ => None,
        });
    let change = |(decision, record): (&Decision, &super::LinkRecord)| LinkChange {
        address: decision.address.clone(),
        type_name: decision.type_name.clone(),
        action: decision.action,
        reasons: decision.reasons.clone(),
        annotations: decision
            .desired
            .get("notes")
            .cloned()
            .unwrap_or(Value::Null),
        effects: record
            .changes
            .iter()
            .map(|changed| LinkEffectChange {
                into: changed.into.clone(),
                with: changed.with_spec,
                change: changed.change.clone(),
            })
            .collect(),
        parts: record.parts.clone(),
    };
    records.map(change).collect()
}

/// The links that are created, changed and removed, by resource. A link is listed at both ends and
/// at the other resources that it writes into.
pub(crate) fn links_by_resource(decisions: &[Decision]) -> IndexMap<Address, StepLinks> {
    let mut links: IndexMap<Address, StepLinks> = IndexMap::default();
    for decision in decisions {
        let Some(Linked::Record(_)) = decision.linked.as_deref() else {
            continue;
        };
        // A link depends on its ends, its targets and its parts. Parts are no declared resources.
        for resource in decision
            .dependencies
            .iter()
            .filter(|address| address.link.is_none())
        {
            let add = match decision.action {
                Action::Link => |links: &mut StepLinks, link| links.gained.push(link),
                Action::Relink => |links: &mut StepLinks, link| links.changed.push(link),
                Action::Unlink => |links: &mut StepLinks, link| links.lost.push(link),
                _ => continue,
            };
            add(
                links.entry(resource.clone()).or_default(),
                decision.address.clone(),
            );
        }
    }
    links
}

/// Stores the links of each resource in its step, if it has one
/// (decisions/plan#contents-of-a-plan).
pub(crate) fn store_links_in_steps(steps: &mut [Step], mut links: IndexMap<Address, StepLinks>) {
    if links.is_empty() {
        return;
    }
    for step in steps {
        step.links = links.swap_remove(&step.address).map(Box::new);
    }
}
