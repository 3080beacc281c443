//! The types of Octavia: a load balancer, and the objects below it.
//!
//! While Octavia works on a load balancer, it refuses every other change of it and of the objects
//! below it with 409. So each change is sent again until Octavia takes it, as Heat does.
//!
//! Not here: what a load balancer does with traffic.

mod common;
mod flavor;
pub(super) mod kinds;
mod listener;
mod policy;
mod pool;

use self::common::OCTAVIA;
use self::kinds::FLAVORS;
use crate::managed::{Form, Handler, Managed, Unset, reference, renamed, same};
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
