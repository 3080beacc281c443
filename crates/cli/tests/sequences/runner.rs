//! Runs the cases and compares what came of each step.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value};

use crate::place::Place;
use crate::sim::Sim;
use crate::state::compare_state;
use crate::steps::{Announced, Stepped, take};

/// Cases in which the recorded tool carries out a part before it meets a mistake that a plan finds
/// (README of the pack).
const PLANNED_MISTAKES: [&str; 3] = [
    "fail-program-error",
    "alias-two-claim-one",
    "expect-no-changes",
];

/// The result of all cases.
#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) all: usize,
    /// One line for each failing case.
    pub(crate) failures: Vec<String>,
    /// One line for each case that passes but for its exported state.
    pub(crate) states: Vec<String>,
}

/// Runs the cases of a file. `chosen` holds parts of names; if it is empty, all cases run.
pub(crate) fn run(file: &Path, chosen: &str, mut sim: Sim) -> Tally {
    let cases: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let mut tally = Tally::default();
    for case in &cases {
        let name = case["name"].as_str().unwrap();
        let wanted = chosen.is_empty() || chosen.split(',').any(|part| name.contains(part));
        if !wanted {
            continue;
        }
        tally.all += 1;
        match run_case(case, &mut sim) {
            Ok(None) => {}
            Ok(Some(difference)) => tally.states.push(format!("{name}: {difference}")),
            Err(difference) => tally.failures.push(format!("{name}: {difference}")),
        }
    }
    tally
}

/// Runs a case. Returns the first difference of the exported state.
fn run_case(case: &Value, sim: &mut Sim) -> Result<Option<String>, String> {
    let mut state = None;
    let place = Place::new();
    let world = place.path().join("world");
    std::fs::create_dir(&world).unwrap();
    sim.use_world(&world);
    write_files(&place, &case["files"]);
    place.ends(0, &["key", "new"]);
    let mut settings = Map::new();
    configure(&place, &mut settings, &case["config"]);
    let name = case["name"].as_str().unwrap();
    let also = case["also"].as_array();
    let refused_counts =
        also.is_some_and(|also| also.iter().any(|one| one["ok"] == Value::Bool(false)));
    for (at, step) in case["steps"].as_array().unwrap().iter().enumerate() {
        let what = step["do"].as_str().unwrap();
        write_files(&place, &step["files"]);
        match what {
            "world" => {
                change_world(&world, &step["set"]);
                continue;
            }
            "config" => {
                configure(&place, &mut settings, &step["set"]);
                continue;
            }
            _ => {}
        }
        drop(std::fs::remove_file(world.join("calls.jsonl")));
        let stepped = take(&place, what, step, &sim.port)?;
        let expected = &step["expect"];
        let ok = expected["ok"].as_bool().unwrap_or(false);
        let describe =
            |difference: String| format!("step {at} ({what}): {difference}\n{}", stepped.said);
        if stepped.ok != ok {
            if !stepped.ok && refused_counts {
                return Ok(state);
            }
            let word = if ok { "should succeed" } else { "should fail" };
            return Err(describe(word.to_owned()));
        }
        // What the recorded tool has done before a mistake that a plan finds is refused as a whole.
        if !ok && stepped.refused {
            if PLANNED_MISTAKES.contains(&name) {
                return Ok(state);
            }
            refuse_calls(expected).map_err(describe)?;
            continue;
        }
        if ok {
            compare_ops(expected, &stepped).map_err(describe)?;
        }
        let is_preview = what.contains("preview") || what == "preview";
        if !is_preview {
            compare_calls(expected, &world).map_err(describe)?;
            compare_world(expected, &world).map_err(describe)?;
            if state.is_none() && expected["state"].is_object() {
                let compared = compare_state(&place, "dev", &expected["state"]);
                state = compared
                    .err()
                    .map(|difference| format!("step {at} ({what}): {difference}"));
            }
        }
    }
    Ok(state)
}

/// The step must not have reached the provider: nothing was refused there.
fn refuse_calls(expected: &Value) -> Result<(), String> {
    let calls = expected["calls"].as_array();
    let changing = calls
        .into_iter()
        .flatten()
        .find(|call| call["method"] != "Read");
    match changing {
        None => Ok(()),
        Some(call) => Err(format!("refused before any call, recorded {call}")),
    }
}

/// Writes files; a file without text is removed.
pub(crate) fn write_files(place: &Place, files: &Value) {
    for (name, text) in files.as_object().into_iter().flatten() {
        match text.as_str() {
            Some(text) => place.write(name, text),
            None => drop(std::fs::remove_file(place.path().join(name))),
        }
    }
}

/// Writes the file of the stack with the settings so far.
fn configure(place: &Place, settings: &mut Map<String, Value>, more: &Value) {
    let Some(more) = more.as_object() else {
        return;
    };
    for (key, value) in more {
        let value = value.get("value").unwrap_or(value);
        settings.insert(key.clone(), value.clone());
    }
    let text = serde_json::to_string(&serde_json::json!({ "config": settings })).unwrap();
    place.write("Pulumi.dev.yaml", text);
}

