//! What became of the owners in a cluster.

use cartographer::kinds::{API_VERSION, CartoKind, GROUP, VERSION};
use kube::Client;
use kube::api::{Api, DynamicObject, ListParams};
use kube::core::GroupVersionKind;
use kube::discovery::{ApiResource, Scope, pinned_kind};
use serde_json::{Value as Json, json};

use super::local::title;
use crate::exit::CommandError;
use crate::terminal::Paint;
use crate::view::table::table;

/// The kinds of owners, in the order in which they are shown.
const OWNERS: [CartoKind; 3] = [
    CartoKind::Workload,
    CartoKind::Deliverable,
    CartoKind::Runnable,
];

/// The owners of a cluster, as it has them.
pub(super) struct OwnerStates {
    all: Vec<Json>,
}

impl OwnerStates {
    /// Whether every owner is ready. Without owners it is.
    pub(super) fn all_ready(&self) -> bool {
        self.all.iter().all(|owner| is_true(owner, "Ready"))
    }

    /// The owners for machine output: identity, conditions and resources of the status.
    pub(super) fn json(&self) -> Vec<Json> {
        let one = |owner: &Json| {
            json!({
                "object": title(owner),
                "ready": is_true(owner, "Ready"),
                "status": owner["status"],
            })
        };
        self.all.iter().map(one).collect()
    }
}

/// Reads the owners.
///
/// # Errors
/// If the cluster does not answer.
pub(super) async fn owner_states(client: &Client) -> Result<OwnerStates, CommandError> {
    let mut owners = Vec::new();
    for kind in OWNERS {
        let asked = GroupVersionKind::gvk(GROUP, VERSION, kind.name());
        let resource = ApiResource::from_gvk_with_plural(&asked, kind.plural());
        let all: Api<DynamicObject> = Api::all_with(client.clone(), &resource);
        let found = all.list(&ListParams::default()).await.map_err(unread)?;
        for object in found {
            let mut json = serde_json::to_value(&object).map_err(unread_json)?;
            json["apiVersion"] = json!(API_VERSION);
            json["kind"] = json!(kind.name());
            owners.push(json);
        }
    }
    Ok(OwnerStates { all: owners })
}

/// The objects that the statuses of the owners name, without what the cluster adds.
///
/// # Errors
/// If the cluster does not answer.
pub(super) async fn stamped_objects(
    client: &Client,
    owners: &OwnerStates,
) -> Result<Vec<Json>, CommandError> {
    let mut objects = Vec::new();
    let entries = owners.all.iter().flat_map(resources);
    for reference in entries.map(|entry| &entry["stampedRef"]) {
        let part = |name: &str| reference[name].as_str().unwrap_or_default();
        let (group, version) = match part("apiVersion").split_once('/') {
            Some(both) => both,
            None => ("", part("apiVersion")),
        };
        if part("name").is_empty() {
            continue;
        }
        let asked = GroupVersionKind::gvk(group, version, part("kind"));
        let (resource, capabilities) = pinned_kind(client, &asked).await.map_err(unread)?;
        let api: Api<DynamicObject> = match capabilities.scope {
            Scope::Cluster => Api::all_with(client.clone(), &resource),
            Scope::Namespaced => Api::namespaced_with(client.clone(), part("namespace"), &resource),
        };
        let Some(found) = api.get_opt(part("name")).await.map_err(unread)? else {
            continue;
        };
        let found = serde_json::to_value(&found).map_err(unread_json)?;
        objects.push(plain(found));
    }
    Ok(objects)
}

/// The object without what differs from one cluster to the next.
fn plain(mut object: Json) -> Json {
    if let Some(entries) = object.as_object_mut() {
        entries.remove("status");
    }
    if let Some(metadata) = object["metadata"].as_object_mut() {
        for name in [
            "managedFields",
            "uid",
            "resourceVersion",
            "creationTimestamp",
            "generation",
        ] {
            metadata.remove(name);
        }
        let references = metadata.get_mut("ownerReferences");
        for reference in references
            .and_then(Json::as_array_mut)
            .into_iter()
            .flatten()
        {
            if let Some(entries) = reference.as_object_mut() {
                entries.remove("uid");
            }
        }
    }
    object
}

