//! Computes which members of a group are created, changed and deleted together, so that enough
//! members stay in service if possible (decisions/heat#groups).
//!
//! Not here: the names of members, and the decisions about them (`mod.rs`).

/// The state of a member that stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MemberState {
    /// The member does not exist yet.
    Absent,
    /// The member exists, but its last operation failed.
    Failed,
    /// The member exists and is to be changed.
    Old,
    /// The member needs no change.
    Current,
}

/// The state of a member that does not stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StandInState {
    /// The member exists.
    Existing,
    /// The member can be created temporarily.
    Possible,
    /// The member does not exist and cannot be created.
    Unavailable,
}

/// A member by its position, among the members that stay or among the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MemberRef {
    /// A member that stays.
    Member(usize),
    /// A member that does not stay.
    Extra(usize),
}

/// The members that are changed together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct BatchTurn {
    /// Members to create or change.
    pub(crate) changed: Vec<MemberRef>,
    /// Members to delete: positions among those that do not stay.
    pub(crate) deleted: Vec<usize>,
}

/// A group and the requirements for its change.
pub(super) struct RollingGroup<'a> {
    pub(crate) members: &'a [MemberState],
    /// The members that do not stay. Those in front stay longest.
    pub(super) extras: &'a [StandInState],
    pub(crate) size: usize,
    pub(super) in_service: usize,
    pub(crate) backwards: bool,
    pub(super) new_members_last: bool,
}

/// Returns the size of the group after the next batch, and how many members the batch may bring up
/// to date.
fn next_batch(
    target: usize,
    existing: usize,
    current: usize,
    size: usize,
    in_service: usize,
) -> (usize, usize) {
    let least = in_service.min(target).min(existing);
    let batch = size.min(target.saturating_sub(current));
    (batch + existing.min(target - batch).max(least), batch)
}

/// Returns the batches, none of them empty; and with `new_members_last` the new members, which are
/// created together after the batches.
pub(super) fn turns(rolling: &RollingGroup<'_>) -> (Vec<BatchTurn>, Option<BatchTurn>) {
    let stays =
        |standing: MemberState| !rolling.new_members_last || standing != MemberState::Absent;
    let of = |wanted: MemberState| {
        let all = (0..rolling.members.len()).filter(move |at| rolling.members[*at] == wanted);
        all.collect::<Vec<usize>>()
    };
    let target = rolling
        .members
        .iter()
        .filter(|standing| stays(**standing))
        .count();
    let (mut absent, new_members) = if rolling.new_members_last {
        (Vec::new(), of(MemberState::Absent))
    } else {
        (of(MemberState::Absent), Vec::new())
    };
    absent.reverse();
    let mut failed = of(MemberState::Failed);
    let mut old = of(MemberState::Old);
    if !rolling.backwards {
        failed.reverse();
        old.reverse();
    }
    // Members are taken from the back: the failed ones first.
    old.append(&mut failed);
    let mut current = of(MemberState::Current).len();
    let mut existing = target - absent.len();
    let mut extras: Vec<usize> = (0..rolling.extras.len())
        .filter(|at| rolling.extras[*at] == StandInState::Existing)
        .collect();
    let mut possible = (0..rolling.extras.len())
        .filter(|at| rolling.extras[*at] == StandInState::Possible)
        .collect::<Vec<_>>()
        .into_iter();
    let mut turns = Vec::new();
    loop {
        let all = existing + extras.len();
        if current >= all && all == target {
            break;
        }
        let (size, batch) = next_batch(target, all, current, rolling.size, rolling.in_service);
        let mut turn = BatchTurn::default();
        while turn.changed.len() < batch
            && let Some(member) = absent.pop()
        {
            turn.changed.push(MemberRef::Member(member));
            (existing, current) = (existing + 1, current + 1);
        }
        while existing + extras.len() > size
            && let Some(extra) = extras.pop()
        {
            turn.deleted.push(extra);
        }
        while existing + extras.len() < size
            && turn.changed.len() < batch
            && let Some(extra) = possible.next()
        {
            turn.changed.push(MemberRef::Extra(extra));
            extras.insert(extras.partition_point(|other| *other < extra), extra);
        }
        while turn.changed.len() < batch
            && let Some(member) = old.pop()
        {
            turn.changed.push(MemberRef::Member(member));
            current += 1;
        }
        if turn == BatchTurn::default() {
            break;
        }
        turns.push(turn);
    }
    if !extras.is_empty() {
        turns.push(BatchTurn {
            changed: Vec::new(),
            deleted: extras,
        });
    }
    let late = (!new_members.is_empty()).then(|| BatchTurn {
        changed: new_members.into_iter().map(MemberRef::Member).collect(),
        deleted: Vec::new(),
    });
    (turns, late)
}

#[cfg(test)]
mod tests;
