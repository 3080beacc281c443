//! The file: how it is recognised, created and opened.
//!
//! Format 4. `entries` is the journal: one row per entry with its body as JSON, numbered
//! `instance << 40 | sequence`, so that an instance's entries lie together and in order. All other
//! tables refer to it: a record's body is that of its last outcome, exports are those of the entry
//! that finished their operation. A deploy of n resources writes each body once, and changing ten
//! of 10,000 writes ten. Records have the numbers of the outcomes that first made them: those of
//! one wave share a page at the end, and a commit writes few pages. There is no index on addresses,
//! because every commit would write its pages; the one writer knows the position of each record.
//!
//! Every row has a tag (see [`state::tag`]) that is checked when the row is read. Entries,
//! operations, leases and instances have tags of their own; records are in the digest of their
//! instance's row (see [`RecordsDigest`](super::digest::RecordsDigest)), and `store` holds the
//! number of instances. A changed, exchanged or missing row is therefore detected, at a cost that
//! does not grow with history.
//!
//! `documents` holds the long texts that operations begin with, each once: see
//! [`documents`](super::documents). Operations that were pruned leave gaps in `entries`, up to a
//! sequence that the instance's row names: only outcomes of current records are left there.
//!
//! An older format is read as it is. The first writer rewrites the file, after it has put a copy
//! beside it. (Format 1 had its records in the order of their addresses, format 2 had no tags,
//! format 3 had its documents within the entries; its operations keep them there.) The version also
//! covers the bodies: fields may be added to them, and fields that an older version left out have
//! default values.
//!
//! The views `resources` and `journal` are for people with the `sqlite3` tool; no code here reads
//! them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior};
use state::seal::Sealer;
use state::{Host, StoreError};

use super::failure::{FileFailure, damaged, failed, is_full};
use super::locks::sibling_path;
use super::reading::{FORMAT, StateReader};
use super::{head, upgrade};

/// The application id of the file: `cyan` in ASCII.
const APPLICATION: i64 = 0x6379_616e;

/// The time for which one process waits for another one's commit.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

const TABLES: &str = "
CREATE TABLE instances (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  uid TEXT NOT NULL,
  document TEXT NOT NULL,
  created INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  generation INTEGER NOT NULL,
  entries INTEGER NOT NULL,     -- sequence of the last entry
  unsettled INTEGER NOT NULL,   -- before this sequence every call has its outcome
  finished INTEGER,             -- sequence of the last finished entry
  exports INTEGER,              -- sequence of the finished entry whose exports hold
  exports_old INTEGER NOT NULL,
  operations INTEGER NOT NULL,  -- how many there were
  live BLOB NOT NULL,           -- of which entries its records are
  auth TEXT NOT NULL,           -- the id of the key that its rows are authenticated with; empty without one
  mac BLOB NOT NULL,
  pruned INTEGER NOT NULL,            -- sequence of the last entry that was pruned
  pruned_operations INTEGER NOT NULL, -- how many operations were pruned
  documents INTEGER NOT NULL          -- the last number of a document
);
CREATE TABLE documents (
  id INTEGER PRIMARY KEY,       -- instance << 40 | number
  digest BLOB NOT NULL UNIQUE,  -- of the text
  sealed INTEGER NOT NULL,
  body TEXT NOT NULL,
  mac BLOB NOT NULL
);
CREATE TABLE store (
  id INTEGER PRIMARY KEY,       -- 1
  instances INTEGER NOT NULL,   -- how many there are
  auth TEXT NOT NULL,
  mac BLOB NOT NULL
);
CREATE TABLE operations (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  instance INTEGER NOT NULL REFERENCES instances (id),
  first INTEGER NOT NULL,       -- sequence of its first entry
  epoch INTEGER NOT NULL,
  kind TEXT NOT NULL,
  who TEXT NOT NULL,
  began INTEGER NOT NULL,
  document TEXT NOT NULL,
  outcome TEXT,
  ended INTEGER,
  generation INTEGER,
  created INTEGER, updated INTEGER, deleted INTEGER, replaced INTEGER,
  number INTEGER,               -- from 1
  mac BLOB
);
CREATE UNIQUE INDEX operations_of ON operations (instance, first);
CREATE TABLE entries (
  id INTEGER PRIMARY KEY,       -- instance << 40 | sequence
  step INTEGER NOT NULL,
  kind TEXT NOT NULL,
  sealed INTEGER NOT NULL,      -- whether something in the body is sealed
  body TEXT NOT NULL,
  mac BLOB
);
CREATE TABLE records (
  id INTEGER PRIMARY KEY,       -- instance << 40 | sequence of the outcome that first made it
  address TEXT NOT NULL,
  entry INTEGER NOT NULL        -- id of the outcome that it came from
);
CREATE TABLE leases (
  name TEXT PRIMARY KEY,
  epoch INTEGER NOT NULL,
  who TEXT, since INTEGER, until INTEGER,   -- for people
  boot TEXT, expires INTEGER,               -- when it runs out: milliseconds since that boot
  host TEXT, namespace TEXT, pid INTEGER, started INTEGER,
  auth TEXT, mac BLOB
) WITHOUT ROWID;
";

