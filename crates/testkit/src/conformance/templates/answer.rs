//! The answer of a step in the form in which Heat's answer is recorded.

use std::collections::BTreeMap;

use blueprint::{Address, Name};
use serde_json::{Map, Value as Json, json};
use state::{Snapshot, StatusOp, StatusWord};

use super::super::heat_values::to_json;
use super::super::resolved::ResolvedElement;
use super::step::StepResult;

/// The answer of a step. `encrypted`: the parameters that Heat stores encrypted.
pub(super) fn answer_of(answer: &StepResult, encrypted: &Json) -> Map<String, Json> {
    let mut out = Map::new();
    out.insert("action".into(), json!(answer.action));
    out.insert("status".into(), json!(answer.status));
    let outputs = answer
        .exports
        .iter()
        .map(|(name, value)| (name.to_string(), to_json(&value.revealed())));
    out.insert("outputs".into(), Json::Object(outputs.collect()));
    let Some(resolved) = &answer.resolved else {
        return out;
    };
    let encrypted = encrypted.as_array();
    // Heat stores these parameters encrypted and shows their values.
    let is_encrypted =
        |name: &str| encrypted.is_some_and(|names| names.iter().any(|one| *one == *name));
    let parameters = resolved.inputs.iter().map(|(name, value)| {
        let shown = match value.has_secret() {
            true if is_encrypted(name) => to_json(&value.revealed()),
            true => json!("******"),
            false => to_json(value),
        };
        (name.to_string(), shown)
    });
    out.insert("parameters".into(), Json::Object(parameters.collect()));
    let conditions = resolved.locals.iter().filter_map(|(name, value)| {
        value
            .as_ref()
            .map(|value| (name.to_string(), to_json(value)))
    });
    out.insert("conditions".into(), Json::Object(conditions.collect()));
    let mut resources = Map::new();
    let mut disabled = Vec::new();
    for element in &resolved.elements {
        if !element.is_present {
            disabled.push(json!(element.name.as_ref()));
            continue;
        }
        let address = Address::root(element.name.clone());
        let record = answer.snapshot.records.get(&address);
        let child = answer
            .snapshot
            .records
            .iter()
            .filter(|(at, _)| at.path.first() == Some(&element.name));
        let child_state = || {
            let ops: Vec<&str> = child
                .map(|(_, record)| state_of(record))
                .map(|state| {
                    if state.starts_with("UPDATE") {
                        "UPDATE_COMPLETE"
                    } else {
                        "CREATE_COMPLETE"
                    }
                })
                .collect();
            if answer.action == "CREATE" && answer.status == "IN_PROGRESS" {
                "INIT_COMPLETE"
            } else if ops.contains(&"UPDATE_COMPLETE") {
                "UPDATE_COMPLETE"
            } else {
                "CREATE_COMPLETE"
            }
            .to_owned()
        };
        let mut one = Map::new();
        one.insert("type".into(), json!(element.type_name.as_ref()));
        let state = match record {
            _ if element.external.is_some() => "CHECK_COMPLETE".to_owned(),
            // Heat never updates a resource of this type.
            Some(record) if record.type_name.as_ref() == "OS::Heat::None" => state_of(record),
            Some(record)
                if is_updated(answer, element) && state_of(record) == "CREATE_COMPLETE" =>
            {
                "UPDATE_COMPLETE".to_owned()
            }
            // Heat counts a change of the record alone as an update.
            Some(record)
                if answer
                    .before
                    .records
                    .get(&address)
                    .is_some_and(|before| only_recorded(before, record)) =>
            {
                "UPDATE_COMPLETE".to_owned()
            }
            Some(record) => state_of(record),
            // Heat counts an unchanged resource as updated in every update.
            None if element.is_child && child_existed(answer, element) => {
                "UPDATE_COMPLETE".to_owned()
            }
            None if element.is_child => child_state(),
            None => "INIT_COMPLETE".to_owned(),
        };
        one.insert("state".into(), json!(state));
        let written = element
            .written
            .as_ref()
            .map(|value| to_json(&value.revealed()));
        one.insert("properties".into(), written.unwrap_or_default());
        let given = element.given.revealed();
        let typed = given
            .as_map()
            .into_iter()
            .flatten()
            .filter(|(_, value)| !value.is_null());
        let typed = typed.map(|(name, value)| (name.to_string(), to_json(value)));
        one.insert("typed_properties".into(), Json::Object(typed.collect()));
        one.insert(
            "requires".into(),
            json!(
                element
                    .needs
                    .iter()
                    .map(|name| name.as_ref())
                    .collect::<Vec<_>>()
            ),
        );
        let stays = element.external.as_ref().map(|_| "Retain");
        one.insert(
            "deletion_policy".into(),
            json!(stays.unwrap_or(element.deletion_policy.as_ref())),
        );
        one.extend(
            element
                .external
                .as_ref()
                .map(|id| ("external_id".to_owned(), json!(id.as_ref()))),
        );
        if !element.update_policy.is_null() {
            one.insert(
                "update_policy".into(),
                to_json(&element.update_policy.revealed()),
            );
        }
        if let Some(metadata) = element.metadata.get("custom") {
            one.insert("metadata".into(), to_json(&metadata.revealed()));
        }
        resources.insert(element.name.to_string(), Json::Object(one));
    }
    disabled.sort_by_key(|name| name.to_string());
    out.insert("disabled_resources".into(), Json::Array(disabled));
    out.insert("resources".into(), Json::Object(resources));
    out
}

