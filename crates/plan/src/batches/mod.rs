//! Changes of groups in batches: the members that are created or changed are put into batches, one
//! after the other. The decisions about a member say whether it changes. A member that is up to
//! date is in no batch, so a plan after a cut-off run continues where that run stopped.
//!
//! Members that are needed only so that enough members are in service become *temporary*: the same
//! plan creates and deletes them.
//!
//! Not here: the members of each batch (`turns`); how tasks wait for each other (`tasks::batches`).

mod turns;

use std::collections::HashMap;
use std::time::Duration;

use blueprint::{Address, Batches, IndexMap, Name};
use diag::Diagnostics;
use dialect::codes::VALUE_CONSTRAINT;
use evaluate::answers::PinnedRead;
use evaluate::resolve::Evaluation;
use provider::Catalogs;
use state::Snapshot;
use understand::documents::Documents;

use crate::batches::turns::{BatchTurn, MemberRef, MemberState, RollingGroup, StandInState, turns};
use crate::decision::{Decision, removal};
use crate::draft::{Draft, DraftGroup};
use crate::model::{Action, AddressSet, Batch, Reason};

/// Whether a member exists, and the decisions about it.
#[derive(Default)]
struct BatchMember {
    exists: bool,
    /// Positions of the decisions about the member and about everything in it.
    decisions: Vec<usize>,
}

/// A group with its members.
struct Group<'a> {
    batches: &'a Batches,
    members: IndexMap<Name, BatchMember>,
}

/// Puts the members of groups into batches, one after the other, and marks members that only stand
/// in for others as temporary.
///
/// Reports `value-constraint` if the pauses alone take too long.
pub(crate) fn assign_batches(
    draft: &mut Draft,
    evaluation: &Evaluation,
    snapshot: &Snapshot,
    catalogs: &Catalogs,
    found: &mut Diagnostics,
) {
    let documents = evaluation.documents.clone();
    let groups = groups(draft, &documents, evaluation, snapshot);
    if groups.is_empty() {
        return;
    }
    let mut dropped: Vec<bool> = vec![false; draft.decisions.len()];
    let mut extra_addresses: AddressSet = AddressSet::default();
    for group in groups {
        let (all, new_members_turn) = turns_of(&group, draft);
        refuse_long_pauses(group.batches, all.len(), found);
        extra_addresses.extend(declared_stand_ins(&group, draft));
        for at in unneeded_stand_ins(&group, draft, &all) {
            let decided = &mut draft.decisions[at];
            match snapshot.records.get(&decided.address) {
                Some(record) => {
                    let address = decided.address.clone();
                    let answers = &evaluation.answers;
                    *decided = removal(&address, record, Reason::Removed, answers, catalogs, None);
                }
                None => dropped[at] = true,
            }
        }
        let line = number_batches(&group, draft, all, new_members_turn);
        draft.batches.push(line);
    }
    let mut at = 0;
    draft.decisions.retain(|_| {
        at += 1;
        !dropped[at - 1]
    });
    remove_dependencies(draft, &extra_addresses);
}

/// The turns in which the members of a group change, and the turn of its new members, if they have
/// one of their own.
fn turns_of(group: &Group<'_>, draft: &Draft) -> (Vec<BatchTurn>, Option<BatchTurn>) {
    let changing = |member: &BatchMember| -> Vec<usize> {
        let decisions = member.decisions.iter().copied();
        decisions
            .filter(|at| creates_or_changes(&draft.decisions[*at]))
            .collect()
    };
    let failed = |at: &usize| draft.decisions[*at].reasons.contains(&Reason::FailedBefore);
    let member_state = |name: &Name| {
        let member = group.members.get(name);
        let changing = member.map(changing).unwrap_or_default();
        if changing.is_empty() {
            MemberState::Current
        } else if !member.is_some_and(|member| member.exists) {
            MemberState::Absent
        } else if changing.iter().any(failed) {
            MemberState::Failed
        } else {
            MemberState::Old
        }
    };
    let stand_in_state = |name: &Name| match group.members.get(name) {
        Some(member) if member.exists => StandInState::Existing,
        Some(member) if !changing(member).is_empty() => StandInState::Possible,
        _ => StandInState::Unavailable,
    };
    let batches = group.batches;
    let members: Vec<MemberState> = batches.members.iter().map(member_state).collect();
    let extras: Vec<StandInState> = batches.beyond.iter().map(stand_in_state).collect();
    turns(&RollingGroup {
        members: &members,
        extras: &extras,
        size: batches.size.max(1),
        in_service: batches.in_service,
        backwards: batches.backwards,
        new_members_last: batches.new_ones_last,
    })
}

