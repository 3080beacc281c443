//! Writing: one thread owns the connection, and puts all requests that are ready into one
//! transaction.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use blueprint::{Address, IndexMap};
use futures::channel::oneshot;
use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};
use state::seal::{SealPlace, Sealer};
use state::tag::Tagger;
use state::{
    Checkpoint, Entry, EntryKind, Finished, Host, InstanceName, Journal, Lease, LeaseHolder,
    Operation, OperationOutcome, Outcome, Pruned, Revision, Snapshot, StoreError, records_are_left,
};

use super::body::{self, EntryBody};
use super::digest::RecordsDigest;
use super::failure::{damaged, damaged_row, failed};
use super::head::{self, EntryRow, InstanceRow};
use super::lease::{self, StoredLease};
use super::operations::OperationRow;
use super::reading::StateReader;
use super::{documents, prune, reading, schema, upgrade};

/// The maximum number of requests in one transaction. It bounds the waiting time of the first
/// request.
const MAX_BATCH: usize = 256;

/// A request to the writer.
pub(super) enum WriteRequest {
    Commit {
        lease: Lease,
        expected: Revision,
        entries: Vec<Entry>,
    },
    Lease {
        instance: InstanceName,
        who: String,
        lasts: Duration,
    },
    Renew {
        lease: Lease,
        lasts: Duration,
    },
    Release {
        lease: Lease,
    },
    Unlock {
        instance: InstanceName,
    },
    Prune {
        lease: Lease,
        /// The first operation to keep.
        first: String,
    },
    /// Always alone: a refusal in the middle must leave no change.
    Restore {
        instance: InstanceName,
        revision: Revision,
        base: Option<Box<Checkpoint>>,
        operations: Vec<Vec<Entry>>,
    },
    /// Always alone: it has a transaction of its own.
    Rekey {
        to: Sealer,
    },
    #[cfg(test)]
    Pragma(&'static str, i64),
}

/// The answer to a request.
pub(super) enum WriteAnswer {
    Committed(Revision),
    Leased(Lease),
    Unlocked(Option<LeaseHolder>),
    Rekeyed(u64),
    Pruned(Pruned),
    Done,
}

pub(super) type ReplySender = oneshot::Sender<Result<WriteAnswer, StoreError>>;

/// The writer's knowledge of an instance between two commits.
struct KnownInstance {
    head: InstanceRow,
    journal: Journal,
    records: KnownRecords,
    /// The epoch of the lease and the version of the file at the last commit: if both are
    /// unchanged, no other connection has written since.
    seen: Option<(u64, i64)>,
}

/// The row and the entry of each record, by address; read on first use.
#[derive(Default)]
struct KnownRecords(Option<IndexMap<Box<str>, (i64, i64)>>);

impl KnownRecords {
    /// Returns the records of an instance that has none yet.
    fn none() -> KnownRecords {
        KnownRecords(Some(IndexMap::default()))
    }

    /// All records, checked when they are first read.
    fn at(
        &mut self,
        connection: &Connection,
        head: &InstanceRow,
    ) -> Result<&mut IndexMap<Box<str>, (i64, i64)>, WriteError> {
        if self.0.is_none() {
            let sql = "SELECT address, id, entry FROM records WHERE id BETWEEN ?1 AND ?2";
            let mut statement = connection.prepare_cached(sql)?;
            let rows = statement.query_map([head.entry(0), head.entry(head.entries())], |row| {
                Ok((row.get(0)?, (row.get(1)?, row.get(2)?)))
            })?;
            let found: IndexMap<Box<str>, (i64, i64)> = rows.collect::<Result<_, _>>()?;
            let Some(tagger) = &head.tagger else {
                return Err(WriteError::Failed(StoreError::WrongKey));
            };
            let mut live = RecordsDigest::default();
            found.iter().for_each(|(address, (id, entry))| {
                live.add(tagger, &head.journal.uid, (*id, *entry, address))
            });
            if head.records_digest != live {
                return Err(WriteError::InconsistentRevisions);
            }
            self.0 = Some(found);
        }
        Ok(self.0.get_or_insert_default())
    }
}

pub(super) struct StateWriter {
    pub(super) path: PathBuf,
    pub(super) sealer: Sealer,
    /// Cached data of instances, valid as long as the file has the same revision.
    known: HashMap<InstanceName, KnownInstance>,
    /// SQLite's counter of commits of other connections, as of the last transaction; `None` before
    /// the first.
    version: Option<i64>,
    /// Notices for people: see [`Notices`].
    notices: Notices,
    pub(super) host: Arc<dyn Host>,
    /// The leases that have been seen to be held, with the time.
    last_seen_epochs: LastSeenEpochs,
}

/// The epoch under which each instance was last seen to be held, and the time since the boot at
/// which this was seen.
pub(super) type LastSeenEpochs = Arc<Mutex<HashMap<InstanceName, (u64, Duration)>>>;

/// Notices about actions of the store itself that people should know, until they are read.
pub(super) type Notices = Arc<Mutex<Vec<String>>>;

impl StateWriter {
    pub(super) fn new(
        path: PathBuf,
        sealer: Sealer,
        notices: Notices,
        host: Arc<dyn Host>,
        proved: LastSeenEpochs,
    ) -> StateWriter {
        StateWriter {
            path,
            sealer,
            known: HashMap::new(),
            version: None,
            notices,
            host,
            last_seen_epochs: proved,
        }
    }

