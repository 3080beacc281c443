//! Records that a plan changes before anything is done: moved, imported, accepted as seen.
//!
//! They are written together when the operation begins, so that no crash finds half of a move. What was there before is
//! kept until the plan is complete, because a target may leave some of it out again.

use std::sync::Arc;

use blueprint::{Address, IndexMap};
use state::{Record, Snapshot};

/// A record that is put right before anything is planned.
#[derive(Clone, Debug)]
pub struct Settled {
    /// Of what.
    pub address: Address,
    /// What is known of it now; none where nothing is left.
    pub record: Option<Arc<Record>>,
}

/// What was at each address that has been changed, before it was.
#[derive(Debug, Default)]
pub(crate) struct SettledRecords {
    pub(crate) before: IndexMap<Address, Option<Arc<Record>>>,
}

impl SettledRecords {
    /// Says that the record at an address is about to change.
    pub(crate) fn note(&mut self, snapshot: &Snapshot, address: &Address) {
        if !self.before.contains_key(address) {
            self.before.insert(address.clone(), snapshot.records.get(address).cloned());
        }
    }

    /// Sets the record at an address; none takes it away.
    pub(crate) fn put(&mut self, snapshot: &mut Snapshot, address: &Address, record: Option<Arc<Record>>) {
        self.note(snapshot, address);
        match record {
            Some(record) => drop(snapshot.records.insert(address.clone(), record)),
            None => drop(snapshot.records.shift_remove(address)),
        }
    }

    /// What is to be written: every address at which the record is another one than before.
    pub(crate) fn settled(self, snapshot: &Snapshot) -> Vec<Settled> {
        let mut settled = Vec::new();
        for (address, before) in self.before {
            let now = snapshot.records.get(&address);
            if now != before.as_ref() {
                settled.push(Settled { record: now.cloned(), address });
            }
        }
        // What goes is written before what comes.
        settled.sort_by_key(|settled| settled.record.is_some());
        settled
    }
}
