//! Routers.

use ::provider::{BoxFuture, Operation, ProviderError};
use serde_json::{Value as Json, json};

use crate::client::{Service, ServiceRequest};
use crate::managed::{
    Busy, CloudCall, Form, Hooks, JsonMap, Managed, SpecChange, Unset, each, hook, reference,
    renamed, same, spread,
};

use super::common::NEUTRON;
use super::kinds::{NETWORK, SUBNET};
use super::net::{L3_AGENTS, set_agents};
use super::subnet::port_names;
use super::tags::{Tagged, shown_tags};

pub(super) static ROUTER: Managed = Managed {
    name: "OS::Neutron::Router",
    path: "routers",
    envelope: "router",
    list: "routers",
    properties: &[
        same("name"),
        same("admin_state_up"),
        renamed(
            "external_gateway_info",
            "external_gateway_info",
            Form::One(&[
                reference("network", "network_id", &NETWORK),
                same("enable_snat"),
                each(
                    "external_fixed_ips",
                    &[
                        reference("subnet", "subnet_id", &SUBNET),
                        same("ip_address"),
                    ],
                ),
            ]),
        ),
        same("distributed"),
        same("ha"),
        same("availability_zone_hints").when_unset(Unset::List),
        same("tenant_id"),
        // The catalogue makes a list of the single agent.
        hook("l3_agent_id"),
        hook("l3_agent_ids"),
        hook("tags"),
        spread("value_specs"),
    ],
    busy: &[
        Busy::delete(409),
        // A floating IP that is deleted in the same run still uses the gateway.
        Busy {
            name: "RouterExternalGatewayInUseByFloatingIp",
            ..Busy::of(Operation::Update, 409)
        },
    ],
    hooks: &RouterHooks,
    ..NEUTRON
};

/// The hooks of routers.
struct RouterHooks;

/// The tags of routers.
const TAGS: Tagged = Tagged::of("routers");

/// The agents that a spec names.
fn agents(spec: &JsonMap) -> Option<Json> {
    let several = spec.get("l3_agent_ids").cloned();
    several.or_else(|| spec.get("l3_agent_id").map(|one| json!([one])))
}

impl Hooks for RouterHooks {
    fn created<'a>(
        &'a self,
        on: CloudCall<'a>,
        spec: &'a JsonMap,
        object: &'a mut Json,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(async move {
            if let Some(agents) = agents(spec) {
                set_agents(on, &L3_AGENTS, object, &agents).await?;
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
            let (before, now) = (agents(change.prior), agents(change.desired));
            if before != now {
                set_agents(on, &L3_AGENTS, object, &now.unwrap_or_default()).await?;
            }
            TAGS.set_again(on, change, object).await
        })
    }

    fn property(&self, name: &str, object: &Json, declared: &Json) -> Option<Json> {
        match name {
            "tags" => shown_tags(object, declared),
            _ => None,
        }
    }

    fn blockers<'a>(
        &'a self,
        on: CloudCall<'a>,
        id: &'a str,
    ) -> BoxFuture<'a, Result<Vec<String>, ProviderError>> {
        Box::pin(async move {
            let request = ServiceRequest::get(Service::Network, "ports");
            let answer = on.get(request.with_query("device_id", id)).await?;
            Ok(port_names(&answer))
        })
    }
}
