//! Owners with mutable objects, and blueprints.

use cartographer::compat::Compat;
use cartographer::reconcile::{RefusalReason, Retry};
use serde_json::{Value as Json, json};

use crate::world::{Fate, Settled, World, is_write, retries};

/// A chain of three: a source, an image made of it, and an application made of that.
const CHAIN: &str = r#"
apiVersion: carto.run/v1alpha1
kind: ClusterSourceTemplate
metadata: {name: src}
spec:
  template:
    apiVersion: demo.test/v1
    kind: Thing
    metadata: {name: $(workload.metadata.name)$-src}
    spec: {git: $(workload.spec.source.git.url)$}
  urlPath: .status.url
  revisionPath: .status.revision
---
apiVersion: carto.run/v1alpha1
kind: ClusterImageTemplate
metadata: {name: img}
spec:
  template:
    apiVersion: demo.test/v1
    kind: Thing
    metadata: {name: $(workload.metadata.name)$-img}
    spec: {rev: $(source.revision)$}
  imagePath: .status.image
---
apiVersion: carto.run/v1alpha1
kind: ClusterTemplate
metadata: {name: app}
spec:
  template:
    apiVersion: demo.test/v1
    kind: Thing
    metadata: {name: $(workload.metadata.name)$-app}
    spec: {image: $(image)$}
---
apiVersion: carto.run/v1alpha1
kind: ClusterSupplyChain
metadata: {name: chain}
spec:
  selector: {app: web}
  resources:
  - name: source
    templateRef: {kind: ClusterSourceTemplate, name: src}
  - name: image
    templateRef: {kind: ClusterImageTemplate, name: img}
    sources: [{name: code, resource: source}]
  - name: app
    templateRef: {kind: ClusterTemplate, name: app}
    images: [{name: img, resource: image}]
---
apiVersion: carto.run/v1alpha1
kind: Workload
metadata: {name: w, labels: {app: web}}
spec:
  source: {git: {url: g, ref: {branch: main}}}
  serviceAccountName: sa
"#;

/// A world in which the chain has come to its end.
fn deployed() -> World {
    let mut world = World::new();
    world.apply_yaml(CHAIN);
    assert_eq!(world.settle(), Settled::Yes);
    world.set_status("Thing", "w-src", &json!({ "url": "u", "revision": "r1" }));
    world.settle();
    world.set_status("Thing", "w-img", &json!({ "image": "i1" }));
    world.settle();
    world.log.clear();
    world.statuses = 0;
    world
}

fn key(kind: &str, name: &str) -> (String, String) {
    (kind.to_owned(), name.to_owned())
}

fn condition<'a>(object: &'a Json, condition_type: &str) -> &'a Json {
    let conditions = object["conditions"].as_array().expect("conditions");
    let found = conditions
        .iter()
        .find(|condition| condition["type"] == condition_type);
    found.unwrap_or(&Json::Null)
}

fn reason(world: &World, condition_type: &str) -> (String, String) {
    let status = &world.get("Workload", "w").expect("the workload")["status"];
    let condition = condition(status, condition_type);
    let text = |key: &str| condition[key].as_str().unwrap_or_default().to_owned();
    (text("status"), text("reason"))
}

fn is(world: &World, condition_type: &str, status: &str, expected: &str) {
    assert_eq!(
        reason(world, condition_type),
        (status.to_owned(), expected.to_owned())
    );
}

fn writes(world: &World) -> Vec<&str> {
    let calls = world.log.iter().map(String::as_str);
    calls.filter(|call| is_write(call)).collect()
}

#[test]
fn a_chain_passes_its_outputs_on() {
    let world = deployed();
    let app = world.get("Thing", "w-app").expect("the application");
    assert_eq!(app["spec"]["image"], "i1");
    is(&world, "Ready", "True", "Ready");
    let annotations = &app["metadata"]["annotations"];
    assert_eq!(
        annotations["carto.run/applied-hash"].as_str().map(str::len),
        Some(64)
    );
    let inputs = annotations["carto.run/inputs"].as_str().expect("inputs");
    assert!(inputs.contains("images.img"), "{inputs}");
}

