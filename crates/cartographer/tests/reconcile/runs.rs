//! Immutable templates and Runnables.

use cartographer::reconcile::RefusalReason;
use serde_json::{Value as Json, json};

use crate::world::{Fate, Settled, World, is_write, retries};

const IMMUTABLE: &str = r#"
apiVersion: carto.run/v1alpha1
kind: ClusterImageTemplate
metadata: {name: t}
spec:
  template:
    apiVersion: demo.test/v1
    kind: Thing
    metadata: {generateName: run-}
    spec: {a: $(params.a)$}
  params: [{name: a, default: A}]
  imagePath: .status.image
  lifecycle: immutable
  healthRule: {singleConditionType: Ready}
  retentionPolicy: {maxSuccessfulRuns: 1, maxFailedRuns: 1}
---
apiVersion: carto.run/v1alpha1
kind: ClusterSupplyChain
metadata: {name: chain}
spec:
  selector: {app: web}
  resources:
  - name: r
    templateRef: {kind: ClusterImageTemplate, name: t}
---
apiVersion: carto.run/v1alpha1
kind: Workload
metadata: {name: w, labels: {app: web}}
spec: {serviceAccountName: sa}
"#;

const RUNNABLE: &str = r#"
apiVersion: carto.run/v1alpha1
kind: ClusterRunTemplate
metadata: {name: rt}
spec:
  template:
    apiVersion: demo.test/v1
    kind: Thing
    metadata: {generateName: rn-}
    spec: {v: $(selected.spec.v)$}
  outputs: {out: .status.out}
---
apiVersion: carto.run/v1alpha1
kind: Runnable
metadata: {name: r}
spec:
  serviceAccountName: sa
  runTemplateRef: {name: rt}
  retentionPolicy: {maxFailedRuns: 10, maxSuccessfulRuns: 10}
  selector:
    resource: {apiVersion: demo.test/v1, kind: Thing}
    matchingLabels: {pick: me}
"#;

fn key(kind: &str, name: &str) -> (String, String) {
    (kind.to_owned(), name.to_owned())
}

fn immutable() -> World {
    let mut world = World::new();
    world.apply_yaml(IMMUTABLE);
    assert_eq!(world.settle(), Settled::Yes);
    world
}

fn set_param(world: &mut World, value: &str) {
    world.merge(&json!({
        "kind": "Workload", "metadata": { "name": "w" },
        "spec": { "params": [{ "name": "a", "value": value }] },
    }));
    world.settle();
}

/// The status of a foreign controller.
fn done(kind: &str, status: &str, more: &Json) -> Json {
    let mut whole = json!({ "conditions": [{
        "type": kind, "status": status, "reason": "R", "message": "",
        "lastTransitionTime": "2024-01-01T00:00:00Z",
    }]});
    for (key, value) in more.as_object().into_iter().flatten() {
        whole[key] = value.clone();
    }
    whole
}

fn entry(world: &World) -> &Json {
    &world.get("Workload", "w").expect("the workload")["status"]["resources"][0]
}

fn runnable_reason(world: &World, condition_type: &str) -> String {
    let status = &world.get("Runnable", "r").expect("the runnable")["status"];
    let conditions = status["conditions"].as_array().expect("conditions");
    let found = conditions
        .iter()
        .find(|condition| condition["type"] == condition_type);
    let reason = found.and_then(|condition| condition["reason"].as_str());
    reason.unwrap_or_default().to_owned()
}

fn writes(world: &World) -> Vec<&str> {
    let calls = world.log.iter().map(String::as_str);
    calls.filter(|call| is_write(call)).collect()
}

#[test]
fn the_same_template_again_makes_a_further_run() {
    let mut world = immutable();
    world.settle();
    assert_eq!(world.names("Thing"), ["run-<1>"]);
    set_param(&mut world, "B");
    set_param(&mut world, "A");
    assert_eq!(world.names("Thing"), ["run-<1>", "run-<2>", "run-<3>"]);
    // All were created in one second: their numbers tell the newest.
    assert_eq!(entry(&world)["stampedRef"]["name"], "run-<3>");
    world.log.clear();
    world.settle();
    assert!(writes(&world).is_empty(), "{:?}", world.log);
}

