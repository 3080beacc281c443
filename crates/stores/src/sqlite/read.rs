//! Reading: each call sees one whole revision, waits for no writer, and checks each row that it
//! reads.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, TrySendError};

use blueprint::{Address, Breakpoint, IndexMap, Name, Names, Value};
use rusqlite::{Row, params_from_iter};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use state::seal::Sealer;
use state::tag::Tag;
use state::{
    Checkpoint, Ended, Entry, EntryKind, Finished, Generation, GenerationInfo, InstanceInfo,
    InstanceName, Intent, Journal, Lease, LeaseHolder, LogEntry, Memoised, Operation,
    OperationInfo, OperationKind, OperationOutcome, Outcome, Record, Revision, Since, Snapshot,
    StatusOp, Stop, Stops, StoreError, Tail,
};

use super::digest::{OldDigest, RecordsDigest};
use super::failure::{damaged, damaged_row};
use super::head::{EntryRow, InstanceRow, sequence_of};
use super::lease::{Authenticity, StoredLease};
use super::operations::OperationRow;
use super::reading::{StateReader, text};
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

    pub(super) fn entry_columns(&self) -> &'static str {
        if self.format < 3 {
            "id, step, kind, sealed, body, NULL"
        } else {
            "id, step, kind, sealed, body, mac"
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
        let entry = read_entry_row(row).map_err(|error| self.at(error))?;
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

    fn records(&self, head: &InstanceRow) -> Result<IndexMap<Address, Arc<Record>>, StoreError> {
        let mut positions = self.record_entries(head)?;
        // Records are read in the order of the file, then sorted.
        positions.sort_by_key(|(_, entry)| *entry);
        let (path, sealer) = (self.path, self.sealer);
        // Parsing takes longer than reading, so a second thread takes as many batches as it can.
        let found = std::thread::scope(|scope| {
            let (sender, receiver) = mpsc::sync_channel::<RecordBatch>(1);
            let mut helper = None;
            let mut receiver = Some(receiver);
            let mut local_parser = RecordParser::new(path, sealer, head);
            for wanted in positions.chunks(BATCH) {
                let batch = self.batch(wanted)?;
                if wanted.len() < BATCH {
                    local_parser.parse_batch(&batch)?;
                    continue;
                }
                if let Some(receiver) = receiver.take() {
                    helper = Some(scope.spawn(move || {
                        let mut helper_parser = RecordParser::new(path, sealer, head);
                        receiver
                            .into_iter()
                            .try_for_each(|batch| helper_parser.parse_batch(&batch))?;
                        Ok::<_, StoreError>(helper_parser.found)
                    }));
                }
                // If the second thread is busy, or has ended with an error, this thread parses the
                // batch.
                if let Err(TrySendError::Full(batch) | TrySendError::Disconnected(batch)) =
                    sender.try_send(batch)
                {
                    local_parser.parse_batch(&batch)?;
                }
            }
            drop(sender);
            let helper_records = helper
                .map(|helper| helper.join().map_err(|_| damaged(path))?)
                .transpose()?;
            Ok::<_, StoreError>([local_parser.found, helper_records.unwrap_or_default()])
        })?;
        let mut in_order: Vec<Option<(Address, Arc<Record>)>> = vec![None; positions.len()];
        for (rank, address, record) in found.into_iter().flatten() {
            in_order[rank] = Some((address, record));
        }
        Ok(collect_records(in_order))
    }

    /// The rank of each record, from 0, and the id of its entry, in the order of the ranks.
    pub(super) fn record_entries(
        &self,
        head: &InstanceRow,
    ) -> Result<Vec<(usize, i64)>, StoreError> {
        let at = |error| self.at(error);
        let sql = format!(
            "SELECT id, entry, address FROM {} WHERE id BETWEEN ?1 AND ?2 ORDER BY id",
            self.records_table()
        );
        let mut statement = self.connection.prepare_cached(&sql).map_err(at)?;
        let mut rows = statement
            .query([head.entry(0), head.entry(head.entries())])
            .map_err(at)?;
        let mut found = Vec::new();
        let (mut live, mut old_live) = (RecordsDigest::default(), OldDigest::default());
        while let Some(row) = rows.next().map_err(at)? {
            let (position, entry) = (row.get(0).map_err(at)?, row.get(1).map_err(at)?);
            if let Some(tagger) = &head.tagger {
                let address = std::str::from_utf8(text(row, 2).map_err(at)?)
                    .map_err(|_| damaged(self.path))?;
                live.add(tagger, &head.journal.uid, (position, entry, address));
            }
            old_live.add(position, entry);
            found.push((found.len(), entry));
        }
        let is_old = head
            .old_records_digest
            .is_some_and(|of_the_head| of_the_head != old_live);
        if is_old || head.tagger.is_some() && head.records_digest != live {
            return Err(damaged_row(
                self.path,
                "the records of an instance are not what was written",
            ));
        }
        Ok(found)
    }

    /// Reads the bodies of records, given the rank of each and the id of its entry.
    fn batch(&self, wanted: &[(usize, i64)]) -> Result<RecordBatch, StoreError> {
        let at = |error| self.at(error);
        let mut batch = RecordBatch {
            rows: Vec::with_capacity(wanted.len()),
            bodies: Vec::with_capacity(wanted.len() * body::USUAL),
        };
        // One statement looks up many entries, each starting from the position of the previous one.
        for wanted in wanted.chunks(AT_ONCE) {
            let list = vec!["(?)"; wanted.len()].join(",");
            let sql = format!(
                "SELECT {} FROM (VALUES {list}) AS wanted CROSS JOIN entries e ON e.id = wanted.column1",
                self.entry_columns()
            );
            let mut statement = self.connection.prepare_cached(&sql).map_err(at)?;
            let mut rows = statement
                .query(params_from_iter(wanted.iter().map(|(_, entry)| entry)))
                .map_err(at)?;
            for (rank, entry) in wanted {
                let row = rows.next().map_err(at)?.ok_or_else(|| damaged(self.path))?;
                let row = read_entry_row(row).map_err(at)?;
                if row.id != *entry || row.kind != "outcome" {
                    return Err(damaged(self.path));
                }
                batch.add(*rank, &row);
            }
        }
        Ok(batch)
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

fn read_entry_row<'r>(row: &'r Row<'_>) -> Result<EntryRow<'r>, rusqlite::Error> {
    let kind = row.get_ref(2)?.as_str().map_err(rusqlite::Error::from)?;
    let (id, step, sealed) = (row.get(0)?, row.get(1)?, row.get(3)?);
    Ok(EntryRow {
        id,
        step,
        kind,
        sealed,
        body: text(row, 4)?,
        mac: row.get(5)?,
    })
}

/// The number of records that are passed to the other thread at once.
const BATCH: usize = 256;

/// The number of entries that one statement looks up.
const AT_ONCE: usize = 64;

/// Records as read from the file, with their bodies in one buffer.
struct RecordBatch {
    rows: Vec<RecordRow>,
    bodies: Vec<u8>,
}

struct RecordRow {
    rank: usize,
    entry: i64,
    step: i64,
    sealed: bool,
    mac: Option<Tag>,
    body: Range<usize>,
}

impl RecordBatch {
    fn add(&mut self, rank: usize, row: &EntryRow<'_>) {
        let start = self.bodies.len();
        self.bodies.extend_from_slice(row.body);
        let EntryRow {
            id: entry,
            step,
            sealed,
            mac,
            ..
        } = *row;
        self.rows.push(RecordRow {
            rank,
            entry,
            step,
            sealed,
            mac,
            body: start..self.bodies.len(),
        });
    }
}

/// The records that one thread parses.
struct RecordParser<'a> {
    path: &'a Path,
    sealer: &'a Sealer,
    head: &'a InstanceRow,
    /// Shared texts of types and fields, and shared addresses of dependencies. Each thread shares
    /// only those that it allocated itself: freeing the memory of another thread is slower.
    names: Names,
    known: IndexMap<Address, ()>,
    /// Ranks, addresses and records.
    found: Vec<(usize, Address, Arc<Record>)>,
}

impl<'a> RecordParser<'a> {
    fn new(path: &'a Path, sealer: &'a Sealer, head: &'a InstanceRow) -> RecordParser<'a> {
        RecordParser {
            path,
            sealer,
            head,
            names: Names::default(),
            known: IndexMap::default(),
            found: Vec::new(),
        }
    }

    fn parse_batch(&mut self, batch: &RecordBatch) -> Result<(), StoreError> {
        self.found.reserve(batch.rows.len());
        for RecordRow {
            rank,
            entry,
            step,
            sealed,
            mac,
            body,
        } in &batch.rows
        {
            let text = &batch.bodies[body.clone()];
            // This takes about as long as reading, so both threads do it.
            let row = EntryRow {
                id: *entry,
                step: *step,
                kind: "outcome",
                sealed: *sealed,
                body: text,
                mac: *mac,
            };
            if !self.head.is_genuine(&row) {
                let what = format!("entry {} is not what was written", sequence_of(*entry));
                return Err(damaged_row(self.path, &what));
            }
            let outcome: Outcome = body::read(self.sealer, self.head.place(*entry), *sealed, text)?;
            let mut record = outcome.record.ok_or_else(|| damaged(self.path))?;
            if let Some(record) = Arc::get_mut(&mut record) {
                record.type_name.share(&mut self.names);
                record.origin.path = self.names.share(&record.origin.path);
                for value in [
                    &mut record.inputs,
                    &mut record.outputs,
                    &mut record.private,
                    &mut record.metadata,
                ] {
                    value.share_keys(&mut self.names);
                }
                record
                    .dependencies
                    .iter_mut()
                    .for_each(|address| self.share(address));
            }
            let mut address = outcome.address;
            self.share(&mut address);
            self.found.push((*rank, address, record));
        }
        Ok(())
    }

    fn share(&mut self, address: &mut Address) {
        match self.known.get_key_value(address) {
            Some((known, ())) => *address = known.clone(),
            None => drop(self.known.insert(address.clone(), ())),
        }
    }
}

/// The records by address. Addresses of dependencies that name other records are shared with them.
fn collect_records(found: Vec<Option<(Address, Arc<Record>)>>) -> IndexMap<Address, Arc<Record>> {
    let mut records: IndexMap<Address, Arc<Record>> =
        IndexMap::with_capacity_and_hasher(found.len(), Default::default());
    records.extend(found.into_iter().flatten());
    for at in 0..records.len() {
        let Some(record) = records
            .get_index_mut(at)
            .and_then(|(_, record)| Arc::get_mut(record))
        else {
            continue;
        };
        let mut dependencies = std::mem::take(&mut record.dependencies);
        for address in &mut dependencies {
            if let Some((known, _)) = records.get_key_value(address) {
                *address = known.clone();
            }
        }
        if let Some(record) = records
            .get_index_mut(at)
            .and_then(|(_, record)| Arc::get_mut(record))
        {
            record.dependencies = dependencies;
        }
    }
    records
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
