//! How long a run takes: as long as its work and its longest path need, and no longer.

use std::fmt::Write as _;
use std::time::Duration;

use engine::{Options, plan_file};
use state::OperationOutcome::{Gone, Ready};

use crate::cloud::Accident;
use crate::{Bench, lately};

const MILLI: Duration = Duration::from_millis(1);

/// Many things that need nothing, and behind them in the document a chain of a few.
fn chain_behind_many(many: usize, chain: usize, input: &str) -> String {
    let mut text = String::from("version: 2023-04-20\nresources:\n");
    for number in 0..many {
        let _ = writeln!(text, "  r{number}: {{type: test/data, spec: {{input: \"{input}\"}}}}");
    }
    for number in 0..chain {
        let reads = match number {
            0 => String::new(),
            _ => format!(", dependsOn: c{}", number - 1),
        };
        let _ = writeln!(text, "  c{number}: {{type: test/data{reads}, spec: {{input: \"{input}\"}}}}");
    }
    text
}

/// Lets all calls of these verbs take so long, for `r` and for `c`.
fn all_take(bench: &Bench, verbs: &[&str], many: usize, chain: usize, takes: [Duration; 2]) {
    for verb in verbs {
        for number in 0..many {
            bench.accidents(&format!("{verb} r{number}"), [Accident::Takes(takes[0])]);
        }
        for number in 0..chain {
            bench.accidents(&format!("{verb} c{number}"), [Accident::Takes(takes[1])]);
        }
    }
}

#[test]
fn the_longest_path_comes_first_once_it_is_known() {
    lately(async {
        let mut bench = Bench::new();
        bench.settings.parallelism = 10;
        let takes = [Duration::from_secs(1), Duration::from_secs(5)];
        // 100 s of work for ten, and a chain of 10 s.
        all_take(&bench, &["create", "update", "delete"], 90, 2, takes);
        let first = bench.apply(Some(&chain_behind_many(90, 2, "one"))).await;
        // Nobody knew: the chain begins when everything before it has.
        assert_eq!((first.ended(), first.took), (Some(Ready), Duration::from_secs(9 + 10)));
        let second = bench.apply(Some(&chain_behind_many(90, 2, "two"))).await;
        assert_eq!((second.ended(), second.took), (Some(Ready), Duration::from_secs(10)));
        let snapshot = bench.harness.snapshot().await;
        let took = |address: &str| snapshot.records[&address.parse::<blueprint::Address>().expect("an address")].took;
        assert_eq!((took("r7"), took("c1")), (1_000, 5_000));
        // Deletes go the other way; what takes long to make is expected to take long to take away.
        let third = bench.apply(None).await;
        assert_eq!((third.ended(), third.took), (Some(Gone), Duration::from_secs(10)));
    });
}

#[test]
fn what_is_new_is_expected_to_take_as_long_as_others_of_its_type() {
    lately(async {
        let mut bench = Bench::new();
        bench.settings.parallelism = 2;
        let text = |more: &str| {
            let one = "version: 2023-04-20\nresources:\n  a: {type: test/data, spec: {input: 1}}\n";
            format!("{one}  b: {{type: test/bucket, spec: {{name: b}}}}\n{more}")
        };
        bench.accidents("create a", [Accident::Takes(Duration::from_secs(1))]);
        bench.accidents("create b", [Accident::Takes(Duration::from_secs(8))]);
        assert_eq!(bench.apply(Some(&text(""))).await.ended(), Some(Ready));
        // Eight short ones and then one that will take as long as they do together.
        let mut more = String::new();
        for number in 0..8 {
            let _ = writeln!(more, "  r{number}: {{type: test/data, spec: {{input: 1}}}}");
        }
        more.push_str("  c0: {type: test/bucket, spec: {name: c}}\n");
        all_take(&bench, &["create"], 8, 1, [Duration::from_secs(1), Duration::from_secs(8)]);
        assert_eq!(bench.apply(Some(&text(&more))).await.took, Duration::from_secs(8));
    });
}

