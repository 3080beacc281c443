//! The fold of a journal: the one place where entries become a snapshot, and the row that a store
//! keeps of an instance.
//!
//! A store checks entries with [`Fold::check`] before it writes them and follows them afterwards. A
//! store that cannot hold a fold of each instance in memory keeps its [`JournalHead`] and an index
//! of the entries that still matter.
//!
//! Not here: revisions and leases (each store's own); the answers of a store (`derived`).

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use blueprint::{Address, Name};

use crate::entry::{Entry, EntryKind, Finished, OperationOutcome};
use crate::info::{Ended, InstanceInfo, OperationInfo};
use crate::instance::{Generation, InstanceName, Revision};
use crate::journal::Journal;
use crate::lease_holder::LeaseHolder;
use crate::record::Record;
use crate::snapshot::{Checkpoint, Snapshot};
use crate::stop::Stop;

/// The position of an instance's journal, with the entries that still matter. Entries are counted
/// from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalHead {
    /// A unique name for the instance: the id of its first operation.
    pub uid: Name,
    /// The document it belongs to.
    pub document: Name,
    /// The time of the first commit: seconds since 1970 UTC.
    pub created: i64,
    /// Finished operations so far.
    pub generation: Generation,
    /// The number of the last entry; 0 before the first.
    pub entries: u64,
    /// The entry before which every call has its outcome.
    pub unsettled: u64,
    /// The number of the last `Finished` entry.
    pub finished: Option<u64>,
    /// The number of the `Finished` entry whose exports are current.
    pub exports: Option<u64>,
    /// Whether an operation has failed since those exports were written.
    pub exports_old: bool,
    /// The number of operations.
    pub operations: u64,
}

impl Default for JournalHead {
    fn default() -> JournalHead {
        JournalHead {
            uid: Name::default(),
            document: Name::default(),
            created: 0,
            generation: Generation(0),
            entries: 0,
            unsettled: 1,
            finished: None,
            exports: None,
            exports_old: false,
            operations: 0,
        }
    }
}

impl JournalHead {
    /// Applies the next entry.
    pub fn follow(&mut self, entry: &Entry) {
        self.entries += 1;
        match &entry.kind {
            EntryKind::Began(operation) => {
                if self.uid.is_empty() {
                    self.uid = operation.id.clone();
                    self.created = operation.began;
                }
                if !operation.document.is_empty() {
                    self.document = operation.document.clone();
                }
                self.operations += 1;
            }
            EntryKind::Intent(_) | EntryKind::Outcome(_) => {}
            EntryKind::Finished(finished) => {
                self.generation = finished.generation;
                self.finished = Some(self.entries);
                match &finished.exports {
                    _ if finished.outcome == OperationOutcome::Gone => {
                        (self.exports, self.exports_old) = (None, false);
                    }
                    Some(_) => (self.exports, self.exports_old) = (Some(self.entries), false),
                    None => self.exports_old |= finished.outcome != OperationOutcome::Ready,
                }
            }
        }
    }

    /// Records that all calls up to the last entry have outcomes, if this is the case.
    pub fn settle(&mut self, journal: &Journal) {
        if journal.is_settled() {
            self.unsettled = self.entries + 1;
        }
    }

    /// The oldest entry that the current state needs besides the records. Entries before it may be
    /// pruned. `None` if no operation has finished.
    pub fn needed(&self) -> Option<u64> {
        let finished = self.finished?;
        Some(
            finished
                .min(self.unsettled)
                .min(self.exports.unwrap_or(finished)),
        )
    }
}

/// The fold of an instance's journal.
#[derive(Clone, Debug, Default)]
pub struct Fold {
    head: JournalHead,
    journal: Journal,
    /// The snapshot without records and open calls, which are kept apart.
    snapshot: Snapshot,
    /// Records in the order in which they were first made. `positions` has the key of each address.
    records: BTreeMap<u64, (Address, Arc<Record>)>,
    positions: HashMap<Address, u64>,
    next_position: u64,
    last: Option<(OperationInfo, Option<Ended>)>,
    /// The first entry of each operation, with its id.
    operations: Vec<(u64, Name)>,
}

