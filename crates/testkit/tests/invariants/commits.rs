//! A process that ends before or after any commit or call leaves a state from which the next run
//! reaches the same result.

use std::path::Path;
use std::sync::Arc;

use blueprint::{Address, Name, Value};
use engine::Options;
use engine::run::Operated;
use proptest::prelude::*;
use provider::{ApplyRequest, Call};
use state::{Entry, EntryKind, Intent, Operation, OperationKind, StatusOp};
use testkit::faults::{CommitFault, FaultPlan};
use testkit::harness::{Harness, settings};
use testkit::simulation::edit;

use crate::{
    apply_successfully, cases, cloud, harness, ids, run_with_paused_clock,
    session_without_settings, shell_without_faults, stage,
};

/// Applies a document, or a destroy, in a process that ends at a moment, counted from 1. Returns
/// whether the process reached the moment.
async fn apply_until(harness: &Harness, goal: Option<&str>, parallel: usize, moment: u32) -> bool {
    apply_with_faults(
        harness,
        goal,
        parallel,
        FaultPlan {
            ends_at: Some(moment),
            ..FaultPlan::default()
        },
    )
    .await
}

/// Like `apply_until`, with commits that take longer than calls, so that answers are not durable
/// for a while. The seed determines the durations.
async fn apply_until_on_slow_disk(
    harness: &Harness,
    goal: Option<&str>,
    parallel: usize,
    moment: u32,
    seed: u64,
) -> bool {
    let fault_plan = FaultPlan {
        ends_at: Some(moment),
        latency: Some(3 * seed),
        ..FaultPlan::default()
    };
    apply_with_faults(harness, goal, parallel, fault_plan).await
}

async fn apply_with_faults(
    harness: &Harness,
    goal: Option<&str>,
    parallel: usize,
    fault_plan: FaultPlan,
) -> bool {
    let staged = match goal {
        Some(goal) => stage(harness, goal).await.staged,
        None => harness.stage_destroy(Options::default()).await.staged,
    };
    let run = harness
        .run_under(
            staged.expect("a plan"),
            false,
            fault_plan,
            settings(Some(parallel), false),
        )
        .await;
    run.operated.is_none()
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn run_interrupted_at_any_commit_and_continued_ends_the_same(
        (before, after) in edit(),
        parallel in 1..4_usize,
        destroy in prop::bool::weighted(0.2),
    ) {
        let (before, after) = (before.text(), after.text());
        let goal = (!destroy).then_some(after.as_str());
        run_with_paused_clock(async {
            let twin = harness();
            apply_successfully(&twin, Some(&before), parallel).await;
            let undisturbed = apply_successfully(&twin, goal, parallel).await;
            for moment in 1.. {
                let context = format!("moment {moment}\n{before}\n->\n{goal:?}");
                let harness = harness();
                apply_successfully(&harness, Some(&before), parallel).await;
                if !apply_until(&harness, goal, parallel, moment).await {
                    let nothing = matches!(undisturbed.operated, Some(Operated::Nothing));
                    assert!(moment > 1 || nothing, "it was never cut");
                    break;
                }
                apply_successfully(&harness, goal, parallel).await;
                assert_eq!(cloud(&harness), cloud(&twin), "another end when cut at {context}");
                let (there, known) = ids(&harness).await;
                assert_eq!(there, known, "the cloud and the state differ when cut at {context}");
                if let Some(goal) = goal {
                    let staged = stage(&harness, goal).await.staged.expect("a plan");
                    assert!(staged.plan.is_empty(), "something is left to do when cut at {context}");
                }
                assert!(harness.snapshot().await.open.is_empty(), "a call is still open when cut at {context}");
            }
        });
    }
}

