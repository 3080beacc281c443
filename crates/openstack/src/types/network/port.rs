//! Ports, and trunks of ports.

use ::provider::{BoxFuture, ProviderError};
use serde_json::{Value as Json, json};

use crate::client::{Service, ServiceRequest};
use crate::managed::{
    CloudCall, Form, Hooks, JsonMap, Managed, SpecChange, Unset, each, hook, ignored, list,
    reference, renamed, same, spread,
};

use super::common::{DESCRIPTION, NEUTRON};
use super::kinds::{GROUP, NETWORK, PORT as PORTS, QOS_POLICY, SUBNET};
use super::tags::{Tagged, shown_tags};

pub(super) static PORT: Managed = Managed {
    name: "OS::Neutron::Port",
    path: "ports",
    envelope: "port",
    list: "ports",
    properties: &[
        same("name"),
        reference("network", "network_id", &NETWORK),
        // Without the property, a port keeps its addresses.
        each(
            "fixed_ips",
            &[
                reference("subnet", "subnet_id", &SUBNET),
                same("ip_address"),
            ],
        )
        .when_unset(Unset::Kept),
        // The hooks set the default group again.
        list("security_groups", &Form::Reference(&GROUP)).when_unset(Unset::Kept),
        renamed("mac_address", "mac_address", Form::Mac),
        same("admin_state_up"),
        // A server that uses the port sets these.
        same("device_id").recorded(),
        same("device_owner").recorded(),
        each(
            "allowed_address_pairs",
            &[
                same("ip_address"),
                renamed("mac_address", "mac_address", Form::Mac),
            ],
        )
        .when_unset(Unset::List),
        same("binding:vnic_type"),
        // Nova sets the name of the server.
        same("dns_name").when_unset(Unset::Text).recorded(),
        same("port_security_enabled").when_unset(Unset::True),
        same("propagate_uplink_status").when_unset(Unset::Kept),
        reference("qos_policy", "qos_policy_id", &QOS_POLICY),
        hook("no_fixed_ips"),
        ignored("replacement_policy"),
        hook("tags"),
        spread("value_specs"),
    ],
    hooks: &PortHooks,
    ..NEUTRON
};

pub(super) static TRUNK: Managed = Managed {
    name: "OS::Neutron::Trunk",
    path: "trunks",
    envelope: "trunk",
    list: "trunks",
    properties: &[
        same("name"),
        same("description").when_unset(Unset::Text),
        same("admin_state_up").when_unset(Unset::True),
        reference("port", "port_id", &PORTS),
        each(
            "sub_ports",
            &[
                reference("port", "port_id", &PORTS),
                same("segmentation_type"),
                same("segmentation_id"),
            ],
        )
        .when_unset(Unset::List),
    ],
    hooks: &TrunkHooks,
    ..NEUTRON
};

/// The hooks of ports.
struct PortHooks;

/// The tags of ports.
const TAGS: Tagged = Tagged::of("ports");

/// Whether a port must not have an address.
fn has_no_address(spec: &JsonMap) -> bool {
    spec.get("no_fixed_ips") == Some(&json!(true))
}

/// The addresses in the body of a create. An empty list is no wish for a port without addresses:
/// Heat reads it as if it was not there.
fn adjust_addresses(spec: &JsonMap, body: &mut JsonMap) {
    if has_no_address(spec) {
        body.insert("fixed_ips".to_owned(), json!([]));
    } else if body.get("fixed_ips") == Some(&json!([])) {
        body.remove("fixed_ips");
    }
}

/// The addresses that a template gives to a port.
fn given_addresses(spec: &JsonMap) -> impl Iterator<Item = &str> {
    let all = spec.get("fixed_ips").and_then(Json::as_array);
    let all = all.into_iter().flatten();
    all.filter_map(|one| one["ip_address"].as_str())
}

impl Hooks for PortHooks {
    fn create_body<'a>(
        &'a self,
        _: CloudCall<'a>,
        spec: &'a JsonMap,
        body: &'a mut JsonMap,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        adjust_addresses(spec, body);
        Box::pin(async { Ok(()) })
    }

    fn update_body<'a>(
        &'a self,
        on: CloudCall<'a>,
        change: SpecChange<'a>,
        _: &'a Json,
        body: &'a mut JsonMap,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(async move {
            if has_no_address(change.desired) {
                body.remove("fixed_ips");
                if change.has("no_fixed_ips") {
                    body.insert("fixed_ips".to_owned(), json!([]));
                }
            } else {
                adjust_addresses(change.desired, body);
            }
            let groups = "security_groups";
            if change.prior.contains_key(groups) && !change.desired.contains_key(groups) {
                let default = on.id_of(&GROUP, "default").await?;
                body.insert(groups.to_owned(), json!([default]));
            }
            Ok(())
        })
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

    fn complete<'a>(
        &'a self,
        on: CloudCall<'a>,
        object: &'a mut Json,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(async move {
            let id = object["network_id"].as_str().unwrap_or_default();
            let request = ServiceRequest::get(Service::Network, format!("networks/{id}"));
            let mut network = on.get_once(request).await?["network"].take();
            DESCRIPTION.remove(&mut network);
            let mut subnets = Vec::new();
            let addresses = object["fixed_ips"].as_array();
            for address in addresses.into_iter().flatten() {
                let Some(id) = address["subnet_id"].as_str() else {
                    continue;
                };
                let request = ServiceRequest::get(Service::Network, format!("subnets/{id}"));
                let mut subnet = on.get_once(request).await?["subnet"].take();
                DESCRIPTION.remove(&mut subnet);
                subnets.push(subnet);
            }
            object["network"] = network;
            object["subnets"] = Json::Array(subnets);
            Ok(())
        })
    }

    fn attribute(&self, name: &str, object: &Json) -> Option<Json> {
        // The parts that `complete` adds are no fields of the object.
        let mut shown = object.as_object()?.clone();
        (name == "show").then(|| {
            shown.remove("network");
            shown.remove("subnets");
            Json::Object(shown)
        })
    }

    fn property(&self, name: &str, object: &Json, declared: &Json) -> Option<Json> {
        match name {
            "tags" => shown_tags(object, declared),
            _ => None,
        }
    }

    fn must_replace(&self, change: SpecChange<'_>) -> bool {
        let policy = change.desired.get("replacement_policy");
        policy.is_some_and(|policy| policy == "REPLACE_ALWAYS")
    }

    fn deletes_first(&self, prior: &JsonMap, desired: &JsonMap) -> bool {
        // No two ports of a network have the same address.
        let same = |name: &str| prior.contains_key(name) && prior.get(name) == desired.get(name);
        let given: Vec<&str> = given_addresses(prior).collect();
        let again = given_addresses(desired).any(|address| given.contains(&address));
        same("network") && (same("mac_address") || again)
    }
}

