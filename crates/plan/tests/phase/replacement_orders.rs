//! What a provider says about replacements, and what a document says about deletes: orders, changes
//! that mean the same object, snapshots. Metadata and external objects reach the provider too.

use blueprint::{Address, DeleteMode, ReplaceOrder, Value};
use engine::run::Operated;
use engine::{Action, Options, Step};
use state::{OperationOutcome, Record};
use testkit::harness::{Harness, StageResult, run_with_paused_clock, settings};
use testkit::toy::judge::{self, JudgeProvider, stage_template};

fn codes(stage: &StageResult) -> Vec<&'static str> {
    stage.diagnostics.iter().map(|it| it.code.name).collect()
}

/// The steps of a plan that change something.
fn steps(stage: &StageResult) -> Vec<Step> {
    let plan = stage.staged.as_ref().map(|staged| &staged.plan);
    let plan = plan.unwrap_or_else(|| panic!("no plan: {:?}", codes(stage)));
    let changing = plan.steps.iter();
    changing
        .filter(|step| step.action != Action::None)
        .cloned()
        .collect()
}

async fn run(harness: &Harness, stage: StageResult) {
    let reported = codes(&stage);
    let staged = stage
        .staged
        .unwrap_or_else(|| panic!("no plan: {reported:?}"));
    let run = harness
        .run(staged, false, Vec::new(), settings(Some(1), false))
        .await;
    let well = match &run.operated {
        Some(Operated::Done(outcome)) => matches!(
            outcome.outcome,
            Some(OperationOutcome::Ready | OperationOutcome::Gone)
        ),
        other => matches!(other, Some(Operated::Nothing)),
    };
    assert!(well, "{:?}", run.operated);
}

/// Deploys a template with these resources, and returns the calls of the provider.
async fn deploy(harness: &Harness, judge: &JudgeProvider, resources: &str) -> Vec<String> {
    let stage = stage_template(harness, &format!("resources:\n{resources}")).await;
    run(harness, stage).await;
    judge.take_log()
}

async fn record(harness: &Harness, name: &str) -> Record {
    let records = harness.snapshot().await.records;
    records[&Address::root(name)].as_ref().clone()
}

/// A port in a network, with more keys of its definition.
fn port(name: &str, properties: &str, more: &str) -> String {
    format!("  {name}:\n    type: Judge::Port\n    properties: {{{properties}}}\n{more}")
}

#[test]
fn provider_sets_the_order_of_a_replacement() {
    run_with_paused_clock(async {
        let (harness, judge) = judge::harness();
        deploy(&harness, &judge, &port("p", "network: a, given: x", "")).await;
        // The given address stays: the old port must go first.
        let kept = deploy(&harness, &judge, &port("p", "network: b, given: x", "")).await;
        assert_eq!(kept, ["plan update p", "delete p", "create p"]);
        // Another address: the order of the catalogue.
        let moved = deploy(&harness, &judge, &port("p", "network: c, given: y", "")).await;
        assert_eq!(moved, ["plan update p", "create p", "delete p"]);
    });
}

#[test]
fn requested_replacement_keeps_the_order_and_is_not_taken_back() {
    run_with_paused_clock(async {
        let (harness, judge) = judge::harness();
        let before = port("p", "network: a, given: x", "");
        deploy(&harness, &judge, &before).await;
        let options = Options {
            replace: vec![Address::root("p")],
            ..Options::default()
        };
        let text = format!(
            "heat_template_version: wallaby\nresources:\n{}",
            port("p", "network: 'id:a', given: x", "")
        );
        let stage = harness
            .stage("main.yaml", &text, Default::default(), options)
            .await;
        let step = &steps(&stage)[0];
        assert_eq!(
            (step.action, step.replace_order),
            (Action::Replace, Some(ReplaceOrder::DeleteFirst))
        );
        assert!(step.changes.iter().all(|change| !change.forces));
    });
}

