//! State in one SQLite file: the default.
//!
//! The file is opened by the first call that needs it. The first call that writes creates it, with
//! its folder: reading never creates anything, and a missing file is a store without instances. One
//! thread owns the connection for writing, another the one for reading; neither waits for the other
//! (WAL), and a read sees one whole revision. Requests that are ready together share one
//! transaction, which is on the disk when it returns (`synchronous=FULL`). Several processes may
//! use a file at once: leases are rows, and every commit checks its own lease inside its
//! transaction.
//!
//! Only SQLite opens the file, its `-wal` or its `-shm` here: closing any descriptor of a file
//! drops all locks that the process has on it (POSIX), and the next process would treat the log of
//! a running deploy as abandoned.
//!
//! Not here: the rules of a journal (`state::Journal`), sealing (`state::seal`), clock and
//! processes (`state::Host`).

mod body;
mod digest;
mod documents;
mod failure;
mod head;
mod lease;
mod locks;
mod managed;
mod operations;
mod prune;
mod read;
mod reading;
mod records;
mod rekey;
mod schema;
mod upgrade;
mod verify;
mod write;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use futures::channel::oneshot;
use state::seal::Sealer;
use state::{
    BoxFuture, Checkpoint, Entry, GenerationInfo, Host, InstanceInfo, InstanceName,
    LEASE_CHECK_VALIDITY, Lease, LeaseHolder, LogEntry, Managed, Operation, Pruned, Revision,
    Since, Snapshot, Store, StoreError, Tail, Verification,
};

use crate::machine::ThisMachine;
use failure::failed;
pub use failure::{FileFailure, SqliteMessage};
use reading::StateReader;
use schema::Readable;
use write::request::{ReplySender, WriteAnswer, WriteRequest};
use write::{LastSeenEpochs, Notices, StateWriter};

/// The access of a store to its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Only reads the file, if it exists. Requests that would write are refused.
    ReadOnly,
    /// Reads and writes the file; the first write creates it.
    ReadWrite,
}

/// A store in one SQLite file.
pub struct SqliteStore {
    path: PathBuf,
    sealer: Sealer,
    mode: Mode,
    notices: Notices,
    host: Arc<dyn Host>,
    last_seen_epochs: LastSeenEpochs,
    // The order matters: the last connection to close cleans up the file, and this should be the
    // writer.
    reader: Mutex<Option<Worker<ReadJob>>>,
    writer: Mutex<Option<Worker<(WriteRequest, ReplySender)>>>,
}

/// A job for the reading connection; it receives `None` while there is no file.
type ReadJob = Box<dyn FnOnce(Result<Option<StateReader<'_>>, StoreError>) + Send>;

/// A thread and its channel. Dropping it waits until all requests are done.
struct Worker<T> {
    sender: Option<mpsc::Sender<T>>,
    thread: Option<JoinHandle<()>>,
}

impl<T: Send + 'static> Worker<T> {
    /// Starts the thread and sends it the first message.
    fn start(
        name: &str,
        first: T,
        run: impl FnOnce(mpsc::Receiver<T>) + Send + 'static,
    ) -> std::io::Result<Worker<T>> {
        let (sender, receiver) = mpsc::channel();
        // The receiver still exists here: sending cannot fail.
        let _ = sender.send(first);
        let thread = std::thread::Builder::new()
            .name(name.into())
            .spawn(move || run(receiver))?;
        Ok(Worker {
            sender: Some(sender),
            thread: Some(thread),
        })
    }
}

impl<T> Drop for Worker<T> {
    fn drop(&mut self) {
        self.sender = None;
        if let Some(thread) = self.thread.take() {
            // If the thread has panicked there is nothing left to wait for.
            let _ = thread.join();
        }
    }
}

impl SqliteStore {
    /// Returns a store in the file of that path. Nothing is opened or created yet.
    pub fn open(path: impl Into<PathBuf>, sealer: Sealer, mode: Mode) -> SqliteStore {
        let (reader, writer) = Default::default();
        let (notices, host, proved) = (
            Notices::default(),
            Arc::new(ThisMachine::here()),
            LastSeenEpochs::default(),
        );
        SqliteStore {
            path: path.into(),
            sealer,
            mode,
            notices,
            host,
            last_seen_epochs: proved,
            reader,
            writer,
        }
    }

