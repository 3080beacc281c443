//! The file: how it is recognised, made and opened.
//!
//! Format 4. `entries` is the journal: one row per entry with its body as JSON, numbered `instance << 40 | sequence`,
//! so that an instance's entries lie together and in order. Everything else points into it: a record's body is that of
//! the outcome it came from, exports are those of the entry that finished their operation. A deploy of n resources
//! writes each body once, and changing ten of 10,000 writes ten. Records are numbered like entries, by the outcome that
//! first made each: those of one wave share a page at the end, and a commit writes few pages. There is no index on
//! addresses, whose pages every commit would write; the one writer knows where each record lies.
//!
//! Every row has a tag (see [`state::tag`]) that is checked when the row is read: entries, operations, leases and
//! instances one of their own; records are in the digest of their instance's row (see
//! [`RecordsDigest`](super::digest::RecordsDigest)), and `store` says how many instances there are. So a changed,
//! exchanged or missing row shows, at a cost that does not grow with history.
//!
//! `documents` holds the long texts that operations begin with, each once: see [`documents`](super::documents).
//! Operations that were pruned leave gaps in `entries`, below a sequence that the instance's row names: there only
//! outcomes are left that records are of.
//!
//! An older format is read as it is, and rewritten by the first who writes, after a copy was put beside the file.
//! (Format 1 had its records in the order of their addresses, format 2 had no tags, format 3 had its documents within
//! the entries, where those of its operations stay.) The version is that of the bodies too: fields may be added to
//! them, and what an older version left out has a value by default.
//!
//! The views `resources` and `journal` are for people with the `sqlite3` tool; nothing here reads them.

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

/// How long one process waits for another one's commit.
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

/// Records of format 1 as they lie now.
const FROM_FORMAT_1: &str = "
DROP VIEW resources;
ALTER TABLE records RENAME TO old_records;
CREATE TABLE records (id INTEGER PRIMARY KEY, address TEXT NOT NULL, entry INTEGER NOT NULL);
INSERT INTO records SELECT instance << 40 | position, address, entry FROM old_records ORDER BY 1;
DROP TABLE old_records;
";

/// What format 3 has beside format 2. The rows get their tags afterwards.
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

/// What format 4 has beside format 3.
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

/// Opens the file for writing; makes it and its folder if they are not there. A file of an older format is rewritten
/// after a copy was made: where that lies is the second value returned.
pub(super) fn open_to_write(
    path: &Path,
    sealer: &Sealer,
    host: &dyn Host,
) -> Result<(Connection, Option<PathBuf>), StoreError> {
    make_folder(path)?;
    make_private_file(path);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let at = |error| failed(path, error);
    let mut connection = Connection::open_with_flags(path, flags).map_err(at)?;
    connection.busy_timeout(BUSY_TIMEOUT).map_err(at)?;
    connection.set_prepared_statement_cache_capacity(64);
    connection.pragma_update(None, "synchronous", "FULL").map_err(at)?;
    let found = recognise(&mut connection, path)?;
    keep_private(path);
    to_wal(&connection).map_err(at)?;
    let copy = match found {
        Some(older) if older.format != FORMAT => Some(keep_copy(&connection, path, older.format)?),
        _ => None,
    };
    if found.is_none_or(|found| found.format != FORMAT) {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(at)?;
        // Another process may have been quicker.
        match recognise_in(&transaction, path)? {
            None => make(&transaction, sealer).map_err(at)?,
            Some(older) => renew(&transaction, path, sealer, host, older)?,
        }
        transaction.commit().map_err(at)?;
    }
    let format = FORMAT;
    StateReader { connection: &connection, format, has_digests: false, only_looks: true, path, sealer, host }
        .count()?;
    // Earlier versions kept the blocks of a log under this name.
    let _ = fs::remove_file(sibling_path(path, "-spare"));
    Ok((connection, copy))
}

/// Makes the folder of the file, for its owner alone, and makes it last.
fn make_folder(path: &Path) -> Result<(), StoreError> {
    let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.exists()) else {
        return Ok(());
    };
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    let made = builder.create(folder);
    made.map_err(|source| FileFailure::Folder { folder: folder.to_owned(), source }.into_store_error())?;
    folder.ancestors().skip(1).take(2).for_each(|above| sync_folder(Some(above)));
    Ok(())
}

