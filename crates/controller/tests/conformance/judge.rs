//! What is compared with a recording, by level: 2 is the objects, 3 statuses, 4 events. The messages
//! of conditions are not compared.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value as Json, json};

/// What a step is compared with.
pub(crate) struct RecordedStep<'r> {
    /// The step of the recording.
    pub(crate) recorded: &'r Json,
    /// Objects that exist only because of an earlier step that the decisions of the project change.
    pub(crate) carried_over: &'r BTreeSet<String>,
    /// Whether the cluster deletes objects whose owner does not exist; that of the recording did not.
    pub(crate) collects_garbage: bool,
}

impl RecordedStep<'_> {
    /// The objects that exist and are not recorded.
    pub(crate) fn further(&self, objects: &BTreeMap<String, Json>) -> BTreeSet<String> {
        let expected = &self.recorded["objects"];
        let further = objects.keys().filter(|key| expected.get(*key).is_none());
        further.cloned().collect()
    }
}

/// The differences at levels 2 to 4 between the objects and events of a step and the recorded ones.
pub(crate) fn differences(
    step: &RecordedStep<'_>,
    objects: &BTreeMap<String, Json>,
    events: &[Json],
) -> Vec<(u8, String)> {
    let recorded = step.recorded;
    let mut found = Vec::new();
    let unstable = texts(&recorded["unstable"]);
    let expected = recorded["objects"].as_object().expect("a step has objects");
    for key in step.further(objects) {
        if !unstable.contains(&key) && !step.carried_over.contains(&key) {
            found.push((2, format!("{key} exists")));
        }
    }
    for (key, recorded) in expected {
        if unstable.contains(key) {
            continue;
        }
        let Some(object) = objects.get(key) else {
            if step.collects_garbage && is_garbage(recorded, expected) {
                continue;
            }
            found.push((2, format!("{key} is missing")));
            continue;
        };
        if recorded.get("apiVersion").is_some() {
            let (ours, theirs) = (stamped_form(object), stamped_form(recorded));
            found.extend(difference("", &theirs, &ours).map(|text| (2, format!("{key}{text}"))));
        }
        let (ours, theirs) = (status_form(key, object), status_form(key, recorded));
        found.extend(difference("", &theirs, &ours).map(|text| (3, format!("{key}{text}"))));
    }
    found.extend(event_differences(recorded, events));
    found
}

/// Whether the owner of a recorded object is not recorded.
fn is_garbage(recorded: &Json, expected: &Map<String, Json>) -> bool {
    let owner = &recorded["metadata"]["ownerReferences"][0];
    let text = |field: &str| owner[field].as_str().unwrap_or_default();
    owner.is_object() && !expected.contains_key(&format!("{}/{}", text("kind"), text("name")))
}

fn texts(list: &Json) -> BTreeSet<String> {
    let items = list.as_array().into_iter().flatten();
    items
        .filter_map(|item| item.as_str().map(str::to_owned))
        .collect()
}

/// What level 2 compares of a stamped object.
fn stamped_form(object: &Json) -> Json {
    let owners = object["metadata"]["ownerReferences"].as_array();
    let owners = owners.into_iter().flatten().map(|owner| {
        let fields = [
            "apiVersion",
            "kind",
            "name",
            "controller",
            "blockOwnerDeletion",
        ];
        part(owner, &fields)
    });
    let owners: Vec<Json> = owners.collect();
    let mut form = part(object, &["apiVersion", "kind", "spec", "data"]);
    form["labels"] = object["metadata"]["labels"].clone();
    form["ownerReferences"] = owners.into();
    form
}

/// What level 3 compares of the status of an owner, a blueprint or a Runnable.
fn status_form(key: &str, object: &Json) -> Json {
    let status = &object["status"];
    let kind = key.split('/').next().unwrap_or_default();
    match kind {
        "Workload" | "Deliverable" => json!({
            "conditions": conditions(&status["conditions"]),
            "supplyChainRef": status["supplyChainRef"],
            "deliveryRef": status["deliveryRef"],
            "resources": list(&status["resources"], resource_form),
        }),
        "ClusterSupplyChain" | "ClusterDelivery" => {
            json!({"conditions": conditions(&status["conditions"])})
        }
        "Runnable" => json!({
            "conditions": conditions(&status["conditions"]),
            "outputs": status["outputs"],
        }),
        _ => Json::Null,
    }
}

