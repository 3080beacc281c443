//! Replays the recorded scenarios and acceptance cases in the toy world: stamped objects, statuses and
//! events after each step. The world has no schemas and no rights, so that this is a first look; the
//! controller's own runner judges with a cluster.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use cartographer::compat::Compat;
use serde_json::{Value as Json, json};

use crate::world::{Key, Settled, World, key_of, merge_patch};
use crate::yaml::yaml;

fn folder() -> Option<PathBuf> {
    let folder = match std::env::var_os("CYAN_CONFORMANCE_CARTOGRAPHER") {
        Some(folder) => PathBuf::from(folder),
        None => {
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/conformance/cartographer")
        }
    };
    if folder.is_dir() {
        return Some(folder);
    }
    println!(
        "cartographer reconcile: {} is missing, nothing runs",
        folder.display()
    );
    None
}

fn read(path: &Path) -> Json {
    let text =
        std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    yaml(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn documents(path: &Path) -> Vec<Json> {
    let text =
        std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let documents = text.split("\n---").map(|document| {
        yaml(document).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    });
    documents
        .filter(|document: &Json| document.is_object())
        .collect()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    files
}

/// The steps of a case that differ from the recording by a decision, in every mode.
fn left_out(deviations: &Json, case: &str) -> BTreeSet<u64> {
    let deviation = &deviations[case];
    if !deviation["lint"].is_null() {
        return BTreeSet::new();
    }
    let steps = deviation["steps"].as_array();
    steps
        .into_iter()
        .flatten()
        .filter_map(Json::as_u64)
        .collect()
}

fn list<'a>(step: &'a Json, key: &str) -> impl Iterator<Item = &'a Json> {
    step[key].as_array().into_iter().flatten()
}

/// One step of a scenario. Returns whether everything settled.
fn play(world: &mut World, step: &Json) -> bool {
    for object in list(step, "apply") {
        world.merge(object);
        account(world, object);
    }
    for patch in list(step, "patch") {
        let key = (
            patch["kind"].as_str().unwrap_or_default().to_owned(),
            patch["name"].as_str().unwrap_or_default().to_owned(),
        );
        if let Some(mut object) = world.objects.get(&key).cloned() {
            merge_patch(&mut object, &patch["patch"]);
            world.replace(&key, object);
        }
    }
    for status in list(step, "status") {
        let text = |key: &str| status[key].as_str().unwrap_or_default();
        world.set_status(text("kind"), text("name"), &status["status"]);
    }
    for object in list(step, "delete") {
        let text = |key: &str| object[key].as_str().unwrap_or_default().to_owned();
        world.delete(&(text("kind"), text("name")));
    }
    let settled = world.settle() == Settled::Yes;
    if !step["pause"].is_null() {
        world.pause();
    }
    settled
}

fn account(world: &mut World, object: &Json) {
    if object["kind"] == "ServiceAccount" {
        world.accounts.insert(key_of(object).1);
    }
}

/// What differs from a recorded step.
fn differences(world: &World, recorded: &Json) -> Vec<String> {
    let mut found = Vec::new();
    let unstable: Vec<&str> = list(recorded, "unstable")
        .filter_map(Json::as_str)
        .collect();
    let seen: BTreeMap<String, Json> = world
        .objects
        .iter()
        .filter_map(|(key, object)| Some((format!("{}/{}", key.0, key.1), shown(key, object)?)))
        .collect();
    let expected: BTreeMap<String, Json> = recorded["objects"]
        .as_object()
        .into_iter()
        .flatten()
        .filter_map(|(name, object)| {
            let (kind, rest) = name.split_once('/')?;
            Some((name.clone(), shown(&(kind.into(), rest.into()), object)?))
        })
        .collect();
    let keys = |objects: &BTreeMap<String, Json>| -> BTreeSet<String> {
        objects.keys().cloned().collect()
    };
    if keys(&seen) != keys(&expected) {
        found.push(format!(
            "objects {:?}, not {:?}",
            keys(&seen),
            keys(&expected)
        ));
    }
    for (name, object) in &seen {
        let Some(expected) = expected.get(name) else {
            continue;
        };
        if object != expected && !unstable.contains(&name.as_str()) {
            found.push(format!(
                "{name}\n  ours     {object}\n  recorded {expected}"
            ));
        }
    }
    if recorded["unstableEvents"].is_null() {
        let text = |event: &Json, key: &str| event[key].as_str().unwrap_or_default().to_owned();
        let expected: BTreeSet<(String, String)> = list(recorded, "events")
            .map(|event| (text(event, "object"), text(event, "reason")))
            .collect();
        if world.events != expected {
            found.push(format!("events {:?}, not {expected:?}", world.events));
        }
    }
    found
}

