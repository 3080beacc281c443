//! A plan without a document that corrects drift: every resource is to be as it was last sent
//! (decisions/plan#drift).
//!
//! Not here: calls that were cut off, which are settled before any plan.

use std::sync::Arc;

use blueprint::Address;
use evaluate::answers::{Answers, PinnedRead};
use provider::{Catalogs, ResourceType};
use state::{Record, Snapshot};
use understand::compare::{Change, differences, with_path_of};
use understand::links::contribution::Contribution;
use understand::secret_marks::mark_fields;

use crate::decision::{Decision, of_record};
use crate::draft::Draft;
use crate::drift::{overlays_by_target, prior_spec};
use crate::model::{Action, Reason};
use crate::policies::ignored_changes;

/// Decides about each resource whose read differs from its record; the others stay.
pub(crate) fn draft(snapshot: &Snapshot, answers: &Answers, catalogs: &Catalogs) -> Draft {
    let mut draft = Draft {
        groups: snapshot.groups.clone(),
        ..Draft::default()
    };
    // Values that links have written are no drift.
    let written = overlays_by_target(snapshot);
    for (address, record) in &snapshot.records {
        if record.id.is_empty() {
            continue;
        }
        let Some(seen) = answers.seen.get(address) else {
            continue;
        };
        let written = written.get(address).map_or(&[][..], Vec::as_slice);
        draft
            .decisions
            .extend(decide(address, record, seen, written, catalogs));
    }
    draft
}

fn decide(
    address: &Address,
    record: &Arc<Record>,
    seen: &PinnedRead,
    written: &[Contribution],
    catalogs: &Catalogs,
) -> Option<Decision> {
    let mut decision = of_record(address, record, catalogs);
    let ty: Arc<ResourceType> = decision.ty.clone()?;
    decision.desired = record.inputs.clone();
    decision.metadata = record.metadata.clone();
    decision.replace_order = ty.replace_order;
    match seen {
        PinnedRead::Absent => {
            decision.action = Action::Create;
            decision.reasons = vec![Reason::Vanished];
            differences(
                &ty.schema,
                &blueprint::Value::Null,
                &decision.desired,
                &mut decision.changes,
            );
            decision
                .changes
                .iter_mut()
                .for_each(|change: &mut Change| change.forces = false);
        }
        PinnedRead::Present {
            fields,
            private,
            expired,
            ..
        } => {
            let ignored = ignored_changes(record);
            let (prior, drifted) = prior_spec(&ty, record, Some(fields), &ignored, written);
            for path in &ignored {
                decision.desired = with_path_of(&decision.desired, &prior, path);
            }
            differences(&ty.schema, &prior, &decision.desired, &mut decision.changes);
            let forced = decision.changes.iter().any(|change| change.forces) || expired.is_some();
            decision.action = if forced {
                Action::Replace
            } else if drifted {
                Action::Update
            } else {
                return None;
            };
            decision.reasons = vec![Reason::Drifted];
            decision.outputs = mark_fields(&ty.schema, fields, &record.outputs);
            decision.private.now = private.clone();
            decision.private.expired = expired.clone();
        }
        PinnedRead::Unknown => return None,
    }
    Some(decision)
}
