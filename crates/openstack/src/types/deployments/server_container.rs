//! The container with the deployments of a server.
//!
//! Several deployments may write at the same time, also from several processes. Each has an object of
//! its own, and the object for the agent is written from the list of these until the list has stayed
//! the same meanwhile. So the last one to write has seen all.

use ::provider::{ErrorKind, ProviderError};
use bytes::Bytes;
use serde_json::{Value as Json, json};

use crate::client::{Service, ServiceRequest};
use crate::managed::{CloudCall, JsonMap, Patience, is_mark, mark_of};
use crate::object_store;

/// The prefix of the objects of deployments.
const DEPLOYMENTS: &str = "deployments/";

/// The name of the object that the agent reads, unless the server says otherwise.
const METADATA: &str = "metadata";

/// The name of the object that says where the agent reads.
const LOCATION: &str = "location";

/// The seconds in which other writers may keep a container busy.
const BUSY: u64 = 120;

/// The container with the deployments of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::types) struct ServerContainer {
    name: String,
}

/// The object that the agent of a server reads.
#[derive(Clone, Debug, PartialEq, Eq)]
struct AgentObject {
    container: String,
    object: String,
}

/// The metadata that tells an agent which URL it reads.
pub(in crate::types) fn agent_metadata(url: &str) -> Json {
    json!({ "collectors": ["request", "local"], "request": { "metadata_url": url } })
}

impl ServerContainer {
    /// The container of the server that a create with this token makes.
    pub(in crate::types) fn of_create(token: &str) -> ServerContainer {
        ServerContainer::of_mark(&mark_of(token))
    }

    /// The container of the server with these tags; `None` if none of them is a mark.
    pub(in crate::types) fn of_tags(tags: &Json) -> Option<ServerContainer> {
        let tags = tags.as_array().into_iter().flatten();
        let mut tags = tags.filter_map(Json::as_str);
        tags.find(|tag| is_mark(tag)).map(ServerContainer::of_mark)
    }

    /// The container of the server with this mark.
    fn of_mark(mark: &str) -> ServerContainer {
        ServerContainer {
            name: format!("{mark}-deployments"),
        }
    }

