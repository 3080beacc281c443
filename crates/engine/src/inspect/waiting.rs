//! Resources and children that wait at a breakpoint, including resources without a record.

use std::collections::HashMap;

use blueprint::{Address, Breakpoint, IndexMap, Name};
use state::{Snapshot, Status, StatusOp, StatusWord, Stop};

/// A waiting resource without a record: not created yet, or deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pending {
    /// Its address.
    pub address: Name,
    /// The breakpoint at which it waits.
    pub at: Breakpoint,
}

impl Pending {
    /// Its status, in the form of a record's status.
    pub fn status(&self) -> Status {
        let op = StatusOp::of(self.at);
        Status::new(
            op,
            if op == StatusOp::Delete {
                StatusWord::Gone
            } else {
                StatusWord::Pending
            },
        )
    }
}

/// The waiting resources and children of an instance.
#[derive(Clone, Debug, Default)]
pub struct Waiting {
    resources: HashMap<Address, Breakpoint>,
    /// Waiting resources without a record.
    pub pending: Vec<Pending>,
    /// Waiting children, by their include path.
    pub children: IndexMap<Name, Breakpoint>,
}

impl Waiting {
    /// Returns the waiting resources and children of a state.
    pub fn of(snapshot: &Snapshot) -> Waiting {
        let mut waiting = Waiting::default();
        for (name, stop) in &snapshot.stops {
            let Some(at) = stop.waiting else { continue };
            if let Some(place) = name.strip_suffix('/') {
                waiting.children.insert(place.into(), at);
            }
            let address = name.parse::<Address>().ok();
            let is_recorded = address
                .as_ref()
                .is_some_and(|address| snapshot.records.contains_key(address));
            if Stop::child(name).is_none() && !is_recorded {
                waiting.pending.push(Pending {
                    address: name.clone(),
                    at,
                });
            }
            waiting
                .resources
                .extend(address.map(|address| (address, at)));
        }
        waiting
    }

    /// The breakpoint at which a resource waits.
    pub fn at(&self, address: &Address) -> Option<Breakpoint> {
        self.resources.get(address).copied()
    }

    /// The breakpoint at which a child waits.
    pub fn at_child(&self, place: &str) -> Option<Breakpoint> {
        self.children.get(place).copied()
    }
}