fn resource_form(resource: &Json) -> Json {
    json!({
        "name": resource["name"],
        "templateRef": resource["templateRef"],
        "stampedRef": resource["stampedRef"],
        "inputs": list(&resource["inputs"], |input| part(input, &["name"])),
        "outputs": list(&resource["outputs"], |output| part(output, &["name", "preview", "digest"])),
        "conditions": conditions(&resource["conditions"]),
    })
}

fn conditions(conditions: &Json) -> Json {
    list(conditions, |condition| {
        let text = |field: &str| condition[field].as_str().unwrap_or("-").to_owned();
        Json::from(format!(
            "{} {} {}",
            text("type"),
            text("status"),
            text("reason")
        ))
    })
}

fn list(items: &Json, form: impl Fn(&Json) -> Json) -> Json {
    items.as_array().into_iter().flatten().map(form).collect()
}

fn part(object: &Json, fields: &[&str]) -> Json {
    let present = fields.iter().filter_map(|field| {
        let value = object.get(*field)?;
        Some(((*field).to_owned(), value.clone()))
    });
    Json::Object(present.collect::<Map<_, _>>())
}

/// The differences of events, as a set of object and reason.
fn event_differences(recorded: &Json, events: &[Json]) -> Vec<(u8, String)> {
    let of = |events: &[Json], object: fn(&Json) -> String| -> BTreeSet<String> {
        let named = events.iter();
        let named = named.map(|event| {
            let reason = event["reason"].as_str().unwrap_or_default();
            format!("{} {reason}", object(event))
        });
        named.collect()
    };
    let none = Vec::new();
    let recorded_events = recorded["events"].as_array().unwrap_or(&none);
    let unstable = recorded["unstableEvents"].as_array().unwrap_or(&none);
    let named: fn(&Json) -> String = |event| event["object"].as_str().unwrap_or_default().into();
    let about: fn(&Json) -> String = |event| {
        let about = &event["involvedObject"];
        let text = |field: &str| about[field].as_str().unwrap_or_default().to_owned();
        format!("{}/{}", text("kind"), text("name"))
    };
    let theirs = of(recorded_events, named);
    let open = of(unstable, named);
    let ours = of(events, about);
    let missing = theirs
        .difference(&ours)
        .filter(|event| !open.contains(*event));
    let missing = missing.map(|event| format!("no event {event}"));
    let further = ours
        .difference(&theirs)
        .filter(|event| !open.contains(*event));
    let further = further.map(|event| format!("a further event {event}"));
    missing.chain(further).map(|text| (4, text)).collect()
}

/// The first difference of two values. A missing entry equals null; whole numbers equal floats.
fn difference(path: &str, recorded: &Json, ours: &Json) -> Option<String> {
    match (recorded, ours) {
        (Json::Object(theirs), Json::Object(own)) => {
            let names: BTreeSet<&String> = theirs.keys().chain(own.keys()).collect();
            names.into_iter().find_map(|name| {
                let theirs = theirs.get(name).unwrap_or(&Json::Null);
                let own = own.get(name).unwrap_or(&Json::Null);
                difference(&format!("{path}.{name}"), theirs, own)
            })
        }
        (Json::Array(theirs), Json::Array(own)) if theirs.len() == own.len() => {
            let pairs = theirs.iter().zip(own).enumerate();
            pairs
                .into_iter()
                .find_map(|(at, (theirs, own))| difference(&format!("{path}[{at}]"), theirs, own))
        }
        _ if equal(recorded, ours) => None,
        _ => Some(format!("{path}: recorded {recorded}, ours {ours}")),
    }
}

fn equal(one: &Json, other: &Json) -> bool {
    match (one.as_f64(), other.as_f64()) {
        (Some(one), Some(other)) => one == other,
        _ => one == other,
    }
}

/// Whether an object has all that an assertion states: maps may have more, lists may not. The
/// messages of conditions are the project's own, so they are not compared.
pub(crate) fn is_subset(wanted: &Json, object: &Json) -> bool {
    match (wanted, object) {
        (Json::Object(wanted), Json::Object(object)) => {
            let is_condition = wanted.contains_key("type") && wanted.contains_key("status");
            wanted.iter().all(|(name, wanted)| {
                let own = object.get(name);
                let is_message = is_condition && name == "message";
                is_message || own.is_some_and(|own| is_subset(wanted, own))
            })
        }
        (Json::Array(wanted), Json::Array(items)) => {
            let pairs = wanted.iter().zip(items);
            wanted.len() == items.len()
                && pairs.into_iter().all(|(one, other)| is_subset(one, other))
        }
        _ => equal(wanted, object),
    }
}
