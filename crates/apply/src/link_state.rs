//! The writes of links so far: the links that hold each entry of a target, and the writes that
//! share a call.
//!
//! Not here: carrying writes out (`link_writes`), the records of links (`link_records`).

use blueprint::Address;
use plan::linked::LinkWrite;
use plan::plan::Plan;
use plan::task::TaskKind;
use plan::tasks::links::ONE_BY_ONE;
use state::{Record, Snapshot};
use understand::links::DeterministicMap;
use understand::links::contribution::Contribution;
use understand::links::overlay::{Overlay, overlays_of};

/// A set with a fixed hash: results do not depend on a random seed.
pub(crate) type Set<T> = std::collections::HashSet<T, foldhash::fast::FixedState>;

/// The key of an entry that links write: the target and the identity of the contribution.
pub(crate) type ContributionKey = (Address, String);

/// The writes of links as this run sees them.
pub(crate) struct LinkState {
    /// The links that hold each entry.
    written: DeterministicMap<ContributionKey, Vec<Address>>,
    /// Entries that links have written in this run.
    rewritten: Set<ContributionKey>,
    /// The tasks that complete links, by the link's address.
    link_tasks: DeterministicMap<Address, u32>,
    /// The number of writes that have started for each target. The flag is true for writes that add
    /// contributions, false for writes that only remove contributions.
    started: DeterministicMap<(Address, bool), usize>,
    /// The other writes that share the call of a write.
    sharing: DeterministicMap<u32, Vec<u32>>,
    /// The contributions that a write adds by its call. Empty if the write only removes
    /// contributions.
    writing: DeterministicMap<u32, Vec<Overlay>>,
    /// Writes that another write has carried out, each with whether a call was made.
    carried_out_by_other: DeterministicMap<u32, bool>,
    /// Targets for which a shared call was refused.
    unshared: Set<Address>,
}

impl LinkState {
    /// Returns the writes of links according to the state.
    pub(crate) fn new(plan: &Plan, snapshot: &Snapshot) -> LinkState {
        let wholes = plan
            .tasks
            .iter()
            .enumerate()
            .filter(|(_, task)| task.kind == TaskKind::Link);
        let wholes = wholes
            .filter_map(|(at, task)| Some((task.decision.as_ref()?.address.clone(), at as u32)));
        let mut links = LinkState {
            written: DeterministicMap::default(),
            rewritten: Set::default(),
            link_tasks: wholes.collect(),
            started: DeterministicMap::default(),
            sharing: DeterministicMap::default(),
            writing: DeterministicMap::default(),
            carried_out_by_other: DeterministicMap::default(),
            unshared: Set::default(),
        };
        for (address, record) in snapshot
            .records
            .iter()
            .filter(|(address, _)| address.link.is_some())
        {
            links.add_holder(address, record);
        }
        links
    }

    /// The task that completes a link.
    pub(crate) fn link_task(&self, link: &Address) -> Option<u32> {
        self.link_tasks.get(link).copied()
    }

    /// Adds a link as holder of the entries that its record lists.
    pub(crate) fn add_holder(&mut self, link: &Address, record: &Record) {
        for key in overlays_of(record).iter().filter_map(entry_of) {
            self.written.entry(key).or_default().push(link.clone());
        }
    }

    /// Removes a link as holder of the entries that its record lists.
    pub(crate) fn remove_holder(&mut self, link: &Address, record: &Record) {
        for key in overlays_of(record).iter().filter_map(entry_of) {
            if let Some(holders) = self.written.get_mut(&key) {
                holders.retain(|holder| holder != link);
            }
        }
    }

    /// The links that hold an entry.
    pub(crate) fn holders(&self, entry: &ContributionKey) -> &[Address] {
        self.written.get(entry).map_or(&[], Vec::as_slice)
    }

    /// Marks entries as written in this run.
    pub(crate) fn rewrite(&mut self, overlays: &[Overlay]) {
        self.rewritten.extend(overlays.iter().filter_map(entry_of));
    }

    /// Whether a link has written an entry in this run.
    pub(crate) fn is_rewritten(&self, entry: &ContributionKey) -> bool {
        self.rewritten.contains(entry)
    }

    /// Counts a write that starts. If another write has carried it out, returns whether a call was
    /// made.
    pub(crate) fn start(&mut self, task: u32, write: &LinkWrite) -> Option<bool> {
        *self.started.entry(counted(write)).or_default() += 1;
        self.carried_out_by_other.remove(&task)
    }

    /// The maximum number of other writes that may share the call of this write, which has started;
    /// 0 for the first few, and after a shared call was refused. A call carries out at most as many
    /// writes as came before it.
    pub(crate) fn most_sharing(&self, write: &LinkWrite) -> usize {
        let started = self
            .started
            .get(&counted(write))
            .copied()
            .unwrap_or_default();
        if started <= ONE_BY_ONE || self.is_unshared(&write.target) {
            0
        } else {
            started.saturating_sub(2)
        }
    }

    /// Whether each write into a target gets its own call, because a shared call was refused.
    pub(crate) fn is_unshared(&self, target: &Address) -> bool {
        self.unshared.contains(target)
    }

    /// Gives each further write into a target its own call.
    pub(crate) fn unshare(&mut self, target: &Address) {
        self.unshared.insert(target.clone());
    }

    /// Records that the call of a write also carries out other writes.
    pub(crate) fn share(&mut self, task: u32, others: Vec<u32>) {
        if !others.is_empty() {
            self.sharing.insert(task, others);
        }
    }

    /// Records the contributions that the call of a write adds.
    pub(crate) fn begin_writing(&mut self, task: u32, overlays: Vec<Overlay>) {
        self.writing.insert(task, overlays);
    }

    /// Removes and returns the contributions that the successful call of a write has added.
    pub(crate) fn take_writing(&mut self, task: u32) -> Vec<Overlay> {
        self.writing.remove(&task).unwrap_or_default()
    }

    /// Settles other writes that need no call, because the write that includes them needs none.
    pub(crate) fn settle_without_call(&mut self, others: Vec<u32>) {
        self.carried_out_by_other
            .extend(others.into_iter().map(|task| (task, false)));
    }

    /// Removes and returns the writes that shared the successful call of a write.
    pub(crate) fn take_sharing(&mut self, task: u32) -> Vec<u32> {
        self.sharing.remove(&task).unwrap_or_default()
    }

    /// Settles a write that the call of another write has carried out.
    pub(crate) fn settle_by_call(&mut self, task: u32) {
        self.carried_out_by_other.insert(task, true);
    }

    /// Forgets the sharing of a refused call. Returns whether the call was shared.
    pub(crate) fn was_shared(&mut self, task: u32) -> bool {
        self.sharing.remove(&task).is_some()
    }

    /// Starts a write again, alone.
    pub(crate) fn start_alone(&mut self, write: &LinkWrite) {
        self.unshare(&write.target);
        if let Some(started) = self.started.get_mut(&counted(write)) {
            *started -= 1;
        }
    }
}

fn counted(write: &LinkWrite) -> (Address, bool) {
    (write.target.clone(), write.into.is_some())
}

/// The entry of a contribution to a target. `None` if the contribution has no identity.
pub(crate) fn entry(target: &Address, contribution: &Contribution) -> Option<ContributionKey> {
    Some((target.clone(), contribution.identity()?))
}

fn entry_of(overlay: &Overlay) -> Option<ContributionKey> {
    entry(&overlay.target, &overlay.contribution)
}