#[test]
fn a_resource_waits_for_its_producer() {
    let mut world = World::new();
    world.apply_yaml(CHAIN);
    world.settle();
    is(
        &world,
        "ResourcesSubmitted",
        "Unknown",
        "MissingValueAtPath",
    );
    let status = &world.get("Workload", "w").expect("the workload")["status"];
    let image = condition(&status["resources"][1], "ResourceSubmitted");
    assert_eq!(image["reason"], "MissingValueAtPath");
    let message = image["message"].as_str().unwrap_or_default();
    assert!(message.contains("`source`"), "{message}");
}

#[test]
fn nothing_is_written_if_nothing_changed() {
    let mut world = deployed();
    world.pause();
    world.settle();
    assert!(writes(&world).is_empty(), "{:?}", world.log);
    let reads = [
        "account sa",
        "get Thing/w-src",
        "get Thing/w-img",
        "get Thing/w-app",
    ];
    assert_eq!(world.log, reads);
}

#[test]
fn one_change_is_one_apply() {
    let mut world = deployed();
    world.set_status("Thing", "w-src", &json!({ "revision": "r2" }));
    world.settle();
    assert_eq!(writes(&world), ["apply Thing/w-img", "status"]);
    let image = world.get("Thing", "w-img").expect("the image");
    assert_eq!(image["spec"]["rev"], "r2");
}

#[test]
fn a_field_that_others_change_is_set_back() {
    let mut world = deployed();
    world.merge(&json!({
        "kind": "Thing", "metadata": { "name": "w-app", "labels": { "theirs": "1" } },
        "spec": { "image": "other", "more": "theirs" },
    }));
    let outcome = world.reconcile(&key("Workload", "w")).expect("no crash");
    let event = &outcome.expect("an outcome").events[0];
    assert_eq!(
        event.message,
        "Patched object [things.demo.test/w-app]: somebody else changed `spec.image`"
    );
    assert_eq!(writes(&world), ["apply Thing/w-app"]);
    let app = world.get("Thing", "w-app").expect("the application");
    assert_eq!(app["spec"]["image"], "i1");
    assert_eq!(app["spec"]["more"], "theirs");
    assert_eq!(app["metadata"]["labels"]["theirs"], "1");
}

#[test]
fn a_field_that_the_server_spells_otherwise_is_no_change() {
    let mut world = deployed();
    let mut app = world
        .get("Thing", "w-app")
        .expect("the application")
        .clone();
    app["spec"]["image"] = json!("I1");
    let labels = app["metadata"]["labels"].as_object().expect("labels");
    let labels: Json = labels
        .keys()
        .map(|label| (format!("f:{label}"), json!({})))
        .collect::<serde_json::Map<_, _>>()
        .into();
    let uid = world.get("Workload", "w").expect("the workload")["metadata"]["uid"].clone();
    let owner = format!("k:{{\"uid\":{uid}}}");
    let owner = json!({ owner: {
        ".": {}, "f:apiVersion": {}, "f:kind": {}, "f:name": {}, "f:uid": {}, "f:controller": {},
        "f:blockOwnerDeletion": {},
    }});
    let fields = |spec: Json| {
        json!([{
            "manager": "cyan", "operation": "Apply",
            "fieldsV1": { "f:metadata": { "f:labels": labels, "f:ownerReferences": owner }, "f:spec": spec },
        }])
    };
    app["metadata"]["managedFields"] = fields(json!({ "f:image": {} }));
    world.replace(&key("Thing", "w-app"), app.clone());
    world.settle();
    assert!(writes(&world).is_empty(), "{:?}", world.log);
    // Somebody else took the field over.
    app["metadata"]["managedFields"] = fields(json!({ "f:more": {} }));
    world.replace(&key("Thing", "w-app"), app);
    world.settle();
    assert_eq!(writes(&world), ["apply Thing/w-app"]);
}

