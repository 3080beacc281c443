//! Compares the exported state with the recorded one.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::place::Place;

const SIGNATURE: &str = "4dabf18193072939515e22adb298388d";
const SECRET: &str = "1b47061264138c4ac30d75fd1eb44270";
const ASSET: &str = "c44067f5952c0a294b673a41bacd8c17";
const ARCHIVE: &str = "0def7320c3a5731c473e5ecbe6d01bc7";
const REFERENCE: &str = "5cf8f73096256a8f31e491e813e4eb8e";

/// Members that differ from run to run, or that tell where a program stands.
const LEFT_OUT: [&str; 5] = [
    "created",
    "modified",
    "sourcePosition",
    "stackTrace",
    "taint",
];

/// Compares the state of the instance with a recorded one.
pub(crate) fn compare_state(place: &Place, instance: &str, expected: &Value) -> Result<(), String> {
    let file = "exported.json";
    let words = [
        "state", "export", "--as", "pulumi", "--reveal", file, "-i", instance,
    ];
    let ran = place.run(&words);
    let recorded = by_identity(&expected["resources"]);
    // A destroyed instance has no state.
    if ran.code != 0 && recorded.is_empty() {
        return Ok(());
    }
    if ran.code != 0 {
        return Err(format!("the state cannot be exported: {}", ran.err));
    }
    let exported: Value = serde_json::from_str(&place.read(file)).unwrap();
    drop(std::fs::remove_file(place.path().join(file)));
    let ours = by_identity(&exported["deployment"]["resources"]);
    for (identity, recorded) in &recorded {
        let Some(own) = ours.get(identity) else {
            // An object that is only read has no record here.
            if recorded.get("external") == Some(&Value::Bool(true)) {
                continue;
            }
            return Err(format!("state lacks {identity:?}"));
        };
        compare_resource(identity, own, recorded)?;
    }
    match ours
        .keys()
        .find(|identity| !recorded.contains_key(*identity))
    {
        Some(more) => Err(format!("state has {more:?} too")),
        None => Ok(()),
    }
}

/// The resources by URN, whether they are to be deleted, and a number.
fn by_identity(resources: &Value) -> BTreeMap<(String, bool, usize), Map<String, Value>> {
    let mut all = BTreeMap::new();
    for resource in resources.as_array().into_iter().flatten() {
        let urn = resource["urn"].as_str().unwrap_or_default().to_owned();
        let deleted = resource["delete"] == Value::Bool(true);
        let number = (0..).find(|number| !all.contains_key(&(urn.clone(), deleted, *number)));
        let members = resource.as_object().cloned().unwrap_or_default();
        all.insert((urn, deleted, number.unwrap_or_default()), members);
    }
    all
}

fn compare_resource(
    identity: &(String, bool, usize),
    own: &Map<String, Value>,
    recorded: &Map<String, Value>,
) -> Result<(), String> {
    let mut names: Vec<&String> = own.keys().chain(recorded.keys()).collect();
    names.sort();
    names.dedup();
    for name in names
        .into_iter()
        .filter(|name| !LEFT_OUT.contains(&name.as_str()))
    {
        let [one, other] = [own, recorded].map(|members| members.get(name).map(plain));
        let one = one.filter(|value| !is_empty(value));
        let other = other.filter(|value| !is_empty(value));
        let same = match (&one, &other) {
            (None, None) => true,
            (Some(one), Some(other)) => same(name, one, other),
            _ => false,
        };
        if !same {
            let shown = |value: Option<Value>| value.unwrap_or_default().to_string();
            return Err(format!(
                "state of {identity:?}: `{name}` is {}, recorded {}",
                shown(one),
                shown(other)
            ));
        }
    }
    Ok(())
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::String(text) => text.is_empty(),
        _ => false,
    }
}

/// A value of an export in the notation of the pack.
fn plain(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(plain).collect(),
        Value::Object(members) => match members.get(SIGNATURE).and_then(Value::as_str) {
            Some(SECRET) => {
                let text = members["plaintext"].as_str().unwrap_or_default();
                let inner = serde_json::from_str(text).unwrap_or_default();
                serde_json::json!({ "$secret": plain(&inner) })
            }
            Some(ASSET) => marked("$asset", members),
            Some(ARCHIVE) => marked("$archive", members),
            Some(REFERENCE) => marked("$ref", members),
            _ => members
                .iter()
                .map(|(key, value)| (key.clone(), plain(value)))
                .collect::<Map<_, _>>()
                .into(),
        },
        value => value.clone(),
    }
}

fn marked(mark: &str, members: &Map<String, Value>) -> Value {
    let inner: Map<String, Value> = members
        .iter()
        .filter(|(key, _)| *key != SIGNATURE)
        .map(|(key, value)| (key.clone(), plain(value)))
        .collect();
    serde_json::json!({ mark: inner })
}

/// Whether a member has the recorded value. Lists of URNs have no order, and `<uuid-N>` stands for
/// any id.
fn same(name: &str, one: &Value, other: &Value) -> bool {
    let unordered = matches!(
        name,
        "dependencies" | "additionalSecretOutputs" | "aliases" | "replaceWith"
    );
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one.as_f64() == other.as_f64(),
        (Value::String(_), Value::String(other)) if other.contains("<uuid-") => {
            let (before, _) = other.split_once("<uuid-").unwrap();
            one.as_str().unwrap().starts_with(before)
        }
        (_, Value::Object(mark)) if mark.contains_key("$any") => true,
        (Value::Array(one), Value::Array(other)) if unordered => {
            let mut sorted = [one.clone(), other.clone()];
            for list in &mut sorted {
                list.sort_by_key(Value::to_string);
            }
            sorted[0] == sorted[1]
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .zip(other)
                    .all(|(one, other)| same("", one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .all(|(key, one)| other.get(key).is_some_and(|other| same("", one, other)))
        }
        (one, other) => one == other,
    }
}