impl Fold {
    /// The fold of the entries up to a checkpoint.
    pub fn of(checkpoint: Checkpoint) -> Fold {
        let Checkpoint {
            sequence,
            created,
            mut snapshot,
        } = checkpoint;
        let open = std::mem::take(&mut snapshot.open).into_values();
        let open = open.map(|open| (Name::default(), 0, Arc::new(open.intent)));
        let mut fold = Fold {
            head: JournalHead {
                uid: snapshot.uid.clone(),
                document: snapshot.document.clone(),
                created,
                generation: snapshot.generation,
                entries: sequence,
                exports_old: snapshot.exports_old,
                ..JournalHead::default()
            },
            journal: Journal::with_open_calls(snapshot.generation, open),
            ..Fold::default()
        };
        for (address, record) in std::mem::take(&mut snapshot.records) {
            fold.set_record(&address, Some(&record));
        }
        fold.snapshot = snapshot;
        fold.head.settle(&fold.journal);
        fold
    }

    /// The position of the journal.
    pub fn head(&self) -> &JournalHead {
        &self.head
    }

    /// Sets the epoch of the lease under which the running operation began, if one runs. A journal
    /// that is read back does not contain it.
    pub fn resume_under(&mut self, epoch: u64) {
        if let Some(operation) = self.journal.running().cloned() {
            self.journal.resume(operation, epoch);
        }
    }

    /// Checks whether these entries may follow in one commit, under a lease of this epoch.
    ///
    /// # Errors
    /// The rule that they break, as a phrase: those of [`Journal::check`], and that an operation
    /// which ends as `Gone` leaves no records.
    pub fn check(&self, epoch: u64, entries: &[Entry]) -> Result<(), String> {
        self.journal.check(epoch, entries)?;
        match entries.last().map(|entry| &entry.kind) {
            Some(EntryKind::Finished(finished)) if finished.outcome == OperationOutcome::Gone => {}
            _ => return Ok(()),
        }
        let mut left: HashSet<&Address> = self.positions.keys().collect();
        for entry in entries {
            if let EntryKind::Outcome(outcome) = &entry.kind {
                match outcome.record {
                    Some(_) => left.insert(&outcome.address),
                    None => left.remove(&outcome.address),
                };
            }
        }
        if left.is_empty() {
            Ok(())
        } else {
            Err(records_are_left(left.len()))
        }
    }

    /// Applies the next entry of a journal that is read back: no lease holds the operations in it.
    pub fn follow(&mut self, entry: &Entry) {
        // No lease has this epoch.
        self.follow_under(0, entry);
    }

    /// Applies entries that have passed [`check`](Fold::check) under a lease of this epoch.
    pub fn follow_commit(&mut self, epoch: u64, entries: &[Entry]) {
        entries
            .iter()
            .for_each(|entry| self.follow_under(epoch, entry));
    }

    fn follow_under(&mut self, epoch: u64, entry: &Entry) {
        self.head.follow(entry);
        self.journal.follow(epoch, std::slice::from_ref(entry));
        match &entry.kind {
            EntryKind::Outcome(outcome) => {
                self.set_record(&outcome.address, outcome.record.as_ref())
            }
            EntryKind::Began(operation) => {
                self.last = Some((OperationInfo::from(&**operation), None));
                self.operations
                    .push((self.head.entries, operation.id.clone()));
            }
            EntryKind::Finished(finished) => {
                if let Some((_, ended)) = &mut self.last {
                    *ended = Some(Ended::from(&**finished));
                }
            }
            EntryKind::Intent(_) => {}
        }
        self.snapshot.follow(entry);
        self.head.settle(&self.journal);
    }

    fn set_record(&mut self, address: &Address, record: Option<&Arc<Record>>) {
        match record {
            Some(record) => {
                let position = *self.positions.entry(address.clone()).or_insert_with(|| {
                    self.next_position += 1;
                    self.next_position
                });
                self.records
                    .insert(position, (address.clone(), record.clone()));
            }
            None => {
                if let Some(position) = self.positions.remove(address) {
                    self.records.remove(&position);
                }
            }
        }
    }

