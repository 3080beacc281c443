//! The declared links of an evaluation with the links that they expand to, and what the state
//! records of links.

use blueprint::{Address, Key, Name};
use state::{Snapshot, StatusWord};

use understand::links::DeterministicMap;
use understand::links::address::is_link;
use understand::links::contribution::Contribution;
use understand::links::overlay::{Overlay, overlays_of};
use understand::links::wiring::LinkTarget;

use crate::resolve::pairing::LinkInstance;

/// The state of a declared link.
#[derive(Clone, Debug, Default)]
pub enum LinkSlot {
    /// Not settled yet.
    #[default]
    Open,
    /// Has an error, which is already reported.
    Failed,
    /// The links between members that it expands to.
    Ready(Vec<LinkInstance>),
}

/// The role of a member in a link: the number of the declared link, the position of the link, and
/// the role.
pub(super) type LinkRole = (u32, u32, LinkTarget);

/// A link between members: the number of the declared link, and the position among the links that
/// it expands to.
pub type LinkAt = (u32, u32);

/// All links of an evaluation.
#[derive(Debug, Default)]
pub struct LinkSlots {
    /// By number of the declared link.
    pub slots: Vec<LinkSlot>,
    /// The roles of each member, by resource number and position.
    pub(super) by_member: DeterministicMap<(u32, Option<u32>), Vec<LinkRole>>,
    /// The position of a link, by its number and the positions of the members at both ends.
    pub(super) by_ends: DeterministicMap<(u32, Option<u32>, Option<u32>), u32>,
    /// Links whose record is ready, so that their exposed values are known.
    pub ready_links: std::collections::HashSet<Address, foldhash::fast::FixedState>,
    /// Links whose requirements can be checked only on deploy.
    pub unchecked_requirements: std::collections::HashSet<LinkAt, foldhash::fast::FixedState>,
    /// The keys of resources whose members are addressed by key, absent members included.
    pub keys: DeterministicMap<u32, Vec<Key>>,
    /// Paths that links write together with a target, by target, from the state.
    pub(super) with: DeterministicMap<Address, Vec<Name>>,
    /// Contributions that links wrote by steps of their own, by target, from the state.
    overlays: DeterministicMap<Address, Vec<Contribution>>,
}

impl LinkSlots {
    /// Slots for `count` declared links, none settled.
    pub fn new(count: usize) -> LinkSlots {
        LinkSlots {
            slots: vec![LinkSlot::Open; count],
            ..LinkSlots::default()
        }
    }

    /// Adds the links that the state records.
    pub fn add_recorded(&mut self, snapshot: &Snapshot) {
        for (address, record) in snapshot
            .records
            .iter()
            .filter(|(address, _)| is_link(address))
        {
            if record.status.word == StatusWord::Ready {
                self.ready_links.insert(address.clone());
            }
            let with = record.inputs.get("with").and_then(|with| with.as_list());
            for overlay in with.into_iter().flatten().filter_map(Overlay::from_value) {
                let paths = self.with.entry(overlay.target).or_default();
                if !paths.contains(&overlay.contribution.path) {
                    paths.push(overlay.contribution.path);
                }
            }
            for overlay in overlays_of(record) {
                self.overlays
                    .entry(overlay.target)
                    .or_default()
                    .push(overlay.contribution);
            }
        }
    }

    /// Replaces the recorded links after records have moved: see [`Self::add_recorded`].
    pub fn replace_recorded(&mut self, snapshot: &Snapshot) {
        self.ready_links.clear();
        self.with.clear();
        self.overlays.clear();
        self.add_recorded(snapshot);
    }

    /// The contributions that links have written into an instance by steps of their own.
    pub fn written_into(&self, target: &Address) -> &[Contribution] {
        self.overlays.get(target).map_or(&[], Vec::as_slice)
    }
}
