//! A provider that takes few calls at once.

use engine::{Event, Given};
use state::OperationOutcome;
use testkit::lab::{Lab, settings};

use super::{codes, lab, lately, stage};

const CATALOGUE: &str = r#"{ "format": 1, "namespace": "narrow", "maxParallel": 2,
  "resourceTypes": { "narrow/gate": { "idField": "id", "fields": {
    "name": { "kind": "string", "required": true },
    "id": { "kind": "string", "computed": true, "value": "gate-{hash}" } } } } }"#;

/// Twelve things of the narrow provider, of which every third turns out not to be there, and twelve of another.
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

async fn deploy(lab: &Lab, text: &str, parallel: usize) -> (Option<OperationOutcome>, [u64; 4], usize) {
    let staged = stage(lab, text, Given::default()).await;
    let told = codes(&staged);
    let Some(staged) = staged.staged else { panic!("no plan: {told:?}") };
    let run = lab.run(staged, false, Vec::new(), settings(Some(parallel), false)).await;
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
    (outcome.outcome, outcome.counts, most)
}

#[test]
fn what_it_has_no_room_for_waits_and_holds_nobody_up() {
    for parallel in [1, 2, 3, 16] {
        lately(async {
            let lab = lab(&[CATALOGUE]);
            let (outcome, counts, most) = deploy(&lab, DOCUMENT, parallel).await;
            assert_eq!((outcome, counts), (Some(OperationOutcome::Ready), [21, 0, 0, 0]), "{parallel} at once");
            assert!(most <= 2, "{most} calls at once, with {parallel} allowed and 2 taken");
        });
    }
}
