//! Requests to the monitor of the pack of Pulumi YAML: those of providers, which the engine keeps to
//! itself, and when requests are the recorded ones.

use blueprint::PROVIDER_TYPE;
use engine::Staged;
use serde_json::{Map, Value as Json, json};

use super::notation::{has_unknown, marked, same};

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

/// Inputs without those that are null.
fn given(inputs: &Json) -> Json {
    let entries = inputs.as_object().into_iter().flatten();
    let entries = entries.filter(|(_, value)| !value.is_null());
    let entries: Map<String, Json> = entries
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    Json::Object(entries)
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
