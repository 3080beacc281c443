//! Announces the calls whose end is recorded beside the state, and removes the files of calls whose
//! outcome is in the state (decisions/apply#cut-off-runs).
//!
//! Not here: the files of a call that has begun. The provider writes them.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::fs::{self, DirBuilder, File};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use blueprint::{Address, Name};
use provider::{CallProgress, CallRecords, Providers};
use state::seal::Sealer;
use state::{Entry, EntryKind, Snapshot, StoreError};
use tokio_util::sync::CancellationToken;

/// The purpose of the keys of the records.
const PURPOSE: &str = "call records";

/// The call records in this folder. They are sealed if the state has a key.
pub fn call_records(folder: &Path, sealer: &Sealer) -> CallRecords {
    CallRecords {
        folder: folder.into(),
        detached: CancellationToken::new(),
        boot: boot(),
        keys: sealer.derived_keys(PURPOSE),
    }
}

/// The id of the machine's boot; empty where the system does not tell.
fn boot() -> Name {
    fs::read_to_string("/proc/sys/kernel/random/boot_id")
        .map(|id| id.trim().into())
        .unwrap_or_default()
}

/// The calls of one operation whose ends are recorded.
pub(crate) struct RecordedCalls {
    /// The records of the instance.
    all: Arc<CallRecords>,
    /// The records of this writer.
    own: Arc<CallRecords>,
    epoch: u64,
    providers: Providers,
    /// The tokens of calls without an outcome, by address.
    open: HashMap<Address, Name>,
    /// The tokens of calls of earlier operations that are still not settled.
    unsettled: HashSet<Name>,
    /// Whether the records that earlier operations have left were removed.
    is_swept: bool,
}

/// The files that a commit concerns.
#[derive(Default)]
pub(crate) struct CommittedCalls {
    /// The tokens of calls that have outcomes with this commit.
    settled: Vec<Name>,
    /// Whether the operation ends with this commit.
    is_last: bool,
}

impl RecordedCalls {
    /// The calls of an operation that begins with this snapshot, under a lease of this epoch.
    pub(crate) fn of(
        all: Arc<CallRecords>,
        providers: Providers,
        snapshot: &Snapshot,
        epoch: u64,
    ) -> RecordedCalls {
        let unsettled = snapshot.open.values();
        RecordedCalls {
            own: Arc::new(all.of_writer(epoch)),
            all,
            epoch,
            providers,
            open: HashMap::new(),
            unsettled: unsettled.map(|open| open.intent.token.clone()).collect(),
            is_swept: false,
        }
    }

    /// The records for the calls of this operation.
    pub(crate) fn own(&self) -> &Arc<CallRecords> {
        &self.own
    }

    /// Lets the calls go on without this run, because their outcomes cannot be committed.
    pub(crate) fn detach(&self) {
        self.all.detached.cancel();
    }

    /// Announces the calls whose intents are about to be committed. A call is made only if its
    /// announcement is there, so a failure must prevent the commit.
    pub(crate) fn announce(&mut self, entries: &[Entry]) -> Result<CommittedCalls, StoreError> {
        let mut committed = CommittedCalls::default();
        for entry in entries {
            match &entry.kind {
                EntryKind::Intent(intent) => {
                    let package = intent.type_name.package_name();
                    let provider = self.providers.get(package);
                    if !provider.is_some_and(|provider| provider.records_calls(&intent.type_name)) {
                        continue;
                    }
                    announce(&self.own, &intent.token)
                        .map_err(|error| failed(&self.own.folder, error))?;
                    self.open
                        .insert(intent.address.clone(), intent.token.clone());
                }
                EntryKind::Outcome(outcome) => {
                    committed.settled.extend(self.open.remove(&outcome.address));
                }
                EntryKind::Finished(_) => committed.is_last = true,
                EntryKind::Began(_) => {}
            }
        }
        Ok(committed)
    }

    /// Removes the files of calls whose outcomes are committed, and with the first and the last
    /// commit those that killed runs have left. A file that stays because of an error is removed by
    /// a later operation.
    pub(crate) fn committed(&mut self, committed: &CommittedCalls) {
        for token in &committed.settled {
            for progress in CallProgress::ALL {
                if let Some(file) = self.own.file(token, progress) {
                    let _ = fs::remove_file(file);
                }
            }
        }
        if committed.is_last || !self.is_swept {
            self.sweep();
            self.is_swept = true;
        }
    }

    /// Removes the files of this and of earlier writers about calls that are not open. Those of a
    /// later writer stay: this one may have lost its lease since its last commit.
    fn sweep(&self) {
        let open: HashSet<&str> = self
            .open
            .values()
            .chain(&self.unsettled)
            .map(|token| &**token)
            .collect();
        for (epoch, folder) in writers(&self.all.folder) {
            if epoch > self.epoch {
                continue;
            }
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                let name = entry.file_name();
                let name = name.to_string_lossy();
                if !open.contains(name.split('.').next().unwrap_or_default()) {
                    let _ = fs::remove_file(entry.path());
                }
            }
            // Fails if files of open calls are left.
            let _ = fs::remove_dir(&folder);
        }
        let _ = fs::remove_dir(&self.all.folder);
    }
}

/// The folders of all writers, with their epochs.
fn writers(folder: &Path) -> Vec<(u64, PathBuf)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path())))
        .collect()
}

/// Makes the folder and syncs it into its parents, so that a synced file in it is found after a
/// power failure.
fn make_folder(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    if let Some(parent) = folder.parent() {
        make_folder(parent)?;
        match DirBuilder::new().mode(0o700).create(folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        // Some file systems cannot sync a folder.
        let _ = File::open(parent).and_then(|parent| parent.sync_all());
    }
    Ok(())
}

/// Announces a call. A former writer may remove the empty folder meanwhile.
fn announce(records: &CallRecords, token: &str) -> io::Result<()> {
    const TRIES: u32 = 5;
    let planned = records
        .file(token, CallProgress::Planned)
        .ok_or_else(|| io::Error::other("the token names no file"))?;
    let mut tries = 0;
    loop {
        let announced = make_folder(&records.folder).and_then(|()| write(records, &planned));
        tries += 1;
        match announced {
            Err(error) if error.kind() == io::ErrorKind::NotFound && tries < TRIES => {}
            other => return other,
        }
    }
}

fn write(records: &CallRecords, planned: &Path) -> io::Result<()> {
    let new = planned.with_extension("planned-new");
    let written = fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&new)
        .and_then(|mut file| file.write_all(records.boot.as_bytes()))
        .and_then(|()| fs::rename(&new, planned));
    if written.is_err() {
        let _ = fs::remove_file(&new);
    }
    written
}

/// The error of the file of a call.
#[derive(Debug)]
struct CallFileError {
    message: String,
    source: io::Error,
}

impl fmt::Display for CallFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for CallFileError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

fn failed(folder: &Path, source: io::Error) -> StoreError {
    let kind = source.kind();
    let is_full = matches!(
        kind,
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
    );
    let folder = folder.display();
    let message = match is_full {
        true => format!("there is no room left for `{folder}`"),
        false => format!("`{folder}` cannot be written"),
    };
    let source = Box::new(CallFileError { message, source });
    match is_full {
        true => StoreError::Full { source },
        false => StoreError::Unreachable { source },
    }
}
