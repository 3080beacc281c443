//! How the members of a group are made and changed: some at a time, with enough of them in service.
//!
//! Not here: which member comes when, which needs what exists (the planner).

use std::time::Duration;

use diag::Span;

use crate::Name;

/// The elements of a document, called members, are made and changed some at a time.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Batches {
    /// The members that the document is to have, in their order.
    pub members: Vec<Name>,
    /// Members that are there, or may be for a while, and do not stay: what stands in front is kept longest. Those that the
    /// document declares all the same are made only if they are needed to keep enough in service.
    pub beyond: Vec<Name>,
    /// At most so many are made or changed at a time; 1 or more.
    pub size: usize,
    /// So many that are not just being changed are there all the time, as far as there are so many.
    pub in_service: usize,
    /// What is there is changed from the last member to the first.
    pub backwards: bool,
    /// Members that are not there yet are made at once when everything else is done, in no batch.
    pub new_ones_last: bool,
    /// How long to wait between one batch and the next.
    pub pause: Duration,
    /// All pauses together must be shorter than this.
    pub longest: Duration,
    /// What the dialect's own tool says where they are not.
    pub too_long: Name,
    /// Where that is written.
    pub span: Span,
}

impl Batches {
    /// So many members are never exceeded while these are made and changed.
    pub fn most(&self) -> usize {
        let target = self.members.len();
        target.max(self.size.min(target) + self.in_service.min(target))
    }
}
