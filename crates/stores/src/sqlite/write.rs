//! Writing: one thread owns the connection, and puts whatever is ready into one transaction.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use blueprint::{Address, IndexMap};
use futures::channel::oneshot;
use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};
use state::seal::{Place, Sealer};
use state::{
    Entry, EntryKind, Host, InstanceName, Journal, Lease, LeaseHolder, OperationOutcome, Revision, StoreError,
};

use super::body::{self, Body};
use super::digest::Digest;
use super::failure::{damaged, failed};
use super::leases::{self, Held};
use super::read::{Head, Reading};
use super::{Proved, schema};

/// At most so many requests share one transaction, so that the first does not wait for ever.
const TOGETHER: usize = 256;

/// What the writer may be asked for.
pub(super) enum Request {
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
    /// Always alone: a refusal in the middle must leave nothing.
    Restore {
        instance: InstanceName,
        revision: Revision,
        operations: Vec<Vec<Entry>>,
    },
    /// Always alone: it has a transaction of its own.
    Rekey {
        to: Sealer,
    },
    #[cfg(test)]
    Pragma(&'static str, i64),
}

/// What it answers.
pub(super) enum Answer {
    Committed(Revision),
    Leased(Lease),
    Unlocked(Option<LeaseHolder>),
    Rekeyed(u64),
    Done,
}

pub(super) type Reply = oneshot::Sender<Result<Answer, StoreError>>;

/// What the writer knows of an instance between two commits.
struct Known {
    head: Head,
    journal: Journal,
    records: Records,
    /// Under which lease it was last committed to, and what the file's version was then: nobody else has written since if
    /// both are the same.
    seen: Option<(u64, i64)>,
}

/// Where each record lies, and of which entry it is, by address: read when it is first needed.
#[derive(Default)]
struct Records(Option<IndexMap<Box<str>, (i64, i64)>>);

impl Records {
    /// Of an instance that has none yet.
    fn none() -> Records {
        Records(Some(IndexMap::default()))
    }

    /// All of them. What the head says of them is looked at, or learnt, when they are first read.
    fn at(&mut self, connection: &Connection, head: &mut Head) -> Result<&mut IndexMap<Box<str>, (i64, i64)>, Trouble> {
        if self.0.is_none() {
            let sql = "SELECT address, id, entry FROM records WHERE id BETWEEN ?1 AND ?2";
            let mut statement = connection.prepare_cached(sql)?;
            let rows = statement.query_map([head.entry(0), head.entry(head.entries)], |row| {
                Ok((row.get(0)?, (row.get(1)?, row.get(2)?)))
            })?;
            let found: IndexMap<Box<str>, (i64, i64)> = rows.collect::<Result<_, _>>()?;
            let mut digest = Digest::default();
            found.values().for_each(|(record, entry)| digest.add(*record, *entry));
            if *head.digest.get_or_insert(digest) != digest {
                return Err(Trouble::Torn);
            }
            self.0 = Some(found);
        }
        Ok(self.0.get_or_insert_default())
    }
}

pub(super) struct Writer {
    pub(super) path: PathBuf,
    pub(super) sealer: Sealer,
    /// Where each instance's journal stands, valid as long as the file has that revision.
    known: HashMap<InstanceName, Known>,
    /// What SQLite counts of what other connections have committed, as of the last transaction; none before the first.
    version: Option<i64>,
    /// What people should know of what was done by itself.
    asides: Asides,
    pub(super) host: Arc<dyn Host>,
    /// Which leases have been seen to be held, and when.
    proved: Proved,
}

/// What people should know of what a store has done by itself, until somebody asks.
pub(super) type Asides = Arc<Mutex<Vec<String>>>;

impl Writer {
    pub(super) fn new(path: PathBuf, sealer: Sealer, asides: Asides, host: Arc<dyn Host>, proved: Proved) -> Writer {
        Writer { path, sealer, known: HashMap::new(), version: None, asides, host, proved }
    }

