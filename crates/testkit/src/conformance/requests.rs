//! Requests to the monitor of the pack of Pulumi YAML: those of providers, which the engine keeps to
//! itself, and when requests are the recorded ones.

use std::collections::BTreeMap;

use blueprint::PROVIDER_TYPE;
use engine::Staged;
use serde_json::{Value as Json, json};

use super::notation::{has_unknown, is_null, marked, same};
use super::request_options;

/// The parts of requests that are compared, apart from their inputs.
const COMPARED: [&str; 7] = ["op", "type", "name", "urn", "remote", "token", "id"];

/// The registrations of the providers that the program declares.
pub(super) fn of_providers(staged: &Staged) -> Vec<Json> {
    let Some(evaluation) = &staged.evaluation else {
        return Vec::new();
    };
    let unit = evaluation.documents.unit(0);
    let resources = unit.blueprint().resources.iter();
    let declared = resources.filter(|(name, resource)| {
        // `default:PACKAGE` is implied by the configuration.
        resource.type_name.item.as_ref() == PROVIDER_TYPE && !name.contains(':')
    });
    let registered = declared.map(|(name, resource)| {
        let documents = &evaluation.documents;
        let urn = documents.urn_of(unit, name, resource, &evaluation.instance);
        let ty = urn.split("::").nth(2).unwrap_or_default();
        let ty = ty.rsplit('$').next().unwrap_or_default();
        let inputs = settings_of(staged, name);
        json!({
            "op": "register", "type": ty, "name": urn.rsplit("::").next(), "urn": urn.as_ref(),
            "custom": true, "inputs": inputs,
        })
    });
    registered.collect()
}

/// The settings of a provider in its step; only those at the top level.
fn settings_of(staged: &Staged, name: &str) -> Json {
    let step = staged
        .plan
        .steps
        .iter()
        .find(|step| step.address.to_string() == name);
    let changes = step.into_iter().flat_map(|step| &step.changes);
    let entries = changes.filter_map(|change| {
        let key = change.path.strip_prefix("spec.settings.")?;
        Some((key.to_owned(), marked(change.after.as_ref()?)))
    });
    Json::Object(entries.collect())
}

/// Adds the options of registrations.
pub(super) fn add_options(requests: &mut [Json], options: &BTreeMap<String, Json>) {
    for request in requests {
        let urn = request["urn"].as_str().unwrap_or_default();
        if let Some(options) = options.get(urn).filter(|_| request["op"] == "register") {
            request["options"] = options.clone();
        }
    }
}

/// Compares the options that are compared of a recorded registration with those of the found one.
/// `all` holds all recorded requests.
fn compare_options(wanted: &Json, found: &Json, all: &Json) -> Result<(), String> {
    for key in request_options::COMPARED {
        let (one, other) = (&wanted["options"][key], &found["options"][key]);
        // Pulumi's engine, not the program, inherits this option.
        if key == "retainOnDelete" && *one != *other && is_kept(wanted, all) == (*other == true) {
            continue;
        }
        // The token of an object that is read is completed by its package.
        let (one, other) = (without_types(one), without_types(other));
        if !is_empty(&one) && one != other || is_empty(&one) && !is_empty(&other) {
            let urn = &wanted["urn"];
            return Err(format!("option {key} of {urn}: {other}, wanted {one}"));
        }
    }
    Ok(())
}

/// Whether a registration or the nearest of its parents that says so keeps the object.
fn is_kept(request: &Json, all: &Json) -> bool {
    let options = &request["options"];
    let listed = all.as_array().into_iter().flatten();
    let mut parents =
        listed.filter(|one| one["urn"] == options["parent"] && one["op"] == "register");
    match options["retainOnDelete"].as_bool() {
        Some(is_kept) => is_kept,
        None => parents.next().is_some_and(|parent| is_kept(parent, all)),
    }
}

