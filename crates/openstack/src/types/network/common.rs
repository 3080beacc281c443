//! What all tables of Neutron have in common.

use super::tags::Tagged;
use crate::client::Service;
use crate::managed::{Busy, Managed, Mark, State, Update};

/// What all tables of Neutron have in common.
pub(super) const NEUTRON: Managed = Managed {
    name: "",
    service: Service::Network,
    path: "",
    parent: None,
    envelope: "",
    list: "",
    properties: &[],
    update: Update::Put,
    mark: DESCRIPTION,
    state: State {
        field: "status",
        ready: &["ACTIVE", "DOWN"],
        failed: &["ERROR", "DEGRADED"],
        gone: &[],
        why: "",
    },
    busy: &[Busy::delete(409)],
    hooks: &Tagged::NONE,
};

/// The mark of objects with a description.
pub(super) const DESCRIPTION: Mark = Mark::Text("description");
