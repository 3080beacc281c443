//! Link kinds of a test's own catalogue: requirements and contributions that are known only on
//! deploy (decisions/links#kinds-are-data).

use std::fmt::Write as _;

use blueprint::Address;
use engine::{Event, Given, Options};
use testkit::harness::{Harness, RunResult, run_with_paused_clock, settings};
use testkit::single_document::{codes, harness, stage};

/// A catalogue with a link kind whose requirement reads a value that the provider generates, and
/// which sets no order.
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

async fn deploy(harness: &Harness, text: &str) -> RunResult {
    let staged = stage(harness, text, Given::default()).await;
    let reported = codes(&staged);
    let Some(staged) = staged.staged else {
        panic!("no plan: {reported:?}")
    };
    harness
        .run(staged, false, Vec::new(), settings(None, false))
        .await
}

/// The completed calls in order.
fn done(run: &RunResult) -> String {
    let mut text = String::new();
    for event in &run.events {
        if let Event::Done {
            address, operation, ..
        } = event
        {
            let _ = write!(text, "{} {address}; ", operation.word());
        }
    }
    text
}

#[test]
fn requirement_known_on_deploy_is_checked_before_any_write() {
    run_with_paused_clock(async {
        let harness = harness(&[&catalogue("north")]);
        let run = deploy(&harness, DOCUMENT).await;
        assert_eq!(
            done(&run),
            "create store; create app; update app::store/b; create reader; "
        );
        let again = stage(&harness, DOCUMENT, Given::default())
            .await
            .staged
            .expect("a plan");
        assert!(again.plan.is_empty() && again.plan.writes_nothing(&again.snapshot));
    });
    run_with_paused_clock(async {
        let harness = harness(&[&catalogue("south")]);
        let run = deploy(&harness, DOCUMENT).await;
        assert_eq!(
            done(&run),
            "create store; ",
            "the app is never sent with what the link writes into it"
        );
        let outcome = run.outcome().expect("it was carried out");
        let said: Vec<(&str, &str)> = outcome
            .diagnostics
            .iter()
            .map(|it| (it.code.name, it.message.as_str()))
            .collect();
        assert_eq!(
            said,
            [(
                "link-requirement",
                "the link `app::store` cannot be made: `store` lies in `south`"
            )]
        );
        assert!(
            !harness
                .snapshot()
                .await
                .records
                .contains_key(&Address::root("app"))
        );
    });
}

#[test]
fn link_with_unknown_requirements_fails() {
    run_with_paused_clock(async {
        let said_of = |catalogue: String| {
            catalogue.replace(
                "\"zone\": \"${b.spec.zone}\"",
                "\"zone\": \"${fromjson(b.spec.zone, '/at')}\"",
            )
        };
        let harness = harness(&[&said_of(catalogue("north"))]);
        let run = deploy(&harness, DOCUMENT).await;
        assert_eq!(
            done(&run),
            "create store; create app; update app::store/b; ",
            "who reads the link is not made"
        );
        let outcome = run.outcome().expect("it was carried out");
        assert_eq!(outcome.outcome, Some(state::OperationOutcome::Failed));
        let said: Vec<(&str, &str)> = outcome
            .diagnostics
            .iter()
            .map(|it| (it.code.name, it.message.as_str()))
            .collect();
        assert_eq!(said, [("json-invalid", "the text is not JSON")]);
        let failed = run
            .events
            .iter()
            .filter(|it| matches!(it, Event::Failed { address, .. } if address.link.is_some()));
        assert_eq!(failed.count(), 1);
        let link: Address = "app::store".parse().expect("an address");
        assert_eq!(
            harness.snapshot().await.records[&link].status.to_string(),
            "create failed"
        );
    });
}

#[test]
fn link_is_made_without_its_absent_resource() {
    for (zone, made) in [
        (
            "north",
            "create app; create store; create app::store/ticket; update app::store/b; create reader; ",
        ),
        (
            "south",
            "create app; create store; update app::store/b; create reader; ",
        ),
    ] {
        run_with_paused_clock(async {
            let parts = r#""parts": { "ticket": { "type": "shop/app", "if": "${eq(b.spec.zone, \"north\")}", "spec": { "name": "t" } } }, "effects""#;
            let all = catalogue(zone).replace("\"effects\"", parts);
            // The link kind has no requirement about the zone.
            let all = all.replace(
                "${eq(b.spec.zone, \\\"north\\\")}\", \"say\"",
                "${true}\", \"say\"",
            );
            let harness = harness(&[&all]);
            let run = deploy(&harness, DOCUMENT).await;
            assert_eq!(done(&run), made);
            let again = stage(&harness, DOCUMENT, Given::default())
                .await
                .staged
                .expect("a plan");
            assert!(again.plan.is_empty() && again.plan.writes_nothing(&again.snapshot));
        });
    }
}

