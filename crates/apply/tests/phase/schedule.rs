//! The duration of a run: not longer than its total work and its longest path require.

use std::fmt::Write as _;
use std::time::Duration;

use engine::{Options, plan_file};
use state::OperationOutcome::{Gone, Ready};
use testkit::harness::run_with_paused_clock;
use testkit::policies::{PolicyHarness, ScriptedFault};

const MILLI: Duration = Duration::from_millis(1);

/// A document with many independent resources, and a short chain after them.
fn chain_behind_many(many: usize, chain: usize, input: &str) -> String {
    let mut text = String::from("version: 2023-04-20\nresources:\n");
    for number in 0..many {
        let _ = writeln!(
            text,
            "  r{number}: {{type: test/data, spec: {{input: \"{input}\"}}}}"
        );
    }
    for number in 0..chain {
        let reads = match number {
            0 => String::new(),
            _ => format!(", dependsOn: c{}", number - 1),
        };
        let _ = writeln!(
            text,
            "  c{number}: {{type: test/data{reads}, spec: {{input: \"{input}\"}}}}"
        );
    }
    text
}

/// Sets the duration of all calls of these verbs, for `r` and for `c`.
fn all_take(
    bench: &PolicyHarness,
    verbs: &[&str],
    many: usize,
    chain: usize,
    takes: [Duration; 2],
) {
    for verb in verbs {
        for number in 0..many {
            bench.script_faults(
                &format!("{verb} r{number}"),
                [ScriptedFault::Takes(takes[0])],
            );
        }
        for number in 0..chain {
            bench.script_faults(
                &format!("{verb} c{number}"),
                [ScriptedFault::Takes(takes[1])],
            );
        }
    }
}

#[test]
fn longest_path_goes_first_once_durations_are_known() {
    run_with_paused_clock(async {
        let mut bench = PolicyHarness::new();
        bench.settings.parallelism = 10;
        let takes = [Duration::from_secs(1), Duration::from_secs(5)];
        // 100 s of work for ten calls at once, and a chain of 10 s.
        all_take(&bench, &["create", "update", "delete"], 90, 2, takes);
        let first = bench.apply(Some(&chain_behind_many(90, 2, "one"))).await;
        // Durations are unknown: the chain starts after everything before it in the document has
        // started.
        assert_eq!(
            (first.ended(), first.elapsed),
            (Some(Ready), Duration::from_secs(9 + 10))
        );
        let second = bench.apply(Some(&chain_behind_many(90, 2, "two"))).await;
        assert_eq!(
            (second.ended(), second.elapsed),
            (Some(Ready), Duration::from_secs(10))
        );
        let snapshot = bench.harness.snapshot().await;
        let elapsed = |address: &str| {
            snapshot.records[&address.parse::<blueprint::Address>().expect("an address")]
                .duration_ms
        };
        assert_eq!((elapsed("r7"), elapsed("c1")), (1_000, 5_000));
        // Deletes run in the opposite order. A slow create predicts a slow delete.
        let third = bench.apply(None).await;
        assert_eq!(
            (third.ended(), third.elapsed),
            (Some(Gone), Duration::from_secs(10))
        );
    });
}

#[test]
fn new_resource_is_expected_to_take_as_long_as_its_type() {
    run_with_paused_clock(async {
        let mut bench = PolicyHarness::new();
        bench.settings.parallelism = 2;
        let text = |more: &str| {
            let one = "version: 2023-04-20\nresources:\n  a: {type: test/data, spec: {input: 1}}\n";
            format!("{one}  b: {{type: test/bucket, spec: {{name: b}}}}\n{more}")
        };
        bench.script_faults("create a", [ScriptedFault::Takes(Duration::from_secs(1))]);
        bench.script_faults("create b", [ScriptedFault::Takes(Duration::from_secs(8))]);
        assert_eq!(bench.apply(Some(&text(""))).await.ended(), Some(Ready));
        // Eight short resources, and one that takes as long as all of them together.
        let mut more = String::new();
        for number in 0..8 {
            let _ = writeln!(more, "  r{number}: {{type: test/data, spec: {{input: 1}}}}");
        }
        more.push_str("  c0: {type: test/bucket, spec: {name: c}}\n");
        all_take(
            &bench,
            &["create"],
            8,
            1,
            [Duration::from_secs(1), Duration::from_secs(8)],
        );
        assert_eq!(
            bench.apply(Some(&text(&more))).await.elapsed,
            Duration::from_secs(8)
        );
    });
}

