//! What links have written: the links that hold each entry of a target, and the phases that share a call.
//!
//! Not here: carrying phases out (`phases`), the records of links (`links`).

use blueprint::Address;
use plan::plan::Plan;
use plan::task::TaskKind;
use state::{Record, Snapshot};
use understand::links::DeterministicMap;
use understand::links::overlay::{Overlay, overlays_of};

/// A set with a fixed hash: results do not depend on a random seed.
pub(crate) type Set<T> = std::collections::HashSet<T, foldhash::fast::FixedState>;

/// What links have written, as this run sees it.
pub(crate) struct LinkState {
    /// The links that hold each entry, by target and identity.
    pub(crate) written: DeterministicMap<(Address, String), Vec<Address>>,
    /// Entries that links have written in this run, by target and identity.
    pub(crate) rewritten: Set<(Address, String)>,
    /// Resources whose record the phases of links have changed in this run.
    pub(crate) touched: Set<Address>,
    /// The phases that share calls.
    pub(crate) batches: Batches,
    /// The tasks that complete links, by the link's address.
    pub(crate) wholes: DeterministicMap<Address, u32>,
}

/// Which phases share a call.
#[derive(Default)]
pub(crate) struct Batches {
    /// The number of phases that have started for each target. The flag is true for phases that write, false for those
    /// that remove.
    pub(crate) had: DeterministicMap<(Address, bool), usize>,
    /// The other phases that share the call of a phase.
    pub(crate) along: DeterministicMap<u32, Vec<u32>>,
    /// Phases that the call of another phase has carried out, and whether a call was made at all.
    pub(crate) carried: DeterministicMap<u32, bool>,
    /// Targets for which a shared call was refused.
    pub(crate) alone: Set<Address>,
}

impl LinkState {
    /// The links' writes according to the state.
    pub(crate) fn new(plan: &Plan, snapshot: &Snapshot) -> LinkState {
        let wholes = plan.tasks.iter().enumerate().filter(|(_, task)| task.kind == TaskKind::Link);
        let wholes = wholes.filter_map(|(at, task)| Some((task.decision.as_ref()?.address.clone(), at as u32)));
        let mut links = LinkState {
            written: DeterministicMap::default(),
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

    /// Adds a link as holder of the entries that its record lists.
    pub(crate) fn hold(&mut self, link: &Address, record: &Record) {
        for key in overlays_of(record).iter().filter_map(entry_of) {
            self.written.entry(key).or_default().push(link.clone());
        }
    }

    /// Removes a link as holder of the entries that its record lists.
    pub(crate) fn let_go(&mut self, link: &Address, record: &Record) {
        for key in overlays_of(record).iter().filter_map(entry_of) {
            if let Some(holders) = self.written.get_mut(&key) {
                holders.retain(|holder| holder != link);
            }
        }
    }
}

/// The key of an overlay's entry: its target and identity. `None` if the contribution has no identity.
fn entry_of(overlay: &Overlay) -> Option<(Address, String)> {
    Some((overlay.target.clone(), overlay.contribution.identity()?))
}
