//! What the types of Keystone do beyond their tables.

use ::provider::{BoxFuture, ErrorKind, ProviderError};
use serde_json::{Value as Json, json};

use super::roles::{Assignment, Principal};
use crate::client::{Service, ServiceRequest, path_segment};
use crate::heat::uuid;
use crate::managed::{CloudCall, Form, Hooks, JsonMap, Property, SpecChange, body_of, list};
use crate::types::kinds::USER_GROUP;

/// The groups of a user.
pub(super) const MEMBER_OF: Property = list("groups", GROUP);

/// A group, by its name or id.
const GROUP: &Form = &Form::Reference(&USER_GROUP);

/// Why no object changes its domain.
const OTHER_DOMAIN: &str = "Keystone moves nothing to another domain: rename the resource, so that \
                            a new one takes its place";

/// The refusal of a change of the domain.
fn refused_domain(change: SpecChange<'_>) -> Option<(&'static str, &'static str)> {
    change.has("domain").then_some(("domain", OTHER_DOMAIN))
}

/// The hooks of domains.
pub(super) struct DomainHooks;

impl Hooks for DomainHooks {
    /// Keystone deletes no domain in use.
    fn before_delete<'a>(
        &'a self,
        on: CloudCall<'a>,
        id: &'a str,
        _spec: &'a JsonMap,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(async move {
            let body = json!({ "domain": { "enabled": false } });
            let path = format!("domains/{}", path_segment(id));
            match on
                .change(ServiceRequest::patch(Service::Identity, path, body))
                .await
            {
                Err(error) if error.kind != ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            }
        })
    }
}

/// The hooks of projects.
pub(super) struct ProjectHooks;

impl Hooks for ProjectHooks {
    fn refuses(&self, change: SpecChange<'_>) -> Option<(&'static str, &'static str)> {
        refused_domain(change)
    }

    /// Neutron makes a security group `default` for each project, and keeps it when the project is
    /// gone.
    fn before_delete<'a>(
        &'a self,
        on: CloudCall<'a>,
        id: &'a str,
        _spec: &'a JsonMap,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(async move {
            if !on.cloud.has(Service::Network) {
                return Ok(());
            }
            let groups = ServiceRequest::get(Service::Network, "security-groups");
            let groups = groups.with_query("project_id", id);
            let answer = on.get(groups.with_query("name", "default")).await?;
            let groups = answer["security_groups"].as_array().into_iter().flatten();
            // A service that ignores the query must not lose the group of another project.
            let own = groups.filter(|it| it["project_id"] == id && it["name"] == "default");
            for group in own.filter_map(|it| it["id"].as_str()) {
                let path = format!("security-groups/{group}");
                match on
                    .send(ServiceRequest::delete(Service::Network, path))
                    .await
                {
                    Err(error) if !error.is_not_found() => {
                        return Err(error.into_provider_error(true));
                    }
                    _ => {}
                }
            }
            Ok(())
        })
    }
}

/// The hooks of users and groups, which have roles. Users are in groups.
pub(super) struct PrincipalHooks(pub(super) Principal);

/// The ids of the groups of a spec.
async fn groups_of(on: CloudCall<'_>, spec: &JsonMap) -> Result<Vec<String>, ProviderError> {
    let mut body = body_of(on, const { &[MEMBER_OF] }, spec).await?;
    let groups = body.remove("groups").unwrap_or_default();
    let groups = groups.as_array().into_iter().flatten();
    Ok(groups
        .filter_map(|id| id.as_str().map(str::to_owned))
        .collect())
}

impl PrincipalHooks {
    /// Sets the groups and the roles of a change.
    async fn set(
        &self,
        on: CloudCall<'_>,
        id: &str,
        change: SpecChange<'_>,
    ) -> Result<(), ProviderError> {
        if change.has("groups") {
            let (old, new) = (
                groups_of(on, change.prior).await?,
                groups_of(on, change.desired).await?,
            );
            let path =
                |group: &str| format!("groups/{}/users/{}", path_segment(group), path_segment(id));
            for group in new.iter().filter(|group| !old.contains(group)) {
                let call = ServiceRequest::put_nothing(Service::Identity, path(group));
                on.change(call).await?;
            }
            for group in old.iter().filter(|group| !new.contains(group)) {
                match on
                    .send(ServiceRequest::delete(Service::Identity, path(group)))
                    .await
                {
                    Err(error) if !error.is_not_found() => {
                        return Err(error.into_provider_error(true));
                    }
                    _ => {}
                }
            }
        }
        if !change.has("roles") {
            return Ok(());
        }
        let old = Assignment::all_of(on, change.prior).await?;
        let new = Assignment::all_of(on, change.desired).await?;
        for added in new.iter().filter(|it| !old.contains(it)) {
            added.grant(on, self.0, id).await?;
        }
        for removed in old.iter().filter(|it| !new.contains(it)) {
            removed.revoke(on, self.0, id).await?;
        }
        Ok(())
    }
}

/// Leaves what has calls of its own out of the body of a call for a user or group.
fn without_links(body: &mut JsonMap) {
    for field in ["groups", "roles"] {
        body.remove(field);
    }
}

impl Hooks for PrincipalHooks {
    fn create_body<'a>(
        &'a self,
        on: CloudCall<'a>,
        spec: &'a JsonMap,
        body: &'a mut JsonMap,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(async move {
            // A wrong assignment is found before there is anybody to have it.
            Assignment::all_of(on, spec).await?;
            without_links(body);
            Ok(())
        })
    }

    fn created<'a>(
        &'a self,
        on: CloudCall<'a>,
        spec: &'a JsonMap,
        object: &'a mut Json,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(async move {
            let change = SpecChange {
                prior: &JsonMap::new(),
                desired: spec,
            };
            let id = object["id"].as_str().unwrap_or_default();
            self.set(on, id, change).await
        })
    }

    fn update_body<'a>(
        &'a self,
        _on: CloudCall<'a>,
        _change: SpecChange<'a>,
        _object: &'a Json,
        body: &'a mut JsonMap,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        without_links(body);
        Box::pin(std::future::ready(Ok(())))
    }

    fn update<'a>(
        &'a self,
        on: CloudCall<'a>,
        change: SpecChange<'a>,
        object: &'a mut Json,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(async move {
            let id = object["id"].as_str().unwrap_or_default();
            self.set(on, id, change).await
        })
    }

    fn refuses(&self, change: SpecChange<'_>) -> Option<(&'static str, &'static str)> {
        refused_domain(change)
    }
}

/// The hooks of regions.
pub(super) struct RegionHooks;

impl Hooks for RegionHooks {
    /// A region without an id in the template gets one of the create.
    fn create_body<'a>(
        &'a self,
        on: CloudCall<'a>,
        _spec: &'a JsonMap,
        body: &'a mut JsonMap,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        body.entry("id")
            .or_insert_with(|| json!(uuid(on.call, "region").simple().to_string()));
        Box::pin(std::future::ready(Ok(())))
    }
}