    /// Answers until the channel is closed. The first request that needs the file opens it, or
    /// creates it.
    pub(super) fn run(mut self, requests: &Receiver<(WriteRequest, ReplySender)>) {
        let mut connection: Option<Connection> = None;
        while let Ok((first, reply)) = requests.recv() {
            let open = match connection.as_mut() {
                Some(open) => open,
                None if let Some(answer) =
                    first.answer_without_file().filter(|_| !self.path.exists()) =>
                {
                    let _ = reply.send(Ok(answer));
                    continue;
                }
                None => match schema::open_to_write(&self.path, &self.sealer, &*self.host) {
                    Ok((opened, copy)) => {
                        self.notices.lock().unwrap_or_else(PoisonError::into_inner).extend(copy.map(|copy| {
                            format!(
                                "`{}` was rewritten in a newer format; a copy in the old format is `{}`",
                                self.path.display(),
                                copy.display()
                            )
                        }));
                        connection.insert(opened)
                    }
                    Err(error) => {
                        let _ = reply.send(Err(error));
                        continue;
                    }
                },
            };
            let (mut ready, mut replies) = (vec![first], vec![reply]);
            for (request, reply) in requests.try_iter().take(MAX_BATCH - 1) {
                ready.push(request);
                replies.push(reply);
            }
            for (answer, reply) in self.answer(open, &ready).into_iter().zip(replies) {
                // A caller that no longer waits can query the head later.
                let _ = reply.send(answer);
            }
        }
    }

    /// Handles requests in one transaction. If it fails, handles each in a transaction of its own,
    /// so that each has its own error.
    fn answer(
        &mut self,
        connection: &mut Connection,
        requests: &[WriteRequest],
    ) -> Vec<Result<WriteAnswer, StoreError>> {
        if let [WriteRequest::Rekey { to }] = requests {
            self.known.clear();
            return vec![self.rekey(connection, to).map(WriteAnswer::Rekeyed)];
        }
        if let [
            WriteRequest::Restore {
                instance,
                revision,
                base,
                operations,
            },
        ] = requests
        {
            self.known.clear();
            let restored =
                self.restore(connection, instance, *revision, base.as_deref(), operations);
            self.known.clear();
            return vec![restored.map(|()| WriteAnswer::Done)];
        }
        if requests.iter().any(|request| {
            matches!(
                request,
                WriteRequest::Rekey { .. } | WriteRequest::Restore { .. }
            )
        }) {
            let each = requests.iter().map(std::slice::from_ref);
            return each
                .flat_map(|request| self.answer(connection, request))
                .collect();
        }
        match self.answer_in_one_transaction(connection, requests) {
            Ok(answers) => answers,
            Err(error) => {
                self.known.clear();
                match requests {
                    [_] => vec![Err(error)],
                    _ => requests
                        .iter()
                        .flat_map(|request| self.answer(connection, std::slice::from_ref(request)))
                        .collect(),
                }
            }
        }
    }

