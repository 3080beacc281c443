//! Refresh: reads in parallel; a failed read does not stop the others.

use std::time::Duration;

use engine::{Adoption, DriftPolicy, Options};
use provider::ErrorKind;
use state::Counts;
use state::OperationOutcome::{Failed, Gone, Ready};
use testkit::harness::run_with_paused_clock;
use testkit::policies::{PolicyHarness, ScriptedFault, refusals, said};

const COUNT: usize = 2_000;

fn many(input: impl Fn(usize) -> usize) -> String {
    let mut text = String::from("version: 2023-04-20\nresources:\n");
    for number in 0..COUNT {
        text.push_str(&format!(
            "  r{number}: {{type: test/data, spec: {{input: {}}}}}\n",
            input(number)
        ));
    }
    text
}

/// A bench in which every hundredth read is refused permanently, and every tenth resource has
/// drifted.
async fn harness_with_faults() -> PolicyHarness {
    let bench = PolicyHarness::new();
    assert_eq!(
        bench.apply(Some(&many(|number| number))).await.ended(),
        Some(Ready)
    );
    for number in (0..COUNT).step_by(100) {
        bench.script_faults(
            &format!("read r{number}"),
            refusals(1, ErrorKind::Permanent),
        );
    }
    {
        let mut world = bench
            .harness
            .world
            .lock()
            .expect("no thread panics with it");
        for number in (0..COUNT).step_by(10) {
            assert_eq!(
                world.set("case", &format!("r{number}"), "input", 7_777.into()),
                Ok(())
            );
        }
    }
    bench.cloud.clear_log();
    bench
}

#[test]
fn reads_run_in_parallel_up_to_a_limit() {
    run_with_paused_clock(async {
        let bench = harness_with_faults().await;
        for number in 0..COUNT {
            bench.script_faults(
                &format!("read r{number}"),
                vec![ScriptedFault::Takes(Duration::from_millis(100)); 2],
            );
        }
        let begun = bench.started_at.elapsed();
        let (staged, _) = bench
            .stage(Some(&many(|number| number)), Options::default())
            .await;
        assert!(staged.is_some());
        assert_eq!(bench.cloud.most_at_once(), 128);
        // 16 waves. In the first one some reads are refused at once.
        let elapsed = bench.started_at.elapsed() - begun;
        assert!(
            elapsed >= Duration::from_millis(1_500) && elapsed <= Duration::from_millis(1_600),
            "{elapsed:?}"
        );
    });
}

#[test]
fn slow_read_delays_no_other_read() {
    run_with_paused_clock(async {
        let bench = harness_with_faults().await;
        bench.script_faults("read r1", [ScriptedFault::Takes(Duration::from_secs(60))]);
        let begun = bench.started_at.elapsed();
        assert!(
            bench
                .stage(Some(&many(|number| number)), Options::default())
                .await
                .0
                .is_some()
        );
        assert_eq!(bench.started_at.elapsed() - begun, Duration::from_secs(60));
        let last = bench
            .cloud
            .log()
            .into_iter()
            .filter(|(_, call)| call.starts_with("read"))
            .map(|(at, _)| at)
            .max();
        assert_eq!(last, Some(begun), "the others waited for it");
    });
}

#[test]
fn unreadable_resource_is_planned_as_recorded_with_a_warning() {
    run_with_paused_clock(async {
        let bench = harness_with_faults().await;
        let (staged, found) = bench
            .stage(Some(&many(|number| number)), Options::default())
            .await;
        let said = said(&found);
        assert_eq!(
            said,
            ["warning provider-failed: `r0` and 19 other resources cannot be read"]
        );
        let staged = staged.expect("a plan");
        // 20 of the 200 drifted resources could not be read.
        assert_eq!(
            (staged.plan.drift.len(), staged.plan.counts()),
            (180, Counts::from([0, 180, 0, 0]))
        );
        assert_eq!(staged.plan.answers.unread.len(), 20);
        assert!(staged.plan.unread_but_needed().is_empty());
        assert_eq!(bench.run(staged).await.ended(), Some(Ready));
        // The next refresh reads the rest.
        let (staged, found) = bench
            .stage(Some(&many(|number| number)), Options::default())
            .await;
        assert_eq!(
            (staged.expect("a plan").plan.counts(), found.len()),
            (Counts::from([0, 20, 0, 0]), 0)
        );
    });
}