#[test]
fn a_failure_in_the_middle_keeps_the_entries() {
    let mut world = deployed();
    world.merge(&json!({
        "kind": "ClusterImageTemplate", "metadata": { "name": "img" },
        "spec": { "template": { "spec": { "rev": "$(nope)$" } } },
    }));
    world.settle();
    is(
        &world,
        "ResourcesSubmitted",
        "False",
        "TemplateStampFailure",
    );
    let status = &world.get("Workload", "w").expect("the workload")["status"];
    assert_eq!(status["resources"][1]["stampedRef"]["name"], "w-img");
    assert!(world.get("Thing", "w-img").is_some());
    // The application waits, and keeps its object.
    let app = condition(&status["resources"][2], "ResourceSubmitted");
    assert_eq!(app["reason"], "MissingValueAtPath");
    assert!(world.get("Thing", "w-app").is_some());
}

#[test]
fn a_missing_account_stops_before_any_resource() {
    let mut world = World::new();
    world.accounts.remove("sa");
    world.apply_yaml(CHAIN);
    world.settle();
    is(&world, "ResourcesSubmitted", "False", "ServiceAccountError");
    let outcome = world.reconcile(&key("Workload", "w")).expect("no crash");
    let outcome = outcome.expect("an outcome");
    assert!(!retries(&outcome));
    let account = outcome.watches.account.expect("an account");
    assert_eq!(account.name.as_ref(), "sa");
    assert!(world.names("Thing").is_empty());
    world.accounts.insert("sa".to_owned());
    world.settle();
    assert_eq!(world.names("Thing"), ["w-src"]);
}

#[test]
fn a_refused_token_is_asked_for_again() {
    let mut world = World::new();
    world.apply_yaml(CHAIN);
    world.settle();
    world.rule = Some(Box::new(|_, call| {
        call.starts_with("account")
            .then_some(Fate::Refuse(RefusalReason::Forbidden))
    }));
    let outcome = world.reconcile(&key("Workload", "w")).expect("no crash");
    assert!(retries(&outcome.expect("an outcome")));
    is(
        &world,
        "ResourcesSubmitted",
        "False",
        "ServiceAccountTokenError",
    );
    let status = &world.get("Workload", "w").expect("the workload")["status"];
    assert_eq!(status["resources"][0]["name"], "source");
}

#[test]
fn a_missing_template_is_watched() {
    let mut world = deployed();
    world.delete(&key("ClusterImageTemplate", "img"));
    let chain = key("ClusterSupplyChain", "chain");
    let outcome = world.reconcile(&key("Workload", "w")).expect("no crash");
    let outcome = outcome.expect("an outcome");
    // The blueprint says so only after its own reconcile.
    is(
        &world,
        "ResourcesSubmitted",
        "False",
        "TemplateObjectRetrievalFailure",
    );
    assert_eq!(outcome.retry, Retry::No);
    let mut watched = outcome.watches.platform.iter();
    assert!(watched.any(|(_, name)| name.as_ref() == "img"));
    world.reconcile(&chain).expect("no crash");
    let status = &world.objects[&chain]["status"];
    assert_eq!(condition(status, "Ready")["reason"], "TemplatesNotFound");
    world.settle();
    is(&world, "SupplyChainReady", "False", "TemplatesNotFound");
    assert!(world.get("Thing", "w-img").is_some());
}

#[test]
fn a_blueprint_without_a_status_is_waited_for() {
    let mut world = World::new();
    world.apply_yaml(CHAIN);
    let outcome = world.reconcile(&key("Workload", "w")).expect("no crash");
    assert!(!retries(&outcome.expect("an outcome")));
    is(&world, "SupplyChainReady", "Unknown", "BlueprintNotReady");
}

#[test]
fn a_refused_apply_is_reported() {
    for (why, is_retried) in [
        (RefusalReason::Forbidden, false),
        (RefusalReason::Rejected, true),
        (RefusalReason::Conflict, true),
        (RefusalReason::Unavailable, true),
    ] {
        let mut world = World::new();
        world.apply_yaml(CHAIN);
        world.rule = Some(Box::new(move |_, call| {
            call.starts_with("apply").then_some(Fate::Refuse(why))
        }));
        world.settle();
        is(
            &world,
            "ResourcesSubmitted",
            "False",
            "TemplateRejectedByAPIServer",
        );
        let outcome = world.reconcile(&key("Workload", "w")).expect("no crash");
        assert_eq!(
            retries(&outcome.expect("an outcome")),
            is_retried,
            "{why:?}"
        );
        world.rule = None;
        world.settle();
        is(
            &world,
            "ResourcesSubmitted",
            "Unknown",
            "MissingValueAtPath",
        );
    }
}

