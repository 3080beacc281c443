//! The changes of links, as a plan shows them to users (decision 5.1).

use blueprint::{Address, IndexMap, Value};

use crate::decision::Decision;
use crate::linked::Linked;
use crate::model::{Action, LinkChange, LinkEffectChange, Step, StepLinks};

/// The links that change, from the decisions of a plan.
pub(crate) fn link_changes(decisions: &[Decision]) -> Vec<LinkChange> {
    let wholes = decisions.iter().filter_map(|decision| match decision.linked.as_deref() {
        Some(Linked::Record(whole)) if decision.action != Action::None => Some((decision, whole)),
        _ => None,
    });
    let change = |(decision, whole): (&Decision, &super::LinkRecord)| LinkChange {
        address: decision.address.clone(),
        type_name: decision.type_name.clone(),
        action: decision.action,
        reasons: decision.reasons.clone(),
        annotations: decision.desired.get("notes").cloned().unwrap_or(Value::Null),
        effects: whole
            .changes
            .iter()
            .map(|(into, with, change)| LinkEffectChange { into: into.clone(), with: *with, change: change.clone() })
            .collect(),
        parts: whole.parts.clone(),
    };
    wholes.map(change).collect()
}

/// The links that resources gain, change and lose, by resource: both ends, and the targets that links write into.
pub(crate) fn links_by_resource(decisions: &[Decision]) -> IndexMap<Address, StepLinks> {
    let mut links: IndexMap<Address, StepLinks> = IndexMap::default();
    for decision in decisions {
        let Some(Linked::Record(_)) = decision.linked.as_deref() else { continue };
        for resource in decision.dependencies.iter().filter(|address| address.link.is_none()) {
            let list = match decision.action {
                Action::Link => |links: &mut StepLinks, link| links.gained.push(link),
                Action::Relink => |links: &mut StepLinks, link| links.changed.push(link),
                Action::Unlink => |links: &mut StepLinks, link| links.lost.push(link),
                _ => continue,
            };
            list(links.entry(resource.clone()).or_default(), decision.address.clone());
        }
    }
    links
}

/// Stores in the steps of resources which links they gain, change and lose (decision 5.1).
pub(crate) fn note_links_in_steps(steps: &mut [Step], mut links: IndexMap<Address, StepLinks>) {
    if links.is_empty() {
        return;
    }
    for step in steps {
        step.links = links.swap_remove(&step.address).map(Box::new);
    }
}