/// An interrupted run creates a resource, a second run deletes it, and a third run creates it
/// again. The resource gets a new token, although neither of the first two runs has finished.
#[test]
fn resource_deleted_in_between_is_created_with_a_new_token() {
    let text = "version: 2023-04-20\nresources:\n  a: { type: test/data, spec: { input: 1 } }\n  \
                b: { type: test/data, spec: { input: 2 } }\n  c: { type: test/data, spec: { input: 3 } }\n  \
                d: { type: test/data, dependsOn: [a, b, c], spec: { input: 4 } }\n";
    let token = |harness: &Harness, name: &str| {
        let world = harness.world.lock().expect("no thread panics with it");
        world
            .objects()
            .find(|object| object.place.ends_with(name))
            .map(|object| object.token().to_owned())
    };
    let is_there =
        |harness: &Harness| ["/a", "/b", "/c", "/d"].map(|name| token(harness, name).is_some());
    run_with_paused_clock(async {
        let mut seen = 0_u32;
        for (made, deleted) in (1..16).flat_map(|made| (1..16).map(move |deleted| (made, deleted)))
        {
            let harness = harness();
            let cut = apply_until(&harness, Some(text), 1, made).await;
            let Some(first) = token(&harness, "/a")
                .filter(|_| cut && is_there(&harness) == [true, true, true, false])
            else {
                continue;
            };
            // Only runs that are interrupted before the deletion of `c` count: no run has finished.
            if !apply_until(&harness, None, 1, deleted).await
                || !matches!(is_there(&harness), [false, _, true, false])
            {
                continue;
            }
            let snapshot = harness.snapshot().await;
            assert_eq!(snapshot.generation.0, 0, "no run has ended");
            seen += u32::from(
                !snapshot
                    .records
                    .keys()
                    .any(|address| address.to_string() == "a"),
            );
            apply_successfully(&harness, Some(text), 1).await;
            assert_ne!(token(&harness, "/a"), Some(first));
        }
        assert!(
            seen > 0,
            "the outcome of the delete was never durable before the run ended"
        );
    });
}

/// A chain of resources that can be searched for.
fn chain(resources: usize) -> String {
    let resource = |at: usize| match at {
        0 => "  r0: { type: test/data, spec: { input: 0 } }\n".to_owned(),
        at => format!(
            "  r{at}: {{ type: test/data, spec: {{ input: [{at}, \"${{resources.r{}.spec.id}}\"] }} }}\n",
            at - 1
        ),
    };
    format!(
        "version: 2023-04-20\nresources:\n{}",
        (0..resources).map(resource).collect::<String>()
    )
}

/// No resource of a chain is lost or created twice, at whatever moment the run is interrupted.
#[test]
fn interrupted_chain_is_completed() {
    let text = chain(24);
    run_with_paused_clock(async {
        let mut cuts = 0;
        for goal in [Some(text.as_str()), None] {
            for moment in 1.. {
                let harness = harness();
                if goal.is_none() {
                    apply_successfully(&harness, Some(&text), 2).await;
                }
                if !apply_until_on_slow_disk(&harness, goal, 2, moment, u64::from(moment)).await {
                    break;
                }
                cuts += 1;
                let made: Vec<_> = {
                    let world = harness.world.lock().expect("no thread panics with it");
                    world.objects().map(|object| object.id.clone()).collect()
                };
                let run = apply_successfully(&harness, goal, 2).await;
                let (there, known) = ids(&harness).await;
                assert_eq!(
                    there, known,
                    "the cloud and the state differ when cut at {moment}"
                );
                if let Some(goal) = goal {
                    assert_eq!(there.len(), 24);
                    let updated = match run.operated {
                        Some(Operated::Done(outcome)) => outcome.counts.updated,
                        _ => 0,
                    };
                    assert_eq!(
                        updated, 0,
                        "what was sent has not been read back as it was, at {moment}"
                    );
                    assert!(
                        made.iter()
                            .all(|id| there.iter().any(|it| it.contains(&**id))),
                        "replaced at {moment}"
                    );
                    let staged = stage(&harness, goal).await.staged.expect("a plan");
                    assert!(
                        staged.plan.is_empty(),
                        "something is left to do when cut at {moment}"
                    );
                }
            }
        }
        assert!(cuts > 60, "{cuts}");
    });
}

