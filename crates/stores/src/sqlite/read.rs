//! Reading: each call sees one whole revision, waits for no writer, and checks each row that it
//! reads.

use std::collections::HashMap;
use std::sync::Arc;

use blueprint::{Address, Breakpoint, IndexMap, Name, Value};
use rusqlite::Row;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use state::{
    Checkpoint, Ended, Entry, EntryKind, Finished, Generation, GenerationInfo, InstanceInfo,
    InstanceName, Intent, Journal, Lease, LeaseHolder, LogEntry, Memoised, Operation,
    OperationInfo, OperationKind, OperationOutcome, Revision, Since, Snapshot, StatusOp, Stop,
    Stops, StoreError, Tail,
};

use super::failure::{damaged, damaged_row};
use super::head::{EntryRow, InstanceRow, sequence_of};
use super::lease::{Authenticity, StoredLease};
use super::operations::OperationRow;
use super::reading::StateReader;
use super::{body, lease};

/// The address in the body of an intent or outcome.
#[derive(Deserialize)]
struct AddressOnly {
    address: Address,
}

fn word<T: for<'de> Deserialize<'de>>(word: &str) -> Option<T> {
    serde_json::from_value(serde_json::Value::String(word.to_owned())).ok()
}

impl StateReader<'_> {
    /// The state of the journal: the open calls, and the running operation.
    pub(super) fn journal(&self, head: &InstanceRow) -> Result<Journal, StoreError> {
        let mut journal = Journal::with_open_calls(head.journal.generation, self.open_calls(head)?);
        let Some(last) = self.operations(head, 1)?.pop() else {
            return Err(damaged(self.path));
        };
        let runs = last.outcome.is_none();
        // If the rows of the instance and of its last operation contradict each other, they belong
        // to different revisions.
        let has_finished = head
            .finished()
            .is_some_and(|finished| finished >= last.first);
        if last.first > head.entries() || runs == has_finished {
            return Err(damaged(self.path));
        }
        if runs {
            journal.resume(last.name, last.epoch.unsigned_abs());
        }
        Ok(journal)
    }

    /// Reads entries in order, and checks that none is missing or changed.
    pub(super) fn entries(
        &self,
        head: &InstanceRow,
        (first, last): (i64, i64),
        mut take: impl FnMut(&EntryRow<'_>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        if first > last {
            return Ok(());
        }
        let at = |error| self.at(error);
        let sql = format!(
            "SELECT {} FROM entries WHERE id BETWEEN ?1 AND ?2 ORDER BY id",
            self.entry_columns()
        );
        let mut statement = self.connection.prepare_cached(&sql).map_err(at)?;
        let mut rows = statement
            .query([head.entry(first), head.entry(last)])
            .map_err(at)?;
        for sequence in first..=last {
            let row = rows.next().map_err(at)?.ok_or_else(|| damaged(self.path))?;
            take(&self.genuine(head, sequence, row)?)?;
        }
        match rows.next().map_err(at)? {
            None => Ok(()),
            Some(_) => Err(damaged(self.path)),
        }
    }

    /// Reads a row of [`entry_columns`](Self::entry_columns), and checks that it is unchanged and
    /// at that place.
    pub(super) fn genuine<'r>(
        &self,
        head: &InstanceRow,
        sequence: i64,
        row: &'r Row<'_>,
    ) -> Result<EntryRow<'r>, StoreError> {
        let entry = EntryRow::read(row).map_err(|error| self.at(error))?;
        if entry.id != head.entry(sequence) || !head.is_genuine(&entry) {
            return Err(damaged_row(
                self.path,
                &format!("entry {sequence} is not what was written"),
            ));
        }
        Ok(entry)
    }

    /// Reads the body of one entry of that kind.
    fn body_of<T: DeserializeOwned>(
        &self,
        head: &InstanceRow,
        sequence: i64,
        kind: &str,
    ) -> Result<T, StoreError> {
        let mut found = None;
        self.entries(head, (sequence, sequence), |entry| {
            if entry.kind != kind {
                return Err(damaged(self.path));
            }
            found = Some(body::read(
                self.sealer,
                head.place(entry.id),
                entry.sealed,
                entry.body,
            )?);
            Ok(())
        })?;
        found.ok_or_else(|| damaged(self.path))
    }

    /// The operation that begins with an entry, with its documents.
    fn read_operation(&self, head: &InstanceRow, sequence: i64) -> Result<Operation, StoreError> {
        let mut found = None;
        self.entries(head, (sequence, sequence), |entry| {
            if entry.kind != "began" {
                return Err(damaged(self.path));
            }
            found = Some(self.operation_of(head, entry)?);
            Ok(())
        })?;
        found.ok_or_else(|| damaged(self.path))
    }

    /// The calls without an outcome, in the order in which they were made, with operation and step.
    fn open_calls(&self, head: &InstanceRow) -> Result<Vec<(Name, u32, Arc<Intent>)>, StoreError> {
        let mut open: HashMap<Address, (i64, i64, bool, Vec<u8>)> = HashMap::new();
        self.entries(head, (head.unsettled(), head.entries()), |entry| {
            let is_intent = entry.kind == "intent";
            if is_intent || entry.kind == "outcome" {
                // An address is never secret, so it can be read from a body with sealed parts as
                // well.
                let AddressOnly { address } =
                    body::read(self.sealer, head.place(0), false, entry.body)?;
                match is_intent {
                    true => drop(open.insert(
                        address,
                        (entry.id, entry.step, entry.sealed, entry.body.to_owned()),
                    )),
                    false => drop(open.remove(&address)),
                }
            }
            Ok(())
        })?;
        let mut calls: Vec<_> = open.into_values().collect();
        calls.sort_unstable_by_key(|call| call.0);
        if calls.is_empty() {
            return Ok(Vec::new());
        }
        let operations = self.operation_names(head)?;
        let mut found = Vec::with_capacity(calls.len());
        for (id, step, sealed, text) in calls {
            let intent = body::read(self.sealer, head.place(id), sealed, &text)?;
            let step = u32::try_from(step).map_err(|_| damaged(self.path))?;
            found.push((
                operation_at(&operations, sequence_of(id)),
                step,
                Arc::new(intent),
            ));
        }
        Ok(found)
    }

    /// Checks that none of these entries is missing; `damaged` otherwise. Entries are numbered
    /// without a gap.
    pub(super) fn check_none_missing(
        &self,
        head: &InstanceRow,
        first: i64,
        last: i64,
    ) -> Result<(), StoreError> {
        let sql = "SELECT count(*) FROM entries WHERE id BETWEEN ?1 AND ?2";
        let count = self
            .connection
            .prepare_cached(sql)
            .and_then(|mut statement| {
                statement.query_row([head.entry(first), head.entry(last)], |row| {
                    row.get::<_, i64>(0)
                })
            });
        match count {
            Ok(count) if count == last - first + 1 => Ok(()),
            Ok(_) => Err(damaged(self.path)),
            Err(error) => Err(self.at(error)),
        }
    }

    /// The first sequence and the name of all operations, oldest first.
    fn operation_names(&self, head: &InstanceRow) -> Result<Vec<(u64, Name)>, StoreError> {
        let operations = self.operations(head, i64::MAX)?;
        Ok(operations
            .into_iter()
            .rev()
            .map(|row| (row.first.unsigned_abs(), row.name))
            .collect())
    }

    pub(super) fn load(&self, name: &InstanceName) -> Result<Snapshot, StoreError> {
        Ok(self
            .head(name)?
            .map(|head| self.snapshot(&head))
            .transpose()?
            .unwrap_or_default())
    }

    /// Folds the few entries that still matter. Records and open calls have rows of their own.
    fn snapshot(&self, head: &InstanceRow) -> Result<Snapshot, StoreError> {
        let mut snapshot = Snapshot {
            revision: Revision(head.revision.unsigned_abs()),
            uid: head.journal.uid.clone(),
            document: head.journal.document.clone(),
            records: self.records(head)?,
            open: self.journal(head)?.open(),
            exports_old: head.journal.exports_old,
            ..Snapshot::default()
        };
        let exports = head
            .exports()
            .filter(|exports| Some(*exports) != head.finished());
        for sequence in exports.into_iter().chain(head.finished()) {
            let finished: Finished = self.body_of(head, sequence, "finished")?;
            snapshot.follow(&Entry {
                step: 0,
                kind: EntryKind::Finished(Arc::new(finished)),
            });
        }
        if let Some(operation) = self.unfinished_operation(head)? {
            snapshot.follow(&Entry {
                step: 0,
                kind: EntryKind::Began(Arc::new(operation)),
            });
        }
        for intent in self.deletes(head)? {
            snapshot.follow(&Entry {
                step: 0,
                kind: EntryKind::Intent(Arc::new(intent)),
            });
        }
        Ok(snapshot)
    }

    /// Returns the journal, or its end.
    pub(super) fn tail(
        &self,
        name: &InstanceName,
        since: Since,
    ) -> Result<Option<Tail>, StoreError> {
        let Some(head) = self.head(name)? else {
            return Ok(None);
        };
        let revision = Revision(head.revision.unsigned_abs());
        Ok(Some(match since {
            Since::Checkpoint => {
                let (sequence, created) = (head.journal.entries, head.journal.created);
                let from = Checkpoint {
                    sequence,
                    created,
                    snapshot: self.snapshot(&head)?,
                };
                Tail {
                    revision,
                    from,
                    entries: Vec::new(),
                }
            }
            Since::Entry(sequence) => {
                let pruned = head.pruned.unsigned_abs();
                let sequence = sequence.clamp(pruned, head.journal.entries);
                let from = match sequence == pruned && pruned > 0 {
                    true => self.base(&head)?,
                    false => Checkpoint {
                        sequence,
                        ..Checkpoint::default()
                    },
                };
                let entries =
                    self.log_entries(&head, (sequence.cast_signed() + 1, head.entries()))?;
                Tail {
                    revision,
                    from,
                    entries,
                }
            }
        }))
    }

    /// The state before the first entry that was not pruned: the records that were made before it,
    /// as they are now. The remaining entries then apply their changes again.
    fn base(&self, head: &InstanceRow) -> Result<Checkpoint, StoreError> {
        let sql = format!(
            "SELECT count(*) FROM {} WHERE id BETWEEN ?1 AND ?2",
            self.records_table()
        );
        let range = [head.entry(0), head.entry(head.pruned)];
        let before: i64 = self
            .connection
            .prepare_cached(&sql)
            .and_then(|mut statement| statement.query_row(range, |row| row.get(0)))
            .map_err(|error| self.at(error))?;
        let mut records = self.records(head)?;
        records.truncate(usize::try_from(before).unwrap_or(usize::MAX));
        let ended = self
            .operations(head, i64::MAX)?
            .iter()
            .filter(|row| row.outcome.is_some())
            .count() as u64;
        let snapshot = Snapshot {
            generation: Generation(head.journal.generation.0.saturating_sub(ended)),
            uid: head.journal.uid.clone(),
            document: head.journal.document.clone(),
            records,
            exports_old: head.journal.exports_old,
            ..Snapshot::default()
        };
        Ok(Checkpoint {
            sequence: head.pruned.unsigned_abs(),
            created: head.journal.created,
            snapshot,
        })
    }

    /// The intents of deletes since the last operation that finished.
    fn deletes(&self, head: &InstanceRow) -> Result<Vec<Intent>, StoreError> {
        #[derive(Deserialize)]
        struct IntentOp {
            op: StatusOp,
        }
        let mut deletes = Vec::new();
        self.entries(
            head,
            (head.finished().unwrap_or(0) + 1, head.entries()),
            |entry| {
                if entry.kind == "intent" {
                    // A delete contains no secret.
                    let IntentOp { op } =
                        body::read(self.sealer, head.place(0), false, entry.body)?;
                    if op == StatusOp::Delete {
                        deletes.push(body::read(
                            self.sealer,
                            head.place(entry.id),
                            entry.sealed,
                            entry.body,
                        )?);
                    }
                }
                Ok(())
            },
        )?;
        Ok(deletes)
    }

    /// The last operation, if it has not finished, without its documents.
    fn unfinished_operation(&self, head: &InstanceRow) -> Result<Option<Operation>, StoreError> {
        #[derive(Deserialize)]
        struct BeganFields {
            #[serde(rename = "remembered", default)]
            memoised: IndexMap<Name, Memoised>,
            #[serde(default)]
            stops: Option<Stops>,
        }
        let Some(last) = self
            .operations(head, 1)?
            .pop()
            .filter(|last| last.outcome.is_none())
        else {
            return Ok(None);
        };
        let BeganFields { memoised, stops } = self.body_of(head, last.first, "began")?;
        let OperationInfo {
            id,
            kind,
            who,
            began,
            document,
        } = self.described(last)?;
        Ok(Some(Operation {
            id,
            kind,
            who,
            began,
            document,
            memoised,
            stops,
            desired: Value::Null,
        }))
    }

    pub(super) fn holder(&self, name: &InstanceName) -> Result<Option<LeaseHolder>, StoreError> {
        Ok(self.read_lease(name)?.and_then(|held| held.holder))
    }

    /// The row of a lease, checked if the key is available.
    pub(super) fn read_lease(
        &self,
        name: &InstanceName,
    ) -> Result<Option<StoredLease>, StoreError> {
        let held = lease::read(self.connection, self.format, self.sealer, self.host, name);
        match held.map_err(|error| self.at(error))? {
            Some(held) if held.authenticity == Authenticity::Altered => Err(damaged_row(
                self.path,
                &format!("the lease of `{name}` is not what was written"),
            )),
            held => Ok(held),
        }
    }

    /// Checks that the lease is held; `Busy` otherwise.
    pub(super) fn check_held(&self, lease: &Lease) -> Result<StoredLease, StoreError> {
        match self.read_lease(&lease.instance)? {
            Some(held) if held.holder.is_some() && held.epoch.unsigned_abs() == lease.epoch => {
                Ok(held)
            }
            held => Err(StoreError::Busy {
                instance: lease.instance.clone(),
                holder: held.and_then(|held| held.holder),
            }),
        }
    }

    /// Checks that an instance has a row for its lease. The row stays when the lease is given back.
    fn check_lease_row(&self, name: &InstanceName) -> Result<(), StoreError> {
        let found = lease::read(self.connection, self.format, self.sealer, self.host, name);
        let found = found.map_err(|error| self.at(error))?;
        match found {
            None if self.format >= 3 => Err(damaged_row(
                self.path,
                &format!("the lease of `{name}` is missing"),
            )),
            _ => Ok(()),
        }
    }

    pub(super) fn instances(&self) -> Result<Vec<InstanceInfo>, StoreError> {
        let mut found = Vec::new();
        for name in self.names()? {
            let name = name.parse().map_err(|_| damaged(self.path))?;
            found.extend(self.info(&name)?);
        }
        Ok(found)
    }

    pub(super) fn info(&self, name: &InstanceName) -> Result<Option<InstanceInfo>, StoreError> {
        let Some(head) = self.head(name)? else {
            return Ok(None);
        };
        let at = |error| self.at(error);
        let sql = format!(
            "SELECT count(*) FROM {} WHERE id BETWEEN ?1 AND ?2",
            self.records_table()
        );
        let records: i64 = self
            .connection
            .prepare_cached(&sql)
            .and_then(|mut statement| {
                statement.query_row([head.entry(0), head.entry(head.entries())], |row| {
                    row.get(0)
                })
            })
            .map_err(at)?;
        self.check_lease_row(name)?;
        let last = match self.operations(&head, 1)?.pop() {
            None => None,
            Some(row) => {
                let outcome = row.outcome.as_deref().and_then(word::<OperationOutcome>);
                Some((self.described(row)?, outcome))
            }
        };
        let needed = self.needed(&head)?;
        let waits = matches!(last, Some((_, Some(outcome))) if outcome != OperationOutcome::Gone);
        let waiting = if waits {
            self.waiting(&head)?
        } else {
            Vec::new()
        };
        Ok(Some(InstanceInfo {
            name: name.clone(),
            revision: Revision(head.revision.unsigned_abs()),
            generation: head.journal.generation,
            document: head.journal.document.clone(),
            records: records.unsigned_abs(),
            created: head.journal.created,
            needed,
            last,
            waiting,
            holder: self.holder(name)?,
            verified: head.tagger.is_some() || self.format < 3,
        }))
    }

    /// The places where the last finished operation waits. They are never secret.
    fn waiting(&self, head: &InstanceRow) -> Result<Vec<(Name, Breakpoint)>, StoreError> {
        #[derive(Deserialize)]
        struct Stopped {
            #[serde(default)]
            stops: Stops,
        }
        let Some(finished) = head.finished() else {
            return Ok(Vec::new());
        };
        let mut waiting = Vec::new();
        self.entries(head, (finished, finished), |entry| {
            let Stopped { stops } = body::read(self.sealer, head.place(0), false, entry.body)?;
            waiting = Stop::waiting(&stops);
            Ok(())
        })?;
        Ok(waiting)
    }

    fn described(&self, row: OperationRow) -> Result<OperationInfo, StoreError> {
        let kind: OperationKind = word(&row.kind).ok_or_else(|| damaged(self.path))?;
        Ok(OperationInfo {
            id: row.name,
            kind,
            who: row.who,
            began: row.began,
            document: row.document,
        })
    }

    pub(super) fn history(
        &self,
        name: &InstanceName,
        limit: usize,
    ) -> Result<Vec<GenerationInfo>, StoreError> {
        let head = self.require_head(name)?;
        let mut found = Vec::new();
        for row in self.operations(&head, at_most(limit))? {
            let finished = match &row.outcome {
                None => None,
                Some(outcome) => {
                    let outcome = word(outcome).ok_or_else(|| damaged(self.path))?;
                    let number = |number: Option<i64>| {
                        number
                            .map(i64::unsigned_abs)
                            .ok_or_else(|| damaged(self.path))
                    };
                    let [created, updated, deleted, replaced] = row.counts;
                    let counts = [
                        number(created)?,
                        number(updated)?,
                        number(deleted)?,
                        number(replaced)?,
                    ]
                    .into();
                    let at = row.ended.ok_or_else(|| damaged(self.path))?;
                    Some(Ended {
                        outcome,
                        at,
                        generation: Generation(number(row.generation)?),
                        counts,
                    })
                }
            };
            found.push(GenerationInfo {
                operation: self.described(row)?,
                finished,
            });
        }
        Ok(found)
    }

    pub(super) fn operation(
        &self,
        name: &InstanceName,
        id: &str,
    ) -> Result<Option<Operation>, StoreError> {
        let head = self.require_head(name)?;
        let row = self.operation_row(&head, id)?;
        row.map(|row| self.read_operation(&head, row.first))
            .transpose()
    }

    pub(super) fn log(
        &self,
        name: &InstanceName,
        operation: Option<&str>,
        limit: usize,
    ) -> Result<Vec<LogEntry>, StoreError> {
        let head = self.require_head(name)?;
        let operations = self.operation_names(&head)?;
        let (mut first, mut last) = (head.pruned + 1, head.entries());
        if let Some(wanted) = operation {
            let Some(index) = operations.iter().position(|(_, name)| **name == *wanted) else {
                return Ok(Vec::new());
            };
            let sequence = |index: usize| {
                operations
                    .get(index)
                    .and_then(|(first, _)| i64::try_from(*first).ok())
            };
            first = sequence(index).unwrap_or(first);
            last = sequence(index + 1).map_or(last, |next| next - 1);
        }
        self.log_entries(
            &head,
            (first.max(last.saturating_sub(at_most(limit)) + 1), last),
        )
    }

    /// The entries of a range of sequences.
    fn log_entries(
        &self,
        head: &InstanceRow,
        range: (i64, i64),
    ) -> Result<Vec<LogEntry>, StoreError> {
        let operations = self.operation_names(head)?;
        let mut found = Vec::new();
        self.entries(head, range, |entry| {
            let kind = match entry.kind {
                "began" => EntryKind::Began(Arc::new(self.operation_of(head, entry)?)),
                kind => body::read_entry(
                    self.sealer,
                    head.place(entry.id),
                    kind,
                    entry.sealed,
                    entry.body,
                )?,
            };
            found.push(LogEntry {
                sequence: sequence_of(entry.id),
                operation: operation_at(&operations, sequence_of(entry.id)),
                entry: Entry {
                    step: u32::try_from(entry.step).map_err(|_| damaged(self.path))?,
                    kind,
                },
            });
            Ok(())
        })?;
        Ok(found)
    }
}

fn operation_at(operations: &[(u64, Name)], sequence: u64) -> Name {
    let after = operations.partition_point(|(first, _)| *first <= sequence);
    after
        .checked_sub(1)
        .and_then(|at| operations.get(at))
        .map(|(_, name)| name.clone())
        .unwrap_or_default()
}

fn at_most(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}