#[test]
fn what_a_provider_has_no_room_for_is_served_by_the_longest_path_too() {
    lately(async {
        let mut bench = Bench::with(|catalog| catalog.max_parallel = 2);
        bench.settings.parallelism = 100;
        all_take(&bench, &["create", "update"], 10, 2, [Duration::from_secs(1), Duration::from_secs(5)]);
        assert_eq!(bench.apply(Some(&chain_behind_many(10, 2, "one"))).await.took, Duration::from_secs(15));
        assert_eq!(bench.apply(Some(&chain_behind_many(10, 2, "two"))).await.took, Duration::from_secs(10));
    });
}

#[test]
fn how_long_things_took_changes_no_plan() {
    let plan = |takes: Duration| {
        lately(async move {
            let bench = Bench::new();
            all_take(&bench, &["create"], 20, 5, [takes, takes]);
            assert_eq!(bench.apply(Some(&chain_behind_many(20, 5, "one"))).await.ended(), Some(Ready));
            let known = bench.harness.snapshot().await.records.values().filter(|record| record.took > 0).count();
            let mut plans = Vec::new();
            for text in
                [chain_behind_many(20, 5, "one"), chain_behind_many(20, 5, "two"), chain_behind_many(3, 1, "one")]
            {
                let (staged, _) = bench.stage(Some(&text), Options::default()).await;
                let mut plan = staged.expect("a plan").plan;
                plan.answers.now = 0;
                plans.push(plan_file::write(&plan, &bench.harness.sealer()).expect("it can be written"));
            }
            (known, plans)
        })
    };
    // Less than this is not worth remembering.
    let (known, with) = plan(MILLI * 10);
    let (unknown, without) = plan(MILLI * 9);
    assert_eq!((known, unknown), (25, 0));
    assert!(with == without);
}

/// A thousand things, each of which needs three of the layer before it.
fn layered(layers: usize, width: usize) -> String {
    let mut text = String::from("version: 2023-04-20\nresources:\n");
    for layer in 0..layers {
        for number in 0..width {
            let mut input = vec![format!("\"{layer}\"")];
            if layer > 0 {
                let of =
                    |step: usize| format!("\"${{resources.l{}x{}.spec.id}}\"", layer - 1, (number * 3 + step) % width);
                input.extend((0..3).map(of));
            }
            let _ = writeln!(text, "  l{layer}x{number}: {{type: test/data, spec: {{input: [{}]}}}}", input.join(", "));
        }
    }
    text
}

/// How much longer than ideal a run takes in which every call takes 50 ms: a part of one.
fn beyond_ideal(text: &str, names: &[String], parallelism: usize, ideal: Duration) -> f64 {
    lately(async {
        let mut bench = Bench::new();
        bench.settings.parallelism = parallelism;
        for name in names {
            bench.accidents(&format!("create {name}"), [Accident::Takes(50 * MILLI)]);
        }
        let ran = bench.apply(Some(text)).await;
        assert_eq!(ran.ended(), Some(Ready));
        assert!(bench.cloud.most_at_once() <= parallelism);
        ran.took.as_secs_f64() / ideal.as_secs_f64() - 1.0
    })
}

#[test]
fn a_thousand_things_take_no_longer_than_their_work_shared_out() {
    let names: Vec<String> = (0..1_000).map(|number| format!("r{number}")).collect();
    let text = chain_behind_many(1_000, 0, "one");
    for (parallelism, most) in [(10, 0.05), (100, 0.15)] {
        let ideal = 50 * MILLI * u32::try_from(1_000 / parallelism).expect("few");
        let beyond = beyond_ideal(&text, &names, parallelism, ideal);
        assert!((0.0..=most).contains(&beyond), "{parallelism}: {beyond}");
    }
}

#[test]
fn layers_take_no_longer_than_one_thing_of_each() {
    let (layers, width) = (10, 100);
    let names: Vec<String> =
        (0..layers).flat_map(|layer| (0..width).map(move |number| format!("l{layer}x{number}"))).collect();
    let text = layered(layers, width);
    for (parallelism, waves, most) in [(10, 100, 0.05), (100, 10, 0.15), (1_000, 10, 0.15)] {
        let beyond = beyond_ideal(&text, &names, parallelism, 50 * MILLI * waves);
        assert!((-0.001..=most).contains(&beyond), "{parallelism}: {beyond}");
    }
}