    /// Handles requests in one transaction. An outer error is that of the file, and nothing was
    /// written; an inner error is the refusal of one request.
    fn answer_in_one_transaction(
        &mut self,
        connection: &mut Connection,
        requests: &[WriteRequest],
    ) -> Result<Vec<Result<WriteAnswer, StoreError>>, StoreError> {
        let path = self.path.clone();
        let at = |error| failed(&path, error);
        let transaction = WriteTransaction::begin(connection).map_err(at)?;
        // Read before the leases: a lease that is seen later was held at this time.
        let now = self.host.elapsed();
        let version = Some(version_of(connection).map_err(at)?);
        if version != self.version {
            let format = schema::format_of(connection).map_err(at)?;
            if format > reading::FORMAT {
                return Err(schema::newer(&path, format));
            }
            self.version = version;
        }
        let mut answers = Vec::with_capacity(requests.len());
        for request in requests {
            answers.push(match self.handle_request(connection, request) {
                Ok(answer) => Ok(answer),
                Err(WriteError::Refused(error)) => Err(error),
                Err(WriteError::Failed(error)) => return Err(error),
                Err(WriteError::InconsistentRevisions) => return Err(damaged(&path)),
                Err(WriteError::Sqlite(error)) => return Err(at(error)),
            });
        }
        transaction.commit().map_err(at)?;
        let mut proved = self
            .last_seen_epochs
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        for (request, answer) in requests.iter().zip(&answers) {
            let lease = match (request, answer) {
                (WriteRequest::Commit { lease, .. } | WriteRequest::Renew { lease, .. }, Ok(_)) => {
                    lease
                }
                (_, Ok(WriteAnswer::Leased(lease))) => lease,
                _ => continue,
            };
            proved.insert(lease.instance.clone(), (lease.epoch, now));
        }
        drop(proved);
        Ok(answers)
    }

    fn handle_request(
        &mut self,
        connection: &Connection,
        request: &WriteRequest,
    ) -> Result<WriteAnswer, WriteError> {
        match request {
            WriteRequest::Commit {
                lease,
                expected,
                entries,
            } => self.commit(connection, lease, *expected, entries),
            WriteRequest::Lease {
                instance,
                who,
                lasts,
            } => {
                let held = self.read_lease(connection, instance)?;
                let revision = self
                    .reading(connection)
                    .revision(instance)
                    .map_err(WriteError::Failed)?;
                if held.is_none() && revision > Revision(0) {
                    return Err(
                        self.damaged_row_error(&format!("the lease of `{instance}` is missing"))
                    );
                }
                let epoch = held.as_ref().map_or(0, |held| held.epoch) + 1;
                if let Some(held) = held
                    && let Some(holder) = held.holder.clone().filter(LeaseHolder::is_active)
                {
                    if held.expires_in_other_boot {
                        lease::extend(
                            connection,
                            &self.sealer,
                            &*self.host,
                            instance,
                            held,
                            *lasts,
                        )?;
                    }
                    return Err(busy(instance, Some(holder)));
                }
                lease::grant(
                    connection,
                    &self.sealer,
                    &*self.host,
                    instance,
                    epoch,
                    (who, *lasts),
                )?;
                self.forget_seen_lease(instance);
                Ok(WriteAnswer::Leased(Lease {
                    instance: instance.clone(),
                    epoch: epoch.unsigned_abs(),
                    revision,
                }))
            }
            WriteRequest::Renew { lease, lasts } => {
                let held = self.check_held(connection, lease)?;
                lease::extend(
                    connection,
                    &self.sealer,
                    &*self.host,
                    &lease.instance,
                    held,
                    *lasts,
                )?;
                Ok(WriteAnswer::Done)
            }
            WriteRequest::Release { lease } => match self.check_held(connection, lease) {
                Ok(held) => self
                    .end_lease(connection, &lease.instance, held.epoch)
                    .map(|()| WriteAnswer::Done),
                Err(WriteError::Refused(_)) => Ok(WriteAnswer::Done),
                Err(other) => Err(other),
            },
            WriteRequest::Unlock { instance } => {
                let Some(StoredLease {
                    epoch,
                    holder: Some(holder),
                    ..
                }) = self.read_lease(connection, instance)?
                else {
                    return Ok(WriteAnswer::Unlocked(None));
                };
                self.end_lease(connection, instance, epoch)?;
                Ok(WriteAnswer::Unlocked(Some(holder)))
            }
            WriteRequest::Prune { lease, first } => {
                self.check_held(connection, lease)?;
                let pruned =
                    prune::prune(&self.reading(connection), lease, first).map_err(|error| {
                        match error {
                            refused @ (StoreError::Refused { .. } | StoreError::Unknown { .. }) => {
                                WriteError::Refused(refused)
                            }
                            error => WriteError::Failed(error),
                        }
                    })?;
                let Some((head, pruned)) = pruned else {
                    return Ok(WriteAnswer::Pruned(Pruned::default()));
                };
                head.write(connection, &lease.instance)?;
                self.known.remove(&lease.instance);
                Ok(WriteAnswer::Pruned(pruned))
            }
            WriteRequest::Rekey { .. } => Ok(WriteAnswer::Rekeyed(0)),
            WriteRequest::Restore { .. } => Ok(WriteAnswer::Done),
            #[cfg(test)]
            WriteRequest::Pragma(name, value) => {
                connection.pragma_update(None, name, value)?;
                Ok(WriteAnswer::Done)
            }
        }
    }