/// Reports `value-constraint` if the pauses between a group's batches alone take too long.
fn refuse_long_pauses(batches: &Batches, count: usize, found: &mut Diagnostics) {
    let pauses = u32::try_from(count.saturating_sub(1)).unwrap_or(u32::MAX);
    let waits = batches.pause.checked_mul(pauses).unwrap_or(Duration::MAX);
    if waits < batches.longest {
        return;
    }
    let longest = blueprint::format_duration(batches.longest);
    let each = blueprint::format_duration(batches.pause);
    found.push(
        VALUE_CONSTRAINT
            .new(format!(
                "{pauses} pauses between batches alone take {longest} or more"
            ))
            .label(batches.span, format!("{each} each"))
            .help("make the pauses shorter, or the batches larger")
            .with_native_message(batches.too_long.to_string()),
    );
}

/// The addresses of everything that the document declares in the members that may stand in for
/// others.
fn declared_stand_ins(group: &Group<'_>, draft: &Draft) -> Vec<Address> {
    let stand_ins = group.batches.beyond.iter();
    let decisions = stand_ins
        .filter_map(|name| group.members.get(name))
        .flat_map(|member| &member.decisions)
        .map(|at| &draft.decisions[*at]);
    decisions
        .filter(|decision| decision.element.is_some())
        .map(|decision| decision.address.clone())
        .collect()
}

/// The positions of the decisions about members that could stand in for others, but that no turn
/// needs. Such a member is not created; one that exists is removed.
fn unneeded_stand_ins(group: &Group<'_>, draft: &Draft, turns: &[BatchTurn]) -> Vec<usize> {
    let needed: std::collections::HashSet<usize, foldhash::fast::FixedState> = turns
        .iter()
        .flat_map(|turn| &turn.changed)
        .filter_map(extra_position)
        .collect();
    let stand_ins = group.batches.beyond.iter().enumerate();
    let decisions = stand_ins
        .filter(|(at, _)| !needed.contains(at))
        .filter_map(|(_, name)| group.members.get(name))
        .flat_map(|member| member.decisions.iter().copied());
    decisions
        .filter(|at| draft.decisions[*at].element.is_some())
        .collect()
}

/// Numbers the batches of a group. A group with a single batch has no numbers.
fn number_batches(
    group: &Group<'_>,
    draft: &mut Draft,
    all: Vec<BatchTurn>,
    new_members_turn: Option<BatchTurn>,
) -> Vec<DraftGroup> {
    let count = all.len() + usize::from(new_members_turn.is_some());
    // There is no pause after the last batch of changes, nor after the turn of the new members.
    let with_pause = all.len().saturating_sub(1);
    let mut line = Vec::with_capacity(count);
    for (at, turn) in all.into_iter().chain(new_members_turn).enumerate() {
        let pause = if at < with_pause {
            group.batches.pause
        } else {
            Duration::ZERO
        };
        let batch = (count > 1).then_some(Batch {
            number: at as u32 + 1,
            of: count as u32,
            pause_ms: u64::try_from(pause.as_millis()).unwrap_or(u64::MAX),
            until: None,
        });
        line.push(draft_group(&turn, group, draft, batch, pause));
    }
    line
}

