//! Scripts played by hand: an object, the time, and the status that follows.

use std::time::Duration;

use blueprint::Value;
use diag::FileId;
use kubernetes::json::{from_json, to_json};
use serde_json::{Value as Json, json};

use crate::progress::{Due, Progress};
use crate::read::read;
use crate::script::Script;

const TIME: &str = "2026-01-01T00:00:00Z";

fn script(text: &str) -> Script {
    let (mut scripts, found) = read(FileId::NONE, text);
    let messages: Vec<&str> = found.iter().map(|one| one.message.as_str()).collect();
    assert!(messages.is_empty(), "{messages:?}");
    scripts.remove(0)
}

fn mistakes(text: &str) -> Vec<String> {
    let (scripts, found) = read(FileId::NONE, text);
    assert!(scripts.is_empty());
    found.iter().map(|one| one.message.clone()).collect()
}

fn image(generation: u64, status: &Json) -> Value {
    from_json(&json!({
        "apiVersion": "kpack.io/v1alpha2",
        "kind": "Image",
        "metadata": {"name": "app", "namespace": "shop", "generation": generation},
        "spec": {"tag": "registry/app", "generation": generation},
        "status": status,
    }))
}

fn json_of(due: Due) -> Json {
    match due {
        Due::Status(status) => to_json(&Value::Map(status.into())).unwrap().0,
        other => panic!("no status is due: {other:?}"),
    }
}

fn seconds(number: u64) -> Duration {
    Duration::from_secs(number)
}

const TWO_STEPS: &str = r#"
match: {apiVersion: kpack.io/v1alpha2, kind: Image}
steps:
- after: 1s
  status:
    observedGeneration: $(metadata.generation)$
    conditions: [{type: Ready, status: Unknown}]
- after: 5s
  status:
    observedGeneration: $(metadata.generation)$
    latestImage: $(spec.tag)$:$(script.run)$
    conditions: [{type: Ready, status: "True"}]
runs: {2: {condition: Ready, status: "False", message: build failed}}
"#;

#[test]
fn each_step_waits_for_its_time_after_the_one_before() {
    let script = script(TWO_STEPS);
    let object = image(1, &json!({}));
    let mut progress = Progress::observe(&script, &object, None, 1, seconds(10));
    assert_eq!(
        progress.due(&script, &object, seconds(10), TIME),
        Ok(Due::At(seconds(11)))
    );
    let first = json_of(progress.due(&script, &object, seconds(11), TIME).unwrap());
    let condition = json!({"type": "Ready", "status": "Unknown", "lastTransitionTime": TIME});
    assert_eq!(
        first,
        json!({"observedGeneration": 1, "conditions": [condition]})
    );
    progress.advance(seconds(11));
    assert_eq!(
        progress.due(&script, &object, seconds(12), TIME),
        Ok(Due::At(seconds(16)))
    );
    let object = image(1, &first);
    let second = json_of(
        progress
            .due(&script, &object, seconds(16), "2026-01-01T00:00:05Z")
            .unwrap(),
    );
    assert_eq!(second["latestImage"], "registry/app:1");
    assert_eq!(
        second["conditions"][0]["lastTransitionTime"],
        "2026-01-01T00:00:05Z"
    );
    progress.advance(seconds(16));
    assert_eq!(
        progress.due(&script, &object, seconds(99), TIME),
        Ok(Due::Nothing)
    );
}

#[test]
fn a_change_of_the_spec_begins_a_run_and_runs_can_end_otherwise() {
    let script = script(TWO_STEPS);
    let object = image(1, &json!({}));
    let progress = Progress::observe(&script, &object, None, 1, seconds(0));
    let same = Progress::observe(
        &script,
        &image(1, &json!({"a": 1})),
        Some(progress.clone()),
        2,
        seconds(5),
    );
    assert_eq!(same, progress);
    let changed = image(2, &json!({}));
    let mut progress = Progress::observe(&script, &changed, Some(progress), 2, seconds(7));
    assert_eq!(progress.run(), 2);
    progress.advance(seconds(8));
    let last = json_of(progress.due(&script, &changed, seconds(20), TIME).unwrap());
    assert_eq!(last["conditions"][0]["status"], "False");
    assert_eq!(last["conditions"][0]["message"], "build failed");
    assert_eq!(last["latestImage"], "registry/app:2");
}

