//! Reading: each call sees one whole revision, and waits for no writer.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, TrySendError};

use blueprint::{Address, Breakpoint, IndexMap, Name, Names, Value};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Row, params, params_from_iter};
use serde::Deserialize;
use state::seal::{Place, Sealer};
use state::{
    Finished, Generation, GenerationInfo, Host, InstanceInfo, InstanceName, Intent, Journal, Lease, LeaseHolder,
    LogEntry, Operation, OperationKind, OperationOutcome, Outcome, Record, Revision, Snapshot, Stop, Stops, StoreError,
};

use super::body;
use super::digest::Digest;
use super::failure::{damaged, failed};
use super::leases;
use super::schema::SHIFT;

/// Reads from one connection; whoever calls has begun a transaction on it.
pub(super) struct Reading<'a> {
    pub(super) connection: &'a Connection,
    /// The format of the file.
    pub(super) format: i64,
    /// Whether it has digests.
    pub(super) has_digests: bool,
    pub(super) path: &'a Path,
    pub(super) sealer: &'a Sealer,
    pub(super) host: &'a dyn Host,
}

/// The row of an instance.
#[derive(Clone, Debug)]
pub(super) struct Head {
    pub(super) id: i64,
    pub(super) uid: Name,
    pub(super) document: Name,
    pub(super) created: i64,
    pub(super) revision: i64,
    pub(super) generation: i64,
    pub(super) entries: i64,
    pub(super) unsettled: i64,
    pub(super) finished: Option<i64>,
    pub(super) exports: Option<i64>,
    pub(super) exports_old: bool,
    /// Of the records, if it is of this revision.
    pub(super) digest: Option<Digest>,
}

impl Head {
    /// Of an instance that has no row yet.
    pub(super) fn before_the_first() -> Head {
        Head {
            id: 0,
            uid: Name::default(),
            document: Name::default(),
            created: 0,
            revision: 0,
            generation: 0,
            entries: 0,
            unsettled: 1,
            finished: None,
            exports: None,
            exports_old: false,
            digest: Some(Digest::default()),
        }
    }

    /// The id of an entry of this instance.
    pub(super) fn entry(&self, sequence: i64) -> i64 {
        self.id << SHIFT | sequence
    }

    fn place(&self, entry: i64) -> Place<'_> {
        Place { uid: &self.uid, record: sequence_of(entry) }
    }
}

pub(super) fn sequence_of(entry: i64) -> u64 {
    (entry & ((1 << SHIFT) - 1)).unsigned_abs()
}

/// What of an intent or outcome says where it belongs.
#[derive(Deserialize)]
struct Addressed {
    address: Address,
}

fn text<'r>(row: &'r Row<'_>, column: usize) -> Result<&'r [u8], rusqlite::Error> {
    match row.get_ref(column)? {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Ok(bytes),
        other => Err(rusqlite::Error::InvalidColumnType(column, "body".into(), other.data_type())),
    }
}

pub(super) fn word<T: for<'de> Deserialize<'de>>(word: &str) -> Option<T> {
    serde_json::from_value(serde_json::Value::String(word.to_owned())).ok()
}