    /// Returns the store on another machine, for tests.
    #[must_use]
    pub fn with_host(self, host: Arc<dyn Host>) -> SqliteStore {
        SqliteStore { host, ..self }
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn stopped(&self) -> StoreError {
        FileFailure::Stopped {
            path: self.path.clone(),
        }
        .into_store_error()
    }

    /// Sends a message to a thread. The thread is started first if it does not run yet.
    fn send<T: Send + 'static>(
        &self,
        worker: &Mutex<Option<Worker<T>>>,
        start: impl FnOnce(T) -> std::io::Result<Worker<T>>,
        message: T,
    ) -> Result<(), StoreError> {
        let mut worker = worker.lock().unwrap_or_else(PoisonError::into_inner);
        let sent = match &*worker {
            Some(worker) => worker
                .sender
                .as_ref()
                .is_some_and(|sender| sender.send(message).is_ok()),
            None => start(message)
                .map(|started| *worker = Some(started))
                .is_ok(),
        };
        if sent { Ok(()) } else { Err(self.stopped()) }
    }

    /// Runs `read` on the reading thread, in one transaction; returns `empty` if there is no file.
    async fn read_with<T: Send + 'static>(
        &self,
        empty: Result<T, StoreError>,
        read: impl FnOnce(StateReader<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let is_idle = self
            .reader
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .is_none();
        if is_idle && schema::is_missing(&self.path) {
            return empty;
        }
        let (reply, answer) = oneshot::channel();
        let job: ReadJob = Box::new(move |reading| {
            let result = match reading {
                Ok(Some(reading)) => read(reading),
                Ok(None) => empty,
                Err(error) => Err(error),
            };
            // The caller may have stopped waiting: the result is not needed then.
            let _ = reply.send(result);
        });
        let start = |job| {
            let (path, sealer, host) = (self.path.clone(), self.sealer.clone(), self.host.clone());
            Worker::start("state-reader", job, move |jobs| {
                run_reader(&path, &sealer, &*host, &jobs)
            })
        };
        self.send(&self.reader, start, job)?;
        answer.await.unwrap_or_else(|_| Err(self.stopped()))
    }

    async fn write(&self, request: WriteRequest) -> Result<WriteAnswer, StoreError> {
        if self.mode == Mode::ReadOnly {
            return Err(FileFailure::ReadOnly {
                path: self.path.clone(),
            }
            .into_store_error());
        }
        let (reply, answer) = oneshot::channel();
        let (notices, host, proved) = (
            self.notices.clone(),
            self.host.clone(),
            self.last_seen_epochs.clone(),
        );
        let writer = StateWriter::new(
            self.path.clone(),
            self.sealer.clone(),
            notices,
            host,
            proved,
        );
        let start = |request| {
            Worker::start("state-writer", request, move |requests| {
                writer.run(&requests)
            })
        };
        self.send(&self.writer, start, (request, reply))?;
        answer.await.unwrap_or_else(|_| Err(self.stopped()))
    }

    /// The error for an answer that does not belong to the request, which is a bug in this module.
    fn unexpected_answer_error<T>(&self) -> Result<T, StoreError> {
        debug_assert!(false, "the writer answered something else");
        Err(self.stopped())
    }
}

