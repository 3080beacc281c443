//! Counts the members of all resources with `each`, to keep them within a limit.

use std::collections::HashMap;

use blueprint::Name;
use foldhash::fast::FixedState;

/// Counts the members of all resources with `each`.
#[derive(Default)]
pub(super) struct MemberCounts {
    pub(super) of: HashMap<Name, usize, FixedState>,
    pub(super) all: usize,
    /// Whether the limit is exceeded, which is then already reported.
    pub(super) exceeded: bool,
}

impl MemberCounts {
    /// Counts the members of a resource, replacing an earlier count. Returns whether all members
    /// stay within `most`.
    pub(super) fn count_within_limit(&mut self, owner: &str, count: usize, most: usize) -> bool {
        let before = self.of.insert(owner.into(), count).unwrap_or_default();
        self.all = self.all - before + count;
        self.all <= most
    }
}
