//! The configurations of providers that resources declare, and the effect of a change of their
//! settings on the resources that are managed with them.
//!
//! Not here: the declaration itself, which is a resource like any other (type `cyan/provider`),
//! sessions (`run`).

use std::sync::Arc;

use blueprint::{Address, PROVIDER_TYPE, ReplaceOrder, Value};
use diag::Diagnostics;
use evaluate::question::{ProviderInstance, ResourceTarget};
use evaluate::resolve::{Evaluation, Members, NoProviderInstance};
use evaluate::world::World;
use provider::SettingsChange;
use state::Snapshot;
use understand::graph::GraphNode;

use crate::decision::Decision;
use crate::model::{Action, HashSet, Reason};
use crate::provider_diagnostics::provider_failed;

/// The configuration that a resource is managed with, if a resource declares it. Reports a
/// configuration that does not exist.
pub(crate) fn instance_of(
    evaluation: &Evaluation,
    index: u32,
    snapshot: &Snapshot,
    found: &mut Diagnostics,
) -> Option<Arc<ProviderInstance>> {
    let instance = match evaluation.provider_of(GraphNode::Resource(index)) {
        Ok(instance) => instance?,
        Err(NoProviderInstance(why)) => {
            let exists = !matches!(
                evaluation.resources[index as usize],
                Members::Absent | Members::Failed
            );
            found.extend(why.filter(|_| exists).map(|why| *why));
            return None;
        }
    };
    let recorded = snapshot.records.get(&instance.address);
    let former = recorded
        .and_then(|record| record.inputs.get("settings"))
        .cloned()
        .unwrap_or_default();
    Some(Arc::new(ProviderInstance { former, ..instance }))
}

/// Replaces a configuration if its provider says that the new settings, such as another region,
/// need new resources. The old configuration stays until the resources that were created with it
/// are deleted.
pub(crate) async fn replace_changed_instances(
    evaluation: &Evaluation,
    drafts: &mut [Decision],
    world: &dyn World,
    found: &mut Diagnostics,
) {
    let changed = |decision: &Decision| {
        decision.action == Action::Update && decision.type_name.name().as_ref() == PROVIDER_TYPE
    };
    for decision in drafts.iter_mut().filter(|decision| changed(decision)) {
        let Some(namespace) = decision.desired.get("namespace").and_then(Value::as_text) else {
            continue;
        };
        let settings = |inputs: &Value| inputs.get("settings").cloned().unwrap_or_default();
        let instance = ProviderInstance {
            address: decision.address.clone(),
            settings: settings(&decision.desired),
            former: decision
                .prior
                .as_ref()
                .map(|record| settings(&record.inputs))
                .unwrap_or_default(),
        };
        let number = decision.element.map(|(number, _)| number);
        let site = evaluation.site_of(number);
        let address = &decision.address;
        let target = ResourceTarget {
            namespace,
            instance: Some(&instance),
            address,
            site: site.borrowed(),
        };
        match world.settings_change(target).await {
            Ok(SettingsChange::Replace(paths)) => {
                let under =
                    |path: &str| paths.iter().any(|it| path == format!("spec.settings.{it}"));
                decision
                    .changes
                    .iter_mut()
                    .for_each(|change| change.forces = under(&change.path));
                decision.action = Action::Replace;
                decision.replace_order = ReplaceOrder::CreateFirst;
                decision.reasons.insert(0, Reason::FieldForces);
            }
            Ok(SettingsChange::Same | SettingsChange::Update) => {}
            Err(error) => found.push(provider_failed(&decision.address, decision.span, &error)),
        }
    }
}

/// Replaces resources that move to another configuration, if their provider says that the difference
/// of the settings needs new resources. Only dialects whose resources have names for plugins ask: for
/// others, only the record changes.
pub(crate) async fn replace_switched_resources(
    evaluation: &Evaluation,
    drafts: &mut [Decision],
    snapshot: &Snapshot,
    world: &dyn World,
    found: &mut Diagnostics,
) {
    for decision in drafts.iter_mut() {
        let recorded = decision.prior.as_ref();
        let recorded = recorded.filter(|record| !record.origin.urn.is_empty());
        let Some(record) = recorded else { continue };
        // No configuration applies to what lives in the state, whatever the record says.
        let number = decision.element.map(|(number, _)| number);
        if number.is_some_and(|number| evaluation.documents.lives_in_state(number)) {
            continue;
        }
        let before = record.provider.as_ref().map(|provider| &provider.address);
        let now = decision.provider.as_ref().map(|provider| &provider.address);
        if before == now || !matches!(decision.action, Action::None | Action::Update) {
            continue;
        }
        let former = before.and_then(|address| snapshot.records.get(address));
        let former = former.and_then(|record| record.inputs.get("settings").cloned());
        let settings = decision.provider.as_ref().map(|one| one.settings.clone());
        let either = now.or(before).unwrap_or(&decision.address);
        let nothing = || Value::Map(Arc::default());
        let instance = ProviderInstance {
            address: either.clone(),
            settings: settings.unwrap_or_else(nothing),
            former: former.unwrap_or_else(nothing),
        };
        let site = evaluation.site_of(number);
        let target = ResourceTarget {
            namespace: decision.type_name.package_name(),
            instance: Some(&instance),
            address: &decision.address,
            site: site.borrowed(),
        };
        match world.settings_change(target).await {
            Ok(SettingsChange::Replace(_)) => {
                decision.action = Action::Replace;
                decision.only_recorded = false;
                decision.reasons.insert(0, Reason::ProviderChanged);
            }
            Ok(SettingsChange::Same | SettingsChange::Update) => {}
            Err(error) => found.push(provider_failed(&decision.address, decision.span, &error)),
        }
    }
}

/// Replaces the resources whose configuration is replaced.
pub(crate) fn replace_managed_resources(
    drafts: &mut [Decision],
    replaced_instances: &HashSet<Address>,
) {
    for decision in drafts {
        let is_remade = decision
            .provider
            .as_ref()
            .is_some_and(|instance| replaced_instances.contains(&instance.address));
        if is_remade && matches!(decision.action, Action::None | Action::Update) {
            decision.action = Action::Replace;
            decision.reasons.insert(0, Reason::ProviderChanged);
        }
    }
}