fn run_reader(path: &Path, sealer: &Sealer, host: &dyn Host, jobs: &mpsc::Receiver<ReadJob>) {
    let mut connection: Option<Readable> = None;
    while let Ok(job) = jobs.recv() {
        if connection.is_none() {
            match schema::open_to_read(path) {
                Ok(opened) => connection = opened,
                Err(error) => {
                    job(Err(error));
                    continue;
                }
            }
        }
        let Some(Readable {
            connection: open,
            has_digests,
            is_exclusive: alone,
        }) = connection.as_mut()
        else {
            job(Ok(None));
            continue;
        };
        // Another process may have rewritten the file since it was opened.
        match open
            .transaction()
            .and_then(|transaction| Ok((schema::format_of(&transaction)?, transaction)))
        {
            Ok((format, _)) if format > reading::FORMAT => job(Err(schema::newer(path, format))),
            Ok((format, transaction)) => {
                let has_digests = *has_digests;
                let reading = StateReader {
                    connection: &transaction,
                    format,
                    has_digests,
                    display_only: false,
                    path,
                    sealer,
                    host,
                };
                job(reading.check_tables().map(|()| Some(reading)));
            }
            Err(error) => job(Err(failed(path, error))),
        }
        // A writer of this process would wait in vain for this connection.
        if *alone {
            connection = None;
        }
    }
}