const VIEWS: &str = "
CREATE VIEW journal AS
  SELECT i.name AS instance, e.id & ((1 << 40) - 1) AS sequence,
    (SELECT o.name FROM operations o WHERE o.instance = i.id AND o.first <= e.id & ((1 << 40) - 1)
     ORDER BY o.first DESC LIMIT 1) AS operation,
    e.step, e.kind, e.body ->> '$.address' AS address, e.body
  FROM entries e JOIN instances i ON i.id = e.id >> 40
  ORDER BY i.name, e.id;
CREATE VIEW resources AS
  SELECT i.name AS instance, r.address,
    e.body ->> '$.record.type' AS type,
    (e.body ->> '$.record.status.op') || ' ' || (e.body ->> '$.record.status.word') AS status,
    e.body ->> '$.record.id' AS id
  FROM records r JOIN instances i ON i.id = r.id >> 40 JOIN entries e ON e.id = r.entry
  ORDER BY r.id;
";

/// Converts the records of format 1 to the present table.
const FROM_FORMAT_1: &str = "
DROP VIEW resources;
ALTER TABLE records RENAME TO old_records;
CREATE TABLE records (id INTEGER PRIMARY KEY, address TEXT NOT NULL, entry INTEGER NOT NULL);
INSERT INTO records SELECT instance << 40 | position, address, entry FROM old_records ORDER BY 1;
DROP TABLE old_records;
";

/// The tables and columns that format 3 adds to format 2. The rows get their tags afterwards.
const FROM_FORMAT_2: &str = "
DROP VIEW IF EXISTS journal;
DROP TABLE IF EXISTS first_operation;
ALTER TABLE instances ADD COLUMN operations INTEGER NOT NULL DEFAULT 0;
ALTER TABLE instances ADD COLUMN live BLOB NOT NULL DEFAULT x'';
ALTER TABLE instances ADD COLUMN auth TEXT NOT NULL DEFAULT '';
ALTER TABLE instances ADD COLUMN mac BLOB NOT NULL DEFAULT x'';
CREATE TABLE store (
  id INTEGER PRIMARY KEY,
  instances INTEGER NOT NULL,
  auth TEXT NOT NULL,
  mac BLOB NOT NULL
);
ALTER TABLE operations ADD COLUMN number INTEGER;
ALTER TABLE operations ADD COLUMN mac BLOB;
ALTER TABLE entries ADD COLUMN mac BLOB;
ALTER TABLE leases ADD COLUMN boot TEXT;
ALTER TABLE leases ADD COLUMN expires INTEGER;
ALTER TABLE leases ADD COLUMN host TEXT;
ALTER TABLE leases ADD COLUMN namespace TEXT;
ALTER TABLE leases ADD COLUMN pid INTEGER;
ALTER TABLE leases ADD COLUMN started INTEGER;
ALTER TABLE leases ADD COLUMN auth TEXT;
ALTER TABLE leases ADD COLUMN mac BLOB;
";

/// The tables and columns that format 4 adds to format 3.
const FROM_FORMAT_3: &str = "
ALTER TABLE instances ADD COLUMN pruned INTEGER NOT NULL DEFAULT 0;
ALTER TABLE instances ADD COLUMN pruned_operations INTEGER NOT NULL DEFAULT 0;
ALTER TABLE instances ADD COLUMN documents INTEGER NOT NULL DEFAULT 0;
CREATE TABLE documents (
  id INTEGER PRIMARY KEY,
  digest BLOB NOT NULL UNIQUE,
  sealed INTEGER NOT NULL,
  body TEXT NOT NULL,
  mac BLOB NOT NULL
);
";

/// Removes the digests of format 2.
const DROP_OLD_DIGESTS: &str = "
ALTER TABLE instances DROP COLUMN digest;
ALTER TABLE instances DROP COLUMN digest_of;
";

