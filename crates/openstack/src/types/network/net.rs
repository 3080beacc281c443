//! Networks, their segments, and who may use them.

use ::provider::{BoxFuture, ErrorKind, ProviderError};
use serde_json::Value as Json;
use serde_json::json;

use crate::client::{Service, ServiceRequest};
use crate::managed::{
    Busy, CloudCall, Form, Hooks, JsonMap, Managed, Mark, ObjectKind, SpecChange, State, Unset,
    hook, reference, renamed, same, spread,
};

use super::common::NEUTRON;
use super::kinds::{ADDRESS_SCOPE, GROUP, NETWORK, QOS_POLICY, SUBNET_POOL};
use super::tags::{Tagged, shown_tags};

pub(super) static NET: Managed = Managed {
    name: "OS::Neutron::Net",
    path: "networks",
    envelope: "network",
    list: "networks",
    properties: &[
        same("name"),
        same("admin_state_up"),
        // An RBAC policy that shares the network with all projects shows here, too.
        same("shared").recorded(),
        same("tenant_id"),
        same("availability_zone_hints"),
        same("dns_domain").when_unset(Unset::Text),
        same("port_security_enabled").when_unset(Unset::True),
        reference("qos_policy", "qos_policy_id", &QOS_POLICY),
        hook("tags"),
        hook("dhcp_agent_ids"),
        spread("value_specs"),
    ],
    hooks: &NetHooks,
    ..NEUTRON
};

pub(super) static PROVIDER_NET: Managed = Managed {
    name: "OS::Neutron::ProviderNet",
    path: "networks",
    envelope: "network",
    list: "networks",
    properties: &[
        same("name"),
        same("admin_state_up"),
        same("shared").recorded(),
        same("tenant_id"),
        same("availability_zone_hints"),
        same("dns_domain").when_unset(Unset::Text),
        same("port_security_enabled").when_unset(Unset::True),
        renamed("network_type", "provider:network_type", Form::Same),
        renamed("physical_network", "provider:physical_network", Form::Same),
        renamed("segmentation_id", "provider:segmentation_id", Form::Same),
        renamed("router_external", "router:external", Form::Same),
        hook("tags"),
    ],
    hooks: &NetHooks,
    ..NEUTRON
};

pub(super) static SEGMENT: Managed = Managed {
    name: "OS::Neutron::Segment",
    path: "segments",
    envelope: "segment",
    list: "segments",
    properties: &[
        same("name"),
        same("description").when_unset(Unset::Text),
        reference("network", "network_id", &NETWORK),
        same("network_type"),
        same("physical_network"),
        same("segmentation_id"),
    ],
    state: State::NONE,
    ..NEUTRON
};

pub(super) static RBAC_POLICY: Managed = Managed {
    name: "OS::Neutron::RBACPolicy",
    path: "rbac-policies",
    envelope: "rbac_policy",
    list: "rbac_policies",
    properties: &[
        same("object_type"),
        hook("object_id"),
        same("action"),
        same("target_tenant"),
        same("tenant_id"),
    ],
    // Neutron refuses a second policy like that.
    mark: Mark::Unique(&["object_type", "object_id", "action", "target_tenant"]),
    state: State::NONE,
    busy: &[Busy::delete(409)],
    hooks: &RbacHooks,
    ..NEUTRON
};

/// The hooks of networks.
struct NetHooks;

/// The tags of networks.
const TAGS: Tagged = Tagged::of("networks");

impl Hooks for NetHooks {
    fn created<'a>(
        &'a self,
        on: CloudCall<'a>,
        spec: &'a JsonMap,
        object: &'a mut Json,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(async move {
            if let Some(agents) = spec.get("dhcp_agent_ids") {
                set_agents(on, &DHCP_AGENTS, object, agents).await?;
            }
            TAGS.set_first(on, spec, object).await
        })
    }

    fn update<'a>(
        &'a self,
        on: CloudCall<'a>,
        change: SpecChange<'a>,
        object: &'a mut Json,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(async move {
            if change.has("dhcp_agent_ids") {
                let none = json!([]);
                let agents = change.desired.get("dhcp_agent_ids").unwrap_or(&none);
                set_agents(on, &DHCP_AGENTS, object, agents).await?;
            }
            TAGS.set_again(on, change, object).await
        })
    }

    fn complete<'a>(
        &'a self,
        on: CloudCall<'a>,
        object: &'a mut Json,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(async move {
            if on
                .ty
                .attribute_names()
                .all(|(name, _)| name.as_ref() != "segments")
            {
                return Ok(());
            }
            let id = object["id"].as_str().unwrap_or_default();
            let request = ServiceRequest::get(Service::Network, "segments");
            let answer = on.send(request.with_query("network_id", id)).await;
            // A cloud without the extension has no segments, and only administrators see them.
            let mut segments = match answer {
                Ok(mut answer) => answer.body["segments"].take(),
                Err(error) if matches!(error.status(), Some(403 | 404)) => json!([]),
                Err(error) => return Err(error.into_provider_error(false)),
            };
            // Heat gives segments without a name first.
            if let Some(segments) = segments.as_array_mut() {
                segments.sort_by_key(|segment| !segment["name"].is_null());
            }
            object["segments"] = segments;
            Ok(())
        })
    }

    fn property(&self, name: &str, object: &Json, declared: &Json) -> Option<Json> {
        match name {
            "tags" => shown_tags(object, declared),
            _ => None,
        }
    }
}