/// The judged part of an object; `None` if it is none that is recorded.
fn shown(key: &Key, object: &Json) -> Option<Json> {
    let labels = object["metadata"]["labels"].as_object();
    let is_stamped = labels
        .into_iter()
        .flatten()
        .any(|(label, _)| label.starts_with("carto.run/"));
    let has_status = matches!(
        key.0.as_str(),
        "Workload" | "Deliverable" | "Runnable" | "ClusterSupplyChain" | "ClusterDelivery"
    );
    match (has_status, is_stamped) {
        (true, _) => Some(json!({ "status": plain(&object["status"]) })),
        (false, true) => Some(json!({
            "labels": labels,
            "spec": object["spec"],
            "data": object["data"],
        })),
        (false, false) => None,
    }
}

/// A status without times and messages.
fn plain(value: &Json) -> Json {
    match value {
        Json::Object(entries) => {
            let entries = entries
                .iter()
                .filter(|(key, _)| !matches!(key.as_str(), "lastTransitionTime" | "message"));
            let entries = entries.map(|(key, value)| (key.clone(), plain(value)));
            Json::Object(entries.collect())
        }
        Json::Array(items) => items.iter().map(plain).collect(),
        other => other.clone(),
    }
}

/// Replays one case. Returns what differs.
fn replay(steps: &[(u64, Vec<Json>)], recorded: &Json, left_out: &BTreeSet<u64>) -> Vec<String> {
    let mut world = World::new();
    world.compat = Compat::Upstream;
    let mut found = Vec::new();
    for (number, actions) in steps {
        let settled = actions.iter().all(|action| play(&mut world, action));
        let Some(expected) = list(recorded, "steps").find(|step| step["step"] == json!(number))
        else {
            continue;
        };
        if left_out.contains(number) {
            continue;
        }
        if !settled {
            found.push(format!("step {number}: there is no end"));
        }
        let different = differences(&world, expected);
        found.extend(
            different
                .into_iter()
                .map(|text| format!("step {number}: {text}")),
        );
    }
    found
}

/// Cases that differ by decisions of the project, with the reason.
const KNOWN: [(&str, &str); 4] = [
    (
        "delivery-deploy-w-bad-match",
        "the condition of a resource is `ResourceSubmitted`",
    ),
    (
        "delivery-deploy-w-missing-match",
        "the condition of a resource is `ResourceSubmitted`",
    ),
    (
        "foreign-field",
        "a server-side apply leaves the fields of others",
    ),
    (
        "runnable-selector",
        "the selected object is watched, so that its change made a run in the step before",
    ),
];

/// Prints the results, and fails if a case differs that no decision is about.
fn report(area: &str, results: &BTreeMap<String, Vec<String>>) {
    let passed = results.values().filter(|found| found.is_empty()).count();
    println!(
        "cartographer reconcile {area}: {passed} of {}",
        results.len()
    );
    let mut unexpected = Vec::new();
    for (case, found) in results.iter().filter(|(_, found)| !found.is_empty()) {
        match KNOWN.iter().find(|(known, _)| known == case) {
            Some((_, why)) => println!("{case}: {why}"),
            None => unexpected.push(format!("{case}: {}", found.join("\n"))),
        }
    }
    assert!(unexpected.is_empty(), "{}", unexpected.join("\n"));
}

#[test]
fn scenarios_end_as_recorded() {
    let Some(folder) = folder() else { return };
    let deviations = read(&folder.join("DEVIATIONS.json"));
    let mut results = BTreeMap::new();
    for path in files(&folder.join("cluster/scenarios")) {
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        let Some(case) = name.strip_suffix(".yaml") else {
            continue;
        };
        let scenario = read(&path);
        let steps: Vec<(u64, Vec<Json>)> = list(&scenario, "steps")
            .zip(1..)
            .map(|(step, number)| (number, vec![step.clone()]))
            .collect();
        let recorded = read(&path.with_file_name(format!("{case}.recorded.json")));
        let skipped = left_out(&deviations, &format!("scenario {case}"));
        results.insert(case.to_owned(), replay(&steps, &recorded, &skipped));
    }
    report("scenarios", &results);
}

#[test]
fn acceptance_cases_end_as_recorded() {
    let Some(folder) = folder() else { return };
    let deviations = read(&folder.join("DEVIATIONS.json"));
    let mut results = BTreeMap::new();
    for path in files(&folder.join("cluster/kuttl")) {
        let case = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        let mut steps: BTreeMap<u64, Vec<Json>> = BTreeMap::new();
        for file in files(&path) {
            let name = file
                .file_name()
                .and_then(|name| name.to_str())
                .unwrap_or_default();
            let number = name
                .split_once('-')
                .and_then(|(number, _)| number.parse().ok());
            let is_check = name.contains("assert") || name.contains("errors");
            if let (Some(number), false) = (number, is_check) {
                let objects = documents(&file);
                steps
                    .entry(number)
                    .or_default()
                    .push(json!({ "apply": objects }));
            } else if let Some(number) = number {
                steps.entry(number).or_default();
            }
        }
        let steps: Vec<(u64, Vec<Json>)> = steps.into_iter().collect();
        let recorded = read(&path.join("recorded.json"));
        let skipped = left_out(&deviations, &format!("kuttl {case}"));
        results.insert(case.to_owned(), replay(&steps, &recorded, &skipped));
    }
    report("kuttl", &results);
}
