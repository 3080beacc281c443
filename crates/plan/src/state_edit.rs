//! Changes of the state alone, which the user asks for on the command line: moves, removals,
//! imports, an exported state that is read back, accepted drift. Each is a plan like any other, but
//! changes nothing in the world.
//!
//! Not here: hints of documents (`moves`, `imports`).

use std::sync::Arc;

use blueprint::{Address, DeclarationSite, Name, TypeId, Value};
use diag::{Diagnostics, Span};
use evaluate::answers::{Answers, PinnedRead};
use evaluate::world::World;
use provider::{Catalogs, TypeRef};
use state::{Exported, Record, Snapshot, StatusWord};

use crate::addresses::{SelectedAddresses, unknown_in_state};
use crate::decision::{Decision, of_record};
use crate::draft::Draft;
use crate::drift::drifted_fields;
use crate::model::{Action, AddressSet, Reason};
use crate::options::StateEdit;
use crate::provider_diagnostics::report_at;
use crate::settled::SettledRecords;
use crate::{imports, moves, policies};

/// The context of a state edit.
pub(crate) struct StateEditContext<'a> {
    pub(crate) snapshot: &'a mut Snapshot,
    pub(crate) answers: &'a mut Answers,
    pub(crate) settled_records: &'a mut SettledRecords,
    pub(crate) targets: &'a SelectedAddresses,
    pub(crate) catalogs: &'a Catalogs,
    pub(crate) world: &'a dyn World,
    /// The objects about which their providers complained when they were read.
    pub(crate) sick: &'a AddressSet,
}

/// Changes the records, and drafts a decision for each changed record.
pub(crate) async fn draft(
    state_edit: &StateEdit,
    context: StateEditContext<'_>,
    found: &mut Diagnostics,
) -> Draft {
    let StateEditContext {
        snapshot,
        answers,
        settled_records,
        targets,
        catalogs,
        world,
        sick,
    } = context;
    let mut draft = Draft {
        groups: snapshot.groups.clone(),
        ..Draft::default()
    };
    match state_edit {
        StateEdit::Move(wanted) => {
            let moves = moves::requested_moves(wanted, snapshot, answers, settled_records, found);
            draft.groups = snapshot.groups.clone();
            for (address, record) in snapshot
                .records
                .iter()
                .filter(|(address, _)| moves.is_move_target(address))
            {
                let mut decision = record_only_decision(
                    of_record(address, record, catalogs),
                    Action::Move,
                    Reason::Moved,
                );
                decision.lineage.moved_from = moves.former_address(address);
                draft.decisions.push(decision);
            }
        }
        StateEdit::Remove(wanted) => {
            let named = SelectedAddresses::new(wanted);
            refuse_unrecorded(wanted, snapshot, found);
            for (address, record) in snapshot
                .records
                .iter()
                .filter(|(address, _)| named.covers(address))
            {
                let mut decision = of_record(address, record, catalogs);
                decision.action = Action::Detach;
                decision.reasons = vec![Reason::Requested];
                draft.decisions.push(decision);
            }
        }
        StateEdit::Unprotect(wanted) => {
            let named = SelectedAddresses::new(wanted);
            refuse_unrecorded(wanted, snapshot, found);
            let protected: Vec<Address> = snapshot
                .records
                .iter()
                .filter(|(address, record)| named.covers(address) && record.protect)
                .map(|(address, _)| address.clone())
                .collect();
            for address in &protected {
                settled_records.note(snapshot, address);
                if let Some(record) = snapshot.records.get_mut(address) {
                    Arc::make_mut(record).protect = false;
                    let decision = of_record(address, record, catalogs);
                    let decision = record_only_decision(decision, Action::None, Reason::Requested);
                    draft.decisions.push(decision);
                }
            }
        }
        StateEdit::Import {
            type_name,
            id,
            address,
        } => {
            if let Some(decision) = import(
                (type_name, id, address),
                snapshot,
                settled_records,
                catalogs,
                world,
                found,
            )
            .await
            {
                draft.decisions.push(decision);
            }
        }
        StateEdit::Load(exported) => {
            load(exported, snapshot, settled_records, found);
            draft.groups = snapshot.groups.clone();
            for address in exported.records.keys() {
                if let Some(record) = snapshot.records.get(address) {
                    draft.decisions.push(record_only_decision(
                        of_record(address, record, catalogs),
                        Action::Import,
                        Reason::Imported,
                    ));
                }
            }
        }
        StateEdit::AcceptDrift => accept(
            &mut draft,
            snapshot,
            answers,
            settled_records,
            targets,
            (catalogs, sick),
        ),
    }
    draft
}

