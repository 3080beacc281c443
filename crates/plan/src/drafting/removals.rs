//! Records that the documents no longer declare.
//!
//! Not here: refusing their removal (`policies`).

use blueprint::Address;
use evaluate::resolve::{Evaluation, Members};
use provider::Catalogs;
use state::Snapshot;
use understand::links::address::is_link;

use crate::decision::removal;
use crate::draft::Draft;
use crate::links::{decided_resources, undo_link};
use crate::model::{AddressSet, HashSet, Reason};

/// Decides about the removal of records that the documents no longer declare.
pub(crate) fn remove_undeclared(
    draft: &mut Draft,
    evaluation: &Evaluation,
    snapshot: &Snapshot,
    catalogs: &Catalogs,
) {
    let wanted: HashSet<&Address> = draft
        .decisions
        .iter()
        .map(|decision| &decision.address)
        .collect();
    let absent: AddressSet = draft.absent.iter().cloned().collect();
    let documents = &evaluation.documents;
    let mut removals = Vec::new();
    let gone = |address: &Address| !wanted.contains(address) && !draft.links.contains(address);
    let positions = snapshot
        .records
        .keys()
        .any(|address| is_link(address) && gone(address))
        .then(|| decided_resources(draft));
    for (address, record) in snapshot.records.iter().filter(|(address, _)| gone(address)) {
        if is_link(address) {
            removals.extend(undo_link(
                draft,
                positions.as_ref(),
                address,
                record,
                Reason::Removed,
            ));
            continue;
        }
        let declared = documents
            .declared(address)
            .map(|number| (number, &evaluation.resources[number as usize]));
        if declared.is_some_and(|(_, members)| matches!(members, Members::Failed | Members::Open)) {
            continue;
        }
        let reason = match declared {
            Some(_) if absent.contains(address) => Reason::ConditionFalse,
            Some((_, Members::Many(_))) if address.key.is_some() => Reason::EachShrunk,
            _ => Reason::Removed,
        };
        let resource = declared.and_then(|(number, _)| Some(documents.resource(number)?.2));
        removals.push(removal(
            address,
            record,
            reason,
            &evaluation.answers,
            catalogs,
            resource,
        ));
    }
    draft.decisions.append(&mut removals);
}
