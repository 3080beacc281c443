//! What the tables of a load balancer and of the objects below it share.

use std::time::Duration;

use ::provider::Operation;

use crate::client::Service;
use crate::managed::{Busy, Hooks, Managed, Mark, ObjectKind, Search, State, Update};

const fn kind(word: &'static str, path: &'static str, list: &'static str) -> ObjectKind {
    ObjectKind {
        word,
        service: Service::LoadBalancer,
        path,
        list,
        search: Search::ByQuery,
    }
}

pub(super) static BALANCERS: ObjectKind =
    kind("load balancer", "lbaas/loadbalancers", "loadbalancers");
pub(super) static LISTENERS: ObjectKind = kind("listener", "lbaas/listeners", "listeners");
pub(super) static POOLS: ObjectKind = kind("pool", "lbaas/pools", "pools");
pub(super) static POLICIES: ObjectKind = kind("L7 policy", "lbaas/l7policies", "l7policies");
pub(super) static FLAVORS: ObjectKind = kind("flavor", "lbaas/flavors", "flavors");
pub(super) static FLAVOR_PROFILES: ObjectKind =
    kind("flavor profile", "lbaas/flavorprofiles", "flavorprofiles");

pub(super) static ZONE_PROFILES: ObjectKind = kind(
    "availability zone profile",
    "lbaas/availabilityzoneprofiles",
    "availability_zone_profiles",
);

/// An operation while Octavia works on the load balancer. Many objects below one load balancer wait
/// for each other, and each may take Octavia a while.
const fn immutable(operation: Operation) -> Busy {
    Busy {
        says: "immutable",
        patience: Duration::from_secs(1800),
        ..Busy::of(operation, 409)
    }
}

/// The hooks of types that need none.
struct NoFurther;

impl Hooks for NoFurther {}

/// What the tables of a load balancer and the objects below it have in common.
pub(super) const OCTAVIA: Managed = Managed {
    name: "",
    service: Service::LoadBalancer,
    path: "",
    parent: None,
    envelope: "",
    list: "",
    properties: &[],
    update: Update::Put,
    mark: Mark::Tag("tags"),
    state: State {
        field: "provisioning_status",
        ready: &["ACTIVE"],
        failed: &["ERROR"],
        gone: &["DELETED"],
        why: "",
    },
    busy: &[
        immutable(Operation::Create),
        immutable(Operation::Update),
        immutable(Operation::Delete),
    ],
    hooks: &NoFurther,
};
