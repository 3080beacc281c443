//! Rates and concurrency limits of catalogues.

use std::fmt::Write as _;
use std::time::Duration;

use engine::Options;
use provider::Rate;
use state::OperationOutcome::{Gone, Ready};
use testkit::harness::run_with_paused_clock;
use testkit::policies::{PolicyHarness, ScriptedFault, refusals};

fn wide(count: usize) -> String {
    let mut text = String::from("version: 2023-04-20\nresources:\n");
    for number in 0..count {
        let _ = writeln!(
            text,
            "  r{number}: {{type: test/data, spec: {{input: {number}}}}}"
        );
    }
    text
}

/// The largest number of calls within any interval of this length, including its start and
/// excluding its end.
fn most_within(mut at: Vec<Duration>, stretch: Duration) -> usize {
    at.sort_unstable();
    let mut most = 0;
    let mut first = 0;
    for last in 0..at.len() {
        while at[last] - at[first] >= stretch {
            first += 1;
        }
        most = most.max(last + 1 - first);
    }
    most
}

fn all(bench: &PolicyHarness) -> Vec<Duration> {
    bench.cloud.log().into_iter().map(|(at, _)| at).collect()
}

#[test]
fn calls_use_the_full_rate_of_the_catalogue() {
    run_with_paused_clock(async {
        let second = Duration::from_secs(1);
        let bench = PolicyHarness::with(|catalog| catalog.rate = Rate::new(10.0, Some(5)));
        let text = wide(105);
        assert_eq!(bench.apply(Some(&text)).await.ended(), Some(Ready));
        let made = all(&bench);
        assert_eq!(made.len(), 105);
        // A burst, then ten calls a second.
        assert!(most_within(made.clone(), second) <= 15, "{made:?}");
        let elapsed = *made.iter().max().expect("a call") - made[0];
        assert!(
            elapsed >= second * 99 / 10 && elapsed <= second * 105 / 10,
            "{elapsed:?}"
        );
        // The rate holds for reads and deletes, too.
        bench.cloud.clear_log();
        let (staged, _) = bench.stage(Some(&text), Options::default()).await;
        assert!(staged.expect("a plan").plan.is_empty());
        let made = all(&bench);
        assert_eq!(made.len(), 105);
        assert!(most_within(made.clone(), second) <= 15, "{made:?}");
        let elapsed = *made.iter().max().expect("a read") - made[0];
        assert!(
            elapsed >= second * 99 / 10 && elapsed <= second * 105 / 10,
            "{elapsed:?}"
        );
        bench.cloud.clear_log();
        assert_eq!(bench.apply(None).await.ended(), Some(Gone));
        let deletes = bench
            .cloud
            .log()
            .into_iter()
            .filter(|(_, call)| call.starts_with("delete"));
        assert!(most_within(deletes.map(|(at, _)| at).collect(), second) <= 15);
    });
}

#[test]
fn polls_and_retries_count_as_calls() {
    run_with_paused_clock(async {
        let second = Duration::from_secs(1);
        let bench = PolicyHarness::with(|catalog| catalog.rate = Rate::new(2.0, Some(1)));
        let mut text = String::from("version: 2023-04-20\nresources:\n");
        for number in 0..10 {
            let _ = writeln!(
                text,
                "  c{number}: {{type: test/cluster, spec: {{name: n{number}}}}}"
            );
            bench.script_faults(
                &format!("create c{number}"),
                refusals(2, provider::ErrorKind::Throttled),
            );
        }
        let ran = bench.apply(Some(&text)).await;
        assert_eq!(ran.ended(), Some(Ready), "{:?}", ran.said());
        let made = all(&bench);
        assert!(made.len() >= 40, "{made:?}");
        assert!(most_within(made.clone(), second) <= 3, "{made:?}");
        assert!(
            bench
                .cloud
                .log()
                .iter()
                .any(|(_, call)| call.starts_with("stable"))
        );
    });
}