/// Opens the file for writing; creates the file and its folder if they are missing. A file of an
/// older format is rewritten after a copy was made: the second value is the path of the copy.
pub(super) fn open_to_write(
    path: &Path,
    sealer: &Sealer,
    host: &dyn Host,
) -> Result<(Connection, Option<PathBuf>), StoreError> {
    make_folder(path)?;
    make_private_file(path);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let at = |error| failed(path, error);
    let mut connection = Connection::open_with_flags(path, flags).map_err(at)?;
    connection.busy_timeout(BUSY_TIMEOUT).map_err(at)?;
    connection.set_prepared_statement_cache_capacity(64);
    connection
        .pragma_update(None, "synchronous", "FULL")
        .map_err(at)?;
    let found = recognise(&mut connection, path)?;
    keep_private(path);
    to_wal(&connection).map_err(at)?;
    let copy = match found {
        Some(older) if older.format != FORMAT => {
            Some(back_up_file(&connection, path, older.format)?)
        }
        _ => None,
    };
    if found.is_none_or(|found| found.format != FORMAT) {
        let transaction = connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(at)?;
        // Another process may have created or rewritten the file.
        match recognise_in(&transaction, path)? {
            None => create_tables(&transaction, sealer).map_err(at)?,
            Some(older) => upgrade_file(&transaction, path, sealer, host, older)?,
        }
        transaction.commit().map_err(at)?;
    }
    let format = FORMAT;
    StateReader {
        connection: &connection,
        format,
        has_digests: false,
        display_only: true,
        path,
        sealer,
        host,
    }
    .count()?;
    // Earlier versions kept preallocated blocks for the log under this name.
    let _ = fs::remove_file(sibling_path(path, "-spare"));
    Ok((connection, copy))
}

/// Creates the folder of the file, accessible to its owner only, and makes it durable.
fn make_folder(path: &Path) -> Result<(), StoreError> {
    let Some(folder) = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty() && !folder.exists())
    else {
        return Ok(());
    };
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    let made = builder.create(folder);
    made.map_err(|source| {
        FileFailure::Folder {
            folder: folder.to_owned(),
            source,
        }
        .into_store_error()
    })?;
    folder
        .ancestors()
        .skip(1)
        .take(2)
        .for_each(|above| sync_folder(Some(above)));
    Ok(())
}

/// Creates an empty file that only its owner can read, if there is none. SQLite would use the
/// umask.
///
/// The file is closed before it gets its name: `mod.rs` says why. Best effort: if this fails,
/// SQLite creates the file or reports the reason.
fn make_private_file(path: &Path) {
    if fs::symlink_metadata(path).is_ok() {
        return;
    }
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let mut prefix = path.file_name().unwrap_or_default().to_owned();
    prefix.push(".new-");
    if let Ok(file) = tempfile::Builder::new().prefix(&prefix).tempfile_in(folder) {
        let _ = file.into_temp_path().persist_noclobber(path);
    }
}

/// Removes the access rights of others from the file and its siblings. A change of rights opens no
/// file.
#[cfg(unix)]
fn keep_private(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    for file in ["", "-wal", "-shm"].map(|end| sibling_path(path, end)) {
        if let Ok(about) = fs::metadata(&file)
            && about.permissions().mode() & 0o077 != 0
        {
            // Fails unless the process belongs to the owner of the file.
            let _ = fs::set_permissions(
                &file,
                fs::Permissions::from_mode(about.permissions().mode() & 0o700),
            );
        }
    }
}

#[cfg(not(unix))]
fn keep_private(_path: &Path) {}

/// Turns an empty file into a state file.
fn create_tables(transaction: &Transaction<'_>, sealer: &Sealer) -> Result<(), rusqlite::Error> {
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.execute_batch(TABLES)?;
    transaction.execute_batch(VIEWS)?;
    head::write_count(transaction, &sealer.tagger(), 0)?;
    transaction.pragma_update(None, "user_version", FORMAT)
}

