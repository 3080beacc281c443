//! The changes of a server in place: metadata, tags, name, interfaces, flavor, image, user data,
//! password.

use ::provider::{ErrorKind, ProviderError};
use serde_json::{Value as Json, json};

use super::super::deployments::ServerContainer;
use super::super::kinds::{FLAVOR, IMAGE};
use super::body::metadata_of;
use super::calls::{MARK, act, refresh};
use super::{networks, user_data};
use crate::client::{Service, ServiceRequest};
use crate::managed::{CloudCall, JsonMap, Patience, SpecChange};

/// The seconds that a change of the flavor may take.
const RESIZE: u64 = 3600;

/// Carries out a change.
///
/// # Errors
/// The errors of the calls; [`ErrorKind::Permanent`] if Nova accepts a change and then fails.
pub(super) async fn carry_out(
    on: CloudCall<'_>,
    change: SpecChange<'_>,
    object: &mut Json,
) -> Result<(), ProviderError> {
    // An interrupted run may have left a resize that nobody has confirmed.
    if matches!(object["status"].as_str(), Some("RESIZE" | "VERIFY_RESIZE")) {
        finish_resize(on, None, object).await?;
    }
    set_plain_fields(on, change, object).await?;
    if change.has("networks") {
        networks::update(on, change, object).await?;
    }
    resize(on, change, object).await?;
    rebuild(on, change, object).await
}

/// Sets what Nova changes at once: metadata, tags, the name.
async fn set_plain_fields(
    on: CloudCall<'_>,
    change: SpecChange<'_>,
    object: &mut Json,
) -> Result<(), ProviderError> {
    let path = format!("servers/{}", object["id"].as_str().unwrap_or_default());
    let put = |suffix: &str, body: Json| {
        ServiceRequest::put(Service::Compute, format!("{path}{suffix}"), body)
    };
    let metadata = Json::Object(metadata_of(change.desired));
    if object["metadata"] != metadata {
        let body = json!({ "metadata": metadata });
        on.change(put("/metadata", body)).await?;
        object["metadata"] = metadata;
    }
    let tags = tags_of(change.desired, object);
    if !same_tags(&tags, &object["tags"]) {
        on.change(put("/tags", json!({ "tags": tags }))).await?;
        object["tags"] = json!(tags);
    }
    let name = change
        .desired
        .get("name")
        .filter(|name| **name != object["name"]);
    if let Some(name) = name {
        let body = json!({ "server": { "name": name } });
        on.change(put("", body)).await?;
        object["name"] = name.clone();
    }
    Ok(())
}

/// The tags that a server must have: those of the spec, and its mark.
fn tags_of(spec: &JsonMap, object: &Json) -> Vec<Json> {
    let tags = spec.get("tags").and_then(Json::as_array);
    let tags = tags.into_iter().flatten().cloned();
    tags.chain(MARK.kept(object)).collect()
}

/// Whether a server has these tags, in any order.
fn same_tags(tags: &[Json], shown: &Json) -> bool {
    let shown = shown.as_array().map(Vec::as_slice).unwrap_or_default();
    let within = |some: &[Json], all: &[Json]| some.iter().all(|tag| all.contains(tag));
    within(tags, shown) && within(shown, tags)
}

/// Gives a server its flavor, unless it has it.
async fn resize(
    on: CloudCall<'_>,
    change: SpecChange<'_>,
    object: &mut Json,
) -> Result<(), ProviderError> {
    let Some(flavor) = change.desired.get("flavor").and_then(Json::as_str) else {
        return Ok(());
    };
    let id = on.id_of(&FLAVOR, flavor).await;
    let id = id.map_err(|error| error.at("flavor"))?;
    // A server shows the name of its flavor only.
    let request = ServiceRequest::get(Service::Compute, format!("flavors/{id}"));
    let wanted = match on.send(request).await {
        Ok(answer) => answer.body["flavor"]["name"].clone(),
        // The flavor may have been deleted since the server was made.
        Err(error) if error.is_not_found() && !change.has("flavor") => return Ok(()),
        Err(error) => return Err(error.into_provider_error(false).at("flavor")),
    };
    if object["flavor"]["original_name"] == wanted {
        return Ok(());
    }
    let request = act(on, &object["id"], "resize", json!({ "flavorRef": id })).await;
    let request = request.map_err(|error| error.at("flavor"))?;
    finish_resize(on, request.as_deref(), object).await?;
    if object["flavor"]["original_name"] != wanted {
        let message = "Nova accepted the flavor and did not change it";
        return Err(ProviderError::new(ErrorKind::Permanent, message).at("flavor"));
    }
    Ok(())
}

/// Waits until a resize can be confirmed, and confirms it. `request` is the id of the request that
/// started it.
///
/// A server without a host for its new size just stays as it is. Only the list of actions tells.
async fn finish_resize(
    on: CloudCall<'_>,
    request: Option<&str>,
    object: &mut Json,
) -> Result<(), ProviderError> {
    let mut patience = Patience::of_seconds(RESIZE);
    let mut confirmed = false;
    loop {
        refresh(on, object).await?;
        let is_idle = object["OS-EXT-STS:task_state"].is_null();
        match object["status"].as_str().unwrap_or_default() {
            "VERIFY_RESIZE" if !confirmed && is_idle => {
                act(on, &object["id"], "confirmResize", Json::Null).await?;
                confirmed = true;
                continue;
            }
            "VERIFY_RESIZE" | "RESIZE" => {}
            "ERROR" => {
                let why = object["fault"]["message"].as_str();
                let why = why.unwrap_or("Nova gives no reason");
                let message = format!("the resize failed: {why}");
                return Err(ProviderError::new(ErrorKind::Permanent, message).at("flavor"));
            }
            _ if confirmed && is_idle => return Ok(()),
            _ => match action_state(on, object, request).await? {
                ActionState::Running => {}
                // A cloud may confirm by itself.
                ActionState::Ended if is_idle => return Ok(()),
                ActionState::Ended => {}
                ActionState::Failed(why) => {
                    let message = format!("the resize failed: {why}");
                    return Err(ProviderError::new(ErrorKind::Permanent, message).at("flavor"));
                }
            },
        }
        patience.pause(on, "Nova has changed the flavor").await?;
    }
}

