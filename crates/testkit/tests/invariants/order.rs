//! A resource is created after the resources that it uses, and deleted before them.

use proptest::prelude::*;
use provider::Operation;
use providers::fake::{EventLog, LoggedEvent};

use crate::{apply_successfully, cases, harness, run_with_paused_clock};
use testkit::simulation::{RandomDocument, edit};

fn first_begin(journal: &EventLog, operation: Operation, address: &str) -> Option<usize> {
    let began = |event: &LoggedEvent| matches!(event, LoggedEvent::Began(it, at) if *it == operation && at.as_ref() == address);
    journal.events.iter().position(began)
}

fn last_end(journal: &EventLog, operation: Operation, address: &str) -> Option<usize> {
    let ended = |event: &LoggedEvent| matches!(event, LoggedEvent::Ended(it, at) if *it == operation && at.as_ref() == address);
    journal.events.iter().rposition(ended)
}

/// Every pair of addresses in which the first uses the second.
fn edges(document: &RandomDocument) -> Vec<(String, String)> {
    let mut edges = Vec::new();
    for at in 0..document.resources.len() {
        for other in document.uses(at) {
            // A reader of a repetition reads the first member. `dependsOn` waits for all members,
            // also for the first.
            let Some(used) = document.addresses(other).into_iter().next() else {
                continue;
            };
            edges.extend(
                document
                    .addresses(at)
                    .into_iter()
                    .map(|user| (user, used.clone())),
            );
        }
    }
    edges
}

fn check(journal: &EventLog, before: &RandomDocument, after: Option<&RandomDocument>) {
    use Operation::{Create, Delete, Update};
    for (user, used) in after.map(edges).unwrap_or_default() {
        for made in [Create, Update] {
            for then in [Create, Update] {
                if let (Some(end), Some(begin)) = (
                    last_end(journal, made, &used),
                    first_begin(journal, then, &user),
                ) {
                    assert!(
                        end < begin,
                        "{then:?} {user} began before {made:?} {used} ended: {:?}",
                        journal.events
                    );
                }
            }
        }
    }
    let replaces_delete_first = journal
        .calls()
        .keys()
        .filter_map(|call| call.strip_prefix("create "))
        .any(|address| {
            last_end(journal, Delete, address)
                .zip(first_begin(journal, Create, address))
                .is_some_and(|(gone, made)| gone < made)
        });
    for (user, used) in edges(before) {
        if let (Some(end), Some(begin)) = (
            last_end(journal, Delete, &user),
            first_begin(journal, Delete, &used),
        ) {
            assert!(
                end < begin,
                "delete {used} began before delete {user} ended: {:?}",
                journal.events
            );
        }
        // A removed resource is deleted after its users have changed. But a user may wait for a
        // delete-first replacement, and the replacement for the deletion.
        let stays = after.is_some_and(|after| {
            (0..after.resources.len()).any(|at| after.addresses(at).contains(&used))
        });
        if let (Some(end), Some(begin)) = (
            last_end(journal, Update, &user),
            first_begin(journal, Delete, &used),
        ) && !stays
            && !replaces_delete_first
        {
            assert!(
                end < begin,
                "delete {used} began before update {user} ended: {:?}",
                journal.events
            );
        }
    }
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn users_are_created_after_and_deleted_before_their_dependencies((before, after) in edit(), parallel in 1..6_usize) {
        run_with_paused_clock(async {
            let harness = harness();
            let nothing = RandomDocument { resources: Vec::new() };
            let run = apply_successfully(&harness, Some(&before.text()), parallel).await;
            check(&run.journal, &nothing, Some(&before));
            assert!(run.journal.most_in_flight as usize <= parallel, "more calls at once than allowed");
            let run = apply_successfully(&harness, Some(&after.text()), parallel).await;
            check(&run.journal, &before, Some(&after));
            let run = apply_successfully(&harness, None, parallel).await;
            check(&run.journal, &after, None);
        });
    }
}