/// The element in the step before, if it is the same resource.
fn element_before<'a>(
    answer: &'a StepResult,
    element: &ResolvedElement,
) -> Option<&'a ResolvedElement> {
    let before = answer
        .previous
        .iter()
        .flat_map(|previous| &previous.elements)
        .find(|one| one.name == element.name)?;
    let address = Address::root(element.name.clone());
    let id = |snapshot: &Snapshot| {
        snapshot
            .records
            .get(&address)
            .map(|record| record.id.clone())
    };
    let same = before.is_present
        && before.is_child == element.is_child
        && id(&answer.before) == id(&answer.snapshot);
    same.then_some(before)
}

/// Whether the child existed before.
fn child_existed(answer: &StepResult, element: &ResolvedElement) -> bool {
    element_before(answer, element).is_some()
}

/// Whether an update of the resource changes its dependencies, the spelling of its type, its update
/// policy, or the set of written properties. Heat counts such a change as an update.
fn is_updated(answer: &StepResult, element: &ResolvedElement) -> bool {
    let written = |element: &ResolvedElement| -> Vec<Name> {
        let fields = element
            .written
            .as_ref()
            .map(blueprint::Value::revealed)
            .unwrap_or_default();
        fields
            .as_map()
            .into_iter()
            .flatten()
            .map(|(name, _)| name.clone())
            .collect()
    };
    element_before(answer, element).is_some_and(|before| {
        before.depends_on != element.depends_on
            || before.type_name != element.type_name
            || before.update_policy != element.update_policy
            || written(element)
                .iter()
                .any(|name| !written(before).contains(name))
            || written(before)
                .iter()
                .any(|name| !written(element).contains(name))
    })
}

/// Whether only the metadata of a resource or its retention has changed.
fn only_recorded(before: &state::Record, now: &state::Record) -> bool {
    before.id == now.id && (before.metadata != now.metadata || before.retain != now.retain)
}

fn state_of(record: &state::Record) -> String {
    let op = match record.status.op {
        StatusOp::Create => "CREATE",
        StatusOp::Update => "UPDATE",
        StatusOp::Delete => "DELETE",
    };
    let word = match record.status.word {
        StatusWord::Ready | StatusWord::Gone | StatusWord::Retained => "COMPLETE",
        StatusWord::Failed => "FAILED",
        _ => "IN_PROGRESS",
    };
    format!("{op}_{word}")
}

/// The states of resources after a failure. A child failed if any of its resources failed. A child
/// without members has no records: it is created as soon as everything that it needs is created.
pub(super) fn states_of(answer: &StepResult) -> Json {
    let mut states: BTreeMap<String, String> = BTreeMap::new();
    for (address, record) in &answer.snapshot.records {
        let name = address
            .path
            .first()
            .map_or_else(|| address.name.to_string(), |child| child.to_string());
        let state = state_of(record);
        match states.get(&name) {
            Some(known) if known.ends_with("FAILED") => {}
            _ => drop(states.insert(name, state)),
        }
    }
    let mut open: Vec<&ResolvedElement> = answer
        .declared
        .iter()
        .filter(|one| !states.contains_key(one.name.as_ref()))
        .collect();
    loop {
        let is_made = |one: &&ResolvedElement| {
            let done = |name: &Name| {
                states
                    .get(name.as_ref())
                    .is_some_and(|state| state.ends_with("COMPLETE"))
            };
            one.is_child && one.needs.iter().all(done)
        };
        let Some(at) = open.iter().position(is_made) else {
            break;
        };
        let one = open.remove(at);
        let was_there = answer.before.declared.children.contains_key(&one.name);
        let state = if was_there {
            "UPDATE_COMPLETE"
        } else {
            "CREATE_COMPLETE"
        };
        states.insert(one.name.to_string(), state.to_owned());
    }
    states.extend(
        open.into_iter()
            .map(|one| (one.name.to_string(), "INIT_COMPLETE".to_owned())),
    );
    json!(states)
}

/// The results of the resources of the root, with each child as one resource, also a child without
/// members.
pub(super) fn changes_between(before: &Snapshot, after: &Snapshot) -> Json {
    let ids = |snapshot: &Snapshot| -> BTreeMap<Name, Vec<Name>> {
        let mut ids: BTreeMap<Name, Vec<Name>> = BTreeMap::new();
        for (address, record) in &snapshot.records {
            match address.path.first() {
                Some(child) => drop(ids.entry(child.clone()).or_default()),
                None => ids
                    .entry(address.name.clone())
                    .or_default()
                    .push(record.id.clone()),
            }
        }
        for child in snapshot
            .declared
            .children
            .keys()
            .filter(|name| !name.contains('/'))
        {
            ids.entry(child.clone()).or_default();
        }
        ids
    };
    let (before, after) = (ids(before), ids(after));
    let names = |filter: &dyn Fn(&Name) -> bool, of: &BTreeMap<Name, Vec<Name>>| -> Vec<String> {
        of.keys()
            .filter(|name| filter(name))
            .map(|name| name.to_string())
            .collect()
    };
    json!({
        "added": names(&|name| !before.contains_key(name), &after),
        "kept": names(&|name| before.get(name) == after.get(name), &after),
        "removed": names(&|name| !after.contains_key(name), &before),
        "replaced": names(&|name| before.get(name).is_some_and(|ids| Some(ids) != after.get(name)), &after),
    })
}
