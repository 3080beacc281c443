//! The types of Octavia: a load balancer, and the objects below it.
//!
//! While Octavia works on a load balancer, it refuses every other change of it and of the objects
//! below it with 409. So each change is sent again until Octavia takes it, as Heat does.
//!
//! Not here: what a load balancer does with traffic.

mod flavor;
mod listener;
mod policy;
mod pool;

use std::time::Duration;

use ::provider::Operation;

use crate::client::Service;
use crate::managed::{
    Busy, Handler, Hooks, Managed, Mark, ObjectKind, Search, State, Update, reference, renamed,
    same,
};
use crate::managed::{Form, Unset};
use crate::types::network::SUBNET;

/// The types.
pub(super) static TYPES: &[&dyn Handler] = &[
    &LOAD_BALANCER,
    &listener::LISTENER,
    &pool::POOL,
    &pool::MEMBER,
    &pool::HEALTH_MONITOR,
    &policy::POLICY,
    &policy::RULE,
    &flavor::FLAVOR,
    &flavor::FLAVOR_PROFILE,
    &flavor::ZONE,
    &flavor::ZONE_PROFILE,
];

const fn kind(word: &'static str, path: &'static str, list: &'static str) -> ObjectKind {
    ObjectKind {
        word,
        service: Service::LoadBalancer,
        path,
        list,
        search: Search::ByQuery,
    }
}

static BALANCERS: ObjectKind = kind("load balancer", "lbaas/loadbalancers", "loadbalancers");
static LISTENERS: ObjectKind = kind("listener", "lbaas/listeners", "listeners");
static POOLS: ObjectKind = kind("pool", "lbaas/pools", "pools");
static POLICIES: ObjectKind = kind("L7 policy", "lbaas/l7policies", "l7policies");
static FLAVORS: ObjectKind = kind("flavor", "lbaas/flavors", "flavors");
static FLAVOR_PROFILES: ObjectKind =
    kind("flavor profile", "lbaas/flavorprofiles", "flavorprofiles");

static ZONE_PROFILES: ObjectKind = kind(
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
const OCTAVIA: Managed = Managed {
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

static LOAD_BALANCER: Managed = Managed {
    name: "OS::Octavia::LoadBalancer",
    path: "lbaas/loadbalancers",
    envelope: "loadbalancer",
    list: "loadbalancers",
    properties: &[
        same("name"),
        same("description").when_unset(Unset::Text),
        same("admin_state_up").when_unset(Unset::True),
        reference("vip_subnet", "vip_subnet_id", &SUBNET),
        same("vip_address"),
        same("provider"),
        reference("flavor", "flavor_id", &FLAVORS),
        same("availability_zone"),
        renamed("tenant_id", "project_id", Form::Same),
    ],
    ..OCTAVIA
};