impl Reading<'_> {
    /// The records as they lie since format 2.
    fn records_table(&self) -> &'static str {
        match self.format {
            1 => "(SELECT instance << 40 | position AS id, address, entry FROM records)",
            _ => "records",
        }
    }

    fn at(&self, error: rusqlite::Error) -> StoreError {
        failed(self.path, error)
    }

    pub(super) fn head(&self, name: &InstanceName) -> Result<Option<Head>, StoreError> {
        let digest = if self.has_digests { "iif(digest_of = revision, digest, NULL)" } else { "NULL" };
        let sql = format!(
            "SELECT id, uid, document, created, revision, generation, entries, unsettled, finished, exports, exports_old, \
             {digest} FROM instances WHERE name = ?1"
        );
        let found = self.connection.prepare_cached(&sql).and_then(|mut statement| {
            let head = |row: &Row<'_>| {
                Ok(Head {
                    id: row.get(0)?,
                    uid: row.get(1)?,
                    document: row.get(2)?,
                    created: row.get(3)?,
                    revision: row.get(4)?,
                    generation: row.get(5)?,
                    entries: row.get(6)?,
                    unsettled: row.get(7)?,
                    finished: row.get(8)?,
                    exports: row.get(9)?,
                    exports_old: row.get(10)?,
                    digest: row.get::<_, Option<i64>>(11)?.map(Digest),
                })
            };
            statement.query_row([name.as_str()], head).optional()
        });
        found.map_err(|error| self.at(error))
    }

    /// How often an instance was committed to; zero where there is none.
    pub(super) fn revision(&self, name: &InstanceName) -> Result<Revision, StoreError> {
        Ok(Revision(self.head(name)?.map_or(0, |head| head.revision.unsigned_abs())))
    }

    fn known(&self, name: &InstanceName) -> Result<Head, StoreError> {
        self.head(name)?.ok_or_else(|| StoreError::Unknown { instance: name.clone() })
    }

    /// Where the journal stands: the calls left open, and the operation that runs.
    pub(super) fn journal(&self, head: &Head) -> Result<Journal, StoreError> {
        let generation = Generation(head.generation.unsigned_abs());
        let mut journal = Journal::found(generation, self.open(head)?);
        let sql = "SELECT name, epoch, outcome IS NULL, first FROM operations WHERE instance = ?1 ORDER BY first DESC LIMIT 1";
        let last = self
            .connection
            .prepare_cached(sql)
            .and_then(|mut statement| {
                let row = |row: &Row<'_>| {
                    Ok((row.get::<_, Name>(0)?, row.get::<_, i64>(1)?, row.get::<_, bool>(2)?, row.get::<_, i64>(3)?))
                };
                statement.query_row([head.id], row).optional()
            })
            .map_err(|error| self.at(error))?;
        let Some((name, epoch, runs, first)) = last else { return Err(damaged(self.path)) };
        // The instance's row says the same as that of its last operation, or they are of different revisions.
        let has_finished = head.finished.is_some_and(|finished| finished >= first);
        if first > head.entries || runs == has_finished {
            return Err(damaged(self.path));
        }
        if runs {
            journal.resume(name, epoch.unsigned_abs());
        }
        Ok(journal)
    }

    /// The calls without an outcome, in the order in which they were made, with operation and step.
    fn open(&self, head: &Head) -> Result<Vec<(Name, u32, Arc<Intent>)>, StoreError> {
        if head.unsettled > head.entries {
            return Ok(Vec::new());
        }
        let at = |error| self.at(error);
        self.are_there(head, head.unsettled, head.entries)?;
        let mut open: HashMap<Address, (i64, u32, bool, Vec<u8>)> = HashMap::new();
        let sql = "SELECT id, kind = 'intent', step, sealed, body FROM entries \
                   WHERE id BETWEEN ?1 AND ?2 AND kind IN ('intent', 'outcome')";
        let mut statement = self.connection.prepare_cached(sql).map_err(at)?;
        let mut rows = statement.query([head.entry(head.unsettled), head.entry(head.entries)]).map_err(at)?;
        while let Some(row) = rows.next().map_err(at)? {
            let body = text(row, 4).map_err(at)?;
            // An address is never secret, so it reads from a body with sealed parts too.
            let Addressed { address } = body::read(self.sealer, head.place(0), false, body)?;
            if row.get(1).map_err(at)? {
                let call = (row.get(0).map_err(at)?, row.get(2).map_err(at)?, row.get(3).map_err(at)?, body.to_owned());
                open.insert(address, call);
            } else {
                open.remove(&address);
            }
        }
        let mut calls: Vec<_> = open.into_values().collect();
        calls.sort_unstable_by_key(|call| call.0);
        let operations = self.operations(head)?;
        let mut found = Vec::with_capacity(calls.len());
        for (id, step, sealed, text) in calls {
            let intent = body::read(self.sealer, head.place(id), sealed, &text)?;
            found.push((operation_at(&operations, sequence_of(id)), step, Arc::new(intent)));
        }
        Ok(found)
    }

    /// Entries are numbered without a gap: `damaged` if any of these is not there.
    fn are_there(&self, head: &Head, first: i64, last: i64) -> Result<(), StoreError> {
        let sql = "SELECT count(*) FROM entries WHERE id BETWEEN ?1 AND ?2";
        let count = self.connection.prepare_cached(sql).and_then(|mut statement| {
            statement.query_row([head.entry(first), head.entry(last)], |row| row.get::<_, i64>(0))
        });
        match count {
            Ok(count) if count == last - first + 1 => Ok(()),
            Ok(_) => Err(damaged(self.path)),
            Err(error) => Err(self.at(error)),
        }
    }

    /// First sequence and name of all operations, oldest first.
    fn operations(&self, head: &Head) -> Result<Vec<(u64, Name)>, StoreError> {
        let sql = "SELECT first, name FROM operations WHERE instance = ?1 ORDER BY first";
        let found = self.connection.prepare_cached(sql).and_then(|mut statement| {
            let rows = statement.query_map([head.id], |row| Ok((row.get::<_, i64>(0)?.unsigned_abs(), row.get(1)?)))?;
            rows.collect()
        });
        found.map_err(|error| self.at(error))
    }

    fn finished(&self, head: &Head, sequence: Option<i64>) -> Result<Option<Finished>, StoreError> {
        let Some(sequence) = sequence else { return Ok(None) };
        let id = head.entry(sequence);
        let at = |error| self.at(error);
        let mut statement =
            self.connection.prepare_cached("SELECT sealed, body FROM entries WHERE id = ?1").map_err(at)?;
        let mut rows = statement.query([id]).map_err(at)?;
        let row = rows.next().map_err(at)?.ok_or_else(|| damaged(self.path))?;
        body::read(self.sealer, head.place(id), row.get(0).map_err(at)?, text(row, 1).map_err(at)?).map(Some)
    }

    pub(super) fn load(&self, name: &InstanceName) -> Result<Snapshot, StoreError> {
        let Some(head) = self.head(name)? else { return Ok(Snapshot::default()) };
        let mut snapshot = Snapshot {
            revision: Revision(head.revision.unsigned_abs()),
            generation: Generation(head.generation.unsigned_abs()),
            uid: head.uid.clone(),
            document: head.document.clone(),
            records: self.records(&head)?,
            open: self.journal(&head)?.open(),
            deleted: self.deleted(&head)?,
            exports_old: head.exports_old,
            ..Snapshot::default()
        };
        if let Some(finished) = self.finished(&head, head.finished)? {
            if head.exports == head.finished {
                snapshot.exports = finished.exports.unwrap_or_default();
            }
            snapshot.groups = finished.groups;
            snapshot.remembered = finished.remembered;
            snapshot.metadata = finished.metadata;
            snapshot.declared = finished.declared;
            snapshot.stops = finished.stops;
        }
        if head.exports != head.finished
            && let Some(finished) = self.finished(&head, head.exports)?
        {
            snapshot.exports = finished.exports.unwrap_or_default();
        }
        if let Some(operation) = self.cut_off(&head)? {
            if !operation.remembered.is_empty() {
                snapshot.remembered = operation.remembered;
            }
            if let Some(stops) = operation.stops {
                snapshot.stops = stops;
            }
        }
        Ok(snapshot)
    }

    /// The things whose deletes were begun since the last operation that finished.
    fn deleted(&self, head: &Head) -> Result<IndexMap<Address, Name>, StoreError> {
        let first = head.finished.unwrap_or(0) + 1;
        if first > head.entries {
            return Ok(IndexMap::default());
        }
        let at = |error| self.at(error);
        self.are_there(head, first, head.entries)?;
        let sql =
            "SELECT body FROM entries WHERE id BETWEEN ?1 AND ?2 AND kind = 'intent' AND body ->> '$.op' = 'delete'";
        let mut statement = self.connection.prepare_cached(sql).map_err(at)?;
        let mut rows = statement.query([head.entry(first), head.entry(head.entries)]).map_err(at)?;
        let mut deleted = IndexMap::default();
        while let Some(row) = rows.next().map_err(at)? {
            // Of a delete nothing is secret.
            let intent: Intent = body::read(self.sealer, head.place(0), false, text(row, 0).map_err(at)?)?;
            deleted.extend(intent.deletes().map(|(address, id)| (address.clone(), id.clone())));
        }
        Ok(deleted)
    }

    /// The last operation, if it has not finished.
    fn cut_off(&self, head: &Head) -> Result<Option<Operation>, StoreError> {
        let at = |error| self.at(error);
        let sql = "SELECT first FROM operations WHERE instance = ?1 AND outcome IS NULL \
                   AND first = (SELECT max(first) FROM operations WHERE instance = ?1)";
        let first: Option<i64> = self
            .connection
            .prepare_cached(sql)
            .map_err(at)?
            .query_row([head.id], |row| row.get(0))
            .optional()
            .map_err(at)?;
        let Some(first) = first else { return Ok(None) };
        let id = head.entry(first);
        let mut statement =
            self.connection.prepare_cached("SELECT sealed, body FROM entries WHERE id = ?1").map_err(at)?;
        let mut rows = statement.query([id]).map_err(at)?;
        let row = rows.next().map_err(at)?.ok_or_else(|| damaged(self.path))?;
        body::read(self.sealer, head.place(id), row.get(0).map_err(at)?, text(row, 1).map_err(at)?).map(Some)
    }

    fn records(&self, head: &Head) -> Result<IndexMap<Address, Arc<Record>>, StoreError> {
        let mut lie = self.where_they_lie(head)?;
        // Read where they lie in the file one after the other, then put in order.
        lie.sort_by_key(|(_, entry)| *entry);
        let (path, sealer) = (self.path, self.sealer);
        // Parsing takes longer than reading: a second thread takes what it can, a handful at a time.
        let found = std::thread::scope(|scope| {
            let (sender, receiver) = mpsc::sync_channel::<Handful>(1);
            let mut helper = None;
            let mut receiver = Some(receiver);
            let mut here = Parsing::new(path, sealer, head);
            for wanted in lie.chunks(HANDFUL) {
                let handful = self.handful(wanted)?;
                if wanted.len() < HANDFUL {
                    here.take(&handful)?;
                    continue;
                }
                if let Some(receiver) = receiver.take() {
                    helper = Some(scope.spawn(move || {
                        let mut there = Parsing::new(path, sealer, head);
                        receiver.into_iter().try_for_each(|handful| there.take(&handful))?;
                        Ok::<_, StoreError>(there.found)
                    }));
                }
                // Where it is busy, or has met an error and ended, it is done here.
                if let Err(TrySendError::Full(handful) | TrySendError::Disconnected(handful)) = sender.try_send(handful)
                {
                    here.take(&handful)?;
                }
            }
            drop(sender);
            let helped = helper.map(|helper| helper.join().map_err(|_| damaged(path))?).transpose()?;
            Ok::<_, StoreError>([here.found, helped.unwrap_or_default()])
        })?;
        let mut in_order: Vec<Option<(Address, Arc<Record>)>> = vec![None; lie.len()];
        for (rank, address, record) in found.into_iter().flatten() {
            in_order[rank] = Some((address, record));
        }
        Ok(together(in_order))
    }

    /// Where each record comes, from 0, and the entry that it lies in: in this order.
    fn where_they_lie(&self, head: &Head) -> Result<Vec<(usize, i64)>, StoreError> {
        let at = |error| self.at(error);
        let sql = format!("SELECT id, entry FROM {} WHERE id BETWEEN ?1 AND ?2 ORDER BY id", self.records_table());
        let mut statement = self.connection.prepare_cached(&sql).map_err(at)?;
        let mut rows = statement.query([head.entry(0), head.entry(head.entries)]).map_err(at)?;
        let mut found = Vec::new();
        let mut digest = Digest::default();
        while let Some(row) = rows.next().map_err(at)? {
            let (position, entry) = (row.get(0).map_err(at)?, row.get(1).map_err(at)?);
            digest.add(position, entry);
            found.push((found.len(), entry));
        }
        if head.digest.is_some_and(|of_the_head| of_the_head != digest) {
            return Err(damaged(self.path));
        }
        Ok(found)
    }

    /// The bodies of records, of which each is said where it comes and the entry that it lies in.
    fn handful(&self, wanted: &[(usize, i64)]) -> Result<Handful, StoreError> {
        let at = |error| self.at(error);
        let mut handful =
            Handful { rows: Vec::with_capacity(wanted.len()), bodies: Vec::with_capacity(wanted.len() * body::USUAL) };
        // One statement looks for many, each from where it found the one before.
        for wanted in wanted.chunks(AT_ONCE) {
            let list = vec!["(?)"; wanted.len()].join(",");
            let sql = format!(
                "SELECT e.id, e.sealed, e.body FROM (VALUES {list}) AS wanted CROSS JOIN entries e ON e.id = wanted.column1"
            );
            let mut statement = self.connection.prepare_cached(&sql).map_err(at)?;
            let mut rows = statement.query(params_from_iter(wanted.iter().map(|(_, entry)| entry))).map_err(at)?;
            for (rank, entry) in wanted {
                let row = rows.next().map_err(at)?.ok_or_else(|| damaged(self.path))?;
                if row.get::<_, i64>(0).map_err(at)? != *entry {
                    return Err(damaged(self.path));
                }
                handful.add(*rank, *entry, row.get(1).map_err(at)?, text(row, 2).map_err(at)?);
            }
        }
        Ok(handful)
    }

    pub(super) fn holder(&self, name: &InstanceName) -> Result<Option<LeaseHolder>, StoreError> {
        let held = leases::held(self.connection, name, self.host).map_err(|error| self.at(error))?;
        Ok(held.and_then(|held| held.holder))
    }

    /// `Busy` unless the lease is the one that holds.
    pub(super) fn check_held(&self, lease: &Lease) -> Result<(), StoreError> {
        match leases::held(self.connection, &lease.instance, self.host).map_err(|error| self.at(error))? {
            Some(held) if held.holder.is_some() && held.epoch.unsigned_abs() == lease.epoch => Ok(()),
            held => {
                Err(StoreError::Busy { instance: lease.instance.clone(), holder: held.and_then(|held| held.holder) })
            }
        }
    }

    pub(super) fn instances(&self) -> Result<Vec<InstanceInfo>, StoreError> {
        let names =
            self.connection.prepare_cached("SELECT name FROM instances ORDER BY name").and_then(|mut statement| {
                let rows = statement.query_map([], |row| row.get::<_, String>(0))?;
                rows.collect::<Result<Vec<_>, _>>()
            });
        let mut found = Vec::new();
        for name in names.map_err(|error| self.at(error))? {
            let name = name.parse().map_err(|_| damaged(self.path))?;
            found.extend(self.info(&name)?);
        }
        Ok(found)
    }

    pub(super) fn info(&self, name: &InstanceName) -> Result<Option<InstanceInfo>, StoreError> {
        let Some(head) = self.head(name)? else { return Ok(None) };
        let at = |error| self.at(error);
        let sql = format!("SELECT count(*) FROM {} WHERE id BETWEEN ?1 AND ?2", self.records_table());
        let records: i64 = self
            .connection
            .prepare_cached(&sql)
            .and_then(|mut statement| statement.query_row([head.entry(0), head.entry(head.entries)], |row| row.get(0)))
            .map_err(at)?;
        let sql = "SELECT name, kind, who, began, document, outcome FROM operations \
                   WHERE instance = ?1 ORDER BY first DESC LIMIT 1";
        let last = self.connection.prepare_cached(sql).and_then(|mut statement| {
            let row = |row: &Row<'_>| {
                let kind: Option<OperationKind> = word(&row.get::<_, String>(1)?);
                let outcome: Option<String> = row.get(5)?;
                let operation = Operation {
                    id: row.get(0)?,
                    kind: kind.ok_or(rusqlite::Error::QueryReturnedNoRows)?,
                    who: row.get(2)?,
                    began: row.get(3)?,
                    document: row.get(4)?,
                    remembered: IndexMap::default(),
                    stops: None,
                    desired: Value::Null,
                };
                Ok((operation, outcome.and_then(|outcome| word::<OperationOutcome>(&outcome))))
            };
            statement.query_row([head.id], row).optional()
        });
        let last = last.map_err(at)?;
        let waits = matches!(last, Some((_, Some(outcome))) if outcome != OperationOutcome::Gone);
        let waiting = if waits { self.waiting(&head)? } else { Vec::new() };
        Ok(Some(InstanceInfo {
            name: name.clone(),
            revision: Revision(head.revision.unsigned_abs()),
            generation: Generation(head.generation.unsigned_abs()),
            document: head.document.clone(),
            records: records.unsigned_abs(),
            created: head.created,
            last,
            waiting,
            holder: self.holder(name)?,
        }))
    }

    /// Where the last operation that finished waits. Nothing of that is ever secret.
    fn waiting(&self, head: &Head) -> Result<Vec<(Name, Breakpoint)>, StoreError> {
        let Some(finished) = head.finished else { return Ok(Vec::new()) };
        let sql = "SELECT body -> '$.stops' FROM entries WHERE id = ?1";
        let text: Option<String> = self
            .connection
            .prepare_cached(sql)
            .and_then(|mut statement| statement.query_row([head.entry(finished)], |row| row.get(0)).optional())
            .map_err(|error| self.at(error))?
            .flatten();
        let Some(text) = text else { return Ok(Vec::new()) };
        let stops: Stops = body::read(self.sealer, head.place(0), false, text.as_bytes())?;
        Ok(Stop::waiting(&stops))
    }

    pub(super) fn history(&self, name: &InstanceName, limit: usize) -> Result<Vec<GenerationInfo>, StoreError> {
        let head = self.known(name)?;
        let at = |error| self.at(error);
        let sql = "SELECT e.id, e.sealed, e.body, o.outcome, o.ended, o.generation, o.created, o.updated, o.deleted, \
                   o.replaced FROM operations o JOIN entries e ON e.id = ?2 | o.first \
                   WHERE o.instance = ?1 ORDER BY o.first DESC LIMIT ?3";
        let mut statement = self.connection.prepare_cached(sql).map_err(at)?;
        let mut rows = statement.query(params![head.id, head.entry(0), at_most(limit)]).map_err(at)?;
        let mut found = Vec::new();
        while let Some(row) = rows.next().map_err(at)? {
            let id = row.get(0).map_err(at)?;
            let sealed = row.get(1).map_err(at)?;
            let operation = body::read(self.sealer, head.place(id), sealed, text(row, 2).map_err(at)?)?;
            let outcome: Option<String> = row.get(3).map_err(at)?;
            let finished = match outcome {
                None => None,
                Some(outcome) => {
                    let outcome = word(&outcome).ok_or_else(|| damaged(self.path))?;
                    let number = |column| row.get::<_, i64>(column).map(i64::unsigned_abs).map_err(at);
                    let counts = [number(6)?, number(7)?, number(8)?, number(9)?];
                    Some((outcome, row.get(4).map_err(at)?, Generation(number(5)?), counts))
                }
            };
            found.push(GenerationInfo { operation, finished });
        }
        Ok(found)
    }

    pub(super) fn log(
        &self,
        name: &InstanceName,
        operation: Option<&str>,
        limit: usize,
    ) -> Result<Vec<LogEntry>, StoreError> {
        let head = self.known(name)?;
        let at = |error| self.at(error);
        let operations = self.operations(&head)?;
        let (mut first, mut last) = (1, head.entries);
        if let Some(wanted) = operation {
            let Some(index) = operations.iter().position(|(_, name)| **name == *wanted) else { return Ok(Vec::new()) };
            let sequence = |index: usize| operations.get(index).and_then(|(first, _)| i64::try_from(*first).ok());
            first = sequence(index).unwrap_or(first);
            last = sequence(index + 1).map_or(last, |next| next - 1);
        }
        let sql =
            "SELECT id, step, kind, sealed, body FROM entries WHERE id BETWEEN ?1 AND ?2 ORDER BY id DESC LIMIT ?3";
        let mut statement = self.connection.prepare_cached(sql).map_err(at)?;
        let mut rows = statement.query(params![head.entry(first), head.entry(last), at_most(limit)]).map_err(at)?;
        let mut found = Vec::new();
        while let Some(row) = rows.next().map_err(at)? {
            let id: i64 = row.get(0).map_err(at)?;
            let kind: String = row.get(2).map_err(at)?;
            let sealed = row.get(3).map_err(at)?;
            let kind = body::read_entry(self.sealer, head.place(id), &kind, sealed, text(row, 4).map_err(at)?)?;
            found.push(LogEntry {
                sequence: sequence_of(id),
                operation: operation_at(&operations, sequence_of(id)),
                entry: state::Entry { step: row.get(1).map_err(at)?, kind },
            });
        }
        found.reverse();
        let wanted = usize::try_from(last - first + 1).unwrap_or(0).min(limit);
        if found.len() != wanted {
            return Err(damaged(self.path));
        }
        Ok(found)
    }
}