#[test]
fn many_polls_share_the_rate() {
    run_with_paused_clock(async {
        let second = Duration::from_secs(1);
        let bench = PolicyHarness::with(|catalog| catalog.rate = Rate::new(1.0, Some(1)));
        let mut text = String::from("version: 2023-04-20\nresources:\n");
        for number in 0..30 {
            let _ = writeln!(
                text,
                "  c{number}: {{type: test/cluster, spec: {{name: n{number}}}}}"
            );
            bench.script_faults(
                &format!("unsettled c{number}"),
                vec![ScriptedFault::None; 8],
            );
        }
        let ran = bench.apply(Some(&text)).await;
        assert_eq!(ran.ended(), Some(Ready), "{:?}", ran.said());
        let made = all(&bench);
        assert_eq!(made.len(), 30 + 30 * 9);
        assert!(most_within(made, second) <= 2);
    });
}

/// Twenty data sources and their readers. Every second source can be read only after a create.
fn data_sources_with_readers() -> String {
    let mut text = String::from("version: 2023-04-20\ndatasources:\n");
    for number in 0..20 {
        let search = if number % 2 == 0 {
            "\"none\""
        } else {
            "\"${resources.a.spec.id}\""
        };
        let _ = writeln!(
            text,
            "  d{number}: {{type: test/network, filter: {{field: name, operator: \"!=\", search: {search}}}, exports: {{name: {{type: string}}}}}}"
        );
    }
    text.push_str("resources:\n  a: {type: test/data, spec: {input: 1}}\n");
    for number in 0..20 {
        let _ = writeln!(
            text,
            "  r{number}: {{type: test/data, spec: {{input: \"${{datasources.d{number}.name}}\"}}}}"
        );
    }
    text
}

#[test]
fn questions_keep_the_rate_while_planning_and_running() {
    run_with_paused_clock(async {
        let second = Duration::from_secs(1);
        let bench = PolicyHarness::with(|catalog| catalog.rate = Rate::new(1.0, Some(1)));
        let text = data_sources_with_readers();
        let ran = bench.apply(Some(&text)).await;
        assert_eq!(ran.ended(), Some(Ready), "{:?}", ran.said());
        let made = all(&bench);
        assert_eq!(bench.cloud.times_of("fetch data").len(), 20);
        // Planning and carrying out each start with a full bucket.
        assert!(most_within(made.clone(), second) <= 3, "{made:?}");
        assert!(made[made.len() - 1] >= second * 38, "{made:?}");
    });
}

#[test]
fn concurrent_calls_keep_the_limit_of_the_provider() {
    run_with_paused_clock(async {
        let bench = PolicyHarness::with(|catalog| catalog.max_parallel = 3);
        let text = wide(50);
        for number in 0..50 {
            let takes = ScriptedFault::Takes(Duration::from_secs(1));
            bench.script_faults(&format!("create r{number}"), [takes.clone()]);
            bench.script_faults(&format!("read r{number}"), [takes]);
        }
        let ran = bench.apply(Some(&text)).await;
        assert_eq!((ran.ended(), bench.cloud.most_at_once()), (Some(Ready), 3));
        assert_eq!(ran.elapsed, Duration::from_secs(17));
        bench.cloud.clear_log();
        let begun = bench.started_at.elapsed();
        assert!(
            bench
                .stage(Some(&text), Options::default())
                .await
                .0
                .is_some()
        );
        assert_eq!(bench.cloud.most_at_once(), 3);
        assert_eq!(bench.started_at.elapsed() - begun, Duration::from_secs(17));
    });
}

#[test]
fn concurrent_questions_keep_the_limit_of_the_provider() {
    run_with_paused_clock(async {
        let bench = PolicyHarness::with(|catalog| catalog.max_parallel = 3);
        bench.script_faults(
            "fetch data",
            vec![ScriptedFault::Takes(Duration::from_secs(1)); 20],
        );
        let begun = bench.started_at.elapsed();
        let (staged, _) = bench
            .stage(Some(&data_sources_with_readers()), Options::default())
            .await;
        assert_eq!(
            (
                bench.cloud.most_at_once(),
                bench.started_at.elapsed() - begun
            ),
            (3, Duration::from_secs(4))
        );
        bench.cloud.clear_log();
        let ran = bench.run(staged.expect("a plan")).await;
        assert_eq!((ran.ended(), bench.cloud.most_at_once()), (Some(Ready), 3));
        assert_eq!(ran.elapsed, Duration::from_secs(4));
    });
}
