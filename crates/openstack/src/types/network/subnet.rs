//! Subnets, pools of their addresses, and address scopes.

use std::net::IpAddr;

use ::provider::{BoxFuture, ProviderError};
use serde_json::{Value as Json, json};

use crate::client::{Service, ServiceRequest};
use crate::managed::{
    CloudCall, Form, Hooks, JsonMap, Managed, Mark, SpecChange, State, Unset, hook, reference,
    renamed, same, spread,
};

use super::common::NEUTRON;
use super::kinds::{ADDRESS_SCOPE as SCOPES, NETWORK, SEGMENT, SUBNET_POOL as POOLS};
use super::tags::{Tagged, shown_tags};

pub(super) static SUBNET: Managed = Managed {
    name: "OS::Neutron::Subnet",
    path: "subnets",
    envelope: "subnet",
    list: "subnets",
    properties: &[
        same("name"),
        reference("network", "network_id", &NETWORK),
        renamed("cidr", "cidr", Form::Cidr),
        same("ip_version"),
        same("enable_dhcp"),
        same("dns_nameservers").when_unset(Unset::List),
        same("gateway_ip"),
        same("allocation_pools").when_unset(Unset::List),
        same("host_routes").when_unset(Unset::List),
        same("ipv6_ra_mode"),
        same("ipv6_address_mode"),
        reference("subnetpool", "subnetpool_id", &POOLS),
        same("prefixlen").recorded(),
        reference("segment", "segment_id", &SEGMENT).when_unset(Unset::Kept),
        same("tenant_id"),
        hook("tags"),
        spread("value_specs"),
    ],
    state: State::NONE,
    hooks: &SubnetHooks,
    ..NEUTRON
};

pub(super) static SUBNET_POOL: Managed = Managed {
    name: "OS::Neutron::SubnetPool",
    path: "subnetpools",
    envelope: "subnetpool",
    list: "subnetpools",
    properties: &[
        same("name"),
        same("prefixes"),
        reference("address_scope", "address_scope_id", &SCOPES),
        // Neutron keeps lengths and quotas that are not given again.
        same("default_quota").when_unset(Unset::Kept),
        same("default_prefixlen").when_unset(Unset::Kept),
        same("min_prefixlen").when_unset(Unset::Kept),
        same("max_prefixlen").when_unset(Unset::Kept),
        same("is_default"),
        same("shared"),
        same("tenant_id"),
        hook("tags"),
    ],
    state: State::NONE,
    hooks: &Tagged::of("subnetpools"),
    ..NEUTRON
};

pub(super) static ADDRESS_SCOPE: Managed = Managed {
    name: "OS::Neutron::AddressScope",
    path: "address-scopes",
    envelope: "address_scope",
    list: "address_scopes",
    properties: &[
        same("name"),
        same("ip_version"),
        same("shared"),
        same("tenant_id"),
    ],
    // An address scope has neither a description nor tags.
    mark: Mark::None,
    state: State::NONE,
    ..NEUTRON
};

/// The hooks of subnets.
struct SubnetHooks;

/// The tags of subnets.
const TAGS: Tagged = Tagged::of("subnets");

/// The gateway in a body: no text means no gateway, `auto` lets Neutron choose one.
fn adjust_gateway(body: &mut JsonMap) {
    match body.get("gateway_ip").and_then(Json::as_str) {
        Some("") => {
            body.insert("gateway_ip".to_owned(), Json::Null);
        }
        Some("auto") => {
            body.remove("gateway_ip");
        }
        Some(_) | None => {}
    }
}