    /// The container with this name, as the record of a deployment has it.
    pub(super) fn with_name(name: &str) -> ServerContainer {
        ServerContainer {
            name: name.to_owned(),
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The container of the server with an id.
    ///
    /// # Errors
    /// [`ErrorKind::Document`] if there is no such server, or if it was made by another program.
    pub(super) async fn of_server(
        on: CloudCall<'_>,
        id: &str,
    ) -> Result<ServerContainer, ProviderError> {
        let wrong = |message: String| ProviderError::new(ErrorKind::Document, message).at("server");
        if let Some(server) = server(on, id).await? {
            return ServerContainer::of_tags(&server["tags"]).ok_or_else(|| {
                wrong(format!(
                    "the server {id} was made by another program, so its agent reads no deployments \
                     from here"
                ))
            });
        }
        let deployed = ServerContainer::of_create(id);
        match object_store::container(on, &deployed.name).await? {
            Some(_) => Ok(deployed),
            None => Err(wrong(format!("the cloud has no server with the id {id}"))),
        }
    }

    /// Where the agent reads by the property `deployment_swift_data` of a spec.
    fn chosen(&self, spec: &JsonMap) -> AgentObject {
        let chosen = spec.get("deployment_swift_data");
        let part = |name: &str, default: &str| {
            let part = chosen.and_then(|chosen| chosen[name].as_str());
            part.unwrap_or(default).to_owned()
        };
        AgentObject {
            container: part("container", &self.name),
            object: part("object", METADATA),
        }
    }

    /// Whether a spec says where the agent reads.
    pub(in crate::types) fn is_chosen(&self, spec: &JsonMap) -> bool {
        self.chosen(spec) != self.chosen(&JsonMap::new())
    }

    /// Records where the agent reads.
    ///
    /// # Errors
    /// The error of a request.
    pub(in crate::types) async fn record_location(
        &self,
        on: CloudCall<'_>,
        spec: &JsonMap,
    ) -> Result<(), ProviderError> {
        let AgentObject { container, object } = self.chosen(spec);
        object_store::put_container(on, &self.name, &[]).await?;
        let location = json!({ "container": container, "object": object });
        let content = ("application/json", Bytes::from(location.to_string()));
        object_store::put_object(on, &self.name, LOCATION, content).await
    }

    /// The URL that the agent reads. It is secret.
    ///
    /// # Errors
    /// As [`Cloud::temporary_url`](crate::client::Cloud::temporary_url).
    pub(in crate::types) async fn agent_url(
        &self,
        on: CloudCall<'_>,
        spec: &JsonMap,
    ) -> Result<String, ProviderError> {
        let AgentObject { container, object } = self.chosen(spec);
        on.cloud.temporary_url("GET", &container, &object).await
    }

    async fn location(&self, on: CloudCall<'_>) -> Result<AgentObject, ProviderError> {
        let recorded = object_store::content(on, &self.name, LOCATION).await?;
        let recorded = recorded.and_then(|bytes| serde_json::from_slice::<Json>(&bytes).ok());
        let part = |name: &str, default: &str| {
            let part = recorded.as_ref().and_then(|it| it[name].as_str());
            part.unwrap_or(default).to_owned()
        };
        Ok(AgentObject {
            container: part("container", &self.name),
            object: part("object", METADATA),
        })
    }

    /// The configuration of a deployment; `None` if it has none.
    ///
    /// # Errors
    /// The error of the request.
    pub(super) async fn deployment(
        &self,
        on: CloudCall<'_>,
        id: &str,
    ) -> Result<Option<Json>, ProviderError> {
        let object = format!("{DEPLOYMENTS}{id}");
        let content = object_store::content(on, &self.name, &object).await?;
        Ok(content.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
    }

    /// Sets the configuration of a deployment, and tells the agent.
    ///
    /// # Errors
    /// The error of a request.
    pub(super) async fn set_deployment(
        &self,
        on: CloudCall<'_>,
        id: &str,
        config: &Json,
    ) -> Result<(), ProviderError> {
        object_store::put_container(on, &self.name, &[]).await?;
        let object = format!("{DEPLOYMENTS}{id}");
        let content = ("application/json", Bytes::from(config.to_string()));
        object_store::put_object(on, &self.name, &object, content).await?;
        self.tell_agent(on).await
    }

    /// Removes a deployment, and tells the agent.
    ///
    /// # Errors
    /// The error of a request.
    pub(super) async fn remove_deployment(
        &self,
        on: CloudCall<'_>,
        id: &str,
    ) -> Result<(), ProviderError> {
        if object_store::container(on, &self.name).await?.is_none() {
            return Ok(());
        }
        let object = format!("{DEPLOYMENTS}{id}");
        object_store::delete_object(on, &self.name, &object).await?;
        self.tell_agent(on).await
    }

    /// Writes the object that the agent reads.
    pub(super) async fn tell_agent(&self, on: CloudCall<'_>) -> Result<(), ProviderError> {
        let AgentObject { container, object } = self.location(on).await?;
        if container != self.name {
            object_store::put_container(on, &container, &[]).await?;
        }
        let url = on.cloud.temporary_url("GET", &container, &object).await?;
        let mut patience = Patience::of_seconds(BUSY);
        let list = || object_store::objects(on, &self.name, DEPLOYMENTS);
        let mut listed = list().await?.unwrap_or_default();
        loop {
            let configs = object_store::contents(on, &self.name, &listed).await?;
            let configs = configs.iter().map(|it| serde_json::from_slice(it));
            let configs: Vec<Json> = configs.filter_map(Result::ok).collect();
            let metadata = json!({
                "deployments": by_name(configs),
                "os-collect-config": agent_metadata(&url),
            });
            let content = ("application/json", Bytes::from(metadata.to_string()));
            object_store::put_object(on, &container, &object, content).await?;
            let now = list().await?.unwrap_or_default();
            if now == listed {
                return Ok(());
            }
            listed = now;
            let what = "no other deployment of the server is written";
            patience.pause(on, what).await?;
        }
    }

    /// Deletes what the agent reads.
    ///
    /// # Errors
    /// The error of a request.
    pub(super) async fn forget_location(&self, on: CloudCall<'_>) -> Result<(), ProviderError> {
        let AgentObject { container, object } = self.location(on).await?;
        object_store::delete_object(on, &container, &object).await?;
        if container != self.name {
            // Others may have objects in the container.
            object_store::delete_container(on, &container).await?;
        }
        Ok(())
    }

    /// Deletes the container, and what the agent reads elsewhere.
    ///
    /// # Errors
    /// The error of a request.
    pub(in crate::types) async fn delete(&self, on: CloudCall<'_>) -> Result<(), ProviderError> {
        if object_store::container(on, &self.name).await?.is_none() {
            return Ok(());
        }
        self.forget_location(on).await?;
        object_store::purge(on, &self.name).await
    }
}

/// A server of Nova; `None` if there is none.
async fn server(on: CloudCall<'_>, id: &str) -> Result<Option<Json>, ProviderError> {
    if !on.cloud.has(Service::Compute) {
        return Ok(None);
    }
    let request = ServiceRequest::get(Service::Compute, format!("servers/{id}"));
    match on.send(request).await {
        Ok(answer) => Ok(answer.body.get("server").cloned()),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(error.into_provider_error(false)),
    }
}

/// Whether Nova has a server.
///
/// # Errors
/// The error of the request.
pub(super) async fn has_server(on: CloudCall<'_>, id: &str) -> Result<bool, ProviderError> {
    Ok(server(on, id).await?.is_some())
}

/// Configurations in the order in which an agent carries them out.
fn by_name(mut configs: Vec<Json>) -> Vec<Json> {
    configs.sort_by(|one, other| one["name"].as_str().cmp(&other["name"].as_str()));
    configs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_agent_reads_where_the_server_says() {
        let home = ServerContainer::of_mark("cyan-abc");
        let spec = json!({ "deployment_swift_data": { "container": "box" } });
        let spec = spec.as_object().cloned().unwrap_or_default();
        assert!(home.is_chosen(&spec));
        assert!(!home.is_chosen(&JsonMap::new()));
        let chosen = home.chosen(&spec);
        assert_eq!(
            (chosen.container.as_str(), chosen.object.as_str()),
            ("box", METADATA)
        );
        assert_eq!(
            home.chosen(&JsonMap::new()).container,
            "cyan-abc-deployments"
        );
    }

    #[test]
    fn a_tag_of_the_user_is_no_mark() {
        let mark = mark_of("token");
        let found = ServerContainer::of_tags(&json!(["cyan-blue", mark]));
        assert_eq!(found, Some(ServerContainer::of_create("token")));
        assert_eq!(ServerContainer::of_tags(&json!(["cyan-blue"])), None);
    }

    #[test]
    fn deployments_are_carried_out_by_name() {
        let configs = vec![json!({ "name": "b" }), json!({ "name": "a" })];
        assert_eq!(
            by_name(configs),
            [json!({ "name": "a" }), json!({ "name": "b" })]
        );
    }
}
