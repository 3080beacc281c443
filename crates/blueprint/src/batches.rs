//! How the members of a group are created and changed: in batches, with a minimum number in
//! service.
//!
//! Not here: the order of members and the needs of each (the planner).

use std::time::Duration;

use diag::Span;

use crate::Name;

/// The elements of a document, called members, are created and changed in batches.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Batches {
    /// The wanted members, in order.
    pub members: Vec<Name>,
    /// Existing or temporary members that do not stay. The first ones are kept longest. Those that
    /// the document declares are created only if they are needed to keep enough members in service.
    pub beyond: Vec<Name>,
    /// The maximum number of members that are created or changed at a time. At least 1.
    pub size: usize,
    /// The minimum number of members that are not being changed, if the group has as many.
    pub in_service: usize,
    /// Whether existing members are changed from the last to the first.
    pub backwards: bool,
    /// Whether new members are created outside the batches, after everything else.
    pub new_ones_last: bool,
    /// The pause between batches.
    pub pause: Duration,
    /// The sum of all pauses must be less than this.
    pub longest: Duration,
    /// The message of the dialect's native tool if the sum is too large.
    pub too_long: Name,
    /// The place of the policy.
    pub span: Span,
}

impl Batches {
    /// The maximum number of members at any time.
    pub fn most(&self) -> usize {
        let target = self.members.len();
        target.max(self.size.min(target) + self.in_service.min(target))
    }
}
