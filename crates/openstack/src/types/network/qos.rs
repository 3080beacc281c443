//! Policies for the quality of service, and their rules.

use crate::managed::{Managed, Mark, Parent, State, Unset, ignored, same};

use super::common::NEUTRON;
use super::kinds::QOS_POLICY as POLICIES;

pub(super) static POLICY: Managed = Managed {
    name: "OS::Neutron::QoSPolicy",
    path: "qos/policies",
    envelope: "policy",
    list: "policies",
    properties: &[
        same("name"),
        same("description").when_unset(Unset::Text),
        same("shared"),
        same("tenant_id"),
    ],
    state: State::NONE,
    ..NEUTRON
};

/// What the tables of all rules have in common.
const RULE: Managed = Managed {
    parent: Some(Parent {
        property: "policy",
        kind: &POLICIES,
    }),
    // A policy has one rule of each type and direction.
    mark: Mark::Unique(&["direction"]),
    state: State::NONE,
    ..NEUTRON
};

pub(super) static BANDWIDTH_LIMIT: Managed = Managed {
    name: "OS::Neutron::QoSBandwidthLimitRule",
    path: "qos/policies/{parent}/bandwidth_limit_rules",
    envelope: "bandwidth_limit_rule",
    list: "bandwidth_limit_rules",
    properties: &[
        ignored("policy"),
        same("max_kbps"),
        same("max_burst_kbps"),
        same("direction"),
        same("tenant_id").recorded(),
    ],
    ..RULE
};

pub(super) static DSCP_MARKING: Managed = Managed {
    name: "OS::Neutron::QoSDscpMarkingRule",
    path: "qos/policies/{parent}/dscp_marking_rules",
    envelope: "dscp_marking_rule",
    list: "dscp_marking_rules",
    properties: &[
        ignored("policy"),
        same("dscp_mark"),
        same("tenant_id").recorded(),
    ],
    mark: Mark::Unique(&[]),
    ..RULE
};

pub(super) static MINIMUM_BANDWIDTH: Managed = Managed {
    name: "OS::Neutron::QoSMinimumBandwidthRule",
    path: "qos/policies/{parent}/minimum_bandwidth_rules",
    envelope: "minimum_bandwidth_rule",
    list: "minimum_bandwidth_rules",
    properties: &[
        ignored("policy"),
        same("min_kbps"),
        same("direction"),
        same("tenant_id").recorded(),
    ],
    ..RULE
};

pub(super) static MINIMUM_PACKET_RATE: Managed = Managed {
    name: "OS::Neutron::QoSMinimumPacketRateRule",
    path: "qos/policies/{parent}/minimum_packet_rate_rules",
    envelope: "minimum_packet_rate_rule",
    list: "minimum_packet_rate_rules",
    properties: &[
        ignored("policy"),
        same("min_kpps"),
        same("direction"),
        same("tenant_id").recorded(),
    ],
    ..RULE
};
