//! What links have written: by which link each entry of a target is held, and which phases share a call.
//!
//! Not here: carrying phases out (`phases`), records of links (`links`).

use blueprint::Address;
use plan::plan::Plan;
use plan::task::TaskKind;
use state::{Record, Snapshot};
use understand::links::FixedMap;
use understand::links::overlay::{Overlay, overlays_of};

/// A set with a fixed hash, so that nothing depends on a random seed.
pub(crate) type Set<T> = std::collections::HashSet<T, foldhash::fast::FixedState>;

/// What links have written, as the run sees it.
pub(crate) struct LinkState {
    /// The links that hold each entry, by target and identity.
    pub(crate) written: FixedMap<(Address, String), Vec<Address>>,
    /// Entries that links have written in this run, by target and identity.
    pub(crate) rewritten: Set<(Address, String)>,
    /// Things that links have written into, or been taken out of, in this run.
    pub(crate) touched: Set<Address>,
    /// Phases of links that are carried out together.
    pub(crate) batches: Batches,
    /// The tasks that make links, by address.
    pub(crate) wholes: FixedMap<Address, u32>,
}

/// Which phases are carried out by one call.
#[derive(Default)]
pub(crate) struct Batches {
    /// How many phases each target has had: those that take out, and those that write.
    pub(crate) had: FixedMap<(Address, bool), usize>,
    /// Phases that go along with the call of a phase.
    pub(crate) along: FixedMap<u32, Vec<u32>>,
    /// Phases that the call of another one has carried out, and whether there was a call at all.
    pub(crate) carried: FixedMap<u32, bool>,
    /// Targets of which a call for several phases was refused.
    pub(crate) alone: Set<Address>,
}

impl LinkState {
    /// What links have written according to the state.
    pub(crate) fn new(plan: &Plan, snapshot: &Snapshot) -> LinkState {
        let wholes = plan.tasks.iter().enumerate().filter(|(_, task)| task.kind == TaskKind::Link);
        let wholes = wholes.filter_map(|(at, task)| Some((task.decision.as_ref()?.address.clone(), at as u32)));
        let mut links = LinkState {
            written: FixedMap::default(),
            rewritten: Set::default(),
            touched: Set::default(),
            batches: Batches::default(),
            wholes: wholes.collect(),
        };
        for (address, record) in snapshot.records.iter().filter(|(address, _)| address.link.is_some()) {
            links.hold(address, record);
        }
        links
    }

    /// A link holds what its record says.
    pub(crate) fn hold(&mut self, link: &Address, record: &Record) {
        for key in overlays_of(record).iter().filter_map(entry_of) {
            self.written.entry(key).or_default().push(link.clone());
        }
    }

    /// A link no longer holds what its record says.
    pub(crate) fn let_go(&mut self, link: &Address, record: &Record) {
        for key in overlays_of(record).iter().filter_map(entry_of) {
            if let Some(holders) = self.written.get_mut(&key) {
                holders.retain(|holder| holder != link);
            }
        }
    }
}

/// The entry that a contribution is: its target and identity.
fn entry_of(overlay: &Overlay) -> Option<(Address, String)> {
    Some((overlay.target.clone(), overlay.contribution.identity()?))
}