    /// Restores a journal in one transaction, with a lease for each operation.
    fn restore(
        &mut self,
        connection: &mut Connection,
        instance: &InstanceName,
        revision: Revision,
        base: Option<&Checkpoint>,
        operations: &[Vec<Entry>],
    ) -> Result<(), StoreError> {
        let path = self.path.clone();
        let at = |error| failed(&path, error);
        let words = |trouble| match trouble {
            WriteError::Refused(error) | WriteError::Failed(error) => error,
            WriteError::Sqlite(error) => failed(&path, error),
            WriteError::InconsistentRevisions => damaged(&path),
        };
        let transaction = connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(at)?;
        if let Some(base) = base {
            self.restore_base(&transaction, instance, base)
                .map_err(words)?;
        }
        for (done, entries) in (0..).zip(operations) {
            let lasts = Duration::from_secs(1);
            let request = WriteRequest::Lease {
                instance: instance.clone(),
                who: "import".into(),
                lasts,
            };
            let WriteAnswer::Leased(lease) =
                self.handle_request(&transaction, &request).map_err(words)?
            else {
                continue;
            };
            self.commit(&transaction, &lease, Revision(done), entries)
                .map_err(words)?;
            self.end_lease(&transaction, instance, lease.epoch.cast_signed())
                .map_err(words)?;
        }
        if let Some(mut head) = self.reading(&transaction).head(instance)? {
            head.revision = revision.0.cast_signed();
            head.write(&transaction, instance).map_err(at)?;
        }
        transaction.commit().map_err(at)
    }

    /// Restores the remains of operations that were pruned elsewhere: outcomes in a gap.
    fn restore_base(
        &mut self,
        connection: &Connection,
        name: &InstanceName,
        base: &Checkpoint,
    ) -> Result<(), WriteError> {
        let lease = Lease {
            instance: name.clone(),
            epoch: 0,
            revision: Revision(0),
        };
        let found = self
            .reading(connection)
            .revision(name)
            .map_err(WriteError::Failed)?;
        if found != Revision(0) {
            let expected = Revision(0);
            return Err(WriteError::Refused(StoreError::Moved {
                instance: name.clone(),
                expected,
                found,
            }));
        }
        if !self.sealer.can_seal()
            && base
                .snapshot
                .records
                .values()
                .any(|record| record.has_secret())
        {
            return Err(WriteError::Refused(StoreError::NoKey));
        }
        let mut head = self.new_head(connection)?;
        head.id = self.add_instance(connection, head.tagger.as_ref())?;
        let Snapshot {
            uid,
            document,
            generation,
            exports_old,
            records,
            ..
        } = &base.snapshot;
        head.journal = state::JournalHead {
            uid: uid.clone(),
            document: document.clone(),
            created: base.created,
            generation: *generation,
            exports_old: *exports_old,
            ..state::JournalHead::default()
        };
        let outcomes = records.iter().map(|(address, record)| {
            let outcome = Outcome {
                address: address.clone(),
                record: Some(record.clone()),
                error: None,
            };
            Entry {
                step: 0,
                kind: EntryKind::Outcome(Arc::new(outcome)),
            }
        });
        let outcomes: Vec<Entry> = outcomes.collect();
        let mut bodies = Vec::with_capacity(outcomes.len());
        for (entry, record) in outcomes.iter().zip(1..) {
            let body = body::write(&self.sealer, SealPlace { uid, record }, &entry.kind);
            bodies.push(Some(
                body.map_err(|error| WriteError::Failed(error.into()))?,
            ));
        }
        let mut known = KnownRecords::none();
        let mut writing = EntryRows {
            connection,
            path: &self.path,
            sealer: &self.sealer,
            host: &*self.host,
            head: &mut head,
            records: &mut known,
        };
        writing.write(&lease, &outcomes, bodies)?;
        // A gap has at least one entry.
        head.journal.entries = head.journal.entries.max(1);
        head.pruned = head.entries();
        let journal = Journal::with_open_calls(head.journal.generation, []);
        head.journal.settle(&journal);
        head.write(connection, name)?;
        self.known.insert(
            name.clone(),
            KnownInstance {
                head,
                journal,
                records: known,
                seen: None,
            },
        );
        Ok(())
    }