#[test]
fn plan_that_changes_an_unreadable_resource_is_shown_and_refused() {
    run_with_paused_clock(async {
        let bench = harness_with_faults().await;
        let text = many(|number| if number == 300 { 0 } else { number });
        let (staged, found) = bench.stage(Some(&text), Options::default()).await;
        let messages = said(&found);
        assert_eq!(
            messages,
            [
                "error provider-failed: `r300` cannot be read",
                "warning provider-failed: `r0` and 18 other resources cannot be read"
            ]
        );
        let staged = staged.expect("a plan to look at");
        assert_eq!(staged.plan.counts(), Counts::from([0, 181, 0, 0]));
        let needed: Vec<String> = staged
            .plan
            .unread_but_needed()
            .into_iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(needed, ["r300"]);
        bench.cloud.clear_log();
        let ran = bench.run(staged).await;
        assert!(
            matches!(ran.operated, engine::run::Operated::Refused(_)),
            "{:?}",
            ran.operated
        );
        assert!(bench.cloud.log().is_empty());
    });
}

#[test]
fn drift_policy_refuse_needs_every_read() {
    run_with_paused_clock(async {
        let bench = PolicyHarness::new();
        assert_eq!(
            bench.apply(Some(&many(|number| number))).await.ended(),
            Some(Ready)
        );
        bench.script_faults("read r5", refusals(1, ErrorKind::Permanent));
        let options = Options {
            drift: DriftPolicy::Refuse,
            ..Options::default()
        };
        let (staged, found) = bench.stage(Some(&many(|number| number)), options).await;
        assert_eq!(said(&found), ["error provider-failed: `r5` cannot be read"]);
        assert_eq!(
            staged
                .expect("a plan to look at")
                .plan
                .unread_but_needed()
                .len(),
            1
        );
    });
}

#[test]
fn forced_destroy_needs_no_reads() {
    run_with_paused_clock(async {
        let bench = harness_with_faults().await;
        let (staged, found) = bench.stage(None, Options::default()).await;
        assert_eq!(
            said(&found),
            ["error provider-failed: `r0` and 19 other resources cannot be read"]
        );
        assert_eq!(
            staged
                .expect("a plan to look at")
                .plan
                .unread_but_needed()
                .len(),
            20
        );
        for number in (0..COUNT).step_by(100) {
            bench.script_faults(
                &format!("read r{number}"),
                refusals(1, ErrorKind::Permanent),
            );
        }
        let (staged, found) = bench
            .stage(
                None,
                Options {
                    force: true,
                    ..Options::default()
                },
            )
            .await;
        assert_eq!(
            said(&found),
            ["note provider-failed: `r0` and 19 other resources cannot be read"]
        );
        bench.run(staged.expect("a plan")).await;
        assert!(bench.statuses().await.is_empty());
    });
}

#[test]
fn drift_report_names_unreadable_resources() {
    run_with_paused_clock(async {
        let bench = harness_with_faults().await;
        let mut found = diag::Diagnostics::new();
        let snapshot = bench.harness.snapshot().await;
        let shell = bench.shell();
        let mut looked =
            engine::drift(&snapshot, &bench.harness.catalogs, &shell, &mut found).await;
        assert_eq!((looked.drifted.len(), looked.unread.len()), (180, 20));
        assert_eq!(
            said(&found),
            ["error provider-failed: `r0` and 19 other resources cannot be read"]
        );
        let only = [
            "r100".parse().expect("an address"),
            "r110".parse().expect("an address"),
        ];
        engine::retain_addresses(&mut looked, &only, &snapshot, &mut found);
        assert_eq!((looked.drifted.len(), looked.unread.len()), (1, 1));
    });
}

