//! The calls for a server that several files make.

use ::provider::ProviderError;
use serde_json::Value as Json;

use crate::client::{Service, ServiceRequest};
use crate::managed::{ASIDE, CloudCall, JsonMap, Mark};

/// Where servers have their mark.
pub(super) const MARK: Mark = Mark::Tag("tags");

/// Starts an action on a server. Returns the id of the request, by which Nova lists the action.
pub(super) async fn act(
    on: CloudCall<'_>,
    id: &Json,
    action: &str,
    arguments: Json,
) -> Result<Option<String>, ProviderError> {
    let id = id.as_str().unwrap_or_default();
    let mut body = JsonMap::new();
    body.insert(action.to_owned(), arguments);
    let path = format!("servers/{id}/action");
    let request = ServiceRequest::post(Service::Compute, path, Json::Object(body));
    let answer = on.send(request).await;
    let answer = answer.map_err(|error| error.into_provider_error(true))?;
    Ok(answer.request_id)
}

/// Reads a server again. What hooks keep in it stays.
pub(super) async fn refresh(on: CloudCall<'_>, object: &mut Json) -> Result<(), ProviderError> {
    let id = object["id"].as_str().unwrap_or_default();
    let request = ServiceRequest::get(Service::Compute, format!("servers/{id}"));
    let mut answer = on.get(request).await?;
    let aside = object.get_mut(ASIDE).map(Json::take);
    let read = answer.get_mut("server").map(Json::take);
    let Some(Json::Object(mut read)) = read else {
        return Ok(());
    };
    read.insert(ASIDE.to_owned(), aside.unwrap_or_default());
    *object = Json::Object(read);
    Ok(())
}
