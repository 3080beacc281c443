//! Reads a stack of real Heat over its API, as the tree that `openstack stack abandon` prints, so
//! that it can be taken over where Heat does not allow to abandon stacks.
//!
//! ```text
//! stacks?name=.. ──> template, environment, files
//!                └─> resources with those of nested stacks ──> a tree of stacks
//! ```
//!
//! The API does not show what Heat stores of a resource. Resources without an object in a service
//! live in Heat alone: their attributes stand for that.
//!
//! Not here: what becomes of the tree (the format `heat` of the engine).

use std::collections::HashMap;

use ::provider::{ErrorKind, ProviderError};
use futures::{StreamExt as _, TryStreamExt as _};
use serde_json::{Map, Value as Json, json};

use crate::client::{Cloud, Service, ServiceRequest};
use crate::types;

/// The levels of nested stacks that are asked for. Heat has its own limit below this one.
const LEVELS: &str = "50";

/// The number of requests that are under way together.
const TOGETHER: usize = 8;

/// The type whose numbers of removed members are not used again.
const RESOURCE_GROUP: &str = "OS::Heat::ResourceGroup";

/// Reads a stack with its nested stacks.
///
/// # Errors
/// [`ErrorKind::Document`] if the project has no such stack, or Heat is changing it; otherwise the
/// error of a request.
pub(crate) async fn read_stack(cloud: &Cloud, named: &str) -> Result<Json, ProviderError> {
    let stack = find(cloud, named).await?;
    let status = stack["stack_status"].as_str().unwrap_or_default();
    if status.ends_with("_IN_PROGRESS") {
        let message =
            format!("Heat is changing the stack (`{status}`): wait until it has done that");
        return Err(ProviderError::new(ErrorKind::Document, message));
    }
    let path = path_of(&stack);
    let part = |part: &str| get(cloud, format!("stacks/{path}/{part}"));
    let (template, environment, files, entries) = futures::future::try_join4(
        part("template"),
        part("environment"),
        part("files"),
        entries(cloud, &path),
    )
    .await?;
    Ok(tree(&stack, [template, environment, files], entries))
}

/// The path of a stack below `stacks/`.
fn path_of(stack: &Json) -> String {
    let text = |field: &str| stack[field].as_str().unwrap_or_default();
    format!("{}/{}", text("stack_name"), text("id"))
}

/// The tree of a stack with its template, environment and files, and the resources of all levels.
fn tree(stack: &Json, parts: [Json; 3], entries: Vec<Json>) -> Json {
    let mut of_stacks: HashMap<String, Vec<Json>> = HashMap::new();
    for entry in entries {
        let stack = link(&entry, "stack").unwrap_or_default().to_owned();
        of_stacks.entry(stack).or_default().push(entry);
    }
    let [template, environment, files] = parts;
    let (action, status) = state_of(stack["stack_status"].as_str().unwrap_or_default());
    json!({
        "name": stack["stack_name"],
        "id": stack["id"],
        "action": action,
        "status": status,
        "template": template,
        "environment": environment,
        "files": files,
        "resources": resources(&path_of(stack), &mut of_stacks),
    })
}

/// The stack with a name or an id, as a list shows it.
async fn find(cloud: &Cloud, named: &str) -> Result<Json, ProviderError> {
    for field in ["name", "id"] {
        let request = ServiceRequest::get(Service::Orchestration, "stacks");
        let mut answer = send(cloud, request.with_query(field, named)).await?;
        let found = answer["stacks"].as_array_mut();
        if let Some(stack) = found.and_then(Vec::pop) {
            return Ok(stack);
        }
    }
    let message = format!("Heat has no stack `{named}` in this project");
    Err(ProviderError::new(ErrorKind::Document, message))
}

/// The resources of a stack and of its nested stacks, those that live in Heat alone with their
/// attributes.
async fn entries(cloud: &Cloud, path: &str) -> Result<Vec<Json>, ProviderError> {
    let list = ServiceRequest::get(Service::Orchestration, format!("stacks/{path}/resources"));
    let mut answer = send(cloud, list.with_query("nested_depth", LEVELS)).await?;
    let entries = match answer["resources"].take() {
        Json::Array(entries) => entries,
        _ => Vec::new(),
    };
    let with_attributes = |mut entry: Json| async move {
        let own = match link(&entry, "self") {
            Some(own) if shows_more(&entry) => own.to_owned(),
            _ => return Ok(entry),
        };
        let mut answer = get(cloud, format!("stacks/{own}")).await?;
        entry["attributes"] = answer["resource"]["attributes"].take();
        Ok(entry)
    };
    futures::stream::iter(entries)
        .map(with_attributes)
        .buffered(TOGETHER)
        .try_collect()
        .await
}

/// Whether the attributes of a resource say what no service does.
fn shows_more(entry: &Json) -> bool {
    let type_name = entry["resource_type"].as_str().unwrap_or_default();
    let is_nested = link(entry, "nested").is_some();
    type_name == RESOURCE_GROUP || !is_nested && types::handler(type_name).is_none()
}