/// Rewrites a file of an older format in this format, with a tag for every row.
fn upgrade_file(
    transaction: &Transaction<'_>,
    path: &Path,
    sealer: &Sealer,
    host: &dyn Host,
    older: FoundFormat,
) -> Result<(), StoreError> {
    let at = |error| failed(path, error);
    if older.format == FORMAT {
        // Another process has already rewritten the file.
        return Ok(());
    }
    let format = older.format;
    let reading = StateReader {
        connection: transaction,
        format,
        has_digests: older.has_digests,
        display_only: false,
        path,
        sealer,
        host,
    };
    let heads = upgrade::checked(&reading)?;
    if format == 3 {
        let (_, key) = reading.count()?;
        transaction.execute_batch(FROM_FORMAT_3).map_err(at)?;
        upgrade::write_heads(transaction, path, sealer, &key, heads)?;
        return transaction
            .pragma_update(None, "user_version", FORMAT)
            .map_err(at);
    }
    if format == 1 {
        transaction.execute_batch(FROM_FORMAT_1).map_err(at)?;
    }
    transaction.execute_batch(FROM_FORMAT_2).map_err(at)?;
    transaction.execute_batch(FROM_FORMAT_3).map_err(at)?;
    transaction
        .execute_batch("DROP VIEW IF EXISTS resources")
        .map_err(at)?;
    if older.has_digests {
        transaction.execute_batch(DROP_OLD_DIGESTS).map_err(at)?;
    }
    transaction.execute_batch(VIEWS).map_err(at)?;
    upgrade::tag_all(transaction, path, sealer, host, heads)?;
    transaction
        .pragma_update(None, "user_version", FORMAT)
        .map_err(at)
}

/// Copies a file of an older format, to a new name beside it; returns the path of the copy.
fn back_up_file(connection: &Connection, path: &Path, older: i64) -> Result<PathBuf, StoreError> {
    let mut number = 1;
    let copy = loop {
        let end = if number == 1 {
            String::new()
        } else {
            format!("-{number}")
        };
        let copy = sibling_path(path, &format!(".format-{older}{end}"));
        let mut options = fs::OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        match options.open(&copy) {
            Ok(_) => break copy,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            Err(source) => return Err(FileFailure::Copy { path: copy, source }.into_store_error()),
        }
    };
    let name = copy.to_string_lossy();
    let written = connection
        .execute("VACUUM INTO ?1", [name.as_ref()])
        .map_err(|error| failed(&copy, error));
    let durable = written.and_then(|_| {
        let synced = fs::File::open(&copy).and_then(|copy| copy.sync_all());
        synced.map_err(|source| {
            FileFailure::Copy {
                path: copy.clone(),
                source,
            }
            .into_store_error()
        })
    });
    if let Err(error) = durable {
        // An incomplete copy is useless.
        let _ = fs::remove_file(&copy);
        return Err(error);
    }
    sync_folder(copy.parent());
    Ok(copy)
}

/// Whether there is no file at this path.
pub(super) fn is_missing(path: &Path) -> bool {
    use io::ErrorKind::{NotADirectory, NotFound};
    fs::metadata(path).is_err_and(|error| matches!(error.kind(), NotFound | NotADirectory))
}

/// A connection for reading.
pub(super) struct Readable {
    pub(super) connection: Connection,
    /// Whether instances have the digests of format 2.
    pub(super) has_digests: bool,
    /// Whether this connection excludes all others, including the writer of this process.
    pub(super) is_exclusive: bool,
}

/// Opens the file for reading; `None` if there is no file, or if it is still empty.
pub(super) fn open_to_read(path: &Path) -> Result<Option<Readable>, StoreError> {
    if is_missing(path) {
        return Ok(None);
    }
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => {
            return Err(StoreError::Foreign {
                what: format!("`{}` is a folder, not a state file", path.display()),
            });
        }
        Ok(_) => {}
        Err(source) => {
            return Err(FileFailure::File {
                path: path.to_owned(),
                source,
            }
            .into_store_error());
        }
    }
    let mut alone = false;
    let connection = match readable(path, SiblingFiles::Shared) {
        // In a read-only folder the sibling files cannot be created, and without them no process
        // writes.
        Err(error) if cannot_write_beside(&error) && !sibling_path(path, "-wal").exists() => {
            readable(path, SiblingFiles::Missing)
        }
        Err(error) if is_full(&error) => {
            alone = true;
            readable(path, SiblingFiles::Exclusive)
        }
        opened => opened,
    };
    let mut connection = connection.map_err(|error| failed(path, error))?;
    let found = recognise(&mut connection, path)?;
    Ok(found.map(|found| Readable {
        connection,
        has_digests: found.has_digests,
        is_exclusive: alone,
    }))
}

/// The format of the file.
pub(super) fn format_of(connection: &Connection) -> Result<i64, rusqlite::Error> {
    connection
        .prepare_cached("PRAGMA user_version")?
        .query_row([], |row| row.get(0))
}

/// The use of the sibling files by a reading connection: the write-ahead log and the shared memory.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SiblingFiles {
    /// The usual way of all connections.
    Shared,
    /// The files are missing and cannot be created: no process changes the state file.
    Missing,
    /// There is no room for shared memory: only this connection reads the journal, and others wait
    /// for it.
    Exclusive,
}

