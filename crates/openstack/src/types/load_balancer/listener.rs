//! Listeners: the ports on which a load balancer takes requests.

use crate::managed::{Form, Managed, Unset, reference, renamed, same};

use super::common::OCTAVIA;
use super::kinds::{BALANCERS, POOLS};

pub(super) static LISTENER: Managed = Managed {
    name: "OS::Octavia::Listener",
    path: "lbaas/listeners",
    envelope: "listener",
    list: "listeners",
    properties: &[
        same("name"),
        same("description").when_unset(Unset::Text),
        same("admin_state_up").when_unset(Unset::True),
        // A listener shows a list with its load balancer.
        reference("loadbalancer", "loadbalancer_id", &BALANCERS).recorded(),
        reference("default_pool", "default_pool_id", &POOLS),
        same("protocol"),
        same("protocol_port"),
        same("connection_limit"),
        same("allowed_cidrs"),
        same("default_tls_container_ref"),
        same("sni_container_refs").when_unset(Unset::List),
        renamed("tenant_id", "project_id", Form::Same),
    ],
    ..OCTAVIA
};
