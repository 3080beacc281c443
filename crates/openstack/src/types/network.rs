//! The types of Neutron: networks, subnets, ports.

use ::provider::{BoxFuture, ProviderError};
use serde_json::{Value as Json, json};

use crate::client::{Service, ServiceRequest};
use crate::managed::{
    Busy, CloudCall, Form, Handler, Hooks, JsonMap, Managed, Mark, ObjectKind, Search, SpecChange,
    State, Update, each, hook, ignored, list, reference, renamed, same, spread,
};

/// The types.
pub(super) static TYPES: &[&dyn Handler] = &[&NET, &SUBNET, &PORT];

const fn kind(word: &'static str, path: &'static str, list: &'static str) -> ObjectKind {
    ObjectKind {
        word,
        service: Service::Network,
        path,
        list,
        search: Search::ByQuery,
    }
}

pub(super) static NETWORK: ObjectKind = kind("network", "networks", "networks");
pub(super) static SUBNETS: ObjectKind = kind("subnet", "subnets", "subnets");
static SUBNET_POOL: ObjectKind = kind("subnet pool", "subnetpools", "subnetpools");
static SEGMENT: ObjectKind = kind("segment", "segments", "segments");
pub(super) static GROUP: ObjectKind = kind("security group", "security-groups", "security_groups");
pub(super) static QOS_POLICY: ObjectKind = kind("QoS policy", "qos/policies", "policies");

/// What all tables of Neutron have in common.
const NEUTRON: Managed = Managed {
    name: "",
    service: Service::Network,
    path: "",
    envelope: "",
    list: "",
    properties: &[],
    update: Update::Put,
    mark: Mark::Text("description"),
    state: State {
        field: "status",
        ready: &["ACTIVE", "DOWN"],
        failed: &["ERROR"],
        why: "",
    },
    busy: &[Busy::delete(409)],
    hooks: &Tagged { collection: "" },
};

static NET: Managed = Managed {
    name: "OS::Neutron::Net",
    path: "networks",
    envelope: "network",
    list: "networks",
    properties: &[
        same("name"),
        same("admin_state_up"),
        same("shared"),
        same("tenant_id"),
        same("availability_zone_hints"),
        same("dns_domain"),
        same("port_security_enabled"),
        reference("qos_policy", "qos_policy_id", &QOS_POLICY),
        hook("tags"),
        hook("dhcp_agent_ids"),
        spread("value_specs"),
    ],
    hooks: &Tagged {
        collection: "networks",
    },
    ..NEUTRON
};

static SUBNET: Managed = Managed {
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
        same("dns_nameservers"),
        same("gateway_ip"),
        same("allocation_pools"),
        same("host_routes"),
        same("ipv6_ra_mode"),
        same("ipv6_address_mode"),
        reference("subnetpool", "subnetpool_id", &SUBNET_POOL),
        same("prefixlen").recorded(),
        reference("segment", "segment_id", &SEGMENT),
        same("tenant_id"),
        hook("tags"),
        spread("value_specs"),
    ],
    state: State::NONE,
    hooks: &Tagged {
        collection: "subnets",
    },
    ..NEUTRON
};

static PORT: Managed = Managed {
    name: "OS::Neutron::Port",
    path: "ports",
    envelope: "port",
    list: "ports",
    properties: &[
        same("name"),
        reference("network", "network_id", &NETWORK),
        each(
            "fixed_ips",
            &[
                reference("subnet", "subnet_id", &SUBNETS),
                same("ip_address"),
            ],
        ),
        list("security_groups", &Form::Reference(&GROUP)),
        renamed("mac_address", "mac_address", Form::Mac),
        same("admin_state_up"),
        // A server that uses the port sets these.
        same("device_id").recorded(),
        same("device_owner").recorded(),
        same("allowed_address_pairs"),
        same("binding:vnic_type"),
        same("dns_name"),
        same("port_security_enabled"),
        same("propagate_uplink_status"),
        reference("qos_policy", "qos_policy_id", &QOS_POLICY),
        hook("no_fixed_ips"),
        ignored("replacement_policy"),
        hook("tags"),
        spread("value_specs"),
    ],
    hooks: &Tagged {
        collection: "ports",
    },
    ..NEUTRON
};

/// The hooks of objects with tags, which have a call of their own.
struct Tagged {
    collection: &'static str,
}

impl Tagged {
    /// Sets the tags of an object.
    async fn set_tags(
        &self,
        on: CloudCall<'_>,
        tags: &Json,
        object: &mut Json,
    ) -> Result<(), ProviderError> {
        let id = object["id"].as_str().unwrap_or_default();
        let path = format!("{}/{id}/tags", self.collection);
        let request = ServiceRequest::put(Service::Network, path, json!({ "tags": tags }));
        let mut answer = on.change(request).await?;
        object["tags"] = answer["tags"].take();
        Ok(())
    }
}

impl Hooks for Tagged {
    fn created<'a>(
        &'a self,
        on: CloudCall<'a>,
        spec: &'a JsonMap,
        object: &'a mut Json,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(async move {
            match spec.get("tags") {
                Some(tags) => self.set_tags(on, tags, object).await,
                None => Ok(()),
            }
        })
    }

    fn update<'a>(
        &'a self,
        on: CloudCall<'a>,
        change: SpecChange<'a>,
        object: &'a mut Json,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(async move {
            if !change.has("tags") {
                return Ok(());
            }
            let none = json!([]);
            let tags = change.desired.get("tags").unwrap_or(&none);
            self.set_tags(on, tags, object).await
        })
    }
}
