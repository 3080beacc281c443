//! Questions that can be asked only during a run: when they are asked, how often, and that they
//! count as calls.

use std::time::Duration;

use engine::Event;
use engine::run::Interrupt;
use provider::ErrorKind;
use state::OperationOutcome::{Failed, Interrupted, Ready};
use testkit::harness::run_with_paused_clock;
use testkit::policies::{PolicyHarness, ScriptedFault, refusals};

/// A document in which an export searches by a value that the run creates. No resource reads the
/// result.
const EXPORTED: &str = "
version: 2023-04-20
resources:
  a: {type: test/data, spec: {input: vpc-1}}
datasources:
  net:
    type: test/network
    filter: {field: name, operator: \"!=\", search: \"${resources.a.spec.id}\"}
    exports: {name: {type: string}}
exports:
  name: {type: string, field: datasources.net.name}
";

/// A document in which an export calls a function with a value that the run creates.
const CALLED: &str = "
version: 2023-04-20
values:
  word: {type: string, value: \"${jsonencode(test_settings(resources.a.spec.id))}\"}
resources:
  a: {type: test/data, spec: {input: vpc-1}}
exports:
  name: {type: string, field: values.word}
";

#[test]
fn questions_of_exports_are_retried_for_a_limited_time() {
    for (text, call) in [(EXPORTED, "fetch data"), (CALLED, "call function")] {
        for (refused, made, ended) in [(2, 3, Ready), (6, 6, Failed)] {
            run_with_paused_clock(async {
                let bench = PolicyHarness::new();
                bench.script_faults(call, refusals(refused, ErrorKind::Transient));
                let ran = bench.apply(Some(text)).await;
                assert_eq!(ran.ended(), Some(ended), "{call}: {:?}", ran.said());
                assert_eq!(bench.cloud.times_of(call).len(), made, "{call}");
                let exports = bench.harness.snapshot().await.exports;
                assert_eq!(
                    exports.contains_key("name"),
                    ended == Ready,
                    "{call}: {exports:?}"
                );
            });
        }
    }
}

#[test]
fn invalid_value_that_only_exports_read_fails_the_run() {
    run_with_paused_clock(async {
        let bench = PolicyHarness::new();
        assert_eq!(bench.apply(Some(CALLED)).await.ended(), Some(Ready));
        let before = bench.harness.snapshot().await.exports;
        let wrong = CALLED.replace(
            "jsonencode(test_settings(resources.a.spec.id))",
            "jsondecode(resources.a.spec.id)",
        );
        let ran = bench
            .apply(Some(
                &wrong
                    .replace("vpc-1", "vpc-2")
                    .replace("  a:", "  b:")
                    .replace(".a.", ".b."),
            ))
            .await;
        assert_eq!(
            (ran.ended(), ran.said()),
            (
                Some(Failed),
                vec!["error json-invalid: the text is not JSON".to_owned()]
            )
        );
        assert_eq!(
            bench.harness.snapshot().await.exports,
            before,
            "the former ones are kept"
        );
    });
}

#[test]
fn invalid_search_is_not_sent() {
    run_with_paused_clock(async {
        let bench = PolicyHarness::new();
        let text = EXPORTED.replace("resources.a.spec.id}", "jsondecode(resources.a.spec.id)}");
        let reader =
            "  b: {type: test/data, spec: {input: \"${datasources.net.name}\"}}\ndatasources:";
        let ran = bench
            .apply(Some(
                &text.replace("datasources:\n", &format!("{reader}\n")),
            ))
            .await;
        assert_eq!(ran.ended(), Some(Failed));
        assert_eq!(ran.said(), ["error json-invalid: the text is not JSON"]);
        assert!(bench.cloud.times_of("fetch data").is_empty());
        assert_eq!(bench.statuses().await, ["a: create ready"]);
    });
}

#[test]
fn run_waits_for_questions_as_for_calls() {
    run_with_paused_clock(async {
        let mut bench = PolicyHarness::new();
        bench.interrupts = vec![(Duration::from_secs(10), Interrupt::Graceful)];
        bench.script_faults(
            "fetch data",
            [ScriptedFault::Takes(Duration::from_secs(60))],
        );
        let reader =
            "  b: {type: test/data, spec: {input: \"${datasources.net.name}\"}}\ndatasources:";
        let ran = bench
            .apply(Some(
                &EXPORTED.replace("datasources:\n", &format!("{reader}\n")),
            ))
            .await;
        assert_eq!(
            (ran.ended(), ran.elapsed),
            (Some(Interrupted), Duration::from_secs(60))
        );
        let draining = ran.events.iter().find_map(|event| match event {
            Event::Draining { running } => Some(*running),
            _ => None,
        });
        assert_eq!(draining, Some(1));
    });
}

#[test]
fn search_during_a_run_fails_without_an_answer() {
    run_with_paused_clock(async {
        let mut bench = PolicyHarness::new();
        let other = r#"{"format": 1, "namespace": "far", "dataSourceTypes": {"far/net": {
            "filter": {"name": {"type": "string"}}, "fields": {"name": {"kind": "string"}}}}}"#;
        let other = std::sync::Arc::new(provider::read_catalog(other).expect("a catalogue"));
        let (catalogs, functions, _) = provider::combine([providers::fake::catalog(), other]);
        (bench.harness.catalogs, bench.harness.functions) = (catalogs.into(), functions.into());
        let ran = bench
            .apply(Some(&EXPORTED.replace("test/network", "far/net")))
            .await;
        assert_eq!(ran.ended(), Some(Failed));
        assert_eq!(
            ran.said()[0],
            "error no-provider: there is no provider for `far` here yet"
        );
    });
}