#[test]
fn queued_calls_start_in_the_order_of_the_longest_path() {
    run_with_paused_clock(async {
        let mut bench = PolicyHarness::with(|catalog| catalog.max_parallel = 2);
        bench.settings.parallelism = 100;
        all_take(
            &bench,
            &["create", "update"],
            10,
            2,
            [Duration::from_secs(1), Duration::from_secs(5)],
        );
        assert_eq!(
            bench
                .apply(Some(&chain_behind_many(10, 2, "one")))
                .await
                .elapsed,
            Duration::from_secs(15)
        );
        assert_eq!(
            bench
                .apply(Some(&chain_behind_many(10, 2, "two")))
                .await
                .elapsed,
            Duration::from_secs(10)
        );
    });
}

#[test]
fn recorded_durations_do_not_change_plans() {
    let plan = |takes: Duration| {
        run_with_paused_clock(async move {
            let bench = PolicyHarness::new();
            all_take(&bench, &["create"], 20, 5, [takes, takes]);
            assert_eq!(
                bench
                    .apply(Some(&chain_behind_many(20, 5, "one")))
                    .await
                    .ended(),
                Some(Ready)
            );
            let known = bench
                .harness
                .snapshot()
                .await
                .records
                .values()
                .filter(|record| record.duration_ms > 0)
                .count();
            let mut plans = Vec::new();
            for text in [
                chain_behind_many(20, 5, "one"),
                chain_behind_many(20, 5, "two"),
                chain_behind_many(3, 1, "one"),
            ] {
                let (staged, _) = bench.stage(Some(&text), Options::default()).await;
                let mut plan = staged.expect("a plan").plan;
                plan.answers.now = 0;
                plans.push(
                    plan_file::write(&plan, &bench.harness.sealer()).expect("it can be written"),
                );
            }
            (known, plans)
        })
    };
    // Shorter durations are not recorded.
    let (known, with) = plan(MILLI * 10);
    let (unknown, without) = plan(MILLI * 9);
    assert_eq!((known, unknown), (25, 0));
    assert!(with == without);
}

/// A thousand resources, each of which reads three of the layer before it.
fn layered(layers: usize, width: usize) -> String {
    let mut text = String::from("version: 2023-04-20\nresources:\n");
    for layer in 0..layers {
        for number in 0..width {
            let mut input = vec![format!("\"{layer}\"")];
            if layer > 0 {
                let of = |step: usize| {
                    format!(
                        "\"${{resources.l{}x{}.spec.id}}\"",
                        layer - 1,
                        (number * 3 + step) % width
                    )
                };
                input.extend((0..3).map(of));
            }
            let _ = writeln!(
                text,
                "  l{layer}x{number}: {{type: test/data, spec: {{input: [{}]}}}}",
                input.join(", ")
            );
        }
    }
    text
}

/// The excess over the ideal duration, as a fraction of the ideal, of a run in which every call
/// takes 50 ms.
fn excess_duration(text: &str, names: &[String], parallelism: usize, ideal: Duration) -> f64 {
    run_with_paused_clock(async {
        let mut bench = PolicyHarness::new();
        bench.settings.parallelism = parallelism;
        for name in names {
            bench.script_faults(
                &format!("create {name}"),
                [ScriptedFault::Takes(50 * MILLI)],
            );
        }
        let ran = bench.apply(Some(text)).await;
        assert_eq!(ran.ended(), Some(Ready));
        assert!(bench.cloud.most_at_once() <= parallelism);
        ran.elapsed.as_secs_f64() / ideal.as_secs_f64() - 1.0
    })
}

#[test]
fn thousand_resources_take_as_long_as_their_shared_work() {
    let names: Vec<String> = (0..1_000).map(|number| format!("r{number}")).collect();
    let text = chain_behind_many(1_000, 0, "one");
    for (parallelism, most) in [(10, 0.05), (100, 0.15)] {
        let ideal = 50 * MILLI * u32::try_from(1_000 / parallelism).expect("few");
        let beyond = excess_duration(&text, &names, parallelism, ideal);
        assert!((0.0..=most).contains(&beyond), "{parallelism}: {beyond}");
    }
}

#[test]
fn layers_take_as_long_as_one_resource_of_each() {
    let (layers, width) = (10, 100);
    let names: Vec<String> = (0..layers)
        .flat_map(|layer| (0..width).map(move |number| format!("l{layer}x{number}")))
        .collect();
    let text = layered(layers, width);
    for (parallelism, waves, most) in [(10, 100, 0.05), (100, 10, 0.15), (1_000, 10, 0.15)] {
        let beyond = excess_duration(&text, &names, parallelism, 50 * MILLI * waves);
        assert!((-0.001..=most).contains(&beyond), "{parallelism}: {beyond}");
    }
}