/// The resources of a stack with those of its nested stacks. Each stack is taken from the map, so
/// links in a circle end.
fn resources(path: &str, of_stacks: &mut HashMap<String, Vec<Json>>) -> Json {
    let mut all = Map::new();
    for entry in of_stacks.remove(path).unwrap_or_default() {
        let text = |field: &str| entry[field].as_str().unwrap_or_default();
        let (action, status) = state_of(text("resource_status"));
        let id = Some(text("physical_resource_id")).filter(|id| !id.is_empty());
        let mut resource = json!({
            "name": text("resource_name"),
            "resource_id": id,
            "type": text("resource_type"),
            "action": action,
            "status": status,
            "creation_time": text("creation_time"),
            "resource_data": stored_data(&entry["attributes"]),
        });
        if let Some(nested) = link(&entry, "nested") {
            resource["resources"] = resources(nested, of_stacks);
        }
        all.insert(text("resource_name").to_owned(), resource);
    }
    Json::Object(all)
}

/// What Heat stores of a resource with these attributes: texts.
fn stored_data(attributes: &Json) -> Json {
    let entries = attributes.as_object().into_iter().flatten();
    let texts = entries.filter_map(|(name, value)| {
        let text = |value: &Json| {
            value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned)
        };
        match (name.as_str(), value) {
            ("show", _) | (_, Json::Null) => None,
            // Heat stores them in this form.
            ("removed_rsrc_list", Json::Array(names)) => {
                let names: Vec<String> = names.iter().map(text).collect();
                Some(("name_blacklist".to_owned(), json!(names.join(","))))
            }
            (name, value) => Some((name.to_owned(), json!(text(value)))),
        }
    });
    Json::Object(texts.collect())
}

/// The path of what a link of an entry leads to, below `stacks/`.
fn link<'e>(entry: &'e Json, kind: &str) -> Option<&'e str> {
    let links = entry["links"].as_array()?;
    let link = links.iter().find(|link| link["rel"] == kind)?;
    let (_, path) = link["href"].as_str()?.split_once("/stacks/")?;
    Some(path)
}

/// The action and the status in a status of Heat, such as `CREATE_COMPLETE`.
fn state_of(text: &str) -> (&str, &str) {
    text.split_once('_').unwrap_or((text, ""))
}

async fn get(cloud: &Cloud, path: String) -> Result<Json, ProviderError> {
    send(cloud, ServiceRequest::get(Service::Orchestration, path)).await
}

async fn send(cloud: &Cloud, request: ServiceRequest) -> Result<Json, ProviderError> {
    let answer = cloud.send(request).await;
    answer
        .map(|answer| answer.body)
        .map_err(|error| error.into_provider_error(false))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What Heat answered about the stack `shop`: a network with a hidden description, a random
    /// text, a delay, a group of nested stacks that has lost its first member, and a scaling group.
    fn recorded() -> Json {
        serde_json::from_str(include_str!("recorded.json")).unwrap()
    }

    fn shop() -> Json {
        let mut recorded = recorded();
        let parts = ["template", "environment", "files"].map(|part| recorded[part].take());
        let Json::Array(entries) = recorded["resources"].take() else {
            panic!("no resources");
        };
        tree(&recorded["stack"], parts, entries)
    }

    #[test]
    fn a_stack_is_a_tree_as_that_of_an_abandoned_one() {
        let shop = shop();
        assert_eq!(
            [&shop["name"], &shop["action"], &shop["status"]],
            ["shop", "CREATE", "COMPLETE"]
        );
        assert_eq!(shop["environment"]["parameters"]["secret"], "******");
        assert!(shop["files"]["cell.yaml"].is_string());
        let resources = &shop["resources"];
        assert_eq!(resources["net"]["type"], "OS::Neutron::Net");
        assert_eq!(resources["net"]["resource_data"], json!({}));
        assert_eq!(resources["pause"]["resource_id"], Json::Null);
    }

    #[test]
    fn nested_stacks_are_in_the_places_of_their_resources() {
        let shop = shop();
        let cells = &shop["resources"]["cells"];
        let names: Vec<&String> = cells["resources"].as_object().unwrap().keys().collect();
        assert_eq!(names, ["1", "2"]);
        let port = &cells["resources"]["2"]["resources"]["port"];
        let recorded = recorded();
        let entries = recorded["resources"].as_array().unwrap();
        let ids = entries.iter().map(|entry| &entry["physical_resource_id"]);
        assert!(
            ids.into_iter().any(|id| *id == port["resource_id"]),
            "{port}"
        );
        let scaled = shop["resources"]["scaled"]["resources"]
            .as_object()
            .unwrap();
        assert!(scaled.values().all(|it| it["creation_time"].is_string()));
    }

    #[test]
    fn attributes_stand_for_the_data_that_heat_stores() {
        let shop = shop();
        let word = &shop["resources"]["word"]["resource_data"];
        assert_eq!(*word, json!({"value": "BZgld7g5"}));
        let cells = &shop["resources"]["cells"]["resource_data"];
        assert_eq!(*cells, json!({"name_blacklist": "0"}));
    }

    #[test]
    fn links_in_a_circle_end() {
        let entry = json!({
            "resource_name": "again",
            "links": [
                {"rel": "stack", "href": "http://heat.example.com/v1/p/stacks/shop/1"},
                {"rel": "nested", "href": "http://heat.example.com/v1/p/stacks/shop/1"},
            ],
        });
        let stack = json!({"stack_name": "shop", "id": "1", "stack_status": "CREATE_COMPLETE"});
        let tree = tree(&stack, [Json::Null, Json::Null, Json::Null], vec![entry]);
        assert_eq!(tree["resources"]["again"]["resources"], json!({}));
    }
}
