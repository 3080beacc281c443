//! The blocks of the log, kept from one run to the next.
//!
//! SQLite removes the log when the last process lets go of the file. The next one would get other blocks: a sync while a file
//! grows is dearer than one of a file that is written over, and giving blocks back takes longer than a small deploy where
//! the disk is told of each (`discard`). So the log has a second name, `state.db-spare`, and only the first one goes.
//!
//! What is left in a spare log must never be taken for one. Its head is cleared, and that is on the disk, before it gets the
//! name of a log; and that is done only under a lock, and only while it has no other name. Best effort: without it there is a
//! new log, as SQLite makes it.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use super::schema::{HEAD, beside};

/// How the names of such files end.
const END: &str = "-spare";

/// A larger one is not kept.
const MOST: u64 = 5 << 20;

/// Lets the spare log be the log beside the file, if there is one and no log.
pub(super) fn give(path: &Path) {
    if path.exists() && is_missing(&beside(path, "-wal")) {
        let _ = offer(path);
    }
}

fn is_missing(path: &Path) -> bool {
    fs::symlink_metadata(path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

fn offer(path: &Path) -> io::Result<()> {
    let Some((spare, log)) = free(path)? else { return Ok(()) };
    // An empty one has none.
    let mut head = [0; HEAD];
    log.read_at(&mut head, 0)?;
    if head != [0; HEAD] {
        log.write_all_at(&[0; HEAD], 0)?;
    }
    log.sync_data()?;
    // Should somebody have made a log meanwhile, this is refused.
    fs::hard_link(spare, beside(path, "-wal"))
}

/// The spare log, locked; nothing if it is in use: then it has another name.
fn free(path: &Path) -> io::Result<Option<(PathBuf, File)>> {
    let spare = beside(path, END);
    let flags = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
    let log = OpenOptions::new().read(true).write(true).custom_flags(flags).open(&spare)?;
    log.try_lock()?;
    // What is looked at under that name now is what is locked.
    let (named, locked) = (fs::symlink_metadata(&spare)?, log.metadata()?);
    let is_free = named.is_file() && named.nlink() == 1 && (named.dev(), named.ino()) == (locked.dev(), locked.ino());
    Ok(is_free.then_some((spare, log)))
}

/// Gives the log beside the file its second name, if there is no spare one yet.
pub(super) fn keep(path: &Path) {
    let _ = fs::hard_link(beside(path, "-wal"), beside(path, END));
}

/// Removes a spare log that has become large.
pub(super) fn tidy(path: &Path) {
    if fs::symlink_metadata(beside(path, END)).is_ok_and(|spare| spare.len() > MOST) {
        forget(path);
    }
}

/// Removes the spare log: what is in it goes with the log that it may still be.
pub(super) fn forget(path: &Path) {
    let spare = beside(path, END);
    // Nobody who is about to make a log of it must find it gone in between.
    if let Ok(log) = OpenOptions::new().read(true).open(&spare)
        && log.lock().is_ok()
    {
        let _ = fs::remove_file(spare);
    }
}
