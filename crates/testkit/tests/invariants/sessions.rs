//! Runs that end early, in the orchestration that users run: `engine::Session`.

use engine::run::Operated;
use engine::{
    Action, Config, DocumentSource, OperateRequest, Session, SessionEvent, SessionOptions, Silent,
    StageRequest,
};
use state::OperationOutcome;
use testkit::faults::FaultPlan;
use testkit::harness::{Harness, RunResult, settings};

use crate::{harness, run_with_paused_clock, stage};

const DOCUMENT: &str = "\
version: 2023-04-20
resources:
  disk: {type: test/data, spec: {input: 1}}
  copy: {type: test/data, spec: {input: $disk.output}}
";

/// An upper bound for the moments of a run. Each commit and each call has two moments.
const MOMENTS: u32 = 24;

/// Deploys the document in a session, and checks that the run violates no invariant.
async fn deploy(harness: &Harness, ends_at: Option<u32>) -> RunResult {
    let fault_plan = FaultPlan {
        ends_at,
        ..FaultPlan::default()
    };
    let run = harness
        .deploy_in_session("main.yaml", DOCUMENT, fault_plan, settings(None, false))
        .await;
    let run = run.unwrap_or_else(|error| panic!("{error}"));
    assert!(
        run.violations.is_empty(),
        "moment {ends_at:?}: {:?}",
        run.violations
    );
    run
}

#[test]
fn session_continues_a_run_that_was_cut_off_at_any_moment() {
    run_with_paused_clock(async {
        let mut cut_off = 0;
        for moment in 1..=MOMENTS {
            let mut harness = harness();
            harness.checks_invariants = true;
            cut_off += u32::from(deploy(&harness, Some(moment)).await.operated.is_none());
            deploy(&harness, None).await;
            let (in_cloud, known) = harness.ids().await;
            assert_eq!((in_cloud.len(), &in_cloud), (2, &known), "moment {moment}");
            let again = stage(&harness, DOCUMENT)
                .await
                .staged
                .expect("it can be planned again");
            assert!(
                again
                    .plan
                    .steps
                    .iter()
                    .all(|step| step.action == Action::None),
                "moment {moment}"
            );
        }
        assert!(
            (8..MOMENTS).contains(&cut_off),
            "{cut_off} runs were cut off"
        );
    });
}

#[test]
fn session_deploys_to_the_store_of_the_harness() {
    run_with_paused_clock(async {
        let harness = harness();
        let run = deploy(&harness, None).await;
        assert!(
            run.outcome()
                .is_some_and(|outcome| outcome.outcome == Some(OperationOutcome::Ready))
        );
        assert_eq!(harness.snapshot().await.records.len(), 2);
        assert!(run.journal.events.len() >= 2);
    });
}

#[test]
fn events_of_plan_and_operation_name_the_operation_of_the_history() {
    run_with_paused_clock(async {
        let options = SessionOptions {
            state: Some("memory:".to_owned()),
            ..SessionOptions::default()
        };
        let session = Session::new(
            testkit::installed(),
            Config::default(),
            &options,
            ".".as_ref(),
        )
        .unwrap();
        let mut frontend = Silent::default();
        for input in [1, 2] {
            let text = DOCUMENT.replace("input: 1", &format!("input: {input}"));
            let request = StageRequest::new(DocumentSource::of_text("main.yaml", text));
            let planned = session.stage(request, &mut frontend).await.unwrap().planned;
            let instance = planned.instance.clone();
            let operated = session
                .operate(OperateRequest::of(planned, "tester@test"), &mut frontend)
                .await;
            assert!(
                matches!(operated, Operated::Done(_)),
                "{:?}",
                frontend.diagnostics
            );
            let events = std::mem::take(&mut frontend.events);
            let read = events
                .iter()
                .any(|envelope| matches!(envelope.event, SessionEvent::Reading(_)));
            assert_eq!(
                read,
                input == 2,
                "the second plan reads what the first operation made"
            );
            let last = session
                .reading()
                .history(&instance, 1)
                .await
                .unwrap()
                .remove(0);
            for (envelope, sequence) in events.iter().zip(1..) {
                assert_eq!(
                    (&envelope.operation, envelope.sequence),
                    (&last.operation.id, sequence)
                );
            }
        }
    });
}