#[test]
fn a_new_player_goes_on_where_the_object_is() {
    let script = script(TWO_STEPS);
    let live = json!({
        "observedGeneration": 1,
        "conditions": [{"type": "Ready", "status": "Unknown", "lastTransitionTime": TIME}],
    });
    let object = image(1, &live);
    let progress = Progress::observe(&script, &object, None, 1, seconds(0));
    assert_eq!(progress.steps(&script), (1, 2));
    let live = json!({
        "observedGeneration": 1,
        "latestImage": "registry/app:1",
        "other": true,
        "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": TIME}],
    });
    let mut progress = Progress::observe(&script, &image(1, &live), None, 1, seconds(0));
    assert_eq!(
        progress.due(&script, &object, seconds(9), TIME),
        Ok(Due::Nothing)
    );
}

#[test]
fn the_time_of_a_condition_stays_while_its_status_stays() {
    let script = script(TWO_STEPS);
    let earlier = "2020-01-01T00:00:00Z";
    let live = json!({"conditions": [
        {"type": "Ready", "status": "True", "lastTransitionTime": earlier},
    ]});
    let object = image(2, &live);
    let mut progress = Progress::observe(&script, &object, None, 1, seconds(0));
    progress.advance(seconds(0));
    let status = json_of(progress.due(&script, &object, seconds(9), TIME).unwrap());
    assert_eq!(status["conditions"][0]["lastTransitionTime"], earlier);
}

#[test]
fn a_run_can_be_followed_by_another_one() {
    let script = script(
        "match: {apiVersion: v1, kind: Thing}\nevery: 60s\ninputs: [metadata.name]\nsteps:\n- status: {revision: $(script.digest)$}\n",
    );
    let object =
        from_json(&json!({"apiVersion": "v1", "kind": "Thing", "metadata": {"name": "a"}}));
    let mut progress = Progress::observe(&script, &object, None, 1, seconds(0));
    let first = json_of(progress.due(&script, &object, seconds(0), TIME).unwrap());
    progress.advance(seconds(1));
    assert_eq!(
        progress.due(&script, &object, seconds(2), TIME),
        Ok(Due::At(seconds(61)))
    );
    assert_eq!(
        progress.due(&script, &object, seconds(61), TIME),
        Ok(Due::At(seconds(61)))
    );
    let second = json_of(progress.due(&script, &object, seconds(61), TIME).unwrap());
    assert_ne!(first, second);
}

#[test]
fn a_tag_without_a_value_names_its_path() {
    let script =
        script("match: {apiVersion: v1, kind: Thing}\nsteps:\n- status: {a: $(spec.missing)$}\n");
    let object = from_json(&json!({"apiVersion": "v1", "kind": "Thing", "spec": {}}));
    let mut progress = Progress::observe(&script, &object, None, 1, seconds(0));
    let failure = progress
        .due(&script, &object, seconds(0), TIME)
        .unwrap_err();
    assert_eq!(failure, "`spec.missing`: the path has no result");
}

#[test]
fn labels_choose_a_script() {
    let script = script(
        "match: {apiVersion: v1, kind: Thing, labels: {app: web}}\nsteps: [{status: {a: 1}}]\n",
    );
    let object = |labels: Json| {
        from_json(&json!({"apiVersion": "v1", "kind": "Thing", "metadata": {"labels": labels}}))
    };
    assert!(script.matches(&object(json!({"app": "web", "other": "1"}))));
    assert!(!script.matches(&object(json!({"app": "api"}))));
    assert!(!script.matches(&object(json!(null))));
}

#[test]
fn every_mistake_of_a_script_is_found() {
    let text = "match: {apiVersion: a/b/c, kind: Thing}\nsteps:\n- {after: soon, statsu: {}}\nruns: {zero: {condition: Ready, status: maybe}, 1: {condition: Ready, status: maybe}}\n";
    let expected = [
        "`a/b/c` is not an API version",
        "a step has no `statsu`",
        "`soon` is not a length of time",
        "a key of `runs` is the number of a run",
        "the status of a condition is True, False or Unknown",
    ];
    let found = mistakes(text);
    for one in expected {
        assert!(
            found.iter().any(|message| message.starts_with(one)),
            "{one}: {found:?}"
        );
    }
    assert_eq!(mistakes("steps: []\n"), ["a script needs `match`"]);
    assert_eq!(
        mistakes("match: {apiVersion: v1, kind: A}\nstepz: []\n"),
        ["a script has no `stepz`"]
    );
    assert_eq!(mistakes("- 1\n"), ["a script is a map"]);
}
