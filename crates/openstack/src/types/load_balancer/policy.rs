//! Policies for single requests of HTTP, and their rules.

use crate::managed::{Managed, Parent, Unset, ignored, reference, same};

use super::common::OCTAVIA;
use super::kinds::{LISTENERS, POLICIES, POOLS};

pub(super) static POLICY: Managed = Managed {
    name: "OS::Octavia::L7Policy",
    path: "lbaas/l7policies",
    envelope: "l7policy",
    list: "l7policies",
    properties: &[
        same("name"),
        same("description").when_unset(Unset::Text),
        same("admin_state_up").when_unset(Unset::True),
        reference("listener", "listener_id", &LISTENERS),
        same("action"),
        // A policy moves when another one takes its position.
        same("position").recorded().when_unset(Unset::Kept),
        reference("redirect_pool", "redirect_pool_id", &POOLS),
        same("redirect_url"),
    ],
    ..OCTAVIA
};

pub(super) static RULE: Managed = Managed {
    name: "OS::Octavia::L7Rule",
    path: "lbaas/l7policies/{parent}/rules",
    parent: Some(Parent {
        property: "l7policy",
        kind: &POLICIES,
    }),
    envelope: "rule",
    list: "rules",
    properties: &[
        ignored("l7policy"),
        same("type"),
        same("compare_type"),
        same("key"),
        same("value"),
        same("invert"),
        same("admin_state_up").when_unset(Unset::True),
    ],
    ..OCTAVIA
};