/// Replaces what a registration depends on by what is wanted, if it depends on all of that. The parent
/// need not be listed.
pub(super) fn leave_out_further_edges(found: &mut Json, wanted: &Json) {
    let parent = without_types(&found["parent"]);
    let has_all = |found: &Json, wanted: &Json| {
        let found = without_types(found);
        let listed = |one: &Json| found.as_array().is_some_and(|all| all.contains(one));
        let wanted = without_types(wanted);
        let mut wanted = wanted.as_array().into_iter().flatten();
        wanted.all(|one| listed(one) || *one == parent)
    };
    if has_all(&found["dependsOn"], &wanted["dependsOn"]) {
        found["dependsOn"] = wanted["dependsOn"].clone();
    }
    let properties = wanted["propertyDependencies"].as_object();
    let mut properties = properties.into_iter().flatten();
    if properties.all(|(name, wanted)| has_all(&found["propertyDependencies"][name], wanted)) {
        found["propertyDependencies"] = wanted["propertyDependencies"].clone();
    }
}

fn is_empty(json: &Json) -> bool {
    match json {
        Json::Null | Json::Bool(false) => true,
        Json::Array(items) => items.is_empty(),
        Json::Object(entries) => entries.is_empty(),
        _ => false,
    }
}

/// A value in which URNs have no types.
fn without_types(json: &Json) -> Json {
    match json {
        Json::String(text) if text.starts_with("urn:pulumi:") => {
            let mut parts: Vec<&str> = text.splitn(4, "::").collect();
            if let Some(types) = parts.get_mut(2) {
                *types = "";
            }
            Json::from(parts.join("::"))
        }
        Json::Array(items) => items.iter().map(without_types).collect(),
        Json::Object(entries) => {
            let entries = entries
                .iter()
                .map(|(key, one)| (key.clone(), without_types(one)));
            Json::Object(entries.collect())
        }
        other => other.clone(),
    }
}

/// Whether all recorded requests were sent, and no others.
pub(super) fn compare(wanted: &Json, found: &[Json]) -> Result<(), String> {
    let listed = wanted.as_array().into_iter().flatten();
    let counted = |request: &&Json| {
        let op = request["op"].as_str().unwrap_or_default();
        matches!(op, "register" | "invoke" | "read")
    };
    let mut rest: Vec<&Json> = found.iter().filter(counted).collect();
    rest.dedup();
    for request in listed.filter(counted) {
        if request["op"] == "register" {
            let same = found.iter().find(|one| is_same(request, one));
            same.map_or(Ok(()), |one| compare_options(request, one, wanted))?;
        }
        let before = rest.len();
        rest.retain(|other| !is_same(request, other));
        let was_sent = before > rest.len() || found.iter().any(|one| is_same(request, one));
        if !was_sent {
            let others: Vec<String> = rest.iter().map(|one| one.to_string()).collect();
            return Err(format!("no request {}, but {others:?}", bare(request)));
        }
    }
    match rest.first() {
        None => Ok(()),
        Some(request) => Err(format!("a further request {request}")),
    }
}

fn is_same(wanted: &Json, found: &Json) -> bool {
    // An object that is read has no name of its own here.
    let is_read = wanted["op"] == "read";
    let mut compared = COMPARED.iter();
    let agrees = compared.all(|key| {
        let is_left_out = is_read && matches!(*key, "name" | "urn");
        is_left_out || wanted[*key] == found[*key]
    });
    // The settings of a provider are known in its record only.
    let is_provider = found["type"]
        .as_str()
        .is_some_and(|ty| ty.starts_with("pulumi:providers:"));
    if agrees && is_provider && has_unknown(&found["inputs"]) {
        return true;
    }
    agrees && same(&given(&wanted["inputs"]), &given(&found["inputs"]))
}

/// Inputs without entries that are null.
fn given(inputs: &Json) -> Json {
    match inputs {
        Json::Object(entries) => {
            let entries = entries.iter().filter(|(_, value)| !is_null(value));
            let entries = entries.map(|(name, value)| (name.clone(), given(value)));
            Json::Object(entries.collect())
        }
        Json::Array(items) => items.iter().map(given).collect(),
        other => other.clone(),
    }
}

/// A request without its options, for messages.
fn bare(request: &Json) -> Json {
    let entries = request.as_object().into_iter().flatten();
    let entries = entries.filter(|(key, _)| *key != "options");
    Json::Object(
        entries
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect(),
    )
}
