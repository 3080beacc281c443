//! Kinds of links of a catalogue of one's own: requirements that only a deploy can tell, and contributions known only
//! then (reference 3.2).

use std::fmt::Write as _;

use blueprint::Address;
use engine::{Event, Given};
use testkit::lab::{Lab, Run, settings};

use super::{codes, lab, lately, stage};

/// A kind whose requirement reads what the provider draws, and which orders nothing by itself.
fn catalogue(zone: &str) -> String {
    format!(
        r#"{{ "format": 1, "namespace": "shop",
          "resourceTypes": {{
            "shop/app": {{ "idField": "id", "fields": {{
              "name": {{ "kind": "string", "required": true }},
              "environment": {{ "kind": "map", "values": {{ "kind": "string" }} }},
              "id": {{ "kind": "string", "computed": true, "value": "app-{{hash}}" }} }} }},
            "shop/store": {{ "idField": "id", "fields": {{
              "name": {{ "kind": "string", "required": true }},
              "clients": {{ "kind": "array", "items": {{ "kind": "string" }} }},
              "zone": {{ "kind": "string", "computed": true, "value": "{zone}" }},
              "id": {{ "kind": "string", "computed": true, "value": "store-{{hash}}" }} }} }} }},
          "linkKinds": [ {{
            "a": "shop/app", "b": "shop/store", "order": "none",
            "require": [ {{ "that": "${{eq(b.spec.zone, \"north\")}}", "say": "`${{b.name}}` lies in `${{b.spec.zone}}`" }} ],
            "effects": [
              {{ "into": "a", "put": "environment", "key": "STORE", "value": "${{b.name}}" }},
              {{ "into": "b", "add": "clients", "when": "after", "value": "${{a.spec.id}}" }} ],
            "data": {{ "zone": "${{b.spec.zone}}", "of": "${{a.spec.id}}" }} }} ] }}"#
    )
}

const DOCUMENT: &str = "version: 2023-04-20
resources:
  app: { type: shop/app, linkSelector: { byLabel: { app: x } }, spec: { name: a } }
  store: { type: shop/store, metadata: { labels: { app: x } }, spec: { name: s } }
  reader: { type: test/data, spec: { input: \"${link(app, store)}\" } }
";

async fn deploy(lab: &Lab, text: &str) -> Run {
    let staged = stage(lab, text, Given::default()).await;
    let told = codes(&staged);
    let Some(staged) = staged.staged else { panic!("no plan: {told:?}") };
    lab.run(staged, false, Vec::new(), settings(None, false)).await
}

/// What was done, in order.
fn done(run: &Run) -> String {
    let mut text = String::new();
    for event in &run.events {
        if let Event::Done { address, operation, .. } = event {
            let _ = write!(text, "{} {address}; ", operation.word());
        }
    }
    text
}

#[test]
fn a_requirement_that_only_a_deploy_can_tell_is_looked_at_before_anything_is_written() {
    lately(async {
        let lab = lab(&[&catalogue("north")]);
        let run = deploy(&lab, DOCUMENT).await;
        assert_eq!(done(&run), "create store; create app; update app::store/b; create reader; ");
        let again = stage(&lab, DOCUMENT, Given::default()).await.staged.expect("a plan");
        assert!(again.plan.is_empty() && again.plan.writes_nothing(&again.snapshot));
    });
    lately(async {
        let lab = lab(&[&catalogue("south")]);
        let run = deploy(&lab, DOCUMENT).await;
        assert_eq!(done(&run), "create store; ", "the app is never sent with what the link writes into it");
        let outcome = run.outcome().expect("it was carried out");
        let said: Vec<(&str, &str)> =
            outcome.diagnostics.iter().map(|it| (it.code.name, it.message.as_str())).collect();
        assert_eq!(said, [("link-requirement", "the link `app::store` cannot be made: `store` lies in `south`")]);
        assert!(!lab.snapshot().await.records.contains_key(&Address::root("app")));
    });
}
