//! Tests of `next_batch` and `turns` as tables, and of the invariants of every group.

use super::MemberState::{Absent, Current, Failed, Old};
use super::StandInState::{Existing, Possible, Unavailable};
use super::*;

/// Prints turns: `+` is created or changed, `-` is deleted. Extras (the members that do not stay)
/// have an apostrophe.
fn format_turns(rolling: &RollingGroup<'_>) -> String {
    let (all, late) = turns(rolling);
    let turn = |turn: &BatchTurn| {
        let changed = turn.changed.iter().map(|who| match who {
            MemberRef::Member(at) => format!("+{at}"),
            MemberRef::Extra(at) => format!("+{at}'"),
        });
        changed
            .chain(turn.deleted.iter().map(|at| format!("-{at}'")))
            .collect::<Vec<_>>()
            .join(" ")
    };
    let mut shown = all.iter().map(turn).collect::<Vec<_>>().join(" / ");
    if let Some(late) = late {
        shown.push_str(" // ");
        shown.push_str(&turn(&late));
    }
    shown
}

#[test]
fn next_batch_follows_the_formula() {
    // Target, existing, up to date, batch size, in service; then the new size of the group and the
    // members in the batch.
    //
    // The batch takes as many members as the batch size, but no more than are not up to date. The
    // rest of the group fills the target if enough members exist, and is never smaller than the
    // number in service, as far as target and existing members allow that number.
    for (given, wanted) in [
        ((3, 3, 0, 1, 0), (3, 1)),
        ((3, 3, 0, 1, 3), (4, 1)),
        ((3, 4, 0, 1, 3), (4, 1)),
        ((3, 4, 3, 1, 3), (3, 0)),
        ((3, 2, 0, 2, 3), (4, 2)),
        ((5, 2, 0, 2, 0), (4, 2)),
        ((2, 5, 0, 4, 0), (2, 2)),
        ((2, 5, 0, 1, 4), (3, 1)),
        ((0, 4, 0, 2, 3), (0, 0)),
        ((6, 0, 0, 4, 0), (4, 4)),
    ] {
        let (target, there, current, size, in_service) = given;
        assert_eq!(
            next_batch(target, there, current, size, in_service),
            wanted,
            "{given:?}"
        );
    }
}

#[test]
fn members_are_changed_and_deleted_in_order() {
    /// Members, extras, batch size, members in service, expected turns.
    type Row<'r> = (&'r [MemberState], &'r [StandInState], usize, usize, &'r str);
    let table: &[Row<'_>] = &[
        (&[Old; 4], &[], 2, 0, "+3 +2 / +1 +0"),
        (&[Old, Current, Old], &[], 1, 0, "+2 / +0"),
        (&[Old, Failed, Old], &[], 1, 0, "+1 / +2 / +0"),
        (&[Old, Old, Absent], &[], 2, 0, "+2 +1 / +0"),
        (&[Old; 3], &[Possible], 1, 3, "+0' / +2 / +1 / +0 / -0'"),
        // A cut-off run left a temporary member and has updated one member.
        (&[Old, Old, Current], &[Existing], 1, 3, "+1 / +0 / -0'"),
        // No member must be in service: the first turn deletes both extras.
        (
            &[Old; 3],
            &[Existing, Existing],
            1,
            0,
            "+2 -1' -0' / +1 / +0",
        ),
        // All three must be in service: one extra stands in until the others are changed.
        (
            &[Old; 3],
            &[Existing, Existing],
            1,
            3,
            "+2 -1' / +1 / +0 / -0'",
        ),
        // No member can stand in: the update continues with fewer members in service.
        (&[Old; 3], &[Unavailable], 1, 3, "+2 / +1 / +0"),
        (&[Current; 3], &[], 1, 3, ""),
        (&[], &[Existing, Existing], 1, 3, "-1' -0'"),
    ];
    for (members, extras, size, in_service, wanted) in table {
        let rolling = RollingGroup {
            members,
            extras,
            size: *size,
            in_service: *in_service,
            backwards: true,
            new_members_last: false,
        };
        assert_eq!(
            format_turns(&rolling),
            *wanted,
            "{members:?} {extras:?} {size} {in_service}"
        );
    }
}