#[test]
fn first_end_of_a_link_is_recorded_as_a_dependency() {
    let text = "version: 2023-04-20
resources:
  b: { type: test/bucket, metadata: { labels: { app: x } }, spec: { name: b } }
  role: { type: test/role, linkSelector: { byLabel: { app: x } }, spec: { name: r } }
";
    run_with_paused_clock(async {
        let harness = harness(&[]);
        assert_eq!(
            done(&deploy(&harness, text).await),
            "create role; create b; "
        );
        let records = harness.snapshot().await.records;
        let used = |address: &str| records[&Address::root(address)].dependencies.clone();
        assert_eq!(
            (used("b"), used("role")),
            (vec![Address::root("role")], Vec::new())
        );
        let staged = harness
            .stage_destroy(Options::default())
            .await
            .staged
            .expect("a plan");
        let run = harness
            .run(staged, false, Vec::new(), settings(None, false))
            .await;
        assert_eq!(done(&run), "delete b; delete role; ");
    });
    // The dependency is recorded also if the link writes nothing.
    let text = "version: 2023-04-20
resources:
  one: { type: test/function, linkSelector: { byLabel: { app: x } }, spec: { name: one } }
  two: { type: test/function, metadata: { labels: { app: x } }, spec: { name: two } }
";
    run_with_paused_clock(async {
        let harness = harness(&[]);
        assert_eq!(
            done(&deploy(&harness, text).await),
            "create two; create one; "
        );
        let records = harness.snapshot().await.records;
        assert_eq!(
            records[&Address::root("one")].dependencies,
            [Address::root("two")]
        );
        assert_eq!(records[&Address::root("two")].dependencies, []);
    });
    // If both ends are templates with `each`, a member depends only on its partner.
    let text = text.replace(
        "spec: { name: one }",
        "each: \"${list('a', 'b')}\", spec: { name: \"${elem}\" }",
    );
    let text = text.replace(
        "spec: { name: two }",
        "each: \"${list('a', 'b')}\", spec: { name: \"${elem}\" }",
    );
    run_with_paused_clock(async {
        let harness = harness(&[]);
        deploy(&harness, &text).await;
        let records = harness.snapshot().await.records;
        let member = |name: &str, at: u32| Address::root(name).with_key(blueprint::Key::Index(at));
        for at in [0, 1] {
            assert_eq!(
                records[&member("one", at)].dependencies,
                [member("two", at)]
            );
            assert_eq!(records[&member("two", at)].dependencies, []);
        }
    });
}

