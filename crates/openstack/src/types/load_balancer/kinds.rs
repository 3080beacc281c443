//! The kinds of objects of Octavia that documents name.

use crate::client::Service;
use crate::managed::{ObjectKind, Search};

const fn kind(word: &'static str, path: &'static str, list: &'static str) -> ObjectKind {
    ObjectKind {
        word,
        service: Service::LoadBalancer,
        path,
        list,
        search: Search::ByQuery,
    }
}

pub(in crate::types) static BALANCERS: ObjectKind =
    kind("load balancer", "lbaas/loadbalancers", "loadbalancers");
pub(in crate::types) static LISTENERS: ObjectKind =
    kind("listener", "lbaas/listeners", "listeners");
pub(in crate::types) static POOLS: ObjectKind = kind("pool", "lbaas/pools", "pools");
pub(in crate::types) static POLICIES: ObjectKind =
    kind("L7 policy", "lbaas/l7policies", "l7policies");
pub(in crate::types) static FLAVORS: ObjectKind =
    kind("flavor of load balancers", "lbaas/flavors", "flavors");
pub(in crate::types) static FLAVOR_PROFILES: ObjectKind =
    kind("flavor profile", "lbaas/flavorprofiles", "flavorprofiles");

pub(in crate::types) static ZONE_PROFILES: ObjectKind = kind(
    "availability zone profile",
    "lbaas/availabilityzoneprofiles",
    "availability_zone_profiles",
);