    /// The row of an instance that is not stored yet.
    fn new_head(&self, connection: &Connection) -> Result<InstanceRow, WriteError> {
        let (_, key) = self
            .reading(connection)
            .count()
            .map_err(WriteError::Failed)?;
        let tagger = head::tagger_after(&self.sealer, &key).map_err(WriteError::Failed)?;
        Ok(InstanceRow::new_instance(tagger))
    }

    /// Makes the next commit read the lease again. A change by this connection does not change
    /// `version`.
    fn forget_seen_lease(&mut self, instance: &InstanceName) {
        if let Some(known) = self.known.get_mut(instance) {
            known.seen = None;
        }
    }

    /// Ends a lease. Its row stays, so that epochs grow.
    fn end_lease(
        &mut self,
        connection: &Connection,
        instance: &InstanceName,
        epoch: i64,
    ) -> Result<(), WriteError> {
        lease::end(connection, &self.sealer, instance.as_str(), epoch)?;
        self.forget_seen_lease(instance);
        Ok(())
    }

    fn read_lease(
        &self,
        connection: &Connection,
        instance: &InstanceName,
    ) -> Result<Option<StoredLease>, WriteError> {
        self.reading(connection)
            .read_lease(instance)
            .map_err(WriteError::Failed)
    }

    fn damaged_row_error(&self, what: &str) -> WriteError {
        WriteError::Failed(damaged_row(&self.path, what))
    }

    fn check_held(
        &self,
        connection: &Connection,
        lease: &Lease,
    ) -> Result<StoredLease, WriteError> {
        self.reading(connection)
            .check_held(lease)
            .map_err(|error| match error {
                busy @ StoreError::Busy { .. } => WriteError::Refused(busy),
                error => WriteError::Failed(error),
            })
    }