#[test]
fn former_contributions_of_a_link_are_removed() {
    run_with_paused_clock(async {
        let all = catalogue("north").replace(
            "\"value\": \"${a.spec.id}\"",
            "\"value\": \"${if(eq(a.spec.name, 'a'), a.spec.id, none)}\"",
        );
        let harness = harness(&[&all]);
        deploy(&harness, DOCUMENT).await;
        let clients = async || {
            harness.snapshot().await.records[&Address::root("store")]
                .inputs
                .get("clients")
                .cloned()
        };
        assert!(
            clients()
                .await
                .is_some_and(|clients| clients.to_string() == r#"["app-a0dc9ca0"]"#)
        );
        let run = deploy(&harness, &DOCUMENT.replace("name: a }", "name: c }")).await;
        assert_eq!(done(&run), "update app; update app::store/b; ");
        assert!(
            clients()
                .await
                .is_none_or(|clients| clients.to_string() == "[]")
        );
    });
}

#[test]
fn requirement_of_a_known_field_waits_for_nothing() {
    run_with_paused_clock(async {
        let all = catalogue("north").replace(
            "eq(b.spec.zone, \\\"north\\\")",
            "eq(b.spec.name, \\\"s\\\")",
        );
        let harness = harness(&[&all]);
        let run = deploy(&harness, DOCUMENT).await;
        assert_eq!(
            done(&run),
            "create app; create store; update app::store/b; create reader; "
        );
        assert_eq!(
            harness.snapshot().await.records[&Address::root("app")].dependencies,
            []
        );
    });
}

#[test]
fn contributions_for_a_replaced_resource_are_removed() {
    run_with_paused_clock(async {
        let all = catalogue("north").replacen(
            "\"required\": true",
            "\"required\": true, \"mustRecreate\": true",
            1,
        );
        let harness = harness(&[&all]);
        deploy(&harness, DOCUMENT).await;
        let clients = async || {
            harness.snapshot().await.records[&Address::root("store")]
                .inputs
                .get("clients")
                .cloned()
        };
        let app = async || {
            blueprint::Value::Text(
                harness.snapshot().await.records[&Address::root("app")]
                    .id
                    .clone(),
            )
        };
        let first = app().await;
        assert_eq!(
            clients().await,
            Some(blueprint::Value::list([first.clone()]))
        );
        deploy(&harness, &DOCUMENT.replace("name: a }", "name: c }")).await;
        let second = app().await;
        assert_ne!(first, second);
        assert_eq!(clients().await, Some(blueprint::Value::list([second])));
    });
}

#[test]
fn link_does_not_overwrite_an_item_of_the_document() {
    let rules = r#""rules": { "kind": "array", "items": { "kind": "object", "fields": {
        "sid": { "kind": "string", "required": true }, "allow": { "kind": "string" } } } }, "clients""#;
    let effect = r#""add": "rules", "by": "sid", "when": "after", "value": "${object(sid = a.spec.id, allow = a.name)}""#;
    let all = catalogue("north")
        .replace("\"clients\":", &format!("{rules}:"))
        .replace(
            r#""add": "clients", "when": "after", "value": "${a.spec.id}""#,
            effect,
        );
    run_with_paused_clock(async {
        let harness = harness(&[&all]);
        // The key under which the link writes is known only after the app exists.
        let text = DOCUMENT.replace(
            "name: s }",
            "name: s, rules: [{ sid: app-a0dc9ca0, allow: anyone }] }",
        );
        let run = deploy(&harness, &text).await;
        let outcome = run.outcome().expect("it was carried out");
        let said: Vec<&str> = outcome.diagnostics.iter().map(|it| it.code.name).collect();
        assert_eq!(said, ["link-conflict"]);
        let rules = harness.snapshot().await.records[&Address::root("store")]
            .inputs
            .get("rules")
            .cloned();
        assert_eq!(
            rules.map(|it| it.to_string()).as_deref(),
            Some(r#"[{"sid": "app-a0dc9ca0", "allow": "anyone"}]"#)
        );
    });
}

#[test]
fn possible_link_is_no_change() {
    let text = "version: 2025-11-02
resources:
  gate: { type: test/record, spec: { title: one } }
  b:
    type: test/bucket
    condition: \"${lt(gate.spec.revision, 3)}\"
    metadata: { labels: { app: x } }
    spec: { name: b }
  role: { type: test/role, linkSelector: { byLabel: { app: x } }, spec: { name: r } }
";
    run_with_paused_clock(async {
        let harness = harness(&[]);
        deploy(&harness, text).await;
        let staged = stage(&harness, &text.replace("one", "two"), Given::default())
            .await
            .staged
            .expect("a plan");
        let changed: Vec<String> = staged
            .plan
            .links
            .iter()
            .map(|link| link.address.to_string())
            .collect();
        assert_eq!(changed, Vec::<String>::new());
    });
}

#[test]
fn annotation_of_a_link_is_known_before_its_end() {
    let catalogue = r#"{ "format": 1, "namespace": "shop",
      "resourceTypes": {
        "shop/app": { "idField": "id", "fields": {
          "name": { "kind": "string", "required": true },
          "id": { "kind": "string", "computed": true, "value": "app-{hash}" } } },
        "shop/store": { "idField": "id", "fields": {
          "modes": { "kind": "map", "values": { "kind": "string" } },
          "id": { "kind": "string", "computed": true, "value": "store-{hash}" } } } },
      "linkKinds": [ {
        "a": "shop/app", "b": "shop/store", "order": "b-first",
        "annotations": [
          { "as": "mode", "side": "a", "key": "shop.mode", "type": "string" },
          { "as": "mode", "side": "a", "key": "shop.<b>.mode", "type": "string" } ],
        "effects": [ { "into": "b", "put": "modes", "key": "${a.name}", "value": "${note.mode}" } ] } ] }"#;
    let text = "version: 2023-04-20