impl Hooks for SubnetHooks {
    fn create_body<'a>(
        &'a self,
        _: CloudCall<'a>,
        _: &'a JsonMap,
        body: &'a mut JsonMap,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        adjust_gateway(body);
        Box::pin(async { Ok(()) })
    }

    fn update_body<'a>(
        &'a self,
        _: CloudCall<'a>,
        change: SpecChange<'a>,
        object: &'a Json,
        body: &'a mut JsonMap,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        adjust_gateway(body);
        // The comparison with the object takes an empty text for another gateway.
        if !change.has("gateway_ip") && body.get("gateway_ip") == Some(&object["gateway_ip"]) {
            body.remove("gateway_ip");
        }
        Box::pin(async { Ok(()) })
    }

    fn created<'a>(
        &'a self,
        on: CloudCall<'a>,
        spec: &'a JsonMap,
        object: &'a mut Json,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(TAGS.set_first(on, spec, object))
    }

    fn update<'a>(
        &'a self,
        on: CloudCall<'a>,
        change: SpecChange<'a>,
        object: &'a mut Json,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(TAGS.set_again(on, change, object))
    }

    fn property(&self, name: &str, object: &Json, declared: &Json) -> Option<Json> {
        match name {
            "tags" => shown_tags(object, declared),
            _ => None,
        }
    }

    fn refuses(&self, change: SpecChange<'_>) -> Option<(&'static str, &'static str)> {
        let (prior, desired) = (change.prior, change.desired);
        if change.has("gateway_ip") && desired.get("gateway_ip") == Some(&json!("auto")) {
            let reason =
                "`auto` is only possible for a new subnet; give the address of the gateway";
            return Some(("gateway_ip", reason));
        }
        let moves = prior.contains_key("segment") && desired.contains_key("segment");
        if moves && change.has("segment") {
            let reason = "a subnet with a segment cannot be moved to another one";
            return Some(("segment", reason));
        }
        None
    }

    fn deletes_first(&self, prior: &JsonMap, desired: &JsonMap) -> bool {
        // Two subnets of a network must not have an address in common.
        let text = |spec: &JsonMap| spec.get("cidr").and_then(Json::as_str).map(str::to_owned);
        let overlap = text(prior)
            .zip(text(desired))
            .is_some_and(|(a, b)| overlap(&a, &b));
        overlap && prior.get("network") == desired.get("network")
    }

    fn blockers<'a>(
        &'a self,
        on: CloudCall<'a>,
        id: &'a str,
    ) -> BoxFuture<'a, Result<Vec<String>, ProviderError>> {
        Box::pin(async move {
            let request = ServiceRequest::get(Service::Network, "ports");
            let request = request.with_query("fixed_ips", format!("subnet_id={id}"));
            let answer = on.get(request).await?;
            Ok(port_names(&answer))
        })
    }
}

/// The ports of an answer, for people.
pub(super) fn port_names(answer: &Json) -> Vec<String> {
    let ports = answer["ports"].as_array().into_iter().flatten();
    let text = |port: &Json, field: &str| port[field].as_str().unwrap_or_default().to_owned();
    let named = ports.map(|port| match text(port, "name").as_str() {
        "" => format!("port {}", text(port, "id")),
        name => format!("port {} (`{name}`)", text(port, "id")),
    });
    named.collect()
}

/// Whether two networks in CIDR form have an address in common.
fn overlap(a: &str, b: &str) -> bool {
    let parsed = |text: &str| {
        let (address, length) = text.split_once('/')?;
        Some((address.parse::<IpAddr>().ok()?, length.parse::<u32>().ok()?))
    };
    let Some(((a, length_a), (b, length_b))) = parsed(a).zip(parsed(b)) else {
        return a == b;
    };
    let length = length_a.min(length_b);
    match (a, b) {
        (IpAddr::V4(a), IpAddr::V4(b)) if length <= 32 => {
            let differing = a.to_bits() ^ b.to_bits();
            differing.checked_shr(32 - length).unwrap_or(0) == 0
        }
        (IpAddr::V6(a), IpAddr::V6(b)) if length <= 128 => {
            let differing = a.to_bits() ^ b.to_bits();
            differing.checked_shr(128 - length).unwrap_or(0) == 0
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_overlap_if_one_contains_the_other() {
        assert!(overlap("10.1.0.0/16", "10.1.2.0/24"));
        assert!(overlap("0.0.0.0/0", "10.1.2.0/24"));
        assert!(overlap("fd00::/64", "fd00::1/64"));
        assert!(!overlap("10.1.2.0/24", "10.1.3.0/24"));
        assert!(!overlap("10.1.2.0/24", "fd00::/64"));
    }

    #[test]
    fn a_gateway_is_removed_by_an_empty_text_and_chosen_by_auto() {
        let adjusted = |gateway: &str| {
            let mut body = JsonMap::from_iter([("gateway_ip".to_owned(), json!(gateway))]);
            adjust_gateway(&mut body);
            Json::Object(body)
        };
        assert_eq!(adjusted(""), json!({"gateway_ip": null}));
        assert_eq!(adjusted("auto"), json!({}));
        assert_eq!(adjusted("10.0.0.1"), json!({"gateway_ip": "10.0.0.1"}));
    }
}