/// Creates an empty file that only its owner can read, if there is none. SQLite would use the umask.
///
/// The file is closed before it gets its name: see the module's head for why. Best effort: where this cannot be done,
/// SQLite creates the file, or reports why it cannot.
fn make_private_file(path: &Path) {
    if fs::symlink_metadata(path).is_ok() {
        return;
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut prefix = path.file_name().unwrap_or_default().to_owned();
    prefix.push(".new-");
    if let Ok(file) = tempfile::Builder::new().prefix(&prefix).tempfile_in(folder) {
        let _ = file.into_temp_path().persist_noclobber(path);
    }
}

/// Takes the rights of others from the file and from what lies beside it. A change of rights opens no file.
#[cfg(unix)]
fn keep_private(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    for file in ["", "-wal", "-shm"].map(|end| sibling_path(path, end)) {
        if let Ok(about) = fs::metadata(&file)
            && about.permissions().mode() & 0o077 != 0
        {
            // Only the owner of the file can do this.
            let _ = fs::set_permissions(&file, fs::Permissions::from_mode(about.permissions().mode() & 0o700));
        }
    }
}

#[cfg(not(unix))]
fn keep_private(_path: &Path) {}

/// Makes an empty file one of ours.
fn make(transaction: &Transaction<'_>, sealer: &Sealer) -> Result<(), rusqlite::Error> {
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.execute_batch(TABLES)?;
    transaction.execute_batch(VIEWS)?;
    head::write_count(transaction, &sealer.tagger(), 0)?;
    transaction.pragma_update(None, "user_version", FORMAT)
}

/// Makes a file of an older format one of this format, every row with its tag.
fn renew(
    transaction: &Transaction<'_>,
    path: &Path,
    sealer: &Sealer,
    host: &dyn Host,
    older: FoundFormat,
) -> Result<(), StoreError> {
    let at = |error| failed(path, error);
    if older.format == FORMAT {
        // Another process was quicker.
        return Ok(());
    }
    let format = older.format;
    let reading = StateReader {
        connection: transaction,
        format,
        has_digests: older.has_digests,
        only_looks: false,
        path,
        sealer,
        host,
    };
    let heads = upgrade::checked(&reading)?;
    if format == 3 {
        let (_, key) = reading.count()?;
        transaction.execute_batch(FROM_FORMAT_3).map_err(at)?;
        upgrade::write_heads(transaction, path, sealer, &key, heads)?;
        return transaction.pragma_update(None, "user_version", FORMAT).map_err(at);
    }
    if format == 1 {
        transaction.execute_batch(FROM_FORMAT_1).map_err(at)?;
    }
    transaction.execute_batch(FROM_FORMAT_2).map_err(at)?;
    transaction.execute_batch(FROM_FORMAT_3).map_err(at)?;
    transaction.execute_batch("DROP VIEW IF EXISTS resources").map_err(at)?;
    if older.has_digests {
        transaction.execute_batch(DROP_OLD_DIGESTS).map_err(at)?;
    }
    transaction.execute_batch(VIEWS).map_err(at)?;
    upgrade::tag_all(transaction, path, sealer, host, heads)?;
    transaction.pragma_update(None, "user_version", FORMAT).map_err(at)
}

/// Copies a file of an older format, to a new name beside it; returns the path of the copy.
fn keep_copy(connection: &Connection, path: &Path, older: i64) -> Result<PathBuf, StoreError> {
    let mut number = 1;
    let copy = loop {
        let end = if number == 1 { String::new() } else { format!("-{number}") };
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
    let written = connection.execute("VACUUM INTO ?1", [name.as_ref()]).map_err(|error| failed(&copy, error));
    let lasts = written.and_then(|_| {
        let synced = fs::File::open(&copy).and_then(|copy| copy.sync_all());
        synced.map_err(|source| FileFailure::Copy { path: copy.clone(), source }.into_store_error())
    });
    if let Err(error) = lasts {
        // An incomplete copy is useless.
        let _ = fs::remove_file(&copy);
        return Err(error);
    }
    sync_folder(copy.parent());
    Ok(copy)
}

/// Whether nothing is at this path.
pub(super) fn is_nothing(path: &Path) -> bool {
    use io::ErrorKind::{NotADirectory, NotFound};
    fs::metadata(path).is_err_and(|error| matches!(error.kind(), NotFound | NotADirectory))
}

/// A connection that reads.
pub(super) struct Readable {
    pub(super) connection: Connection,
    /// Whether instances have the digests of format 2.
    pub(super) has_digests: bool,
    /// This connection excludes all others, also the writer of this process.
    pub(super) alone: bool,
}

/// Opens the file for reading; `None` if there is none, or nothing in it yet.
pub(super) fn open_to_read(path: &Path) -> Result<Option<Readable>, StoreError> {
    if is_nothing(path) {
        return Ok(None);
    }
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => {
            return Err(StoreError::Foreign { what: format!("`{}` is a folder, not a state file", path.display()) });
        }
        Ok(_) => {}
        Err(source) => return Err(FileFailure::File { path: path.to_owned(), source }.into_store_error()),
    }
    let mut alone = false;
    let connection = match readable(path, SiblingFiles::Shared) {
        // In a read-only folder the files beside it cannot be created; without them no process writes.
        Err(error) if cannot_write_beside(&error) && !sibling_path(path, "-wal").exists() => {
            readable(path, SiblingFiles::Nothing)
        }
        Err(error) if is_full(&error) => {
            alone = true;
            readable(path, SiblingFiles::Alone)
        }
        opened => opened,
    };
    let mut connection = connection.map_err(|error| failed(path, error))?;
    let found = recognise(&mut connection, path)?;
    Ok(found.map(|found| Readable { connection, has_digests: found.has_digests, alone }))
}

/// The format of the file.
pub(super) fn format_of(connection: &Connection) -> Result<i64, rusqlite::Error> {
    connection.prepare_cached("PRAGMA user_version")?.query_row([], |row| row.get(0))
}

/// How a reading connection uses the files beside the state: the write-ahead log and the shared memory.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SiblingFiles {
    /// As every connection does.
    Shared,
    /// They are not there and cannot be made: the file lies still.
    Nothing,
    /// There is no room for shared memory: the journal is read by this connection alone, and others wait as long.
    Alone,
}