#[test]
fn the_newest_healthy_run_gives_the_output() {
    let mut world = immutable();
    world.set_status(
        "Thing",
        "run-<1>",
        &done("Ready", "True", &json!({ "image": "i1" })),
    );
    world.pause();
    set_param(&mut world, "B");
    assert_eq!(entry(&world)["stampedRef"]["name"], "run-<2>");
    assert_eq!(entry(&world)["outputs"][0]["preview"], "i1\n");
    world.set_status(
        "Thing",
        "run-<2>",
        &done("Ready", "True", &json!({ "image": "i2" })),
    );
    world.settle();
    assert_eq!(entry(&world)["outputs"][0]["preview"], "i2\n");
}

#[test]
fn retention_deletes_old_runs_and_keeps_unknown_ones() {
    let mut world = immutable();
    world.set_status(
        "Thing",
        "run-<1>",
        &done("Ready", "True", &json!({ "image": "i1" })),
    );
    world.pause();
    set_param(&mut world, "B");
    set_param(&mut world, "C");
    assert_eq!(world.names("Thing").len(), 3);
    world.set_status(
        "Thing",
        "run-<3>",
        &done("Ready", "True", &json!({ "image": "i3" })),
    );
    world.rule = Some(Box::new(|_, call| {
        call.starts_with("delete")
            .then_some(Fate::Refuse(RefusalReason::Forbidden))
    }));
    world.settle();
    let outcome = world.reconcile(&key("Workload", "w")).expect("no crash");
    assert!(retries(&outcome.expect("an outcome")));
    world.rule = None;
    world.settle();
    assert_eq!(world.names("Thing"), ["run-<2>", "run-<3>"]);
}

#[test]
fn another_template_replaces_the_series() {
    let mut world = immutable();
    set_param(&mut world, "B");
    let mut template = world.get("ClusterImageTemplate", "t").expect("it").clone();
    template["metadata"] = json!({ "name": "other" });
    world.replace(&key("ClusterImageTemplate", "other"), template);
    let chain = key("ClusterSupplyChain", "chain");
    let mut blueprint = world.objects[&chain].clone();
    blueprint["spec"]["resources"][0]["templateRef"]["name"] = json!("other");
    world.replace(&chain, blueprint);
    world.settle();
    assert_eq!(world.names("Thing"), ["run-<3>"]);
}

#[test]
fn a_refused_list_makes_no_run() {
    let mut world = World::new();
    world.apply_yaml(IMMUTABLE);
    world.rule = Some(Box::new(|_, call| {
        call.starts_with("list")
            .then_some(Fate::Refuse(RefusalReason::Unavailable))
    }));
    world.settle();
    assert!(world.names("Thing").is_empty());
    let condition = &entry(&world)["conditions"][0];
    assert_eq!(condition["reason"], "FailedToListCreatedObjects");
    let outcome = world.reconcile(&key("Workload", "w")).expect("no crash");
    assert!(retries(&outcome.expect("an outcome")));
}

#[test]
fn a_crash_or_a_lost_answer_at_any_call_makes_no_second_run() {
    for fate in [
        || Fate::CrashBefore,
        || Fate::CrashAfter,
        || Fate::LoseAnswer,
    ] {
        for at in 0..30 {
            let mut world = World::new();
            world.apply_yaml(IMMUTABLE);
            world.rule = Some(Box::new(move |number, _| (number == at).then(fate)));
            while world.settle() == Settled::Crashed {
                world.pause();
            }
            world.settle();
            set_param(&mut world, "B");
            while world.settle() == Settled::Crashed {
                world.pause();
            }
            world.settle();
            assert_eq!(world.names("Thing"), ["run-<1>", "run-<2>"], "call {at}");
        }
    }
}

#[test]
fn an_owner_whose_runs_change_their_own_template_stops() {
    let mut world = immutable();
    world.merge(&json!({
        "kind": "ClusterImageTemplate", "metadata": { "name": "t" },
        "spec": { "template": { "spec": { "a": "$(workload.metadata.resourceVersion)$" } } },
    }));
    assert_eq!(world.settle(), Settled::Yes);
    assert!(
        world.names("Thing").len() <= 6,
        "{:?}",
        world.names("Thing")
    );
    assert_eq!(
        entry(&world)["conditions"][0]["reason"],
        "TemplateStampFailure"
    );
}

fn selected(world: &mut World, name: &str, value: &str) {
    world.merge(&json!({
        "apiVersion": "demo.test/v1", "kind": "Thing",
        "metadata": { "name": name, "labels": { "pick": "me" } }, "spec": { "v": value },
    }));
    world.settle();
}

fn runs(world: &World) -> Vec<&str> {
    let names = world.names("Thing").into_iter();
    names.filter(|name| name.starts_with("rn-")).collect()
}

