//! The kinds of objects of Neutron that templates name.

use crate::client::Service;
use crate::managed::{ObjectKind, Search};

const fn kind(word: &'static str, path: &'static str, list: &'static str) -> ObjectKind {
    ObjectKind {
        word,
        service: Service::Network,
        path,
        list,
        search: Search::ByQuery,
    }
}

pub(in crate::types) static NETWORK: ObjectKind = kind("network", "networks", "networks");
pub(in crate::types) static SUBNET: ObjectKind = kind("subnet", "subnets", "subnets");
pub(in crate::types) static SUBNET_POOL: ObjectKind =
    kind("subnet pool", "subnetpools", "subnetpools");
pub(in crate::types) static ADDRESS_SCOPE: ObjectKind =
    kind("address scope", "address-scopes", "address_scopes");
pub(in crate::types) static SEGMENT: ObjectKind = kind("segment", "segments", "segments");
pub(in crate::types) static PORT: ObjectKind = kind("port", "ports", "ports");
pub(in crate::types) static ROUTER: ObjectKind = kind("router", "routers", "routers");
pub(in crate::types) static QOS_POLICY: ObjectKind = kind("QoS policy", "qos/policies", "policies");
pub(in crate::types) static GROUP: ObjectKind = ObjectKind {
    search: Search::InProject,
    ..kind("security group", "security-groups", "security_groups")
};
pub(in crate::types) static FLOATING_IP: ObjectKind = ObjectKind {
    search: Search::ByField("floating_ip_address"),
    ..kind("floating IP", "floatingips", "floatingips")
};
