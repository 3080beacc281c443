//! A new file: whole from the start, or not there.
//!
//! `empty.db` is a state file in which nothing is yet, as [`make`](super::schema::make) makes it; a test holds one against
//! the other. SQLite would make it one table after the other, by way of a log that grows by all of them: that takes longer
//! than all the commits of a small deploy. What the first operation of its first instance is called is drawn when it is put.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::schema::{self, beside};

const EMPTY: &[u8] = include_bytes!("empty.db");

/// Where the name of the first operation belongs.
const NAME: &[u8; 32] = b"id-of-the-first-operation-of-all";

/// A state file under another name, on the disk, that can get its own at once. If it is not needed it goes, and its folder with it
/// where that was made for it.
pub(super) struct Laid {
    // In this order: a folder can be removed once there is nothing in it.
    file: NamedTempFile,
    folder: Option<MadeFolder>,
}

struct MadeFolder(PathBuf);

impl Drop for MadeFolder {
    fn drop(&mut self) {
        // Where somebody has put something into it, it stays.
        let _ = fs::remove_dir(&self.0);
    }
}

/// Lays a state file ready where there is none. Best effort: without it the file is made when it is needed.
pub(super) fn lay_ready(path: &Path) -> Option<Laid> {
    if !is_free(path) {
        return None;
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.filter(|folder| !folder.exists()).map(|folder| {
        // One folder is taken back as it was made; a path of several is left to who needs it.
        fs::create_dir(folder).map(|()| MadeFolder(folder.to_owned()))
    });
    let folder = folder.transpose().ok()?;
    let file = write(path).ok()?;
    Some(Laid { file, folder })
}

impl Laid {
    /// The folder that has a new one in it, which is not on the disk yet.
    pub(super) fn around(&self) -> Option<PathBuf> {
        self.folder.as_ref().and_then(|MadeFolder(folder)| folder.parent()).map(Path::to_owned)
    }

    /// Reads it, as long as nobody waits for it: opening it is quicker for whoever has read one like it.
    pub(super) fn look_at(&self) {
        schema::look_at(self.file.path());
    }
}

/// Puts an empty state file where there is none: the one that was laid ready, or a new one; whether that was done. Best effort:
/// where that cannot be, SQLite makes the file or says why not.
pub(super) fn place(path: &Path, laid: Option<Laid>) -> bool {
    if !is_free(path) {
        return false;
    }
    let file = match laid {
        Some(Laid { file, folder }) => {
            // It is needed now.
            std::mem::forget(folder);
            Ok(file)
        }
        None => write(path),
    };
    file.is_ok_and(|file| file.persist_noclobber(path).is_ok())
}

/// Whether there is neither a file nor a log that somebody left behind: SQLite removes that before it makes a file, and it must not
/// be taken into one that it does not belong to.
fn is_free(path: &Path) -> bool {
    ["", "-wal", "-journal"].into_iter().all(|end| is_missing(&beside(path, end)))
}

fn is_missing(path: &Path) -> bool {
    fs::symlink_metadata(path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

/// Under another name first, and on the disk before it has its own: nobody sees half of it, after a power cut neither.
fn write(path: &Path) -> io::Result<NamedTempFile> {
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
    Ok(file)
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
    fn what_was_laid_ready_is_used_or_leaves_nothing() {
        let around = tempfile::tempdir().unwrap();
        let folder = around.path().join(".cyan");
        let path = folder.join("state.db");
        let names = || fs::read_dir(around.path()).unwrap().count();
        drop(lay_ready(&path).unwrap());
        assert_eq!(names(), 0, "the folder went with it");
        assert!(lay_ready(&around.path().join("one/other/state.db")).is_none());
        assert_eq!(names(), 0, "of several folders none is made");

        let laid = lay_ready(&path).unwrap();
        assert!(!path.exists());
        assert_eq!(laid.around().as_deref(), Some(around.path()));
        let name = fs::read(laid.file.path()).unwrap();
        assert!(place(&path, Some(laid)));
        assert_eq!(fs::read(&path).unwrap(), name);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);

        fs::remove_file(&path).unwrap();
        assert_eq!(lay_ready(&path).unwrap().around(), None, "no folder was made");
        // Another has been quicker, in the folder that was made for it.
        fs::remove_dir(&folder).unwrap();
        let laid = lay_ready(&path).unwrap();
        fs::write(&path, "other").unwrap();
        assert!(!place(&path, Some(laid)));
        assert_eq!(fs::read(&path).unwrap(), b"other");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    }

    #[test]
    fn it_is_put_where_nothing_is_and_no_log_lies() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.db");
        for other in ["state.db-wal", "state.db-journal", "state.db"] {
            fs::write(folder.path().join(other), "other").unwrap();
            place(&path, None);
            assert_eq!(fs::read(folder.path().join(other)).unwrap(), b"other");
            fs::remove_file(folder.path().join(other)).unwrap();
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "beside {other}");
        }
        std::os::unix::fs::symlink("elsewhere", &path).unwrap();
        place(&path, None);
        assert_eq!(
            fs::read_dir(folder.path()).unwrap().count(),
            1,
            "a link that leads nowhere is for SQLite to follow"
        );
        fs::remove_file(&path).unwrap();

        place(&path, None);
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