/// An outcome is durable before anything that depends on it is called.
#[test]
fn outcomes_are_durable_before_dependants_are_called() {
    let text = "version: 2023-04-20\nresources:\n  a: { type: test/data, spec: { input: 1 } }\n  \
                b: { type: test/record, spec: { title: \"${resources.a.spec.id}\" } }\n  \
                c: { type: test/record, spec: { title: \"${resources.b.spec.id}\" } }\n";
    run_with_paused_clock(async {
        let mut called = 0;
        for (seed, moment) in (1..9).flat_map(|seed| (1..12).map(move |moment| (seed, moment))) {
            let harness = harness();
            if !apply_until_on_slow_disk(&harness, Some(text), 1, moment, seed).await {
                continue;
            }
            let records = harness.snapshot().await.records;
            let exists = |name: &str| {
                harness
                    .cloud()
                    .keys()
                    .any(|place| place.contains(&format!("/{name} ")))
            };
            let recorded = |name: &str| records.keys().any(|address| address.to_string() == name);
            for (name, needed) in [("b", "a"), ("c", "b")] {
                called += u32::from(exists(name));
                assert!(
                    !exists(name) || recorded(needed),
                    "{name} was created before {needed} was recorded"
                );
            }
        }
        assert!(called > 0, "no run came so far");
    });
}

/// Versions before 0.2 committed intents of creates before all of their spec was known. Such an
/// intent is settled like any other: the resource is adopted if it was created, and created
/// otherwise.
#[test]
fn an_intent_of_an_older_version_with_unknown_parts_is_settled() {
    let (before, after) = (chain(1), chain(2));
    run_with_paused_clock(async {
        for created in [true, false] {
            let harness = harness();
            apply_successfully(&harness, Some(&before), 1).await;
            let store = harness.store();
            let unknown = Value::map([(
                "input",
                Value::list([Value::Int(1), Value::unknown(None, None)]),
            )]);
            let first = harness
                .snapshot()
                .await
                .records
                .values()
                .next()
                .expect("it was created")
                .id
                .clone();
            let known = Value::map([(
                "input",
                Value::list([Value::Int(1), Value::Text(first.clone())]),
            )]);
            let address = Address::root("r1");
            let token = "an-older-token";
            let intent = Intent {
                address: address.clone(),
                op: StatusOp::Create,
                deposed: false,
                id: "".into(),
                retain: false,
                protect: false,
                delete_mode: blueprint::DeleteMode::Delete,
                token: token.into(),
                type_name: "test/data".into(),
                inputs: unknown,
                dependencies: vec![Address::root("r0")],
                private: Value::Null,
                hides_id: false,
                folder: Name::default(),
                urn: Default::default(),
                provider: None,
            };
            let began = Operation {
                id: "older".into(),
                kind: OperationKind::Deploy,
                who: "ann@lab".into(),
                began: harness.clock.now(),
                document: "main.yaml".into(),
                memoised: Default::default(),
                stops: None,
                desired: Value::Null,
            };
            let lease = harness.take_lease().await.expect("the lease is free");
            let entries = vec![
                Entry {
                    step: 0,
                    kind: EntryKind::Began(Arc::new(began)),
                },
                Entry {
                    step: 1,
                    kind: EntryKind::Intent(Arc::new(intent)),
                },
            ];
            store
                .commit(&lease, lease.revision, entries)
                .await
                .expect("it is accepted");
            store.release(&lease).await.expect("it is given back");
            if created {
                let shell = shell_without_faults(&harness);
                let call = Call {
                    call_records: None,
                    instances: None,
                    instance: harness.name.name().clone(),
                    address: address.clone(),
                    urn: Default::default(),
                    token: token.into(),
                    deadline: None,
                    cancel: Default::default(),
                    root: Path::new("/nowhere").into(),
                    folder: Path::new("/nowhere").into(),
                    settings: Value::Null,
                    files: provider::FileAccess::default(),
                    now: harness.clock.now(),
                    progress: Arc::new(|_| {}),
                };
                let request = ApplyRequest {
                    operation: provider::Operation::Create,
                    type_name: "test/data",
                    id: None,
                    prior_inputs: &Value::Null,
                    prior: &Value::Null,
                    desired: &known,
                    private: &Value::Null,
                    sources: &[],
                    metadata: &Value::Null,
                    delete_mode: blueprint::DeleteMode::Delete,
                    schema_version: 0,
                    planned: &Value::Null,
                };
                session_without_settings(&shell, "test")
                    .await
                    .apply(&call, request)
                    .await
                    .expect("it is created");
            }
            let run = apply_successfully(&harness, Some(&after), 1).await;
            if let Some(Operated::Done(outcome)) = &run.operated {
                assert_eq!(
                    <[u64; 4]>::from(outcome.counts),
                    [u64::from(!created), 0, 0, 0],
                    "created before: {created}"
                );
            }
            let (there, recorded) = ids(&harness).await;
            assert_eq!((there.len(), &there), (2, &recorded));
            let snapshot = harness.snapshot().await;
            assert!(snapshot.open.is_empty());
            assert_eq!(snapshot.records[&address].inputs, known);
            assert!(
                stage(&harness, &after)
                    .await
                    .staged
                    .expect("a plan")
                    .plan
                    .is_empty()
            );
        }
    });
}

