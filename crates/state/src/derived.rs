//! The answers of a store, derived from its journal. A store that has an index overrides these to
//! be faster.

use crate::entry::{EntryKind, Operation};
use crate::fold::Fold;
use crate::info::{Ended, GenerationInfo, LogEntry, Managed, OperationInfo};
use crate::instance::InstanceName;
use crate::instance::Revision;
use crate::snapshot::{Checkpoint, Snapshot};

/// The position after which a journal is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Since {
    /// The store's newest checkpoint: few entries follow it, or none.
    Checkpoint,
    /// This entry, or the beginning of the journal if that is later: then [`Tail::from`] covers the
    /// missing entries. 0 reads all entries.
    Entry(u64),
}

/// A journal, or its end. The fold of the entries, from the checkpoint on, is the snapshot at the
/// revision.
#[derive(Clone, Debug, Default)]
pub struct Tail {
    /// Commits so far.
    pub revision: Revision,
    /// The state before the first of the entries. It has only a sequence if the journal was read
    /// after an entry that it still has ([`Since::Entry`]).
    pub from: Checkpoint,
    /// The entries after the checkpoint, without a gap. `Began` entries include their documents.
    pub entries: Vec<LogEntry>,
}

impl Tail {
    /// Returns the snapshot at the revision.
    pub fn snapshot(self) -> Snapshot {
        let mut snapshot = match self.entries.as_slice() {
            [] => self.from.snapshot,
            entries => {
                let mut fold = Fold::of(self.from);
                entries.iter().for_each(|line| fold.follow(&line.entry));
                fold.snapshot()
            }
        };
        snapshot.revision = self.revision;
        snapshot
    }

    /// The operations of the tail, newest first, at most `limit`.
    pub fn history(&self, limit: usize) -> Vec<GenerationInfo> {
        let mut found = Vec::new();
        let mut ended = None;
        for line in self.entries.iter().rev() {
            match &line.entry.kind {
                EntryKind::Finished(finished) => ended = Some(Ended::from(&**finished)),
                EntryKind::Began(operation) if found.len() < limit => {
                    found.push(GenerationInfo {
                        operation: OperationInfo::from(&**operation),
                        finished: ended.take(),
                    });
                }
                _ => {}
            }
        }
        found
    }

    /// The operation of this id, with its documents.
    pub fn operation(&self, id: &str) -> Option<Operation> {
        self.entries.iter().find_map(|line| match &line.entry.kind {
            EntryKind::Began(operation) if *operation.id == *id => Some(operation.as_ref().clone()),
            _ => None,
        })
    }

    /// The newest `limit` entries of one operation, or of all, oldest first.
    pub fn log(self, operation: Option<&str>, limit: usize) -> Vec<LogEntry> {
        let is_wanted = |line: &LogEntry| operation.is_none_or(|id| *line.operation == *id);
        let mut wanted: Vec<LogEntry> = self.entries.into_iter().filter(is_wanted).collect();
        wanted.drain(..wanted.len().saturating_sub(limit));
        wanted
    }
}

impl Snapshot {
    /// The resources of an instance that have an id.
    pub fn managed(&self, instance: &InstanceName) -> Vec<Managed> {
        let made = self
            .records
            .iter()
            .filter(|(_, record)| !record.id.is_empty());
        made.map(|(address, record)| Managed {
            instance: instance.clone(),
            address: address.clone(),
            type_name: record.type_name.clone(),
            id: record.id.clone(),
        })
        .collect()
    }
}
