//! A provider with a low limit of concurrent calls.

use engine::{Event, Given};
use providers::fake::{FaultKind, ScriptedFault, When};
use state::OperationOutcome;
use testkit::harness::{Harness, run_with_paused_clock, settings};
use testkit::single_document::{codes, harness, stage};

const CATALOGUE: &str = r#"{ "format": 1, "namespace": "narrow", "maxParallel": 2,
  "resourceTypes": { "narrow/gate": { "idField": "id", "fields": {
    "name": { "kind": "string", "required": true },
    "id": { "kind": "string", "computed": true, "value": "gate-{hash}" } } } } }"#;

/// Twelve resources of the limited provider, every third of which turns out absent, and twelve of
/// another provider.
const DOCUMENT: &str = "version: 2023-04-20
resources:
  first: { type: test/data, spec: { input: 1 } }
  gate:
    type: narrow/gate
    each: '${split(\"a,b,data,d,e,data,g,h,data,j,k,data\", \",\")}'
    condition: '${not(eq(elem, substr(first.spec.id, 0, 4)))}'
    spec: { name: '${elem}${first.spec.id}' }
  never:
    type: narrow/gate
    each: '${split(\"a,b,c,d,e,f\", \",\")}'
    condition: '${eq(elem, first.spec.id)}'
    spec: { name: '${elem}' }
  wide: { type: test/data, each: '${split(\"a,b,c,d,e,f,g,h,i,j,k,l\", \",\")}', spec: { input: '${elem}' } }
";

async fn deploy(
    harness: &Harness,
    text: &str,
    parallel: usize,
) -> (Option<OperationOutcome>, [u64; 4], usize) {
    let staged = stage(harness, text, Given::default()).await;
    let reported = codes(&staged);
    let Some(staged) = staged.staged else {
        panic!("no plan: {reported:?}")
    };
    let run = harness
        .run(staged, false, Vec::new(), settings(Some(parallel), false))
        .await;
    let mut under_way = std::collections::BTreeSet::new();
    let mut most = 0;
    for event in &run.events {
        match event {
            Event::Started { address, .. } if address.name.as_ref() == "gate" => {
                under_way.insert(address.clone());
            }
            Event::Done { address, .. } => {
                under_way.remove(address);
            }
            _ => {}
        }
        most = most.max(under_way.len());
    }
    let outcome = run.outcome().expect("it came to an end");
    (outcome.outcome, outcome.counts.into(), most)
}

#[test]
fn queued_calls_delay_no_other_provider() {
    for parallel in [1, 2, 3, 16] {
        run_with_paused_clock(async {
            let harness = harness(&[CATALOGUE]);
            let (outcome, counts, most) = deploy(&harness, DOCUMENT, parallel).await;
            assert_eq!(
                (outcome, counts),
                (Some(OperationOutcome::Ready), [21, 0, 0, 0]),
                "{parallel} at once"
            );
            assert!(
                most <= 2,
                "{most} calls at once, with {parallel} allowed and 2 taken"
            );
        });
    }
}

/// The number of open intents after a run that ended during the create of this address, with four
/// calls at once.
async fn left_open(harness: &Harness, text: &str, at: &str) -> usize {
    let staged = stage(harness, text, Given::default()).await;
    let reported = codes(&staged);
    let Some(staged) = staged.staged else {
        panic!("no plan: {reported:?}")
    };
    let kind = FaultKind::Crash {
        when: When::Before,
        untraceable: false,
    };
    let fault = ScriptedFault {
        on: Some(provider::Operation::Create),
        at: at.into(),
        skip: 0,
        times: 1,
        kind,
    };
    let run = harness
        .run(staged, false, vec![fault], settings(Some(4), false))
        .await;
    assert!(run.operated.is_none(), "it did not crash");
    harness.snapshot().await.open.len()
}

#[test]
fn open_intents_keep_the_limit_of_calls() {
    let list =
        "${split(\"a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s,t,u,v,w,x,y,z,1,2,3,4,5,6,7,8\", \",\")}";
    for spec in ["input: '${elem}'", "input: '${elem}', delayMs: 50"] {
        let text = format!(
            "version: 2023-04-20\nresources:\n  thing: {{ type: test/data, each: '{list}', spec: {{ {spec} }} }}\n"
        );
        run_with_paused_clock(async {
            let open = left_open(&harness(&[]), &text, "thing[16]").await;
            assert!((1..=4).contains(&open), "{open}");
        });
    }
}

#[test]
fn many_calls_at_once_cost_no_more_than_few() {
    let list = vec!["a"; 1_000].join(",");
    let text = format!(
        "version: 2023-04-20\nresources:\n  thing: {{ type: test/data, each: '${{split(\"{list}\", \",\")}}', spec: {{ input: '${{i}}' }} }}\n"
    );
    run_with_paused_clock(async {
        let (outcome, counts, _) = deploy(&harness(&[]), &text, 300).await;
        assert_eq!(
            (outcome, counts),
            (Some(OperationOutcome::Ready), [1_000, 0, 0, 0])
        );
    });
}
