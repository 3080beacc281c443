//! The effect of a provider's opinion on a decision.
//!
//! Not here: asking for the opinion (`opinions`).

use blueprint::{FieldPath, ReplaceOrder, Resource, Value};
use evaluate::answers::ProviderOpinion;
use provider::{Plans, Verdict};
use state::StatusOp;
use understand::compare::{Change, same_field};

use crate::decision::Decision;
use crate::model::{Action, Reason};

/// Changes a decision by the opinion of its provider.
pub(crate) fn apply_opinion(
    decision: &mut Decision,
    opinion: &ProviderOpinion,
    resource: Option<&Resource>,
) {
    let decides = decision
        .ty
        .as_ref()
        .is_some_and(|ty| ty.capabilities.plans == Plans::Always);
    if decides {
        return apply_verdict(decision, opinion, resource);
    }
    let judges_replacements = decision
        .ty
        .as_ref()
        .is_some_and(|ty| ty.capabilities.judges_replacements());
    if decision.action == Action::Replace && judges_replacements {
        return judge_replacement(decision, opinion, resource);
    }
    if decision.action != Action::Update {
        return;
    }
    for change in &mut decision.changes {
        change.forces |= opinion.replaces.iter().any(|path| change.is_under(path));
    }
    if forcing_reason(decision) {
        decision.action = Action::Replace;
        decision.reasons.insert(0, Reason::FieldForces);
        order_by_verdict(decision, opinion, resource);
    } else {
        decision.only_recorded = changes_only_record(decision, opinion);
    }
    if !opinion.private.is_null() {
        decision.private.planned = opinion.private.clone();
    }
}

/// Whether an update needs no call: the document has changed only fields whose changes mean the same
/// object.
fn changes_only_record(decision: &Decision, opinion: &ProviderOpinion) -> bool {
    let mut changes = decision.changes.iter();
    !decision.changes.is_empty()
        && decision.reasons == [Reason::Changed]
        && changes.all(|change| opinion.only_records(change))
}

/// Applies the opinion of a provider that does not decide to a replacement. The provider may say that
/// the changes which force it mean the same object, and in which order it must be made. Nothing else
/// of the opinion counts, because it is about the old object.
fn judge_replacement(
    decision: &mut Decision,
    opinion: &ProviderOpinion,
    resource: Option<&Resource>,
) {
    let forced = forcing_reason(decision);
    for change in &mut decision.changes {
        change.forces &= !opinion.only_records(change);
        change.forces |= opinion.replaces.iter().any(|path| change.is_under(path));
    }
    // A failed, expired or requested object is replaced whatever its fields mean.
    let only_by_fields = decision.private.expired.is_none()
        && decision
            .reasons
            .iter()
            .all(|reason| matches!(reason, Reason::FieldForces | Reason::Drifted));
    if forced && only_by_fields && !forcing_reason(decision) {
        decision.action = Action::Update;
        decision.may_replace = false;
        for reason in &mut decision.reasons {
            if *reason == Reason::FieldForces {
                *reason = Reason::Changed;
            }
        }
        decision.only_recorded = changes_only_record(decision, opinion);
        if !opinion.private.is_null() {
            decision.private.planned = opinion.private.clone();
        }
        return;
    }
    order_by_verdict(decision, opinion, resource);
}

/// Sets the order of a replacement if the provider names one.
fn order_by_verdict(
    decision: &mut Decision,
    opinion: &ProviderOpinion,
    resource: Option<&Resource>,
) {
    if let Verdict::Replace { delete_first } = opinion.verdict {
        set_order(decision, delete_first, resource);
    }
}