/// How many records are handed to the other thread at once.
const HANDFUL: usize = 256;

/// How many are looked for by one statement.
const AT_ONCE: usize = 64;

/// Records as they were read, their bodies one behind the other.
struct Handful {
    rows: Vec<RecordRow>,
    bodies: Vec<u8>,
}

struct RecordRow {
    rank: usize,
    entry: i64,
    sealed: bool,
    body: Range<usize>,
}

impl Handful {
    fn add(&mut self, rank: usize, entry: i64, sealed: bool, body: &[u8]) {
        let start = self.bodies.len();
        self.bodies.extend_from_slice(body);
        self.rows.push(RecordRow { rank, entry, sealed, body: start..self.bodies.len() });
    }
}

/// What one thread makes of the records that it is given.
struct Parsing<'a> {
    path: &'a Path,
    sealer: &'a Sealer,
    head: &'a Head,
    /// Types and fields repeat one text, dependencies one address. They are shared by the thread that took the memory for
    /// them: others free it less cheaply.
    names: Names,
    known: IndexMap<Address, ()>,
    /// By where each comes.
    found: Vec<(usize, Address, Arc<Record>)>,
}

impl<'a> Parsing<'a> {
    fn new(path: &'a Path, sealer: &'a Sealer, head: &'a Head) -> Parsing<'a> {
        Parsing { path, sealer, head, names: Names::default(), known: IndexMap::default(), found: Vec::new() }
    }

    fn take(&mut self, handful: &Handful) -> Result<(), StoreError> {
        self.found.reserve(handful.rows.len());
        for RecordRow { rank, entry, sealed, body } in &handful.rows {
            let text = &handful.bodies[body.clone()];
            let outcome: Outcome = body::read(self.sealer, self.head.place(*entry), *sealed, text)?;
            let mut record = outcome.record.ok_or_else(|| damaged(self.path))?;
            if let Some(record) = Arc::get_mut(&mut record) {
                record.type_name = self.names.share(&record.type_name);
                record.origin.path = self.names.share(&record.origin.path);
                for value in [&mut record.inputs, &mut record.outputs, &mut record.private, &mut record.metadata] {
                    value.share_keys(&mut self.names);
                }
                record.dependencies.iter_mut().for_each(|address| self.share(address));
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

/// The records by address. Dependencies name other records: they share those addresses.
fn together(found: Vec<Option<(Address, Arc<Record>)>>) -> IndexMap<Address, Arc<Record>> {
    let mut records: IndexMap<Address, Arc<Record>> =
        IndexMap::with_capacity_and_hasher(found.len(), Default::default());
    records.extend(found.into_iter().flatten());
    for at in 0..records.len() {
        let Some(record) = records.get_index_mut(at).and_then(|(_, record)| Arc::get_mut(record)) else { continue };
        let mut dependencies = std::mem::take(&mut record.dependencies);
        for address in &mut dependencies {
            if let Some((known, _)) = records.get_key_value(address) {
                *address = known.clone();
            }
        }
        if let Some(record) = records.get_index_mut(at).and_then(|(_, record)| Arc::get_mut(record)) {
            record.dependencies = dependencies;
        }
    }
    records
}

fn operation_at(operations: &[(u64, Name)], sequence: u64) -> Name {
    let after = operations.partition_point(|(first, _)| *first <= sequence);
    after.checked_sub(1).and_then(|at| operations.get(at)).map(|(_, name)| name.clone()).unwrap_or_default()
}

fn at_most(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}
