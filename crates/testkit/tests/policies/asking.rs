//! Questions that only a run can put: who asks them, how often, and that they count as calls.

use std::time::Duration;

use engine::Event;
use engine::shell::Interrupt;
use provider::ErrorKind;
use state::OperationOutcome::{Failed, Interrupted, Ready};

use crate::cloud::{Accident, times};
use crate::{Bench, lately};

/// What is exported is searched for by something that the run makes; nobody else reads it.
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

#[test]
fn what_the_exported_values_ask_for_is_asked_again_and_not_for_ever() {
    for (refused, made, ended) in [(2, 3, Ready), (6, 6, Failed)] {
        lately(async {
            let bench = Bench::new();
            bench.accidents("fetch data", times(refused, ErrorKind::Transient));
            let ran = bench.apply(Some(EXPORTED)).await;
            assert_eq!(ran.ended(), Some(ended), "{:?}", ran.said());
            assert_eq!(bench.cloud.times_of("fetch data").len(), made);
            let exports = bench.lab.snapshot().await.exports;
            assert_eq!(exports.contains_key("name"), ended == Ready, "{exports:?}");
        });
    }
}

#[test]
fn a_question_is_a_call_that_is_waited_for() {
    lately(async {
        let mut bench = Bench::new();
        bench.interrupts = vec![(Duration::from_secs(10), Interrupt::Gently)];
        bench.accidents("fetch data", [Accident::Takes(Duration::from_secs(60))]);
        let reader = "  b: {type: test/data, spec: {input: \"${datasources.net.name}\"}}\ndatasources:";
        let ran = bench.apply(Some(&EXPORTED.replace("datasources:\n", &format!("{reader}\n")))).await;
        assert_eq!((ran.ended(), ran.took), (Some(Interrupted), Duration::from_secs(60)));
        let draining = ran.events.iter().find_map(|event| match event {
            Event::Draining { running } => Some(*running),
            _ => None,
        });
        assert_eq!(draining, Some(1));
    });
}

#[test]
fn a_search_that_only_a_run_can_put_fails_where_nobody_can_answer_it() {
    lately(async {
        let mut bench = Bench::new();
        let other = r#"{"format": 1, "namespace": "far", "dataSourceTypes": {"far/net": {
            "filter": {"name": {"type": "string"}}, "fields": {"name": {"kind": "string"}}}}}"#;
        let other = std::sync::Arc::new(provider::read_catalog(other).expect("a catalogue"));
        let (catalogs, functions, _) = provider::combine([providers::fake::catalog(), other]);
        (bench.lab.catalogs, bench.lab.functions) = (catalogs.into(), functions.into());
        let ran = bench.apply(Some(&EXPORTED.replace("test/network", "far/net"))).await;
        assert_eq!(ran.ended(), Some(Failed));
        assert_eq!(ran.said()[0], "error no-provider: there is no provider for `far` here yet");
    });
}