/// Removes dependencies on members that stand in for others: a resource that stays does not depend
/// on them.
fn remove_dependencies(draft: &mut Draft, stand_ins: &AddressSet) {
    let stays = |address: &Address| !stand_ins.contains(address);
    for decision in draft
        .decisions
        .iter_mut()
        .filter(|decision| decision.element.is_some() && stays(&decision.address))
    {
        if decision.dependencies.iter().all(stays) {
            continue;
        }
        decision.dependencies.retain(stays);
        decision.record_differs = decision.record_differs
            && decision
                .prior
                .as_ref()
                .is_some_and(|record| decision.differs_from(record));
    }
}

/// All groups that are changed in batches, outermost first, with their members and the decisions
/// about them.
fn groups<'a>(
    draft: &Draft,
    documents: &'a Documents,
    evaluation: &Evaluation,
    snapshot: &Snapshot,
) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'a>> = Vec::new();
    let mut of_path: HashMap<&[Name], usize, foldhash::fast::FixedState> = HashMap::default();
    for unit in documents.units() {
        if let Some(batches) = unit.blueprint().batches.as_deref() {
            of_path.insert(&unit.path, groups.len());
            groups.push(Group {
                batches,
                members: IndexMap::default(),
            });
        }
    }
    if groups.is_empty() {
        return groups;
    }
    let mut update_members = |address: &Address, update: &dyn Fn(&mut BatchMember)| {
        for length in 0..=address.path.len() {
            if let Some(group) = of_path.get(&address.path[..length]) {
                let name = address.path.get(length).unwrap_or(&address.name);
                update(groups[*group].members.entry(name.clone()).or_default());
            }
        }
    };
    for (address, record) in &snapshot.records {
        let gone = matches!(
            evaluation.answers.seen.get(address),
            Some(PinnedRead::Absent)
        );
        if !record.id.is_empty() && !gone {
            update_members(address, &|member| member.exists = true);
        }
    }
    for (at, decision) in draft
        .decisions
        .iter()
        .enumerate()
        .filter(|(_, decision)| decision.linked.is_none())
    {
        update_members(&decision.address, &|member| member.decisions.push(at));
    }
    groups
}

fn extra_position(member: &MemberRef) -> Option<usize> {
    match member {
        MemberRef::Extra(at) => Some(*at),
        MemberRef::Member(_) => None,
    }
}

/// Whether the decision creates or changes a declared resource.
fn creates_or_changes(decision: &Decision) -> bool {
    decision.element.is_some()
        && matches!(
            decision.action,
            Action::Create | Action::Update | Action::Replace
        )
}

/// Returns the addresses of a batch. Stores in their decisions which batch it is, and which members
/// are temporary.
fn draft_group(
    turn: &BatchTurn,
    group: &Group<'_>,
    draft: &mut Draft,
    batch: Option<Batch>,
    pause: Duration,
) -> DraftGroup {
    let batches = group.batches;
    let mut drafted = DraftGroup {
        changed: Vec::new(),
        deleted: Vec::new(),
        pause,
    };
    for member_ref in &turn.changed {
        let name = match member_ref {
            MemberRef::Member(at) => batches.members.get(*at),
            MemberRef::Extra(at) => batches.beyond.get(*at),
        };
        for at in name
            .and_then(|name| group.members.get(name))
            .into_iter()
            .flat_map(|member| &member.decisions)
        {
            let decision = &mut draft.decisions[*at];
            if creates_or_changes(decision) {
                decision.rolling.temporary = matches!(member_ref, MemberRef::Extra(_));
                decision.rolling.batch = decision.rolling.batch.or(batch);
                drafted.changed.push(decision.address.clone());
            }
        }
    }
    for extra in &turn.deleted {
        let member = batches
            .beyond
            .get(*extra)
            .and_then(|name| group.members.get(name));
        for at in member.into_iter().flat_map(|member| &member.decisions) {
            let decision = &mut draft.decisions[*at];
            match (&mut decision.rolling.batch, batch) {
                (Some(made), Some(batch)) if decision.rolling.temporary => {
                    made.until = Some(batch.number)
                }
                (known, batch) => *known = known.or(batch),
            }
            drafted.deleted.push(decision.address.clone());
        }
    }
    drafted
}