/// A connection that reads only, tried out. It may write all the same where it can: the last one to close tidies up.
fn readable(path: &Path, files: SiblingFiles) -> Result<Connection, rusqlite::Error> {
    let connection = if files == SiblingFiles::Nothing {
        Connection::open_with_flags(uri(path), immutable())?
    } else {
        Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)?
    };
    connection.busy_timeout(BUSY_TIMEOUT)?;
    if files == SiblingFiles::Alone {
        connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
    }
    connection.pragma_update(None, "query_only", true)?;
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    Ok(connection)
}

fn cannot_write_beside(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{CannotOpen, PermissionDenied, ReadOnly};
    matches!(error.sqlite_error_code(), Some(CannotOpen | PermissionDenied | ReadOnly))
}

/// How a file is opened that lies still, by its [`uri`].
fn immutable() -> OpenFlags {
    OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI
}

fn uri(path: &Path) -> String {
    let mut uri = String::from("file:");
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => uri.push(char::from(*byte)),
            other => uri.push_str(&format!("%{other:02X}")),
        }
    }
    uri + "?immutable=1"
}

/// What a state file is found to be.
#[derive(Clone, Copy, PartialEq, Eq)]
struct FoundFormat {
    format: i64,
    /// Whether instances have the digests of format 2.
    has_digests: bool,
}

/// What the database is; none if it is empty. `Foreign` if it is neither that nor one of ours that can be read.
fn recognise(connection: &mut Connection, path: &Path) -> Result<Option<FoundFormat>, StoreError> {
    // One transaction: another process may be making the file just now.
    let transaction = connection.transaction().map_err(|error| failed(path, error))?;
    recognise_in(&transaction, path)
}

fn recognise_in(transaction: &Transaction<'_>, path: &Path) -> Result<Option<FoundFormat>, StoreError> {
    let at = |error| failed(path, error);
    let number = |sql: &str| transaction.query_row(sql, [], |row| row.get::<_, i64>(0)).map_err(at);
    let has = |text: &str| format!("count(iif(name = 'instances' AND instr(sql, '{text}'), 1, NULL)) > 0");
    let sql = format!("SELECT count(*), {}, {} FROM sqlite_schema", has("digest_of"), has("mac BLOB"));
    let row = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)?, row.get(1)?, row.get::<_, bool>(2)?));
    let (tables, has_digests, has_tags) = transaction.query_row(&sql, [], row).map_err(at)?;
    match number("PRAGMA application_id")? {
        0 if tables == 0 => Ok(None),
        APPLICATION => match number("PRAGMA user_version")? {
            format if format > FORMAT => Err(newer(path, format)),
            // Rows that have tags are not read without them because a number is another.
            format if has_tags != (format >= 3) => Err(damaged(path)),
            format if format >= 1 => Ok(Some(FoundFormat { format, has_digests })),
            _ => Err(foreign(path)),
        },
        _ => Err(foreign(path)),
    }
}

fn foreign(path: &Path) -> StoreError {
    StoreError::Foreign { what: format!("`{}` is a database of something else", path.display()) }
}

/// The refusal of a file that a newer version wrote.
pub(super) fn newer(path: &Path, format: i64) -> StoreError {
    let what =
        format!("`{}` was written by a newer version (format {format}, this one reads up to {FORMAT})", path.display());
    StoreError::Foreign { what }
}

/// Switches to WAL. SQLite does not wait if two processes do so at once on a new file.
fn to_wal(connection: &Connection) -> Result<(), rusqlite::Error> {
    let pause = Duration::from_millis(5);
    let mut left = BUSY_TIMEOUT;
    loop {
        match connection.pragma_update(None, "journal_mode", "WAL") {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) && !left.is_zero() => {
                std::thread::sleep(pause);
                left = left.saturating_sub(pause);
            }
            done => return done,
        }
    }
}

/// Makes a new folder last. Best effort: not every system can.
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
