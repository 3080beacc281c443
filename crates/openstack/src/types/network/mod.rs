//! The types of Neutron, one file for each group.
//!
//! Not here: load balancers, firewalls, VPN, service chains: other services, or gone from clouds.

mod floating_ip;
mod net;
mod port;
mod qos;
mod quota;
mod router;
mod router_parts;
mod security_group;
mod subnet;
mod tags;

use crate::client::Service;
use crate::managed::{Busy, Handler, Managed, Mark, ObjectKind, Search, State, Update};

use self::tags::Tagged;

/// The types.
pub(super) static TYPES: &[&dyn Handler] = &[
    &net::NET,
    &net::PROVIDER_NET,
    &net::SEGMENT,
    &net::RBAC_POLICY,
    &subnet::SUBNET,
    &subnet::SUBNET_POOL,
    &subnet::ADDRESS_SCOPE,
    &port::PORT,
    &port::TRUNK,
    &router::ROUTER,
    &router_parts::INTERFACE,
    &router_parts::GATEWAY,
    &router_parts::ROUTES,
    &security_group::GROUP,
    &security_group::RULE,
    &floating_ip::FLOATING_IP,
    &floating_ip::ASSOCIATION,
    &floating_ip::PORT_FORWARD,
    &qos::POLICY,
    &qos::BANDWIDTH_LIMIT,
    &qos::DSCP_MARKING,
    &qos::MINIMUM_BANDWIDTH,
    &qos::MINIMUM_PACKET_RATE,
    &quota::QUOTA,
];

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
pub(super) static SUBNET: ObjectKind = kind("subnet", "subnets", "subnets");
static SUBNET_POOL: ObjectKind = kind("subnet pool", "subnetpools", "subnetpools");
static ADDRESS_SCOPE: ObjectKind = kind("address scope", "address-scopes", "address_scopes");
static SEGMENT: ObjectKind = kind("segment", "segments", "segments");
static PORT: ObjectKind = kind("port", "ports", "ports");
static ROUTER: ObjectKind = kind("router", "routers", "routers");
pub(super) static QOS_POLICY: ObjectKind = kind("QoS policy", "qos/policies", "policies");
pub(super) static GROUP: ObjectKind = ObjectKind {
    search: Search::InProject,
    ..kind("security group", "security-groups", "security_groups")
};
static FLOATING_IP: ObjectKind = ObjectKind {
    search: Search::ByField("floating_ip_address"),
    ..kind("floating IP", "floatingips", "floatingips")
};

/// What all tables of Neutron have in common.
const NEUTRON: Managed = Managed {
    name: "",
    service: Service::Network,
    path: "",
    parent: None,
    envelope: "",
    list: "",
    properties: &[],
    update: Update::Put,
    mark: DESCRIPTION,
    state: State {
        field: "status",
        ready: &["ACTIVE", "DOWN"],
        failed: &["ERROR", "DEGRADED"],
        why: "",
    },
    busy: &[Busy::delete(409)],
    hooks: &Tagged::NONE,
};

/// The mark of objects with a description.
const DESCRIPTION: Mark = Mark::Text("description");