/// Opens a connection for reading and tests it. It is opened with write access if possible: the
/// last connection to close cleans up.
fn readable(path: &Path, files: SiblingFiles) -> Result<Connection, rusqlite::Error> {
    let connection = if files == SiblingFiles::Missing {
        Connection::open_with_flags(uri(path), immutable())?
    } else {
        Connection::open_with_flags(
            path,
            OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX,
        )?
    };
    connection.busy_timeout(BUSY_TIMEOUT)?;
    if files == SiblingFiles::Exclusive {
        connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
    }
    connection.pragma_update(None, "query_only", true)?;
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    Ok(connection)
}

fn cannot_write_beside(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{CannotOpen, PermissionDenied, ReadOnly};
    matches!(
        error.sqlite_error_code(),
        Some(CannotOpen | PermissionDenied | ReadOnly)
    )
}

/// The flags for opening a file that no process changes, by its [`uri`].
fn immutable() -> OpenFlags {
    OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI
}

fn uri(path: &Path) -> String {
    let mut uri = String::from("file:");
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => {
                uri.push(char::from(*byte))
            }
            other => uri.push_str(&format!("%{other:02X}")),
        }
    }
    uri + "?immutable=1"
}

/// The format of a state file that was found.
#[derive(Clone, Copy, PartialEq, Eq)]
struct FoundFormat {
    format: i64,
    /// Whether instances have the digests of format 2.
    has_digests: bool,
}

/// Returns the format of the database; `None` if it is empty. `Foreign` if it is not a readable
/// state file.
fn recognise(connection: &mut Connection, path: &Path) -> Result<Option<FoundFormat>, StoreError> {
    // In one transaction, because another process may be creating the file.
    let transaction = connection
        .transaction()
        .map_err(|error| failed(path, error))?;
    recognise_in(&transaction, path)
}

fn recognise_in(
    transaction: &Transaction<'_>,
    path: &Path,
) -> Result<Option<FoundFormat>, StoreError> {
    let at = |error| failed(path, error);
    let number = |sql: &str| {
        transaction
            .query_row(sql, [], |row| row.get::<_, i64>(0))
            .map_err(at)
    };
    let has = |text: &str| {
        format!("count(iif(name = 'instances' AND instr(sql, '{text}'), 1, NULL)) > 0")
    };
    let sql = format!(
        "SELECT count(*), {}, {} FROM sqlite_schema",
        has("digest_of"),
        has("mac BLOB")
    );
    let row =
        |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)?, row.get(1)?, row.get::<_, bool>(2)?));
    let (tables, has_digests, has_tags) = transaction.query_row(&sql, [], row).map_err(at)?;
    match number("PRAGMA application_id")? {
        0 if tables == 0 => Ok(None),
        APPLICATION => match number("PRAGMA user_version")? {
            format if format > FORMAT => Err(newer(path, format)),
            // A changed version number must not make tagged rows readable without their tags.
            format if has_tags != (format >= 3) => Err(damaged(path)),
            format if format >= 1 => Ok(Some(FoundFormat {
                format,
                has_digests,
            })),
            _ => Err(foreign(path)),
        },
        _ => Err(foreign(path)),
    }
}

fn foreign(path: &Path) -> StoreError {
    StoreError::Foreign {
        what: format!("`{}` is a database of something else", path.display()),
    }
}

/// The error for a file that a newer version wrote.
pub(super) fn newer(path: &Path, format: i64) -> StoreError {
    let what = format!(
        "`{}` was written by a newer version (format {format}, this one reads up to {FORMAT})",
        path.display()
    );
    StoreError::Newer { what }
}

/// Switches to WAL. Retries, because SQLite does not wait if two processes switch a new file at
/// once.
fn to_wal(connection: &Connection) -> Result<(), rusqlite::Error> {
    let pause = Duration::from_millis(5);
    let mut left = BUSY_TIMEOUT;
    loop {
        match connection.pragma_update(None, "journal_mode", "WAL") {
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && !left.is_zero() =>
            {
                std::thread::sleep(pause);
                left = left.saturating_sub(pause);
            }
            done => return done,
        }
    }
}

/// Makes a new entry of a folder durable. Best effort: not every system can.
fn sync_folder(folder: Option<&Path>) {
    let folder = match folder {
        Some(folder) if folder.as_os_str().is_empty() => Path::new("."),
        Some(folder) => folder,
        None => return,
    };
    if let Ok(folder) = fs::File::open(folder) {
        let _ = folder.sync_all();
    }
}