#[test]
fn a_selector_finds_exactly_one_object() {
    let mut world = World::new();
    world.apply_yaml(RUNNABLE);
    world.settle();
    assert_eq!(
        runnable_reason(&world, "RunTemplateReady"),
        "TemplateStampFailure"
    );
    let outcome = world.reconcile(&key("Runnable", "r")).expect("no crash");
    let watches = outcome.expect("an outcome").watches;
    assert_eq!(watches.selected.len(), 1);
    selected(&mut world, "s1", "one");
    assert_eq!(runs(&world), ["rn-<1>"]);
    assert_eq!(runnable_reason(&world, "RunTemplateReady"), "Ready");
    // A change of the selected object is a further run.
    selected(&mut world, "s1", "two");
    assert_eq!(runs(&world), ["rn-<1>", "rn-<2>"]);
    selected(&mut world, "s2", "three");
    assert_eq!(
        runnable_reason(&world, "RunTemplateReady"),
        "TemplateStampFailure"
    );
    assert_eq!(runs(&world).len(), 2);
}

#[test]
fn a_runnable_keeps_its_last_good_outputs() {
    let mut world = World::new();
    world.apply_yaml(RUNNABLE);
    selected(&mut world, "s1", "one");
    world.set_status(
        "Thing",
        "rn-<1>",
        &done("Succeeded", "True", &json!({ "out": "o1" })),
    );
    world.settle();
    let outputs = |world: &World| {
        world.get("Runnable", "r").expect("the runnable")["status"]["outputs"].clone()
    };
    assert_eq!(outputs(&world), json!({ "out": "o1" }));
    world.pause();
    selected(&mut world, "s1", "two");
    assert_eq!(outputs(&world), json!({ "out": "o1" }));
    assert_eq!(runnable_reason(&world, "StampedObjectCondition"), "Unknown");
    world.set_status("Thing", "rn-<2>", &done("Succeeded", "True", &json!({})));
    world.settle();
    assert_eq!(
        runnable_reason(&world, "RunTemplateReady"),
        "OutputPathNotSatisfied"
    );
    assert_eq!(outputs(&world), json!({ "out": "o1" }));
    world.delete(&key("ClusterRunTemplate", "rt"));
    world.settle();
    assert_eq!(
        runnable_reason(&world, "RunTemplateReady"),
        "RunTemplateNotFound"
    );
    assert_eq!(outputs(&world), json!({ "out": "o1" }));
}

#[test]
fn a_runnable_whose_runs_change_its_own_template_stops() {
    let mut world = World::new();
    world.apply_yaml(RUNNABLE);
    world.merge(&json!({
        "kind": "ClusterRunTemplate", "metadata": { "name": "rt" },
        "spec": { "template": { "spec": { "v": "$(runnable.metadata.resourceVersion)$" } } },
    }));
    world.merge(&json!({
        "kind": "Runnable", "metadata": { "name": "r" },
        "spec": { "selector": null, "retentionPolicy": { "maxSuccessfulRuns": 1 } },
    }));
    // Each run succeeds at once, with another output.
    let mut made = 0;
    while runs(&world).len() != made && made < 20 {
        made = runs(&world).len();
        for run in runs(&world)
            .into_iter()
            .map(str::to_owned)
            .collect::<Vec<_>>()
        {
            let status = done("Succeeded", "True", &json!({ "out": run }));
            world.set_status("Thing", &run, &status);
        }
        world.pause();
        assert_eq!(world.settle(), Settled::Yes);
    }
    for _ in 0..20 {
        for run in runs(&world)
            .into_iter()
            .map(str::to_owned)
            .collect::<Vec<_>>()
        {
            let status = done("Succeeded", "True", &json!({ "out": run }));
            world.set_status("Thing", &run, &status);
        }
        world.pause();
        assert_eq!(world.settle(), Settled::Yes);
    }
    let created = world.log.iter().filter(|call| call.starts_with("create"));
    assert_eq!(created.count(), 4);
    assert_eq!(
        runnable_reason(&world, "RunTemplateReady"),
        "TemplateStampFailure"
    );
}

#[test]
fn a_runnable_without_its_account_waits() {
    let mut world = World::new();
    world.accounts.remove("sa");
    world.apply_yaml(RUNNABLE);
    world.settle();
    assert_eq!(
        runnable_reason(&world, "RunTemplateReady"),
        "ServiceAccountError"
    );
    let outcome = world.reconcile(&key("Runnable", "r")).expect("no crash");
    assert!(!retries(&outcome.expect("an outcome")));
}