#[test]
fn a_change_that_means_the_same_object_is_only_recorded() {
    run_with_paused_clock(async {
        let (harness, judge) = judge::harness();
        deploy(&harness, &judge, &port("p", "network: a", "")).await;
        let before = record(&harness, "p").await;
        let calls = deploy(&harness, &judge, &port("p", "network: 'id:a'", "")).await;
        assert_eq!(calls, ["plan update p"]);
        let after = record(&harness, "p").await;
        assert_eq!(after.id, before.id);
        assert_eq!(after.inputs.get("network"), Some(&Value::from("id:a")));
        // Together with another change it is an update.
        let calls = deploy(&harness, &judge, &port("p", "network: a, note: n", "")).await;
        assert_eq!(calls, ["plan update p", "update p"]);
        // Another change that forces a replacement remains one.
        let calls = deploy(
            &harness,
            &judge,
            &port("p", "network: 'id:a', note: n, given: z", ""),
        )
        .await;
        assert_eq!(calls, ["plan update p", "create p", "delete p"]);
    });
}

#[test]
fn users_of_an_object_that_is_deleted_first_are_deleted_before_it() {
    run_with_paused_clock(async {
        let (harness, judge) = judge::harness();
        let host = "  h:\n    type: Judge::Host\n    properties: {port: {get_resource: p}}\n";
        let first = port("p", "network: a, given: x", "") + host;
        deploy(&harness, &judge, &first).await;
        let second = port("p", "network: b, given: x", "") + host;
        let stage = stage_template(&harness, &format!("resources:\n{second}")).await;
        assert!(codes(&stage).contains(&"replace-order-changed"));
        judge.take_log();
        run(&harness, stage).await;
        assert_eq!(
            judge.take_log(),
            ["delete h", "delete p", "create p", "create h"]
        );
    });
}

#[test]
fn provider_is_asked_again_when_the_values_of_a_replacement_are_known() {
    run_with_paused_clock(async {
        let (harness, judge) = judge::harness();
        let ports = |network: &str| {
            port("q", &format!("network: {network}"), "")
                + &port("p", "network: {get_resource: q}, given: x", "")
        };
        deploy(&harness, &judge, &ports("a")).await;
        let calls = deploy(&harness, &judge, &ports("b")).await;
        let of_p: Vec<&str> = calls
            .iter()
            .map(String::as_str)
            .filter(|line| line.ends_with(" p"))
            .collect();
        assert_eq!(
            of_p,
            [
                "plan update p",
                "plan again update p",
                "delete p",
                "create p"
            ]
        );
    });
}

#[test]
fn a_snapshot_is_planned_and_taken_before_each_delete() {
    run_with_paused_clock(async {
        let (harness, judge) = judge::harness();
        let snapshot = "    deletion_policy: Snapshot\n";
        deploy(&harness, &judge, &port("p", "network: a", "")).await;
        let plain = record(&harness, "p").await;
        assert_eq!(plain.delete_mode, DeleteMode::Delete);
        // The policy alone is recorded without a call.
        let calls = deploy(&harness, &judge, &port("p", "network: a", snapshot)).await;
        assert!(calls.is_empty(), "{calls:?}");
        let first = record(&harness, "p").await;
        assert_eq!(first.delete_mode, DeleteMode::SnapshotFirst);
        // A replacement follows the policy of the old object.
        let calls = deploy(&harness, &judge, &port("p", "network: b", "")).await;
        assert_eq!(
            calls,
            ["plan update p", "create p", "snapshot and delete p"]
        );
        let calls = deploy(&harness, &judge, &port("p", "network: c", snapshot)).await;
        assert_eq!(calls, ["plan update p", "create p", "delete p"]);
        // A removal from the document.
        let third = record(&harness, "p").await;
        let stage = stage_template(&harness, "resources: {}\n").await;
        let removal = &steps(&stage)[0];
        assert_eq!(
            (removal.action, removal.delete_mode),
            (Action::Delete, DeleteMode::SnapshotFirst)
        );
        run(&harness, stage).await;
        assert_eq!(judge.take_log(), ["snapshot and delete p"]);
        // A destroy.
        deploy(&harness, &judge, &port("p", "network: d", snapshot)).await;
        let fourth = record(&harness, "p").await;
        let stage = harness.stage_destroy(Options::default()).await;
        assert_eq!(steps(&stage)[0].delete_mode, DeleteMode::SnapshotFirst);
        run(&harness, stage).await;
        assert_eq!(
            judge.take_log().last().map(String::as_str),
            Some("snapshot and delete p")
        );
        let world = harness.world.lock().expect("no test thread has panicked");
        let taken: Vec<&str> = world
            .snapshots()
            .iter()
            .map(|(id, _)| id.as_ref())
            .collect();
        assert_eq!(taken, [&*first.id, &*third.id, &*fourth.id]);
    });
}