impl Store for SqliteStore {
    fn instances<'a>(&'a self) -> BoxFuture<'a, Result<Vec<InstanceInfo>, StoreError>> {
        Box::pin(self.read_with(Ok(Vec::new()), |reading| reading.for_display().instances()))
    }

    fn info<'a>(
        &'a self,
        instance: &'a InstanceName,
    ) -> BoxFuture<'a, Result<Option<InstanceInfo>, StoreError>> {
        let instance = instance.clone();
        Box::pin(self.read_with(Ok(None), move |reading| {
            reading.for_display().info(&instance)
        }))
    }

    fn read<'a>(
        &'a self,
        instance: &'a InstanceName,
        since: Since,
    ) -> BoxFuture<'a, Result<Option<Tail>, StoreError>> {
        let instance = instance.clone();
        Box::pin(self.read_with(Ok(None), move |reading| reading.tail(&instance, since)))
    }

    fn head<'a>(
        &'a self,
        instance: &'a InstanceName,
    ) -> BoxFuture<'a, Result<Revision, StoreError>> {
        let instance = instance.clone();
        Box::pin(self.read_with(Ok(Revision(0)), move |reading| reading.revision(&instance)))
    }

    fn load<'a>(
        &'a self,
        instance: &'a InstanceName,
    ) -> BoxFuture<'a, Result<Snapshot, StoreError>> {
        let instance = instance.clone();
        Box::pin(self.read_with(Ok(Snapshot::default()), move |reading| {
            reading.load(&instance)
        }))
    }

    fn managed_by_others<'a>(
        &'a self,
        instance: &'a str,
    ) -> BoxFuture<'a, Result<Vec<Managed>, StoreError>> {
        let instance = instance.to_owned();
        Box::pin(self.read_with(Ok(Vec::new()), move |reading| {
            reading.managed_by_others(&instance)
        }))
    }

    fn commit<'a>(
        &'a self,
        lease: &'a Lease,
        expected: Revision,
        entries: Vec<Entry>,
    ) -> BoxFuture<'a, Result<Revision, StoreError>> {
        let request = WriteRequest::Commit {
            lease: lease.clone(),
            expected,
            entries,
        };
        Box::pin(async move {
            match self.write(request).await? {
                WriteAnswer::Committed(revision) => Ok(revision),
                _ => self.unexpected_answer_error(),
            }
        })
    }

    fn lease<'a>(
        &'a self,
        instance: &'a InstanceName,
        who: &'a str,
        lasts: Duration,
    ) -> BoxFuture<'a, Result<Lease, StoreError>> {
        let request = WriteRequest::Lease {
            instance: instance.clone(),
            who: who.into(),
            lasts,
        };
        Box::pin(async move {
            match self.write(request).await? {
                WriteAnswer::Leased(lease) => Ok(lease),
                _ => self.unexpected_answer_error(),
            }
        })
    }

    fn renew<'a>(
        &'a self,
        lease: &'a Lease,
        lasts: Duration,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        let request = WriteRequest::Renew {
            lease: lease.clone(),
            lasts,
        };
        Box::pin(async move { self.write(request).await.map(|_| ()) })
    }

    fn check_lease<'a>(&'a self, lease: &'a Lease) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let now = self.host.elapsed();
            let proved = self
                .last_seen_epochs
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .get(&lease.instance)
                .copied();
            if proved.is_some_and(|(epoch, at)| {
                epoch == lease.epoch && now.saturating_sub(at) < LEASE_CHECK_VALIDITY
            }) {
                return Ok(());
            }
            let (asked, none) = (
                lease.clone(),
                StoreError::Busy {
                    instance: lease.instance.clone(),
                    holder: None,
                },
            );
            self.read_with(Err(none), move |reading| {
                reading.check_held(&asked).map(|_| ())
            })
            .await?;
            let mut proved = self
                .last_seen_epochs
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            proved.insert(lease.instance.clone(), (lease.epoch, now));
            Ok(())
        })
    }

    fn release<'a>(&'a self, lease: &'a Lease) -> BoxFuture<'a, Result<(), StoreError>> {
        let request = WriteRequest::Release {
            lease: lease.clone(),
        };
        Box::pin(async move { self.write(request).await.map(|_| ()) })
    }

    fn holder<'a>(
        &'a self,
        instance: &'a InstanceName,
    ) -> BoxFuture<'a, Result<Option<LeaseHolder>, StoreError>> {
        let instance = instance.clone();
        Box::pin(self.read_with(Ok(None), move |reading| {
            reading.for_display().holder(&instance)
        }))
    }

    fn take_away<'a>(
        &'a self,
        instance: &'a InstanceName,
        who: &'a str,
        lasts: Duration,
        even_active: bool,
    ) -> BoxFuture<'a, Result<Option<(LeaseHolder, Lease)>, StoreError>> {
        let request = WriteRequest::TakeAway {
            instance: instance.clone(),
            who: who.into(),
            lasts,
            even_active,
        };
        Box::pin(async move {
            match self.write(request).await? {
                WriteAnswer::TakenAway(taken) => Ok(taken),
                _ => self.unexpected_answer_error(),
            }
        })
    }

    fn history<'a>(
        &'a self,
        instance: &'a InstanceName,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<GenerationInfo>, StoreError>> {
        let instance = instance.clone();
        let unknown = StoreError::Unknown {
            instance: instance.clone(),
        };
        Box::pin(self.read_with(Err(unknown), move |reading| {
            reading.history(&instance, limit)
        }))
    }

    fn operation<'a>(
        &'a self,
        instance: &'a InstanceName,
        id: &'a str,
    ) -> BoxFuture<'a, Result<Option<Operation>, StoreError>> {
        let (instance, id) = (instance.clone(), id.to_owned());
        let unknown = StoreError::Unknown {
            instance: instance.clone(),
        };
        Box::pin(self.read_with(Err(unknown), move |reading| {
            reading.operation(&instance, &id)
        }))
    }

    fn log<'a>(
        &'a self,
        instance: &'a InstanceName,
        operation: Option<&'a str>,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<LogEntry>, StoreError>> {
        let instance = instance.clone();
        let operation = operation.map(str::to_owned);
        let unknown = StoreError::Unknown {
            instance: instance.clone(),
        };
        Box::pin(self.read_with(Err(unknown), move |reading| {
            reading.log(&instance, operation.as_deref(), limit)
        }))
    }

    fn prune<'a>(
        &'a self,
        lease: &'a Lease,
        first: &'a str,
    ) -> BoxFuture<'a, Result<Pruned, StoreError>> {
        let request = WriteRequest::Prune {
            lease: lease.clone(),
            first: first.to_owned(),
        };
        Box::pin(async move {
            match self.write(request).await? {
                WriteAnswer::Pruned(pruned) => Ok(pruned),
                _ => self.unexpected_answer_error(),
            }
        })
    }

    fn rename<'a>(
        &'a self,
        lease: &'a Lease,
        to: &'a InstanceName,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        let request = WriteRequest::Rename {
            lease: lease.clone(),
            to: to.clone(),
        };
        Box::pin(async move {
            match self.write(request).await? {
                WriteAnswer::Done => Ok(()),
                _ => self.unexpected_answer_error(),
            }
        })
    }

    fn rekey<'a>(&'a self, to: &'a Sealer) -> BoxFuture<'a, Result<u64, StoreError>> {
        let request = WriteRequest::Rekey { to: to.clone() };
        Box::pin(async move {
            match self.write(request).await? {
                WriteAnswer::Rekeyed(count) => Ok(count),
                _ => self.unexpected_answer_error(),
            }
        })
    }

    fn restore<'a>(
        &'a self,
        instance: &'a InstanceName,
        revision: Revision,
        base: Option<Checkpoint>,
        operations: Vec<Vec<Entry>>,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        let request = WriteRequest::Restore {
            instance: instance.clone(),
            revision,
            base: base.map(Box::new),
            operations,
        };
        Box::pin(async move { self.write(request).await.map(|_| ()) })
    }

    fn verify<'a>(&'a self) -> BoxFuture<'a, Result<Verification, StoreError>> {
        Box::pin(self.read_with(Ok(Verification::default()), |reading| verify::all(&reading)))
    }

    fn can_seal(&self) -> bool {
        self.sealer.can_seal()
    }

    fn notices(&self) -> Vec<String> {
        std::mem::take(&mut *self.notices.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use blueprint::Value;
    use contract_tests::store::samples::{began, outcome, record};
    use futures::executor::block_on;
    use futures::future::join_all;

    use super::*;

    fn store(folder: &Path) -> SqliteStore {
        SqliteStore::open(folder.join("state.db"), Sealer::none(), Mode::ReadWrite)
    }

    fn lease(store: &SqliteStore, name: &str) -> Lease {
        block_on(store.lease(
            &InstanceName::from_free_text(name),
            "ann@host",
            Duration::from_secs(60),
        ))
        .unwrap()
    }

    fn pragma(store: &SqliteStore, name: &'static str, value: i64) {
        block_on(store.write(WriteRequest::Pragma(name, value))).unwrap();
    }

    #[test]
    fn a_full_disk_loses_nothing_and_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(folder.path());
        let held = lease(&store, "shop");
        let big = |number: i64| {
            outcome(
                1,
                &format!("r[{number}]"),
                record(Value::from("x".repeat(100_000))),
            )
        };
        block_on(store.commit(&held, Revision(0), vec![began("op-1"), big(0)])).unwrap();
        // Once the file may have no more pages, SQLite answers as on a full disk.
        pragma(&store, "max_page_count", 60);
        let Err(error) = block_on(store.commit(&held, Revision(1), vec![big(1), big(2)])) else {
            panic!("it fits")
        };
        let StoreError::Full { source } = error else {
            panic!("{error}")
        };
        assert!(
            source.to_string().starts_with("there is no room left for"),
            "{source}"
        );
        let found = block_on(store.load(&held.instance)).unwrap();
        assert_eq!((found.revision, found.records.len()), (Revision(1), 1));
        // With room again, the same writer continues.
        pragma(&store, "max_page_count", 1000);
        assert_eq!(
            block_on(store.commit(&held, Revision(1), vec![big(1), big(2)])).unwrap(),
            Revision(2)
        );
        assert_eq!(
            block_on(store.load(&held.instance)).unwrap().records.len(),
            3
        );
    }

    #[test]
    fn a_failing_request_does_not_fail_others() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(folder.path());
        let leases = ["a", "b", "c"].map(|name| lease(&store, name));
        pragma(&store, "max_page_count", 40);
        let sizes = [10, 1_000_000, 10];
        let commits = leases.iter().zip(sizes).map(|(lease, size)| {
            let entries = vec![
                began(lease.instance.as_str()),
                outcome(1, "r", record(Value::from("x".repeat(size)))),
            ];
            store.commit(lease, Revision(0), entries)
        });
        let done = block_on(join_all(commits));
        assert!(
            matches!(
                done.as_slice(),
                [Ok(_), Err(StoreError::Full { .. }), Ok(_)]
            ),
            "{done:?}"
        );
        assert_eq!(block_on(store.instances()).unwrap().len(), 2);
    }
}
