//! The decisions that remove what a link has written, and the form that all decisions about links
//! share.

use std::sync::Arc;

use blueprint::{Address, Name, ReplaceOrder, TypeId, Value};
use diag::Span;
use state::Record;
use understand::compare::Change;
use understand::links::DeterministicMap;
use understand::links::address::part_of;
use understand::links::contribution::Contribution;
use understand::links::overlay::{Overlay, overlays_of};

use crate::decision::{Decision, Lineage, PrivateData};
use crate::draft::Draft;
use crate::linked::{LinkRecord, LinkWrite, Linked};
use crate::model::{Action, Reason};

/// The decisions about a link that only the state knows: what it wrote is removed, then its record.
pub(crate) fn undo_link(
    draft: &Draft,
    positions: Option<&DeterministicMap<Address, usize>>,
    address: &Address,
    record: &Arc<Record>,
    reason: Reason,
) -> Vec<Decision> {
    let mut decisions = match positions {
        Some(positions) => undo_writes(
            draft,
            positions,
            address,
            overlays_of(record),
            Action::Unlink,
            0,
            Span::NONE,
        ),
        None => Vec::new(),
    };
    let whole = LinkRecord {
        link: None,
        guarantee_givers: Vec::new(),
        parts: Vec::new(),
        changes: Vec::new(),
    };
    decisions.push(Decision {
        prior: Some(record.clone()),
        dependencies: record.dependencies.clone(),
        ..link_decision(
            address.clone(),
            record.type_name.clone(),
            Action::Unlink,
            vec![reason],
            Span::NONE,
            Linked::Record(whole),
        )
    });
    decisions
}

/// Steps that remove what a link has written. If the target is deleted or replaced, there is
/// nothing to remove.
pub(super) fn undo_writes(
    draft: &Draft,
    positions: &DeterministicMap<Address, usize>,
    link: &Address,
    overlays: Vec<Overlay>,
    action: Action,
    guarantee_depth: u32,
    span: Span,
) -> Vec<Decision> {
    let mut groups: blueprint::IndexMap<(Address, Name), Vec<Overlay>> =
        blueprint::IndexMap::default();
    for overlay in overlays {
        groups
            .entry((overlay.target.clone(), overlay.phase.clone()))
            .or_default()
            .push(overlay);
    }
    let mut decisions = Vec::new();
    for (write_index, ((target, name), undo)) in groups.into_iter().enumerate() {
        let Some(of) = positions
            .get(&target)
            .and_then(|at| draft.decisions.get(*at))
        else {
            continue;
        };
        if of.element.is_none() || !matches!(of.action, Action::Update | Action::None) {
            continue;
        }
        let changes = undo
            .iter()
            .map(|it| removal_change(&it.contribution))
            .collect();
        let write = LinkWrite {
            link: link.clone(),
            into: None,
            name: name.clone(),
            target,
            member: of.element,
            // It is unknown whether an open contribution was written.
            forces_call: undo.iter().any(|it| it.open),
            undo,
            write_index: write_index as u32,
            guarantee_depth,
        };
        decisions.push(Decision {
            changes,
            ty: of.ty.clone(),
            ..link_decision(
                part_of(link, &name),
                of.type_name.clone(),
                action,
                vec![Reason::Removed],
                span,
                Linked::Write(write),
            )
        });
    }
    decisions
}

pub(super) fn removal_change(contribution: &Contribution) -> Change {
    Change {
        path: format!("spec.{}", contribution.place()),
        before: Some(contribution.value.clone()),
        after: None,
        forces: false,
        list: None,
    }
}

pub(super) fn link_decision(
    address: Address,
    type_name: TypeId,
    action: Action,
    reasons: Vec<Reason>,
    span: Span,
    linked: Linked,
) -> Decision {
    Decision {
        address,
        element: None,
        linked: Some(Arc::new(linked)),
        type_name,
        ty: None,
        action,
        reasons,
        changes: Vec::new(),
        hidden: Vec::new(),
        replace_order: ReplaceOrder::DeleteFirst,
        may_replace: false,
        condition_open: false,
        only_recorded: false,
        record_differs: false,
        desired: Value::Null,
        metadata: Value::Null,
        prior: None,
        outputs: Value::Null,
        private: PrivateData::default(),
        provider: None,
        lineage: Lineage {
            made_from: None,
            moved_from: None,
        },
        rolling: Default::default(),
        dependencies: Vec::new(),
        protection: Default::default(),
        span,
    }
}