/// The hooks of trunks: calls of their own add and remove ports.
struct TrunkHooks;

/// The ports of a trunk that one list has and the other has not.
fn ports_only_in<'a>(one: &'a Json, other: &Json) -> Vec<&'a Json> {
    let other = other.as_array().map(Vec::as_slice).unwrap_or_default();
    let one = one.as_array().into_iter().flatten();
    let same = |a: &Json, b: &Json| {
        let fields = ["port_id", "segmentation_type", "segmentation_id"];
        fields.iter().all(|field| a[*field] == b[*field])
    };
    one.filter(|port| !other.iter().any(|it| same(port, it)))
        .collect()
}

impl Hooks for TrunkHooks {
    fn update_body<'a>(
        &'a self,
        on: CloudCall<'a>,
        _: SpecChange<'a>,
        object: &'a Json,
        body: &'a mut JsonMap,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(async move {
            let Some(wanted) = body.remove("sub_ports") else {
                return Ok(());
            };
            let id = object["id"].as_str().unwrap_or_default();
            let call = |action: &str, ports: Json| {
                let path = format!("trunks/{id}/{action}");
                ServiceRequest::put(Service::Network, path, json!({ "sub_ports": ports }))
            };
            // A port can be in a trunk once, so it leaves before it comes back with another tag.
            let gone = ports_only_in(&object["sub_ports"], &wanted);
            let gone: Vec<Json> = gone
                .iter()
                .map(|port| json!({"port_id": port["port_id"]}))
                .collect();
            if !gone.is_empty() {
                on.change(call("remove_subports", gone.into())).await?;
            }
            let new = ports_only_in(&wanted, &object["sub_ports"]);
            if !new.is_empty() {
                on.change(call("add_subports", json!(new))).await?;
            }
            Ok(())
        })
    }

    fn update<'a>(
        &'a self,
        on: CloudCall<'a>,
        change: SpecChange<'a>,
        object: &'a mut Json,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(async move {
            if change.has("sub_ports") {
                let id = object["id"].as_str().unwrap_or_default();
                let request = ServiceRequest::get(Service::Network, format!("trunks/{id}"));
                *object = on.get(request).await?["trunk"].take();
            }
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(spec: Json, body: Json) -> Json {
        let (Json::Object(spec), Json::Object(mut body)) = (spec, body) else {
            panic!("they are objects")
        };
        adjust_addresses(&spec, &mut body);
        Json::Object(body)
    }

    #[test]
    fn a_port_gets_no_address_only_if_that_is_said() {
        let none = json!({"fixed_ips": []});
        assert_eq!(body(json!({"no_fixed_ips": true}), json!({})), none);
        assert_eq!(body(json!({"no_fixed_ips": false}), none), json!({}));
        let one = json!({"fixed_ips": [{"ip_address": "10.0.0.9"}]});
        assert_eq!(body(json!({}), one.clone()), one);
    }

    #[test]
    fn a_port_leaves_a_trunk_before_it_returns_with_another_tag() {
        let port = |id: &str, tag: u16| json!({"port_id": id, "segmentation_type": "vlan", "segmentation_id": tag});
        let (before, after) = (
            json!([port("a", 1), port("b", 2)]),
            json!([port("b", 3), port("a", 1)]),
        );
        assert_eq!(ports_only_in(&before, &after), [&port("b", 2)]);
        assert_eq!(ports_only_in(&after, &before), [&port("b", 3)]);
    }

    #[test]
    fn a_port_is_deleted_first_if_its_address_stays_on_the_network() {
        let spec = |network: &str, address: &str| {
            let spec = json!({"network": network, "fixed_ips": [{"ip_address": address}]});
            spec.as_object().cloned().unwrap_or_default()
        };
        let first = |a: &JsonMap, b: &JsonMap| PortHooks.deletes_first(a, b);
        assert!(first(&spec("n", "10.0.0.9"), &spec("n", "10.0.0.9")));
        assert!(!first(&spec("n", "10.0.0.9"), &spec("n", "10.0.0.8")));
        assert!(!first(&spec("n", "10.0.0.9"), &spec("m", "10.0.0.9")));
    }
}