/// How far an action on a server is.
#[derive(Debug, PartialEq, Eq)]
enum ActionState {
    Running,
    Ended,
    /// It failed, for this reason.
    Failed(String),
}

/// The state of the action that a request started. Without a request no action runs.
async fn action_state(
    on: CloudCall<'_>,
    object: &Json,
    request: Option<&str>,
) -> Result<ActionState, ProviderError> {
    let Some(request) = request else {
        return Ok(ActionState::Ended);
    };
    let id = object["id"].as_str().unwrap_or_default();
    let path = format!("servers/{id}/os-instance-actions/{request}");
    match on.send(ServiceRequest::get(Service::Compute, path)).await {
        Ok(answer) => Ok(state_of_action(&answer.body["instanceAction"])),
        Err(error) if error.is_not_found() => Ok(ActionState::Running),
        Err(error) => Err(error.into_provider_error(false)),
    }
}

fn state_of_action(action: &Json) -> ActionState {
    let events = action["events"].as_array();
    let events = events.map(Vec::as_slice).unwrap_or_default();
    let failed = events.iter().find(|event| event["result"] == "Error");
    let message = action["message"].as_str().filter(|text| !text.is_empty());
    if let Some(message) = message {
        let details = failed.and_then(|event| event["details"].as_str());
        return ActionState::Failed(match details {
            Some(details) => details.to_owned(),
            None => format!("{message}; no host may have room for the flavor"),
        });
    }
    let is_over = |event: &Json| !event["finish_time"].is_null();
    match !events.is_empty() && events.iter().all(is_over) {
        true => ActionState::Ended,
        false => ActionState::Running,
    }
}

/// Rebuilds a server with another image or other user data, or sets its password. The server is
/// polled afterwards until it is ready.
async fn rebuild(
    on: CloudCall<'_>,
    change: SpecChange<'_>,
    object: &mut Json,
) -> Result<(), ProviderError> {
    let text = |name: &str| change.desired.get(name).and_then(Json::as_str);
    let image = match text("image") {
        Some(image) => {
            let id = on.id_of(&IMAGE, image).await;
            Some(id.map_err(|error| error.at("image"))?)
        }
        None => None,
    };
    let current = object["image"]["id"].as_str();
    let other_image = image.as_deref().filter(|image| current != Some(image));
    let by_policy = text("user_data_update_policy") == Some("REBUILD");
    let other_data = change.has("user_data") && by_policy;
    if other_image.is_none() && !other_data {
        if let (true, Some(password)) = (change.has("admin_pass"), text("admin_pass")) {
            let arguments = json!({ "adminPass": password });
            act(on, &object["id"], "changePassword", arguments).await?;
        }
        return Ok(());
    }
    let Some(image) = other_image.or(current) else {
        let message = "Nova cannot rebuild a server that has no image; set the policy to REPLACE";
        return Err(ProviderError::new(ErrorKind::Document, message).at("user_data"));
    };
    let mut arguments = json!({ "imageRef": image });
    if let Some(password) = text("admin_pass") {
        arguments["adminPass"] = json!(password);
    }
    if text("image_update_policy") == Some("REBUILD_PRESERVE_EPHEMERAL") {
        arguments["preserve_ephemeral"] = json!(true);
    }
    if other_data {
        let container = ServerContainer::of_tags(&object["tags"]);
        let container = container.unwrap_or_else(|| ServerContainer::of_create(&on.call.token));
        let encoded = user_data::encoded(on, change.desired, &container).await?;
        arguments["user_data"] = json!(encoded);
    }
    act(on, &object["id"], "rebuild", arguments).await?;
    refresh(on, object).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_stays_when_tags_change() {
        let server = json!({"tags": ["cyan-abcdefghijkl", "old"]});
        let spec = json!({"tags": ["new"]});
        let tags = tags_of(spec.as_object().unwrap_or(&JsonMap::new()), &server);
        assert_eq!(tags, [json!("new"), json!("cyan-abcdefghijkl")]);
        assert!(!same_tags(&tags, &server["tags"]));
        assert!(same_tags(&tags, &json!(["cyan-abcdefghijkl", "new"])));
    }

    #[test]
    fn an_action_that_nova_gave_up_has_failed() {
        let running = json!({"message": null, "events": [{"result": null, "finish_time": null}]});
        assert_eq!(state_of_action(&running), ActionState::Running);
        assert_eq!(
            state_of_action(&json!({"events": []})),
            ActionState::Running
        );
        let ended = json!({"message": null, "events": [{"result": "Success", "finish_time": "t"}]});
        assert_eq!(state_of_action(&ended), ActionState::Ended);
        let failed = json!({
            "message": "Error",
            "events": [{"result": "Error", "details": "No valid host was found.", "finish_time": "t"}],
        });
        let why = "No valid host was found.".to_owned();
        assert_eq!(state_of_action(&failed), ActionState::Failed(why));
    }
}
