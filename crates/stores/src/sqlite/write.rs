//! Writing: one thread owns the connection, and puts all requests that are ready into one
//! transaction.

mod commit;
mod entry_rows;
mod known;
mod leases;
mod lookup;
mod renaming;
pub(super) mod request;
mod restore;
mod write_error;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::Connection;
use state::seal::Sealer;
use state::{Host, InstanceName, Pruned, StoreError};

use super::failure::{damaged, failed};
use super::lease;
use super::{prune, reading, schema};
use known::KnownInstance;
use request::{ReplySender, WriteAnswer, WriteRequest};
use write_error::WriteError;

/// The maximum number of requests in one transaction. It bounds the waiting time of the first
/// request.
const MAX_BATCH: usize = 256;

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
            } => self
                .grant_lease(connection, instance, who, *lasts)
                .map(WriteAnswer::Leased),
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
            WriteRequest::TakeAway {
                instance,
                who,
                lasts,
                even_active,
            } => self
                .take_lease_away(connection, instance, (who, *lasts), *even_active)
                .map(WriteAnswer::TakenAway),
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
            WriteRequest::Rename { lease, to } => self
                .rename(connection, lease, to)
                .map(|()| WriteAnswer::Done),
            WriteRequest::Rekey { .. } => Ok(WriteAnswer::Rekeyed(0)),
            WriteRequest::Restore { .. } => Ok(WriteAnswer::Done),
            #[cfg(test)]
            WriteRequest::Pragma(name, value) => {
                connection.pragma_update(None, name, value)?;
                Ok(WriteAnswer::Done)
            }
        }
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