    fn commit(
        &mut self,
        connection: &Connection,
        lease: &Lease,
        expected: Revision,
        entries: &[Entry],
    ) -> Result<WriteAnswer, WriteError> {
        let name = &lease.instance;
        let seen = self.version.map(|version| (lease.epoch, version));
        let known = match self.known.remove(name) {
            Some(known) if seen.is_some() && known.seen == seen => Some(known),
            known => {
                self.check_held(connection, lease)?;
                self.load_known(connection, name, known)?
            }
        };
        let KnownInstance {
            mut head,
            mut journal,
            mut records,
            ..
        } = match known {
            Some(known) => known,
            None => {
                let (journal, records) = (Journal::default(), KnownRecords::none());
                KnownInstance {
                    head: self.new_head(connection)?,
                    journal,
                    records,
                    seen: None,
                }
            }
        };
        let found = Revision(head.revision.unsigned_abs());
        if found != expected {
            self.known.insert(
                name.clone(),
                KnownInstance {
                    head,
                    journal,
                    records,
                    seen,
                },
            );
            return Err(WriteError::Refused(StoreError::Moved {
                instance: name.clone(),
                expected,
                found,
            }));
        }
        // From here on the instance is not in the cache until everything is written.
        let refused = |what| {
            WriteError::Refused(StoreError::Refused {
                instance: name.clone(),
                what,
            })
        };
        journal.check(lease.epoch, entries).map_err(refused)?;
        let began = match entries.first().map(|entry| &entry.kind) {
            Some(EntryKind::Began(operation)) => Some(operation),
            _ => None,
        };
        if let Some(operation) = began
            && connection
                .prepare_cached("SELECT 1 FROM operations WHERE name = ?1")?
                .exists([&*operation.id])?
        {
            let operation = operation.id.clone();
            return Err(WriteError::Refused(StoreError::OperationExists {
                instance: name.clone(),
                operation,
            }));
        }
        if let Some(left) = count_remaining_records(connection, &head, &mut records, entries)? {
            return Err(refused(records_are_left(left)));
        }
        if head.id == 0
            && let Some(operation) = began
        {
            // Bodies are sealed for this uid.
            head.journal.uid = operation.id.clone();
            head.journal.created = operation.began;
        }
        if !self.sealer.can_seal() && entries.iter().any(|entry| entry.kind.has_secret()) {
            return Err(WriteError::Refused(StoreError::NoKey));
        }
        let mut bodies = Vec::with_capacity(entries.len());
        for (entry, sequence) in entries.iter().zip(head.journal.entries + 1..) {
            let place = SealPlace {
                uid: &head.journal.uid,
                record: sequence,
            };
            // Documents are stored with the body of their operation.
            bodies.push(match &entry.kind {
                EntryKind::Began(operation) if body::has_long_text(&operation.desired) => None,
                kind => Some(
                    body::write(&self.sealer, place, kind)
                        .map_err(|error| WriteError::Refused(error.into()))?,
                ),
            });
        }
        if head.id == 0 {
            head.id = self.add_instance(connection, head.tagger.as_ref())?;
            // Operations refer to this row.
            head.write(connection, name)?;
        } else if head.tagger.as_ref().is_some_and(|tagger| !tagger.has_key())
            && self.sealer.can_seal()
        {
            // A key is available for the first time: from here on rows are authenticated.
            let to = self.sealer.tagger();
            let (count, _) = self
                .reading(connection)
                .count()
                .map_err(WriteError::Failed)?;
            upgrade::retag(&self.reading(connection), &mut head, to.clone(), None)
                .map_err(WriteError::Failed)?;
            head::write_count(connection, &to, count)?;
        }
        let mut writing = EntryRows {
            connection,
            path: &self.path,
            sealer: &self.sealer,
            host: &*self.host,
            head: &mut head,
            records: &mut records,
        };
        writing.write(lease, entries, bodies)?;
        journal.follow(lease.epoch, entries);
        head.revision += 1;
        head.journal.settle(&journal);
        head.write(connection, name)?;
        let revision = Revision(head.revision.unsigned_abs());
        self.known.insert(
            name.clone(),
            KnownInstance {
                head,
                journal,
                records,
                seen,
            },
        );
        Ok(WriteAnswer::Committed(revision))
    }

    /// Assigns a number to a new instance, and counts it.
    fn add_instance(
        &self,
        connection: &Connection,
        tagger: Option<&Tagger>,
    ) -> Result<i64, WriteError> {
        let Some(tagger) = tagger else {
            return Err(WriteError::Failed(StoreError::WrongKey));
        };
        let (count, _) = self
            .reading(connection)
            .count()
            .map_err(WriteError::Failed)?;
        head::write_count(connection, tagger, count + 1)?;
        let mut statement =
            connection.prepare_cached("SELECT coalesce(max(id), 0) + 1 FROM instances")?;
        Ok(statement.query_row([], |row| row.get(0))?)
    }

    /// A view of the file through this connection.
    pub(super) fn reading<'a>(&'a self, connection: &'a Connection) -> StateReader<'a> {
        let (path, sealer) = (self.path.as_path(), &self.sealer);
        StateReader {
            connection,
            format: reading::FORMAT,
            has_digests: false,
            display_only: false,
            path,
            sealer,
            host: &*self.host,
        }
    }

    /// Returns the cached data of an instance, or reads it from the file if the revision has
    /// changed.
    fn load_known(
        &self,
        connection: &Connection,
        name: &InstanceName,
        known: Option<KnownInstance>,
    ) -> Result<Option<KnownInstance>, WriteError> {
        if let Some(known) = known {
            let mut statement =
                connection.prepare_cached("SELECT revision FROM instances WHERE id = ?1")?;
            let revision: Option<i64> = statement
                .query_row([known.head.id], |row| row.get(0))
                .optional()?;
            if revision == Some(known.head.revision) {
                return Ok(Some(known));
            }
        }
        let reading = self.reading(connection);
        let Some(head) = reading.head(name).map_err(WriteError::Failed)? else {
            return Ok(None);
        };
        let journal = reading.journal(&head).map_err(WriteError::Failed)?;
        Ok(Some(KnownInstance {
            head,
            journal,
            records: KnownRecords::default(),
            seen: None,
        }))
    }
}

/// A write transaction, rolled back unless it is committed. (`rusqlite` would compile its
/// statements each time.)
struct WriteTransaction<'c>(&'c Connection);

