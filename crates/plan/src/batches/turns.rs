//! Which members of a group come and go together, so that never more than so many are away at once (decision
//! Heat 10.3, batches).
//!
//! Not here: members with names, and the steps that carry it out (`mod.rs`).

/// How a member is that is to stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MemberState {
    /// It is yet to be made.
    Absent,
    /// It is there, but its last operation failed.
    Failed,
    /// It is there, and is to be changed.
    Old,
    /// It is there as it is to be.
    Current,
}

/// How a member is that does not stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extra {
    /// It is there.
    There,
    /// It can be made for a while.
    Possible,
    /// It is not there and cannot be made.
    Nothing,
}

/// A member: one that stays, or one that does not, by position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Who {
    /// One of those that stay.
    Member(usize),
    /// One of the others.
    Extra(usize),
}

/// What is done together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct BatchTurn {
    /// Made or changed.
    pub(crate) comes: Vec<Who>,
    /// Taken away: positions among those that do not stay.
    pub(crate) goes: Vec<usize>,
}

/// A group, and what is asked of its change.
pub(super) struct RollingGroup<'a> {
    pub(crate) members: &'a [MemberState],
    /// Those in front stay longest.
    pub(super) extras: &'a [Extra],
    pub(crate) size: usize,
    pub(super) in_service: usize,
    pub(crate) backwards: bool,
    pub(super) new_ones_last: bool,
}

/// How large the group becomes in the next batch, and how many members it may bring up to date.
fn next_batch(target: usize, there: usize, current: usize, size: usize, in_service: usize) -> (usize, usize) {
    let least = in_service.min(target).min(there);
    let batch = size.min(target.saturating_sub(current));
    (batch + there.min(target - batch).max(least), batch)
}

/// The batches, none of them empty; and new members that are made at once behind them, where that is asked for.
pub(super) fn turns(rolling: &RollingGroup<'_>) -> (Vec<BatchTurn>, Option<BatchTurn>) {
    let stays = |standing: MemberState| !rolling.new_ones_last || standing != MemberState::Absent;
    let of = |wanted: MemberState| {
        let all = (0..rolling.members.len()).filter(move |at| rolling.members[*at] == wanted);
        all.collect::<Vec<usize>>()
    };
    let target = rolling.members.iter().filter(|standing| stays(**standing)).count();
    let (mut absent, late) = match rolling.new_ones_last {
        true => (Vec::new(), of(MemberState::Absent)),
        false => (of(MemberState::Absent), Vec::new()),
    };
    absent.reverse();
    let (mut failed, mut old) = (of(MemberState::Failed), of(MemberState::Old));
    if !rolling.backwards {
        failed.reverse();
        old.reverse();
    }
    // From the back: those that failed first.
    old.append(&mut failed);
    let mut current = of(MemberState::Current).len();
    let mut there = target - absent.len();
    let mut extras: Vec<usize> = (0..rolling.extras.len()).filter(|at| rolling.extras[*at] == Extra::There).collect();
    let mut possible =
        (0..rolling.extras.len()).filter(|at| rolling.extras[*at] == Extra::Possible).collect::<Vec<_>>().into_iter();
    let mut turns = Vec::new();
    loop {
        let all = there + extras.len();
        if current >= all && all == target {
            break;
        }
        let (size, batch) = next_batch(target, all, current, rolling.size, rolling.in_service);
        let mut turn = BatchTurn::default();
        while turn.comes.len() < batch
            && let Some(member) = absent.pop()
        {
            turn.comes.push(Who::Member(member));
            (there, current) = (there + 1, current + 1);
        }
        while there + extras.len() > size
            && let Some(extra) = extras.pop()
        {
            turn.goes.push(extra);
        }
        while there + extras.len() < size
            && turn.comes.len() < batch
            && let Some(extra) = possible.next()
        {
            turn.comes.push(Who::Extra(extra));
            extras.insert(extras.partition_point(|other| *other < extra), extra);
        }
        while turn.comes.len() < batch
            && let Some(member) = old.pop()
        {
            turn.comes.push(Who::Member(member));
            current += 1;
        }
        if turn == BatchTurn::default() {
            break;
        }
        turns.push(turn);
    }
    if !extras.is_empty() {
        turns.push(BatchTurn { comes: Vec::new(), goes: extras });
    }
    let late =
        (!late.is_empty()).then(|| BatchTurn { comes: late.into_iter().map(Who::Member).collect(), goes: Vec::new() });
    (turns, late)
}

#[cfg(test)]
mod tests;
