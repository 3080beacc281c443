//! Quotas of a project. A project always has them: a resource sets some, and its deletion resets
//! all.

use ::provider::{BoxFuture, ProviderError};
use serde_json::{Value as Json, json};

use crate::client::{Service, ServiceRequest};
use crate::managed::{CloudCall, JsonMap, Property, Related, Relation, reference, same};
use crate::types::kinds::PROJECT;

pub(super) static QUOTA: Related<NetworkQuota> = Related(NetworkQuota);

/// The quotas of a project.
pub(super) struct NetworkQuota;

impl NetworkQuota {
    fn path(body: &JsonMap) -> String {
        let project = body.get("project").and_then(Json::as_str);
        format!("quotas/{}", project.unwrap_or_default())
    }

    /// The limits of a body.
    fn limits(body: &JsonMap) -> JsonMap {
        let mut limits = body.clone();
        limits.remove("project");
        limits
    }

    async fn set(
        on: CloudCall<'_>,
        body: &JsonMap,
        limits: JsonMap,
    ) -> Result<Json, ProviderError> {
        let request = ServiceRequest::put(
            Service::Network,
            NetworkQuota::path(body),
            json!({ "quota": limits }),
        );
        let answer = on.change(request).await?;
        Ok(NetworkQuota::shown(body, &answer))
    }

    fn shown(body: &JsonMap, answer: &Json) -> Json {
        let mut shown = answer["quota"].as_object().cloned().unwrap_or_default();
        shown.insert("project".to_owned(), body["project"].clone());
        Json::Object(shown)
    }
}

impl Relation for NetworkQuota {
    fn type_name(&self) -> &'static str {
        "OS::Neutron::Quota"
    }

    const PROPERTIES: &'static [Property] = &[
        reference("project", "project", &PROJECT).recorded(),
        same("floatingip"),
        same("network"),
        same("port"),
        same("rbac_policy"),
        same("router"),
        same("security_group"),
        same("security_group_rule"),
        same("subnet"),
        same("subnetpool"),
    ];

    fn id(&self, on: CloudCall<'_>, token: &str, _: &JsonMap) -> String {
        on.physical_name(token).to_string()
    }

    fn establish<'a>(
        &'a self,
        on: CloudCall<'a>,
        body: &'a JsonMap,
    ) -> BoxFuture<'a, Result<Json, ProviderError>> {
        Box::pin(NetworkQuota::set(on, body, NetworkQuota::limits(body)))
    }

    fn find<'a>(
        &'a self,
        on: CloudCall<'a>,
        body: &'a JsonMap,
    ) -> BoxFuture<'a, Result<Option<Json>, ProviderError>> {
        Box::pin(async move {
            let request = ServiceRequest::get(Service::Network, NetworkQuota::path(body));
            let answer = on.get(request).await?;
            Ok(Some(NetworkQuota::shown(body, &answer)))
        })
    }

    fn change<'a>(
        &'a self,
        on: CloudCall<'a>,
        prior: &'a JsonMap,
        desired: &'a JsonMap,
    ) -> BoxFuture<'a, Result<Json, ProviderError>> {
        Box::pin(async move {
            let mut limits = NetworkQuota::limits(desired);
            let dropped = prior.keys().filter(|name| !desired.contains_key(*name));
            let dropped: Vec<&String> = dropped.collect();
            if !dropped.is_empty() {
                // Neutron resets all limits or none, so the default is set.
                let path = format!("{}/default", NetworkQuota::path(desired));
                let answer = on.get(ServiceRequest::get(Service::Network, path)).await?;
                for name in dropped {
                    limits.insert(name.clone(), answer["quota"][name.as_str()].clone());
                }
            }
            NetworkQuota::set(on, desired, limits).await
        })
    }

    fn dissolve<'a>(
        &'a self,
        on: CloudCall<'a>,
        body: &'a JsonMap,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(async move {
            let request = ServiceRequest::delete(Service::Network, NetworkQuota::path(body));
            match on.send(request).await {
                Ok(_) => Ok(()),
                Err(error) if error.is_not_found() => Ok(()),
                Err(error) => Err(error.into_provider_error(true)),
            }
        })
    }
}
