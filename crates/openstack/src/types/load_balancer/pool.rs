//! Pools, their members, and the monitors of their health.

use crate::managed::{Form, Managed, Mark, Parent, Unset, ignored, reference, renamed, same};
use crate::types::network::SUBNET;

use super::common::OCTAVIA;
use super::kinds::{BALANCERS, LISTENERS, POOLS};

/// How requests of one client are kept together.
const PERSISTENCE: Form = Form::One(&[same("type"), same("cookie_name")]);

pub(super) static POOL: Managed = Managed {
    name: "OS::Octavia::Pool",
    path: "lbaas/pools",
    envelope: "pool",
    list: "pools",
    properties: &[
        same("name"),
        same("description").when_unset(Unset::Text),
        same("admin_state_up").when_unset(Unset::True),
        // A pool shows lists with its load balancer and its listeners.
        reference("loadbalancer", "loadbalancer_id", &BALANCERS).recorded(),
        reference("listener", "listener_id", &LISTENERS).recorded(),
        same("protocol"),
        same("lb_algorithm"),
        renamed("session_persistence", "session_persistence", PERSISTENCE),
        same("tls_enabled"),
    ],
    ..OCTAVIA
};

pub(super) static MEMBER: Managed = Managed {
    name: "OS::Octavia::PoolMember",
    path: "lbaas/pools/{parent}/members",
    parent: Some(Parent {
        property: "pool",
        kind: &POOLS,
    }),
    envelope: "member",
    list: "members",
    properties: &[
        ignored("pool"),
        same("address"),
        same("protocol_port"),
        reference("subnet", "subnet_id", &SUBNET),
        same("weight"),
        same("admin_state_up").when_unset(Unset::True),
        same("monitor_address"),
        same("monitor_port"),
        same("tags").when_unset(Unset::List),
    ],
    // A pool has one member with an address and port.
    mark: Mark::Unique(&["address", "protocol_port"]),
    ..OCTAVIA
};

pub(super) static HEALTH_MONITOR: Managed = Managed {
    name: "OS::Octavia::HealthMonitor",
    path: "lbaas/healthmonitors",
    envelope: "healthmonitor",
    list: "healthmonitors",
    properties: &[
        // A monitor shows a list with its pool.
        reference("pool", "pool_id", &POOLS).recorded(),
        same("type"),
        same("delay"),
        same("timeout"),
        same("max_retries"),
        same("http_method"),
        same("url_path"),
        same("expected_codes"),
        same("admin_state_up").when_unset(Unset::True),
        renamed("tenant_id", "project_id", Form::Same),
    ],
    ..OCTAVIA
};