    /// The snapshot after the last entry. The store sets its revision.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            uid: self.head.uid.clone(),
            document: self.head.document.clone(),
            records: self.records.values().cloned().collect(),
            open: self.journal.open(),
            exports_old: self.head.exports_old,
            ..self.snapshot.clone()
        }
    }

    /// The snapshot with the data that is needed to follow later entries.
    pub fn checkpoint(&self) -> Checkpoint {
        Checkpoint {
            sequence: self.head.entries,
            created: self.head.created,
            snapshot: self.snapshot(),
        }
    }

    /// Returns the first entry of an operation, if all earlier entries may be pruned: see
    /// [`JournalHead::needed`].
    ///
    /// # Errors
    /// The reason against it, as a phrase.
    pub fn may_begin_with(&self, operation: &str) -> Result<u64, String> {
        let found = self.operations.iter().find(|(_, id)| **id == *operation);
        let (first, _) = found.ok_or_else(|| format!("there is no operation `{operation}`"))?;
        let is_possible = self.head.needed().is_some_and(|needed| *first <= needed);
        if is_possible {
            Ok(*first)
        } else {
            Err(is_needed(operation))
        }
    }

    /// Removes the operations that begin before this entry, because they were pruned.
    pub fn forget_operations_before(&mut self, first: u64) {
        self.operations.retain(|(at, _)| *at >= first);
    }

    fn needed(&self) -> Option<Name> {
        let needed = self.head.needed().unwrap_or(0);
        let before = self
            .operations
            .iter()
            .take_while(|(first, _)| *first <= needed);
        before
            .last()
            .or(self.operations.first())
            .map(|(_, id)| id.clone())
    }

    /// The instance at a glance.
    pub fn info(
        &self,
        name: &InstanceName,
        revision: Revision,
        holder: Option<LeaseHolder>,
    ) -> InstanceInfo {
        let has_ended = matches!(self.last, Some((_, Some(_))));
        InstanceInfo {
            name: name.clone(),
            revision,
            generation: self.head.generation,
            document: self.head.document.clone(),
            records: self.records.len() as u64,
            created: self.head.created,
            needed: self.needed(),
            last: self
                .last
                .clone()
                .map(|(operation, ended)| (operation, ended.map(|ended| ended.outcome))),
            waiting: if has_ended {
                Stop::waiting(&self.snapshot.stops)
            } else {
                Vec::new()
            },
            holder,
            verified: true,
        }
    }
}

/// The rule that an operation which ends as `Gone` leaves no records, as a phrase.
pub fn records_are_left(count: usize) -> String {
    format!("the operation ended as gone, but {count} records are left")
}

/// The reason why the operations before this one cannot be pruned, as a phrase.
pub fn is_needed(operation: &str) -> String {
    format!("the current state depends on operations before `{operation}`")
}

impl Snapshot {
    /// Applies the next entry, except for records and open calls, which [`Fold`] and stores with an
    /// index of their own keep.
    pub fn follow(&mut self, entry: &Entry) {
        match &entry.kind {
            EntryKind::Began(operation) => {
                if !operation.memoised.is_empty() {
                    self.memoised = operation.memoised.clone();
                }
                if let Some(stops) = &operation.stops {
                    self.stops = stops.clone();
                }
            }
            EntryKind::Intent(intent) => {
                self.deleted.extend(
                    intent
                        .deletes()
                        .map(|(address, id)| (address.clone(), id.clone())),
                );
            }
            EntryKind::Outcome(_) => {}
            EntryKind::Finished(finished) => self.finish(finished),
        }
    }

    fn finish(&mut self, finished: &Finished) {
        if finished.outcome == OperationOutcome::Gone {
            self.exports.clear();
        } else if let Some(exports) = &finished.exports {
            self.exports = exports.clone();
        }
        self.generation = finished.generation;
        self.memoised = finished.memoised.clone();
        self.groups = finished.groups.clone();
        self.metadata = finished.metadata.clone();
        self.declared = finished.declared.clone();
        self.stops = finished.stops.clone();
        self.deleted.clear();
    }
}