/// The chain without its application.
fn without_app(world: &mut World) {
    let chain = key("ClusterSupplyChain", "chain");
    let mut blueprint = world.objects[&chain].clone();
    let resources = blueprint["spec"]["resources"].as_array_mut();
    resources.expect("resources").pop();
    world.replace(&chain, blueprint);
}

#[test]
fn an_orphan_is_deleted() {
    let mut world = deployed();
    without_app(&mut world);
    world.settle();
    let calls = ["list Thing", "delete Thing/w-app", "status"];
    let changes: Vec<&str> = world
        .log
        .iter()
        .map(String::as_str)
        .filter(|call| calls.contains(call))
        .collect();
    assert!(changes.ends_with(&calls), "{:?}", world.log);
    assert_eq!(world.names("Thing"), ["w-img", "w-src"]);
    is(&world, "Ready", "True", "Ready");
}

#[test]
fn a_refused_list_deletes_nothing_and_is_not_forgotten() {
    for verb in ["list", "delete"] {
        let mut world = deployed();
        without_app(&mut world);
        world.rule = Some(Box::new(move |_, call| {
            call.starts_with(verb)
                .then_some(Fate::Refuse(RefusalReason::Unavailable))
        }));
        world.settle();
        assert!(world.get("Thing", "w-app").is_some());
        is(&world, "OrphansDeleted", "False", "DeletionFailed");
        is(&world, "Ready", "True", "Ready");
        let outcome = world.reconcile(&key("Workload", "w")).expect("no crash");
        assert!(retries(&outcome.expect("an outcome")));
        world.rule = None;
        world.settle();
        assert!(world.get("Thing", "w-app").is_none());
        is(&world, "OrphansDeleted", "", "");
    }
}

#[test]
fn an_object_of_another_owner_is_no_orphan() {
    let mut world = deployed();
    let mut app = world
        .get("Thing", "w-app")
        .expect("the application")
        .clone();
    app["metadata"]["ownerReferences"][0]["uid"] = json!("another");
    app["metadata"]["name"] = json!("left");
    world.replace(&key("Thing", "left"), app);
    without_app(&mut world);
    world.settle();
    assert_eq!(world.names("Thing"), ["left", "w-img", "w-src"]);
}

#[test]
fn a_renamed_object_replaces_the_old_one() {
    let mut world = deployed();
    world.merge(&json!({
        "kind": "ClusterTemplate", "metadata": { "name": "app" },
        "spec": { "template": { "metadata": { "name": "other" } } },
    }));
    world.settle();
    assert_eq!(world.names("Thing"), ["other", "w-img", "w-src"]);
}

#[test]
fn a_blueprint_that_is_gone_deletes_nothing() {
    let mut world = deployed();
    world.delete(&key("ClusterSupplyChain", "chain"));
    world.settle();
    is(&world, "SupplyChainReady", "False", "SupplyChainNotFound");
    assert_eq!(world.names("Thing").len(), 3);
    let status = &world.get("Workload", "w").expect("the workload")["status"];
    assert_eq!(status["resources"].as_array().map(Vec::len), Some(3));
}

#[test]
fn resources_that_need_each_other_fail_and_others_go_on() {
    let mut world = World::new();
    world.apply_yaml(CHAIN);
    let chain = key("ClusterSupplyChain", "chain");
    let mut blueprint = world.objects[&chain].clone();
    blueprint["spec"]["resources"][1]["images"] = json!([{ "name": "own", "resource": "image" }]);
    world.replace(&chain, blueprint);
    world.settle();
    let status = &world.get("Workload", "w").expect("the workload")["status"];
    let image = condition(&status["resources"][1], "ResourceSubmitted");
    assert_eq!(image["reason"], "TemplateStampFailure");
    assert!(world.get("Thing", "w-src").is_some());
    assert!(status["resources"][2]["conditions"].is_array());
}