impl WriteTransaction<'_> {
    fn begin(connection: &Connection) -> Result<WriteTransaction<'_>, rusqlite::Error> {
        connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        Ok(WriteTransaction(connection))
    }

    fn commit(self) -> Result<(), rusqlite::Error> {
        self.0.prepare_cached("COMMIT")?.execute([]).map(|_| ())
    }
}

impl Drop for WriteTransaction<'_> {
    fn drop(&mut self) {
        if !self.0.is_autocommit() {
            // If the rollback fails, closing the connection rolls back.
            let _ = self.0.execute_batch("ROLLBACK");
        }
    }
}

/// A number that changes when another connection commits.
fn version_of(connection: &Connection) -> Result<i64, rusqlite::Error> {
    connection
        .prepare_cached("PRAGMA data_version")?
        .query_row([], |row| row.get(0))
}

/// The reason why a request failed.
enum WriteError {
    /// Nothing of the request was written; the transaction continues.
    Refused(StoreError),
    /// The file cannot be read; the transaction is rolled back.
    Failed(StoreError),
    /// The same, as SQLite reports it.
    Sqlite(rusqlite::Error),
    /// The file holds parts of different revisions; the transaction is rolled back.
    InconsistentRevisions,
}

impl From<rusqlite::Error> for WriteError {
    fn from(error: rusqlite::Error) -> WriteError {
        WriteError::Sqlite(error)
    }
}

fn busy(instance: &InstanceName, holder: Option<LeaseHolder>) -> WriteError {
    WriteError::Refused(StoreError::Busy {
        instance: instance.clone(),
        holder,
    })
}

impl WriteRequest {
    /// The answer if there is no file, for requests that do not create it.
    fn answer_without_file(&self) -> Option<WriteAnswer> {
        match self {
            WriteRequest::Unlock { .. } => Some(WriteAnswer::Unlocked(None)),
            WriteRequest::Release { .. } => Some(WriteAnswer::Done),
            WriteRequest::Rekey { .. } => Some(WriteAnswer::Rekeyed(0)),
            _ => None,
        }
    }
}

/// The number of records left by entries that end an operation as `Gone`; `None` if there is no
/// such end or none is left.
fn count_remaining_records(
    connection: &Connection,
    head: &InstanceRow,
    records: &mut KnownRecords,
    entries: &[Entry],
) -> Result<Option<usize>, WriteError> {
    match entries.last().map(|entry| &entry.kind) {
        Some(EntryKind::Finished(finished)) if finished.outcome == OperationOutcome::Gone => {}
        _ => return Ok(None),
    }
    let before = records.at(connection, head)?;
    let mut after: HashMap<&Address, bool> = HashMap::new();
    for entry in entries {
        if let EntryKind::Outcome(outcome) = &entry.kind {
            after.insert(&outcome.address, outcome.record.is_some());
        }
    }
    let (mut added, mut removed) = (0, 0);
    for (address, is_after) in after {
        match (before.contains_key(&*address.to_string()), is_after) {
            (false, true) => added += 1,
            (true, false) => removed += 1,
            _ => {}
        }
    }
    Ok(Some(before.len() + added - removed).filter(|left| *left != 0))
}

/// Writes the rows of entries whose bodies are ready, and updates the head.
struct EntryRows<'a> {
    connection: &'a Connection,
    path: &'a Path,
    sealer: &'a Sealer,
    host: &'a dyn Host,
    head: &'a mut InstanceRow,
    records: &'a mut KnownRecords,
}