    /// Answers until nobody can ask any more. The file is opened, and made, for the first request that needs it.
    pub(super) fn run(mut self, requests: &Receiver<(Request, Reply)>) {
        let mut connection: Option<Connection> = None;
        while let Ok((first, reply)) = requests.recv() {
            let open = match connection.as_mut() {
                Some(open) => open,
                None if let Some(answer) = first.without_file().filter(|_| !self.path.exists()) => {
                    let _ = reply.send(Ok(answer));
                    continue;
                }
                None => match schema::open_to_write(&self.path) {
                    Ok((opened, copy)) => {
                        self.asides.lock().unwrap_or_else(PoisonError::into_inner).extend(copy.map(|copy| {
                            format!(
                                "`{}` has been rewritten as a newer version keeps it; as it was, it lies in `{}`",
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
            for (request, reply) in requests.try_iter().take(TOGETHER - 1) {
                ready.push(request);
                replies.push(reply);
            }
            for (answer, reply) in self.answer(open, &ready).into_iter().zip(replies) {
                // Who no longer waits finds out by asking for the head.
                let _ = reply.send(answer);
            }
        }
    }

    /// Does what is asked in one transaction; if that fails, each in its own, so that each has its own error.
    fn answer(&mut self, connection: &mut Connection, requests: &[Request]) -> Vec<Result<Answer, StoreError>> {
        if let [Request::Rekey { to }] = requests {
            self.known.clear();
            return vec![self.rekey(connection, to).map(Answer::Rekeyed)];
        }
        if let [Request::Restore { instance, revision, operations }] = requests {
            self.known.clear();
            let restored = self.restore(connection, instance, *revision, operations);
            self.known.clear();
            return vec![restored.map(|()| Answer::Done)];
        }
        if requests.iter().any(|request| matches!(request, Request::Rekey { .. } | Request::Restore { .. })) {
            let each = requests.iter().map(std::slice::from_ref);
            return each.flat_map(|request| self.answer(connection, request)).collect();
        }
        match self.together(connection, requests) {
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

    /// The outer error is the file's, and nothing was written; an inner one is a refusal, and concerns that request alone.
    fn together(
        &mut self,
        connection: &mut Connection,
        requests: &[Request],
    ) -> Result<Vec<Result<Answer, StoreError>>, StoreError> {
        let path = self.path.clone();
        let at = |error| failed(&path, error);
        let transaction = Writing::begin(connection).map_err(at)?;
        // Before anything is looked at: what is seen from here on holds at this time at least.
        let now = self.host.elapsed();
        let version = Some(version_of(connection).map_err(at)?);
        if version != self.version {
            let format = schema::format_of(connection).map_err(at)?;
            if format > schema::FORMAT {
                return Err(schema::newer(&path, format));
            }
            self.version = version;
        }
        let mut answers = Vec::with_capacity(requests.len());
        for request in requests {
            answers.push(match self.one(connection, request) {
                Ok(answer) => Ok(answer),
                Err(Trouble::Refused(error)) => Err(error),
                Err(Trouble::Failed(error)) => return Err(error),
                Err(Trouble::Torn) => return Err(damaged(&path)),
                Err(Trouble::Sqlite(error)) => return Err(at(error)),
            });
        }
        transaction.commit().map_err(at)?;
        let mut proved = self.proved.lock().unwrap_or_else(PoisonError::into_inner);
        for (request, answer) in requests.iter().zip(&answers) {
            let lease = match (request, answer) {
                (Request::Commit { lease, .. } | Request::Renew { lease, .. }, Ok(_)) => lease,
                (_, Ok(Answer::Leased(lease))) => lease,
                _ => continue,
            };
            proved.insert(lease.instance.clone(), (lease.epoch, now));
        }
        drop(proved);
        Ok(answers)
    }

    fn one(&mut self, connection: &Connection, request: &Request) -> Result<Answer, Trouble> {
        match request {
            Request::Commit { lease, expected, entries } => self.commit(connection, lease, *expected, entries),
            Request::Lease { instance, who, lasts } => {
                let held = leases::held(connection, instance, &*self.host)?;
                let epoch = held.as_ref().map_or(0, |held| held.epoch) + 1;
                if let Some(Held { holder: Some(holder), is_elsewhere, .. }) = held
                    && holder.holds()
                {
                    if is_elsewhere {
                        leases::count_from_now(connection, instance, *lasts, &*self.host)?;
                    }
                    return Err(busy(instance, Some(holder)));
                }
                leases::take(connection, instance, epoch, who, *lasts, &*self.host)?;
                self.look_again(instance);
                let revision = self.reading(connection).revision(instance).map_err(Trouble::Failed)?;
                Ok(Answer::Leased(Lease { instance: instance.clone(), epoch: epoch.unsigned_abs(), revision }))
            }
            Request::Renew { lease, lasts } => {
                self.check_held(connection, lease)?;
                leases::renew(connection, &lease.instance, *lasts, &*self.host)?;
                Ok(Answer::Done)
            }
            Request::Release { lease } => match self.check_held(connection, lease) {
                Ok(()) => self.end(connection, &lease.instance).map(|()| Answer::Done),
                Err(Trouble::Refused(_)) => Ok(Answer::Done),
                Err(other) => Err(other),
            },
            Request::Unlock { instance } => {
                let holder = leases::held(connection, instance, &*self.host)?.and_then(|held| held.holder);
                if holder.is_some() {
                    self.end(connection, instance)?;
                }
                Ok(Answer::Unlocked(holder))
            }
            Request::Rekey { .. } => Ok(Answer::Rekeyed(0)),
            Request::Restore { .. } => Ok(Answer::Done),
            #[cfg(test)]
            Request::Pragma(name, value) => {
                connection.pragma_update(None, name, value)?;
                Ok(Answer::Done)
            }
        }
    }

    /// One transaction with a lease of its own for each operation.
    fn restore(
        &mut self,
        connection: &mut Connection,
        instance: &InstanceName,
        revision: Revision,
        operations: &[Vec<Entry>],
    ) -> Result<(), StoreError> {
        let path = self.path.clone();
        let at = |error| failed(&path, error);
        let words = |trouble| match trouble {
            Trouble::Refused(error) | Trouble::Failed(error) => error,
            Trouble::Sqlite(error) => failed(&path, error),
            Trouble::Torn => damaged(&path),
        };
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(at)?;
        for (done, entries) in (0..).zip(operations) {
            let lasts = Duration::from_secs(1);
            let request = Request::Lease { instance: instance.clone(), who: "import".into(), lasts };
            let Answer::Leased(lease) = self.one(&transaction, &request).map_err(words)? else { continue };
            self.commit(&transaction, &lease, Revision(done), entries).map_err(words)?;
            self.end(&transaction, instance).map_err(words)?;
        }
        let sql = "UPDATE instances SET revision = ?2, digest_of = iif(digest IS NULL, NULL, ?2) WHERE name = ?1";
        transaction.execute(sql, params![instance.as_str(), revision.0.cast_signed()]).map_err(at)?;
        transaction.commit().map_err(at)
    }

    /// A lease of ours is no change by others.
    fn look_again(&mut self, instance: &InstanceName) {
        if let Some(known) = self.known.get_mut(instance) {
            known.seen = None;
        }
    }

    /// The row stays, so that epochs go on growing.
    fn end(&mut self, connection: &Connection, instance: &InstanceName) -> Result<(), Trouble> {
        leases::end(connection, instance)?;
        self.look_again(instance);
        Ok(())
    }

    fn check_held(&self, connection: &Connection, lease: &Lease) -> Result<(), Trouble> {
        self.reading(connection).check_held(lease).map_err(|error| match error {
            busy @ StoreError::Busy { .. } => Trouble::Refused(busy),
            error => Trouble::Failed(error),
        })
    }

    fn commit(
        &mut self,
        connection: &Connection,
        lease: &Lease,
        expected: Revision,
        entries: &[Entry],
    ) -> Result<Answer, Trouble> {
        let name = &lease.instance;
        let seen = self.version.map(|version| (lease.epoch, version));
        let known = match self.known.remove(name) {
            Some(known) if seen.is_some() && known.seen == seen => Some(known),
            known => {
                self.check_held(connection, lease)?;
                self.find(connection, name, known)?
            }
        };
        let Known { mut head, mut journal, mut records, .. } = match known {
            Some(known) => known,
            None => {
                let (journal, records) = (Journal::default(), Records::none());
                Known { head: Head::before_the_first(), journal, records, seen: None }
            }
        };
        let found = Revision(head.revision.unsigned_abs());
        if found != expected {
            self.known.insert(name.clone(), Known { head, journal, records, seen });
            return Err(Trouble::Refused(StoreError::Moved { instance: name.clone(), expected, found }));
        }
        // From here on the cache has no entry for it until everything is written.
        let refused = |what| Trouble::Refused(StoreError::Refused { instance: name.clone(), what });
        journal.check(lease.epoch, entries).map_err(refused)?;
        let began = match entries.first().map(|entry| &entry.kind) {
            Some(EntryKind::Began(operation)) => Some(operation),
            _ => None,
        };
        if let Some(operation) = began
            && connection.prepare_cached("SELECT 1 FROM operations WHERE name = ?1")?.exists([&*operation.id])?
        {
            return Err(refused(format!("there was an operation `{}` before", operation.id)));
        }
        if let Some(left) = left_at_the_end(connection, &mut head, &mut records, entries)? {
            return Err(refused(format!("everything is said to be gone, {left} things are not")));
        }
        if let Some(operation) = began {
            if head.revision == 0 {
                head.uid = operation.id.clone();
                head.created = operation.began;
            }
            if !operation.document.is_empty() {
                head.document = operation.document.clone();
            }
        }
        let mut bodies = Vec::with_capacity(entries.len());
        for (entry, sequence) in entries.iter().zip(head.entries + 1..) {
            let place = Place { uid: &head.uid, record: sequence.unsigned_abs() };
            let body = body::write(&self.sealer, place, &entry.kind);
            bodies.push(body.map_err(|error| Trouble::Refused(error.into()))?);
        }
        if head.revision == 0 {
            let sql = "INSERT INTO instances (name, uid, document, created, revision, generation, entries, unsettled, \
                       exports_old) VALUES (?1, ?2, ?3, ?4, 0, 0, 0, 1, 0)";
            let mut statement = connection.prepare_cached(sql)?;
            head.id = statement.insert(params![name.as_str(), &*head.uid, &*head.document, head.created])?;
        }
        write_entries(connection, lease, &mut head, &mut records, entries, &bodies)?;
        journal.follow(lease.epoch, entries);
        head.revision += 1;
        if journal.is_settled() {
            head.unsettled = head.entries + 1;
        }
        let sql = "UPDATE instances SET document = ?2, revision = ?3, generation = ?4, entries = ?5, unsettled = ?6, \
                   finished = ?7, exports = ?8, exports_old = ?9, digest = ?10, digest_of = ?11 WHERE id = ?1";
        connection.prepare_cached(sql)?.execute(params![
            head.id,
            &*head.document,
            head.revision,
            head.generation,
            head.entries,
            head.unsettled,
            head.finished,
            head.exports,
            head.exports_old,
            head.digest.map(|digest| digest.0),
            head.digest.map(|_| head.revision),
        ])?;
        let revision = Revision(head.revision.unsigned_abs());
        self.known.insert(name.clone(), Known { head, journal, records, seen });
        Ok(Answer::Committed(revision))
    }

    /// The file as this connection sees it.
    fn reading<'a>(&'a self, connection: &'a Connection) -> Reading<'a> {
        let (path, sealer) = (self.path.as_path(), &self.sealer);
        Reading { connection, format: schema::FORMAT, has_digests: true, path, sealer, host: &*self.host }
    }

    /// What is known of an instance, or what the file says if it has moved on.
    fn find(
        &self,
        connection: &Connection,
        name: &InstanceName,
        known: Option<Known>,
    ) -> Result<Option<Known>, Trouble> {
        if let Some(known) = known {
            let mut statement = connection.prepare_cached("SELECT revision FROM instances WHERE id = ?1")?;
            let revision: Option<i64> = statement.query_row([known.head.id], |row| row.get(0)).optional()?;
            if revision == Some(known.head.revision) {
                return Ok(Some(known));
            }
        }
        let reading = self.reading(connection);
        let Some(head) = reading.head(name).map_err(Trouble::Failed)? else { return Ok(None) };
        let journal = reading.journal(&head).map_err(Trouble::Failed)?;
        Ok(Some(Known { head, journal, records: Records::default(), seen: None }))
    }
}

/// A transaction that writes, given up unless it is committed. (`rusqlite` would compile its statements each time.)
struct Writing<'c>(&'c Connection);

impl Writing<'_> {
    fn begin(connection: &Connection) -> Result<Writing<'_>, rusqlite::Error> {
        connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        Ok(Writing(connection))
    }

    fn commit(self) -> Result<(), rusqlite::Error> {
        self.0.prepare_cached("COMMIT")?.execute([]).map(|_| ())
    }
}

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        if !self.0.is_autocommit() {
            // What cannot be given up in order goes with the connection.
            let _ = self.0.execute_batch("ROLLBACK");
        }
    }
}

/// A number that changes when another connection has committed something since it was last asked for.
fn version_of(connection: &Connection) -> Result<i64, rusqlite::Error> {
    connection.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))
}

/// Why a request was not done.
enum Trouble {
    /// Nothing of it was written; the transaction goes on.
    Refused(StoreError),
    /// The file cannot be read; the transaction is given up.
    Failed(StoreError),
    /// The same, in SQLite's words.
    Sqlite(rusqlite::Error),
    /// The file holds parts of different revisions; the transaction is given up.
    Torn,
}

impl From<rusqlite::Error> for Trouble {
    fn from(error: rusqlite::Error) -> Trouble {
        Trouble::Sqlite(error)
    }
}

fn busy(instance: &InstanceName, holder: Option<LeaseHolder>) -> Trouble {
    Trouble::Refused(StoreError::Busy { instance: instance.clone(), holder })
}

impl Request {
    /// The answer where there is no file, to what makes none.
    fn without_file(&self) -> Option<Answer> {
        match self {
            Request::Unlock { .. } => Some(Answer::Unlocked(None)),
            Request::Release { .. } => Some(Answer::Done),
            Request::Rekey { .. } => Some(Answer::Rekeyed(0)),
            _ => None,
        }
    }
}

/// How many records would be left by entries that say that everything is gone; none if they do not, or there are none.
fn left_at_the_end(
    connection: &Connection,
    head: &mut Head,
    records: &mut Records,
    entries: &[Entry],
) -> Result<Option<usize>, Trouble> {
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
    let (mut come, mut go) = (0, 0);
    for (address, is_after) in after {
        match (before.contains_key(&*address.to_string()), is_after) {
            (false, true) => come += 1,
            (true, false) => go += 1,
            _ => {}
        }
    }
    Ok(Some(before.len() + come - go).filter(|left| *left != 0))
}

/// Writes the rows of entries whose bodies are ready, and moves the head along.
fn write_entries(
    connection: &Connection,
    lease: &Lease,
    head: &mut Head,
    records: &mut Records,
    entries: &[Entry],
    bodies: &[Body],
) -> Result<(), Trouble> {
    let mut add =
        connection.prepare_cached("INSERT INTO entries (id, step, kind, sealed, body) VALUES (?1, ?2, ?3, ?4, ?5)")?;
    for (entry, body) in entries.iter().zip(bodies) {
        head.entries += 1;
        let (sequence, id) = (head.entries, head.entry(head.entries));
        add.execute(params![id, entry.step, body.kind, body.sealed, body.text])?;
        match &entry.kind {
            EntryKind::Intent(_) => {}
            EntryKind::Outcome(outcome) => {
                let address = outcome.address.to_string();
                let known = records.at(connection, head)?;
                let mut digest = head.digest.unwrap_or_default();
                match (outcome.record.is_some(), known.get_mut(&*address)) {
                    (true, None) => {
                        let sql = "INSERT INTO records (id, address, entry) VALUES (?1, ?2, ?1)";
                        connection.prepare_cached(sql)?.execute(params![id, address])?;
                        known.insert(address.into(), (id, id));
                        digest.add(id, id);
                    }
                    (true, Some((lies_at, of))) => {
                        let sql = "UPDATE records SET entry = ?2 WHERE id = ?1";
                        connection.prepare_cached(sql)?.execute(params![*lies_at, id])?;
                        digest.remove(*lies_at, *of);
                        digest.add(*lies_at, id);
                        *of = id;
                    }
                    (false, Some((lies_at, of))) => {
                        let sql = "DELETE FROM records WHERE id = ?1";
                        connection.prepare_cached(sql)?.execute(params![*lies_at])?;
                        digest.remove(*lies_at, *of);
                        known.swap_remove(&*address);
                    }
                    (false, None) => {}
                }
                head.digest = Some(digest);
            }
            EntryKind::Began(operation) => {
                let sql = "INSERT INTO operations (name, instance, first, epoch, kind, who, began, document) \
                           VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
                connection.prepare_cached(sql)?.execute(params![
                    &*operation.id,
                    head.id,
                    sequence,
                    lease.epoch.cast_signed(),
                    operation.kind.word(),
                    &*operation.who,
                    operation.began,
                    &*operation.document,
                ])?;
            }
            EntryKind::Finished(finished) => {
                head.generation = finished.generation.0.cast_signed();
                head.finished = Some(sequence);
                match &finished.exports {
                    _ if finished.outcome == OperationOutcome::Gone => (head.exports, head.exports_old) = (None, false),
                    Some(_) => (head.exports, head.exports_old) = (Some(sequence), false),
                    None => head.exports_old |= finished.outcome != OperationOutcome::Ready,
                }
                let sql = "UPDATE operations SET outcome = ?2, ended = ?3, generation = ?4, created = ?5, updated = ?6, \
                           deleted = ?7, replaced = ?8 \
                           WHERE id = (SELECT id FROM operations WHERE instance = ?1 ORDER BY first DESC LIMIT 1)";
                let [created, updated, deleted, replaced] = finished.counts.map(u64::cast_signed);
                connection.prepare_cached(sql)?.execute(params![
                    head.id,
                    finished.outcome.word(),
                    finished.at,
                    head.generation,
                    created,
                    updated,
                    deleted,
                    replaced,
                ])?;
            }
        }
    }
    Ok(())
}
