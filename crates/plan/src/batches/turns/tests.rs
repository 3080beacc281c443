//! Tests of the formula as a table, and of the invariants of every group.

use super::MemberState::{Absent, Current, Failed, Old};
use super::StandInState::{Existing, Possible, Unavailable};
use super::*;

/// Prints turns: `+` is created or changed, `-` is deleted. Members that do not stay have an
/// apostrophe.
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
    /// Members, members that do not stay, batch size, members in service, expected turns.
    type Row<'r> = (&'r [MemberState], &'r [StandInState], usize, usize, &'r str);
    let table: &[Row<'_>] = &[
        (&[Old; 4], &[], 2, 0, "+3 +2 / +1 +0"),
        (&[Old, Current, Old], &[], 1, 0, "+2 / +0"),
        (&[Old, Failed, Old], &[], 1, 0, "+1 / +2 / +0"),
        (&[Old, Old, Absent], &[], 2, 0, "+2 +1 / +0"),
        (&[Old; 3], &[Possible], 1, 3, "+0' / +2 / +1 / +0 / -0'"),
        // A cut-off run left a temporary member and has updated one member.
        (&[Old, Old, Current], &[Existing], 1, 3, "+1 / +0 / -0'"),
        (
            &[Old; 3],
            &[Existing, Existing],
            1,
            0,
            "+2 -1' -0' / +1 / +0",
        ),
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
        all = all
            .into_iter()
            .flat_map(|list| {
                [Absent, Failed, Old, Current].map(|more| [&list[..], &[more]].concat())
            })
            .collect();
    }
    all
}

#[test]
fn group_reaches_its_target_with_enough_in_service() {
    for members in (0..5).flat_map(lists) {
        for (there, size, in_service) in
            (0..3).flat_map(|a| (1..4).flat_map(move |b| (0..6).map(move |c| (a, b, c))))
        {
            // There are enough members that can stand in for others.
            let mut extras = vec![Existing; there];
            extras.resize(there + size + in_service, Possible);
            for (backwards, new_ones_last) in [(true, false), (false, false), (false, true)] {
                let members = &members;
                check_turns(&RollingGroup {
                    members,
                    extras: &extras,
                    size,
                    in_service,
                    backwards,
                    new_members_last: new_ones_last,
                });
            }
        }
    }
}

fn check_turns(rolling: &RollingGroup<'_>) {
    let (all, late) = turns(rolling);
    let shown = || format!("{:?} {:?}: {all:?}", rolling.members, rolling.extras);
    let stays = |standing: &&MemberState| !rolling.new_members_last || **standing != Absent;
    let target = rolling.members.iter().filter(stays).count();
    let mut now = rolling.members.to_vec();
    let mut extras = rolling.extras.to_vec();
    let mut changed = vec![0; now.len()];
    let size = |now: &[MemberState], extras: &[StandInState]| {
        now.iter().filter(|standing| **standing != Absent).count()
            + extras.iter().filter(|it| **it == Existing).count()
    };
    for turn in &all {
        assert!(
            *turn != BatchTurn::default() && turn.changed.len() <= rolling.size,
            "{}",
            shown()
        );
        let least = rolling.in_service.min(target).min(size(&now, &extras));
        for extra in &turn.deleted {
            assert_eq!(
                std::mem::replace(&mut extras[*extra], Unavailable),
                Existing,
                "{}",
                shown()
            );
        }
        // A member that is being changed is not in service.
        for who in &turn.changed {
            match who {
                MemberRef::Member(at) => (now[*at], changed[*at]) = (Absent, changed[*at] + 1),
                MemberRef::Extra(at) => assert_eq!(extras[*at], Possible, "{}", shown()),
            }
        }
        assert!(size(&now, &extras) >= least, "{}", shown());
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
        (now[*at], changed[*at]) = (Current, changed[*at] + 1);
    }
    assert!(
        now.iter().all(|standing| *standing == Current) && !extras.contains(&Existing),
        "{}",
        shown()
    );
    let wanted = rolling
        .members
        .iter()
        .map(|standing| usize::from(*standing != Current));
    assert!(wanted.eq(changed.iter().copied()), "{}", shown());
}