/// Reports `unknown-address` for each address that covers no record.
fn refuse_unrecorded(wanted: &[Address], snapshot: &Snapshot, found: &mut Diagnostics) {
    for address in wanted {
        let one = SelectedAddresses::new(std::slice::from_ref(address));
        if !snapshot.records.keys().any(|address| one.covers(address)) {
            found.push(unknown_in_state(address, snapshot));
        }
    }
}

/// A decision whose only effect is the change of the record.
pub(crate) fn record_only_decision(
    mut decision: Decision,
    action: Action,
    reason: Reason,
) -> Decision {
    decision.action = action;
    decision.reasons = vec![reason];
    decision.record_differs = false;
    decision
}

pub(crate) async fn import(
    (type_name, id, address): (&TypeId, &Name, &Address),
    snapshot: &mut Snapshot,
    settled_records: &mut SettledRecords,
    catalogs: &Catalogs,
    world: &dyn World,
    found: &mut Diagnostics,
) -> Option<Decision> {
    if let Some(record) = snapshot.records.get(address) {
        let what = format!(
            "there is a record of `{}` under that address already",
            record.type_name
        );
        found.push(imports::failed(address, Span::NONE).note(what));
        return None;
    }
    let TypeRef::Known(ty) = catalogs.resource_type(type_name) else {
        let namespace = type_name.package_name();
        found.push(
            dialect::codes::UNKNOWN_RESOURCE_TYPE
                .new(format!("there is no resource type `{type_name}`"))
                .help(format!(
                    "see the types that are there: `cyan types {namespace}`"
                )),
        );
        return None;
    };
    if let Some(other) = imports::managed(snapshot).get(&(ty.name.clone(), id.clone())) {
        found.push(imports::managed_already(address, other, id, Span::NONE));
        return None;
    }
    let site = DeclarationSite::default();
    let object = imports::ObjectToRead {
        ty: &ty,
        id,
        desired: None,
    };
    match imports::read((address, None), object, &site, world).await {
        Ok((seen, diagnostics)) => {
            report_at(diagnostics, address, None, found);
            // The id as the provider writes it: one object may have several spellings.
            if let PinnedRead::Present { id: real, .. } = &seen
                && let Some(other) =
                    imports::managed(snapshot).get(&(ty.name.clone(), real.clone()))
            {
                found.push(imports::managed_already(address, other, real, Span::NONE));
                return None;
            }
            let record = Arc::new(imports::record_of(&ty, &seen, &Value::Null, id)?);
            settled_records.put(snapshot, address, Some(record.clone()));
            Some(record_only_decision(
                of_record(address, &record, catalogs),
                Action::Import,
                Reason::Imported,
            ))
        }
        Err(why) => {
            found.push(imports::failed(address, Span::NONE).note(why));
            None
        }
    }
}

