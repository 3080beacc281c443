//! A new file: whole from the start, or not there.
//!
//! `empty.db` is a state file in which nothing is yet, as [`make`](super::schema::make) makes it; a test holds one against
//! the other. SQLite would make it one table after the other, by way of a log that grows by all of them: that takes longer
//! than all the commits of a small deploy. What the first operation of its first instance is called is drawn when it is put.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use super::schema::beside;

const EMPTY: &[u8] = include_bytes!("empty.db");

/// Where the name of the first operation belongs.
const NAME: &[u8; 32] = b"id-of-the-first-operation-of-all";

/// Puts an empty state file where there is none. Best effort: where that cannot be, SQLite makes the file or says why not.
pub(super) fn place(path: &Path) {
    // A log that somebody left behind is not to be taken into a file that it does not belong to: SQLite removes it.
    if ["", "-wal", "-journal"].into_iter().all(|end| is_missing(&beside(path, end))) {
        let _ = write(path);
    }
}

fn is_missing(path: &Path) -> bool {
    fs::symlink_metadata(path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

/// Under another name first, and on the disk before it has its own: nobody sees half of it, after a power cut neither.
fn write(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut prefix = path.file_name().unwrap_or_default().to_owned();
    prefix.push(".new-");
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix);
    // As SQLite makes files: who else may read it is for the umask to say.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644));
    let mut file = builder.tempfile_in(folder)?;
    file.write_all(&drawn())?;
    file.as_file().sync_data()?;
    file.persist_noclobber(path).map(|_| ()).map_err(|refused| refused.error)
}

/// The empty file with a name that no other one has.
fn drawn() -> Vec<u8> {
    let mut file = EMPTY.to_vec();
    if let Some(at) = memchr::memmem::find(&file, NAME) {
        uuid::Uuid::new_v4().simple().encode_lower(&mut file[at..]);
    }
    file
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use rusqlite::Connection;

    use super::super::schema;
    use super::*;

    /// Where a database counts its changes and notes which SQLite wrote it last.
    const COUNTED: [std::ops::Range<usize>; 2] = [24..28, 92..100];

    #[test]
    fn the_empty_file_is_the_one_that_is_made() {
        let folder = tempfile::tempdir().unwrap();
        let (made, compact) = (folder.path().join("made.db"), folder.path().join("compact.db"));
        let mut connection = Connection::open(&made).unwrap();
        let transaction = connection.transaction().unwrap();
        schema::make(&transaction).unwrap();
        let name = std::str::from_utf8(NAME).unwrap();
        transaction.execute("INSERT INTO first_operation (name) VALUES (?1)", [name]).unwrap();
        transaction.commit().unwrap();
        connection.execute("VACUUM INTO ?1", [compact.to_str().unwrap()]).unwrap();
        Connection::open(&compact).unwrap().pragma_update(None, "journal_mode", "WAL").unwrap();
        let mut wanted = fs::read(&compact).unwrap();
        if std::env::var_os("CYAN_WRITE_SAMPLES").is_some() {
            fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/src/sqlite/empty.db"), &wanted).unwrap();
            return;
        }
        let mut found = EMPTY.to_vec();
        for counted in COUNTED {
            wanted[counted.clone()].fill(0);
            found[counted].fill(0);
        }
        assert!(found == wanted, "the tables are others now: write the file anew with CYAN_WRITE_SAMPLES=1");
    }

    #[test]
    fn it_is_put_where_nothing_is_and_no_log_lies() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.db");
        for other in ["state.db-wal", "state.db-journal", "state.db"] {
            fs::write(folder.path().join(other), "other").unwrap();
            place(&path);
            assert_eq!(fs::read(folder.path().join(other)).unwrap(), b"other");
            fs::remove_file(folder.path().join(other)).unwrap();
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "beside {other}");
        }
        std::os::unix::fs::symlink("elsewhere", &path).unwrap();
        place(&path);
        assert_eq!(
            fs::read_dir(folder.path()).unwrap().count(),
            1,
            "a link that leads nowhere is for SQLite to follow"
        );
        fs::remove_file(&path).unwrap();

        place(&path);
        let (found, other) = (fs::read(&path).unwrap(), drawn());
        let differing = || (0..EMPTY.len()).filter(|at| found[*at] != EMPTY[*at] || found[*at] != other[*at]);
        assert_eq!((found.len(), differing().next_back().unwrap() - differing().next().unwrap()), (EMPTY.len(), 31));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        let ours = fs::metadata(&path).unwrap().permissions().mode();
        fs::write(folder.path().join("plain"), "").unwrap();
        let plain = fs::metadata(folder.path().join("plain")).unwrap().permissions().mode();
        assert_eq!(ours, plain & !0o022, "as other files, but nobody else writes");
    }
}