/// Applies the verdict of a provider that decides. The engine's own comparison only shows the
/// changes and gives the reasons.
fn apply_verdict(decision: &mut Decision, opinion: &ProviderOpinion, resource: Option<&Resource>) {
    if let Some(inputs) = &opinion.inputs {
        decision.desired = inputs.clone();
        adjust_changes(decision, inputs);
        if let Some(record) = &decision.prior {
            decision.record_differs = decision.differs_from(record);
        }
    }
    if let Verdict::Undecided { needs } = &opinion.verdict {
        decision.private.needs = Some(needs.as_str().into());
    }
    if matches!(decision.action, Action::Create | Action::Replace) {
        // No object exists, or the engine demands a new resource: the old one failed, or the user
        // asked for it.
        return;
    }
    if !opinion.private.is_null() {
        decision.private.planned = opinion.private.clone();
    }
    let moves = matches!(decision.action, Action::Move | Action::Import);
    match &opinion.verdict {
        Verdict::ByCatalogue => {}
        Verdict::Same if must_call(decision) => {}
        Verdict::Same => {
            if !moves {
                decision.action = Action::None;
            }
            decision.changes.clear();
            decision
                .reasons
                .retain(|reason| matches!(reason, Reason::Moved | Reason::Imported));
        }
        Verdict::Update => {
            let demanded = resource.map_or(&[][..], |one| &one.lifecycle.replace_on_changes);
            for change in &mut decision.changes {
                change.forces = demanded.iter().any(|path| change.is_under(path));
            }
            decision.action = match forcing_reason(decision) {
                true => Action::Replace,
                false => Action::Update,
            };
            if decision.action == Action::Replace {
                decision.reasons.insert(0, Reason::FieldForces);
            }
            add_computed_changes(decision, opinion);
            if decision.reasons.is_empty() {
                decision.reasons.push(Reason::ProviderDecides);
            }
        }
        Verdict::Replace { delete_first } => {
            decision.action = Action::Replace;
            for change in &mut decision.changes {
                change.forces = opinion.replaces.iter().any(|path| change.is_under(path));
            }
            let forcing: Vec<&Change> = decision
                .changes
                .iter()
                .filter(|change| change.forces)
                .collect();
            // A replacement because of unknown values may turn out to be unnecessary.
            decision.may_replace = !forcing.is_empty()
                && forcing
                    .iter()
                    .all(|change| change.after.as_ref().is_some_and(Value::has_unknown));
            add_computed_changes(decision, opinion);
            let reason = if forcing_reason(decision) {
                Reason::FieldForces
            } else {
                Reason::ProviderDecides
            };
            decision.reasons.insert(0, reason);
            set_order(decision, *delete_first, resource);
        }
        Verdict::Undecided { .. } => {
            // Any action is possible. The action is known only when the plan is applied.
            decision.action = Action::Replace;
            decision.may_replace = true;
            if decision.reasons.is_empty() {
                decision.reasons.push(Reason::ProviderDecides);
            }
        }
    }
}

/// Compares the record with the inputs that the provider derived from the spec: a name that it
/// generated before has not changed.
fn adjust_changes(decision: &mut Decision, inputs: &Value) {
    let Some(ty) = decision.ty.clone() else {
        return;
    };
    decision.changes.retain_mut(|change| {
        let name = change.path.strip_prefix("spec.").unwrap_or_default();
        let (Some(field), Some(after)) = (ty.schema.fields.get(name), inputs.get(name)) else {
            return true;
        };
        let unchanged = change
            .before
            .as_ref()
            .is_some_and(|before| same_field(field, before, after));
        change.after = Some(after.clone());
        !unchanged
    });
}

/// Whether a call is needed although the provider finds no difference: the last operation may be
/// half done.
fn must_call(decision: &Decision) -> bool {
    decision.reasons.contains(&Reason::FailedBefore) && !is_compared_again(decision)
        || decision.reasons.contains(&Reason::Interrupted)
}

/// Whether the difference that the provider finds decides after a failed update or delete: for
/// dialects whose resources have names for plugins, if the object is healthy.
fn is_compared_again(decision: &Decision) -> bool {
    decision.prior.as_ref().is_some_and(|record| {
        !record.origin.urn.is_empty()
            && record.unhealthy.is_empty()
            && record.status.op != StatusOp::Create
    })
}

fn forcing_reason(decision: &Decision) -> bool {
    decision.changes.iter().any(|change| change.forces)
}

/// Sets the order of a replacement: the document's if it has one, else the provider's.
fn set_order(decision: &mut Decision, delete_first: Option<bool>, resource: Option<&Resource>) {
    // The place of an object with a partial spec is unique, and a provider that is asked about
    // replacements knows what must be unique: a new object cannot be made beside the old one.
    let may_demand = decision
        .ty
        .as_ref()
        .is_some_and(|ty| ty.capabilities.partial || ty.capabilities.judges_replacements());
    let demands = may_demand && delete_first == Some(true);
    let is_declared = resource.is_some_and(|resource| resource.lifecycle.replace_order.is_some());
    if is_declared && !demands {
        return;
    }
    match delete_first {
        Some(true) => decision.replace_order = ReplaceOrder::DeleteFirst,
        Some(false) => decision.replace_order = ReplaceOrder::CreateFirst,
        None => {}
    }
}

/// Adds the computed fields that change by the provider's plan, so that the user sees why the
/// resource is changed. Fields that become known only later are added only if there is no other
/// change.
fn add_computed_changes(decision: &mut Decision, opinion: &ProviderOpinion) {
    let (Some(ty), Some(outputs)) = (&decision.ty, &opinion.outputs) else {
        return;
    };
    let shows_unknown = decision.changes.is_empty();
    let shown = |name: &str, changes: &[Change]| {
        let path = FieldPath::field(name);
        changes.iter().any(|change| change.is_under(&path))
    };
    let mut more = Vec::new();
    for (name, field) in ty.schema.fields.iter().filter(|(_, field)| field.computed) {
        let before = decision.outputs.get(name);
        let after = outputs.get(name);
        let (Some(before), Some(after)) = (before, after) else {
            continue;
        };
        let differs = !same_field(field, before, after) && (shows_unknown || !after.has_unknown());
        if differs && !shown(name, &decision.changes) {
            let path = format!("spec.{}", FieldPath::field(name.clone()));
            more.push(Change {
                path,
                before: Some(before.clone()),
                after: Some(after.clone()),
                forces: false,
                list: None,
            });
        }
    }
    decision.changes.extend(more);
}