#[test]
fn a_crash_or_a_lost_answer_at_any_call_ends_the_same() {
    let end = |world: &World| {
        let things = world.objects.iter().filter(|(key, _)| key.0 == "Thing");
        let things: Vec<(String, Json)> = things
            .map(|(key, object)| (key.1.clone(), object["spec"].clone()))
            .collect();
        (things, reason(world, "Ready"))
    };
    let expected = end(&deployed());
    for fate in [
        || Fate::CrashBefore,
        || Fate::CrashAfter,
        || Fate::LoseAnswer,
    ] {
        for at in 0..60 {
            let mut world = World::new();
            world.apply_yaml(CHAIN);
            world.rule = Some(Box::new(move |number, _| (number == at).then(fate)));
            let settle = |world: &mut World| {
                while world.settle() == Settled::Crashed {
                    world.pause();
                }
                // What was refused is tried again.
                world.settle();
            };
            settle(&mut world);
            world.set_status("Thing", "w-src", &json!({ "url": "u", "revision": "r1" }));
            settle(&mut world);
            world.set_status("Thing", "w-img", &json!({ "image": "i1" }));
            settle(&mut world);
            assert_eq!(end(&world), expected, "call {at}");
        }
    }
}

#[test]
fn requests_of_independent_resources_come_together() {
    let mut world = World::new();
    world.apply_yaml(CHAIN);
    let chain = key("ClusterSupplyChain", "chain");
    let mut blueprint = world.objects[&chain].clone();
    for (at, resource) in ["a", "b", "c"].into_iter().enumerate() {
        blueprint["spec"]["resources"][at] = json!({
            "name": resource, "templateRef": { "kind": "ClusterTemplate", "name": resource },
        });
        world.merge(&json!({
            "apiVersion": "carto.run/v1alpha1", "kind": "ClusterTemplate",
            "metadata": { "name": resource },
            "spec": { "template": {
                "apiVersion": "demo.test/v1", "kind": "Thing", "metadata": { "name": resource },
            }},
        }));
    }
    world.replace(&chain, blueprint);
    world.reconcile(&chain).expect("no crash");
    world.batches.clear();
    world.reconcile(&key("Workload", "w")).expect("no crash");
    assert_eq!(world.batches, [1, 3, 3]);
}

#[test]
fn an_owner_without_labels_is_matched_by_fields_unless_upstream_counts() {
    let start = |compat| {
        let mut world = World::new();
        world.compat = compat;
        world.apply_yaml(CHAIN);
        let chain = key("ClusterSupplyChain", "chain");
        let mut blueprint = world.objects[&chain].clone();
        blueprint["spec"]["selector"] = json!({});
        blueprint["spec"]["selectorMatchFields"] =
            json!([{ "key": "spec.source.git", "operator": "Exists" }]);
        world.replace(&chain, blueprint);
        let workload = key("Workload", "w");
        let mut owner = world.objects[&workload].clone();
        owner["metadata"]["labels"] = json!({});
        world.replace(&workload, owner);
        world.settle();
        world
    };
    is(&start(Compat::Ours), "SupplyChainReady", "True", "Ready");
    let upstream = start(Compat::Upstream);
    is(
        &upstream,
        "SupplyChainReady",
        "False",
        "WorkloadLabelsMissing",
    );
    assert!(upstream.names("Thing").is_empty());
}

#[test]
fn the_label_names_an_option_unless_upstream_counts() {
    let label = |compat| {
        let mut world = World::new();
        world.compat = compat;
        world.apply_yaml(CHAIN);
        let chain = key("ClusterSupplyChain", "chain");
        let mut blueprint = world.objects[&chain].clone();
        let exists = json!([{ "key": "spec.source.git", "operator": "Exists" }]);
        let image = json!([{ "key": "spec.source.image", "operator": "Exists" }]);
        blueprint["spec"]["resources"][0]["templateRef"] = json!({
            "kind": "ClusterSourceTemplate",
            "options": [
                { "name": "src", "selector": { "matchFields": exists } },
                { "name": "img", "selector": { "matchFields": image } },
            ],
        });
        world.replace(&chain, blueprint);
        world.merge(&json!({
            "apiVersion": "carto.run/v1alpha1", "kind": "ClusterSourceTemplate",
            "metadata": { "name": "img" }, "spec": {},
        }));
        world.settle();
        let source = world.get("Thing", "w-src").expect("the source");
        source["metadata"]["labels"]["carto.run/cluster-template-name"].clone()
    };
    assert_eq!(label(Compat::Ours), "src");
    assert_eq!(label(Compat::Upstream), "");
}