impl EntryRows<'_> {
    fn write(
        &mut self,
        lease: &Lease,
        entries: &[Entry],
        bodies: Vec<Option<EntryBody>>,
    ) -> Result<(), WriteError> {
        let Some(tagger) = self.head.tagger.clone() else {
            return Err(WriteError::Failed(StoreError::WrongKey));
        };
        let sql = "INSERT INTO entries (id, step, kind, sealed, body, mac) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        let mut add = self.connection.prepare_cached(sql)?;
        for (entry, body) in entries.iter().zip(bodies) {
            self.head.journal.follow(entry);
            let (sequence, id) = (self.head.entries(), self.head.entry(self.head.entries()));
            let body = match (body, &entry.kind) {
                (None, EntryKind::Began(operation)) => self.operation(operation)?,
                (None, _) => return Err(WriteError::InconsistentRevisions),
                (Some(body), _) => body,
            };
            let (step, text) = (i64::from(entry.step), body.text.as_bytes());
            let row = EntryRow {
                id,
                step,
                kind: body.kind,
                sealed: body.sealed,
                body: text,
                mac: None,
            };
            add.execute(params![
                id,
                step,
                body.kind,
                body.sealed,
                body.text,
                self.head.entry_tag(&tagger, &row)
            ])?;
            match &entry.kind {
                EntryKind::Intent(_) => {}
                EntryKind::Outcome(outcome) => self.outcome(&tagger, id, outcome)?,
                EntryKind::Began(operation) => {
                    let row = OperationRow {
                        name: operation.id.clone(),
                        number: self.head.operations(),
                        first: sequence,
                        epoch: lease.epoch.cast_signed(),
                        kind: operation.kind.word().to_owned(),
                        who: operation.who.clone(),
                        began: operation.began,
                        document: operation.document.clone(),
                        outcome: None,
                        ended: None,
                        generation: None,
                        counts: [None; 4],
                    };
                    row.write(self.connection, self.head)?;
                }
                EntryKind::Finished(finished) => self.finished(finished)?,
            }
        }
        Ok(())
    }

    /// Stores the documents of an operation that begins, and returns its body.
    fn operation(&mut self, operation: &Operation) -> Result<EntryBody, WriteError> {
        let uid = self.head.journal.uid.clone();
        let place = SealPlace {
            uid: &uid,
            record: self.head.journal.entries,
        };
        let EntryRows {
            connection,
            path,
            sealer,
            head,
            ..
        } = self;
        documents::write_operation(connection, path, sealer, head, place, operation)
            .map_err(WriteError::Failed)
    }

    /// Adds, changes or removes the row of a record.
    fn outcome(&mut self, tagger: &Tagger, id: i64, outcome: &Outcome) -> Result<(), WriteError> {
        let address = outcome.address.to_string();
        let EntryRows {
            connection,
            head,
            records,
            ..
        } = self;
        let known = records.at(connection, head)?;
        let (live, uid) = (&mut head.records_digest, &head.journal.uid);
        match (outcome.record.is_some(), known.get_mut(&*address)) {
            (true, None) => {
                let sql = "INSERT INTO records (id, address, entry) VALUES (?1, ?2, ?1)";
                connection
                    .prepare_cached(sql)?
                    .execute(params![id, address])?;
                live.add(tagger, uid, (id, id, &address));
                known.insert(address.into(), (id, id));
            }
            (true, Some((lies_at, of))) => {
                let sql = "UPDATE records SET entry = ?2 WHERE id = ?1";
                connection
                    .prepare_cached(sql)?
                    .execute(params![*lies_at, id])?;
                live.remove(tagger, uid, (*lies_at, *of, &address));
                live.add(tagger, uid, (*lies_at, id, &address));
                *of = id;
            }
            (false, Some((lies_at, of))) => {
                connection
                    .prepare_cached("DELETE FROM records WHERE id = ?1")?
                    .execute(params![*lies_at])?;
                live.remove(tagger, uid, (*lies_at, *of, &address));
                known.swap_remove(&*address);
            }
            (false, None) => {}
        }
        Ok(())
    }

    /// Writes the end of the running operation.
    fn finished(&mut self, finished: &Finished) -> Result<(), WriteError> {
        let EntryRows {
            connection,
            path,
            sealer,
            host,
            head,
            ..
        } = self;
        let format = reading::FORMAT;
        let reading = StateReader {
            connection,
            format,
            has_digests: false,
            display_only: false,
            path,
            sealer,
            host: *host,
        };
        let Some(last) = reading
            .operations(head, 1)
            .map_err(WriteError::Failed)?
            .pop()
        else {
            return Err(WriteError::InconsistentRevisions);
        };
        let ended = OperationRow {
            outcome: Some(finished.outcome.word().to_owned()),
            ended: Some(finished.at),
            generation: Some(finished.generation.0.cast_signed()),
            counts: <[u64; 4]>::from(finished.counts).map(|count| Some(count.cast_signed())),
            ..last
        };
        Ok(ended.write(connection, head)?)
    }
}