/// The owners for people: a table for each owner, with the reasons of what is not ready.
pub(super) fn text(owners: &OwnerStates, paint: Paint) -> String {
    let mut text = String::new();
    for owner in &owners.all {
        let is_ready = is_true(owner, "Ready");
        let word = match is_ready {
            true => paint.green("ready"),
            false => paint.red("not ready"),
        };
        let status = &owner["status"];
        let by = ["supplyChainRef", "deliveryRef", "runTemplateRef"];
        let chain = by.iter().find_map(|name| status[*name]["name"].as_str());
        let chain = chain.map_or(String::new(), |name| format!(" by {name}"));
        text.push_str(&format!("{}{chain}: {word}\n", paint.bold(title(owner))));
        let rows: Vec<Vec<String>> = resources(owner).iter().map(row).collect();
        if !rows.is_empty() {
            let heads = ["RESOURCE", "OBJECT", "SUBMITTED", "HEALTHY", "OUTPUT"];
            for line in table(&heads, &rows, paint).lines() {
                text.push_str(&format!("  {line}\n"));
            }
        }
        for why in problems(owner) {
            text.push_str(&format!("  {} {why}\n", paint.red("because:")));
        }
        text.push('\n');
    }
    let ready = owners.all.iter().filter(|owner| is_true(owner, "Ready"));
    let all = owners.all.len();
    let owners = if all == 1 { "owner is" } else { "owners are" };
    text.push_str(&format!("{} of {all} {owners} ready\n", ready.count()));
    text
}

fn row(entry: &Json) -> Vec<String> {
    let reference = &entry["stampedRef"];
    let object = match reference["name"].as_str() {
        Some(_) => title(&json!({
            "kind": reference["kind"],
            "metadata": {"namespace": reference["namespace"], "name": reference["name"]},
        })),
        None => "-".to_owned(),
    };
    let state = |condition: &str| {
        let found = condition_of(entry, condition);
        found["status"].as_str().unwrap_or("-").to_owned()
    };
    let outputs = entry["outputs"].as_array().into_iter().flatten();
    let outputs: Vec<String> = outputs
        .filter_map(|output| {
            let preview = output["preview"].as_str()?.trim_end();
            Some(format!(
                "{}: {}",
                output["name"].as_str()?,
                shortened(preview)
            ))
        })
        .collect();
    let name = entry["name"].as_str().unwrap_or_default().to_owned();
    vec![
        name,
        object,
        state("ResourceSubmitted"),
        state("Healthy"),
        outputs.join(", "),
    ]
}

/// A text of at most 40 characters: the beginning and the end of a longer one. Machine output has
/// the whole.
fn shortened(text: &str) -> String {
    let line: Vec<char> = text
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .chars()
        .collect();
    if line.len() <= 40 {
        return line.into_iter().collect();
    }
    let (begin, end) = (line.iter().take(24), line.iter().skip(line.len() - 13));
    begin.chain(&['.', '.']).chain(end).collect()
}

/// Why an owner is not ready: the first condition of each resource that is not true, or those of
/// the owner if its resources have none.
fn problems(owner: &Json) -> Vec<String> {
    let of_resources: Vec<String> = resources(owner)
        .iter()
        .filter_map(|entry| {
            let name = entry["name"].as_str().unwrap_or_default();
            Some(format!("{name}: {}", first_problem(entry)?))
        })
        .collect();
    match of_resources.is_empty() {
        true => first_problem(&owner["status"]).into_iter().collect(),
        false => of_resources,
    }
}

/// The message of the first condition that is not true, or its reason.
fn first_problem(part: &Json) -> Option<String> {
    let mut conditions = part["conditions"].as_array()?.iter();
    let open = conditions.find(|condition| condition["status"] != "True")?;
    let message = open["message"].as_str().unwrap_or_default();
    let reason = open["reason"].as_str().unwrap_or_default();
    let words = if message.is_empty() { reason } else { message };
    Some(words.to_owned())
}

fn resources(owner: &Json) -> &[Json] {
    owner["status"]["resources"]
        .as_array()
        .map_or(&[], Vec::as_slice)
}

fn condition_of<'a>(part: &'a Json, wanted: &str) -> &'a Json {
    let mut conditions = part["conditions"].as_array().into_iter().flatten();
    conditions
        .find(|condition| condition["type"] == wanted)
        .unwrap_or(&Json::Null)
}

fn is_true(owner: &Json, condition: &str) -> bool {
    condition_of(&owner["status"], condition)["status"] == "True"
}

fn unread(error: kube::Error) -> CommandError {
    CommandError::Cluster(Box::new(error))
}

fn unread_json(error: serde_json::Error) -> CommandError {
    CommandError::Cluster(Box::new(error))
}
