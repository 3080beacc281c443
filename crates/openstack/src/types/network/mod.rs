//! The types of Neutron, one file for each group.
//!
//! Not here: load balancers, firewalls, VPN, service chains: other services, or gone from clouds.

mod common;
mod floating_ip;
pub(super) mod kinds;
mod net;
mod port;
mod qos;
mod quota;
mod router;
mod router_parts;
mod security_group;
mod subnet;
mod tags;

use crate::managed::Handler;

pub(super) use self::kinds::{GROUP, NETWORK, QOS_POLICY, SUBNET};

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