#[test]
fn plan_does_not_depend_on_the_order_of_answers() {
    let plan = |takes: fn(usize) -> u64| {
        run_with_paused_clock(async move {
            let bench = harness_with_faults().await;
            for number in 0..COUNT {
                let takes = Duration::from_millis(takes(number));
                bench.script_faults(
                    &format!("read r{number}"),
                    vec![ScriptedFault::Takes(takes); 2],
                );
            }
            let (staged, _) = bench
                .stage(Some(&many(|number| number)), Options::default())
                .await;
            let staged = staged.expect("a plan");
            let mut plan = staged.plan;
            // The plans differ in their start time.
            plan.answers.now = 0;
            let steps: Vec<String> = plan.steps.iter().map(|step| format!("{step:?}")).collect();
            (steps, format!("{:?}", plan.answers))
        })
    };
    assert!(plan(|_| 5) == plan(|number| (number as u64 * 7_919) % 997));
}

#[test]
fn interrupted_call_must_be_settled_first() {
    run_with_paused_clock(async {
        let mut bench = PolicyHarness::new();
        bench.interrupts = vec![(Duration::from_secs(1), engine::run::Interrupt::Immediate)];
        bench.script_faults("create r5", [ScriptedFault::Hangs]);
        let ran = bench.apply(Some(&many(|number| number))).await;
        assert!(matches!(ran.operated, engine::run::Operated::Aborted(_)));
        bench.script_faults("read r5", refusals(1, ErrorKind::Permanent));
        for refresh in [true, false] {
            bench.script_faults("read r5", refusals(1, ErrorKind::Permanent));
            let options = Options {
                refresh: refresh.into(),
                ..Options::default()
            };
            let (staged, found) = bench.stage(Some(&many(|number| number)), options).await;
            assert!(staged.is_none());
            assert_eq!(
                said(&found)[0],
                "error needs-attention: the outcome of the create of `r5` is not known"
            );
        }
    });
}

#[test]
fn reason_for_a_required_read_is_reported() {
    let text = |input: u8| {
        format!(
            "version: 2023-04-20\nresources:\n  a: {{type: test/data, spec: {{input: {input}}}}}\n"
        )
    };
    for (drift, why) in [
        (DriftPolicy::Refuse, "whether it has drifted is not known"),
        (Options::default().drift, "the plan would change it"),
    ] {
        run_with_paused_clock(async {
            let bench = PolicyHarness::new();
            bench.apply(Some(&text(1))).await;
            bench.script_faults("read a", refusals(1, ErrorKind::Permanent));
            let (_, found) = bench
                .stage(
                    Some(&text(2)),
                    Options {
                        drift,
                        ..Options::default()
                    },
                )
                .await;
            let errors: Vec<&str> = found
                .iter()
                .flat_map(|it| &it.help)
                .map(AsRef::as_ref)
                .collect();
            assert!(
                errors.len() == 1 && errors[0].starts_with(why),
                "{errors:?}"
            );
        });
    }
}

