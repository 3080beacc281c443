//! The configurations of providers that resources declare, and what a change of their settings means for the resources
//! that are managed with them.
//!
//! Not here: the declaration itself, which is a resource like any other (type `cyan/provider`), sessions (`run`).

use std::sync::Arc;

use blueprint::{Address, Value};
use diag::Diagnostics;
use evaluate::question::ProviderInstance;
use evaluate::resolve::Evaluation;
use evaluate::world::World;
use provider::SettingsChange;
use state::Snapshot;

use crate::decision::Decision;
use crate::drafting::opinions::provider_failed;
use crate::model::{Action, Reason};

/// The configuration that a resource is managed with, if a resource declares it.
pub(crate) fn instance_of(evaluation: &Evaluation, index: u32, snapshot: &Snapshot) -> Option<Arc<ProviderInstance>> {
    let instance = evaluation.provider_of(index)?;
    let recorded = snapshot.records.get(&instance.address);
    let former = recorded.and_then(|record| record.inputs.get("settings")).cloned().unwrap_or_default();
    Some(Arc::new(ProviderInstance { former, ..instance }))
}

/// The configuration that a recorded resource is managed with, as the state knows it.
pub(crate) fn recorded_instance(address: Option<&Address>, snapshot: &Snapshot) -> Option<Arc<ProviderInstance>> {
    address.and_then(|address| ProviderInstance::recorded(address, snapshot)).map(Arc::new)
}

/// A resource that moves to another configuration is only recorded with it: the configurations may mean the same
/// account.
pub(crate) fn note_provider(decision: &mut Decision) {
    if let Some(record) = decision.prior.clone()
        && decision.action == Action::None
    {
        decision.record_differs = decision.differs_from(&record);
    }
}

/// Replaces the resources whose provider says that its new settings need new resources.
pub(crate) async fn follow_settings(
    evaluation: &Evaluation,
    drafts: &mut [Decision],
    world: &dyn World,
    found: &mut Diagnostics,
) {
    // Each configuration is asked about once, for the first resource that it manages.
    let mut asked: Vec<(Address, usize)> = Vec::new();
    for (at, decision) in drafts.iter().enumerate() {
        let Some(instance) = &decision.provider else { continue };
        let exists = decision.prior.as_ref().is_some_and(|record| !record.id.is_empty());
        let changed = !instance.former.is_null() && instance.former != instance.settings;
        if exists && changed && !asked.iter().any(|(address, _)| *address == instance.address) {
            asked.push((instance.address.clone(), at));
        }
    }
    for (address, at) in asked {
        let decision = &drafts[at];
        let folder = evaluation.documents.folder_declaring(decision.element.map(|(number, _)| number));
        let change = match world.settings_change(decision.target(&folder)).await {
            Ok(change) => change,
            Err(error) => {
                found.push(provider_failed(&decision.address, decision.span, &error));
                continue;
            }
        };
        if !matches!(change, SettingsChange::Replace(_)) {
            continue;
        }
        for decision in drafts.iter_mut().filter(|it| it.provider.as_ref().is_some_and(|it| it.address == address)) {
            if matches!(decision.action, Action::None | Action::Update) {
                decision.may_replace =
                    decision.provider.as_ref().is_some_and(|instance| Value::has_unknown(&instance.settings));
                decision.action = Action::Replace;
                decision.reasons.insert(0, Reason::ProviderChanged);
            }
        }
    }
}