/// Changes things in the world as a step says.
fn change_world(folder: &Path, changes: &Value) {
    let mut world = read_world(folder);
    for (id, fields) in changes.as_object().into_iter().flatten() {
        if fields.is_null() {
            world.remove(id);
            continue;
        }
        match world.get_mut(id) {
            None => drop(world.insert(id.clone(), fields.clone())),
            Some(thing) => {
                for (name, value) in fields.as_object().into_iter().flatten() {
                    let inputs = thing["inputs"].as_object_mut().unwrap();
                    match value {
                        Value::Null => drop(inputs.remove(name)),
                        value => drop(inputs.insert(name.clone(), value.clone())),
                    }
                }
            }
        }
    }
    let text = serde_json::to_string(&world).unwrap();
    std::fs::write(folder.join("world.json"), text).unwrap();
}

fn read_world(folder: &Path) -> Map<String, Value> {
    let text = std::fs::read_to_string(folder.join("world.json"));
    text.map_or_else(|_| Map::new(), |text| serde_json::from_str(&text).unwrap())
}

/// The operations that count, with the name of the resource. The stack and default providers have no
/// step of their own.
pub(crate) fn compare_ops(expected: &Value, stepped: &Stepped) -> Result<(), String> {
    let mut wanted: Vec<Announced> = Vec::new();
    let recorded = || expected["ops"].as_array().into_iter().flatten();
    // An object that was only read has no record here, so its successor is a plain create.
    let only_read = |urn: &str| {
        recorded().any(|op| op["op"] == "discard-replaced" && op["urn"].as_str() == Some(urn))
    };
    for op in recorded() {
        let (kind, urn) = (op["op"].as_str().unwrap(), op["urn"].as_str().unwrap());
        if only_read(urn) {
            if kind == "create-replacement" {
                wanted.push(Announced::new("create", last_name(urn)));
            }
            continue;
        }
        let counts = kind != "same"
            && kind != "refresh"
            && !kind.starts_with("read")
            && kind != "discard"
            && !urn.contains("pulumi:pulumi:Stack::")
            && !is_default_provider(urn);
        if counts {
            wanted.push(Announced::new(kind, last_name(urn)));
        }
    }
    let mut announced = stepped.ops.clone();
    wanted.sort();
    announced.sort();
    if wanted == announced {
        return Ok(());
    }
    Err(format!("announced {announced:?}, recorded {wanted:?}"))
}

fn compare_calls(expected: &Value, folder: &Path) -> Result<(), String> {
    let entry = |call: &Value| -> String {
        let text = |name: &str| call[name].as_str().unwrap_or("-").to_owned();
        format!("{} {} {}", text("method"), text("urn"), text("id"))
    };
    let recorded = expected["calls"].as_array();
    let mut wanted: Vec<String> = recorded.into_iter().flatten().map(entry).collect();
    let text = std::fs::read_to_string(folder.join("calls.jsonl")).unwrap_or_default();
    let calls = text.lines().map(|line| serde_json::from_str(line).unwrap());
    let mut made: Vec<String> = calls.map(|call: Value| entry(&call)).collect();
    wanted.sort();
    made.sort();
    if wanted == made {
        return Ok(());
    }
    Err(format!("calls {made:#?}, recorded {wanted:#?}"))
}

fn compare_world(expected: &Value, folder: &Path) -> Result<(), String> {
    let Some(wanted) = expected["world"].as_object() else {
        return Ok(());
    };
    let is: BTreeMap<String, Value> = read_world(folder).into_iter().collect();
    let wanted: BTreeMap<String, Value> = wanted.clone().into_iter().collect();
    let same = is.len() == wanted.len()
        && is
            .iter()
            .zip(&wanted)
            .all(|((id, thing), (other, recorded))| id == other && equal(thing, recorded));
    if same {
        return Ok(());
    }
    Err(format!(
        "world {}\nrecorded {}",
        serde_json::to_string(&is).unwrap(),
        serde_json::to_string(&wanted).unwrap()
    ))
}

/// Whether two values are equal. Numbers are floats, and marks of secrets do not count.
fn equal(one: &Value, other: &Value) -> bool {
    let other = other.get("$secret").unwrap_or(other);
    let one = match one.get("4dabf18193072939515e22adb298388d") {
        Some(Value::String(kind)) if kind == "1b47061264138c4ac30d75fd1eb44270" => &one["value"],
        _ => one,
    };
    if let (Some(reference), Some(members)) = (other.get("$ref"), one.as_object()) {
        let mut members = members.clone();
        members.remove("4dabf18193072939515e22adb298388d");
        return equal(&members.into(), reference);
    }
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one.as_f64() == other.as_f64(),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| equal(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .all(|(key, one)| other.get(key).is_some_and(|other| equal(one, other)))
        }
        _ => one == other,
    }
}

/// Whether a URN is that of a default provider, which has no step of its own.
fn is_default_provider(urn: &str) -> bool {
    let name = last_name(urn);
    urn.contains("::pulumi:providers:") && (name == "default" || name.starts_with("default_"))
}

/// The name in a URN.
pub(crate) fn last_name(urn: &str) -> &str {
    urn.rsplit("::").next().unwrap_or(urn)
}