/// Adds everything of an exported state to the snapshot, unless one of its addresses or objects is
/// already managed.
pub(crate) fn load(
    exported: &Exported,
    snapshot: &mut Snapshot,
    settled_records: &mut SettledRecords,
    found: &mut Diagnostics,
) {
    let managed = imports::managed(snapshot);
    for (address, record) in &exported.records {
        if snapshot.records.contains_key(address) {
            found.push(
                imports::failed(address, Span::NONE)
                    .note("there is a record under that address already"),
            );
        } else if let Some(other) = managed.get(&(record.type_name.clone(), record.id.clone())) {
            found.push(imports::managed_already(
                address,
                other,
                record.shown_id(),
                Span::NONE,
            ));
        }
    }
    if found.has_errors() {
        return;
    }
    for (address, record) in &exported.records {
        settled_records.put(snapshot, address, Some(record.clone()));
    }
    let whole = snapshot.generation.0 == 0;
    snapshot.groups.extend(
        exported
            .groups
            .iter()
            .map(|(name, uses)| (name.clone(), uses.clone())),
    );
    snapshot.memoised.extend(
        exported
            .memoised
            .iter()
            .map(|(site, value)| (site.clone(), value.clone())),
    );
    if whole {
        snapshot.exports = exported.exports.clone();
        snapshot.metadata = exported.metadata.clone();
        snapshot.declared = exported.declared.clone();
    }
}

/// Accepts drift: records take over what was read, and records of vanished objects are removed.
pub(crate) fn accept(
    draft: &mut Draft,
    snapshot: &mut Snapshot,
    answers: &Answers,
    settled_records: &mut SettledRecords,
    targets: &SelectedAddresses,
    (catalogs, sick): (&Catalogs, &AddressSet),
) {
    for (address, seen) in &answers.seen {
        if !targets.is_empty() && !targets.covers(address) {
            continue;
        }
        let Some(record) = snapshot.records.get(address).cloned() else {
            continue;
        };
        let mut decision = of_record(address, &record, catalogs);
        match (seen, decision.ty.clone()) {
            (PinnedRead::Absent, _) if record.deposed.is_none() => {
                settled_records.put(snapshot, address, None);
                decision = record_only_decision(decision, Action::None, Reason::Vanished);
            }
            (
                PinnedRead::Present {
                    fields, private, ..
                },
                Some(ty),
            ) => {
                // A provider may keep fields that the document does not set in its own data.
                let is_named = !record.origin.urn.is_empty();
                let as_recorded = !is_named || *private == record.private;
                if as_recorded && drifted_fields(&ty, &record, fields).next().is_none() {
                    continue;
                }
                decision.changes = crate::drift::changes(&ty, &record, fields);
                let taken = policies::record_as_read(&ty, &record, fields, private);
                settled_records.put(snapshot, address, Some(Arc::new(taken)));
                decision = record_only_decision(decision, Action::None, Reason::Drifted);
            }
            _ => continue,
        }
        draft.decisions.push(decision);
    }
    let decided: AddressSet = draft
        .decisions
        .iter()
        .map(|one| one.address.clone())
        .collect();
    let read_well = |address: &Address, record: &Record| {
        let within = targets.is_empty() || targets.covers(address);
        let reads = match catalogs.resource_type(&record.type_name) {
            TypeRef::Known(ty) => ty.capabilities.reads,
            _ => false,
        };
        let was_read = reads && !answers.unread.contains_key(address);
        within && was_read && !sick.contains(address) && is_unsettled(record)
    };
    let records = snapshot.records.iter();
    let recovered: Vec<(Address, Arc<Record>)> = records
        .filter(|(address, record)| read_well(address, record) && !decided.contains(*address))
        .map(|(address, record)| (address.clone(), record.clone()))
        .collect();
    for (address, record) in recovered {
        let mut taken = Record::clone(&record);
        taken.status.word = StatusWord::Ready;
        taken.unhealthy.clear();
        let decision = of_record(&address, &record, catalogs);
        draft.decisions.push(record_only_decision(
            decision,
            Action::None,
            Reason::FailedBefore,
        ));
        settled_records.put(snapshot, &address, Some(Arc::new(taken)));
    }
}

/// Whether the last operation on an object failed, in a dialect whose original tool takes a read for
/// the whole truth.
fn is_unsettled(record: &Record) -> bool {
    let failed = record.status.word == StatusWord::Failed || !record.unhealthy.is_empty();
    failed && !record.id.is_empty() && !record.origin.urn.is_empty()
}
