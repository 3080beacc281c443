//! What the state has and nobody wants any more.
//!
//! Not here: refusing it (`policies`).

use std::sync::Arc;

use blueprint::{Address, ReplaceOrder, Resource, Value};
use diag::Span;
use provider::{Catalogs, TypeRef};
use state::{Record, Snapshot, StatusWord};

use super::{AddressSet, Decision, Draft, HashSet};
use crate::links::{decided_things, undo_link};
use crate::plan::{Action, Reason};
use evaluate::answers::{Answers, FrozenSeen};
use evaluate::resolve::{Evaluation, Members};
use understand::links::address::is_link;

/// Records that nobody wants any more.
pub(super) fn remove_what_is_gone(
    draft: &mut Draft,
    evaluation: &Evaluation,
    snapshot: &Snapshot,
    catalogs: &Catalogs,
) {
    let wanted: HashSet<&Address> = draft.decisions.iter().map(|decision| &decision.address).collect();
    let absent: AddressSet = draft.absent.iter().cloned().collect();
    let documents = &evaluation.documents;
    let mut removals = Vec::new();
    let gone = |address: &Address| !wanted.contains(address) && !draft.links.contains(address);
    let things =
        snapshot.records.keys().any(|address| is_link(address) && gone(address)).then(|| decided_things(draft));
    for (address, record) in snapshot.records.iter().filter(|(address, _)| gone(address)) {
        if is_link(address) {
            removals.extend(undo_link(draft, things.as_ref(), address, record, Reason::Removed));
            continue;
        }
        let declared = documents.declared(address).map(|number| (number, &evaluation.resources[number as usize]));
        if declared.is_some_and(|(_, members)| matches!(members, Members::Failed | Members::Open)) {
            continue;
        }
        let reason = match declared {
            Some(_) if absent.contains(address) => Reason::ConditionFalse,
            Some((_, Members::Many(_))) if address.key.is_some() => Reason::EachShrunk,
            _ => Reason::Removed,
        };
        let resource = declared.and_then(|(number, _)| Some(documents.resource(number)?.2));
        removals.push(removal(address, record, reason, &evaluation.answers, catalogs, resource));
    }
    draft.decisions.append(&mut removals);
}

/// What becomes of a thing that goes. Where the document still declares it, the document says how it goes.
pub(crate) fn removal(
    address: &Address,
    record: &Arc<Record>,
    reason: Reason,
    answers: &Answers,
    catalogs: &Catalogs,
    declared: Option<&Resource>,
) -> Decision {
    let seen = answers.seen.get(address);
    let nothing_there = record.id.is_empty() && record.deposed.is_none() || matches!(seen, Some(FrozenSeen::Gone));
    let mut decision = of_record(address, record, catalogs);
    if let Some(resource) = declared {
        decision.retain = resource.lifecycle.retain;
        decision.protect |= resource.lifecycle.protect;
        decision.span = resource.span;
    }
    decision.action = if nothing_there {
        Action::None
    } else if decision.retain {
        Action::Detach
    } else {
        Action::Delete
    };
    decision.reasons = vec![reason];
    if record.status.word == StatusWord::Failed {
        decision.reasons.push(Reason::FailedBefore);
    }
    decision
}

/// A decision about a thing that only the state knows: nothing is to be done yet.
pub(crate) fn of_record(address: &Address, record: &Arc<Record>, catalogs: &Catalogs) -> Decision {
    let ty = match catalogs.resource_type(&record.type_name) {
        TypeRef::Known(ty) => Some(ty),
        _ => None,
    };
    Decision {
        address: address.clone(),
        element: None,
        linked: None,
        type_name: record.type_name.clone(),
        ty,
        action: Action::None,
        reasons: Vec::new(),
        changes: Vec::new(),
        replace_order: ReplaceOrder::DeleteFirst,
        may_replace: false,
        condition_open: false,
        only_recorded: false,
        record_differs: true,
        desired: Value::Null,
        metadata: Value::Null,
        prior: Some(record.clone()),
        outputs: record.outputs.clone(),
        private: record.private.clone(),
        expired: None,
        dependencies: record.dependencies.clone(),
        retain: record.retain,
        protect: record.protect,
        restricted: Default::default(),
        made_from: Some(record.origin.made_from.clone()).filter(|name| !name.is_empty()),
        moved_from: None,
        temporary: false,
        batch: None,
        span: Span::NONE,
    }
}