#[test]
fn a_type_without_snapshots_refuses_the_policy() {
    run_with_paused_clock(async {
        let (harness, _) = judge::harness();
        let host = "  h: {type: Judge::Host, deletion_policy: Snapshot}\n";
        let stage = stage_template(&harness, &format!("resources:\n{host}")).await;
        assert_eq!(codes(&stage), ["invalid-deletion-policy"]);
    });
}

#[test]
fn provider_receives_metadata_and_a_change_of_it_alone_is_only_recorded() {
    run_with_paused_clock(async {
        let (harness, judge) = judge::harness();
        let with = |role: &str| {
            port(
                "p",
                "network: a",
                &format!("    metadata: {{role: {role}}}\n"),
            )
        };
        deploy(&harness, &judge, &with("web")).await;
        let sent = || {
            let world = harness.world.lock().expect("no test thread has panicked");
            let object = world.object_at("case", "p").expect("it exists");
            let custom = object.metadata.get("custom").cloned();
            custom.and_then(|custom| custom.get("role").cloned())
        };
        assert_eq!(sent(), Some(Value::from("web")));
        let calls = deploy(&harness, &judge, &with("db")).await;
        assert!(calls.is_empty(), "{calls:?}");
        let recorded = record(&harness, "p").await.metadata;
        let custom = recorded.get("custom").and_then(|custom| custom.get("role"));
        assert_eq!(custom, Some(&Value::from("db")));
        assert_eq!(sent(), Some(Value::from("web")));
        // The next update sends it.
        let noted = port("p", "network: a, note: n", "    metadata: {role: db}\n");
        assert_eq!(
            deploy(&harness, &judge, &noted).await,
            ["plan update p", "update p"]
        );
        assert_eq!(sent(), Some(Value::from("db")));
    });
}

#[test]
fn attributes_of_an_external_object_are_read_from_it() {
    run_with_paused_clock(async {
        let (harness, judge) = judge::harness();
        let spec = Value::map([("network", Value::from("a")), ("note", Value::from("hi"))]);
        let catalog = provider::Provider::catalog(&*judge).clone();
        harness
            .world
            .lock()
            .expect("no test thread has panicked")
            .make(&catalog, "Judge::Port", "port-9", &spec)
            .expect("it can be made");
        let template = |id: &str| {
            format!(
                "resources:\n  p: {{type: Judge::Port, external_id: {id}, properties: {{note: other}}}}\n\
                 outputs:\n  note: {{value: {{get_attr: [p, note]}}}}\n  id: {{value: {{get_resource: p}}}}\n"
            )
        };
        let stage = stage_template(&harness, &template("port-9")).await;
        run(&harness, stage).await;
        let snapshot = harness.snapshot().await;
        assert_eq!(snapshot.exports.get("note"), Some(&Value::from("hi")));
        assert_eq!(snapshot.exports.get("id"), Some(&Value::from("port-9")));
        assert!(snapshot.records.is_empty());
        assert!(judge.take_log().is_empty());
        let stage = stage_template(&harness, &template("port-8")).await;
        assert_eq!(codes(&stage), ["external-missing"]);
        let place = stage.diagnostics.iter().map(|it| it.span()).next();
        let text = format!("heat_template_version: wallaby\n{}", template("port-8"));
        let pointed = place.and_then(|span| text.get(span.start as usize..span.end as usize));
        assert_eq!(pointed, Some("port-8"));
    });
}