#[test]
fn new_members_are_created_after_the_batches() {
    let members = [Old, Old, Absent, Absent];
    let rolling = RollingGroup {
        members: &members,
        extras: &[],
        size: 1,
        in_service: 0,
        backwards: false,
        new_members_last: true,
    };
    assert_eq!(format_turns(&rolling), "+0 / +1 // +2 +3");
}

/// All lists of member states of this length.
fn lists(length: usize) -> Vec<Vec<MemberState>> {
    let mut all = vec![Vec::new()];
    for _ in 0..length {
        let mut longer = Vec::new();
        for list in &all {
            for state in [Absent, Failed, Old, Current] {
                longer.push([&list[..], &[state]].concat());
            }
        }
        all = longer;
    }
    all
}

#[test]
fn group_reaches_its_target_with_enough_in_service() {
    for members in (0..5).flat_map(lists) {
        for existing_extras in 0..3 {
            for size in 1..4 {
                for in_service in 0..6 {
                    check_orders(&members, existing_extras, size, in_service);
                }
            }
        }
    }
}

/// Checks the turns of a group in each order of its changes.
fn check_orders(members: &[MemberState], existing_extras: usize, size: usize, in_service: usize) {
    // There are enough members that can stand in for others.
    let mut extras = vec![Existing; existing_extras];
    extras.resize(existing_extras + size + in_service, Possible);
    // Only groups whose members are changed from the front create new members last.
    for (backwards, new_members_last) in [(true, false), (false, false), (false, true)] {
        check_turns(&RollingGroup {
            members,
            extras: &extras,
            size,
            in_service,
            backwards,
            new_members_last,
        });
    }
}

fn check_turns(rolling: &RollingGroup<'_>) {
    let (all, late) = turns(rolling);
    let shown = || format!("{:?} {:?}: {all:?}", rolling.members, rolling.extras);
    // New members that are created after the batches do not count in the batches.
    let comes_late = |state: &MemberState| rolling.new_members_last && *state == Absent;
    let late_members = rolling.members.iter().filter(|state| comes_late(state));
    let target = rolling.members.len() - late_members.count();
    let mut now = rolling.members.to_vec();
    let mut extras = rolling.extras.to_vec();
    let mut changes = vec![0; now.len()];
    let existing_count = |now: &[MemberState], extras: &[StandInState]| {
        now.iter().filter(|state| **state != Absent).count()
            + extras.iter().filter(|it| **it == Existing).count()
    };
    for turn in &all {
        assert!(
            *turn != BatchTurn::default() && turn.changed.len() <= rolling.size,
            "{}",
            shown()
        );
        // A group cannot have more members in service than its target, or than exist.
        let existing_before = existing_count(&now, &extras);
        let least_in_service = rolling.in_service.min(target).min(existing_before);
        for extra in &turn.deleted {
            assert_eq!(extras[*extra], Existing, "{}", shown());
            extras[*extra] = Unavailable;
        }
        // A member that is being changed is not in service.
        for who in &turn.changed {
            match who {
                MemberRef::Member(at) => {
                    now[*at] = Absent;
                    changes[*at] += 1;
                }
                MemberRef::Extra(at) => assert_eq!(extras[*at], Possible, "{}", shown()),
            }
        }
        let in_service = existing_count(&now, &extras);
        assert!(in_service >= least_in_service, "{}", shown());
        for who in &turn.changed {
            match who {
                MemberRef::Member(at) => now[*at] = Current,
                MemberRef::Extra(at) => extras[*at] = Existing,
            }
        }
    }
    for who in late.iter().flat_map(|late| &late.changed) {
        let MemberRef::Member(at) = who else {
            panic!("{}", shown())
        };
        now[*at] = Current;
        changes[*at] += 1;
    }
    assert!(
        now.iter().all(|state| *state == Current) && !extras.contains(&Existing),
        "{}",
        shown()
    );
    // A member that was up to date is not changed, every other is changed once.
    let expected_changes: Vec<usize> = rolling
        .members
        .iter()
        .map(|state| usize::from(*state != Current))
        .collect();
    assert_eq!(changes, expected_changes, "{}", shown());
}
