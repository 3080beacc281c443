//! Whether what is remembered of a thing must be written anew though nothing is done to it.

use state::Record;

use super::Decision;

impl Decision {
    /// Whether anything else is to be remembered than a record has.
    pub(crate) fn differs_from(&self, record: &Record) -> bool {
        self.desired != record.inputs
            || self.metadata != record.metadata
            || self.dependencies != record.dependencies
            || self.retain != record.retain
            || self.protect != record.protect
            || self.made_from.as_deref().unwrap_or_default() != record.origin.made_from.as_ref()
    }
}
