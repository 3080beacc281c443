//! A run that is interrupted at any moment and continued has the same result as an undisturbed run.

use proptest::prelude::*;
use provider::Operation;
use providers::fake::{EventLog, FaultKind, LoggedEvent, ScriptedFault, When};

use crate::{apply, apply_successfully, cases, cloud, harness, ids, run_with_paused_clock, stage};
use testkit::simulation::edit;

/// All calls of a run in the order of their start.
fn calls(journal: &EventLog) -> Vec<(Operation, String)> {
    let began = |event: &LoggedEvent| match event {
        LoggedEvent::Began(operation, address) => Some((*operation, address.to_string())),
        _ => None,
    };
    journal.events.iter().filter_map(began).collect()
}

/// A fault: the process ends before or after the call of this number does its work.
fn crash(calls: &[(Operation, String)], number: usize, when: When) -> ScriptedFault {
    let (operation, address) = &calls[number];
    let skip = calls[..number]
        .iter()
        .filter(|call| *call == &calls[number])
        .count() as u32;
    let kind = FaultKind::Crash {
        when,
        untraceable: false,
    };
    ScriptedFault {
        on: Some(*operation),
        at: address.as_str().into(),
        skip,
        times: 1,
        kind,
    }
}

proptest! {
    #![proptest_config(cases(96))]

    #[test]
    fn run_interrupted_at_any_call_and_continued_ends_the_same(
        (before, after) in edit(),
        parallel in 1..4_usize,
        destroy in prop::bool::weighted(0.2),
        second in prop::option::weighted(0.5, 0..64_usize),
    ) {
        let (before, after) = (before.text(), after.text());
        let goal = (!destroy).then_some(after.as_str());
        run_with_paused_clock(async {
            let twin = harness();
            apply_successfully(&twin, Some(&before), parallel).await;
            let undisturbed = apply_successfully(&twin, goal, parallel).await;
            let calls_of_twin = calls(&undisturbed.journal);
            for number in 0..calls_of_twin.len() {
                for when in [When::Before, When::After] {
                    let context = format!("{when:?} {:?}\n{before}\n->\n{goal:?}", calls_of_twin[number]);
                    let harness = harness();
                    apply_successfully(&harness, Some(&before), parallel).await;
                    let cut = apply(&harness, goal, parallel, vec![crash(&calls_of_twin, number, when)]).await;
                    assert!(cut.operated.is_none(), "it was not cut {context}");
                    if let Some(second) = second {
                        // Interrupted once more, at one of the remaining calls.
                        let fault = crash(&calls_of_twin, second % calls_of_twin.len(), when);
                        apply(&harness, goal, parallel, vec![fault]).await;
                    }
                    apply_successfully(&harness, goal, parallel).await;
                    assert_eq!(cloud(&harness), cloud(&twin), "another end when cut {context}");
                    let (there, known) = ids(&harness).await;
                    assert_eq!(there, known, "the cloud and the state differ when cut {context}");
                    if let Some(goal) = goal {
                        let staged = stage(&harness, goal).await.staged.expect("a plan");
                        let steps: Vec<_> = staged.plan.steps.iter().map(|step| (step.action, &step.address, &step.reasons)).collect();
                        assert!(staged.plan.is_empty(), "left to do {steps:?} when cut {context}");
                    }
                    assert!(harness.snapshot().await.open.is_empty(), "a call is still open when cut {context}");
                }
            }
        });
    }
}
