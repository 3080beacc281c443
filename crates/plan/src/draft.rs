//! All decisions of a plan before they are put in order, with what else was found while they were made.
//!
//! Not here: making them (`drafting`), putting them in order (`tasks`).

use std::time::Duration;

use blueprint::{Address, IndexMap, Name};
use diag::Diagnostic;

use crate::decision::Decision;
use crate::imports::Imports;
use crate::model::HashSet;

/// All decisions, in document order; removals after them.
#[derive(Default)]
pub(crate) struct Draft {
    pub(crate) decisions: Vec<Decision>,
    pub(crate) groups: IndexMap<Name, Vec<Address>>,
    pub(crate) absent: Vec<Address>,
    /// The links that the document makes.
    pub(crate) links: HashSet<Address>,
    pub(crate) imports: Imports,
    /// Groups whose members come and go in batches, one after the other.
    pub(crate) batches: Vec<Vec<DraftGroup>>,
    /// What stands in the way of creates.
    pub(crate) obstacles: Vec<Obstacle>,
}

/// A batch of a group, and the pause before the next batch.
pub(crate) struct DraftGroup {
    /// The members to create or change.
    pub(crate) comes: Vec<Address>,
    /// The members to delete. They are not urgent.
    pub(crate) goes: Vec<Address>,
    pub(crate) pause: Duration,
}

/// Something that keeps an operation from being carried out.
pub(crate) struct Obstacle {
    pub(crate) address: Address,
    /// The id of what is to be created, where that is what something stands in the way of.
    pub(crate) id: Option<Name>,
    pub(crate) diagnostic: Diagnostic,
}
