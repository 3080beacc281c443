//! Retries of each kind of call; calls that exceed their time limit or never end.

use std::time::Duration;

use engine::run::{LEASE, Operated};
use engine::{Event, Options};
use provider::{ErrorKind, ProviderError, Retries};
use state::OperationOutcome::{Failed, Interrupted, Ready};
use testkit::harness::run_with_paused_clock;
use testkit::policies::{PolicyHarness, ScriptedFault, refusals, said};

const ONE: &str = "
version: 2023-04-20
resources:
  a: {type: test/data, spec: {input: 1}}
";

/// A data source that can be read only during the run, and a function that can be called only then.
const ASKING: &str = "
version: 2023-04-20
resources:
  a: {type: test/data, spec: {input: vpc-1}}
  b: {type: test/data, spec: {input: \"${datasources.net.name}\"}}
  c: {type: test/data, spec: {input: \"${test_settings(resources.a.spec.id)}\"}}
datasources:
  net:
    type: test/network
    filter: {field: name, operator: \"!=\", search: \"${resources.a.spec.id}\"}
    exports: {name: {type: string}}
";

const CLUSTER: &str = "
version: 2023-04-20
resources:
  cluster: {type: test/cluster, spec: {name: main}}
";

/// The pauses between the times, in whole seconds.
fn pauses(at: &[Duration]) -> Vec<u64> {
    at.windows(2)
        .map(|pair| (pair[1] - pair[0]).as_secs_f64().round() as u64)
        .collect()
}

/// Whether pauses are within a tenth of those of a policy.
fn are_about(pauses: &[u64], wanted: &[u64]) -> bool {
    pauses.len() == wanted.len()
        && pauses
            .iter()
            .zip(wanted)
            .all(|(pause, wanted)| pause.abs_diff(*wanted) * 10 <= *wanted + 5)
}

/// A kind of call, and a document that makes it.
struct Kind {
    call: &'static str,
    document: &'static str,
    /// Whether the call is made while planning, for an existing resource.
    at_stage: bool,
}

const KINDS: &[Kind] = &[
    Kind {
        call: "create a",
        document: ONE,
        at_stage: false,
    },
    Kind {
        call: "stable cluster",
        document: CLUSTER,
        at_stage: false,
    },
    Kind {
        call: "fetch data",
        document: ASKING,
        at_stage: false,
    },
    Kind {
        call: "call function",
        document: ASKING,
        at_stage: false,
    },
    Kind {
        call: "read a",
        document: ONE,
        at_stage: true,
    },
];

#[test]
fn every_kind_of_call_is_retried_after_growing_pauses() {
    for kind in KINDS {
        run_with_paused_clock(async {
            let bench = PolicyHarness::new();
            if kind.at_stage {
                bench.apply(Some(kind.document)).await;
                bench.cloud.clear_log();
            }
            bench.script_faults(kind.call, refusals(3, ErrorKind::Transient));
            if kind.at_stage {
                let (staged, found) = bench.stage(Some(kind.document), Options::default()).await;
                assert!(staged.is_some(), "{}: {:?}", kind.call, said(&found));
            } else {
                let ran = bench.apply(Some(kind.document)).await;
                assert_eq!(ran.ended(), Some(Ready), "{}: {:?}", kind.call, ran.said());
                let again = ran
                    .events
                    .iter()
                    .filter(|event| matches!(event, Event::Retrying { .. }))
                    .count();
                assert_eq!(again, 3, "{}: {:?}", kind.call, ran.events);
            }
            let made = pauses(&bench.cloud.times_of(kind.call));
            assert!(are_about(&made[..3], &[2, 4, 8]), "{}: {made:?}", kind.call);
        });
    }
}

#[test]
fn every_kind_of_call_fails_with_its_code_after_five_retries() {
    for kind in KINDS {
        run_with_paused_clock(async {
            let bench = PolicyHarness::new();
            if kind.at_stage {
                bench.apply(Some(kind.document)).await;
                bench.cloud.clear_log();
            }
            bench.script_faults(kind.call, refusals(6, ErrorKind::Throttled));
            let messages = if kind.at_stage {
                said(&bench.stage(Some(kind.document), Options::default()).await.1)
            } else {
                let ran = bench.apply(Some(kind.document)).await;
                assert_eq!(ran.ended(), Some(Failed), "{}", kind.call);
                ran.said()
            };
            assert_eq!(bench.cloud.times_of(kind.call).len(), 6, "{}", kind.call);
            assert!(
                messages.iter().any(|it| it.contains("retries-exhausted")),
                "{}: {messages:?}",
                kind.call
            );
        });
    }
}

#[test]
fn permanent_refusal_is_not_retried() {
    for kind in KINDS {
        run_with_paused_clock(async {
            let bench = PolicyHarness::new();
            if kind.at_stage {
                bench.apply(Some(kind.document)).await;
                bench.cloud.clear_log();
            }
            bench.script_faults(kind.call, refusals(1, ErrorKind::Credentials));
            let messages = if kind.at_stage {
                said(&bench.stage(Some(kind.document), Options::default()).await.1)
            } else {
                bench.apply(Some(kind.document)).await.said()
            };
            assert_eq!(bench.cloud.times_of(kind.call).len(), 1, "{}", kind.call);
            assert!(
                messages.iter().any(|it| it.contains("provider-failed")),
                "{}: {messages:?}",
                kind.call
            );
        });
    }
}

#[test]
fn catalogue_sets_the_policy_for_each_class_of_errors() {
    run_with_paused_clock(async {
        let second = Duration::from_secs(1);
        let bench = PolicyHarness::with(|catalog| {
            catalog.retries.throttled = Retries {
                max_retries: 8,
                first_pause: second * 10,
                max_pause: second * 40,
            };
            catalog.retries.transient = Retries {
                max_retries: 1,
                first_pause: second,
                max_pause: second,
            };
        });
        bench.script_faults("create a", refusals(8, ErrorKind::Throttled));
        assert_eq!(bench.apply(Some(ONE)).await.ended(), Some(Ready));
        let made = pauses(&bench.cloud.times_of("create a"));
        assert!(
            are_about(&made, &[10, 20, 40, 40, 40, 40, 40, 40]),
            "{made:?}"
        );
        bench.cloud.clear_log();
        bench.script_faults("delete a", refusals(2, ErrorKind::Transient));
        let ran = bench.apply(None).await;
        assert_eq!(
            ran.said(),
            ["error retries-exhausted: the provider could not delete `a` after 1 more tries"]
        );
        assert!(are_about(&pauses(&bench.cloud.times_of("delete a")), &[1]));
    });
}

#[test]
fn retry_waits_at_least_as_long_as_the_server_asks() {
    run_with_paused_clock(async {
        let bench = PolicyHarness::new();
        let busy = |seconds| {
            let error = ProviderError::new(ErrorKind::Throttled, "busy")
                .with_retry_after(Duration::from_secs(seconds));
            ScriptedFault::Refused(error)
        };
        bench.script_faults("create a", [busy(1), busy(30), busy(86_400)]);
        assert_eq!(bench.apply(Some(ONE)).await.ended(), Some(Ready));
        let made = bench.cloud.times_of("create a");
        assert!(made[2] - made[1] >= Duration::from_secs(30), "{made:?}");
        let made = pauses(&made);
        assert!(are_about(&made, &[2, 30, 300]), "{made:?}");
        // The pause that the provider asks for is kept while planning, too.
        bench.cloud.clear_log();
        bench.script_faults("read a", [busy(60)]);
        assert!(bench.stage(Some(ONE), Options::default()).await.0.is_some());
        assert!(are_about(&pauses(&bench.cloud.times_of("read a")), &[60]));
    });
}

#[test]
fn readiness_is_polled_with_growing_pauses_until_the_time_limit() {
    run_with_paused_clock(async {
        let bench = PolicyHarness::new();
        bench.script_faults("unsettled cluster", vec![ScriptedFault::None; 10]);
        assert_eq!(bench.apply(Some(CLUSTER)).await.ended(), Some(Ready));
        let looks = bench.cloud.times_of("stable cluster");
        let pauses: Vec<u128> = looks
            .windows(2)
            .map(|pair| (pair[1] - pair[0]).as_millis())
            .collect();
        // The first poll follows at once, the next after 0.5 s, with pauses that grow by half up to
        // 10 s.
        assert_eq!(looks[0], bench.cloud.times_of("create cluster")[0]);
        assert!(
            pauses.len() == 10
                && pauses
                    .iter()
                    .zip([500, 750, 1125, 1687, 2531, 3796, 5695, 8542, 10_000, 10_000])
                    .all(|(pause, wanted)| pause.abs_diff(wanted) <= 1),
            "{pauses:?}"
        );
        let bench = PolicyHarness::new();
        bench.script_faults("unsettled cluster", vec![ScriptedFault::None; 1_000]);
        let ran = bench.apply(Some(CLUSTER)).await;
        assert_eq!(
            ran.said(),
            ["error not-stable: `cluster` did not become ready in time"]
        );
        assert!(
            ran.elapsed > Duration::from_secs(29 * 60)
                && ran.elapsed <= Duration::from_secs(30 * 60),
            "{:?}",
            ran.elapsed
        );
    });
}

#[test]
fn readiness_may_use_the_whole_time_limit() {
    // Polled at once, after 500 ms, and after 750 ms more.
    for (within, elapsed) in [(1_250, 1_250), (1_249, 500)] {
        run_with_paused_clock(async {
            let mut bench = PolicyHarness::new();
            bench.settings.stable_within = Duration::from_millis(within);
            bench.script_faults("unsettled cluster", vec![ScriptedFault::None; 10]);
            let ran = bench.apply(Some(CLUSTER)).await;
            assert_eq!(
                (ran.ended(), ran.elapsed),
                (Some(Failed), Duration::from_millis(elapsed))
            );
        });
    }
}

const HELD: &str = "
version: 2023-04-20
resources:
  cluster: {type: test/cluster, spec: {name: main}}
  reader: {type: test/data, spec: {input: \"${resources.cluster.spec.id}\"}}
  other: {type: test/data, spec: {input: 1}}
";

/// A harness whose clusters are completed by others after the call.
fn completed_by_others() -> PolicyHarness {
    PolicyHarness::with(|catalog| {
        let ty = catalog
            .resource_types
            .get_mut("test/cluster")
            .expect("the catalogue has it");
        std::sync::Arc::make_mut(ty)
            .capabilities
            .complete_when_ready = true;
    })
}

#[test]
fn resource_that_others_complete_is_held_when_its_time_is_over() {
    run_with_paused_clock(async {
        let mut bench = completed_by_others();
        bench.settings.hold_after = Duration::from_secs(60);
        bench.script_faults("unsettled cluster", vec![ScriptedFault::None; 12]);
        let ran = bench.apply(Some(HELD)).await;
        assert_eq!(
            (ran.ended(), ran.said()),
            (Some(Interrupted), Vec::<String>::new())
        );
        let names = |addresses: &[blueprint::Address]| -> Vec<String> {
            addresses.iter().map(ToString::to_string).collect()
        };
        let outcome = ran.outcome();
        assert_eq!(outcome.counts.created, 2);
        assert_eq!(outcome.unready.len(), 1);
        assert_eq!(outcome.unready[0].0.to_string(), "cluster");
        assert_eq!(names(&outcome.waiting), ["reader"]);
        assert!(ran.elapsed <= Duration::from_secs(60), "{:?}", ran.elapsed);
        assert_eq!(
            bench.statuses().await,
            ["cluster: create configured", "other: create ready"]
        );
        // The next run waits again, and creates nothing twice.
        assert_eq!(bench.apply(Some(HELD)).await.ended(), Some(Ready));
        assert_eq!(bench.cloud.times_of("create cluster").len(), 1);
        assert_eq!(bench.cloud.times_of("create reader").len(), 1);
    });
}

#[test]
fn limit_of_a_resource_counts_in_place_of_that_of_the_run() {
    let document = HELD.replace("{name: main}", "{name: main, limit: 5}");
    // The provider has the limit and a minute to say that the resource is late.
    for (polls, ended, least, most) in [(11, Ready, 45, 65), (20, Failed, 55, 65)] {
        run_with_paused_clock(async {
            let mut bench = PolicyHarness::with(|catalog| {
                let ty = catalog
                    .resource_types
                    .get_mut("test/cluster")
                    .expect("the catalogue has it");
                let ty = std::sync::Arc::make_mut(ty);
                ty.capabilities.complete_when_ready = true;
                ty.ready_within = Some("limit".into());
                let limit = blueprint::Field::of(blueprint::Kind::Integer);
                std::sync::Arc::make_mut(&mut ty.schema)
                    .fields
                    .insert("limit".into(), limit);
            });
            bench.settings.hold_after = Duration::from_secs(1);
            bench.script_faults("unsettled cluster", vec![ScriptedFault::None; polls]);
            let ran = bench.apply(Some(&document)).await;
            assert_eq!(ran.ended(), Some(ended));
            let seconds = ran.elapsed.as_secs();
            assert!((least..=most).contains(&seconds), "{:?}", ran.elapsed);
        });
    }
}

#[test]
fn resource_that_is_not_waited_for_is_held_at_once() {
    run_with_paused_clock(async {
        let mut bench = completed_by_others();
        bench.settings.hold_after = Duration::ZERO;
        bench.script_faults("unsettled cluster", vec![ScriptedFault::None; 3]);
        let ran = bench.apply(Some(HELD)).await;
        assert_eq!(
            (ran.ended(), ran.elapsed),
            (Some(Interrupted), Duration::ZERO)
        );
        assert_eq!(bench.cloud.times_of("stable cluster").len(), 0);
    });
}

#[test]
fn unanswered_poll_ends_at_the_time_limit() {
    run_with_paused_clock(async {
        let bench = PolicyHarness::new();
        bench.script_faults("stable cluster", [ScriptedFault::IgnoresCancel]);
        let ran = bench.apply(Some(CLUSTER)).await;
        assert_eq!(
            ran.said(),
            ["error not-stable: `cluster` did not become ready in time"]
        );
        assert_eq!(ran.elapsed, Duration::from_secs(30 * 60));
        assert_eq!(bench.statuses().await, ["cluster: create failed"]);
    });
}

#[test]
fn unknown_readiness_is_polled_by_the_next_run() {
    for (kind, count, code) in [
        (ErrorKind::Throttled, 6, "retries-exhausted"),
        (ErrorKind::Credentials, 1, "provider-failed"),
    ] {
        run_with_paused_clock(async {
            let bench = PolicyHarness::new();
            bench.script_faults("stable cluster", refusals(count, kind));
            let ran = bench.apply(Some(CLUSTER)).await;
            assert!(ran.said()[0].contains(code), "{:?}", ran.said());
            assert_eq!(bench.statuses().await, ["cluster: create configured"]);
            assert_eq!(bench.apply(Some(CLUSTER)).await.ended(), Some(Ready));
            assert_eq!(bench.statuses().await, ["cluster: create ready"]);
            assert_eq!(bench.cloud.times_of("create cluster").len(), 1);
        });
    }
}

const LIMITED: &str = "
version: 2023-04-20
resources:
  a: {type: test/data, metadata: {annotations: {cyan.timeout.create: 1m}}, spec: {input: 1}}
  b: {type: test/data, spec: {input: \"${resources.a.spec.id}\"}}
  c: {type: test/data, spec: {input: 3}}
";

#[test]
fn call_over_its_time_limit_is_cancelled() {
    run_with_paused_clock(async {
        let bench = PolicyHarness::new();
        bench.script_faults("create a", [ScriptedFault::Hangs]);
        let ran = bench.apply(Some(LIMITED)).await;
        assert_eq!(
            ran.said(),
            ["error not-stable: the create of `a` was not done within 1m 0s"]
        );
        assert_eq!(ran.elapsed, Duration::from_secs(60));
        assert_eq!(
            bench.statuses().await,
            ["c: create ready", "a: create failed"]
        );
        assert_eq!(bench.apply(Some(LIMITED)).await.ended(), Some(Ready));
    });
}

/// The run and the provider measure time separately. The result must not depend on which of them
/// ends first.
#[test]
fn timeout_is_reported_equally_by_run_and_provider() {
    run_with_paused_clock(async {
        for accident in [ScriptedFault::Hangs, ScriptedFault::FailsAtDeadline] {
            let bench = PolicyHarness::new();
            bench.script_faults("create a", [accident]);
            let ran = bench.apply(Some(LIMITED)).await;
            assert_eq!(
                ran.said(),
                ["error not-stable: the create of `a` was not done within 1m 0s"]
            );
            assert!(
                ran.outcome()
                    .diagnostics
                    .iter()
                    .all(|one| one.notes.is_empty()),
                "{:?}",
                ran.outcome()
            );
            let failed = ran.events.iter().find_map(|event| match event {
                Event::Failed { message, .. } => Some(message.as_ref()),
                _ => None,
            });
            assert_eq!(failed, Some("the create of `a` was not done within 1m 0s"));
        }
    });
}

#[test]
fn time_limits_reach_the_provider() {
    run_with_paused_clock(async {
        let bench = PolicyHarness::new();
        let busy = refusals(1, ErrorKind::Transient);
        bench.script_faults(
            "create a",
            busy.into_iter().chain([ScriptedFault::FailsAtDeadline]),
        );
        let ran = bench.apply(Some(LIMITED)).await;
        assert_eq!(
            ran.said(),
            ["error not-stable: the create of `a` was not done within 1m 0s"]
        );
        assert_eq!(ran.elapsed, Duration::from_secs(60));
        // A later try has the rest of the minute. A call without a limit has no deadline.
        let [Some(first), Some(second)] = bench.cloud.deadlines_of("create a")[..] else {
            panic!("{:?}", bench.cloud.deadlines_of("create a"))
        };
        assert_eq!(first, Duration::from_secs(60));
        let between = bench.cloud.times_of("create a")[1] - bench.cloud.times_of("create a")[0];
        assert!(
            second.abs_diff(first - between) <= Duration::from_millis(1),
            "{second:?} {between:?}"
        );
        assert_eq!(bench.cloud.deadlines_of("create c"), [None]);
        assert_eq!(bench.apply(Some(LIMITED)).await.ended(), Some(Ready));
        // Questions have a deadline, too.
        assert!(
            bench
                .cloud
                .deadlines_of("read c")
                .iter()
                .all(Option::is_some)
        );
        assert!(!bench.cloud.deadlines_of("read c").is_empty());
    });
}

#[test]
fn call_that_ignores_cancellation_is_left_to_the_next_plan() {
    run_with_paused_clock(async {
        let mut bench = PolicyHarness::new();
        bench.settings.on_failure = engine::apply::OnFailure::KeepGoing;
        bench.script_faults("create a", [ScriptedFault::IgnoresCancel]);
        let ran = bench.apply(Some(LIMITED)).await;
        assert_eq!(ran.ended(), Some(Failed));
        assert_eq!(ran.elapsed, Duration::from_secs(60 + 20));
        let left: Vec<String> = ran
            .outcome()
            .left_in_flight
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(left, ["a"]);
        assert_eq!(bench.statuses().await, ["c: create ready", "a: open"]);
        let (staged, found) = bench.stage(Some(LIMITED), Options::default()).await;
        assert!(
            said(&found)
                .iter()
                .any(|it| it.starts_with("note interrupted")),
            "{:?}",
            said(&found)
        );
        assert_eq!(
            bench.run(staged.expect("a plan")).await.ended(),
            Some(Ready)
        );
    });
}

#[test]
fn call_that_times_out_in_the_queue_is_not_retried() {
    run_with_paused_clock(async {
        let mut bench = PolicyHarness::new();
        bench.settings.parallelism = 1;
        bench.settings.on_failure = engine::apply::OnFailure::KeepGoing;
        bench.script_faults("create a", refusals(1, ErrorKind::Transient));
        bench.script_faults("create c", [ScriptedFault::Takes(Duration::from_secs(300))]);
        let ran = bench.apply(Some(LIMITED)).await;
        assert_eq!(
            ran.said(),
            ["error not-stable: the create of `a` was not done within 1m 0s"]
        );
        assert_eq!(bench.cloud.times_of("create a").len(), 1);
    });
}

#[test]
fn failure_cancels_other_calls_after_two_minutes() {
    for (accident, elapsed, statuses) in [
        (
            ScriptedFault::Takes(Duration::from_secs(100)),
            100,
            ["a: create failed", "c: create ready"],
        ),
        (
            ScriptedFault::Hangs,
            120,
            ["a: create failed", "c: create failed"],
        ),
        (
            ScriptedFault::IgnoresCancel,
            120 + 20,
            ["a: create failed", "c: open"],
        ),
    ] {
        run_with_paused_clock(async {
            let bench = PolicyHarness::new();
            bench.script_faults("create a", refusals(1, ErrorKind::Permanent));
            bench.script_faults("create c", [accident]);
            let ran = bench.apply(Some(LIMITED)).await;
            assert_eq!(
                (ran.ended(), ran.elapsed),
                (Some(Failed), Duration::from_secs(elapsed))
            );
            assert_eq!(bench.statuses().await, statuses);
            assert_eq!(bench.apply(Some(LIMITED)).await.ended(), Some(Ready));
        });
    }
}

/// Two links that write into one role, one after the other.
const LINKED: &str = "
version: 2023-04-20
resources:
  fn:
    type: test/function
    linkSelector: {byLabel: {app: x}}
    spec: {name: f, role: \"${role.spec.id}\"}
  b: {type: test/bucket, metadata: {labels: {app: x}}, spec: {name: media}}
  c: {type: test/bucket, metadata: {labels: {app: x}}, spec: {name: more}}
  role: {type: test/role, metadata: {annotations: {cyan.timeout.update: 1m}}, spec: {name: r}}
";

#[test]
fn link_call_has_the_time_limit_of_an_update_and_blocks_other_writers() {
    for (accident, updates, elapsed) in [
        (ScriptedFault::Hangs, 2, 60),
        (ScriptedFault::IgnoresCancel, 1, 60 + 20),
    ] {
        run_with_paused_clock(async {
            let mut bench = PolicyHarness::new();
            bench.settings.on_failure = engine::apply::OnFailure::KeepGoing;
            bench.script_faults("update role", [accident]);
            let ran = bench.apply(Some(LINKED)).await;
            assert_eq!(
                (ran.ended(), ran.elapsed),
                (Some(Failed), Duration::from_secs(elapsed))
            );
            let late = "was not done within 1m 0s";
            assert!(
                ran.said()
                    .iter()
                    .any(|it| it.contains("not-stable") && it.contains(late)),
                "{:?}",
                ran.said()
            );
            assert_eq!(
                bench.cloud.times_of("update role").len(),
                updates,
                "{:#?}",
                ran.events
            );
            let open = bench.statuses().await.iter().any(|it| it == "role: open");
            assert_eq!(open, updates == 1);
            // The next run does the remaining work.
            assert_eq!(bench.apply(Some(LINKED)).await.ended(), Some(Ready));
            let (staged, _) = bench.stage(Some(LINKED), Options::default()).await;
            assert!(staged.expect("a plan").plan.is_empty());
        });
    }
}

#[test]
fn calls_are_cancelled_and_awaited_after_the_store_fails() {
    for (accident, elapsed, left) in [
        (ScriptedFault::Hangs, 10, 0),
        (ScriptedFault::IgnoresCancel, 10 + 20, 1),
    ] {
        run_with_paused_clock(async {
            let bench = PolicyHarness::new();
            bench.script_faults("create a", [accident]);
            bench.script_faults("create c", [ScriptedFault::Takes(Duration::from_secs(10))]);
            let (staged, _) = bench.stage(Some(LIMITED), Options::default()).await;
            let taking_over = async {
                tokio::time::sleep(Duration::from_secs(5)).await;
                let store = bench.harness.store();
                store
                    .unlock(&bench.harness.name)
                    .await
                    .expect("it is there");
                store
                    .lease(&bench.harness.name, "bob@test", LEASE)
                    .await
                    .expect("the lease is free")
            };
            let (ran, _) = tokio::join!(bench.run(staged.expect("a plan")), taking_over);
            assert_eq!(
                ran.elapsed,
                Duration::from_secs(elapsed),
                "{:?}",
                ran.operated
            );
            let Operated::Aborted(lost) = &ran.operated else {
                panic!("{:?}", ran.operated)
            };
            assert_eq!(lost.left_in_flight.len(), left);
        });
    }
}

#[test]
fn failed_link_is_recorded_as_far_as_known() {
    run_with_paused_clock(async {
        let bench = PolicyHarness::new();
        bench.script_faults("update role", refusals(2, ErrorKind::Permanent));
        // The contribution of the link to the function is known only during the run.
        let text = LINKED.replace("name: media", "name: \"${role.spec.id}\"");
        assert_eq!(bench.apply(Some(&text)).await.ended(), Some(Failed));
        let link: blueprint::Address = "fn::b".parse().expect("an address");
        let snapshot = bench.harness.snapshot().await;
        assert_eq!(snapshot.records[&link].status.to_string(), "create failed");
        assert_eq!(
            snapshot.records[&link].inputs.to_string(),
            r#"{"notes": {"access": "read"}, "with": []}"#
        );
    });
}

#[test]
fn deposed_resource_is_deleted_by_a_later_run() {
    run_with_paused_clock(async {
        let bench = PolicyHarness::new();
        bench.apply(Some(CLUSTER)).await;
        bench.script_faults("delete cluster", refusals(1, ErrorKind::Permanent));
        let moved = CLUSTER.replace("name: main", "name: main, zone: west");
        assert_eq!(bench.apply(Some(&moved)).await.ended(), Some(Failed));
        let ran = bench.apply(Some(&moved)).await;
        assert_eq!(ran.ended(), Some(Ready), "{:?}", ran.said());
        assert_eq!(bench.cloud.times_of("delete cluster").len(), 2);
    });
}

#[test]
fn deposed_resource_is_deleted_after_its_last_user() {
    run_with_paused_clock(async {
        let bench = PolicyHarness::new();
        let site = "  site: {type: test/app, spec: {cluster: \"${resources.cluster.spec.id}\"}}\n";
        bench.apply(Some(&format!("{CLUSTER}{site}"))).await;
        // The new cluster exists, and the site still uses the old one.
        bench.script_faults("update site", refusals(1, ErrorKind::Permanent));
        let moved = CLUSTER.replace("name: main", "name: main, zone: west");
        assert_eq!(
            bench.apply(Some(&format!("{moved}{site}"))).await.ended(),
            Some(Failed)
        );
        bench.script_faults(
            "delete site",
            [ScriptedFault::Takes(Duration::from_secs(10))],
        );
        let ran = bench.apply(Some(&moved)).await;
        assert_eq!(ran.ended(), Some(Ready), "{:?}", ran.said());
        let at = |call| bench.cloud.times_of(call)[0];
        assert_eq!(
            at("delete cluster") - at("delete site"),
            Duration::from_secs(10)
        );
    });
}

#[test]
fn last_error_of_a_call_is_kept_when_the_operation_stops() {
    let two = "
version: 2023-04-20
resources:
  a: {type: test/data, spec: {input: 1}}
  b: {type: test/data, spec: {input: 2}}
";
    run_with_paused_clock(async {
        let bench = PolicyHarness::new();
        let refused = ProviderError::new(ErrorKind::Transient, "connection refused");
        bench.script_faults("create a", vec![ScriptedFault::Refused(refused)]);
        bench.script_faults("create b", refusals(1, ErrorKind::Permanent));
        let ran = bench.apply(Some(two)).await;
        let notes: Vec<&String> = ran
            .outcome()
            .diagnostics
            .iter()
            .filter(|one| one.message.contains("`a`"))
            .flat_map(|one| &one.notes)
            .collect();
        assert_eq!(
            notes,
            ["connection refused; not tried again, because the operation is stopping"]
        );
    });
}