/// The end of an operation is recorded after all outcomes, in a commit of its own. Only durable
/// outcomes are counted.
#[test]
fn counts_include_only_recorded_outcomes() {
    let text = "version: 2023-04-20\nresources:\n  a: { type: test/data, spec: { input: 1 } }\n  \
                b: { type: test/data, dependsOn: a, spec: { input: 2 } }\n";
    run_with_paused_clock(async {
        for number in 1..=5 {
            let harness = harness();
            let staged = stage(&harness, text).await.staged.expect("a plan");
            let fault_plan = FaultPlan {
                commit_fails: Some(CommitFault {
                    number,
                    written: false,
                }),
                ..FaultPlan::default()
            };
            let run = harness
                .run_under(staged, false, fault_plan, settings(Some(1), false))
                .await;
            let snapshot = harness.snapshot().await;
            let recorded = snapshot.records.len() as u64;
            match run.operated.expect("it was not cut off") {
                Operated::Aborted(lost) => {
                    assert_eq!(
                        (<[u64; 4]>::from(lost.counts), snapshot.generation.0),
                        ([recorded, 0, 0, 0], 0),
                        "commit {number}"
                    );
                    assert_eq!(
                        recorded,
                        u64::from(number).saturating_sub(2),
                        "commit {number}"
                    );
                }
                Operated::Done(outcome) => {
                    assert_eq!((number, outcome.counts.created), (5, 2));
                    assert_eq!((recorded, snapshot.generation.0), (2, 1));
                }
                other => panic!("commit {number}: {other:?}"),
            }
        }
    });
}

/// A value that is secret because an answer repeats a secret stays secret when an interrupted run
/// is continued.
#[test]
fn secret_found_during_a_run_stays_secret_after_an_interruption() {
    // An answer that repeats a secret becomes secret. This is not known before the answer.
    let text = "version: 2023-04-20\nresources:\n  a: { type: test/record, spec: { title: one, password: \"arn:test:record\" } }\n  \
                b: { type: test/data, spec: { input: [\"plain\", \"${resources.a.spec.arn}\"] } }\n";
    run_with_paused_clock(async {
        let mut found = 0;
        for (seed, moment) in (1..9).flat_map(|seed| (1..12).map(move |moment| (seed, moment))) {
            let harness = harness();
            if !apply_until_on_slow_disk(&harness, Some(text), 1, moment, seed).await {
                continue;
            }
            let was_there = harness.cloud().keys().any(|place| place.contains("/b "));
            let was_known = harness
                .snapshot()
                .await
                .records
                .keys()
                .any(|address| address.to_string() == "b");
            found += u32::from(was_there && !was_known);
            apply_successfully(&harness, Some(text), 1).await;
            let snapshot = harness.snapshot().await;
            let log = harness
                .store()
                .log(&harness.name, None, 999)
                .await
                .expect("a journal");
            for line in log {
                let EntryKind::Outcome(outcome) = &line.entry.kind else {
                    continue;
                };
                let Some(record) = outcome
                    .record
                    .as_ref()
                    .filter(|_| outcome.address.to_string() == "b")
                else {
                    continue;
                };
                assert!(
                    record.inputs.has_secret(),
                    "cut at {moment} of {seed}: {:?}",
                    record.inputs
                );
            }
            let sent = snapshot.open.is_empty()
                && stage(&harness, text)
                    .await
                    .staged
                    .is_some_and(|it| it.plan.is_empty());
            assert!(
                sent,
                "something is left to do when cut at {moment} of {seed}"
            );
        }
        assert!(found > 0, "what was cut off had never been made");
    });
}