/// A kind of agents that serve objects.
pub(super) struct AgentKind {
    /// The collection of the objects that agents serve.
    served: &'static str,
    /// The collection of the agents of an object.
    agents: &'static str,
    /// The collection of the objects of an agent.
    of_agent: &'static str,
    /// The field that names an object.
    field: &'static str,
}

/// The agents that give networks their addresses.
static DHCP_AGENTS: AgentKind = AgentKind {
    served: "networks",
    agents: "dhcp-agents",
    of_agent: "dhcp-networks",
    field: "network_id",
};

/// The agents that run routers.
pub(super) static L3_AGENTS: AgentKind = AgentKind {
    served: "routers",
    agents: "l3-agents",
    of_agent: "l3-routers",
    field: "router_id",
};

/// Lets exactly these agents serve an object.
///
/// # Errors
/// The error of a request.
pub(super) async fn set_agents(
    on: CloudCall<'_>,
    kind: &AgentKind,
    object: &Json,
    agents: &Json,
) -> Result<(), ProviderError> {
    let id = object["id"].as_str().unwrap_or_default();
    let path = format!("{}/{id}/{}", kind.served, kind.agents);
    let answer = on.get(ServiceRequest::get(Service::Network, path)).await?;
    let present = answer["agents"].as_array().into_iter().flatten();
    let present: Vec<&str> = present.filter_map(|agent| agent["id"].as_str()).collect();
    let wanted = agents.as_array().into_iter().flatten();
    let wanted: Vec<&str> = wanted.filter_map(Json::as_str).collect();
    // A router without high availability has one agent at most, so the old one leaves first.
    for agent in present.iter().filter(|agent| !wanted.contains(agent)) {
        let path = format!("agents/{agent}/{}/{id}", kind.of_agent);
        match on
            .send(ServiceRequest::delete(Service::Network, path))
            .await
        {
            Ok(_) => {}
            // The agent does not serve the object any more.
            Err(error) if matches!(error.status(), Some(404 | 409)) => {}
            Err(error) => return Err(error.into_provider_error(true)),
        }
    }
    for agent in wanted.iter().filter(|agent| !present.contains(agent)) {
        let path = format!("agents/{agent}/{}", kind.of_agent);
        let body = json!({ kind.field: id });
        match on
            .send(ServiceRequest::post(Service::Network, path, body))
            .await
        {
            Ok(_) => {}
            // The agent serves the object already.
            Err(error) if error.status() == Some(409) => {}
            Err(error) => return Err(error.into_provider_error(true)),
        }
    }
    Ok(())
}

/// The hooks of RBAC policies: the type of the object says where its name is looked up.
struct RbacHooks;

/// The kind of the objects of a type of RBAC policy.
fn kind_of(object_type: &str) -> Option<&'static ObjectKind> {
    Some(match object_type {
        "network" => &NETWORK,
        "qos_policy" => &QOS_POLICY,
        "security_group" => &GROUP,
        "address_scope" => &ADDRESS_SCOPE,
        "subnetpool" => &SUBNET_POOL,
        _ => return None,
    })
}

impl Hooks for RbacHooks {
    fn create_body<'a>(
        &'a self,
        on: CloudCall<'a>,
        spec: &'a JsonMap,
        body: &'a mut JsonMap,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(async move {
            let text = |name: &str| spec.get(name).and_then(Json::as_str).unwrap_or_default();
            let Some(kind) = kind_of(text("object_type")) else {
                let message = "objects of this type cannot be shared";
                let error = ProviderError::new(ErrorKind::Document, message);
                return Err(error.at("object_type"));
            };
            let id = on.id_of(kind, text("object_id")).await;
            let id = id.map_err(|error| error.at("object_id"))?;
            body.insert("object_id".to_owned(), json!(id));
            Ok(())
        })
    }
}
