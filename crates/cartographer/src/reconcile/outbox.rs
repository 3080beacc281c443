//! The requests of one reconcile: numbers them, and keeps those that were not handed out.

use super::requests::{Call, ClusterRequest, Identity, RequestId};

/// Collects requests that are signed by one identity.
pub(super) struct Outbox {
    identity: Identity,
    next: u32,
    new: Vec<ClusterRequest>,
}

impl Outbox {
    /// An empty one. `identity` signs all requests but those of the controller itself.
    pub(super) fn new(identity: Identity) -> Outbox {
        Outbox {
            identity,
            next: 0,
            new: Vec::new(),
        }
    }

    /// Asks with the identity.
    pub(super) fn ask(&mut self, call: Call) -> RequestId {
        self.ask_as(self.identity.clone(), call)
    }

    /// Asks as the controller.
    pub(super) fn ask_as_controller(&mut self, call: Call) -> RequestId {
        self.ask_as(Identity::Controller, call)
    }

    fn ask_as(&mut self, identity: Identity, call: Call) -> RequestId {
        let id = RequestId(self.next);
        self.next = self.next.saturating_add(1);
        self.new.push(ClusterRequest { id, identity, call });
        id
    }

    /// The requests that were not handed out before.
    pub(super) fn take(&mut self) -> Vec<ClusterRequest> {
        std::mem::take(&mut self.new)
    }
}