resources:
  app:
    type: shop/app
    each: \"${list('fast', 'slow')}\"
    linkSelector: { byLabel: { app: x } }
    metadata: { annotations: { shop.mode: \"very ${elem}\" } }
    spec: { name: \"${elem}\" }
  store: { type: shop/store, metadata: { labels: { app: x } }, spec: {} }
";
    run_with_paused_clock(async {
        let harness = harness(&[catalogue]);
        assert_eq!(
            done(&deploy(&harness, text).await),
            "create store; create app[0]; create app[1]; "
        );
        let modes = harness.snapshot().await.records[&Address::root("store")]
            .inputs
            .get("modes")
            .cloned();
        let modes = modes.map(|modes| modes.to_string());
        assert_eq!(
            modes.as_deref(),
            Some(r#"{"app[0]": "very fast", "app[1]": "very slow"}"#)
        );
        // The annotation for one link takes precedence over that for all links.
        deploy(
            &harness,
            &text.replace("{ shop.mode", "{ shop.store.mode: special, shop.mode"),
        )
        .await;
        let modes = harness.snapshot().await.records[&Address::root("store")]
            .inputs
            .get("modes")
            .cloned();
        let modes = modes.map(|modes| modes.to_string());
        assert_eq!(
            modes.as_deref(),
            Some(r#"{"app[0]": "special", "app[1]": "special"}"#)
        );
    });
}

#[test]
fn link_kind_may_ask_questions() {
    run_with_paused_clock(async {
        let data = |expression: &str| {
            catalogue("north").replace(
                "\"data\": {",
                &format!("\"data\": {{ \"drawn\": \"{expression}\","),
            )
        };
        let harness = harness(&[&data("${uuid()}")]);
        deploy(&harness, DOCUMENT).await;
        let input = harness.snapshot().await.records[&Address::root("reader")]
            .inputs
            .get("input")
            .cloned();
        let drawn = input.and_then(|input| {
            input
                .get("drawn")
                .and_then(|drawn| drawn.as_text().map(str::len))
        });
        assert_eq!(drawn, Some(36));
        let again = stage(&harness, DOCUMENT, Given::default())
            .await
            .staged
            .expect("a plan");
        assert!(again.plan.is_empty() && again.plan.writes_nothing(&again.snapshot));
    });
}

#[test]
fn link_kind_may_read_all_metadata_of_an_end() {
    run_with_paused_clock(async {
        let harness =
            harness(&[&catalogue("north")
                .replace("\"data\": {", "\"data\": { \"about\": \"${b.metadata}\",")]);
        deploy(&harness, DOCUMENT).await;
        let input = harness.snapshot().await.records[&Address::root("reader")]
            .inputs
            .get("input")
            .cloned();
        let about = input.and_then(|input| input.get("about").map(|about| about.to_string()));
        assert_eq!(about.as_deref(), Some(r#"{"labels": {"app": "x"}}"#));
    });
}

#[test]
fn annotation_may_have_two_errors() {
    let two = r#""annotations": [
        { "as": "count", "side": "a", "key": "shop.mode", "type": "integer" },
        { "as": "flag", "side": "a", "key": "shop.mode", "type": "boolean" } ], "effects""#;
    let text = DOCUMENT
        .replace(
            "resources:",
            "variables: { mode: { type: string, default: neither } }\nresources:",
        )
        .replace(
            "linkSelector",
            "metadata: { annotations: { shop.mode: \"${variables.mode}\" } }, linkSelector",
        );
    run_with_paused_clock(async {
        let harness = harness(&[&catalogue("north").replace("\"effects\"", two)]);
        let staged = stage(&harness, &text, Given::default()).await;
        let said: Vec<&str> = staged
            .diagnostics
            .iter()
            .map(|it| it.message.as_str())
            .collect();
        assert_eq!(
            said,
            [
                "`shop.mode` must be an integer",
                "`shop.mode` must be a boolean"
            ]
        );
        // The result is the same if the value is known only at stage.
        let text = text
            .replace("${variables.mode}", "${jsondecode(variables.mode)}")
            .replace("neither", "'2.5'");
        let staged = stage(&harness, &text, Given::default()).await;
        let said: Vec<&str> = staged
            .diagnostics
            .iter()
            .map(|it| it.message.as_str())
            .collect();
        assert_eq!(
            said,
            ["`shop.mode` must be integer", "`shop.mode` must be boolean"]
        );
    });
}