#[test]
fn target_of_a_link_must_be_readable() {
    let one = "version: 2023-04-20
resources:
  fn:
    type: test/function
    linkSelector: {byLabel: {app: x}}
    spec: {name: f, role: \"${role.spec.id}\"}
  b: {type: test/bucket, metadata: {labels: {app: x}}, spec: {name: media}}
  role: {type: test/role, spec: {name: r}}
";
    let two = format!(
        "{one}  c: {{type: test/bucket, metadata: {{labels: {{app: x}}}}, spec: {{name: more}}}}\n"
    );
    run_with_paused_clock(async {
        let bench = PolicyHarness::new();
        assert_eq!(bench.apply(Some(one)).await.ended(), Some(Ready));
        for (text, needed) in [(one, vec![]), (two.as_str(), vec!["role"])] {
            bench.script_faults("read role", refusals(1, ErrorKind::Permanent));
            let (staged, found) = bench.stage(Some(text), Options::default()).await;
            let plan = staged.expect("a plan").plan;
            let found_needed: Vec<String> = plan
                .unread_but_needed()
                .iter()
                .map(ToString::to_string)
                .collect();
            assert_eq!(found_needed, needed);
            assert_eq!(found.has_errors(), !needed.is_empty());
        }
    });
}

const TWO: &str = "version: 2023-04-20\nresources:\n  a: {type: test/data, spec: {input: 1}}\n  \
                   b: {type: test/data, spec: {input: 2}}\n";

/// A refusal has a known outcome, also while the operation stops because of another refusal. The
/// next plan does not search for the resource.
#[test]
fn two_refused_creates_leave_no_search() {
    run_with_paused_clock(async {
        let bench = PolicyHarness::new();
        for name in ["a", "b"] {
            bench.script_faults(&format!("create {name}"), refusals(2, ErrorKind::Permanent));
        }
        for _ in 0..2 {
            assert_eq!(bench.apply(Some(TWO)).await.ended(), Some(Failed));
        }
        for name in ["a", "b"] {
            bench.script_faults(&format!("read {name}"), refusals(9, ErrorKind::Permanent));
        }
        let (staged, found) = bench.stage(Some(TWO), Options::default()).await;
        assert_eq!(said(&found), [""; 0]);
        assert_eq!(
            bench.run(staged.expect("a plan")).await.ended(),
            Some(Ready)
        );
    });
}

/// A create failed but may have taken effect, and its resource cannot be searched for. Each command
/// that the help names works.
#[test]
fn failed_create_without_a_search_blocks_nothing() {
    let a = || -> blueprint::Address { "a".parse().expect("an address") };
    let adopted = || Adoption {
        address: a(),
        id: Some("data-1".into()),
    };
    let reconcile = || Options {
        reconcile: true,
        ..Options::default()
    };
    let ways: [(&str, Options, bool); 5] = [
        (
            "deploy --no-refresh",
            Options {
                refresh: false.into(),
                ..Options::default()
            },
            true,
        ),
        (
            "destroy --no-refresh",
            Options {
                refresh: false.into(),
                ..Options::default()
            },
            false,
        ),
        (
            "reconcile --retry",
            Options {
                undone: vec![a()],
                ..reconcile()
            },
            false,
        ),
        (
            "reconcile --forget",
            Options {
                forgotten: vec![a()],
                ..reconcile()
            },
            false,
        ),
        (
            "reconcile --adopt",
            Options {
                adopted: vec![adopted()],
                ..reconcile()
            },
            false,
        ),
    ];
    for (way, options, deploys) in ways {
        run_with_paused_clock(async {
            let bench = PolicyHarness::new();
            // The last try is refused permanently. An earlier try may have taken effect.
            bench.script_faults("create a", refusals(1, ErrorKind::Transient));
            bench.script_faults("create a", refusals(1, ErrorKind::Permanent));
            assert_eq!(bench.apply(Some(TWO)).await.ended(), Some(Failed), "{way}");
            bench.script_faults("read a", refusals(99, ErrorKind::Permanent));
            for document in [Some(TWO), None] {
                let (staged, found) = bench.stage(document, Options::default()).await;
                assert!(staged.is_none(), "{way}");
                let message = "error provider-failed: `a` cannot be read: it is not known whether its failed create was carried out";
                assert_eq!(said(&found), [message], "{way}");
                let help = found
                    .iter()
                    .next()
                    .map(|one| one.help.join("\n"))
                    .unwrap_or_default();
                let last = way.split(' ').next_back().unwrap_or_default();
                assert!(help.contains(last) || last == "--retry", "{way}: {help}");
            }
            let (staged, found) = bench.stage(deploys.then_some(TWO), options).await;
            let ran = bench
                .run(staged.unwrap_or_else(|| panic!("{way}: {:?}", said(&found))))
                .await;
            assert!(
                matches!(ran.ended(), Some(Ready | Gone)),
                "{way}: {:?}",
                ran.operated
            );
            let there = bench.harness.snapshot().await.records.contains_key(&a());
            assert_eq!(
                there,
                deploys || !matches!(way, "destroy --no-refresh" | "reconcile --forget"),
                "{way}"
            );
        });
    }
}
