//! Replacements and removals that follow from the ties of resources: replacement triggers, resources
//! that are replaced together, and objects that go with another one.
//!
//! Not here: former identities (`moves::identity`), what records keep (`record_ties`).

use blueprint::{Address, ResourceMetadata, Value};
use state::Record;
use understand::documents::Documents;

use crate::decision::Decision;
use crate::draft::Draft;
use crate::model::{Action, AddressSet, HashSet, Reason};

/// Replaces resources whose trigger has changed, and resources that are tied to one that is replaced.
pub(crate) fn request_tied_replacements(
    drafts: &mut [Decision],
    documents: &Documents,
    replaced: &HashSet<Address>,
) {
    for decision in drafts {
        let declared = decision
            .element
            .and_then(|(number, _)| documents.resource(number));
        let Some((unit, _, resource)) = declared else {
            continue;
        };
        let trigger = resource.metadata.replacement_trigger.is_some();
        if !trigger && resource.ties.is_none() {
            continue;
        }
        let unit = documents.unit(unit);
        let others = resource.ties.iter().flat_map(|ties| &ties.replaced_with);
        let mut others = others.map(|name| unit.address(&name.item));
        let reason = if trigger && is_triggered(decision) {
            Reason::TriggerChanged
        } else if others.any(|other| replaced.contains(&other)) {
            Reason::DependencyReplaced
        } else {
            continue;
        };
        if matches!(decision.action, Action::None | Action::Update) {
            decision.action = Action::Replace;
            decision.only_recorded = false;
            decision.reasons.insert(0, reason);
        }
    }
}

/// Whether the trigger of a resource differs from the recorded one. Null on either side is no
/// difference, and a trigger that is known only on deploy always is.
fn is_triggered(decision: &Decision) -> bool {
    let Some(record) = decision.prior.as_deref() else {
        return false;
    };
    let of = |metadata: &Value| {
        let trigger = metadata.get(ResourceMetadata::REPLACEMENT_TRIGGER);
        trigger.filter(|value| !value.is_null()).cloned()
    };
    let (Some(before), Some(now)) = (of(&record.metadata), of(&decision.metadata)) else {
        return false;
    };
    now.has_unknown() || before.unmarked() != now.unmarked()
}

/// Removes only the records of objects that go with another object that the plan deletes, and of
/// records without an object of their own.
pub(crate) fn forget_tied_removals(draft: &mut Draft) {
    let is_tied = |decision: &Decision| {
        let record = decision.prior.as_deref();
        decision.action == Action::Delete && record.is_some_and(|one| one.origin.ties.is_some())
    };
    if !draft.decisions.iter().any(is_tied) {
        return;
    }
    let deleted = draft
        .decisions
        .iter()
        .filter(|decision| decision.action == Action::Delete);
    let deleted: AddressSet = deleted.map(|decision| decision.address.clone()).collect();
    for decision in draft.decisions.iter_mut().filter(|one| is_tied(one)) {
        let ties = decision
            .prior
            .as_deref()
            .and_then(|record: &Record| record.origin.ties.as_deref());
        let Some(ties) = ties else { continue };
        let reason = match (&ties.deleted_with, ties.keeping) {
            (Some(other), _) if deleted.contains(other) => Reason::DeletedWith,
            (_, state::Keeping::Managed) => continue,
            _ => Reason::NotManaged,
        };
        decision.action = Action::Detach;
        decision.reasons.push(reason);
    }
}
