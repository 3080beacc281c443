//! Records that a plan changes before its steps run: moved, imported, or with accepted drift.
//!
//! They are written together when the operation begins, so that a crash never leaves half of a
//! move. The former records are kept until the plan is complete, because changes out of target are
//! reverted.

use std::sync::Arc;

use blueprint::{Address, IndexMap};
use state::{Record, Snapshot};

/// A record that is corrected or changed before the steps of a plan run.
#[derive(Clone, Debug)]
pub struct Settled {
    /// Its address.
    pub address: Address,
    /// The new record; `None` if the record is removed.
    pub record: Option<Arc<Record>>,
}

/// The former records at all addresses that have been changed.
#[derive(Debug, Default)]
pub(crate) struct SettledRecords {
    pub(crate) before: IndexMap<Address, Option<Arc<Record>>>,
}

impl SettledRecords {
    /// Saves the record at an address before its first change.
    pub(crate) fn note(&mut self, snapshot: &Snapshot, address: &Address) {
        if !self.before.contains_key(address) {
            self.before
                .insert(address.clone(), snapshot.records.get(address).cloned());
        }
    }

    /// Sets the record at an address; `None` removes it.
    pub(crate) fn put(
        &mut self,
        snapshot: &mut Snapshot,
        address: &Address,
        record: Option<Arc<Record>>,
    ) {
        self.note(snapshot, address);
        match record {
            Some(record) => drop(snapshot.records.insert(address.clone(), record)),
            None => drop(snapshot.records.shift_remove(address)),
        }
    }

    /// The records to write: those that differ from the former record at their address.
    pub(crate) fn settled(self, snapshot: &Snapshot) -> Vec<Settled> {
        let mut settled = Vec::new();
        for (address, before) in self.before {
            let now = snapshot.records.get(&address);
            if now != before.as_ref() {
                settled.push(Settled {
                    record: now.cloned(),
                    address,
                });
            }
        }
        // Removed records are written first.
        settled.sort_by_key(|settled| settled.record.is_some());
        settled
    }
}
