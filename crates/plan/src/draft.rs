//! All decisions of a plan before they are ordered, and what else is found while they are made.
//!
//! Not here: making the decisions (`drafting`), ordering them (`tasks`).

use std::time::Duration;

use blueprint::{Address, IndexMap, Name, Value};
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
    /// The links of the document.
    pub(crate) links: HashSet<Address>,
    pub(crate) imports: Imports,
    /// Groups that change in batches: the batches of each group, one after the other.
    pub(crate) batches: Vec<Vec<DraftGroup>>,
    /// The obstacles to operations.
    pub(crate) obstacles: Vec<Obstacle>,
    /// The inputs of records that have got other secret marks.
    pub(crate) newly_marked: Vec<Value>,
}

/// A batch of a group, and the pause before the next batch.
pub(crate) struct DraftGroup {
    /// The members to create or change.
    pub(crate) changed: Vec<Address>,
    /// The members to delete. The next batch does not wait for these deletes.
    pub(crate) deleted: Vec<Address>,
    pub(crate) pause: Duration,
}

/// Something in the world that prevents an operation.
pub(crate) struct Obstacle {
    pub(crate) address: Address,
    /// The id of the object to create, if the obstacle prevents a create.
    pub(crate) id: Option<Name>,
    pub(crate) diagnostic: Diagnostic,
}
