//! Links keep the invariants of plans: after any link, unlink, rename or interruption, the next
//! plan leads to the same result.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use proptest::prelude::*;
use provider::Operation;
use providers::fake::{FaultKind, ScriptedFault, When};
use testkit::simulation::linked_document;

use crate::{apply, apply_successfully, cases, cloud, harness, run_with_paused_clock, stage};

/// The cloud after an undisturbed deploy of a document with links.
async fn cloud_after_deploy(text: &str) -> BTreeSet<String> {
    let harness = harness();
    apply_successfully(&harness, Some(text), 1).await;
    cloud(&harness).into_values().collect()
}

proptest! {
    #![proptest_config(cases(48))]

    #[test]
    fn after_a_full_apply_with_links_there_is_nothing_to_do(documents in prop::collection::vec(linked_document(), 1..4), parallel in 1..4_usize) {
        run_with_paused_clock(async {
            let harness = harness();
            let mut before = String::new();
            for document in documents {
                let text = document.text();
                apply_successfully(&harness, Some(&text), parallel).await;
                let again = stage(&harness, &text).await;
                let staged = again.staged.expect("what has been applied can be planned");
                let steps: Vec<_> = staged.plan.steps.iter().map(|step| format!("{} {} {:?} {:?}", step.action.word(), step.address, step.reasons, step.changes)).collect();
                assert!(staged.plan.is_empty(), "{steps:?} after\n{text}\nafter\n{before}");
                before = text;
            }
            apply_successfully(&harness, None, parallel).await;
            assert!(cloud(&harness).is_empty(), "{:?} is left after a destroy of\n{before}", cloud(&harness));
            assert!(harness.snapshot().await.records.is_empty());
        });
    }

    #[test]
    fn interrupted_run_with_links_ends_the_same(first in linked_document(), second in linked_document(), role in any::<bool>(), skip in 0..3_u32, after in any::<bool>()) {
        run_with_paused_clock(async {
            let harness = harness();
            apply_successfully(&harness, Some(&first.text()), 2).await;
            let text = second.text();
            let at = if role { "role" } else { "b0" };
            let kind = FaultKind::Crash { when: if after { When::After } else { When::Before }, untraceable: false };
            let fault = ScriptedFault { on: Some(Operation::Update), at: at.into(), skip, times: 1, kind };
            apply(&harness, Some(&text), 2, vec![fault]).await;
            apply_successfully(&harness, Some(&text), 2).await;
            let staged = stage(&harness, &text).await.staged.expect("a plan");
            let steps: Vec<_> = staged.plan.steps.iter().map(|step| format!("{} {} {:?} {:?}", step.action.word(), step.address, step.reasons, step.changes)).collect();
            assert!(staged.plan.is_empty(), "{steps:?} after\n{text}");
            let there: BTreeSet<String> = cloud(&harness).into_values().collect();
            assert_eq!(there.len(), cloud_after_deploy(&text).await.len(), "{there:?} after\n{text}");
        });
    }
}

/// A bucket into which twenty queues write.
fn bucket_with_queues(selects: bool) -> String {
    let selector = if selects {
        "linkSelector: { byLabel: { kind: queue } }, "
    } else {
        ""
    };
    let mut text = format!(
        "version: 2023-04-20\nresources:\n  hub: {{ type: test/bucket, {selector}spec: {{ name: hub }} }}\n"
    );
    for at in 0..20 {
        let _ = writeln!(
            text,
            "  q{at}: {{ type: test/queue, metadata: {{ labels: {{ kind: queue }} }}, spec: {{ name: q{at} }} }}"
        );
    }
    text
}

/// The number of updates of the bucket.
fn updates_of_hub(run: &testkit::harness::RunResult) -> u32 {
    run.journal
        .calls()
        .get("update hub")
        .copied()
        .unwrap_or_default()
}

#[test]
fn many_links_into_one_resource_share_calls() {
    run_with_paused_clock(async {
        let harness = harness();
        let run = apply_successfully(&harness, Some(&bucket_with_queues(true)), 4).await;
        // Eight links in single calls, then eight in one call, then the last four in one call.
        assert_eq!(updates_of_hub(&run), 10);
        let done = run.events.iter().filter(|event| {
            matches!(event, engine::Event::Done { address, .. } if address.to_string().starts_with("hub::") && address.to_string().ends_with("/a"))
        });
        assert_eq!(done.count(), 20, "each step is told all the same");
        assert!(
            stage(&harness, &bucket_with_queues(true))
                .await
                .staged
                .expect("a plan")
                .plan
                .is_empty()
        );
        let run = apply_successfully(&harness, Some(&bucket_with_queues(false)), 4).await;
        assert_eq!(updates_of_hub(&run), 10);
        assert!(
            stage(&harness, &bucket_with_queues(false))
                .await
                .staged
                .expect("a plan")
                .plan
                .is_empty()
        );
    });
}

#[test]
fn shared_refused_call_fails_only_one_link() {
    let refuse = |times| ScriptedFault {
        on: Some(Operation::Update),
        at: "hub".into(),
        skip: 8,
        times,
        kind: FaultKind::Permanent,
    };
    run_with_paused_clock(async {
        // The call for several links is refused, the single calls are not.
        let harness = harness();
        let run = apply(
            &harness,
            Some(&bucket_with_queues(true)),
            4,
            vec![refuse(1)],
        )
        .await;
        assert_eq!(
            run.outcome().and_then(|outcome| outcome.outcome),
            Some(state::OperationOutcome::Ready)
        );
        assert_eq!(updates_of_hub(&run), 21);
        assert!(
            stage(&harness, &bucket_with_queues(true))
                .await
                .staged
                .expect("a plan")
                .plan
                .is_empty()
        );
    });
    run_with_paused_clock(async {
        // The refused link fails alone, and the next run continues there.
        let harness = harness();
        let run = apply(
            &harness,
            Some(&bucket_with_queues(true)),
            4,
            vec![refuse(2)],
        )
        .await;
        let outcome = run.outcome().expect("it was carried out");
        assert_eq!(outcome.outcome, Some(state::OperationOutcome::Failed));
        assert_eq!(
            outcome
                .diagnostics
                .iter()
                .map(|it| it.code.name)
                .collect::<Vec<_>>(),
            ["provider-failed"]
        );
        apply_successfully(&harness, Some(&bucket_with_queues(true)), 4).await;
        assert!(
            stage(&harness, &bucket_with_queues(true))
                .await
                .staged
                .expect("a plan")
                .plan
                .is_empty()
        );
    });
}

#[test]
fn interrupted_call_for_many_links_is_continued() {
    for when in [When::Before, When::After] {
        run_with_paused_clock(async {
            let harness = harness();
            let kind = FaultKind::Crash {
                when,
                untraceable: false,
            };
            let fault = ScriptedFault {
                on: Some(Operation::Update),
                at: "hub".into(),
                skip: 8,
                times: 1,
                kind,
            };
            apply(&harness, Some(&bucket_with_queues(true)), 4, vec![fault]).await;
            apply_successfully(&harness, Some(&bucket_with_queues(true)), 4).await;
            assert!(
                stage(&harness, &bucket_with_queues(true))
                    .await
                    .staged
                    .expect("a plan")
                    .plan
                    .is_empty()
            );
        });
    }
}