#[test]
fn the_order_of_the_list_decides_only_if_upstream_counts() {
    let start = |compat| {
        let mut world = World::new();
        world.compat = compat;
        world.apply_yaml(CHAIN);
        let chain = key("ClusterSupplyChain", "chain");
        let mut blueprint = world.objects[&chain].clone();
        let resources = blueprint["spec"]["resources"].as_array_mut();
        resources.expect("resources").swap(0, 1);
        world.replace(&chain, blueprint);
        world.settle();
        world.set_status("Thing", "w-src", &json!({ "url": "u", "revision": "r1" }));
        world.settle();
        world
    };
    assert!(start(Compat::Ours).get("Thing", "w-img").is_some());
    assert!(start(Compat::Upstream).get("Thing", "w-img").is_none());
}

#[test]
fn entries_keep_their_order_and_new_ones_are_inserted() {
    let mut world = deployed();
    let chain = key("ClusterSupplyChain", "chain");
    let mut blueprint = world.objects[&chain].clone();
    let resources = blueprint["spec"]["resources"].as_array_mut();
    let resources = resources.expect("resources");
    resources.swap(0, 1);
    resources.insert(
        1,
        json!({
            "name": "new", "templateRef": { "kind": "ClusterSourceTemplate", "name": "src" },
        }),
    );
    world.replace(&chain, blueprint);
    world.settle();
    let status = &world.get("Workload", "w").expect("the workload")["status"];
    let entries = status["resources"].as_array().expect("resources");
    let names: Vec<&Json> = entries.iter().map(|entry| &entry["name"]).collect();
    assert_eq!(names, ["source", "new", "image", "app"]);
}

#[test]
fn a_status_that_differs_only_in_times_is_not_written() {
    let mut world = deployed();
    let times = |world: &World| {
        let status = &world.get("Workload", "w").expect("the workload")["status"];
        condition(status, "SupplyChainReady")["lastTransitionTime"].clone()
    };
    let before = times(&world);
    world.pause();
    world.set_status("Thing", "w-img", &json!({ "image": "i2" }));
    world.settle();
    assert!(world.statuses > 0);
    assert_eq!(times(&world), before);
}

#[test]
fn two_resources_with_one_object_do_not_fight() {
    let mut world = World::new();
    world.apply_yaml(CHAIN);
    let chain = key("ClusterSupplyChain", "chain");
    let mut blueprint = world.objects[&chain].clone();
    blueprint["spec"]["resources"][2] = json!({
        "name": "again", "templateRef": { "kind": "ClusterSourceTemplate", "name": "src" },
    });
    world.replace(&chain, blueprint);
    assert_eq!(world.settle(), Settled::Yes);
    let status = &world.get("Workload", "w").expect("the workload")["status"];
    let again = condition(&status["resources"][2], "ResourceSubmitted");
    assert_eq!(again["reason"], "TemplateStampFailure");
    world.log.clear();
    world.settle();
    assert!(writes(&world).is_empty(), "{:?}", world.log);
}

#[test]
fn a_cluster_scoped_object_is_written_once_and_deleted_as_an_orphan() {
    let mut world = deployed();
    world.merge(&json!({
        "kind": "ClusterTemplate", "metadata": { "name": "app" },
        "spec": { "template": {
            "apiVersion": "test.run/v1alpha1", "kind": "ClusterTest",
            "metadata": { "name": "all", "annotations": {} },
        }},
    }));
    world.settle();
    assert!(world.get("Thing", "w-app").is_none());
    let status = &world.get("Workload", "w").expect("the workload")["status"];
    let reference = &status["resources"][2]["stampedRef"];
    assert_eq!(reference["name"], "all");
    assert!(reference["namespace"].is_null());
    world.log.clear();
    world.settle();
    assert!(writes(&world).is_empty(), "{:?}", world.log);
    without_app(&mut world);
    world.settle();
    assert!(world.names("ClusterTest").is_empty());
}
