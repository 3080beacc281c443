//! What the tables of a load balancer and of the objects below it share.

use std::time::Duration;

use ::provider::Operation;

use crate::client::Service;
use crate::managed::{Busy, Managed, Mark, NoHooks, State, Update};

/// An operation while Octavia works on the load balancer. Many objects below one load balancer wait
/// for each other, and each may take Octavia a while.
const fn immutable(operation: Operation) -> Busy {
    Busy {
        says: "immutable",
        patience: Duration::from_secs(1800),
        ..Busy::of(operation, 409)
    }
}

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
    hooks: &NoHooks,
};
